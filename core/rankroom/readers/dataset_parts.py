"""What a data set is made of, as a folder, the files of other tools or a caller names it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rankroom.names import versioned


@dataclass(frozen=True)
class Collection:
    """What was searched, at one version."""

    name: str
    version: str
    unit: str | None = None
    id_scheme: str | None = None

    @property
    def key(self) -> str:
        """NAME@VERSION."""
        return versioned(self.name, self.version)


@dataclass(frozen=True)
class LabelsFile:
    """Labels that are taken in the place of a folder's own: a file, in either form, and its revision."""

    path: Path
    revision: str
