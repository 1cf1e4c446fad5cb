"""A data set under two revisions of its labels, between which queries gain and lose their answer.

Of two runs, `near` falls and `far` moves most by the means over whatever has an answer; over the queries
that have one under both, near rises and far stays.
"""

from __future__ import annotations

from pathlib import Path

from rankroom.rescore import rescore
from rankroom.store import Store
from small_stores import add_native

QUERIES = [
    *({"query_id": query, "split": "dev"} for query in ("more", "better", "gained")),
    *({"query_id": query, "split": "heldout"} for query in ("kept", "lost")),
]
SAME = [{"query_id": "kept", "doc_id": "d", "grade": 1}]
EARLIER = [
    {"query_id": "more", "doc_id": "a", "grade": 1},
    {"query_id": "better", "doc_id": "b", "grade": 1},
    {"query_id": "gained", "no_answer": True},
    {"query_id": "lost", "doc_id": "e", "grade": 1},
    *SAME,
]
LATER = [
    {"query_id": "more", "doc_id": "a", "grade": 1},
    {"query_id": "more", "doc_id": "x", "grade": 1},
    {"query_id": "better", "doc_id": "b", "grade": 2},
    {"query_id": "gained", "doc_id": "c", "grade": 1},
    {"query_id": "lost", "doc_id": "e", "grade": 0},
    *SAME,
]
RUNS = {
    "near": {"more": ["x", "a"], "better": ["b"], "gained": ["z"], "kept": ["d"], "lost": ["e"]},
    "far": {"more": ["y"], "better": ["b"], "gained": ["c"], "kept": ["z"], "lost": ["e"]},
}


def fill(store: Store, place: Path) -> Store:
    """The store with both runs scored under both revisions."""
    for revision, labels in (("1", EARLIER), ("2", LATER)):
        add_native(
            store,
            place / revision,
            queries=QUERIES,
            labels=labels,
            runs={
                run: [
                    {
                        "query_id": query,
                        "results": [{"doc_id": doc, "score": -at} for at, doc in enumerate(docs)],
                    }
                    for query, docs in rankings.items()
                ]
                for run, rankings in RUNS.items()
            },
            dataset=f'name = "desk"\nrevision = "1"\n[labels]\nrevision = "{revision}"\n',
        )
    rescore(store)
    return store
