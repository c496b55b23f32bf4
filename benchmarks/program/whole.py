"""The whole program as a user runs it: processor seconds, wall seconds and peak memory of the command."""

from __future__ import annotations

import compileall
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO

import numpy as np

import deptree_cli
from benchmarks.corpora import UnavailableError, corpus
from benchmarks.scores import peaked
from benchmarks.table import Cell, Table
from benchmarks.timing import points, times

SENTENCES = times(2001, 20)
STREAMS = points(10_000, 100_000, 1_000_000)
COLUMNS = ("command", "CPU s", "wall s", "peak MB")

Figures = list[float]


def run() -> Iterator[Table]:
    """Start-up, a treebank, and memory over long streams."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield Table("start-up and first compilation", COLUMNS, _start(folder))
        yield Table(f"{SENTENCES:,} sentences, 100 trees each", COLUMNS, _treebank(folder))
        yield Table("a stream of sentences of 5 words on standard input, one tree each", COLUMNS, _streams())


# A process starts with the high-water mark of the one it was forked from, so a small one stands in between.
LAUNCHER = """
import json, resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL)
assert str(done.returncode) in sys.argv[1].split(",")
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / 1024]))
"""


def measure(
    arguments: list[str],
    environment: dict[str, str] | None = None,
    stdin: IO[bytes] | None = None,
    accepted: tuple[int, ...] = (0,),
) -> Figures:
    """A row: the command's processor and wall seconds, and its peak memory (of its largest process).

    accepted: its exit statuses that are no failure.
    """
    _compile()
    statuses = ",".join(map(str, accepted))
    command = [sys.executable, "-S", "-c", LAUNCHER, statuses, sys.executable, "-m", "deptree_cli", *arguments]
    done = subprocess.run(
        command, stdin=stdin, stdout=subprocess.PIPE, env=os.environ | (environment or {}), check=True
    )
    figures: Figures = json.loads(done.stdout)
    return figures


@cache
def _compile() -> None:
    """Compile the package to bytecode, as pip does: Python may not be allowed to write what it compiles at a start."""
    compileall.compile_dir(Path(deptree_cli.__file__).parent, quiet=1)


def _start(folder: Path) -> Iterator[list[Cell]]:
    yield ["deptree --help", *measure(["--help"])]
    one = ["sample", "sample_data/one.npy", "-k", "100", "--seed", "1", "-q"]
    compiled = {"NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    yield ["sample -k 100, one sentence, by Python", *measure(one, {"NUMBA_DISABLE_JIT": "1"})]
    yield ["by machine code, nothing compiled yet", *measure(one, compiled)]
    yield ["the same again", *measure(one, compiled)]


def _treebank(folder: Path) -> Iterator[list[Cell]]:
    scores, conllu = treebank(folder)
    common = ["sample", scores, "--from", "natasha", "-k", "100", "--seed", "1", "-q"]
    for jobs in ("1", "2"):
        target = ["-o", str(folder / "out.conllu"), "--conllu", conllu, "--jobs", jobs]
        yield [f"to CoNLL-U, --jobs {jobs}", *measure(common + target)]
        yield [f"to JSON Lines, --jobs {jobs}", *measure([*common, "-o", str(folder / "out.jsonl"), "--jobs", jobs])]
    yield ["heads alone, .npz", *measure([*common, "-o", str(folder / "out.npz")])]
    yield ["marginals, .npz", *measure(["marginals", scores, "--from", "natasha", "-q", "-o", str(folder / "m.npz")])]


def treebank(folder: Path) -> tuple[str, str]:
    """The English scores and sentences where they are at hand, else peaked ones of the same lengths."""
    return _real() or _generated(folder)


def _real() -> tuple[str, str] | None:
    try:
        folder = corpus("real_en")
    except UnavailableError:
        return None
    return str(folder / "scores.npz"), str(folder / "sentences.conllu")


def _generated(folder: Path) -> tuple[str, str]:
    rng = np.random.default_rng(0)
    lengths = np.minimum(75, 1 + rng.geometric(1 / 11.5, SENTENCES)).tolist()
    matrices = {f"s{i}": peaked(n, seed=i).log_scores[:, 1:].T.astype(np.float32) for i, n in enumerate(lengths)}
    np.savez(folder / "scores.npz", **matrices)
    word = "{0}\tword{0}\tlemma\tNOUN\t_\tCase=Nom|Number=Sing\t_\t_\t_\t_\n"
    blocks = (f"# sent_id = s{i}\n" + "".join(word.format(w) for w in range(1, n + 1)) for i, n in enumerate(lengths))
    (folder / "sentences.conllu").write_text("\n".join(blocks) + "\n", encoding="utf-8")
    return str(folder / "scores.npz"), str(folder / "sentences.conllu")


def _streams() -> Iterator[list[Cell]]:
    for length in STREAMS:
        source = subprocess.Popen([sys.executable, "-c", GENERATOR, str(length)], stdout=subprocess.PIPE)
        yield [f"{length:,} sentences", *measure(["sample", "-", "-k", "1", "--seed", "1", "-q"], stdin=source.stdout)]
        source.wait()


LINES = [json.dumps(np.random.default_rng(seed).random((6, 6)).round(3).tolist()) for seed in range(20)]
GENERATOR = f"""
import sys
lines = {LINES!r}
for i in range(int(sys.argv[1])):
    sys.stdout.write('{{"sent_id":"s%d","scores":%s}}\\n' % (i, lines[i % 20]))
"""
