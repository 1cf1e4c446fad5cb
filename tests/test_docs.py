"""The Python code of the pages runs as it stands there, and prints what the page says."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.filterwarnings("ignore::rankroom.RankroomWarning")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RANKROOM_STORE", raising=False)
    text = page.read_text(encoding="utf-8")
    names: dict[str, Any] = {"__name__": page.stem}
    printed = ""
    for block in BLOCK.finditer(text):
        kind, content = block.groups()
        if kind == "text":
            assert printed == content
            continue
        line = text.count("\n", 0, block.start(2))
        with contextlib.redirect_stdout(io.StringIO()) as out:
            exec(compile("\n" * line + content, str(page), "exec"), names)
        printed = out.getvalue()


def test_there_is_code_to_run() -> None:
    assert len(BLOCK.findall((ROOT / "docs" / "python.md").read_text(encoding="utf-8"))) > 5
