"""What a file of sentence pairs costs `deptree bitext expectations` by each method, and how right it is."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.program.whole import measure
from benchmarks.pruning.generated import PEAKED, problem
from benchmarks.table import Cell, Table
from benchmarks.timing import points, times
from deptree_cli.core.dtypes import Float

DRAWN = "randomized", "fixed", "rdp"
PAIRS, SHORTEST, LONGEST = times(100, 5), 5, 20
METHODS = points(
    ("exact", ""),
    ("tic-tac-toe", ""),
    ("rdp", "--iterations 10"),
    ("randomized", "--iterations 250"),
    ("fixed", ""),
)


def run() -> Iterator[Table]:
    """Processor seconds of the command; errors are roots of sums over a pair's links, on average and at worst."""
    with tempfile.TemporaryDirectory() as name:
        pairs = Path(name, "pairs.npz")
        np.savez(pairs, **{f"pair-{number}": _scores(number) for number in range(PAIRS)})
        exact = _expected(pairs, "exact", "")[1]
        columns = "`--method`", "seconds", "error", "worst error"
        title = f"{PAIRS} pairs of {SHORTEST} to {LONGEST} words, peaked scores"
        yield Table(title, columns, (_row(pairs, *method, exact) for method in METHODS))


def _scores(number: int) -> Float:
    """Log-scores of a pair's links, (p+1, q+1), those of unlinked words first."""
    rng = np.random.default_rng(number)
    p, q = rng.integers(SHORTEST, LONGEST + 1, size=2).tolist()
    pair = problem(rng, p, q, PEAKED)
    scores = np.zeros((p + 1, q + 1))
    scores[1:, 1:], scores[1:, 0], scores[0, 1:] = pair.scores, pair.source_nulls, pair.target_nulls
    return scores


def _expected(pairs: Path, method: str, settings: str) -> tuple[float, dict[str, Float]]:
    """The command's seconds, start included, and what it writes."""
    target = pairs.with_name("expectations.npz")
    reading = [str(pairs), "--null", "first", "--scale", "log"]
    computing = ["--method", method, *settings.split(), *(["--seed", "1"] if method in DRAWN else [])]
    spent, *_ = measure(["bitext", "expectations", *reading, *computing, "-q", "-o", str(target)])
    with np.load(target) as found:
        return spent, {name: found[name] for name in found.files}


def _row(pairs: Path, method: str, settings: str, exact: dict[str, Float]) -> list[Cell]:
    spent, found = _expected(pairs, method, settings)
    errors = [float(np.linalg.norm(found[name] - truth)) for name, truth in exact.items()]
    return [f"`{f'{method} {settings}'.strip()}`", spent, float(np.mean(errors)), max(errors)]
