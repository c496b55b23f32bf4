"""What the tests of these kernels share: charts of a brute-force grammar in every kind of numbers, under pins."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from deptree_cli.core.numbers import Kind
from deptree_cli.kernels.itg.chart import Weights, inside
from deptree_cli.kernels.itg.masks import Kept, list_around_links, nothing_kept
from deptree_cli.kernels.itg.rules import TABLES
from deptree_cli.kernels.itg.spans import spans_of
from tests.brute_itg import Grammar, Link


class Filled(NamedTuple):
    """A chart and what it was filled with."""

    weights: Weights
    kept: Kept
    items: Any
    total: Any


def grammar_of(p: int, q: int, branching: int, seed: int = 0, holes: float = 0.0) -> Grammar:
    """Gaussian weights of everything, some of them 0."""
    rng = np.random.default_rng([seed, p, q])
    shapes = (p, q), (p,), (q,), (p + 1, p + 1, q + 1, q + 1)
    scores, source, target, bispans = (
        np.where(rng.random(shape) < holes, -np.inf, 2 * rng.normal(size=shape)) for shape in shapes
    )
    return Grammar(scores, source, target, branching, bispans)


def listed(p: int, q: int, pins: list[Link]) -> Kept:
    """The bispans that no link crosses, by the kernel; links share no words."""
    target_of, source_of = np.full(p, -1), np.full(q, -1)
    for i, j in pins:
        target_of[i], source_of[j] = j, i
    kept = nothing_kept(p, q, spans_of(p) * spans_of(q))
    list_around_links(target_of, source_of, kept)
    return kept


def filled(grammar: Grammar, kind: Kind, bare: bool = False) -> Filled:
    """The chart over all bispans; without their weights if bare."""
    p, q = grammar.scores.shape
    none = np.empty((0, 0))
    bispans = none
    if not bare and grammar.bispans is not None:
        (s, t), (u, v) = np.triu_indices(p + 1), np.triu_indices(q + 1)
        bispans = grammar.bispans[s[:, None], t[:, None], u, v]
    weights = Weights(*map(kind.exp, (grammar.scores, grammar.source_nulls, grammar.target_nulls, bispans, none)))
    kept, items = listed(p, q, []), kind.zeros((TABLES[grammar.branching], spans_of(p), spans_of(q)))
    return Filled(weights, kept, items, inside(weights, kept, items))


@pytest.fixture(scope="session")
def itg() -> Any:
    """(p, q, branching, seed, share of zeros) -> a grammar."""
    return grammar_of


@pytest.fixture(scope="session")
def itg_chart() -> Any:
    """A grammar and a kind of numbers -> its chart, filled."""
    return filled


@pytest.fixture(scope="session")
def around_links() -> Any:
    """p, q and links -> the list of bispans that they do not cross."""
    return listed
