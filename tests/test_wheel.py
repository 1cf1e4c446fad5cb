"""The wheel alone is enough: everything the demo and the dashboard need is in it."""

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
RUNS = {"bm25_plain", "bm25_title"}
"""Of the help centre's runs those that are added from the wheel; all are in it, to the byte."""

PROBE = """
import json, sys
from pathlib import Path
import rankroom
from rankroom.demo import fill
from rankroom.resources import folder
from rankroom.show import run_report
from rankroom.store import Store
from streamlit.testing.v1 import AppTest

store = Store(sys.argv[1])
fill(store)
with store.read() as con:
    runs = [run for (run,) in con.execute("select run from runs order by run").fetchall()]
report = run_report(store, "documentation_example", 3)
app = AppTest.from_file(str(folder("dashboard") / "app.py"), default_timeout=30).run()
print(json.dumps({
    "package": rankroom.__file__,
    "dashboard": str(folder("dashboard")),
    "runs": runs,
    "recall": report["recall"],
    "exceptions": [str(one.value) for one in app.exception],
    "says": [one.value for one in [*app.title, *app.header, *app.markdown]],
}))
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the wheel, and sees our own only for its dependencies."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", folder, ROOT],
        check=True,
    )
    (wheel,) = folder.glob("rankroom-*.whl")
    environment = folder / "environment"
    venv.create(environment, with_pip=False)
    python = environment / "bin" / "python"
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", wheel], check=True
    )
    # A plain path, whose own .pth files are not read: an editable rankroom there is out of reach.
    (site,) = environment.glob("lib/python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return python


def files(folder: Path) -> dict[Path, bytes]:
    """What lies in a folder, without what Python leaves there."""
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_demo_and_the_dashboard_run_from_the_wheel_alone(installed: Path, tmp_path: Path) -> None:
    (package,) = installed.parent.parent.glob("lib/python*/site-packages/rankroom")
    for name in ("sql", "dashboard", "sample_runs"):
        assert files(package / name) == files(ROOT / name)
    for run in (package / "sample_runs" / "help_centre" / "runs").iterdir():
        if run.stem not in RUNS:
            run.unlink()

    store = tmp_path / "store.duckdb"
    result = subprocess.run(
        [installed, "-I", "-c", PROBE, store],
        env={"RANKROOM_STORE": str(store), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    said = json.loads(result.stdout.splitlines()[-1])
    home = installed.parent.parent
    assert Path(said["package"]).is_relative_to(home)
    assert Path(said["dashboard"]).is_relative_to(home)
    assert said["runs"] == sorted({"documentation_example", *RUNS})
    assert said["recall"] == pytest.approx(5 / 6)
    assert said["exceptions"] == []
    assert any("over 101 queries" in text for text in said["says"])


def test_the_command_is_installed(installed: Path, tmp_path: Path) -> None:
    command = installed.parent / "rankroom"
    result = subprocess.run([command, "--version"], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith("rankroom ")
