"""Two revisions of the labels: which labels changed, and what that did to each run."""

from __future__ import annotations

import shlex

import altair as alt
import pyarrow as pa
import streamlit as st

from panels import chart_style, data_table, words
from panels.filters import ALL, Filters
from panels.layout import answer, panel_title, show_sql
from panels.question import Question
from panels.sidebar import DEFAULT_SPLIT
from panels.store_access import Reader, Row, store_path

METRICS = ("ndcg", "recall", "hit", "rr")
COUNTED = {
    "n": ("n", "Queries with an answer under both: the denominator of every mean and change here."),
    "old_n": ("n earlier", "Queries with an answer under the earlier labels."),
    "new_n": ("n later", "Queries with an answer under the later labels."),
}
MOST_DRAWN = 30
SAME = 1e-12

LABEL_SETS = """
select label_set, query_set, collection, relevant_from
from label_set_summary where name = $data
order by is_current desc, added_at desc, label_set
"""

SPLITS = """
select distinct split from queries
join label_sets on label_sets.query_set = queries.query_set
where list_contains([$old_labels, $new_labels], label_sets.label_set) and split is not null
order by split
"""

CHANGED = """
from label_changes($old_labels, $new_labels) as changes
left join label_sets on label_sets.label_set = $new_labels
left join queries on queries.query_set = label_sets.query_set and queries.query_id = changes.query_id
"""

_LABEL, _LINE = "changes.doc_id is not null", "changes.doc_id is null"
"""A label has a document; a line that says that nothing answers its query has none."""

COUNTS = f"""
select count(*) as changes, count(changes.doc_id) as labels,
       count(distinct changes.query_id) filter ({_LABEL}) as queries,
       count(*) filter (changes.change = 'added' and {_LABEL}) as added,
       count(*) filter (changes.change = 'removed' and {_LABEL}) as removed,
       count(*) filter (changes.change = 'regraded') as regraded,
       count(*) filter (changes.change = 'details' and {_LABEL}) as details,
       count(*) filter (changes.is_relevant and changes.was_relevant is not true) as became_relevant,
       count(*) filter (changes.was_relevant and changes.is_relevant is not true) as no_longer_relevant,
       count(*) filter ({_LINE}) as lines,
       count(*) filter (changes.change = 'added' and {_LINE}) as lines_added,
       count(*) filter (changes.change = 'removed' and {_LINE}) as lines_removed,
       count(*) filter (changes.change = 'details' and {_LINE}) as lines_details
{CHANGED.strip()}
"""

CHANGES = f"""
select changes.query_id, changes.doc_id, changes.change, changes.old_grade, changes.new_grade,
       changes.rationale, changes.old_rationale, changes.reviewer, queries.text as query
{CHANGED.strip()}
"""

ORDER = f"""
order by list_position(['regraded', 'added', 'removed', 'details'], changes.change),
         changes.query_id, changes.doc_id
{data_table.LIMIT}
"""

BOTH_MEANS = ",\n       ".join(
    f"any_value({column}) filter (metric = '{name}') as {prefix}{name}{suffix}"
    for name in METRICS
    for column, prefix, suffix in (
        ("earlier", "old_", ""),
        ("later", "new_", ""),
        ("difference", "", "_change"),
    )
)

EFFECTS = f"""
select run, any_value(n) as n, any_value(n + only_earlier) as old_n, any_value(n + only_later) as new_n,
       {BOTH_MEANS}
from label_effects($old_labels, $new_labels, $k, in_split := $split)
group by run
order by abs(ndcg_change) desc nulls last, run
"""

SCORED_ONCE = """
select run, any_value(label_set) as label_set
from scorings
where label_set in ($old_labels, $new_labels)
group by run having count(*) = 1
order by run
"""


def show(store: Reader, filters: Filters) -> None:
    """Choose two revisions, and see what is different between them."""
    sets = store.rows(Question(LABEL_SETS, {"data": filters.data}))
    if len(sets) < 2:
        _nothing_to_compare(filters)
        return
    chosen = _choose(store, sets, filters)
    if chosen is None:
        st.markdown("Both are the same revision: choose another for one of them.")
        return
    questions = {
        "counts": Question(f"{COUNTS.rstrip()}{_of_split(chosen)}", chosen),
        "changes": Question(f"{CHANGES.rstrip()}{_of_split(chosen)}{ORDER}", chosen),
        "effects": Question(EFFECTS, chosen),
    }
    counts = store.rows(questions["counts"])[0]
    effects = store.table(questions["effects"])
    answer(f"{changed(counts, chosen)} {moved(effects.to_pylist(), filters.k)}")
    if chosen["split"] != ALL:
        everywhere = store.rows(Question(COUNTS, chosen))[0]
        others = words.count(everywhere["labels"] - counts["labels"], "changed label")
        if lines := everywhere["lines"] - counts["lines"]:
            others += f" and {words.count(lines, 'changed no-answer line')}"
        st.caption(
            f"Of the queries of the split {words.quoted(chosen['split'])};"
            f" left aside: {others} of other splits."
        )
    for note in _differences(sets, chosen):
        st.caption(note)

    panel_title("What that did to each run")
    _say_scored_once(store.rows(Question(SCORED_ONCE, chosen)), chosen)
    _show_effects(effects, filters, chosen)
    show_sql(questions["effects"])

    panel_title("Which labels changed")
    if counts["changes"]:
        changes = store.table(questions["changes"])
        data_table.show(
            changes,
            "label_changes",
            f"Labels that changed from {chosen['old_labels']} to {chosen['new_labels']}, with both grades.",
            {
                "query_id": st.column_config.TextColumn("query id", pinned=True),
                "doc_id": st.column_config.TextColumn("document"),
                "rationale": st.column_config.TextColumn("rationale", width="large"),
            },
        )
        data_table.say_cut(changes.num_rows, counts["changes"])
    else:
        st.markdown("None, in this split." if chosen["split"] != ALL else "None.")
    show_sql(questions["counts"], questions["changes"])


def _nothing_to_compare(filters: Filters) -> None:
    name, path = shlex.quote(filters.data), shlex.quote(store_path())
    st.markdown(
        f"{words.quoted(filters.data)} has one revision of its labels: there is nothing to compare. Corrected"
        " labels get a revision of their own: in `dataset.toml`, in the tab **Add files**, or with"
    )
    st.code(
        f"rankroom add --store {path} --dataset {name} --revision 2 --labels QRELS\n"
        f"rankroom rescore --store {path}",
        language="bash",
    )


def _choose(store: Reader, sets: list[Row], filters: Filters) -> dict[str, str | int] | None:
    names = [str(row["label_set"]) for row in sets]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        old = st.selectbox("Earlier labels", names, index=1, key="old_labels", bind="query-params", width=260)
        new = st.selectbox("Later labels", names, index=0, key="new_labels", bind="query-params", width=260)
        values: dict[str, str | int] = {"old_labels": old, "new_labels": new, "k": filters.k, "split": ALL}
        splits = [ALL, *(name for name in store.column(Question(SPLITS, values)) if name != ALL)]
        if len(splits) > 1:
            index = splits.index(DEFAULT_SPLIT) if DEFAULT_SPLIT in splits else 0
            values["split"] = st.selectbox(
                "Split", splits, index=index, key="changes_split", bind="query-params", width=160
            )
    return None if old == new else values


def _of_split(chosen: dict[str, str | int]) -> str:
    return "" if chosen["split"] == ALL else "\nwhere queries.split = $split"


def changed(counts: Row, chosen: dict[str, str | int]) -> str:
    """How many labels and no-answer lines changed and how, as Markdown."""
    way = f"from {words.quoted(chosen['old_labels'])} to {words.quoted(chosen['new_labels'])}"
    said = [f"No label changed {way}."]
    if counts["labels"]:
        kinds = _kinds({kind: counts[kind] for kind in ("regraded", "added", "removed", "details")})
        labels, queries = words.count(counts["labels"], "label"), _queries(counts["queries"])
        said = [f"{labels} of {queries} changed {way}: {kinds}."]
    crossed = []
    if became := counts["became_relevant"]:
        crossed.append(f"{became:,} became relevant")
    if ceased := counts["no_longer_relevant"]:
        crossed.append(
            f"{ceased:,} no longer {'is' if ceased == 1 else 'are'}{'' if became else ' relevant'}"
        )
    if crossed:
        said.append(f"{', '.join(crossed)}.")
    if counts["lines"]:
        kinds = _kinds({kind: counts[f"lines_{kind}"] for kind in ("added", "removed", "details")})
        said.append(f"{words.count(counts['lines'], 'no-answer line')} changed: {kinds}.")
    return " ".join(said)


def _kinds(numbers: dict[str, int]) -> str:
    said = {"details": "in rationale, reviewer or date only"}
    return ", ".join(f"{number:,} {said.get(kind, kind)}" for kind, number in numbers.items() if number)


def moved(effects: list[Row], k: int) -> str:
    """What that did to the runs, as Markdown."""
    if not effects:
        return "No run has scores under both."
    return " ".join([_most_moved(effects, k), *_left_out(effects[0])])


def _most_moved(effects: list[Row], k: int) -> str:
    name = words.metric("ndcg", k)
    most = effects[0]
    if not most["n"]:
        return "No query has an answer under both."
    shifted = [row for row in effects if abs(row["ndcg_change"]) > SAME]
    if not shifted:
        return f"{name} is the same in {words.count(len(effects), 'run')}."
    values = f"{words.number(most['old_ndcg'])} → {words.number(most['new_ndcg'])}"
    change = (
        f"{words.quoted(most['run'])}: {values} ({words.signed(most['ndcg_change'])}),"
        f" over the {_queries(most['n'])} with an answer under both."
    )
    if len(effects) == 1:
        return f"{name} of {change}"
    return f"{name} moved in {len(shifted):,} of {words.count(len(effects), 'run')}, most in {change}"


def _queries(num: int) -> str:
    return words.count(num, "query", "queries")


def _left_out(effect: Row) -> list[str]:
    """The queries that would move a mean by coming or going: the labels decide it, alike for every run."""
    num = effect["old_n"] + effect["new_n"] - 2 * effect["n"]
    if not num:
        return []
    have, count = ("has", "counts") if num == 1 else ("have", "count")
    return [f"{_queries(num)} {have} an answer under one revision only, and {count} in no difference."]


def _differences(sets: list[Row], chosen: dict[str, str | int]) -> list[str]:
    """What else is different between the two label sets."""
    by_name = {row["label_set"]: row for row in sets}
    old, new = by_name[chosen["old_labels"]], by_name[chosen["new_labels"]]
    said = []
    if old["relevant_from"] != new["relevant_from"]:
        said.append(
            f"Relevant is a grade from {old['relevant_from']} on in the earlier labels, and from"
            f" {new['relevant_from']} on in the later ones: every metric but NDCG moves by that too."
        )
    for field, what in (("query_set", "The queries"), ("collection", "The collection")):
        if old[field] != new[field]:
            said.append(f"{what} changed too: {words.quoted(old[field])}, then {words.quoted(new[field])}.")
    return said


def _say_scored_once(runs: list[Row], chosen: dict[str, str | int]) -> None:
    for which in ("earlier", "later"):
        labels = chosen["old_labels" if which == "earlier" else "new_labels"]
        alone = [str(row["run"]) for row in runs if row["label_set"] == labels]
        if alone:
            be = "is" if len(alone) == 1 else "are"
            st.caption(f"{words.listed(alone)} {be} scored under the {which} labels only.")


def _show_effects(frame: pa.Table, filters: Filters, chosen: dict[str, str | int]) -> None:
    rows = frame.to_pylist()
    if not rows:
        st.markdown("No run has scores under both.")
        return
    both = [row for row in rows if row["n"]]
    if both:
        metric = (
            st.segmented_control(
                "Metric",
                METRICS,
                format_func=lambda name: words.metric(name, filters.k),
                default=METRICS[0],
                required=True,
                key="changes_metric",
                bind="query-params",
                label_visibility="collapsed",
            )
            or METRICS[0]
        )
        st.altair_chart(
            chart(frame, metric, filters.k), alt=alt_text(rows, metric, filters.k, str(chosen["new_labels"]))
        )
        if len(both) > MOST_DRAWN:
            st.caption(f"Drawn are the {MOST_DRAWN} runs whose NDCG changed most; the table has all.")
    number = st.column_config.NumberColumn
    columns = {"run": st.column_config.TextColumn("run", pinned=True)}
    for name, (label, meaning) in COUNTED.items():
        columns[name] = number(label, format="localized", help=meaning)
    for name in METRICS:
        for when, label in (("old", "earlier"), ("new", "later")):
            columns[f"{when}_{name}"] = number(
                f"{words.METRICS[name]} {label}", format="%.3f", help=words.COLUMNS[name]
            )
        columns[f"{name}_change"] = number(f"{words.METRICS[name]} change", format="%+.3f")
    data_table.show(
        frame,
        "label_effects",
        "Means of every run under the earlier and the later labels, over queries with an answer under both.",
        columns,
    )


def chart(frame: pa.Table, metric: str, k: int) -> chart_style.LayerChart:
    """A line per run from its mean under the earlier labels (hollow) to that under the later ones."""
    rows = [row for row in frame.to_pylist() if row[f"{metric}_change"] is not None][:MOST_DRAWN]
    runs = [str(row["run"]) for row in rows]
    moves = pa.table(
        {
            "run": pa.array(runs, pa.string()),
            "old": pa.array([row[f"old_{metric}"] for row in rows], pa.float64()),
            "new": pa.array([row[f"new_{metric}"] for row in rows], pa.float64()),
            "change": pa.array([words.signed(row[f"{metric}_change"]) for row in rows], pa.string()),
            "n": pa.array([row["n"] for row in rows], pa.int64()),
            "sign": pa.array([_sign(row[f"{metric}_change"]) for row in rows], pa.string()),
        }
    )
    scale = alt.Scale(zero=False, nice=True, padding=12)
    axis = alt.Axis(format=".3f", tickCount=6)
    title = f"{words.metric(metric, k)}: ○ under the earlier labels, ● under the later"
    tooltip = [
        alt.Tooltip("run:N", title="run"),
        alt.Tooltip("old:Q", title="earlier", format=".3f"),
        alt.Tooltip("new:Q", title="later", format=".3f"),
        alt.Tooltip("change:N", title="change"),
        alt.Tooltip("n:Q", title="n"),
    ]
    colour = alt.Color(
        "sign:N",
        scale=alt.Scale(
            domain=["up", "down", "same"],
            range=[chart_style.BETTER, chart_style.WORSE, chart_style.UNDECIDED],
        ),
        legend=None,
    )
    base = chart_style.Chart(moves).encode(
        y=alt.Y("run:N", sort=runs, title=None, axis=alt.Axis(labelFlush=False)), tooltip=tooltip
    )
    lines = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("old:Q", title=title, scale=scale, axis=axis), x2="new:Q", color=colour
    )
    before = base.mark_point(size=70, strokeWidth=2, filled=False, color=chart_style.BASELINE).encode(
        x=alt.X("old:Q", scale=scale)
    )
    after = base.mark_point(size=70, filled=True, opacity=1).encode(
        x=alt.X("new:Q", scale=scale), color=colour
    )
    return chart_style.LayerChart(
        layer=[lines, before, after], **chart_style.look(height=30 * max(len(rows), 1) + 60)
    )


def _sign(change: float) -> str:
    return "same" if abs(change) <= SAME else "up" if change > 0 else "down"


def alt_text(rows: list[Row], metric: str, k: int, new_labels: str) -> str:
    """The chart in a sentence."""
    known = [row for row in rows if row[f"{metric}_change"] is not None]
    parts = [
        f"{row['run']} {words.number(row[f'old_{metric}'])} to {words.number(row[f'new_{metric}'])}"
        for row in known[:5]
    ]
    more = f", and {len(known) - 5} more runs" if len(known) > 5 else ""
    return f"{words.metric(metric, k)} by run, before and under {new_labels}: {'; '.join(parts)}{more}."
