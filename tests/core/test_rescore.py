"""Labels that change, further cutoffs, and runs of which only the first results are kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rankroom.add import Options, add_trec
from rankroom.errors import Refused, UsageError
from rankroom.remove import remove_runs
from rankroom.rescore import rescore
from rankroom.show import run_report
from rankroom.store import Store
from small_stores import Rows, add_native, add_small, ask, kept_open, write_qrels, write_run

TABLES = {
    "query_metrics": "from query_metrics order by run, stage, label_set, query_id, k",
    "query_metrics_uncut": "from query_metrics_uncut order by run, stage, label_set, query_id",
    "labelled_ranks": "from labelled_ranks order by run, stage, label_set, query_id, doc_id",
    "slice_means": "from slice_means order by run, stage, label_set, k, split, dimension, slice",
    "unlabelled_queries": "from unlabelled_queries order by run, label_set, query_id",
    "scorings": "select run, label_set, depth from scorings order by all",
    "rankings": "from rankings order by all",
}


def contents(store: Store) -> dict[str, Rows]:
    with store.read() as con:
        return {table: con.execute(query).fetchall() for table, query in TABLES.items()}


def copy_of(store: Store, folder: Path) -> Store:
    copy = Store(folder / "copy.duckdb")
    copy.path.write_bytes(store.path.read_bytes())
    return copy


# Labels at a new revision

LONG = [f"d{i}" for i in range(40)]
OLD = {"q1": {"a": 1}, "q2": {"b": 1}, "long": dict.fromkeys(LONG[::3], 1)}
NEW = {"q1": {"b": 2}, "q2": {"b": 1}, "long": {"d7": 1}}
RUNS: dict[str, dict[str, Any]] = {
    "one": {"q1": ["a", "b"], "q2": ["b"], "long": LONG},
    "two": {"q1": ["b"], "q3": ["a"], "long": LONG},
}


@pytest.fixture(scope="module")
def revised(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Two runs under old labels, then new labels with the second of them again."""
    folder = tmp_path_factory.mktemp("revised")
    store = Store(folder / "s.duckdb")
    add_small(store, folder, OLD, RUNS)
    added = add_small(store, folder, NEW, {"two": RUNS["two"]}, revision="2")
    assert (added.query_set, added.label_set, added.new_parts) == ("small@1", "small@2", ["label_set"])
    assert [run.state for run in added.runs] == ["rescored"]
    assert added.not_rescored == ["one"]
    with kept_open(store):
        yield store


def test_a_new_revision_becomes_current_and_names_the_runs_to_rescore(revised: Store, tmp_path: Path) -> None:
    assert ask(revised, "select label_set from current_label_sets") == [("small@2",)]
    assert ask(revised, "select query_set, count(*) from queries group by all") == [("small@1", 3)]
    scored = "select run, rr from query_scores where k = 5 and query_id = 'q1' order by run"
    old = (
        "select run, rr from query_scores_all"
        " where k = 5 and query_id = 'q1' and label_set = 'small@1' order by run"
    )
    copy = copy_of(revised, tmp_path)
    assert ask(copy, "select run, label_set from runs_to_rescore") == [("one", "small@2")]
    assert ask(copy, scored) == [("two", 1.0)]
    others = ask(copy, "from scorings where run = 'two' order by all")

    done = rescore(copy, ["one"])

    assert {(r.run, r.label_set) for r in done} == {("one", "small@1"), ("one", "small@2")}
    assert ask(copy, "from scorings where run = 'two' order by all") == others
    assert ask(copy, "from runs_to_rescore") == []
    assert ask(copy, scored) == [("one", 0.5), ("two", 1.0)]
    assert ask(copy, old) == [("one", 1.0), ("two", 0.0)]


def test_native_labels_at_a_new_revision(store: Store, tmp_path: Path) -> None:
    def add(labels: str, doc: str, text: str = "why?") -> None:
        add_native(
            store,
            tmp_path / "files",
            dataset=f'name = "n"\n[labels]\nrevision = "{labels}"\n',
            queries=[{"query_id": "q", "text": text}],
            labels=[{"query_id": "q", "doc_id": doc, "grade": 1}],
            runs={"r": [{"query_id": "q", "stages": {"candidates": ["a", "b"], "final": ["b"]}}]},
        )

    add("1", "a")
    add("2", "b")
    scores = "select label_set, stage, rr from query_scores_all where k = 5 order by all"
    assert ask(store, scores) == [
        ("n@1", "candidates", 1.0),
        ("n@1", "final", 0.0),
        ("n@2", "candidates", 0.5),
        ("n@2", "final", 1.0),
    ]
    assert ask(store, "select query_set from query_sets") == [("n@1",)]
    before = contents(store)
    with pytest.raises(Refused) as refused:
        add("3", "a", "other text under the same revision")
    assert refused.value.report.faults[0].kind == "changed_content"
    assert contents(store) == before
    assert ask(store, "select label_set from label_sets order by all") == [("n@1",), ("n@2",)]


def test_labels_given_again_at_a_new_revision_without_a_change_are_the_same_labels(
    revised: Store, tmp_path: Path
) -> None:
    again = add_small(revised, tmp_path, NEW, {"two": RUNS["two"]}, revision="3")
    assert (again.label_set, again.new_parts, again.runs[0].state) == ("small@2", [], "already there")


# The same again, and further cutoffs


def test_rescoring_changes_nothing(store: Store, tmp_path: Path) -> None:
    rng = Random(3)
    docs = [f"d{i}" for i in range(150)]
    labels = {f"q{i}": {d: rng.randrange(-1, 3) for d in rng.sample(docs, 20)} for i in range(8)}
    runs = {
        f"r{n}": {q: rng.sample(docs, rng.choice([4, 130])) for q in [*labels, "more"][n:]} for n in range(2)
    }
    add_small(store, tmp_path, labels, runs)
    before = contents(store)
    done = rescore(store)
    assert {(r.run, r.label_set) for r in done} == {("r0", "small@1"), ("r1", "small@1")}
    assert contents(store) == before


def test_a_further_cutoff_is_added_for_all_runs_under_all_labels(revised: Store, tmp_path: Path) -> None:
    store = copy_of(revised, tmp_path)
    before = {k: v for k, v in contents(store).items() if k != "scorings"}

    rescore(store, ["one"], cutoffs=[7])

    assert ask(store, "select k from cutoffs order by k") == [(k,) for k in (1, 3, 5, 7, 10, 20, 50, 100)]
    found = (
        "select run, label_set, found, recall from query_scores_all where k = 7 and query_id = 'long'"
        " order by all"
    )
    assert ask(store, found) == [
        ("one", "small@1", 3, 3 / 14),
        ("one", "small@2", 0, 0.0),
        ("two", "small@1", 3, 3 / 14),
        ("two", "small@2", 0, 0.0),
    ]
    after = contents(store)
    assert [
        row for row in after["query_metrics"] if row[4] != 7 and row[:3] != ("one", "final", "small@2")
    ] == (before["query_metrics"])
    third = add_small(store, tmp_path, OLD, {"three": {"long": LONG}})  # who comes later has it too
    assert third.runs[0].state == "added"
    of_third = "select found from query_scores_all where run = 'three' and k = 7 and query_id = 'long'"
    assert ask(store, of_third) == [(3,)]


def test_a_further_cutoff_holds_for_a_store_without_runs(revised: Store, tmp_path: Path) -> None:
    store = copy_of(revised, tmp_path)
    remove_runs(store, ["one", "two"])
    rescore(store, cutoffs=[7])
    add_small(store, tmp_path, NEW, {"one": RUNS["one"]}, revision="2")
    assert ask(store, "select count(*) from query_scores where k = 7") == [(3,)]


@pytest.mark.parametrize("k", [0, -3])
def test_a_cutoff_below_1_is_refused(revised: Store, k: int) -> None:
    with pytest.raises(UsageError, match=str(k)):
        rescore(revised, cutoffs=[5, k])


@pytest.mark.parametrize("cutoffs", [[], [7]])
def test_a_run_that_is_removed_meanwhile_is_passed_over(
    revised: Store, tmp_path: Path, cutoffs: list[int]
) -> None:
    store = copy_of(revised, tmp_path)

    def remove_one(doing: str, at: int, of: int) -> None:
        if doing == "scoring one" and ask(store, "from runs where run = 'one'"):
            remove_runs(store, ["one"])

    others = {run for (run,) in ask(store, "select run from runs")} - {"one"}
    assert {one.run for one in rescore(store, cutoffs=cutoffs, progress=remove_one)} == others
    assert {run for (run,) in ask(store, "select run from scorings")} == others
    assert ask(store, "from runs_to_rescore") == []


def test_an_unknown_run_is_refused_by_name(revised: Store) -> None:
    with pytest.raises(UsageError, match="no run named ghost"):
        rescore(revised, ["one", "ghost"])


# Runs of which the first 100 of each ranking are kept

# Under the later labels 2 is relevant. What has some gain without being that counts for NDCG (`gains`), and
# what comes after 100 relevant ones for R-precision (`many`).
DEEP = {
    "gains": ["a", *(f"x{i}" for i in range(150))],
    "many": [f"x{i}" for i in range(150)],
    "whole": ["a", *(f"x{i}" for i in range(60)), "b"],
    "late": [*(f"x{i}" for i in range(149)), "a", "b"],
    "split": ["a", *(f"x{i}" for i in range(150)), "b"],
    "both_in": ["b", "x0", "a", *(f"y{i}" for i in range(150))],
}
UNKNOWN = "only the first 100 of {} results are kept"
FIRST: dict[str, dict[str, int]] = {q: {"a": 1} for q in DEEP} | {"gains": {"z": 2}, "many": {"z": 2}}
LATER: dict[str, dict[str, int]] = {q: {"a": 2, "b": 3} for q in DEEP} | {
    "gains": {"a": 2, "x149": 1},
    "many": {f"x{i}": 2 for i in range(120)},
}


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A run that was cut, under the labels that it came with."""
    folder = tmp_path_factory.mktemp("first")
    store = Store(folder / "s.duckdb")
    add_small(store, folder, FIRST, {"deep": DEEP}, options=Options(keep=100))
    with kept_open(store) as opened:
        yield opened


@pytest.fixture(scope="module")
def cut(first: Store, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The same, and labels of a later revision that it was not scored under."""
    folder = tmp_path_factory.mktemp("cut")
    store = copy_of(first, folder)
    add_small(store, folder, LATER, {"short": {"whole": ["b"]}}, revision="2", relevant_from=2)
    return store


@pytest.fixture(scope="module")
def rescored(cut: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """The same, scored under the later labels from what is kept of it."""
    store = copy_of(cut, tmp_path_factory.mktemp("rescored"))
    rescore(store)
    with kept_open(store) as opened:
        yield opened


@pytest.fixture
def copied(cut: Store, tmp_path: Path) -> Store:
    return copy_of(cut, tmp_path)


UNCUT = (
    "select query_id, rr, round(ap, 12), ndcg is null, r_precision, first_relevant_rank, unknown_because"
    " from query_scores_uncut_all where run = $run and label_set = $labels order by query_id"
)
TRUE_FIRST = [
    ("both_in", 1 / 3, round(1 / 3, 12), False, 0.0, 3, None),
    ("gains", 0.0, 0.0, False, 0.0, None, None),
    ("late", 1 / 150, round(1 / 150, 12), False, 0.0, 150, None),
    ("many", 0.0, 0.0, False, 0.0, None, None),
    ("split", 1.0, 1.0, False, 1.0, 1, None),
    ("whole", 1.0, 1.0, False, 1.0, 1, None),
]
TRUE_LATER = [
    ("both_in", 1.0, round((1 + 2 / 3) / 2, 12), False, 0.5, 1, None),
    ("gains", 1.0, 1.0, False, 1.0, 1, None),
    ("late", 1 / 150, round((1 / 150 + 2 / 151) / 2, 12), False, 0.0, 150, None),
    ("many", 1.0, 1.0, False, 1.0, 1, None),
    ("split", 1.0, round((1 + 2 / 152) / 2, 12), False, 0.5, 1, None),
    ("whole", 1.0, round((1 + 2 / 62) / 2, 12), False, 0.5, 1, None),
]


def test_later_labels_on_a_cut_run_say_what_they_cannot_know(rescored: Store) -> None:
    assert ask(rescored, UNCUT, run="deep", labels="small@2") == [
        TRUE_LATER[0],
        ("gains", 1.0, 1.0, True, 1.0, 1, UNKNOWN.format(151)),
        ("late", None, None, True, 0.0, None, UNKNOWN.format(151)),
        ("many", 1.0, None, True, None, 1, UNKNOWN.format(150)),
        ("split", 1.0, None, True, 0.5, 1, UNKNOWN.format(152)),
        TRUE_LATER[-1],
    ]
    assert ask(rescored, "select num_unknown, rr, ap from run_summary_uncut where run = 'deep'") == [
        (4, None, None)
    ]
    at_100 = "select query_id, recall from query_scores where run = 'deep' and k = 100 order by query_id"
    assert ask(rescored, at_100) == [
        ("both_in", 1.0),
        ("gains", 1.0),
        ("late", 0.0),
        ("many", 100 / 120),
        ("split", 0.5),
        ("whole", 1.0),
    ]


def test_rescoring_keeps_what_was_known_of_a_cut_run(copied: Store) -> None:
    """Under the labels it came with everything was taken from the whole file."""
    before = contents(copied)
    rescore(copied, cutoffs=[7])
    after = contents(copied)
    assert ask(copied, UNCUT, run="deep", labels="small@1") == TRUE_FIRST
    assert [r for r in after["labelled_ranks"] if r[2] == "small@1"] == [
        r for r in before["labelled_ranks"] if r[2] == "small@1"
    ]
    assert ("deep", "small@1", None) in after["scorings"]
    assert ("deep", "small@2", 100) in after["scorings"]


def test_the_whole_file_heals_for_good(rescored: Store, tmp_path: Path) -> None:
    """And may come with a further cutoff."""
    copy = copy_of(rescored, tmp_path)
    for file, cutoffs in ((write_run(tmp_path / "anything.trec", DEEP), [7]), (None, [])):
        rescore(copy, ["deep"], whole_file=file, cutoffs=cutoffs)
        assert ask(copy, UNCUT, run="deep", labels="small@1") == TRUE_FIRST
        assert ask(copy, UNCUT, run="deep", labels="small@2") == TRUE_LATER
    assert ask(copy, "select run, count(*) from query_scores where k = 7 group by run order by run") == [
        ("deep", len(DEEP)),
        ("short", len(DEEP)),
    ]


def test_show_at_another_cutoff_knows_what_the_store_knows(first: Store) -> None:
    stored, other = run_report(first, "deep", 5), run_report(first, "deep", 7)
    assert other["uncut"] == stored["uncut"]
    assert [q["first_relevant_rank"] for q in other["queries"]] == [3, None, 150, None, 1, 1]


OTHER_FILES = {
    "one result fewer": DEEP | {"late": DEEP["late"][:-1]},
    "a query fewer": {q: docs for q, docs in DEEP.items() if q != "late"},
    "a query more": DEEP | {"new": ["a"]},
    "two kept documents in another order": DEEP | {"late": ["x1", "x0", *DEEP["late"][2:]]},
}


def test_another_file_is_refused_and_changes_nothing(first: Store, tmp_path: Path) -> None:
    before = contents(first)
    for what, other in OTHER_FILES.items():
        file = write_run(tmp_path / f"{what}.trec", other)
        with pytest.raises(Refused, match=f"{what}.trec.*not the file that run deep came from"):
            rescore(first, ["deep"], whole_file=file)
    assert contents(first) == before


def test_a_file_with_faults_is_refused(first: Store, tmp_path: Path) -> None:
    (tmp_path / "r.trec").write_text("q1 Q0 a 1 NaN t\n")
    with pytest.raises(Refused, match="finite"):
        rescore(first, ["deep"], whole_file=tmp_path / "r.trec")


def test_the_whole_file_is_read_as_it_was_when_the_run_was_added(copied: Store, tmp_path: Path) -> None:
    """Of a run with a document twice its first place counts; one without scores goes by rank."""
    twice, ranks = write_run(tmp_path / "twice.trec", DEEP), tmp_path / "ranks.trec"
    twice.write_text(twice.read_text() + "late Q0 x3 0 -900.0 t\n")
    ranks.write_text("".join(f"{q} {d} {i}\n" for q, docs in DEEP.items() for i, d in enumerate(docs, 1)))
    labels = write_qrels(tmp_path / "q.txt", FIRST)
    options = Options(keep=100, collapse_first=True)
    add_trec(copied, [twice, ranks], labels=labels, dataset="small", options=options)
    for file in (twice, ranks):
        rescore(copied, [file.stem], whole_file=file)
        assert ask(copied, UNCUT, run=file.stem, labels="small@2") == TRUE_LATER


def test_the_whole_file_is_of_one_run(first: Store, tmp_path: Path) -> None:
    for runs in ([], ["deep", "short"]):
        with pytest.raises(UsageError, match="one run"):
            rescore(first, runs, whole_file=write_run(tmp_path / "r.trec", DEEP))


def test_a_cutoff_beyond_what_is_kept_is_refused(cut: Store, rescored: Store) -> None:
    before = contents(cut)
    with pytest.raises(UsageError, match="run deep only the first 100"):
        rescore(cut, cutoffs=[101])
    assert contents(cut) == before
    with pytest.raises(UsageError, match="no scores under the current labels"):
        run_report(cut, "deep", 101)
    with pytest.raises(UsageError, match="run deep only the first 100"):
        run_report(rescored, "deep", 101)


def test_keeping_less_than_the_largest_cutoff_is_refused(no_store: Store, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="keep must be from 100"):
        add_small(no_store, tmp_path, FIRST, {"deep": DEEP}, options=Options(keep=99))
    assert not no_store.exists()
