"""What a rule has to say about two runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import IntEnum
from typing import Any, Literal

from rankroom.comparability import Reason

Status = Literal["fired", "possible"]


class Sure(IntEnum):
    """How sure a claim is: by its test, only as far as so few queries can say, or not at all."""

    NO = 0
    POSSIBLE = 1
    YES = 2


@dataclass(frozen=True)
class Said:
    """What a rule found: how sure it is, in words and numbers, and the queries that cause it."""

    sure: Sure
    sentence: str
    numbers: dict[str, float | None]
    queries: list[str]
    n: int


@dataclass(frozen=True)
class Finding:
    """A finding of the rule `id`. `n` is over how many queries its test is."""

    id: str
    status: Status
    sentence: str
    numbers: dict[str, float]
    queries: list[str]
    n: int
    title: str
    look_next: str
    baseline: str
    candidate: str
    k: int
    label_set: str

    def as_json(self) -> dict[str, Any]:
        """The finding as a dict."""
        return asdict(self)


@dataclass(frozen=True)
class Signals:
    """What became of trying the rules: what they found, and what they looked at."""

    baseline: str
    candidate: str
    k: int
    split: str
    findings: list[Finding]
    n: int
    """Labelled, answerable queries that were compared."""
    label_set: str | None
    reasons: list[Reason]
    """Why the runs cannot be compared; empty where they can."""
    tried: list[str] = field(default_factory=list)
    """The rules that had what they need to look at."""
    not_tried: dict[str, str] = field(default_factory=dict)
    """Why the others were not tried."""

    @property
    def comparable(self) -> bool:
        """Whether the runs could be compared."""
        return not self.reasons
