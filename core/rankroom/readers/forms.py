"""The hand-written TOML files of the native form: what may stand in them, and what to say where it does not.

dataset.toml

    name = "help_centre"
    revision = "1"              # of the queries; default "1"

    [collection]                # optional, as is everything in it
    name = "help_articles"      # default: the data set's name
    version = "2026-03"         # default "1"
    unit = "chunk"
    id_scheme = "slug#paragraph"

    [labels]                    # optional
    revision = "2"              # default: the data set's revision
    relevant_from = 1           # the lowest grade that counts as relevant; default 1
    reviewer = "Noor"

runs/NAME.toml, optional, everything in it too

    created = 2026-03-09T10:00:00Z
    baseline = "bm25"
    series = "weekly"
    tags = ["reranker"]
    commit = "4f2a9c1"
    note = "..."
    stages = [{name = "candidates", position = 1, cut = 50}, {name = "final", position = 2}]

    [collection]                # only where it is not the data set's own
    version = "2026-04"

    [config]                    # nested as one likes: becomes embedding.model, candidates.n, ...
    embedding.model = "e5-small"
    candidates.n = 50
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StrictInt, StrictStr, ValidationError
from pydantic_core import ErrorDetails

from rankroom.faults import Fault, Report
from rankroom.names import NAME_EXPECTED, is_name
from rankroom.readers.lines import cannot_open

FINAL = "final"
"""The stage that every run has: what came out at the end."""

WORDS = {
    "model_type": "expected a table",
    "dict_type": "expected a table",
    "tuple_type": "expected a list",
    "string_type": "expected a text in quotes",
    "int_type": "expected a whole number",
}
"""Pydantic's errors of type in the words of TOML."""

FormType = TypeVar("FormType", bound=BaseModel)


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("expected a text in quotes")
    if not is_name(value):
        raise ValueError(NAME_EXPECTED)
    return value


def _revision(value: object) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float):
        raise ValueError(f'expected a text or a whole number: put quotes around it, "{value}"')
    return _name(value)


def _moment(value: object) -> datetime:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            value = None
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    # In the first and last years Python cannot tell the same moment in every time zone.
    if isinstance(value, datetime) and date.min.year < value.year < date.max.year:
        return value
    raise ValueError("expected a date and time, as 2026-03-09T10:00:00Z")


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("expected a text in quotes that is not empty")
    return value


Name = Annotated[str, BeforeValidator(_name)]
Revision = Annotated[str, BeforeValidator(_revision)]
Moment = Annotated[datetime, BeforeValidator(_moment)]
Text = Annotated[str, BeforeValidator(_text)]


class Form(BaseModel):
    """A table in a TOML file: keys that are not known are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class CollectionForm(Form):
    """What was searched. In a run's file: only what differs from the data set's collection."""

    name: Name | None = None
    version: Revision | None = None
    unit: Text | None = None
    id_scheme: Text | None = None


class LabelsForm(Form):
    """The labels as a whole."""

    revision: Revision | None = None
    relevant_from: StrictInt = Field(default=1, ge=1, le=30)
    reviewer: Text | None = None


class DatasetForm(Form):
    """dataset.toml."""

    name: Name
    revision: Revision = "1"
    collection: CollectionForm = CollectionForm()
    labels: LabelsForm = LabelsForm()


class StageForm(Form):
    """One stage of a pipeline. Stages of one position stand side by side: two candidate lists, say."""

    name: Text
    position: StrictInt = Field(ge=0, le=1_000_000)
    cut: StrictInt | None = Field(default=None, ge=1, le=2**31 - 1)


class RunForm(Form):
    """runs/NAME.toml."""

    created: Moment | None = None
    baseline: Text | None = None
    series: Text | None = None
    collection: CollectionForm = CollectionForm()
    stages: tuple[StageForm, ...] = ()
    tags: tuple[StrictStr, ...] = ()
    commit: Text | None = None
    note: StrictStr | None = None
    config: dict[str, Any] = {}


def settings(config: dict[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    """The settings of a nested table as (dotted key, value as text)."""
    for key, value in config.items():
        if isinstance(value, dict):
            yield from settings(value, f"{before}{key}.")
        else:
            yield before + key, _value_text(value)


def _value_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)
    if isinstance(value, date | time):  # a datetime is a date, too
        return value.isoformat()
    return str(value)


def read_toml(path: Path, form: type[FormType], report: Report) -> FormType | None:
    """The form filled from a TOML file; None where the file has faults, which the report then holds."""
    file = str(path)
    try:
        raw = path.read_bytes()
    except OSError as error:
        report.fault(cannot_open(file, error))
        return None
    try:
        text = raw.decode("utf-8-sig").replace("\r\n", "\n")
        content = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        report.fault(Fault(file, "invalid_utf8", "text in UTF-8 was expected", line=line))
        return None
    except ValueError as error:  # TOMLDecodeError, or a number that Python cannot hold
        report.fault(_not_toml(file, text, str(error)))
        return None
    except RecursionError:
        report.fault(
            Fault(file, "not_toml", "the file is not TOML that can be read: it is nested too deeply")
        )
        return None
    if raw.startswith(b"\xef\xbb\xbf"):
        report.doubt(file, "bom_removed", 1, "the file begins with a UTF-8 byte-order mark; it was taken off")
    try:
        return form.model_validate(content)
    except ValidationError as error:
        report.extend(_fault(file, text, form, wrong) for wrong in error.errors(include_url=False))
        return None


def line_of(text: str, path: tuple[str | int, ...]) -> int | None:
    """The line of a TOML text where the value at this path is written, or the nearest table around it."""
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str | int, ...], int] = {}
    nearest: tuple[int, int | None] = (0, None)
    for number, line in enumerate(text.split("\n"), start=1):
        if header := re.match(r"\s*(\[\[?)([^\]]+)\]", line):
            table = _keys(header[2])
            if header[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table += (counts[table],)
            here = table
        elif assignment := re.match(r"\s*((?:\"[^\"]*\"|'[^']*'|[\w.\s-])+?)\s*=", line):
            here = table + _keys(assignment[1])
        else:
            continue
        if here == path[: len(here)] and len(here) > nearest[0]:
            nearest = (len(here), number)
    return nearest[1]


def _keys(dotted: str) -> tuple[str, ...]:
    parts = re.findall(r"\"([^\"]*)\"|'([^']*)'|([^.\s]+)", dotted)
    return tuple(next(filter(None, part), "") for part in parts)


def _not_toml(file: str, text: str, message: str) -> Fault:
    expected = f"the file is not TOML: {message}"
    if where := re.search(r" \(at line (\d+), column (\d+)\)$", message):
        expected = f"the file is not TOML: {message[: where.start()]}, at column {where[2]}"
        return Fault(file, "not_toml", expected, line=int(where[1]))
    return Fault(
        file, "not_toml", expected, line=text.count("\n") + 1 if "end of document" in message else None
    )


def _fault(file: str, text: str, form: type[BaseModel], wrong: ErrorDetails) -> Fault:
    path = wrong["loc"]
    field = ".".join(map(str, path))
    line = line_of(text, path)
    if wrong["type"] == "missing":
        return Fault(file, "missing_field", "this key is missing", line=line, field=field)
    value = wrong["input"]
    shown = value if isinstance(value, str) else str(value)
    if wrong["type"] == "extra_forbidden":
        known = ", ".join(_known(form, path))
        return Fault(file, "unknown_field", f"the keys known here are {known}", line, field, shown)
    expected = WORDS.get(wrong["type"]) or wrong["msg"].removeprefix("Value error, ").replace(
        "Input should be", "expected"
    )
    return Fault(file, "wrong_value", expected, line, field, shown)


def _known(form: type[BaseModel], path: tuple[str | int, ...]) -> list[str]:
    inner: dict[object, type[BaseModel]] = {
        "collection": CollectionForm,
        "labels": LabelsForm,
        "stages": StageForm,
    }
    return list((inner[path[0]] if len(path) > 1 else form).model_fields)
