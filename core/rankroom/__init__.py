"""rankroom: per-query retrieval results in DuckDB, exact metrics, and a dashboard to read them.

    room = rankroom.open("rankroom.duckdb")
    room.add_dataset("faq", queries={"q1": "How do I reset it?"}, labels={"q1": ["reset"]})
    room.add_run("bm25", {"q1": ["reset", "intro"]}, dataset="faq")
    room.summary(k=5)

docs/python.md shows the rest. What is public here is imported when it is first asked for: the command line
starts without DuckDB and Arrow.
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "NotStored",
    "Query",
    "RankroomError",
    "RankroomWarning",
    "Refused",
    "Room",
    "StoreUnavailable",
    "UsageError",
    "__version__",
    "evaluate",
    "open",
]

if TYPE_CHECKING:
    from rankroom.errors import RankroomError, Refused, StoreUnavailable, UsageError
    from rankroom.evaluating import Answer, NotStored, Query, evaluate
    from rankroom.room import RankroomWarning, Room, open

_HOMES = {
    "Answer": "evaluating",
    "NotStored": "evaluating",
    "Query": "evaluating",
    "RankroomError": "errors",
    "RankroomWarning": "room",
    "Refused": "errors",
    "Room": "room",
    "StoreUnavailable": "errors",
    "UsageError": "errors",
    "evaluate": "evaluating",
    "open": "room",
}
"""The module of each public name. No module may have a public name of its own: it would take its place."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rankroom' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"rankroom.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
