"""Evaluating a retriever: calling it for every query of a data set, and adding what it returned as a run.

(Not evaluate.py: a module of that name would take the place of the function `rankroom.evaluate`.)
"""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from rankroom.adding import Added
from rankroom.errors import RankroomError, UsageError
from rankroom.faults import clip
from rankroom.readers.arguments import listed, type_name
from rankroom.readers.dataset_parts import Collection
from rankroom.room import Room, run_form
from rankroom.stored_dataset import find_dataset
from rankroom.terminal import working

MOST_HANGING = 16
"""So many calls that were given up may hang in their threads; with one more, the evaluation stops."""

LONGEST_ERROR = 1_000
"""Characters of an exception's message that are kept."""


NOT_OF_A_RUN = ("dataset", "order", "collapse", "keep", "dry_run", "wait")
"""What `add_run` takes, and is not about the run itself."""

EXPECTED = "(expected a list of ids or of (id, score) pairs, {id: score}, or an Answer)"


class Query(str):
    """The text of a query, which is what a retriever is called with; the rest of the query is beside it."""

    query_id: str
    category: str | None
    language: str | None
    tags: list[str] | None
    groups: list[str] | None
    """The groups of the user who asked; None: permissions are not tested."""
    attributes: dict[str, str]


@dataclass(frozen=True)
class Answer:
    """What a retriever may return where it has more to say than a ranking."""

    results: Any = None
    """As a retriever returns them: ids, (id, score) pairs or {id: score}."""
    stages: Mapping[str, Any] = field(default_factory=dict)
    """Instead of results: what each stage of the pipeline held, the last named final."""
    context_tokens: int | None = None
    abstained: bool | None = None
    answer: str | None = None
    answer_scores: Mapping[str, float] = field(default_factory=dict)


Retriever = Callable[..., Any]
"""Called with a query (a text), or with a query and k: returns ids, best first, (id, score) pairs,
{id: score} or an Answer."""


class NotStored(RankroomError):
    """All queries were run, and the run could not be added: `add_run` takes `answers` as results."""

    def __init__(self, cause: RankroomError, answers: list[dict[str, Any]]):
        super().__init__(
            f"{cause}\nnothing was stored; what the retriever returned is in this error's `answers`,"
            " which `room.add_run(name, answers, ...)` takes"
        )
        self.answers = answers
        self.exit_code = cause.exit_code


def evaluate(
    retriever: Retriever,
    dataset: str | None = None,
    *,
    room: Room | str | Path,
    name: str,
    k: int | None = None,
    split: str | None = None,
    timeout: float | None = None,
    threads: int = 1,
    progress: bool = True,
    created: datetime | None = None,
    **about: Any,
) -> Added:
    """Call a retriever for every query of a data set, and add what it returns as a run.

    It is called with the text of the query (a `Query`, which is a str with query_id, groups, ... beside it)
    and, if `k` is given, with that as its second argument. It returns ids, best first, or (id, score) pairs
    in that order, or {id: score}, or an `Answer`. Its latency is recorded for each query. An exception makes
    the query one of status error, with the message, and the next query is asked; so does a return value of
    another shape, but if it is the first, the evaluation stops. Where every query fails, nothing is stored.

    `split` asks only the queries of one split ("dev" leaves the held-out ones alone); queries that were not
    asked count as left out. With `threads`, so many calls run at once. With `timeout` (seconds), a call that
    takes longer is one of status timeout. It cannot be stopped: its thread is left behind, and does not keep
    the program from ending. When more than 16 such calls hang at the same time, the evaluation stops. Without
    `timeout`, a call that hangs is waited for until you press Ctrl-C, which stores nothing.

    Everything else (`config`, `baseline`, `series`, `tags`, `note`, `collapse`, ...) is as in `Room.add_run`;
    `created` is now. Raises NotStored, which has the answers, where the run cannot be added at the end.
    """
    if threads < 1 or (timeout is not None and timeout <= 0) or (k is not None and k < 1):
        raise UsageError("threads and k must be at least 1, and timeout more than 0 seconds")
    if "facts" in about:
        raise UsageError("evaluate records the facts of each query itself: add_run takes others")
    room = room if isinstance(room, Room) else Room(room)
    stored = find_dataset(room.store, dataset)
    about = {"dataset": stored.label_set, "created": created or datetime.now(UTC), **about}
    queries = _queries(room, stored.query_set, split)
    _check_before(room, name, stored.collection, about)
    calls = _Calls(retriever, queries, k)
    with working() if progress else nullcontext(_silent) as tell:
        done = calls.in_threads(threads, timeout) if timeout or threads > 1 else calls.here()
        answers: dict[int, dict[str, Any]] = {}
        tell(f"evaluating {name}", 0, len(queries))
        for at, answer in done:
            answers[at] = answer
            if len(answers) == 1 and at in calls.misshapen:
                raise UsageError(
                    f"{answer['error']}, for the query {queries[at].query_id}; nothing was stored"
                )
            tell(f"evaluating {name}", len(answers), len(queries))
    ordered = [answers[at] for at in sorted(answers)]
    if all(answer.get("status") for answer in ordered):
        first = ordered[0]
        said = first.get("error") or f"it took longer than {timeout} s"
        raise RankroomError(
            f"every query failed, the first ({queries[0].query_id}) with: {said}; nothing was stored"
        )
    try:
        return room.add_run(name, ordered, **about)
    except RankroomError as error:
        raise NotStored(error, ordered) from error


def _silent(doing: str, at: int, of: int) -> None:
    pass


def _queries(room: Room, query_set: str, split: str | None) -> list[Query]:
    rows = room.sql(
        "select query_id, text, category, language, tags, groups, map_entries(attributes) as attributes"
        " from queries where query_set = $query_set and coalesce(split = $split, $split::varchar is null)"
        " order by query_id",
        {"query_set": query_set, "split": split},
    ).to_pylist()
    if not rows:
        raise UsageError(f"no query of {query_set} has the split {split}")
    silent = [row["query_id"] for row in rows if not row["text"]]
    if silent:
        raise UsageError(
            f"{len(silent):,} of {len(rows):,} queries of {query_set} have no text to call the retriever with"
            f" ({', '.join(silent[:3])}{', ...' if len(silent) > 3 else ''}): add a data set that has them"
        )
    return [_query(row) for row in rows]


def _query(row: Mapping[str, Any]) -> Query:
    query = Query(row["text"])
    for name in ("query_id", "category", "language", "tags", "groups"):
        setattr(query, name, row[name])
    query.attributes = {entry["key"]: entry["value"] for entry in row["attributes"] or []}
    return query


def _check_before(room: Room, name: str, own: Collection, about: Mapping[str, Any]) -> None:
    """Refuse before the first call what would be refused after the last: the name, and what a run says."""
    inspect.signature(room.add_run).bind(name, [], **about)
    run_form(name, own, **{key: value for key, value in about.items() if key not in NOT_OF_A_RUN})
    if room.sql("select 1 from runs where run = $run", {"run": name}).num_rows:
        raise UsageError(
            f"the store has a run named {name}: give this one another name, or `room.remove` that one"
        )


class _Calls:
    """The calls of a retriever, one a query; each gives the index of its query and a line of a run."""

    def __init__(self, retriever: Retriever, queries: Sequence[Query], k: int | None):
        self.retriever, self.queries = retriever, queries
        self.further = () if k is None else (k,)
        self.misshapen: set[int] = set()
        """The queries for which something was returned that is no ranking."""

    def here(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """One after the other, in this thread."""
        for at in range(len(self.queries)):
            yield at, self._call(at)

    def in_threads(self, threads: int, timeout: float | None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Several at once, each given up after `timeout` seconds.

        The threads are daemons of our own: those of a pool are waited for when Python ends, even for ever.
        """
        waiting = iter(range(len(self.queries)))
        running: dict[int, _Running] = {}
        hanging: list[threading.Thread] = []
        finished: SimpleQueue[tuple[int, dict[str, Any] | BaseException, float]] = SimpleQueue()

        def begin() -> None:
            at = next(waiting, None)
            if at is not None:
                thread = threading.Thread(target=work, args=(at,), name=f"rankroom query {at}", daemon=True)
                running[at] = _Running(thread, time.perf_counter())
                thread.start()

        def work(at: int) -> None:
            began = time.perf_counter()
            try:
                answer: dict[str, Any] | BaseException = self._call(at)
            except BaseException as error:  # such as SystemExit: it is for the thread that asked
                answer = error
            finished.put((at, answer, time.perf_counter() - began))

        for _ in range(threads):
            begin()
        while running:
            wait = None
            if timeout is not None:
                first = min(one.began for one in running.values())
                wait = max(0.0, first + timeout - time.perf_counter())
            try:
                at, answer, took = finished.get(timeout=wait)
            except Empty:
                pass
            else:
                if at in running and (timeout is None or took <= timeout):
                    del running[at]
                    if isinstance(answer, BaseException):
                        raise answer
                    begin()
                    yield at, answer
            if timeout is None:
                continue
            now = time.perf_counter()
            for late in [at for at, one in running.items() if now - one.began >= timeout]:
                one = running.pop(late)
                hanging = [thread for thread in [*hanging, one.thread] if thread.is_alive()]
                if len(hanging) > MOST_HANGING:
                    raise RankroomError(
                        f"{len(hanging)} calls of the retriever hang, each for longer than {timeout} s:"
                        " stopped, and nothing was stored"
                    )
                begin()
                yield late, self._line(late, (now - one.began) * 1000) | {"status": "timeout"}

    def _call(self, at: int) -> dict[str, Any]:
        began = time.perf_counter()
        try:
            returned = self.retriever(self.queries[at], *self.further)
            if isinstance(returned, Iterator):
                returned = list(returned)
        except Exception as error:
            return self._failed(at, began, f"{type(error).__name__}: {error}")
        latency = (time.perf_counter() - began) * 1000
        try:
            return self._line(at, latency) | _answer(returned)
        except _Misshapen as error:
            self.misshapen.add(at)
            return self._failed(at, began, str(error))

    def _failed(self, at: int, began: float, message: str) -> dict[str, Any]:
        latency = (time.perf_counter() - began) * 1000
        text = clip(message, LONGEST_ERROR).encode("utf-8", "replace").decode()
        return self._line(at, latency) | {"status": "error", "error": text}

    def _line(self, at: int, latency: float) -> dict[str, Any]:
        return {"query_id": self.queries[at].query_id, "latency_ms": round(latency, 3)}


@dataclass(frozen=True)
class _Running:
    """A call under way, and when it began."""

    thread: threading.Thread
    began: float


class _Misshapen(Exception):
    """A retriever returned something that is no ranking."""


def _answer(returned: Any) -> dict[str, Any]:
    """What a retriever returned, as the fields of a line of a run."""
    if not isinstance(returned, Answer):
        return {"results": _ranking(returned)}
    line: dict[str, Any] = {
        name: value
        for name in ("context_tokens", "abstained", "answer")
        if (value := getattr(returned, name)) is not None
    }
    if returned.answer_scores:
        line["answer_scores"] = dict(returned.answer_scores)
    if returned.stages:
        line["stages"] = {str(stage): _ranking(ranking) for stage, ranking in returned.stages.items()}
    if returned.results is not None:
        line["results"] = _ranking(returned.results)
    elif not returned.stages and not returned.abstained:
        raise _Misshapen("the retriever returned an Answer with neither results nor stages")
    return line


def _ranking(returned: Any) -> list[Any]:
    """A ranking as a list of ids or of {doc_id, score}; {id: score} is ordered as trec_eval orders it."""
    if isinstance(returned, Mapping):
        try:
            pairs = sorted(returned.items(), key=_score_and_id, reverse=True)
        except (TypeError, ValueError):
            raise _Misshapen(f"the retriever returned scores that are no numbers {EXPECTED}") from None
        return [{"doc_id": _id(doc), "score": score} for doc, score in pairs]
    results = listed(returned)
    if results is None:
        raise _Misshapen(f"the retriever returned {type_name(returned)} {EXPECTED}")
    return [_result(one) for one in results]


def _score_and_id(item: tuple[Any, Any]) -> tuple[float, bytes]:
    return float(item[1]), str(item[0]).encode("utf-8", "surrogatepass")


def _result(one: Any) -> Any:
    if isinstance(one, tuple | list) and len(one) == 2:
        return {"doc_id": _id(one[0]), "score": one[1]}
    if isinstance(one, Mapping) and "doc_id" in one:
        return {"doc_id": _id(one["doc_id"]), "score": one.get("score")}
    return _id(one)


def _id(value: Any) -> Any:
    """An id, which the reader of results judges more exactly; what can be none at all is refused here."""
    if isinstance(value, str | int | float) or hasattr(value, "tolist"):
        return value
    raise _Misshapen(f"the retriever returned a list that holds {type_name(value)} {EXPECTED}")
