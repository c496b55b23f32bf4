"""How cost grows with the number of words and of trees."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.samplers import trees_per_second
from benchmarks.scores import KINDS, uniform
from benchmarks.timing import print_table, seconds
from deptree_cli.core.sentence import Sentence
from deptree_cli.core.swor import ALGORITHMS

SIZES = (1, 10, 100, 1000, 10_000)
LENGTHS = (10, 20, 40, 80, 160)


def run() -> None:
    """Samplers by n and k; SWOR by k."""
    for kind in KINDS:
        columns = ("n", *(f"k = {size}" for size in SIZES))
        print_table(f"Microseconds per tree, auto, {kind} scores", columns, _by_size(kind))
    columns = ("algorithm", *(f"k = {size}" for size in SIZES[:4]))
    print_table("Microseconds per different tree, n = 14, uniform scores", columns, _swor())


def _by_size(kind: str) -> Iterator[list[object]]:
    for n in LENGTHS:
        sentence = KINDS[kind](n)
        yield [n, *(1e6 / trees_per_second("auto", sentence, size) for size in SIZES)]


def _swor() -> Iterator[list[object]]:
    scores = uniform(14).log_scores
    for name, line in ALGORITHMS.items():
        row: list[object] = [name]
        for size in SIZES[:4]:
            slow = name == "zmigrod" and size > 100
            row.append(None if slow else _per_tree(line.draw, scores, size))
        yield row


def _per_tree(draw: object, scores: np.ndarray, size: int) -> float:
    rng = np.random.default_rng(1)
    return seconds(lambda: draw(Sentence(scores), size, rng), repeats=1) / size * 1e6  # type: ignore[operator]
