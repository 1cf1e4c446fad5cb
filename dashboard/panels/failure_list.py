"""The failing queries of one run: how many of which cause, and the list a page at a time."""

from __future__ import annotations

from dataclasses import replace

import altair as alt
import pyarrow as pa
import pyarrow.compute as pc
import streamlit as st

from panels import chart_style, failure_stages, funnel, notes, words
from panels.filters import Filters
from panels.question import Question
from panels.store_access import Row

PAGE_SIZE = 50

PASSES = "not failing"
"""Instead of a cause: the query does not fail."""

# What must pass first, then what found nothing at all, then by cause.
ORDER = "must_pass desc, coalesce(found, 0) > 0, class, query_id"

LISTED = """
    select failures.query_id, left(queries.text, 300) as text,
           coalesce(queries.must_pass, false) as must_pass, failures.class,
           failures.fact, failures.also, failures.first_relevant_rank, failures.missing, failures.found,
           failures.num_relevant, queries.category, queries.language{more}
    from failures
    left join queries on queries.query_set = $query_set and queries.query_id = failures.query_id{joins}
    where failures.run = $run and failures.label_set = $label_set and failures.k = $k{conditions}
"""

# Queries that fail in the run held against, and in this one no longer.
FIXED = """
    union all by name
    select changes.query_id, left(queries.text, 300) as text,
           coalesce(queries.must_pass, false) as must_pass,
           changes.candidate_class as class,
           'before: ' || changes.baseline_fact as fact, []::varchar[] as also, []::varchar[] as missing,
           1 as found,
           queries.category, queries.language, changes.baseline_class as was
    from failure_changes($against, $run, $k, label_set := $label_set) as changes
    left join queries on queries.query_set = $query_set and queries.query_id = changes.query_id
    where changes.change = 'mended'{conditions}
"""

WAS = """
    left join failures as before on before.run = $against and before.label_set = $label_set and before.k = $k
                                and before.query_id = failures.query_id"""

CAUSE_WIDTH = 215
"""Pixels that the longest cause takes in the list."""


def listed(filters: Filters, by_cause: bool = True) -> str:
    """The statement of all failing queries under the filters, for others to ask about.

    Without `by_cause` it does not matter for which cause they fail, nor what they were before,
    lost or are said to be.
    """
    joins, more = "", ""
    if filters.against:
        joins, more = WAS, f",\n           coalesce(before.class, '{PASSES}') as was"
    if filters.has_notes:
        joins, more = joins + notes.JOIN, more + notes.COLUMNS
    conditions = [*filters.query_conditions(), *(_narrow(filters) if by_cause else [])]
    sql = LISTED.format(more=more, joins=joins, conditions=_and(conditions))
    if by_cause and filters.against and PASSES in filters.cause:
        was = ["list_contains($was, changes.baseline_class)"] if filters.was else []
        sql += FIXED.format(conditions=_and([*filters.query_conditions(), *was]))
    return sql


def _narrow(filters: Filters) -> list[str]:
    parts = ["list_contains($cause, failures.class)"] if filters.cause else []
    if filters.was and filters.against:
        parts.append(f"list_contains($was, coalesce(before.class, '{PASSES}'))")
    if filters.lost:
        parts.append(f"failures.query_id in ({funnel.LOSING})")
    if filters.noted and filters.has_notes:
        parts.append(f"list_contains($noted, {notes.STATE})")
    return parts


def _and(conditions: list[str]) -> str:
    return "".join(f"\n      and {condition}" for condition in conditions)


def counts(filters: Filters) -> Question:
    """How many queries fail for which first cause, whatever causes are chosen."""
    sql = (
        "select class, count(*) as queries, count(*) filter (must_pass) as must_pass\n"
        f"from ({listed(replace(filters, against='', has_notes=False), by_cause=False)})\ngroup by "
        "class\norder by queries desc, class"
    )
    return Question(sql, filters.values())


def all_of(filters: Filters) -> Question:
    """The whole list, the gravest first: it gives every page, and what comes before and after a query."""
    return Question(f"from ({listed(filters)})\norder by {ORDER}", filters.values())


def page(frame: pa.Table, number: int) -> pa.Table:
    """One page of the list."""
    return frame.slice((max(number, 1) - 1) * PAGE_SIZE, PAGE_SIZE)


def place(frame: pa.Table, query_id: str) -> Row | None:
    """Where a query stands in that order, and which come before and after it; None if it is not listed."""
    ids = frame.column("query_id")
    at = pc.index(ids, pa.scalar(query_id, ids.type)).as_py()
    if at < 0:
        return None
    row: Row = frame.slice(at, 1).to_pylist()[0]
    before = ids[at - 1].as_py() if at else None
    after = ids[at + 1].as_py() if at + 1 < len(ids) else None
    return row | {"position": at + 1, "total": len(ids), "previous": before, "next": after}


def how_many(frame: pa.Table, narrowed: str) -> str:
    """How many queries are listed, how many have a note, and by what the list is narrowed; as Markdown."""
    text = words.count(frame.num_rows, "query", "queries")
    if "note_state" in frame.column_names:
        text += f", {frame.num_rows - frame.column('note_state').null_count:,} with a note"
    return f"{text} — {narrowed}" if narrowed else text


def narrowing(filters: Filters) -> str:
    """By what the list is narrowed beside the filters of queries, as Markdown; empty if by nothing."""
    parts = []
    against = f"cause in {words.quoted(filters.against)}"
    for name, chosen in (("cause", filters.cause), (against, filters.was)):
        if chosen:
            parts.append(f"{name}: {' or '.join(words.failure_phrase(one) for one in chosen)}")
    if filters.lost:
        parts.append(f"evidence lost at {' or '.join(words.quoted(one) for one in filters.lost)}")
    if filters.noted:
        parts.append(f"notes: {' or '.join(words.note_state(one) for one in filters.noted)}")
    return "; ".join(parts)


def sentence(run: str, by_class: list[Row], num_queries: int, k: int) -> str:
    """How many queries fail and why most of them do, as Markdown."""
    if not num_queries:
        return "No labelled query is left under these filters."
    queries = words.count(num_queries, "labelled query", "labelled queries")
    failing = sum(row["queries"] for row in by_class)
    if not failing:
        return f"{words.quoted(run)} fails none of {queries} at k = {k}."
    text = f"{words.quoted(run)} fails {failing:,} of {queries} at k = {k}"
    first = by_class[0]
    cause = words.failure_phrase(first["class"])
    if len(by_class) == 1:
        return f"{text}: {cause}."
    if first["queries"] == by_class[1]["queries"]:
        return f"{text}, for {len(by_class)} causes."
    return f"{text}, most often: {cause} ({first['queries']:,})."


CLICK = "cause"
"""The selection that a click makes: the cause of a bar."""


def narrow() -> None:
    """List the queries of the cause that was clicked: a callback of the chart."""
    points = dict(getattr(st.session_state.get("causes"), "selection", None) or {}).get(CLICK) or []
    only(str(points[0]["class"]) if points and "class" in points[0] else None)


def only(cause: str | None) -> None:
    """List the queries of one cause, whatever else narrowed the list; None: of all."""
    for key in ("was", "lost", "noted"):
        if key in st.session_state:
            st.session_state[key] = []
    st.session_state["cause"] = [cause] if cause else []


def chart(frame: pa.Table) -> chart_style.Chart:
    """A bar per cause; its label says the count."""
    rows = frame.to_pylist()
    causes = [f"{words.failure_class(row['class'])}  {row['queries']:,}" for row in rows]
    named = frame.append_column("cause", pa.array(causes, pa.string()))
    return (
        chart_style.Chart(named, **chart_style.look(height=26 * max(len(rows), 1) + 60))
        .mark_bar(color=chart_style.WORSE, height=14, cursor="pointer")
        .add_params(alt.selection_point(name=CLICK, fields=["class"], on="click", toggle=False))
        .encode(
            y=alt.Y("cause:N", sort=causes, title=None, axis=alt.Axis(ticks=False, labelLimit=380)),
            x=alt.X(
                "queries:Q", title="failing queries", axis=alt.Axis(tickMinStep=1, format="d", tickCount=5)
            ),
            tooltip=[
                alt.Tooltip("class:N", title="cause"),
                alt.Tooltip("queries:Q", title="queries"),
                alt.Tooltip("must_pass:Q", title="of which must pass"),
            ],
        )
    )


def alt_text(frame: pa.Table, run: str) -> str:
    """The chart in a sentence."""
    parts = [f"{words.failure_class(row['class'])} {row['queries']}" for row in frame.to_pylist()]
    return f"Failing queries of {run} by cause: {', '.join(parts)}."


def show(frame: pa.Table, filters: Filters, apart: str = "") -> None:
    """The list. A click on a row's button opens the query.

    `apart` says what the causes in the run held against cannot be held to, as Markdown.
    """
    rows = frame.to_pylist()
    shown = pa.table(
        {
            "open": pa.array(["Open ›"] * len(rows), pa.string()),
            "query_id": frame.column("query_id"),
            "must_pass": pa.array(["★" if row["must_pass"] else "" for row in rows], pa.string()),
            "class": pa.array([words.failure_class(row["class"]) for row in rows], pa.string()),
            "text": frame.column("text"),
            "first_relevant_rank": frame.column("first_relevant_rank"),
            "fact": frame.column("fact"),
            "missing": frame.column("missing"),
            "also": pa.array(
                [", ".join(words.failure_class(name) for name in row["also"] or []) for row in rows],
                pa.string(),
            ),
            "category": frame.column("category"),
            "language": frame.column("language"),
        }
    )
    names = frame.column_names
    if "was" in names:
        was = [words.failure_class(row["was"]) for row in rows]
        shown = shown.add_column(4, "was", pa.array(was, pa.string()))
    if "note_state" in names:
        said = [notes.in_short(row) for row in rows]
        shown = shown.add_column(shown.column_names.index("text"), "note", pa.array(said, pa.string()))
    for name in ("text", "category", "language"):
        if frame.column(name).null_count == len(rows):
            shown = shown.drop_columns(name)
    for name in {"must_pass", "also", "note"} & set(shown.column_names):
        if not any(shown.column(name).to_pylist()):
            shown = shown.drop_columns(name)
    st.dataframe(
        shown,
        hide_index=True,
        lazy=False,
        placeholder="–",
        height="auto" if len(rows) <= 15 else 560,
        key="failures",
        alt=f"Failing queries of {filters.run}, with cause, first relevant rank and missing documents.",
        column_config={
            "open": st.column_config.ButtonColumn(
                "open",
                key="open_query",
                type="secondary",
                width="small",
            ),
            "query_id": st.column_config.TextColumn("query", pinned=True),
            "must_pass": st.column_config.TextColumn("must pass", width=82, alignment="center"),
            "class": st.column_config.TextColumn(
                "cause",
                width=CAUSE_WIDTH,
                help=f"The first cause in the order of the pipeline. {failure_stages.NEVER_RETRIEVED}.",
            ),
            "was": st.column_config.TextColumn(
                f"was in {words.clipped(filters.against, 24)}",
                width=CAUSE_WIDTH,
                help=f"The cause in {words.quoted(filters.against)}, the run held against. {apart}".strip(),
            ),
            "note": st.column_config.TextColumn("note", width=260),
            "text": st.column_config.TextColumn("text", width=300),
            "fact": st.column_config.TextColumn("fact", width=310),
            "first_relevant_rank": st.column_config.NumberColumn(
                "first relevant",
                format="%d",
                help="Rank of the first relevant document, at any depth; a dash where none came back.",
            ),
            "missing": st.column_config.ListColumn(
                "missing", width="medium", help="Relevant documents that are not in the first k."
            ),
        },
    )
    if click := st.session_state.get("open_query"):
        _open(rows[click["row"]])


def show_mended(rows: list[Row]) -> None:
    """Queries that were noted as failing and fail no longer."""
    columns = {
        "open": ["Open ›"] * len(rows),
        "query_id": [row["query_id"] for row in rows],
        "text": [row["text"] for row in rows],
        "state": [words.note_state(row["state"]) for row in rows],
        "cause": [row["cause"] or row["note"] for row in rows],
        "owner": [row["owner"] for row in rows],
    }
    st.dataframe(
        pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()}),
        hide_index=True,
        lazy=False,
        placeholder="–",
        key="mended",
        alt="Queries with a note that failed before and do not fail in this run.",
        column_config={
            "open": st.column_config.ButtonColumn("open", key="open_mended", type="secondary", width="small"),
            "query_id": st.column_config.TextColumn("query", pinned=True),
            "text": st.column_config.TextColumn("text", width=300),
            "state": st.column_config.TextColumn("state of the note"),
        },
    )
    if click := st.session_state.get("open_mended"):
        _open(rows[click["row"]])


def step_through(frame: pa.Table) -> None:
    """A button that opens the first query of the list; from there the arrow keys lead on."""
    if st.button("Step through", icon=":material/arrow_forward:", key="step", shortcut="Right"):
        _open(frame.slice(0, 1).to_pylist()[0])


def _open(row: Row) -> None:
    st.switch_page("app_pages/query.py", query_params={"query": str(row["query_id"])})
