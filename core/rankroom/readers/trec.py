"""TREC runs and labels (qrels): the forms that files really come in, and exactly what is wrong with others.

Any run of blanks and tabs separates fields; "#" begins a comment as the first character of a line only; ids
are text, compared exactly. Every line is read (set-based, piece by piece), and all faults come together.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from rankroom.faults import SHOWN, Fault, Report, clip
from rankroom.readers.clean_run import Needed, read_clean_run
from rankroom.readers.lines import LINES, NOT_BLANK, empty_file, feed_lines
from rankroom.readers.rankings import (
    OrderedBy,
    RunFile,
    collapse_repeats,
    find_repeats,
    has_shared_ranks,
    order_doubts,
    repeat_faults,
)

LIMIT = 30
"""Grades beyond this, either way, are refused: 2^grade would drown every other gain."""

NUMBER = r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
"""What counts as a number. DuckDB's casts would also take 1_000 and 0x1F."""

HEADER = re.compile(r"(query|topic|q).?id|query|topic", re.IGNORECASE)
"""The first field of a header line, as BEIR's label files have one."""

HEAD = 1000
"""The number of columns that most of the first so many lines have is the file's."""

FIELDS = "list_filter(string_split(replace(line, chr(9), ' '), ' '), lambda field: field <> '')"


@dataclass(frozen=True)
class QrelsFile:
    """What was read: how many judgements, each pair counted once."""

    num_rows: int


@dataclass(frozen=True)
class Form:
    """A form of file: its columns in words, and where (from 1) each of interest stands."""

    words: str
    doc: int
    number: int
    """The column of the score, or of the grade; of the rank in a run without scores."""
    rank: int | None = None

    @property
    def columns(self) -> int:
        """How many columns a line has."""
        return len(self.words.split())


RUN_FORMS = {
    form.columns: form
    for form in (
        Form("query Q0 document rank score tag", doc=3, rank=4, number=5),
        Form("query Q0 document rank score", doc=3, rank=4, number=5),
        Form("query document rank", doc=2, rank=3, number=3),
    )
}
QRELS_FORMS = {
    form.columns: form
    for form in (
        Form("query iteration document grade", doc=3, number=4),
        Form("query document grade", doc=2, number=3),
    )
}


def read_run(
    con: duckdb.DuckDBPyConnection,
    path: str | Path,
    table: str,
    report: Report,
    *,
    order: OrderedBy = "score",
    collapse_first: bool = False,
    needed: Needed | None = None,
) -> RunFile:
    """Make the temp view `table(query_id, doc_id, key DOUBLE, score DOUBLE, ...)` of a run's results.

    A ranking is ordered by key descending, then doc_id descending. The key is the score; or the rank,
    negated, where the file has no scores or `order` is 'rank'. With faults the view means nothing. It takes
    the place of an earlier one; `release_run` frees what it holds.
    """
    release_run(con, table)
    if read := read_clean_run(con, path, table, report, order, needed or Needed()):
        return read
    lines = f"{table}_lines"
    read = _read_run_exactly(con, path, lines, report, order, collapse_first)
    con.execute(f"create temp view {table} as from {lines}")
    return read


def release_run(con: duckdb.DuckDBPyConnection, table: str) -> None:
    """Drop the view that `read_run` made, and the results behind it."""
    con.execute(f"drop view if exists {table}; drop table if exists {table}_lines")
    for part in ("rows", "rankings"):
        con.unregister(f"{table}_{part}")


def read_qrels(con: duckdb.DuckDBPyConnection, path: str | Path, table: str, report: Report) -> QrelsFile:
    """Fill the new temp table `table(query_id VARCHAR, doc_id VARCHAR, grade INTEGER)` from labels.

    With faults in the report the table means nothing.
    """
    file = str(path)
    con.execute(
        f"create or replace temp table {table}"
        " (query_id varchar, doc_id varchar, grade double, line_no bigint, problem utinyint)"
    )
    parse = _Parse(con, file, table, QRELS_FORMS, _qrels_columns, _grade_fault, header=True)
    doubts = Report()
    faults = parse.read(path, report, doubts)
    if faults is not None:
        con.execute(
            f"""
            create or replace temp table {table}_repeats as
            select query_id, doc_id, line_no, grade::integer as grade,
                   first_value(grade::integer) over same as first_grade,
                   first_value(line_no) over same as first_line
            from {table} where problem = 0
            window same as (partition by query_id, doc_id order by line_no)
            qualify line_no > first_line
            """
        )
        conflicts = _count(con, f"{table}_repeats where grade <> first_grade")
        faults += _conflict_faults(con, table, file) if conflicts else []
        if total := parse.total + conflicts:
            report.extend(_in_line_order(faults), total)
        else:
            report.doubts += doubts.doubts
            _qrels_doubts(con, table, file, report)
            con.execute(f"delete from {table} where line_no in (select line_no from {table}_repeats)")
        con.execute(f"drop table {table}_repeats")
    con.execute(
        f"create or replace temp table {table} as"
        f" select query_id, doc_id, grade::integer as grade from {table} where problem = 0"
    )
    return QrelsFile(_count(con, table))


def _read_run_exactly(
    con: duckdb.DuckDBPyConnection,
    path: str | Path,
    table: str,
    report: Report,
    order: OrderedBy,
    collapse_first: bool,
) -> RunFile:
    file = str(path)
    con.execute(
        f"create or replace temp table {table} (query_id varchar, doc_id varchar, key double, score double,"
        " rank double, line_no bigint, problem utinyint)"
    )

    def columns(form: Form) -> str:
        return _run_columns(form, order == "rank")

    parse = _Parse(con, file, table, RUN_FORMS, columns, _run_fault)
    doubts = Report()
    faults = parse.read(path, report, doubts)
    if faults is None:
        return RunFile(0, order)
    by_rank = order == "rank" or parse.form.columns == 3
    # A document is looked for on every line that has one; a line with another fault is not named again.
    find_repeats(con, table, "line_no", f"problem <> {MALFORMED}")
    if collapse_first:
        collapse_repeats(con, table, "line_no", file, doubts)
    sound = f"(select * from {table} where problem = 0)"
    con.execute(f"delete from {table}_repeats where line_no not in (select line_no from {sound})")
    for more, count in (
        repeat_faults(con, table, file),
        _shared_rank_faults(con, table, file) if by_rank and has_shared_ranks(con, sound) else ([], 0),
    ):
        faults += more
        parse.total += count
    con.execute(f"drop table {table}_repeats")
    if parse.total:
        report.extend(_in_line_order(faults), parse.total)
        return RunFile(0, "rank" if by_rank else "score")
    report.doubts += doubts.doubts
    rows = _count(con, table)
    if parse.form.columns == 5:
        report.doubt(
            file, "tag_missing", rows, "the lines have 5 columns; read as a run whose tag is missing"
        )
    if parse.form.columns != 3:
        unranked = _count(con, f"{table} where rank is null")
        what = "line has a rank that is" if unranked == 1 else "lines have a rank that is"
        report.doubt(
            file, "non_numeric_rank", unranked, f"{unranked:,} {what} no number; the scores give the order"
        )
        order_doubts(con, table, "line_no", file, report, by_rank=by_rank)
    return RunFile(rows, "rank" if by_rank else "score")


# What is wrong with a line, as its code in the column `problem`; 0 is nothing.
MALFORMED, NOT_A_NUMBER, NOT_FINITE, NOT_A_RANK, OUT_OF_RANGE = 1, 2, 3, 4, 5


def _run_columns(form: Form, by_rank: bool) -> str:
    """SQL for the columns of a run's table, over `fields` and `line_no`."""
    rank = _cast(f"fields[{form.rank}]")
    score = "null::double" if form.columns == 3 else _cast(f"fields[{form.number}]")
    by_rank = by_rank or form.columns == 3
    checks = [f"when len(fields) <> {form.columns} then {MALFORMED}"]
    if form.columns == 5:  # without its tag a line must still look like a run, not like one without its Q0
        checks.append(f"when lower(fields[2]) not in ('q0', '0', 'iter') then {MALFORMED}")
    if form.columns != 3:
        checks.append(f"when not isfinite(try_cast(fields[{form.number}] as double)) then {NOT_FINITE}")
        checks.append(f"when {score} is null then {NOT_A_NUMBER}")
    if by_rank:
        checks.append(f"when coalesce({rank} <> floor({rank}), true) then {NOT_A_RANK}")
    return f"""
        fields[1], fields[{form.doc}], {f"0 - {rank}" if by_rank else score}, {score}, {rank}, line_no,
        case {" ".join(checks)} else 0 end
        """


def _qrels_columns(form: Form) -> str:
    """SQL for the columns of a label table, over `fields` and `line_no`."""
    grade = _cast(f"fields[{form.number}]")
    return f"""
        fields[1], fields[{form.doc}], {grade}, line_no,
        case when len(fields) <> {form.columns} then {MALFORMED}
             when coalesce({grade} <> floor({grade}), true) then {NOT_A_NUMBER}
             when abs({grade}) > {LIMIT} then {OUT_OF_RANGE}
             else 0 end
        """


def _cast(text: str) -> str:
    """SQL: the finite number that the text is, or NULL."""
    value = f"try_cast({text} as double)"
    return f"if(regexp_full_match({text}, '{NUMBER}') and isfinite({value}), {value}, null)"


def _run_fault(file: str, line: int, text: str, problem: int, form: Form) -> Fault:
    fields = _fields(text)
    if problem == MALFORMED:
        return _malformed(file, line, text, form, RUN_FORMS, "a run", "labels (qrels)")
    if problem == NOT_A_RANK:
        value = fields[(form.rank or 0) - 1]
        expected = "a whole number was expected"
        if form.columns == 3:
            expected += " (3 columns are read as query document rank; a run with scores has 6)"
        return Fault(file, "non_numeric_rank", expected, line, "rank", value)
    kind = "non_finite_score" if problem == NOT_FINITE else "non_numeric_score"
    return Fault(file, kind, "a finite number was expected", line, "score", fields[form.number - 1])


def _grade_fault(file: str, line: int, text: str, problem: int, form: Form) -> Fault:
    if problem == MALFORMED:
        return _malformed(file, line, text, form, QRELS_FORMS, "labels", "a run")
    kind = "grade_out_of_range" if problem == OUT_OF_RANGE else "non_integer_grade"
    value = _fields(text)[form.number - 1]
    return Fault(file, kind, f"an integer from -{LIMIT} to {LIMIT} was expected", line, "grade", value)


def _malformed(
    file: str, line: int, text: str, form: Form, forms: dict[int, Form], what: str, other: str
) -> Fault:
    found = len(_fields(text))
    expected = f"{form.columns} columns ({form.words}) were expected; this line has {found}"
    if found == form.columns:
        expected = (
            f"6 columns ({RUN_FORMS[6].words}) were expected, or 5 without the tag;"
            " this line has 5, and the second is not Q0"
        )
    elif found in (RUN_FORMS if forms is QRELS_FORMS else QRELS_FORMS) and found not in forms:
        expected += f" (is the file {other}, and not {what}?)"
    return Fault(file, "malformed_line", expected, line, value=clip(text, 200))


def _other_kind(faults: list[Fault], forms: dict[int, Form]) -> str | None:
    """What a file is, none of whose lines is as expected, if the first ones all look like the same thing."""
    if any(fault.kind != "malformed_line" for fault in faults):
        return None
    lines = [fault.value or "" for fault in faults]
    wanted, other = ("a run", "labels (qrels)") if forms is RUN_FORMS else ("labels (qrels)", "a run")
    if all(line.startswith("{") for line in lines):
        return f"expected {wanted} in TREC form; these are JSON lines, which stand in a native folder"
    widths = {len(_fields(line)) for line in lines}
    others = QRELS_FORMS if forms is RUN_FORMS else RUN_FORMS
    if len(widths) != 1 or not widths <= others.keys() - forms.keys():
        return None
    expected, found = next(iter(forms.values())).words, others[widths.pop()].words
    return f"expected {wanted}, with columns as {expected}; every line looks like one of {other}: {found}"


class _Parse:
    """The exact reader: takes a file piece by piece into a table, and spells out the first faults."""

    def __init__(
        self,
        con: duckdb.DuckDBPyConnection,
        file: str,
        table: str,
        forms: dict[int, Form],
        columns: Callable[[Form], str],
        spell: Callable[[str, int, str, int, Form], Fault],
        header: bool = False,
    ):
        self.con, self.file, self.table = con, file, table
        self.forms, self.columns, self.spell, self.header = forms, columns, spell, header
        self.form = next(iter(forms.values()))
        self.begun = False
        self.skipped = 0
        self.faults: list[Fault] = []
        self.total = 0

    def read(self, path: str | Path, report: Report, doubts: Report) -> list[Fault] | None:
        """The first faults of the lines; None if the file as a whole is at fault, as the report then says."""
        if not feed_lines(path, self._take, report, doubts):
            return None
        if not _count(self.con, self.table):
            report.fault(empty_file(self.file))
            return None
        self.total = _count(self.con, f"{self.table} where problem <> 0")
        if self.total == _count(self.con, self.table) and (other := _other_kind(self.faults, self.forms)):
            self.total = 1
            self.faults = [Fault(self.file, "wrong_kind", other)]
        return self.faults

    def _take(self, lines_before: int, text: str) -> None:
        if not self.begun:
            self._begin(lines_before, text)
        self.con.execute(
            f"""
            insert into {self.table}
            select {self.columns(self.form)}
            from (select ?::bigint + number as line_no, {FIELDS} as fields from {LINES}
                  where {NOT_BLANK} and not starts_with(line, '#'))
            where line_no > {self.skipped}
            """,
            [lines_before, text],
        )
        if len(self.faults) < SHOWN:
            self._spell(lines_before, text)

    def _begin(self, lines_before: int, text: str) -> None:
        """Find out the form from the first lines, and whether the very first is a header."""
        head = f"""
            select ?::bigint + number as line_no, {FIELDS} as fields from {LINES}
            where {NOT_BLANK} and not starts_with(line, '#') order by line_no
            """
        first = self.con.execute(f"{head} limit 1", [lines_before, text]).fetchall()
        if not first:
            return
        self.begun = True
        if self.header and _is_header(first[0][1]):
            self.skipped = first[0][0]
        form = self.con.execute(
            f"""
            select len(fields) as columns from ({head} limit {HEAD})
            where list_contains(?, columns) and line_no > {self.skipped}
            group by columns order by count(*) desc, min(line_no) limit 1
            """,
            [lines_before, text, list(self.forms)],
        ).fetchall()
        if form:
            self.form = self.forms[form[0][0]]

    def _spell(self, lines_before: int, text: str) -> None:
        wrong = self.con.execute(
            f"""
            select line_no, problem from {self.table}
            where problem <> 0 and line_no > ? order by line_no limit {SHOWN}
            """,
            [lines_before],
        ).fetchall()
        if not wrong:
            return
        lines = dict(
            self.con.execute(
                f"select ?::bigint + number as line_no, line from {LINES} where list_contains(?, line_no)",
                [lines_before, text, [line_no for line_no, _ in wrong]],
            ).fetchall()
        )
        for line_no, problem in wrong:
            self.faults.append(self.spell(self.file, line_no, lines[line_no], problem, self.form))


def _is_header(fields: list[str]) -> bool:
    return (
        len(fields) > 1
        and HEADER.fullmatch(fields[0]) is not None
        and re.fullmatch(NUMBER, fields[-1]) is None
    )


def _shared_rank_faults(con: duckdb.DuckDBPyConnection, table: str, file: str) -> tuple[list[Fault], int]:
    con.execute(
        f"""
        create or replace temp table {table}_shared as
        select line_no, rank, query_id, min(line_no) over (partition by query_id, rank) as first_line
        from {table}
        where problem = 0 and line_no not in (select line_no from {table}_repeats where line_no > first_line)
        qualify line_no > first_line
        """
    )
    rows = con.execute(f"select * from {table}_shared order by line_no limit {SHOWN}").fetchall()
    total = _count(con, f"{table}_shared")
    con.execute(f"drop table {table}_shared")
    return [
        Fault(
            file,
            "duplicate_rank",
            "a rank stands once in a ranking that goes by ranks; "
            f"line {first} gives it to query {clip(query_id)} already",
            line_no,
            "rank",
            f"{rank:.15g}",
        )
        for line_no, rank, query_id, first in rows
    ], total


def _conflict_faults(con: duckdb.DuckDBPyConnection, table: str, file: str) -> list[Fault]:
    rows = con.execute(
        f"""
        select line_no, query_id, doc_id, grade, first_grade, first_line from {table}_repeats
        where grade <> first_grade order by 1 limit {SHOWN}
        """
    ).fetchall()
    return [
        Fault(
            file,
            "duplicate_judgement_conflict",
            f"a pair has one grade; of query {clip(query_id)}, document {clip(doc_id)} this line says"
            f" {grade}, and line {first_line} {first_grade}",
            line_no,
            "grade",
            str(grade),
        )
        for line_no, query_id, doc_id, grade, first_grade, first_line in rows
    ]


def _qrels_doubts(con: duckdb.DuckDBPyConnection, table: str, file: str, report: Report) -> None:
    repeated = _count(con, f"{table}_repeats")
    what = "line repeats a judgement" if repeated == 1 else "lines repeat a judgement"
    report.doubt(
        file, "duplicate_judgement", repeated, f"{repeated:,} {what} with the same grade; taken once"
    )
    negative = _count(con, f"(select distinct query_id, doc_id from {table} where grade < 0)")
    what = "judgement has" if negative == 1 else "judgements have"
    report.doubt(
        file,
        "negative_grade",
        negative,
        f"{negative:,} {what} a negative grade: judged, not relevant, gain 0",
    )


def _in_line_order(faults: list[Fault]) -> list[Fault]:
    return sorted(faults, key=lambda fault: fault.line or 0)[:SHOWN]


def _fields(text: str) -> list[str]:
    return re.split("[ \t]+", text.strip(" \t"))


def _count(con: duckdb.DuckDBPyConnection, source: str) -> int:
    return int(con.execute(f"select count(*) from {source}").fetchall()[0][0])
