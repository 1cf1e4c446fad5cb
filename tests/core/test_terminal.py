"""What a terminal is shown: every doubt and fault with its count, tables that fit, and no names that act."""

from __future__ import annotations

import io
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rankroom import terminal
from rankroom.adding import Added, AddedRun
from rankroom.faults import SHOWN, Doubt, Fault, Report
from rankroom.printable import lines, one_line
from rich.console import Console

ACTING = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class Terminal:
    """Standard output and error of `terminal`, in text, as wide as asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.out, self.err = io.StringIO(), io.StringIO()
        self._monkeypatch = monkeypatch
        self.width(100_000)

    def width(self, columns: int) -> None:
        for name, file in (("out", self.out), ("err", self.err)):
            console = Console(file=file, width=columns, highlight=False)
            self._monkeypatch.setattr(terminal, name, console)

    def lines(self) -> list[str]:
        return self.out.getvalue().splitlines()


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal(monkeypatch)


def added(**changes: object) -> Added:
    about = {"query_set": "d@1", "label_set": "d@1", "collection": "d@1", "new_parts": []}
    return Added(**(about | changes))  # type: ignore[arg-type]


def doubts(*counts: int, kind: str = "tied_scores") -> list[Doubt]:
    return [Doubt(f"runs/r{at}.txt", kind, n, f"{n:,} results tie") for at, n in enumerate(counts)]


# Names that act


@given(st.text())
def test_no_text_acts_on_the_terminal(text: str) -> None:
    assert not ACTING.search(one_line(text))
    assert "\n" not in one_line(text)
    assert not ACTING.search(lines(text))
    assert lines(text).count("\n") == text.count("\n")


@given(st.text(alphabet=string.printable[:95] + "äß漢字🙂é"))
def test_ordinary_text_stays(text: str) -> None:
    assert one_line(text) == text == lines(text)


def test_what_acts_is_shown_by_its_escape() -> None:
    assert one_line("a\x1b[31mb\nc\u202e") == r"a\x1b[31mb\nc\u202e"


def test_a_table_shows_markup_and_escapes_as_they_are(screen: Terminal) -> None:
    for width in (100_000, 18, 12):
        screen.width(width)
        terminal.show_table([{"[red]id[/red]": "[bold]\x1b[2J\n", "n": 1}], raw=True)
    assert not ACTING.search(screen.out.getvalue())
    assert screen.lines()[:2] == ["[red]id[/red]    n", r"[bold]\x1b[2J\n  1"]


# Doubts


def test_a_doubt_or_two_are_spelt_out() -> None:
    assert list(terminal.notes(doubts(3))) == ["note: runs/r0.txt: 3 results tie"]
    assert len(list(terminal.notes(doubts(3, 4)))) == 2


def test_many_doubts_of_a_kind_are_explained_once_and_all_counted() -> None:
    said = list(terminal.notes(doubts(3, 9_000, 7, 12)))
    assert said == [
        "note: tied scores in 4 files. r1.txt: 9,000 results tie",
        "      and r3.txt (12), r2.txt (7), r0.txt (3)",
    ]


def test_kinds_are_kept_apart_in_the_order_they_came_up() -> None:
    said = list(terminal.notes([*doubts(1, kind="crlf"), *doubts(1, 2, 3), *doubts(2, kind="crlf")]))
    assert said[:2] == ["note: runs/r0.txt: 1 results tie", "note: runs/r0.txt: 2 results tie"]
    assert said[2].startswith("note: tied scores in 3 files")


def test_files_of_one_name_are_told_apart_by_their_folders() -> None:
    alike = [Doubt(f"{folder}/run.txt", "crlf", 1, "it was") for folder in "abc"]
    assert list(terminal.notes(alike))[1] == "      and b/run.txt (1), c/run.txt (1)"


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["a", "b"]), st.integers(1, 10**6))))
def test_every_doubt_is_said_with_its_count(given_doubts: list[tuple[int, str, int]]) -> None:
    all_doubts = [Doubt(f"f{file}", kind, n, f"[{n:,}]") for file, kind, n in given_doubts]
    said = " ".join(terminal.notes(all_doubts))
    counts = re.findall(r"[\[(]([\d,]+)[\])]", said)
    assert sorted(counts) == sorted(f"{doubt.count:,}" for doubt in all_doubts)


# Faults


def report(*faults: Fault, total: int | None = None) -> Report:
    found = Report()
    found.extend(faults, total)
    return found


def test_one_fault_of_a_file_is_one_line() -> None:
    fault = Fault("runs/a.txt", "score", "expected a number", line=3, field="score", value="x")
    assert terminal.refusal(report(fault)).splitlines() == [
        "runs/a.txt, line 3: field score value 'x': expected a number",
        "nothing was stored: 1 fault",
    ]


def test_faults_stand_under_their_file() -> None:
    found = report(
        Fault("a.txt", "kind", "expected a number", line=3),
        Fault("b.txt", "kind", "there is no such file"),
        Fault("a.txt", "kind", "expected a file"),
    )
    assert terminal.refusal(found).splitlines() == [
        "a.txt:",
        "  line 3: expected a number",
        "  expected a file",
        "b.txt: there is no such file",
        "nothing was stored: 3 faults",
    ]


def test_faults_beyond_those_shown_are_counted() -> None:
    said = terminal.refusal(report(*(Fault("a.txt", "k", "x", line=n) for n in range(SHOWN)), total=1_025))
    assert said.splitlines()[-2:] == ["... and 1,005 more faults", "nothing was stored: 1,025 faults"]


def test_a_fault_with_a_hostile_file_name_stays_on_its_line() -> None:
    said = terminal.refusal(report(Fault("a\n\x1b[2J.txt", "k", "expected [red]x[/red]")))
    assert said.splitlines()[0] == r"a\n\x1b[2J.txt: expected [red]x[/red]"


# Tables


def test_columns_to_spare_are_left_out_where_there_is_no_room(screen: Terminal) -> None:
    rows = [{"metric": "NDCG@5", "p": 0.031, "won": 61, "verdict": "better"}]
    heads = []
    for width in (40, 24, 17, 10):
        screen.width(width)
        screen.out.truncate(screen.out.seek(0))
        terminal.show_table(rows, spare=(("p",), ("won",)))
        heads.append(screen.lines()[0].split())
    everything = ["metric", "p", "won", "verdict"]
    assert heads[:3] == [everything, ["metric", "won", "verdict"], ["metric", "verdict"]]
    assert heads[3][0] == "metric"  # nothing to spare would help: then it is folded as other tables are


def test_what_was_left_out_is_named(screen: Terminal) -> None:
    screen.width(24)
    terminal.show_table(
        [{"metric": "NDCG@5", "p": 0.031, "won": 61, "verdict": "better"}], spare=("p", "won")
    )
    assert "no room here for p:" in " ".join(screen.lines())


# What an add did


def run(name: str, state: str = "added", rows: int = 10, kept: int | None = None) -> AddedRun:
    return AddedRun(name, f"{name}.txt", state, rows, kept)  # type: ignore[arg-type]


def test_an_add_in_words(screen: Terminal) -> None:
    runs = [*(run(f"r{at}", rows=1_000) for at in range(7)), run("old", "already there")]
    others = [f"o{at}" for at in range(4)]
    terminal.show_added(
        added(runs=runs, new_parts=["query_set", "label_set"], not_rescored=others), "my store.duckdb"
    )
    assert screen.lines() == [
        "7 runs added: r0, r1, r2, r3, r4 and 2 more (7,000 results)",
        "1 run already there: old (10 results)",
        "new in my store.duckdb: query set d@1, label set d@1",
        "4 runs have no scores under d@1 yet (o0, o1, o2, ...): `rankroom rescore --store 'my store.duckdb'`",
    ]


def test_an_add_of_what_is_there(screen: Terminal) -> None:
    terminal.show_added(added(runs=[run("a", "already there", 1)]), "s")
    assert screen.lines() == ["1 run already there: a (1 result)", "everything is in s already"]


def test_an_add_of_labels_alone_says_so(screen: Terminal) -> None:
    terminal.show_added(added(new_parts=["label_set"]), "s")
    assert screen.lines() == ["new in s: label set d@1", "no run was given with it"]


def test_a_dry_run_says_what_it_would_do(screen: Terminal) -> None:
    terminal.show_added(added(runs=[run("a", kept=100)], new_parts=["label_set"], dry_run=True), "s")
    assert screen.lines() == [
        "1 run would be added: a (10 results)",
        "would be new in s: label set d@1",
        "of a the first 100 results of each ranking would be kept",
        "nothing was stored: this was a dry run",
    ]


def test_doubts_go_to_standard_error(screen: Terminal) -> None:
    terminal.show_added(added(runs=[run("a")], report=Report(doubts=doubts(2))), "s")
    assert screen.err.getvalue() == "note: runs/r0.txt: 2 results tie\n"
    assert "note" not in screen.out.getvalue()


# Tables


def test_numbers_stand_to_the_right_and_gaps_are_dashes(screen: Terminal) -> None:
    terminal.show_table(
        [
            {"run": "a", "ndcg": 0.12345, "n": 1_234, "ok": True, "none": None},
            {"run": "漢字", "ndcg": float("nan"), "n": None, "ok": None, "none": None},
        ]
    )
    assert screen.lines() == [
        "run    ndcg      n  ok    none",
        "a     0.123  1,234  true  -",
        "漢字      -      -  -     -",
    ]


def test_values_asked_for_in_sql_are_shown_as_they_are(screen: Terminal) -> None:
    terminal.show_table([{"year": 2026, "p": 0.0000123, "none": None, "ids": ["a", "b"]}], raw=True)
    assert screen.lines() == [
        "year         p  none  ids",
        '2026  1.23e-05  NULL  ["a", "b"]',
    ]


def test_no_rows(screen: Terminal) -> None:
    terminal.show_table([])
    assert screen.lines() == ["no rows"]


def test_a_pipe_gets_every_row(screen: Terminal) -> None:
    terminal.show_table([{"x": x} for x in range(2_000)])
    assert len(screen.lines()) == 2_001


@pytest.mark.parametrize("width", [15, 20, 30, 40, 60, 80])
def test_nothing_is_lost_on_a_narrow_terminal(screen: Terminal, width: int) -> None:
    """Folded or in blocks: every value is there, and no line is wider than the terminal."""
    screen.width(width)
    row = {
        "query_id": "q_sharing_with_a_very_long_name",
        "outcome": "returned",
        "ndcg": 0.387,
        "rank": 12_345,
    }
    terminal.show_table([row, row])
    assert max(map(len, screen.lines())) <= width
    together = re.sub(r"\s", "", screen.out.getvalue())
    for value in ("0.387", "12,345"):
        assert together.count(value) == 2
    letters = sorted(c for c in screen.out.getvalue() if c.isalpha())
    expected = "".join(row) + 2 * (row["query_id"] + row["outcome"])
    heads = screen.out.getvalue().count("outcome")
    assert letters == sorted(c for c in expected + (heads - 1) * "".join(row) if c.isalpha())
