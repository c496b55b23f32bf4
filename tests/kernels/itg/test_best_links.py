"""The best alignment, by a chart of tropical numbers, against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deptree_cli.kernels.itg.best_links import follow
from deptree_cli.kernels.itg.chart import TABLES, inside
from deptree_cli.kernels.itg.spans import spans_of
from deptree_cli.kernels.numbers.tropical import Tropical
from tests.brute_itg import Alignments, targets_of


@pytest.mark.parametrize(("p", "q"), [(p, q) for p in range(1, 6) for q in range(1, 6)])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_best_alignment(p: int, q: int, holes: float, itg, itg_weights, around_links) -> None:
    """Its log-weight is what the chart sums up to, its links are what is found."""
    for seed in range(2):
        grammar = itg(p, q, seed, holes)
        weights, kept = itg_weights(grammar, Tropical), around_links(p, q, [])
        items = Tropical(np.full((TABLES, spans_of(p), spans_of(q)), 1e9))
        total, exact = inside(weights, kept, items, 1, p + 1).log, Alignments(grammar)
        if not exact.count:
            assert total == -math.inf
            continue
        log_weight, links = exact.best()
        assert total == pytest.approx(log_weight, rel=1e-12, abs=1e-12)
        targets = np.empty(p, dtype=np.int32)
        follow(weights, kept, items, targets)
        assert tuple(targets.tolist()) == targets_of(links, p)
