"""log Z and marginals: elimination beside the Laplacian inverse (LAPACK), speed and error."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks import exact
from benchmarks.scores import uniform
from benchmarks.timing import print_table, seconds
from deptree_cli.core import matrix_tree
from deptree_cli.core.elimination import Elimination
from deptree_cli.core.sentence import Sentence

Float = NDArray[np.float64]

LENGTHS = (10, 20, 40, 70, 100)
SCALES = (1, 10, 20, 40, 80, 100)


def run() -> None:
    """Two tables: microseconds, and the worst error of a marginal."""
    columns = ("n", "elimination", "Laplacian inverse", "ratio")
    print_table("Microseconds for log Z and marginals, uniform scores", columns, _speed())
    columns = ("logit scale", "elimination", "Laplacian inverse")
    print_table("Worst error of a marginal, n = 15, Gaussian logits times a scale", columns, _errors())


def _speed() -> Iterator[list[object]]:
    for n in LENGTHS:
        ours = _microseconds(lambda scores: Elimination(scores).marginals(), n)
        theirs = _microseconds(matrix_tree.marginals, n)
        yield [n, ours, theirs, ours / theirs]


def _microseconds(marginals: Callable[[Float], Float], n: int) -> float:
    scores = uniform(n).log_scores
    return seconds(lambda: [marginals(scores) for _ in range(100)]) * 1e4


def _errors() -> Iterator[list[object]]:
    """Against multi-precision arithmetic; five random graphs a scale."""
    for scale in SCALES:
        ours, theirs = 0.0, 0.0
        for seed in range(5):
            scores = np.random.default_rng(seed).normal(size=(16, 16)) * scale
            sentence = Sentence.from_scores(scores, scale="log")
            truth = exact.marginals(sentence)
            ours = max(ours, float(np.abs(sentence.elimination.marginals() - truth).max()))
            theirs = max(theirs, _inverse_error(sentence, truth))
        yield [scale, ours, theirs]


def _inverse_error(sentence: Sentence, truth: Float) -> float:
    try:
        return float(np.abs(matrix_tree.marginals(sentence.log_scores) - truth).max())
    except np.linalg.LinAlgError:
        return float("inf")
