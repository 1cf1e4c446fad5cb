import pytest
from rankroom.names import run_name, versioned


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("bm25.trec", "bm25"),
        ("runs/bm25.run.txt.gz", "bm25"),
        ("/a.b/robust.2003.res", "robust.2003"),
        ("BM25.TXT.GZ", "BM25"),
        ("dense.jsonl", "dense"),
        ("dense.json.gz", "dense"),
        ("plain", "plain"),
        ("v1.2", "v1.2"),
        (".txt", ".txt"),  # a name is never taken off whole
        (".run.gz", ".run"),
        ("gz", "gz"),
        ("été 'x'.parquet", "été 'x'"),
    ],
)
def test_a_run_is_named_after_its_file_without_known_endings(file: str, name: str) -> None:
    assert run_name(file) == name


def test_parts_of_a_data_set_are_named_with_their_revision() -> None:
    assert versioned("help", "2026-03") == "help@2026-03"
