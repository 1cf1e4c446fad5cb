"""The native form: a folder that a person can write by hand and review in a pull request.

    dataset.toml      name, revision, collection, labels (forms.py has its keys)
    queries.jsonl     query_id, text, category, language, split, tags, groups, must_pass;
                      any other field is an attribute of the query
    labels.jsonl      query_id, doc_id, grade, rationale, source, reviewer, reviewed, collection,
                      evidence_group; or query_id, no_answer (true), rationale.
                      Or qrels, qrels.txt, qrels.gz, ...: the TREC form
    documents.jsonl   doc_id, title, text, groups (optional)
    runs/NAME.toml    about the run (optional; forms.py has its keys)
    runs/NAME.jsonl   one query a line: query_id, results [{doc_id, score}] or [ids], or stages
                      {name: results}; status (ok, error, timeout), latency_ms, context_tokens, abstained,
                      error, answer, answer_scores {name: number}.
                      What else a result holds (its text, metadata) is left aside

The .jsonl files may be gzipped (.jsonl.gz). An id is a text or a whole number: 17 and "17" are one id.
In every file a field that is null is a field left out. A list of results is the ranking; its scores are
kept, not used.

`read_dataset` and then `read_run` for each of `run_files` fill the tables of a workspace. What is wrong
goes into the report, all of a file at once, and then nothing is filled in.
"""

from rankroom.readers.native_dataset import Dataset, read_dataset
from rankroom.readers.native_files import run_files
from rankroom.readers.native_run import NativeRun, Stage, read_run

__all__ = [
    "Dataset",
    "NativeRun",
    "Stage",
    "read_dataset",
    "read_run",
    "run_files",
]
