"""`rankroom compare`: what it prints, the JSON that scripts rely on, and its exit codes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from cli_run import Run, run
from rankroom.store import Store
from small_stores import add_native, add_small, kept_open

METRIC_KEYS = [
    *("metric", "k", "baseline", "candidate", "difference", "low", "high", "p", "p_holm"),
    *("wins", "ties", "losses", "n", "detectable", "verdict"),
]
QUERIES = [f"q{at:02}" for at in range(1, 13)]
ODD = "better|<b>*$x$~~y~~[z](u)&lt;"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two runs of twelve queries in three categories, one over a newer collection, and another data set."""
    folder = tmp_path_factory.mktemp("compare")
    store = Store(folder / "s.duckdb")
    add_native(
        store,
        folder / "help",
        dataset='name = "help"\n[collection]\nname = "docs"\nversion = "3"\n',
        queries=[
            {"query_id": name, "text": name, "category": "abc"[at % 3], "split": "dev" if at < 6 else "test"}
            for at, name in enumerate(QUERIES)
        ],
        labels=[{"query_id": name, "doc_id": "right", "grade": 1} for name in QUERIES],
        runs={
            "plain": [{"query_id": name, "results": ["x", "right"]} for name in QUERIES],
            ODD: [{"query_id": name, "results": ["right", "x"]} for name in QUERIES],
            "newer": [{"query_id": name, "results": ["right", "x"]} for name in QUERIES],
        },
        about={
            "plain": '[config]\nretriever = "bm25"\n',
            ODD: '[config]\nretriever = "hybrid"\n',
            "newer": 'collection = {version = "4"}\n',
        },
    )
    add_small(store, folder, {"q01": {"right": 1}}, {"elsewhere": {"q01": ["right"]}}, dataset="other")
    with kept_open(store):
        yield store.path


@pytest.fixture
def compare(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    """Run the command in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RANKROOM_STORE", str(path))
    monkeypatch.delenv("RANKROOM_THRESHOLDS", raising=False)

    return partial(run, monkeypatch, capsys, "compare")


def test_json_is_what_scripts_rely_on(compare: Run) -> None:
    ended = compare("plain", ODD, "-k", 5, "--by", "category", "--json")
    assert (ended.code, ended.err) == (0, "")
    found = ended.json
    assert found.keys() >= {"comparable", "reasons", "config_diff", "metrics", "account", "slices"}
    assert (found["comparable"], found["reasons"]) == (True, [])
    assert found["config_diff"] == [{"setting": "retriever", "baseline": "bm25", "candidate": "hybrid"}]
    assert [list(one) for one in found["metrics"]] == [METRIC_KEYS] * 9
    verdicts = {one["metric"]: one["verdict"] for one in found["metrics"]}
    assert (verdicts["ndcg"], verdicts["hit"]) == ("improved", "no_clear_change")
    assert {one["n"] for one in found["metrics"]} == {12}
    assert [one["slice"] for one in found["slices"]] == [{"category": name} for name in "abc"]
    assert all(list(one) == ["slice", *METRIC_KEYS, "thin"] and one["thin"] for one in found["slices"])
    shares = sum(row["share"] for row in found["account"] if row["metric"] == "ndcg")
    assert shares == pytest.approx(next(o["difference"] for o in found["metrics"] if o["metric"] == "ndcg"))


def test_the_table_begins_with_the_verdict(compare: Run) -> None:
    ended = compare("plain", ODD, "--by", "category")
    lines = ended.out.splitlines()
    assert ended.code == 0
    assert lines[0].startswith(f"{ODD} is better than plain at NDCG@5 by 0.369 [0.369, 0.369]")
    assert lines[1] == "k = 5, labels help@1, n = 12"
    assert "changed: retriever: bm25 -> hybrid" in lines
    (row,) = [line.split() for line in lines if line.startswith("NDCG@5 ")]
    assert row == ["NDCG@5", "0.631", "1.000", "+0.369", "[+0.369,", "+0.369]", "<0.001", "0.004", "12", "0",
                   "0", "0.000", "better"]  # fmt: skip
    assert [line.split()[-1] for line in lines if line.startswith(("a ", "b ", "c "))] == ["thin"] * 3
    assert any(
        line.split() == ["hit", "moved", "up", "inside", "12", "12", "+0.369", "0.000"] for line in lines
    )


def test_markdown(compare: Run) -> None:
    ended = compare("plain", ODD, "--markdown", "--by", "category")
    first, *lines = ended.out.splitlines()
    assert ended.code == 0
    assert first.startswith(
        r"**better\|\<b\>\*\$x\$\~\~y\~\~[z\](u)\&lt; is better than plain at NDCG@5 by 0.369 [0.369, 0.369]"
    )
    assert first.endswith("**")
    tables = [line for line in lines if line.startswith("|")]
    assert tables[0].startswith("| metric | baseline | candidate |")
    assert len({line.replace(r"\|", "").count("|") for line in tables[:11]}) == 1


def test_what_is_not_alike_is_exit_code_5(compare: Run) -> None:
    ended = compare("plain", "newer")
    assert ended.code == 5
    assert ended.out.startswith("newer and plain are not comparable: collection docs 3 against 4. 12 queries")
    assert "--common compares them on what they share" in ended.out
    found = compare("plain", "newer", "--json")
    assert (found.code, found.json["comparable"], found.json["metrics"]) == (5, False, [])
    assert [(r["kind"], r["count"]) for r in found.json["reasons"]] == [("collection", None)]
    common = compare("plain", "newer", "--common", "--json")
    assert (common.code, common.json["comparable"], len(common.json["metrics"])) == (0, False, 9)
    assert "not alike: collection docs 3 against 4" in compare("plain", "newer", "--common").out
    nothing = compare("plain", "elsewhere", "--common")
    assert nothing.code == 5
    assert "Nothing is common to both" in nothing.out


def test_a_run_against_itself_and_a_cutoff_of_its_own(compare: Run) -> None:
    ended = compare("plain", "plain", "-k", 7, "--json")
    assert ended.code == 0
    assert {(one["difference"], one["p"], one["k"]) for one in ended.json["metrics"]} == {(0, 1, 7)}
    assert compare("plain", ODD, "-k", 2, "--split", "test", "--json").json["metrics"][0]["n"] == 6


def test_usage(compare: Run) -> None:
    for arguments, said in (
        (("plain", "nope"), "there is no run named nope: `rankroom list` names them"),
        (("plain", ODD, "--by", "colour"), "cannot be sliced by colour"),
        (("plain", ODD, "--split", "heldout"), "no query has the split heldout: the splits are dev, test"),
        (("plain", ODD, "-k", 0), "k must be a positive integer"),
        (("plain", ODD, "--labels", "help@7"), "help has no labels named help@7"),
        (("plain", ODD, "--metric", "mrr"), "there is no metric mrr"),
    ):
        ended = compare(*arguments)
        assert ended.code == 2, arguments
        assert said in ended.err
        assert ended.out == ""


def test_a_team_has_its_own_thresholds(compare: Run, tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text("smallest = 0.5\nthin = 4\n")
    found = compare("plain", ODD, "--by", "category", "--thresholds", own, "--json").json
    assert found["smallest"] == 0.5
    assert [one["thin"] for one in found["slices"]] == [False] * 3
    for text, said in (
        ("smallest = 2\n", "own.toml: field smallest value 2"),
        ("thin = 'few'\n", "own.toml: field thin value 'few'"),
        ("smalest = 0.1\n", "own.toml: there is no threshold named smalest"),
        ("smallest\n", "own.toml is not TOML"),
    ):
        own.write_text(text)
        ended = compare("plain", ODD, "--thresholds", own)
        assert ended.code == 2
        assert said in ended.err
    assert "none.toml: No such file" in compare("plain", ODD, "--thresholds", tmp_path / "none.toml").err
