"""Trees per second of every sampler."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.scores import KINDS
from benchmarks.timing import print_table, seconds
from deptree_cli.core.samplers import SAMPLERS

LENGTHS = (10, 20, 40, 100)
SIZE = 1000


def run() -> None:
    """A table per kind of scores."""
    for kind in KINDS:
        print_table(
            f"Trees per second, {kind} scores, k = {SIZE}", ("sampler", *(f"n = {n}" for n in LENGTHS)), _rows(kind)
        )


def _rows(kind: str) -> Iterator[list[object]]:
    for name, line in SAMPLERS.items():
        if line.serves(single_root=True):
            yield [name, *(_trees_per_second(name, kind, n) for n in LENGTHS)]


def _trees_per_second(name: str, kind: str, n: int) -> float:
    rng = np.random.default_rng(1)
    sentence = KINDS[kind](n)
    return SIZE / seconds(lambda: SAMPLERS[name].draw(sentence, SIZE, rng))
