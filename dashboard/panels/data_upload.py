"""Files from the browser into the store: first a report, and then, on demand, exactly what was reported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import streamlit as st
from rankroom import upload
from rankroom.upload import FolderUpload, Outcome, Sent, TrecUpload

from panels import data_report, data_table, words
from panels.filters import Filters
from panels.layout import panel_title
from panels.store_access import store_path

TREC, FOLDER = "TREC files", "A folder in the native form, as a zip"
ORDERS = {"score": "score, as in trec_eval", "rank": "the rank column"}
STATES = {
    "added": ("would be added", "added"),
    "rescored": ("would be scored under these labels", "scored under these labels"),
    "already there": ("already there", "already there"),
}


@dataclass(frozen=True)
class Chosen:
    """What the form holds, and a mark that changes with every file and setting."""

    upload: upload.Upload
    mark: tuple[object, ...]


def show(filters: Filters | None, relevant_from: int = 1) -> None:
    """The form, the report of the last check, and the way into the store.

    The form begins with the data set that is looked at, and with its lowest relevant grade.
    """
    if done := st.session_state.get("upload_added"):
        _show_added(done)
    form = st.segmented_control(
        "What is added",
        (TREC, FOLDER),
        default=TREC,
        required=True,
        key="upload_form",
        label_visibility="collapsed",
    )
    chosen = _folder_form() if form == FOLDER else _trec_form(filters, relevant_from)
    st.caption(
        "The check reads and scores everything and stores nothing. A file may have"
        f" {st.get_option('server.maxUploadSize')} MB; gzip helps, and `rankroom add` takes any size."
    )
    checked: tuple[tuple[object, ...], Outcome] | None = st.session_state.get("upload_checked")
    with st.container(horizontal=True, vertical_alignment="center"):
        asked = st.button("Check", icon=":material/fact_check:", disabled=chosen is None)
        slot = st.container(width="content")
        if chosen is None:
            needed = "A zip archive is" if form == FOLDER else "Labels, a name and a revision are"
            st.caption(f"{needed} needed.")
    if asked and chosen:
        st.session_state.pop("upload_added", None)
        checked = (chosen.mark, _run(upload.check, chosen.upload, "Checking"))
        st.session_state["upload_checked"] = checked
    if checked is None:
        return
    mark, outcome = checked
    if chosen is None or mark != chosen.mark:
        st.caption("Files or settings are others than those of the last check: check again.")
        return
    _show_report(outcome)
    if outcome.is_new:
        with slot:
            confirmed = st.button("Add to the store", type="primary", icon=":material/add_circle:")
        if confirmed:
            _add(chosen.upload)


def _add(what: upload.Upload) -> None:
    outcome = _run(upload.add, what, "Adding")
    if outcome.added is None:
        st.session_state["upload_checked"] = None
        panel_title("It was not added")
        _show_report(outcome)
        return
    st.session_state["upload_added"] = outcome
    st.session_state["upload_checked"] = None
    st.session_state["upload_round"] = _round() + 1  # the files are taken out of the form
    st.session_state["just_added"] = outcome.added["query_set"].rpartition("@")[0]
    st.rerun()


# The form


def _round() -> int:
    return int(st.session_state.get("upload_round", 0))


def _trec_form(filters: Filters | None, lowest: int) -> Chosen | None:
    left, right = st.columns(2, gap="medium")
    labels = left.file_uploader(
        "Labels (qrels)",
        key=f"upload_labels_{_round()}",
        help="`query 0 document grade`, or three columns; may be gzipped.",
    )
    runs = right.file_uploader(
        "Runs",
        accept_multiple_files=True,
        key=f"upload_runs_{_round()}",
        help="`query Q0 document rank score tag`; may be gzipped. The file names the run.",
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        dataset = st.text_input(
            "Data set",
            value=filters.data if filters else "",
            key=f"upload_dataset {filters.data if filters else ''}",
            placeholder="a name",
            width=220,
            help="Names query set, label set and collection.",
        ).strip()
        revision = st.text_input(
            "Revision of the labels",
            value=filters.label_set.rpartition("@")[2] if filters else "1",
            key=f"upload_revision {filters.label_set if filters else ''}",
            width=190,
            help="Changed labels get a new one. With the same labels as in the store, only the runs are new.",
        ).strip()
        relevant_from = st.number_input(
            "Relevant from grade",
            min_value=1,
            max_value=30,
            value=lowest,
            key=f"upload_relevant_from {filters.label_set if filters else ''}",
            width=170,
        )
        order = st.selectbox(
            "Results go by",
            list(ORDERS),
            format_func=ORDERS.__getitem__,
            key="upload_order",
            width=230,
        )
    collapse = _collapse()
    if labels is None or not dataset or not revision:
        return None
    what = TrecUpload(
        dataset=dataset,
        labels=_sent(labels),
        runs=tuple(map(_sent, runs)),
        revision=revision,
        relevant_from=int(relevant_from),
        order="rank" if order == "rank" else "score",
        collapse_first=collapse,
    )
    settings = (dataset, revision, what.relevant_from, what.order, collapse)
    return Chosen(what, (store_path(), *settings, _mark(labels), *map(_mark, runs)))


def _folder_form() -> Chosen | None:
    archive = st.file_uploader(
        "A zip archive",
        key=f"upload_archive_{_round()}",
        help="Of a folder with dataset.toml, queries.jsonl, labels.jsonl, runs/ and perhaps documents.jsonl.",
    )
    collapse = _collapse()
    if archive is None:
        return None
    return Chosen(FolderUpload(_sent(archive), collapse), (store_path(), collapse, _mark(archive)))


def _collapse() -> bool:
    return st.checkbox(
        "Accept a document that a ranking has twice: its first place counts", key="upload_collapse"
    )


def _sent(file: Any) -> Sent:
    return Sent(file.name, file)


def _mark(file: Any) -> tuple[str, str, int]:
    return (file.file_id, file.name, file.size)


# The child process


def _run(work: Callable[..., Outcome], what: upload.Upload, doing: str) -> Outcome:
    """Check or add, and meanwhile show what is being done, which of how many it is, and for how long."""
    with st.spinner(f"{doing} …", show_time=True):
        bar, told = st.empty(), st.empty()

        def tell(step: str, at: int, of: int) -> None:
            told.text(step)
            if of:
                bar.progress(at / of)

        try:
            return work(store_path(), what, tell)
        finally:
            bar.empty()
            told.empty()


# What came of it


def _show_report(outcome: Outcome) -> None:
    if outcome.problem:
        st.error("Nothing was stored.", icon=":material/error:")
        st.text(outcome.problem)
        return
    if outcome.num_faults:
        _show_faults(outcome)
    elif outcome.added is not None:
        _show_additions(outcome)
    _show_doubts(outcome)


def _show_faults(outcome: Outcome) -> None:
    st.error(
        f"{words.count(outcome.num_faults, 'fault')}: nothing of this can be stored.", icon=":material/block:"
    )
    st.html(data_report.faults(outcome.faults))
    if (rest := outcome.num_faults - len(outcome.faults)) > 0:
        st.caption(f"… and {words.count(rest, 'more fault')}.")


def _show_additions(outcome: Outcome) -> None:
    added = outcome.added or {}
    new = [f"{kind.replace('_', ' ')} {words.quoted(added[kind])}" for kind in added["new"]]
    if not outcome.is_new:
        st.success("No fault, and everything is in the store already.", icon=":material/check:")
    elif new:
        st.success(f"No fault. New would be: {', '.join(new)}.", icon=":material/check:")
    else:
        st.success(
            f"No fault. The labels {words.quoted(added['label_set'])} are there already.",
            icon=":material/check:",
        )
    if outcome.not_read:
        files = words.count(outcome.not_read, "file is", "files are")
        st.caption(f"{files} no part of the data set in the archive, and not read.")
    _show_runs(outcome)


def _show_runs(outcome: Outcome) -> None:
    runs = (outcome.added or {})["runs"]
    if not runs:
        st.caption("No run is among the files.")
        return
    frame = pa.table(
        {
            "run": pa.array([run["run"] for run in runs], pa.string()),
            "state": pa.array(
                [STATES[run["state"]][0 if outcome.dry_run else 1] for run in runs], pa.string()
            ),
            "results": pa.array([run["num_rows"] for run in runs], pa.int64()),
            "kept of each ranking": pa.array([run["kept_depth"] for run in runs], pa.int64()),
        }
    )
    data_table.show(frame, "upload_runs", "The runs among the files, and what becomes of each.")


def _show_doubts(outcome: Outcome) -> None:
    doubts = outcome.doubts
    if not doubts:
        return
    st.warning(f"{words.count(len(doubts), 'thing')} would be accepted with a doubt.", icon=":material/help:")
    st.html(data_report.doubts(doubts))


def _show_added(outcome: Outcome) -> None:
    added = outcome.added or {}
    new = [f"{kind.replace('_', ' ')} {words.quoted(added[kind])}" for kind in added["new"]]
    runs = [run["run"] for run in added["runs"] if run["state"] != "already there"]
    stored = [words.listed(runs)] if runs else []
    st.success(f"Stored: {', '.join([*stored, *new])}.", icon=":material/check_circle:")
    if outcome.doubts:
        count = words.count(len(outcome.doubts), "thing was", "things were")
        st.caption(f"{count} accepted with a doubt: the tab **Doubts** keeps them.")
