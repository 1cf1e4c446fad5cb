"""A command of rankroom, run in the process of the test."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from rankroom.__main__ import main


class Ended(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output, which is nothing but JSON."""

        def refuse(constant: str) -> None:
            raise AssertionError(f"{constant} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


Run = Callable[..., Ended]


def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: object) -> Ended:
    """Run `rankroom ARGUMENTS`. Whatever happens, nobody sees a traceback."""
    monkeypatch.setattr(sys, "argv", ["rankroom", *map(str, arguments)])
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main()
    printed = capsys.readouterr()
    assert "Traceback" not in printed.err
    return Ended(int(end.value.code or 0), printed.out, printed.err)
