"""What somebody sends, laid out as files in a folder of its own: TREC files, or a folder in a zip archive.

Nothing is trusted: a name is only ever a name, and an archive is looked through before it is unpacked.
"""

from __future__ import annotations

import gzip
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, Literal

from rankroom.errors import Refused
from rankroom.faults import Fault, Report
from rankroom.printable import IN_A_LINE, lines
from rankroom.readers.lines import CHUNK, GZIP_MAGIC

MOST_BYTES = 2 * 2**30
"""What all files of one upload may come to when they are unpacked."""

MOST_FILES = 2_000
"""How many files an archive may hold."""

LONGEST_NAME = 200
"""Bytes of a file's name: file systems end at 255."""

LEFT_ASIDE = ("__MACOSX", ".DS_Store", "Thumbs.db")
"""What programs that make archives add of their own."""


@dataclass(frozen=True)
class Sent:
    """A file as it was sent. The name is whatever the sender says."""

    name: str
    content: BinaryIO


@dataclass(frozen=True)
class TrecUpload:
    """TREC runs with their labels, and what the command line would be told about them."""

    dataset: str
    labels: Sent
    runs: Sequence[Sent] = ()
    revision: str = "1"
    relevant_from: int = 1
    order: Literal["score", "rank"] = "score"
    collapse_first: bool = False


@dataclass(frozen=True)
class FolderUpload:
    """A folder in the native form, as a zip archive."""

    archive: Sent
    collapse_first: bool = False


Upload = TrecUpload | FolderUpload


@dataclass(frozen=True)
class Laid:
    """Where the files are, how `add` is called there, and what the folder is called to the sender."""

    folder: Path
    arguments: list[str]
    name: str
    not_read: int = 0


def lay_out(folder: Path, upload: Upload) -> Laid:
    """Write the files of an upload into an empty folder. Raises Refused where they cannot be laid there."""
    return _lay_folder(folder, upload) if isinstance(upload, FolderUpload) else _lay_trec(folder, upload)


def safe_name(name: str) -> str:
    """The name without a path and without characters that could act on a terminal."""
    last = name.replace("\\", "/").rpartition("/")[2]
    return IN_A_LINE.sub("", last).strip()


def _lay_trec(folder: Path, upload: TrecUpload) -> Laid:
    room = _Room()
    names = []
    for sent in (upload.labels, *upload.runs):
        name = safe_name(sent.name)
        path = folder / name
        if name in ("", ".", ".."):
            raise _refused(sent.name, "unfit_name", "expected a file with a name")
        with _written(path, name) as target:
            sent.content.seek(0)
            room.copy(sent.content, target, name)
        room.unpack(path, name)
        names.append(name)
    labels, *runs = names
    arguments = [
        f"--dataset={upload.dataset}",
        f"--revision={upload.revision}",
        f"--relevant-from={upload.relevant_from}",
        f"--order={upload.order}",
        f"--labels={labels}",
        "--",
        *runs,
    ]
    return Laid(folder, arguments, upload.dataset)


def _lay_folder(folder: Path, upload: FolderUpload) -> Laid:
    name = safe_name(upload.archive.name) or "the archive"
    _check_entries(upload.archive.content, name)
    try:
        with zipfile.ZipFile(upload.archive.content) as archive:
            members = _members(archive, name)
            root, inside = _dataset_folder(members, name)
            room = _Room()
            for path, member in inside.items():
                target = folder / path
                target.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(member) as source, _written(target, path) as file:
                    room.copy(source, file, path)
                room.unpack(target, path)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeError) as error:
        raise _refused(name, "bad_zip", f"expected a zip archive that can be read ({error})") from None
    except OSError as error:
        raise _refused(name, "bad_zip", f"cannot be unpacked: {error.strerror or error}") from None
    return Laid(folder, ["--", "."], f"{name}/{root}" if root else name, len(members) - len(inside))


def _check_entries(content: BinaryIO, name: str) -> None:
    """Refuse an archive whose directory alone would fill the memory: zipfile reads it whole.

    Every entry begins with the signature, and packed content may hold it by chance.
    """
    content.seek(0)
    entries = sum(chunk.count(b"PK\x01\x02") for chunk in iter(lambda: content.read(CHUNK), b""))
    if entries > 10 * MOST_FILES:
        raise _refused(name, "too_many_files", f"expected at most {MOST_FILES:,} files")
    content.seek(0)


def _members(archive: zipfile.ZipFile, name: str) -> dict[PurePosixPath, zipfile.ZipInfo]:
    """The archive's files by their path. Any that is not plainly a file within it is a fault."""
    if len(archive.infolist()) > MOST_FILES:
        many = f"expected at most {MOST_FILES:,} files; it holds {len(archive.infolist()):,}"
        raise _refused(name, "too_many_files", many)
    report = Report()
    found: dict[PurePosixPath, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        path = PurePosixPath(member.filename)
        if member.is_dir() or any(part in LEFT_ASIDE or part.startswith("._") for part in path.parts):
            continue
        if wrong := _unfit(member, path):
            report.fault(Fault(name, "unfit_member", wrong, value=member.filename))
        elif path in found:
            report.fault(Fault(name, "repeated_file", "expected one file of this name", value=str(path)))
        found[path] = member
    if report.num_faults:
        raise Refused(report)
    if (size := sum(member.file_size for member in found.values())) > MOST_BYTES:
        raise _refused(name, "too_large", _too_large(size))
    return found


def _unfit(member: zipfile.ZipInfo, path: PurePosixPath) -> str | None:
    """What is wrong with a member's name or kind, if anything is."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if (
        not path.parts
        or path.is_absolute()
        or "\\" in member.filename
        or ":" in path.parts[0]
        or ".." in path.parts
    ):
        return "expected a path within the archive"
    if IN_A_LINE.search(str(path)) or any(len(os.fsencode(part)) > LONGEST_NAME for part in path.parts):
        return f"expected a name of at most {LONGEST_NAME} bytes without control characters"
    if kind not in (0, stat.S_IFREG):
        return "expected a file; this is a link or a device"
    if member.flag_bits & 1:
        return "expected a file without a password"
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return "expected the common compression (deflate)"  # the others unpack without bound
    return None


def _dataset_folder(
    members: dict[PurePosixPath, zipfile.ZipInfo], name: str
) -> tuple[str, dict[PurePosixPath, zipfile.ZipInfo]]:
    """The folder of the archive that holds dataset.toml, and the files in it by their path from there."""
    roots = sorted(
        (path.parent for path in members if path.name == "dataset.toml"), key=lambda root: len(root.parts)
    )
    if not roots:
        raise _refused(name, "missing_file", "expected a dataset.toml, in the archive or in one folder of it")
    root = roots[0]
    if others := [other for other in roots[1:] if not other.is_relative_to(root)]:
        raise _refused(
            name,
            "two_data_sets",
            f"expected one data set; there is a dataset.toml in {root} and in {others[0]}",
        )
    below = {path.relative_to(root): member for path, member in members.items() if path.is_relative_to(root)}
    inside = {path: member for path, member in below.items() if path.parts[:-1] in ((), ("runs",))}
    return "" if root == PurePosixPath() else str(root), inside


class _Room:
    """How much of what one upload may take is left."""

    def __init__(self) -> None:
        self.left = MOST_BYTES

    def copy(self, source: IO[bytes], target: IO[bytes], name: object) -> None:
        """Copy a file, if there is room for it."""
        for chunk in self._counted(source, name):
            target.write(chunk)

    def unpack(self, path: Path, name: object) -> None:
        """Count what a gzip file holds; one that is damaged is left to its reader, who says where."""
        with path.open("rb") as file:
            if file.read(2) != GZIP_MAGIC:
                return
        try:
            with gzip.open(path) as inner:
                for _ in self._counted(inner, name):
                    pass
        except (EOFError, gzip.BadGzipFile, zlib.error):
            pass

    def _counted(self, source: IO[bytes] | gzip.GzipFile, name: object) -> Iterator[bytes]:
        while chunk := source.read(CHUNK):
            self.left -= len(chunk)
            if self.left < 0:
                raise _refused(str(name), "too_large", _too_large())
            yield chunk


def _too_large(size: int | None = None) -> str:
    holds = "" if size is None else f"; it holds {size / 2**20:,.0f} MB"
    return (
        f"expected at most {MOST_BYTES / 2**20:,.0f} MB in all when unpacked{holds}:"
        " add larger files with `rankroom add` on the machine of the store"
    )


@contextmanager
def _written(path: Path, name: object) -> Iterator[IO[bytes]]:
    """A new file; a second one of the same name (to this file system) is a fault."""
    try:
        with path.open("xb") as file:
            yield file
    except FileExistsError:
        raise _refused(str(name), "repeated_file", "expected one file of this name: rename one") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise _refused(str(name), "unfit_name", f"a file of this name cannot be written: {why}") from None


def _refused(file: str, kind: str, expected: str) -> Refused:
    report = Report()
    report.fault(Fault(lines(file), kind, expected))
    return Refused(report)
