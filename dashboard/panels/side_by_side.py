"""The rankings of one query in several runs, side by side, rank by rank, and where each document moved to."""

from __future__ import annotations

import base64
import html

import streamlit as st

from panels import chart_style, words
from panels.filters import Filters
from panels.markup import STYLE, escaped, mark
from panels.question import Question
from panels.store_access import Row

MOST_RUNS = 4
ROW = 46
"""Pixels that a row is high: markup.css has the same."""

GUTTER = 44
NARROWEST = 230

# The other place of a document: in the reference where a run is looked at, in the first run beside it
# where the
# reference is. A labelled document has its rank at any depth, also where only the top of a ranking was kept.
SIDES = """
with shown as (
    select rankings.run, rankings.rank, rankings.doc_id,
           case when rankings.run = $reference then $side_2 else $reference end as other_run
    from rankings
    where rankings.run in ({sides}) and rankings.query_id = $query and rankings.stage = $shown_stage
      and rankings.rank <= $depth
)
select shown.run, shown.rank, shown.doc_id, coalesce(there.rank, deeper.rank) as other_rank,
       left(documents.title, 200) as title, left(documents.text, 300) as text, labels.grade,
       case when not list_has_any(documents.groups, queries.groups) then 'forbidden'
            when labels.grade >= label_sets.relevant_from then 'relevant'
            when labels.grade is not null then 'other'
            else 'unlabelled' end as mark
from shown
join label_sets on label_sets.label_set = $label_set
left join rankings as there on there.run = shown.other_run and there.query_id = $query
                           and there.stage = $shown_stage and there.doc_id = shown.doc_id
                           and there.run in ({sides})
left join labelled_ranks as deeper on deeper.run = shown.other_run and deeper.query_id = $query
                                  and deeper.stage = $shown_stage and deeper.doc_id = shown.doc_id
                                  and deeper.label_set = $label_set and deeper.run in ({sides})
left join labels on labels.label_set = $label_set and labels.query_id = $query
    and labels.doc_id = shown.doc_id
left join documents on documents.collection = label_sets.collection and documents.doc_id = shown.doc_id
left join queries on queries.query_set = label_sets.query_set and queries.query_id = $query
order by shown.run, shown.rank
"""

HEADS = """
select runs.run, scores.ndcg, scores.hit, scores.recall, result.status, result.latency_ms,
       exists(from run_stages where run_stages.run = runs.run
       and run_stages.stage = $shown_stage) as has_stage
from runs
left join query_scores as scores on scores.run = runs.run and scores.label_set = $label_set and scores.k = $k
                                and scores.query_id = $query
left join run_queries as result on result.run = runs.run and result.query_id = $query
where runs.run in ({sides})
"""


def question(filters: Filters, query_id: str, runs: list[str], stage: str, depth: int) -> Question:
    """The first results of these runs, the reference first among them; each with its place in the other."""
    return _about(SIDES, filters, query_id, runs, stage, depth)


def heads(filters: Filters, query_id: str, runs: list[str], stage: str) -> Question:
    """What each of these runs made of the query."""
    return _about(HEADS, filters, query_id, runs, stage, 0)


def _about(sql: str, filters: Filters, query_id: str, runs: list[str], stage: str, depth: int) -> Question:
    sides: dict[str, str | int] = {f"side_{at}": run for at, run in enumerate(runs, 1)}
    names = ", ".join(f"${name}" for name in sides)
    values = filters.values(query=query_id, shown_stage=stage, depth=depth, reference=runs[0], **sides)
    return Question(sql.format(sides=names), values)


def move(row: Row, is_reference: bool, of_two: bool) -> tuple[str, str]:
    """Where a document was, or where it goes, in words, and whether that is better or worse."""
    rank, other = row["rank"], row["other_rank"]
    if is_reference:
        if not of_two:
            return "", ""
        return ("→ gone", "worse") if other is None else (f"→ {other:,}", "")
    if other is None:
        return "new", "better"
    if other == rank:
        return "=", ""
    return (f"▲ from {other:,}", "better") if other > rank else (f"▼ from {other:,}", "worse")


def _row(row: Row, k: int, is_reference: bool, of_two: bool) -> str:
    text, kind = move(row, is_reference, of_two)
    colour = f" {kind}" if kind and row["mark"] == "relevant" else ""
    label = "" if row["grade"] is None else f"grade {row['grade']}"
    label = "may not read" if row["mark"] == "forbidden" else label or words.MARKS[row["mark"]]
    line = row["title"] or row["text"] or ""
    about = html.escape(" — ".join(part for part in (row["title"], row["text"]) if part), quote=True)
    return (
        f'<div class="rr-row {row["mark"]}{" at-k" if row["rank"] == k else ""}" role="listitem" '
        f'title="{about}">'
        f'<div class="rr-rank">{row["rank"]}</div>'
        f'<div>{mark(row["mark"], label)}<span class="rr-id">{escaped(row["doc_id"])}</span></div>'
        f'<div class="rr-move{colour}">{text}</div>'
        f'<div class="rr-line" dir="auto">{html.escape(words.clipped(line, 120))}</div></div>'
    )


def _head(run: str, about: Row | None, k: int, kind: str) -> str:
    parts = []
    if about and about["ndcg"] is not None:
        parts += [f"NDCG@{k} {words.number(about['ndcg'])}", f"recall@{k} {words.number(about['recall'])}"]
    if about and about["latency_ms"] is not None:
        parts.append(f"{about['latency_ms']:,.0f} ms")
    facts = html.escape(" · ".join(parts)) or "–"
    return f'<div class="rr-side-head {kind}">{escaped(run)}<small>{facts}</small></div>'


def _nothing(about: Row | None, stage: str) -> str:
    if about is None or about["status"] is None:
        text = "the run left this query out"
    elif about["status"] != "ok":
        text = f"ended in {'an error' if about['status'] == 'error' else 'a timeout'}"
    elif not about["has_stage"]:
        text = f"has no stage {stage}"
    else:
        text = "nothing was returned here"
    return f'<div class="rr-row nothing">{html.escape(text)}</div>'


def lines(left: list[Row], right: list[Row], height: int) -> str:
    """The lines between two rankings as a picture: thick and coloured where a document is relevant."""
    places = {row["doc_id"]: row for row in left}
    drawn = []
    for row in right:
        if (before := places.get(row["doc_id"])) is None:
            continue
        start, end = ((one["rank"] - 0.5) * ROW for one in (before, row))
        colour, width = chart_style.UNDECIDED, "1"
        if row["mark"] == "relevant":
            colour, width = chart_style.UNDECIDED, "3"
            if before["rank"] != row["rank"]:
                colour = chart_style.BETTER if row["rank"] < before["rank"] else chart_style.WORSE
        drawn.append(
            f'<path d="M0 {start} C{GUTTER * 0.5} {start} {GUTTER * 0.5} {end} {GUTTER} {end}" '
            f'fill="none" stroke="{colour}" stroke-width="{width}"/>'
        )
    picture = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {GUTTER} {height}" width="{GUTTER}" '
        f'height="{height}" preserveAspectRatio="none">{"".join(drawn)}</svg>'
    )
    data = base64.b64encode(picture.encode()).decode()
    return f'<img alt="" src="data:image/svg+xml;base64,{data}" style="height:{height}px">'


def markup(rows: list[Row], about: list[Row], runs: list[str], run: str, k: int, stage: str) -> str:
    """The rankings as HTML: a column for each run, lines between them."""
    by_run = {name: [row for row in rows if row["run"] == name] for name in runs}
    facts = {row["run"]: row for row in about}
    deepest = max((row["rank"] for row in rows), default=1)
    columns = f" {GUTTER}px ".join([f"minmax({NARROWEST}px, 1fr)"] * len(runs))
    parts = []
    for at, name in enumerate(runs):
        kind = "run" if name == run else "reference" if at == 0 else "more"
        parts += ["<div></div>"] * (at > 0) + [_head(name, facts.get(name), k, kind)]
    for at, name in enumerate(runs):
        if at:
            parts.append(f"<div>{lines(by_run[runs[at - 1]], by_run[name], deepest * ROW)}</div>")
        listed = [_row(row, k, at == 0, len(runs) == 2) for row in by_run[name]]
        body = "".join(listed) or _nothing(facts.get(name), stage)
        parts.append(f'<div role="list" aria-label="{html.escape(f"Ranking of {name}")}">{body}</div>')
    return f'{STYLE}<div class="rr-sides" style="grid-template-columns:{columns}">{"".join(parts)}</div>'


def sentence(rows: list[Row], runs: list[str], run: str, k: int) -> str:
    """What became of the relevant documents between the reference and the run, as Markdown."""
    reference = runs[0]
    mine = [row for row in rows if row["run"] == run and row["mark"] == "relevant"]
    theirs = [row for row in rows if row["run"] == reference and row["mark"] == "relevant"]
    entered = sum(row["rank"] <= k and (row["other_rank"] is None or row["other_rank"] > k) for row in mine)
    held = {row["doc_id"] for row in mine if row["rank"] <= k}
    left = sum(row["rank"] <= k and row["doc_id"] not in held for row in theirs)
    stay = sum(row["rank"] <= k and row["other_rank"] is not None and row["other_rank"] <= k for row in mine)
    names = f"{words.quoted(run)} against {words.quoted(reference)}"
    if not (entered or left or stay):
        return f"{names}: neither has relevant evidence in the first {k}."
    return (
        f"{names}: {words.count(entered, 'relevant document')} entered the first {k}, {left:,} left, "
        f"{stay:,} stayed."
    )


def show(rows: list[Row], about: list[Row], runs: list[str], run: str, k: int, stage: str) -> None:
    """The rankings, and how to read them."""
    st.markdown(sentence(rows, runs, run, k))
    st.html(markup(rows, about, runs, run, k, stage))
    st.caption(
        f"▲ ▼ and lines: moves against {words.quoted(runs[0])}"
        f"{'' if len(runs) == 2 else ', lines from one column to the next'}; thick and coloured where the "
        f"document is relevant. The dashed line stands at k = {k}."
    )
