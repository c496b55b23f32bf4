"""The links of the best derivation, by a chart of tropical numbers, against brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest

from deptree_cli.core.dtypes import Float
from deptree_cli.kernels.itg.best_links import best_place, follow
from deptree_cli.kernels.itg.chart import Weights, inside
from deptree_cli.kernels.itg.rules import TABLES
from deptree_cli.kernels.itg.spans import spans_of
from deptree_cli.kernels.numbers.tropical import Tropical
from tests.brute_itg import Derivations, targets_of


def tropical(*values: float) -> Tropical:
    return Tropical(np.array(values))


@pytest.mark.parametrize("branching", [2, 3])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (3, 1), (2, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_best_derivation(p: int, q: int, holes: float, branching: int, itg, around_links) -> None:
    """Its log-weight is at the top of the chart, its links are what is found."""
    for seed in range(3):
        grammar = itg(p, q, branching, seed, holes)
        (s, t), (u, v) = np.triu_indices(p + 1), np.triu_indices(q + 1)
        none: Float = np.empty((0, 0))
        bispans = grammar.bispans[s[:, None], t[:, None], u, v]
        weights = Weights(*map(Tropical, (grammar.scores, grammar.source_nulls, grammar.target_nulls, bispans, none)))
        items = Tropical(np.full((TABLES[branching], spans_of(p), spans_of(q)), -np.inf))
        kept, targets = around_links(p, q, []), np.empty(p, dtype=np.int32)
        total = inside(weights, kept, items).log
        exact = Derivations(grammar)
        if exact.z == 0.0:
            assert total == -math.inf
            continue
        log_weight, links = exact.best()
        assert total == pytest.approx(log_weight, rel=1e-12)
        follow(weights, kept, items, targets)
        assert tuple(targets.tolist()) == targets_of(links, p)


def test_the_first_of_the_largest_products() -> None:
    assert best_place(tropical(0.0, 1.0, 2.0, 3.0), tropical(0.0, 4.0, 3.0, -1.0)) == 1
    assert best_place(tropical(-math.inf, -2000.0), tropical(0.0, -2000.0)) == 1
