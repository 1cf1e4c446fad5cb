"""What counts as much, and as enough: rankroom's thresholds, and a team's own in a TOML file."""

from __future__ import annotations

import os
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rankroom.errors import UsageError

DEFAULTS = Path(__file__).with_name("thresholds.toml")

VARIABLE = "RANKROOM_THRESHOLDS"
"""The environment variable that names a team's own file, for the dashboard and every command."""


@cache
def _defaults() -> dict[str, Any]:
    return _written(DEFAULTS)


class SignalThresholds(BaseModel):
    """Those that only the rules for conflicting signals ask for."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    possible_p: float = Field(default_factory=lambda: _of_signals("possible_p"), gt=0, lt=1)
    """Where the other half of a signal is clear, a p below this makes the signal possible."""
    cost_rise: float = Field(default_factory=lambda: _of_signals("cost_rise"), ge=0)
    """Mean latency and context may rise by this share of the baseline's."""
    latency_ms: float = Field(default_factory=lambda: _of_signals("latency_ms"), ge=0)
    """And by so many milliseconds in any case."""
    context_tokens: float = Field(default_factory=lambda: _of_signals("context_tokens"), ge=0)
    """And by so many tokens."""
    latency_budget_ms: float = Field(default_factory=lambda: _of_signals("latency_budget_ms"), ge=0)
    """What a query may take in the mean; 0: there is no budget, and the rise decides."""
    context_budget_tokens: float = Field(default_factory=lambda: _of_signals("context_budget_tokens"), ge=0)
    """How large a context may be in the mean; 0: there is no budget."""


class Thresholds(BaseModel):
    """The thresholds in force. Without arguments, those of thresholds.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    smallest: float = Field(default_factory=lambda: _defaults()["smallest"], gt=0, lt=1)
    """The smallest difference of a mean that matters."""
    alpha: float = Field(default_factory=lambda: _defaults()["alpha"], gt=0, lt=1)
    """A change is clear where its corrected p is below this."""
    thin: int = Field(default_factory=lambda: _defaults()["thin"], ge=1)
    """A slice of fewer queries is thin."""
    signals: SignalThresholds = Field(default_factory=SignalThresholds)
    """Those of the rules for conflicting signals."""


def read_thresholds(path: str | Path | None = None) -> Thresholds:
    """The thresholds of this file, or of the one that RANKROOM_THRESHOLDS names; else rankroom's own."""
    named = path or os.environ.get(VARIABLE)
    if not named:
        return Thresholds()
    file = Path(named)
    try:
        return Thresholds(**_written(file))
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} is not TOML: {error}") from error
    except ValidationError as error:
        raise UsageError("\n".join(_sentence(file, fault) for fault in error.errors())) from error


def _of_signals(name: str) -> Any:
    return _defaults()["signals"][name]


def _written(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _sentence(file: Path, fault: Any) -> str:
    field = ".".join(map(str, fault["loc"]))
    if fault["type"] == "extra_forbidden":
        return f"{file}: there is no threshold named {field}"
    return f"{file}: field {field} value {fault['input']!r}: {fault['msg']}"
