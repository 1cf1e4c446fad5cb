from __future__ import annotations

import gzip
import html
import io
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest
import worlds
from altair import LayerChart
from rankroom.add import add_folder
from rankroom.rescore import rescore
from rankroom.resources import folder
from rankroom.store import Store
from small_stores import add_small
from test_runs_page import texts
from test_shown_sql import shown

THERE, REVISIONS, COVERAGE, DOUBTS, ADDING = (
    "What there is",
    "Label revisions",
    "Coverage",
    "Doubts",
    "Add files",
)
QRELS = b"q1 0 a 1\nq2 0 b 2\n"
RUN = b"q1 Q0 a 1 2.0 t\nq2 Q0 c 1 2.0 t\n"


@pytest.fixture(scope="session")
def revised(three: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Three runs, scored under two revisions of the labels, and one run under the second only."""
    place = tmp_path_factory.mktemp("revised")
    store = Store(shutil.copy(three.path, place / "store.duckdb"))
    add_folder(store, worlds.write_folder(place / "two", {}, labels_revision="2"))
    rescore(store)
    late = {"late": worlds.RUNS["second"][:5]}
    add_folder(store, worlds.write_folder(place / "late", late, labels_revision="2"))
    return store


COLUMN_OF = {
    "label_sets": "scored_runs",
    "query_sets": "with_groups",
    "collections": "restricted",
    "values": "queries_of_each",
    "data_runs": "scored_under",
    "label_effects": "ndcg_change",
    "label_changes": "change",
    "coverage": "judged",
    "unlabelled": "in_query_set",
    "never_returned": "relevant",
    "without_document": "collection",
    "doubts": "about",
    "upload_runs": "state",
}
"""A column that only this table of a tab has."""


def table(at: Any, which: str) -> Any:
    """One of the page's tables."""
    (found,) = (frame.value for frame in at.dataframe if COLUMN_OF[which] in frame.value.columns)
    return found


def report(at: Any) -> list[list[str]]:
    """The rows of the page's one report of faults or doubts."""
    (body,) = (one.proto.body for one in at.get("html") if "rr-report" in one.proto.body)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", body)]
    return [[html.unescape(re.sub(r"</?bdi>", "", cell)) for cell in row] for row in cells if row]


# What there is


def test_what_there_is(look: Any, revised: Store) -> None:
    at = look(revised, "data")
    assert not at.exception
    assert at.title[0].value == "Data"
    assert (
        "`handbook` has 14 queries, 15 labels on 13 queries in the newest of 2 revisions,"
        " 14 documents and 4 runs." in texts(at)
    )
    sets = table(at, "label_sets")
    assert sets["label_set"].tolist() == ["handbook@2", "handbook@1"]
    assert sets["is_current"].tolist() == ["yes", "no"]
    assert sets["scored_runs"].tolist() == [4, 3]
    assert table(at, "query_sets")["num_queries"].tolist() == [14]
    assert table(at, "collections")["restricted"].tolist() == [1]
    values = table(at, "values").set_index("dimension")["queries_of_each"]
    assert list(values["split"]) == ["dev · 13", "heldout · 1"]
    assert f"{worlds.EVIL} · 1" in list(values["category"])
    assert "<b>" in values.index
    runs = table(at, "data_runs").set_index("run")["scored_under"]
    assert list(runs["first"]) == ["handbook@1", "handbook@2"]
    assert list(runs["late"]) == ["handbook@2"]
    assert list(runs[worlds.EVIL]) == ["handbook@1", "handbook@2"]
    assert at.get("vega_lite_chart")[0].proto.alt == (
        "Labels of handbook@2 by grade: 1 of grade 2, 13 of grade 1, 1 of grade 0."
    )


def test_runs_that_wait_for_scores_are_named_with_the_command(look: Any, waiting: Store) -> None:
    at = look(waiting, "data")
    assert "`first` is not scored under `handbook@2` yet" in at.warning[0].value
    assert f"rankroom rescore --store {waiting.path}" in at.warning[0].value
    assert table(at, "data_runs")["waits_for"].tolist() == ["handbook@2"]
    at = look(waiting, "data", view=REVISIONS)
    assert "1 label of 1 query changed" in texts(at)
    assert "No run has scores under both." in texts(at)
    assert "`first` is scored under the earlier labels only" in texts(at)
    at = look(waiting, "data", view=COVERAGE)
    assert not at.exception
    assert "No run has scores under these labels" in texts(at)


def test_several_data_sets(open_page: Any, single: Store, tmp_path: Path) -> None:
    store = Store(shutil.copy(single.path, tmp_path / "s.duckdb"))
    add_small(store, tmp_path, {"q1": {"a": 1}}, {}, dataset=worlds.EVIL)
    at = open_page(store, "data")
    assert at.selectbox(key="data").options == sorted([worlds.EVIL, "handbook"])
    at = open_page(store, "data", data=worlds.EVIL)
    assert f"``{worlds.EVIL}`` has 1 query, 1 label on 1 query and 0 runs" in texts(at)
    assert "No run yet" in texts(at)
    assert "name no split" in texts(at)
    for view in (REVISIONS, COVERAGE, DOUBTS, ADDING):
        assert not open_page(store, "data", data=worlds.EVIL, view=view).exception
    at.switch_page("app_pages/runs.py").run()
    assert not at.exception
    assert at.title[0].value == "Runs"


def test_a_store_without_runs_without_anything_and_no_store_at_all(
    open_page: Any, store: Store, tmp_path: Path
) -> None:
    at = open_page(worlds.world(tmp_path), "data")
    assert not at.exception
    assert "`handbook` has 14 queries" in texts(at)
    assert "There is no data in" in texts(open_page(store, "data"))
    (tmp_path / "notes.duckdb").write_text("notes " * 1000)
    at = open_page(Store(tmp_path / "notes.duckdb"), "data")
    assert not at.exception
    assert at.title[0].value == "The store could not be read"


def test_two_hundred_runs(look: Any, many: Store) -> None:
    assert not look(many, "data", view=THERE).exception
    at = look(many, "data", view=COVERAGE)
    assert len(table(at, "coverage")) == 201
    assert "Drawn are the 30 runs with the lowest share; the table has all." in texts(at)


# Label revisions


def test_label_revisions_compared(look: Any, ask: Any, revised: Store) -> None:
    at = look(revised, "data", view=REVISIONS)
    assert not at.exception
    assert "1 label of 1 query changed from `handbook@1` to `handbook@2`: 1 added." in texts(at)
    assert "NDCG@5 moved in 3 of 3 runs, most in" in texts(at)
    assert "`late` is scored under the later labels only" in texts(at)
    assert "0 changed labels of other splits" in texts(at)
    frame = table(at, "label_effects").set_index("run")
    for label_set, when in (("handbook@1", "old"), ("handbook@2", "new")):
        rows = ask(
            revised,
            "select run, n, ndcg, recall, hit, rr from run_summary_all where k = 5 and split = 'dev'"
            f" and stage = 'final' and label_set = '{label_set}' and run <> 'late'",
        )
        assert len(rows) == 3
        for run, *numbers in rows:
            columns = [f"{when}_{name}" for name in ("n", "ndcg", "recall", "hit", "rr")]
            assert frame.loc[run, columns].tolist() == pytest.approx(numbers)
    change = frame["new_ndcg"] - frame["old_ndcg"]
    assert change.dropna().tolist() == pytest.approx(frame["ndcg_change"].dropna().tolist())
    changes = table(at, "label_changes")
    assert changes[["query_id", "doc_id", "change", "new_grade"]].to_numpy().tolist() == [
        ["found", "d12", "added", 1]
    ]


def test_the_other_way_round_and_in_another_split(open_page: Any, revised: Store) -> None:
    at = open_page(
        revised,
        "data",
        view=REVISIONS,
        old_labels="handbook@2",
        new_labels="handbook@1",
        changes_split="heldout",
        changes_metric="hit",
        k="3",
    )
    assert "No label changed from `handbook@2` to `handbook@1`." in texts(at)
    assert "NDCG@3 is the same in 3 runs." in texts(at)
    assert "1 changed label of other splits" in texts(at)
    assert "`late` is scored under the earlier labels only" in texts(at)
    assert set(table(at, "label_effects")["old_n"]) == {1}
    at.selectbox(key="changes_split").set_value("all").run()
    assert "1 label of 1 query changed from `handbook@2` to `handbook@1`: 1 removed." in texts(at)


def test_nothing_to_compare(look: Any, single: Store, revised: Store) -> None:
    at = look(single, "data", view=REVISIONS)
    assert "nothing to compare" in texts(at)
    assert f"rankroom add --store {single.path} --dataset handbook --revision 2" in at.code[0].value
    at = look(revised, "data", view=REVISIONS, old_labels="handbook@2")
    assert "Both are the same revision" in texts(at)


def test_what_else_differs_is_said(open_page: Any, tmp_path: Path) -> None:
    store = Store(tmp_path / "s.duckdb")
    add_small(store, tmp_path, {"q1": {"a": 1, "b": 2}}, {"r": {"q1": ["a"]}})
    add_small(store, tmp_path, {"q1": {"a": 1, "b": 3}, "q2": {"c": 2}}, {}, revision="2", relevant_from=2)
    rescore(store)
    at = open_page(store, "data", view=REVISIONS)
    assert "2 labels of 2 queries changed" in texts(at)
    assert "1 regraded, 1 added" in texts(at)
    assert "Relevant is a grade from 1 on in the earlier labels, and from 2 on in the later ones" in texts(at)
    assert "The queries changed too: `small@1`, then `small@2`" in texts(at)
    assert "NDCG@5 of `r`" in texts(at)
    assert table(at, "label_effects")[["old_n", "new_n"]].to_numpy().tolist() == [[1, 2]]


def test_the_chart_is_what_vega_lite_takes(look: Any, revised: Store) -> None:
    at = look(revised, "data", view=REVISIONS)
    (chart,) = at.get("vega_lite_chart")
    LayerChart.from_json(chart.proto.spec)
    assert "first" in chart.proto.alt
    assert "NDCG@5 by run" in chart.proto.alt


# Coverage and doubts


def test_coverage(look: Any, ask: Any, revised: Store) -> None:
    at = look(revised, "data", view=COVERAGE, k="3")
    assert not at.exception
    rows = ask(
        revised,
        "select run, n, judged from label_coverage where k = 3 order by judged, run",
    )
    on_page = table(at, "coverage")[["run", "n", "judged"]].itertuples(index=False)
    assert [tuple(row) for row in on_page] == [pytest.approx(row) for row in rows]
    assert "1 query has no label." in texts(at)
    assert table(at, "unlabelled")["query_id"].tolist() == ["unlabelled"]
    never = table(at, "never_returned")
    expected = ask(
        revised, "select query_id, doc_id from labels_never_returned where label_set = 'handbook@2'"
    )
    assert {tuple(row) for row in never[["query_id", "doc_id"]].itertuples(index=False)} == set(expected)
    assert ("never", "gone") in set(expected)
    assert table(at, "without_document")["doc_id"].tolist() == ["gone"]
    assert "All splits, under `handbook@2`" in texts(at)


def test_doubts(open_page: Any, ask: Any, revised: Store, tmp_path: Path) -> None:
    at = open_page(revised, "data", view=DOUBTS)
    frame = table(at, "doubts")
    ((total,),) = ask(revised, "select count(*) from doubts")
    assert len(frame) == total
    assert f"{total} things were accepted with a doubt; most often: " in texts(at)
    assert {"label document missing", "query missing from run"} <= set(frame["kind"])
    assert {"first", worlds.EVIL, "handbook@1"} <= set(frame["name"])
    clean = Store(tmp_path / "clean.duckdb")
    add_small(clean, tmp_path, {"q1": {"a": 1, "b": 2}}, {})
    assert "Nothing of this data set was accepted with a doubt." in texts(
        open_page(clean, "data", view=DOUBTS)
    )


@pytest.mark.parametrize("view", [THERE, REVISIONS, COVERAGE, DOUBTS])
def test_statements_run_and_names_show_as_they_stand(look: Any, ask: Any, revised: Store, view: str) -> None:
    at = look(revised, "data", view=view)
    for element in at.get("html"):
        assert "<b onclick" not in element.proto.body
    assert worlds.EVIL not in texts(at).replace(f"``{worlds.EVIL}``", "")
    statements = shown(at)
    assert len(statements) >= 2
    for statement in statements:
        ask(revised, statement)


# Adding files


def uploader(at: Any, which: str) -> Any:
    return next(one for one in at.get("file_uploader") if which in one.key)


def fill_trec(at: Any, *runs: tuple[str, bytes], labels: bytes = QRELS, **fields: Any) -> Any:
    uploader(at, "labels").upload("qrels.txt", labels)
    for name, content in runs:
        uploader(at, "runs").upload(name, content)
    for name, value in fields.items():
        next(one for one in at.text_input if one.key.startswith(f"upload_{name}")).set_value(value)
    return at.run()


def press(at: Any, label: str) -> Any:
    next(button for button in at.button if button.label == label).click()
    return at.run(timeout=60)


def labels_of(at: Any) -> list[str]:
    return [button.label for button in at.button]


def test_the_first_files_make_the_store(open_page: Any, ask: Any, no_store: Store) -> None:
    at = open_page(no_store, "data")
    assert at.title[0].value == "Data"
    assert "There is no data yet" in texts(at)
    assert next(button for button in at.button if button.label == "Check").disabled
    at = fill_trec(at, ("bm25.txt.gz", gzip.compress(RUN)), (f"{'z' * 40} <b>`.txt", RUN), dataset="mine")
    at = press(at, "Check")
    assert "New would be: collection `mine@1`, query set `mine@1`, label set `mine@1`" in at.success[0].value
    assert table(at, "upload_runs")["state"].tolist() == ["would be added", "would be added"]
    assert not no_store.exists()

    at = press(at, "Add to the store")
    assert not at.exception
    assert "Stored: `bm25` and " in at.success[0].value
    assert "`mine` has 2 queries" in texts(at)
    assert ask(no_store, "select run, num_rows from runs order by run") == [
        ("bm25", 2),
        (f"{'z' * 40} <b>`", 2),
    ]
    assert next(button for button in at.button if button.label == "Check").disabled  # the files are gone
    assert "Add to the store" not in labels_of(at)


def test_faults_and_doubts_and_a_store_that_another_process_took_meanwhile(
    open_page: Any, fresh: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fresh.stamp()
    at = open_page(fresh, "data", view=ADDING)
    bad = b"q1 Q0 a 1 2.0 t\nq1 Q0 \x1b[31m 2 nan t\nq1 Q0 c 3 1.0 t\n"
    at = press(fill_trec(at, ("<b>bad.txt", bad), dataset="mine"), "Check")
    assert "1 fault: nothing of this can be stored." in at.error[0].value
    assert "&lt;b&gt;bad.txt" in texts(at)
    assert "<b>bad" not in texts(at)
    faults = report(at)
    assert faults == [["<b>bad.txt", "2", "score", "nan", "a finite number was expected"]]
    assert "Add to the store" not in labels_of(at)

    uploader(at, "runs").set_value([("good.txt", b"q1 Q0 a 1 2.0 t\n", "text/plain")])
    at.run()
    assert "check again" in texts(at)
    assert not at.error
    at = press(at, "Check")
    assert "accepted with a doubt" in at.warning[0].value
    doubts = report(at)
    assert "query missing from run" in {kind for _, kind, *_ in doubts}
    assert {file for file, *_ in doubts} <= {"good.txt", "qrels.txt"}
    assert "Add to the store" in labels_of(at)
    assert fresh.stamp() == before

    hold = (
        "import duckdb, sys; con = duckdb.connect(sys.argv[1], read_only=True)\n"
        "print('held', flush=True); input()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", hold, str(fresh.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        monkeypatch.setattr("rankroom.upload._send.__defaults__", (60.0, 0.2))
        at = press(at, "Add to the store")
        assert not at.exception
        assert "Nothing was stored." in at.error[0].value
        assert "has it open" in texts(at)
    finally:
        holder.communicate("\n")
    assert fresh.stamp() == before


def test_a_zip_of_a_folder_that_is_there_already(open_page: Any, example: Store) -> None:
    at = open_page(example, "data", view=ADDING)
    at.get("button_group")[0].set_value("A folder in the native form, as a zip").run()
    packed = io.BytesIO()
    source = folder("sample_runs") / "documentation_example"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in source.rglob("*"):
            archive.write(path, f"example/{path.relative_to(source)}")
        archive.writestr("notes.txt", "not read")
    uploader(at, "archive").upload("example.zip", packed.getvalue()).run()
    at = press(at, "Check")
    assert "everything is in the store already" in at.success[0].value
    assert table(at, "upload_runs")["state"].tolist() == ["already there"]
    assert "1 file is no part of the data set" in texts(at)
    assert "Add to the store" not in labels_of(at)


def test_the_form_begins_with_the_data_set_that_is_looked_at(look: Any, revised: Store) -> None:
    at = look(revised, "data", view=ADDING)
    values = {one.key.split()[0]: one.value for one in at.text_input}
    assert values == {"upload_dataset": "handbook", "upload_revision": "2"}
    assert [one.value for one in at.number_input] == [1]
