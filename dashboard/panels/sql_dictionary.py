"""The data dictionary beside the editor: what may be asked for, and what it means."""

from __future__ import annotations

import html
from pathlib import Path

import streamlit as st

from panels.question import Question
from panels.store_access import Reader, Row

OBJECTS = Question(
    """
with described as (
    select words.rowid as place, words.name, words.kind, words.column_name, words.sentence, columns.data_type
    from data_dictionary as words
    left join duckdb_columns() as columns
           on columns.database_name = current_database() and columns.schema_name = current_schema()
          and columns.table_name = words.name and columns.column_name = words.column_name
)
select name,
       any_value(kind) filter (column_name is null) as kind,
       any_value(sentence) filter (column_name is null) as sentence,
       coalesce(list({'name': column_name, 'type': data_type, 'sentence': sentence} order by place)
                filter (kind = 'parameter'), []) as parameters,
       coalesce(list({'name': column_name, 'type': data_type, 'sentence': sentence} order by place)
                filter (kind = 'column'), []) as columns
from described
group by name
having kind is not null
order by min(place)
"""
)

STYLE = f"<style>{Path(__file__).with_suffix('.css').read_text(encoding='utf-8')}</style>"

GROUPS = {
    "Views": "What to ask first.",
    "Views of everything": "The same at every stage, and under every label set.",
    "Macros": "Tables for the runs and cutoff that you name.",
    "Tables": "What was put in, and every computed row.",
    "Checks": "What the macros are made of: a value, or an error.",
}


def group(row: Row) -> str:
    """Where an entry of the dictionary stands."""
    if row["kind"] == "macro":
        return "Macros" if row["columns"] else "Checks"
    if row["kind"] == "table":
        return "Tables"
    return "Views of everything" if row["name"].endswith("_all") else "Views"


def call(row: Row) -> str:
    """How a statement names it: with its parameters, if it has some."""
    parameters = ", ".join(parameter["name"] for parameter in row["parameters"])
    return f"{row['name']}({parameters})" if row["kind"] == "macro" else str(row["name"])


def found(rows: list[Row], wanted: str) -> list[Row]:
    """The entries that have all these words in names or sentences, first those with them in the name."""
    needles = wanted.lower().split()
    having = [row for row in rows if all(needle in _text(row) for needle in needles)]
    return sorted(having, key=lambda row: not all(needle in row["name"].lower() for needle in needles))


def readable(rows: list[Row]) -> list[str]:
    """Names of what FROM takes as it stands: views, then tables."""
    return [row["name"] for kind in ("view", "table") for row in rows if row["kind"] == kind]


def show(store: Reader) -> None:
    """The dictionary with its search, in the sidebar."""
    rows = store.rows(OBJECTS)
    wanted = st.text_input(
        "What there is", placeholder="Search names and sentences", icon=":material/search:", key="dictionary"
    )
    chosen = found(rows, wanted)
    if not chosen:
        st.caption("Nothing in the dictionary has these words.")
    for name, about in GROUPS.items():
        if members := [row for row in chosen if group(row) == name]:
            st.html(_group(name, about, members, is_open=len(chosen) <= 3))


def _group(name: str, about: str, rows: list[Row], is_open: bool) -> str:
    items = "".join(_item(row, is_open) for row in rows)
    return f'{STYLE}<section class="rr-words"><h3>{name}</h3><p>{about}</p>{items}</section>'


def _item(row: Row, is_open: bool) -> str:
    parts = "".join(_part(part) for part in [*row["parameters"], *row["columns"]])
    lead = "" if group(row) == "Checks" else "from "
    return (
        f"<details{' open' if is_open else ''}><summary>{html.escape(row['name'])}</summary>"
        f"<p>{html.escape(row['sentence'])}</p><code>{lead}{html.escape(call(row))}</code><dl>{parts}</dl></details>"
    )


def _part(part: Row) -> str:
    sort = f" <span>{html.escape(part['type'].lower())}</span>" if part["type"] else ""
    return f"<dt><code>{html.escape(part['name'])}</code>{sort}</dt><dd>{html.escape(part['sentence'])}</dd>"


def _text(row: Row) -> str:
    parts = [*row["parameters"], *row["columns"]]
    return " ".join(
        [row["name"], row["sentence"], *(f"{one['name']} {one['sentence']}" for one in parts)]
    ).lower()
