"""The greedy choice of bags that differ, beside the same choice written out with dense vectors."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.diversity import differing


def test_equals_come_last() -> None:
    assert differing([{"a": 1}, {"a": 2}, {"b": 1}], 2) == [0, 2]
    assert differing([{"a": 1}, {"a": 2}, {"b": 1}], 9) == [0, 2, 1]
    assert differing([{}, {"a": 1}], 2) == [0, 1]
    assert differing([], 3) == []


def test_beside_dense_vectors() -> None:
    """30 bags of 6 kinds, counts 0 to 3: all 30 in the same order as by plain loops."""
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 4, size=(30, 6)).astype(float)
    counts[:, 0] += 1
    units = counts / np.linalg.norm(counts, axis=1, keepdims=True)
    chosen: list[int] = []
    while len(chosen) < 30:
        worth = [
            (1 - at / 30) * (1 - max((min(units[at] @ units[other], 1) for other in chosen), default=0.0))
            for at in range(30)
        ]
        left = [at for at in range(30) if at not in chosen]
        chosen.append(max(left, key=lambda at: (round(worth[at], 9), -at)))
    bags = [{kind: int(count) for kind, count in enumerate(row) if count} for row in counts]
    assert differing(bags, 30) == chosen
