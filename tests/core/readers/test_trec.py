from __future__ import annotations

import gzip
import os
import threading
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rankroom.faults import Report
from rankroom.readers import delimited, lines, rankings
from rankroom.readers.clean_run import Needed
from rankroom.readers.rankings import pair_hashes
from rankroom.readers.trec import read_qrels, read_run


@pytest.fixture(scope="module")
def con() -> duckdb.DuckDBPyConnection:
    return duckdb.connect()


@pytest.fixture(params=["exact", "fast"])
def way(request, monkeypatch) -> str:
    """Both ways of reading a run; the fast one falls back by itself where the exact one is needed."""
    monkeypatch.setattr(delimited, "FAST_FROM", 1 if request.param == "fast" else 2**60)
    return request.param


def write(folder: Path, content: str | bytes, name: str = "run.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def run(con, path, **options):
    """The results in ranking order (query, doc, key, score), the report, and what was read."""
    report = Report()
    read = read_run(con, path, "results", report, **options)
    rows = con.execute(
        "select query_id, doc_id, key, score from results order by query_id, key desc, doc_id desc"
    ).fetchall()
    if read.ranked and not report.num_faults:
        assert_ranks_are_right(con)
    if not report.num_faults:
        assert read.num_rows == len(rows)
    else:
        assert not report.doubts
    return rows, report, read


def assert_ranks_are_right(con):
    """What the file's order told is what ordering the results tells."""
    wrong = con.execute(
        """
        from (select rank, pair = hash(query_id, doc_id) as paired,
                     row_number() over (partition by query_id order by key desc, doc_id desc) as right_rank
              from results)
        where rank <> right_rank or not paired
        """
    ).fetchall()
    assert not wrong
    lengths = con.execute("select query_id, count(*) from results group by query_id order by 1").fetchall()
    assert con.execute("from results_rankings order by query_id").fetchall() == lengths


def ranked(con, path, **options) -> list[str]:
    rows, report, _ = run(con, path, **options)
    assert not report.num_faults, report.sentence()
    return [f"{row[0]}:{row[1]}" for row in rows]


def faults(report: Report) -> list[tuple[str, int | None]]:
    return [(fault.kind, fault.line) for fault in report.faults]


def doubts(report: Report) -> list[tuple[str, int]]:
    return [(doubt.kind, doubt.count) for doubt in report.doubts]


# Runs: what is read


def test_a_run_is_ordered_by_score_whatever_the_ranks_say(con, tmp_path, way):
    path = write(tmp_path, "q2 Q0 a 1 1.5 t\nq1 Q0 b 2 -1e-3 t\nq1 Q0 a 1 .5 t\n")
    rows, report, read = run(con, path)
    assert rows == [("q1", "a", 0.5, 0.5), ("q1", "b", -0.001, -0.001), ("q2", "a", 1.5, 1.5)]
    assert read.ordered_by == "score"
    assert not report.doubts


def test_any_white_space_separates(con, tmp_path, way):
    path = write(tmp_path, "q1\tQ0\td1\t1\t  2.129133\tS\n q1 Q0  d2 2 1.5 S  \t\n\n \t\nq2\tQ0 d3\t1 3.0 S")
    assert ranked(con, path) == ["q1:d1", "q1:d2", "q2:d3"]


def test_ids_are_text(con, tmp_path, way):
    ids = [
        "0001",
        "1",
        "-4389",
        "doc#3",
        '"a',
        "a\"b'",
        "a,b",
        "NULL",
        "nan",
        "\\N",
        "é",
        "e\u0301",
        "a\u00a0b",
    ]
    content = "".join(f"{name} Q0 {name} 1 1 {name}\n" for name in ids)
    rows, report, _ = run(con, write(tmp_path, content))
    assert sorted(row[:2] for row in rows) == sorted((name, name) for name in ids)
    assert not report.doubts


def test_hash_is_a_comment_at_the_start_of_a_line_only(con, tmp_path, way):
    path = write(tmp_path, "# a b c d e f\n#q Q0 d 1 1 t\nq Q0 #d 1 2 t\n #q Q0 d#1 2 1 #t\n")
    assert ranked(con, path) == ["#q:d#1", "q:#d"]


def test_only_comments_is_an_empty_file(con, tmp_path, way):
    assert faults(run(con, write(tmp_path, "# a b c d e f\n"))[1]) == [("empty_file", None)]


def test_scores_are_of_64_bits(con, tmp_path, way):
    path = write(tmp_path, "q Q0 a 1 0.123456789 t\nq Q0 b 2 0.123456788 t\n")
    rows, report, _ = run(con, path)
    assert [row[1] for row in rows] == ["a", "b"]
    assert not report.doubts


def test_five_columns_are_a_run_without_tag(con, tmp_path, way):
    rows, report, _ = run(con, write(tmp_path, "q1 Q0 d1 1 0.9\nq1 Q0 17 2 0.2\n"))
    assert [row[1:] for row in rows] == [("d1", 0.9, 0.9), ("17", 0.2, 0.2)]
    assert doubts(report) == [("tag_missing", 2)]


@pytest.mark.parametrize("line", ["q1 d1 1 3.5 tag", "q1 d1 1 3.5 7", "q1 17 1 0.5 0.7"])
def test_five_columns_without_q0_are_malformed(con, tmp_path, way, line):
    _, report, _ = run(con, write(tmp_path, f"{line}\n"))
    assert faults(report) == [("malformed_line", 1)]
    assert report.faults[0].value == line
    assert "Q0" in report.faults[0].expected


@pytest.mark.parametrize("first", [-1, 0, 1, 7])
def test_three_columns_go_by_rank_wherever_it_starts(con, tmp_path, way, first):
    content = f"100\tb\t{first}\n100\ta\t{first + 1}\n200\tc\t{first + 1}\n200\ta\t{first}\n"
    rows, report, read = run(con, write(tmp_path, content, "run.tsv"))
    assert [row[:2] for row in rows] == [("100", "b"), ("100", "a"), ("200", "a"), ("200", "c")]
    assert [row[2] for row in rows[:2]] == [-first, -first - 1]
    assert {row[3] for row in rows} == {None}
    assert read.ordered_by == "rank"
    assert not report.doubts


def test_ranks_of_three_columns_must_be_whole_and_differ(con, tmp_path, way):
    content = "q a 1\nq b x\nq c 1.5\nq d 1\nr d 1\nq e 2.0\nq f 2\n"
    _, report, _ = run(con, write(tmp_path, content))
    assert faults(report) == [
        ("non_numeric_rank", 2),
        ("non_numeric_rank", 3),
        ("duplicate_rank", 4),
        ("duplicate_rank", 7),
    ]
    assert "line 1" in report.faults[2].expected
    _, report, _ = run(con, write(tmp_path, "q a 0\nq b 2.5\n"))
    assert faults(report) == [("non_numeric_rank", 2)]


def test_order_rank_takes_the_rank_column(con, tmp_path, way):
    path = write(tmp_path, "q Q0 near 1 0.11 l2\nq Q0 mid 2 0.45 l2\nq Q0 far 3 0.93 l2\n")
    rows, report, read = run(con, path, order="rank")
    assert rows == [("q", "near", -1, 0.11), ("q", "mid", -2, 0.45), ("q", "far", -3, 0.93)]
    assert read.ordered_by == "rank"
    assert doubts(report) == [("rank_score_disagree", 1)]
    assert "as asked" in report.doubts[0].sentence


def test_order_rank_needs_ranks(con, tmp_path, way):
    content = "q Q0 a 1 1 t\nq Q0 b x 1 t\nq Q0 c 1 1 t\nq Q0 d 0x2 1 t\nq Q0 e 3 nan t\n"
    _, report, _ = run(con, write(tmp_path, content), order="rank")
    assert faults(report) == [
        ("non_numeric_rank", 2),
        ("duplicate_rank", 3),
        ("non_numeric_rank", 4),
        ("non_finite_score", 5),
    ]


# Runs: what is refused


@pytest.mark.parametrize(
    "score", ["high", "1_000", "0x1F", "1,5", "1e", "--1", "+-1", "1\x0c", "\x0b1", "١", "."]
)
def test_a_score_that_is_no_number(con, tmp_path, way, score):
    content = f"q Q0 a 1 2 t\nq Q0 b 2 {score} t\nq Q0 c 3 1e0 t\n"
    _, report, _ = run(con, write(tmp_path, content))
    assert faults(report) == [("non_numeric_score", 2)]
    assert (report.faults[0].field, report.faults[0].value) == ("score", score)


@pytest.mark.parametrize("score", ["nan", "NaN", "inf", "-inf", "Infinity", "1e400", "-1e400"])
def test_a_score_that_is_not_finite(con, tmp_path, way, score):
    _, report, _ = run(con, write(tmp_path, f"q Q0 a 1 2 t\nq Q0 b 2 {score} t\n"))
    assert faults(report) == [("non_finite_score", 2)]


@pytest.mark.parametrize("score", ["1e308", "+1", "1.", "-.5E-3", "00012", "1e-400", "-0"])
def test_unusual_numbers_are_numbers(con, tmp_path, way, score):
    rows, report, _ = run(con, write(tmp_path, f"q Q0 a 1 {score} t\nr Q0 a 1 {score} t\n"))
    assert {row[2] for row in rows} == {float(score)}
    assert not report.num_faults


@pytest.mark.parametrize(
    ("line", "found"),
    [("q1 Q0 d", 3), ("q Q0 d 3 1.0", 5), ("q Q0 d 3 1.0 my tag", 7), ("q  d 3 1.0 t", 5), ("q", 1)],
)
def test_a_line_with_other_columns_than_the_rest(con, tmp_path, way, line, found):
    content = f"q Q0 a 1 3 t\nq Q0 b 2 2 t\n{line}\nq Q0 c 4 1 t\n"
    _, report, _ = run(con, write(tmp_path, content))
    assert faults(report) == [("malformed_line", 3)]
    assert report.faults[0].value == line
    assert report.faults[0].expected == (
        f"6 columns (query Q0 document rank score tag) were expected; this line has {found}"
    )


def test_the_form_of_the_file_is_that_of_most_lines(con, tmp_path, way):
    content = "run of july, second try\n" + "".join(f"q Q0 d{n} {n} {9 - n} t\n" for n in range(5))
    assert faults(run(con, write(tmp_path, content))[1]) == [("malformed_line", 1)]


def test_labels_given_as_a_run_and_the_other_way(con, tmp_path, way):
    qrels, trec = "q 0 a 1\n" * 50, "q Q0 a 1 0.5 t\n" * 50
    for content, looks in (
        (qrels, "looks like one of labels (qrels)"),
        ('{"query_id": "q"}\n' * 50, "JSON lines"),
    ):
        _, report, _ = run(con, write(tmp_path, content))
        assert (report.num_faults, report.faults[0].kind) == (1, "wrong_kind")
        assert looks in report.sentence()
    report = Report()
    read_qrels(con, write(tmp_path, trec), "labels", report)
    assert (report.num_faults, report.faults[0].kind) == (1, "wrong_kind")
    assert "looks like one of a run: query Q0 document rank score tag" in report.sentence()


def test_a_few_lines_of_labels_in_a_run(con, tmp_path, way):
    _, report, _ = run(con, write(tmp_path, "q Q0 a 1 0.5 t\nq 0 a 1\n"))
    assert faults(report) == [("malformed_line", 2)]
    assert "is the file labels (qrels), and not a run?" in report.sentence()


def test_long_values_are_clipped(con, tmp_path, way):
    _, report, _ = run(con, write(tmp_path, "q Q0 a 1 1 t\n" + "x" * 3_000_000 + "\n"))
    assert len(report.faults[0].value) == 200


def test_a_long_id_is_read(con, tmp_path, way):
    long = "x" * 3_000_000  # longer than DuckDB's own reader takes
    rows, _, _ = run(con, write(tmp_path, f"q Q0 {long} 1 1 t\n"))
    assert rows[0][1] == long


def test_a_document_twice_in_a_ranking(con, tmp_path, way):
    content = "q Q0 a 1 3 t\nr Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\nq Q0 a 4 0 t\n"
    _, report, _ = run(con, write(tmp_path, content))
    assert faults(report) == [("duplicate_document", 4), ("duplicate_document", 5)]
    assert (report.faults[0].field, report.faults[0].value) == ("doc_id", "a")
    assert "line 1 " in report.faults[0].expected


def test_collapse_keeps_the_best_ranked_of_a_document(con, tmp_path, way):
    path = write(tmp_path, "q Q0 a 9 1 t\nq Q0 b 2 2 t\nq Q0 a 1 3 t\nr Q0 a 1 1 t\nq Q0 a 3 3 t\n")
    rows, report, _ = run(con, path, collapse_first=True)
    assert [row[:3] for row in rows] == [("q", "a", 3), ("q", "b", 2), ("r", "a", 1)]
    assert doubts(report) == [("duplicate_document", 2)]


def test_collapse_goes_by_rank_where_the_ranking_does(con, tmp_path, way):
    path = write(tmp_path, "q a 3\nq b 2\nq a 1\n")
    rows, report, _ = run(con, path, collapse_first=True)
    assert [row[:3] for row in rows] == [("q", "a", -1), ("q", "b", -2)]
    assert doubts(report) == [("duplicate_document", 1)]


def test_all_faults_of_a_file_come_in_line_order_once_a_line(con, tmp_path, way):
    content = "q Q0 a 1 nan t\nq Q0 a 2 2 t\nq Q0 b 3 x t\nq\nq Q0 b 4 inf t\nq Q0 c 5 1 t\nq Q0 c 6 0 t\n"
    _, report, _ = run(con, write(tmp_path, content))
    assert faults(report) == [
        ("non_finite_score", 1),
        ("duplicate_document", 2),
        ("non_numeric_score", 3),
        ("malformed_line", 4),
        ("non_finite_score", 5),
        ("duplicate_document", 7),
    ]
    assert report.num_faults == 6


def test_twenty_faults_are_spelt_out_and_the_rest_counted(con, tmp_path, way, monkeypatch):
    monkeypatch.setattr(lines, "CHUNK", 100)  # so that faults lie in many pieces
    content = "".join(f"q Q0 d{n % 40} {n} {'x' if n % 3 else n} t\n" for n in range(1, 91))
    _, report, _ = run(con, write(tmp_path, content))
    twice = [n for n in range(41, 91) if n % 3 == 0]
    assert report.num_faults == 60 + len(twice)
    assert [fault.line for fault in report.faults] == [n for n in range(1, 91) if n % 3][:20]
    assert "more faults" in report.sentence()


def test_early_duplicates_stand_before_later_faults(con, tmp_path, way):
    content = "".join(f"q Q0 d 1 {n} t\n" for n in range(30)) + "x\n" * 30
    _, report, _ = run(con, write(tmp_path, content))
    assert [fault.line for fault in report.faults] == list(range(2, 22))
    assert report.num_faults == 29 + 30


@pytest.mark.parametrize("line", [b"q Q0 d 2 0 t\xff", b"q Q\xff d 2 0 t", b"q Q0 d\xc3 2 0 t"])
def test_bytes_that_are_not_utf8(con, tmp_path, way, line):
    _, report, _ = run(con, write(tmp_path, b"q Q0 a 1 1 t\n" + line + b"\n"))
    assert faults(report) == [("invalid_utf8", 2)]


def test_a_nul_in_an_id(con, tmp_path, way):
    assert faults(run(con, write(tmp_path, b"q Q0 a 1 1 t\nq Q0 a\0b 1 1 t\n"))[1]) == [("nul_byte", 2)]


def test_a_missing_file(con, tmp_path, way):
    assert faults(run(con, tmp_path / "none.txt")[1]) == [("file_not_found", None)]


def test_a_cut_gzip(con, tmp_path, way):
    packed = gzip.compress("".join(f"q Q0 d{n} {n} {-n} t\n" for n in range(999)).encode())
    assert faults(run(con, write(tmp_path, packed[:-9]))[1]) == [("bad_gzip", None)]


# Runs: what is said


def test_ties_are_counted_and_ordered_by_document_descending(con, tmp_path, way):
    content = "q Q0 a 1 2 t\nq Q0 c 2 2.0 t\nq Q0 b 3 2e0 t\nq Q0 d 4 1 t\n"
    content += "r Q0 a 1 1 t\nr Q0 b 2 1 t\ns Q0 a 1 1 t\n"
    path = write(tmp_path, content)
    assert ranked(con, path)[:3] == ["q:c", "q:b", "q:a"]
    assert doubts(run(con, path)[1]) == [("tied_scores", 5)]
    assert run(con, path)[1].doubts[0].sentence == (
        "5 results share their score with another in 2 queries; "
        "ties are ordered by document id descending, as trec_eval does"
    )


def test_ties_do_not_need_to_stand_together(con, tmp_path, way):
    content = "q Q0 a 1 2 t\nq Q0 b 2 1 t\nr Q0 c 1 2 t\nq Q0 c 3 2 t\nr Q0 d 2 2 t\n"
    assert ("tied_scores", 4) in doubts(run(con, write(tmp_path, content))[1])


def test_the_first_line_where_rank_and_score_disagree(con, tmp_path, way):
    scores = [1.739, 1.5957, 1.5905, 1.9834, 1.954, 1.7603]
    content = "p Q0 a 1 1 t\n" + "".join(f"q Q0 {'abcefd'[n]} {n + 1} {s} t\n" for n, s in enumerate(scores))
    _, report, _ = run(con, write(tmp_path, content))
    assert doubts(report) == [("rank_score_disagree", 1)]
    assert "in 1 of 1 query, first on line 5;" in report.doubts[0].sentence


def test_ranks_against_scores_everywhere_look_like_distances(con, tmp_path, way):
    content = "".join(f"{q} Q0 d{n} {n} 0.{n} t\n" for q in "qr" for n in range(1, 4)) + "s Q0 a 1 1 t\n"
    _, report, _ = run(con, write(tmp_path, content))
    assert doubts(report) == [("rank_score_disagree", 2)]
    assert report.doubts[0].sentence == (
        "the rank column runs against the scores in 2 of 2 queries: "
        "if the scores are distances, use --order rank"
    )


@pytest.mark.parametrize("rank", ["0", "1"])
def test_one_rank_for_all_is_no_disagreement(con, tmp_path, way, rank):
    content = "".join(f"q Q0 d{n} {rank} {s} t\n" for n, s in enumerate([3, 1, 2, 5]))
    assert not run(con, write(tmp_path, content))[1].doubts


def test_ranks_that_are_no_numbers_are_counted(con, tmp_path, way):
    content = "q Q0 a first 3 t\nq Q0 b 2 2 t\nq Q0 c 1_0 1 t\nq Q0 d nan 0 t\n"
    rows, report, _ = run(con, write(tmp_path, content))
    assert len(rows) == 4
    assert doubts(report) == [("non_numeric_rank", 3)]


def test_a_large_run_out_of_order_is_looked_at_in_its_kept_part(con, tmp_path, way, monkeypatch):
    monkeypatch.setattr(rankings, "WHOLE", 10)
    monkeypatch.setattr(rankings, "KEPT", 3)
    scores = [6, 7, 5, 4, 4, 4]  # the ties lie beyond the kept part, the step up at rank 2 within it
    content = "".join(f"{q} Q0 d{n} {n} {s} t\n" for q in "qr" for n, s in enumerate(scores))
    _, report, _ = run(con, write(tmp_path, content))
    assert doubts(report) == [("rank_score_disagree", 2)]
    assert (
        "2 of 2 queries (looked for in the first 3 results of each), first on line 2"
        in report.doubts[0].sentence
    )


def test_bom_crlf_and_utf16(con, tmp_path, way):
    text = "q1 Q0 a 1 1 t\r\nq2 Q0 a 1 1 t\r\n"
    rows, report, _ = run(con, write(tmp_path, "\ufeff" + text))
    assert [row[0] for row in rows] == ["q1", "q2"]
    assert doubts(report) == [("bom_removed", 1), ("crlf", 2)]
    rows, report, _ = run(con, write(tmp_path, text.encode("utf-16")))
    assert [row[0] for row in rows] == ["q1", "q2"]
    assert doubts(report) == [("utf16_decoded", 1), ("crlf", 2)]


# Both ways


@pytest.mark.parametrize("name", ["a*b[1]?.txt", 'it\'s "q".txt', "x=1.txt", "~run", "plain.gz", "a b.csv"])
def test_hostile_file_names(con, tmp_path, way, name):
    write(tmp_path, "q Q0 wrong 1 1 t\n", "aXb1Y.txt")  # what the pattern would find
    folder = tmp_path / "day=1"
    folder.mkdir()
    for where in (tmp_path, folder):
        assert ranked(con, write(where, "q Q0 a 1 1 t\n", name)) == ["q:a"]


def test_relative_paths_and_links(con, tmp_path, way, monkeypatch):
    write(tmp_path, "q Q0 a 1 1 t\n")
    (tmp_path / "link").symlink_to("run.txt")
    monkeypatch.chdir(tmp_path)
    assert ranked(con, "run.txt") == ranked(con, "link") == ["q:a"]


@pytest.mark.parametrize("name", ["run.txt.gz", "run.txt"])
def test_gzip(con, tmp_path, way, name):
    assert ranked(con, write(tmp_path, gzip.compress(b"q Q0 a 1 1 t\n"), name)) == ["q:a"]


def test_a_pipe(con, tmp_path, way):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=["q Q0 a 1 1 t\n"])
    writer.start()
    assert ranked(con, tmp_path / "pipe") == ["q:a"]
    writer.join()


def is_fast(path) -> bool:
    try:
        list(delimited.read_delimited(path, lambda piece: piece))
    except delimited.NotClean:
        return False
    return True


@pytest.mark.parametrize(
    "content",
    [
        "q Q0 a 1 1 t\nq Q0 b 2 0 t\n",
        "q\tQ0\ta\t1\t1\tt\nq\tQ0\tb\t2\t0\tt",
        "q Q0 doc_1_2#3+-x 1 1 é\n",
        "q a 1\nq b 2\n",
    ],
)
def test_clean_runs_go_the_fast_way(tmp_path, monkeypatch, content):
    monkeypatch.setattr(delimited, "FAST_FROM", 1)
    assert is_fast(write(tmp_path, content))
    assert is_fast(write(tmp_path, gzip.compress(content.encode())))


@pytest.mark.parametrize("piece", [1, 2, 3, 5, 16])
@pytest.mark.parametrize(
    "content",
    [
        " q Q0 a 1 1 t\n",
        "q Q0 a 1 1 t \n",
        "q Q0 a 1 1 ",
        "q  a 1 1 t\n",
        "q Q0 a 1 1 t\n\nq Q0 b 1 1 t\n",
        "\nq Q0 a 1 1 t\n",
        "q Q0 a 1 1 t\n#q Q0 b 1 1 t\n",
        "#q Q0 a 1 1 t\n",
        "q Q0 a 1 1 t\r\n",
        "q Q0 a 1 1 t\nq Q0 a\tb 1 1 t\n",
        "\ufeffq Q0 a 1 1 t\n",
        "q Q0 a 1 1_0 t\n",
        "q Q0 a 1_0 1 t\n",
        "q Q0 a 1 +-1 t\n",
        "q Q0 a 0x1 1 t\n",
        "q Q0 a 1 inf t\nq Q0 b 1 -inf t\n",
    ],
)
def test_other_runs_do_not(tmp_path, monkeypatch, content, piece):
    monkeypatch.setattr(delimited, "FAST_FROM", 1)
    monkeypatch.setattr(delimited, "PIECE", piece)
    if piece > 1:  # the first line is sniffed within one piece
        assert not is_fast(write(tmp_path, content))


def test_lines_are_numbered_alike_in_a_file_of_many_row_groups(tmp_path, monkeypatch):
    own = duckdb.connect()
    path = tmp_path / "run.txt"
    # 150,000 lines in order, but for the last query, where the second result is better than the first.
    own.execute(
        f"""copy (select n // 100, 'Q0', 'doc' || n, n % 100, if(n = 149901, 7, -(n % 100)), 't'
                  from range(150000) as r(n)) to '{path}' (delimiter ' ', header false)"""
    )
    said = []
    for size in (1, 2**60):
        monkeypatch.setattr(delimited, "FAST_FROM", size)
        _, report, read = run(own, path)
        said.append((read, report.doubts))
    assert said[0] == said[1]
    assert "in 1 of 1,500 queries, first on line 149902;" in said[0][1][0].sentence


@pytest.mark.parametrize("large_from", [0, 25, 10**9])
def test_of_a_large_run_what_is_needed_is_kept(con, tmp_path, monkeypatch, large_from):
    # Four results are tied each time: some of them across the third rank, some with a labelled document.
    rows = [f"{q} Q0 d{n} {n} {-(n // 4)} t\n" for q in ("p", "q", "r", "s") for n in range(8)]
    monkeypatch.setattr(delimited, "FAST_FROM", 1)
    monkeypatch.setattr(delimited, "PIECE", 20)
    con.execute("create or replace temp table wanted as select 'q' as query_id, 'd5' as doc_id")
    needed = Needed(lambda num_rows: 3 if num_rows > large_from else None, pair_hashes(con, "wanted"))
    read = read_run(con, write(tmp_path, "".join(rows)), "results", Report(), needed=needed)
    assert (read.num_rows, read.ranked) == (32, True)
    found = con.execute("select query_id, rank, doc_id from results order by all").fetchall()
    whole = [
        (q, rank, f"d{n}") for q in ("p", "q", "r", "s") for rank, n in enumerate([3, 2, 1, 0, 7, 6, 5, 4], 1)
    ]
    cut = [row for row in whole if row[1] <= 3 or row == ("q", 7, "d5")]
    assert found == (whole if large_from > 32 else cut)


def test_a_query_in_two_places_is_ranked_as_one(con, tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "PIECE", 20)
    content = "q Q0 a 1 3 t\nr Q0 a 1 3 t\nq Q0 b 1 5 t\n"
    for size in (1, 2**60):
        monkeypatch.setattr(delimited, "FAST_FROM", size)
        assert ranked(con, write(tmp_path, content)) == ["q:b", "q:a", "r:a"]


FIELD = st.sampled_from(["a", "b", "q1", "0", "01", "1_0", "x_y", "é", "#", "+-1", '"', "'a", "\x0c", "nan"])
RANK = st.sampled_from(["0", "1", "2", "3", "1.0", "2.5", "x", "1_0", "0x1", "nan", "-1"])
SCORE = st.sampled_from(["0", "1", "1.0", "2", "-1", "1e0", ".5", "inf", "x", "1_0", "+-1", "0x1", "1\x0b"])
SMOOTH = st.sampled_from(["0", "1", "2", "3", "4", "5"])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(st.sampled_from(["q", "r"]), st.just("Q0"), FIELD, SMOOTH | RANK, SMOOTH | SCORE, FIELD)
        | st.tuples(
            st.sampled_from("qr"), st.just("Q0"), st.text("abcdef", min_size=1), SMOOTH, SMOOTH, FIELD
        ),
        min_size=1,
        max_size=8,
    ),
    columns=st.sampled_from([6, 6, 6, 3]),
    delimiter=st.sampled_from([" ", " ", "\t", "  "]),
    end=st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\n\n"]),
    last=st.booleans(),
    ordered=st.booleans(),
    packed=st.booleans(),
    order=st.sampled_from(["score", "rank"]),
    collapse=st.booleans(),
    piece=st.integers(20, 40),
    look=st.integers(2, 40),
)
def test_both_ways_say_the_same(
    con,
    tmp_path,
    monkeypatch,
    rows,
    columns,
    delimiter,
    end,
    last,
    ordered,
    packed,
    order,
    collapse,
    piece,
    look,
):
    if ordered:
        rows = sorted(rows, key=lambda row: (row[0], row[3]))
    text = end.join(delimiter.join(row if columns == 6 else (row[0], *row[2:4])) for row in rows) + end * last
    path = write(tmp_path, gzip.compress(text.encode()) if packed else text)
    monkeypatch.setattr(delimited, "PIECE", piece)
    monkeypatch.setattr(delimited, "SLICE", look)
    said = []
    for size in (1, 2**60):
        monkeypatch.setattr(delimited, "FAST_FROM", size)
        found, report, read = run(con, path, order=order, collapse_first=collapse)
        said.append((None if report.num_faults else found, report, replace(read, ranked=False)))
    assert said[0] == said[1]


# Labels


def labels(con, path) -> tuple[list[tuple[str, str, int]], Report]:
    report = Report()
    read = read_qrels(con, path, "labels", report)
    rows = con.execute("from labels order by all").fetchall()
    assert con.execute("select typeof(grade) from labels limit 1").fetchall() in ([], [("INTEGER",)])
    if report.num_faults:
        assert not report.doubts
    else:
        assert read.num_rows == len(rows)
    return rows, report


@pytest.mark.parametrize(
    "content",
    [
        "q1 0 d1 1 \nq1\t0\td2\t0\n\nq2  0   d3   2\t\n",
        "q1 d1 1\nq1 d2 0\nq2 d3 2",
        "query-id\tcorpus-id\tscore\nq1\td1\t1.0\nq1\td2\t0\nq2\td3\t2e0\n",
        "# a comment\nquery_id iteration doc_id relevance\nq1 0 d1 +1\nq1 Q0 d2 -0\nq2 x d3 02\n",
        "\ufeffqid docid rel\r\nq1 d1 1\r\nq1 d2 0\r\nq2 d3 2\r\n",
    ],
)
def test_labels_of_every_form(con, tmp_path, content):
    rows, report = labels(con, write(tmp_path, content))
    assert rows == [("q1", "d1", 1), ("q1", "d2", 0), ("q2", "d3", 2)]
    assert not report.num_faults


def test_a_header_stands_on_the_first_line_only(con, tmp_path):
    _, report = labels(con, write(tmp_path, "q1 d1 1\nquery-id corpus-id score\n"))
    assert faults(report) == [("non_integer_grade", 2)]


def test_a_first_line_with_a_number_is_no_header(con, tmp_path):
    assert labels(con, write(tmp_path, "query d1 1\n"))[0] == [("query", "d1", 1)]


def test_a_header_and_nothing_else_is_an_empty_file(con, tmp_path):
    assert faults(labels(con, write(tmp_path, "query-id\tcorpus-id\tscore\n"))[1]) == [("empty_file", None)]


@pytest.mark.parametrize(
    ("grade", "kind"),
    [
        ("0.9", "non_integer_grade"),
        ("high", "non_integer_grade"),
        ("nan", "non_integer_grade"),
        ("1_0", "non_integer_grade"),
        ("0x1", "non_integer_grade"),
        ("31", "grade_out_of_range"),
        ("-31", "grade_out_of_range"),
        ("1e300", "grade_out_of_range"),
    ],
)
def test_grades_that_are_refused(con, tmp_path, grade, kind):
    _, report = labels(con, write(tmp_path, f"q 0 a 30\nq 0 b {grade}\nq 0 c -30\n"))
    assert faults(report) == [(kind, 2)]
    assert (report.faults[0].field, report.faults[0].value) == ("grade", grade)


def test_negative_grades_are_counted(con, tmp_path):
    rows, report = labels(con, write(tmp_path, "q 0 a -2\nq 0 b 1\nr 0 a -1\n"))
    assert ("q", "a", -2) in rows
    assert doubts(report) == [("negative_grade", 2)]


def test_a_judgement_repeated_with_the_same_grade(con, tmp_path):
    rows, report = labels(con, write(tmp_path, "q 0 a 1\nq 0 b 1\nq 0 a 1.0\nr 0 a 0\nq 0 a 1\n"))
    assert rows == [("q", "a", 1), ("q", "b", 1), ("r", "a", 0)]
    assert doubts(report) == [("duplicate_judgement", 2)]


def test_a_judgement_with_two_grades(con, tmp_path):
    _, report = labels(con, write(tmp_path, "301 0 docA 1\n301 0 docB 1\n301 0 docB 1\n301 0 docA 0\n"))
    assert faults(report) == [("duplicate_judgement_conflict", 4)]
    sentence = report.sentence()
    assert all(part in sentence for part in ("line 4", "query 301", "document docA", "says 0", "line 1 1"))


def test_all_faults_of_labels_come_in_line_order(con, tmp_path):
    content = "q 0 a 1\nq 0 a 2\nq 0 b x\nq 0 b\n" + "q 0 c 99\n" * 30
    _, report = labels(con, write(tmp_path, content))
    assert [fault.line for fault in report.faults] == list(range(2, 22))
    assert [fault.kind for fault in report.faults[:4]] == [
        "duplicate_judgement_conflict",
        "non_integer_grade",
        "malformed_line",
        "grade_out_of_range",
    ]
    assert report.num_faults == 33


def test_labels_of_a_missing_or_empty_file(con, tmp_path):
    assert faults(labels(con, tmp_path / "none")[1]) == [("file_not_found", None)]
    assert faults(labels(con, write(tmp_path, ""))[1]) == [("empty_file", None)]
    assert faults(labels(con, write(tmp_path, " \n\t\n"))[1]) == [("empty_file", None)]
