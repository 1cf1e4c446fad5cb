"""Where the SQL, the dashboard and the sample data are: beside core in a checkout, else in the package."""

from functools import cache
from pathlib import Path


@cache
def folder(name: str) -> Path:
    """The folder `sql`, `dashboard` or `sample_runs` of this installation."""
    package = Path(__file__).parent
    for parent in (package, package.parent.parent):
        if (found := parent / name).is_dir():
            return found
    raise FileNotFoundError(f"the {name} folder of rankroom is missing beside {package}")


def sql(path: str) -> str:
    """The text of one SQL file, named by its path below sql/."""
    return (folder("sql") / path).read_text(encoding="utf-8")
