"""What a reader found wrong (faults: nothing is stored) or odd (doubts: stored, and said aloud)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

SHOWN = 20
"""How many faults a report spells out; the rest is counted."""


@dataclass(frozen=True)
class Fault:
    """One thing wrong in an input file. Its text names file, line, field, value and what was expected."""

    file: str
    kind: str
    expected: str
    line: int | None = None
    field: str | None = None
    value: str | None = None

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}, line {self.line}"
        what = " ".join(
            part
            for part in (
                self.field and f"field {clip(self.field)}",
                None if self.value is None else f"value {clip(self.value)!r}",
            )
            if part
        )
        return f"{where}: {what + ': ' if what else ''}{self.expected}"


@dataclass(frozen=True)
class Doubt:
    """Something accepted that a reader of the numbers should know, with how often it occurs."""

    file: str
    kind: str
    count: int
    sentence: str

    def __str__(self) -> str:
        return f"{self.file}: {self.sentence}"


@dataclass
class Report:
    """The faults (the first 20 in file order, and the count of all) and doubts of one or more files."""

    faults: list[Fault] = field(default_factory=list)
    num_faults: int = 0
    doubts: list[Doubt] = field(default_factory=list)

    def fault(self, fault: Fault) -> None:
        """Take one fault."""
        self.extend([fault])

    def extend(self, faults: Iterable[Fault], total: int | None = None) -> None:
        """Take faults; `total` counts those too that the reader did not spell out."""
        some = list(faults)
        self.faults.extend(some[: max(0, SHOWN - len(self.faults))])
        self.num_faults += len(some) if total is None else total

    def doubt(self, file: str, kind: str, count: int, sentence: str) -> None:
        """Take a doubt, unless it never occurred."""
        if count:
            self.doubts.append(Doubt(file, kind, count, sentence))

    def sentence(self) -> str:
        """The faults as text, a line each, closing with the count of those not shown."""
        lines = [str(fault) for fault in self.faults]
        if (rest := self.num_faults - len(self.faults)) > 0:
            lines.append(f"... and {rest:,} more {'fault' if rest == 1 else 'faults'}")
        return "\n".join(lines)


def clip(text: str, length: int = 60) -> str:
    """The text, shortened where it would flood a terminal."""
    return text if len(text) <= length else text[: length - 1] + "…"
