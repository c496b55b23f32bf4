"""What the tests of these kernels share: charts of a brute-force grammar in every kind of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from deptree_cli.bitext.kernels import TABLES, LinkWeights, SpanMask, inside, keep_around_links, new_ranges, spans_of
from deptree_cli.core.dtypes import Float
from deptree_cli.core.numbers import Kind
from tests.brute_itg import Grammar, Link


class Filled(NamedTuple):
    """A chart and what it was filled with."""

    weights: LinkWeights
    kept: SpanMask
    items: Any
    total: Any


def around(p: int, q: int, pins: list[Link]) -> SpanMask:
    """The ranges of bispans that no link crosses, by the kernel; links share no words."""
    target_of, source_of = np.full(p, -1), np.full(q, -1)
    for i, j in pins:
        target_of[i], source_of[j] = j, i
    kept = new_ranges(p, q)
    keep_around_links(target_of, source_of, kept)
    return kept


def weights_of(grammar: Grammar, exp: Callable[[Float], Any]) -> LinkWeights:
    """The weights of a grammar as numbers of some kind."""
    p, q = grammar.scores.shape
    bispans = np.empty((0, 0))
    if grammar.bispans is not None:
        (s, t), (u, v) = np.triu_indices(p + 1, 1), np.triu_indices(q + 1, 1)
        bispans = grammar.bispans[s[:, None], t[:, None], u, v]
    runs = np.zeros((p + 1, p + 1)), np.zeros((q + 1, q + 1))
    return LinkWeights(*map(exp, (grammar.scores, grammar.source_nulls, grammar.target_nulls, bispans, *runs)))


def filled(grammar: Grammar, kind: Kind) -> Filled:
    """The chart over all bispans, in which something is left from before."""
    p, q = grammar.scores.shape
    weights, kept = weights_of(grammar, kind.exp), around(p, q, [])
    items = kind.exp(np.full((TABLES, spans_of(p), spans_of(q)), 3.0))
    return Filled(weights, kept, items, inside(weights, kept, items, 1, p + 1))


@pytest.fixture(scope="session")
def itg_chart() -> Any:
    """A grammar and a kind of numbers -> its chart, filled."""
    return filled


@pytest.fixture(scope="session")
def around_links() -> Any:
    """p, q and links -> the ranges of bispans that they do not cross."""
    return around
