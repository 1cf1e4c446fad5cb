"""A large TREC run read, checked, scored and stored, beside what its peers take to read and score it.

    pip install -e '.[bench]' && python benchmarks/large_file.py [--queries N] [--results N] [--only NAME ...]

Every contestant is a process of its own, which reads the same files and computes the same metrics at the same
cutoffs. What is measured is its wall time without the start of Python, and its peak memory. rankroom also
checks and stores. trec_eval takes part where it is on the PATH.
"""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

CUTOFFS = (1, 3, 5, 10, 20, 50, 100)


def make_files(folder: Path, queries: int, results: int) -> None:
    """run.txt and qrels.txt: unique documents, scores of six decimals, one relevant document a query."""
    con = duckdb.connect()
    con.execute("set enable_progress_bar = false")
    con.execute("select setseed(0.5)")
    one_in = results * 3 // 2  # a third of the relevant documents were never retrieved
    con.execute(
        f"""
        copy (
            select q, 'Q0', d * 8800 + hash(q + d) % 8800 as doc_id,
                   row_number() over (partition by q order by s desc) as rank, s, 'made'
            from (select q, d, round(100 * random(), 6) as s
                  from range(1000000, 1000000 + {queries}) t(q), range({results}) u(d))
            order by q, rank
        ) to '{folder}/run.txt' (format csv, delimiter ' ', header false, quote '')
        """
    )
    con.execute(
        f"""
        copy (select q, 0, d * 8800 + hash(q + d) % 8800, 1
              from (select q, (q * 7919) % {one_in} as d from range(1000000, 1000000 + {queries}) t(q)))
        to '{folder}/qrels.txt' (format csv, delimiter ' ', header false, quote '')
        """
    )


def bare_read_csv(folder: Path) -> None:
    con = duckdb.connect()
    con.execute("set preserve_insertion_order = false")
    con.execute(
        f"""
        create table run as from read_csv(
            '{folder}/run.txt', delim = ' ', header = false, auto_detect = false, quote = '',
            columns = {{'query_id': 'VARCHAR', 'q0': 'VARCHAR', 'doc_id': 'VARCHAR', 'rank': 'INTEGER',
                       'score': 'DOUBLE', 'tag': 'VARCHAR'}})
        """
    )


def rankroom(folder: Path) -> None:
    from rankroom.add import add_trec
    from rankroom.store import Store

    add_trec(
        Store(folder / "bench.duckdb"), [folder / "run.txt"], labels=folder / "qrels.txt", dataset="bench"
    )


def pytrec_eval(folder: Path) -> None:
    import pytrec_eval as peer

    with (folder / "qrels.txt").open() as qrels, (folder / "run.txt").open() as run:
        labels, ranking = peer.parse_qrel(qrels), peer.parse_run(run)
    cut = ",".join(map(str, CUTOFFS))
    measures = {f"{m}.{cut}" for m in ("success", "recall", "P", "map_cut", "ndcg_cut")} | {
        "map",
        "ndcg",
        "recip_rank",
        "Rprec",
    }
    peer.RelevanceEvaluator(labels, measures).evaluate(ranking)


def ir_measures(folder: Path) -> None:
    import ir_measures as peer
    from ir_measures import AP, RR, Judged, P, R, Rprec, Success, nDCG

    at = [m @ k for k in CUTOFFS for m in (nDCG, AP, P, R, Success, RR, Judged)]
    labels = list(peer.read_trec_qrels(str(folder / "qrels.txt")))
    for _ in peer.iter_calc([*at, nDCG, AP, RR, Rprec], labels, peer.read_trec_run(str(folder / "run.txt"))):
        pass


def ranx(folder: Path) -> None:
    import ranx as peer

    labels = peer.Qrels.from_file(str(folder / "qrels.txt"), kind="trec")
    run = peer.Run.from_file(str(folder / "run.txt"), kind="trec")
    names = ("hit_rate", "recall", "precision", "map", "mrr", "ndcg", "ndcg_burges")
    peer.evaluate(
        labels,
        run,
        [f"{m}@{k}" for m in names for k in CUTOFFS] + ["map", "mrr", "ndcg", "r-precision"],
        make_comparable=True,
    )


def trec_eval(folder: Path) -> None:
    cut = ",".join(map(str, CUTOFFS))
    measures = [f"{m}.{cut}" for m in ("success", "recall", "P", "map_cut", "ndcg_cut")] + [
        "map",
        "ndcg",
        "recip_rank",
        "Rprec",
    ]
    options = [part for measure in measures for part in ("-m", measure)]
    with (folder / "out.txt").open("w") as out:
        subprocess.run(
            ["trec_eval", "-q", "-c", *options, folder / "qrels.txt", folder / "run.txt"],
            stdout=out,
            check=True,
        )


CONTESTANTS: dict[str, Callable[[Path], None]] = {
    one.__name__: one for one in (bare_read_csv, rankroom, trec_eval, pytrec_eval, ir_measures, ranx)
}


def measure(name: str, folder: Path) -> tuple[float, float]:
    """Seconds and peak MiB of one contestant in a process of its own."""
    for left in folder.glob("bench.duckdb*"):
        left.unlink()
    result = subprocess.run(
        [sys.executable, __file__, "--run", name, str(folder)], capture_output=True, text=True, check=False
    )
    if result.returncode:
        raise SystemExit(f"{name} failed:\n{result.stderr}")
    seconds, peak = json.loads(result.stdout.splitlines()[-1])
    return seconds, peak


def run_one(name: str, folder: Path) -> None:
    start = time.perf_counter()
    CONTESTANTS[name](folder)
    seconds = time.perf_counter() - start
    who = resource.RUSAGE_CHILDREN if name == "trec_eval" else resource.RUSAGE_SELF
    print(json.dumps([seconds, resource.getrusage(who).ru_maxrss / 1024]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=6980)
    parser.add_argument("--results", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=3, help="the best of so many is printed")
    parser.add_argument("--only", nargs="*", choices=CONTESTANTS, default=list(CONTESTANTS))
    parser.add_argument("--run", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.make:
        return make_files(Path(asked.make), asked.queries, asked.results)
    if asked.run:
        return run_one(asked.run[0], Path(asked.run[1]))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: the peak memory of this one would be taken for that of every contestant.
        subprocess.run([sys.executable, *sys.argv, "--make", name], check=True)
        size = (folder / "run.txt").stat().st_size / 2**20
        print(f"{asked.queries:,} queries x {asked.results:,} results, {size:.0f} MiB")
        print(f"{'':15} {'seconds':>8} {'MiB':>6} {'x rankroom':>11}")
        ours: float | None = None
        for contestant in asked.only:
            if contestant == "trec_eval" and not shutil.which("trec_eval"):
                print(f"{contestant:15} not on the PATH")
                continue
            seconds, peak = min(measure(contestant, folder) for _ in range(asked.repeat))
            ours = seconds if contestant == "rankroom" else ours
            print(
                f"{contestant:15} {seconds:8.2f} {peak:6.0f} {f'{seconds / ours:11.2f}' if ours else '':>11}",
                flush=True,
            )


if __name__ == "__main__":
    main()
