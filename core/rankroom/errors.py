"""What can go wrong, as sentences. Each error knows the exit code that the command line ends with."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankroom.faults import Report


class RankroomError(Exception):
    """An error whose text is a sentence for the user."""

    exit_code = 1


class Refused(RankroomError):
    """Input with faults: nothing was stored. The report says where and what."""

    def __init__(self, report: Report):
        super().__init__(report.sentence())
        self.report = report


class UsageError(RankroomError):
    """The call itself asks for something that cannot be."""

    exit_code = 2


class NotComparable(UsageError):
    """Two runs of which it cannot be said what became of one in the other."""

    exit_code = 5


class StoreUnavailable(RankroomError):
    """The store could not be had: it is missing, held by another process, damaged, or of a newer program."""

    exit_code = 3
