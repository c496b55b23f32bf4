"""The paper's own program for branching 3, which benchmarks compare with, against brute force."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest

from benchmarks.pruning.ternary.program import DirectTernary
from deptree_cli.core.dtypes import Bool
from tests.bitext.conftest import TOLERANCE, check_law
from tests.brute_derivations import Derivations, Grammar, Link, kept_bispans

Pins = dict[Link, bool]


def random_grammar(p: int, q: int, seed: int = 0) -> Grammar:
    """Gaussian weights of everything."""
    rng = np.random.default_rng([seed, p, q])
    bispans = rng.normal(size=(p + 1, p + 1, q + 1, q + 1))
    scores, source, target = (2 * rng.normal(size=shape) for shape in ((p, q), p, q))
    return Grammar(scores, source, target, 3, bispans)


def all_pins(p: int, q: int) -> Iterator[Pins]:
    """Every way to pin up to two links; those of one word exclude each other if both are positive."""
    links = [*product(range(p), range(q))]
    yield {}
    for a, b in product(links, repeat=2):
        yield from ({a: x, b: y} for x, y in product((False, True), repeat=2) if a != b or x == y)


def directly(grammar: Grammar) -> DirectTernary:
    return DirectTernary(grammar.scores, grammar.source_nulls, grammar.target_nulls, grammar.bispans)


def selection(pins: Pins, p: int, q: int) -> tuple[Bool, Bool]:
    """Which links are selected, and what is assigned: to those that are not, anything."""
    selected, assigned = np.zeros((p, q), dtype=np.bool_), np.random.default_rng(1).random((p, q)) < 0.5
    for link, positive in pins.items():
        selected[link], assigned[link] = True, positive
    return selected.ravel(), assigned.ravel()


@pytest.mark.slow("size")
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 3), (3, 1), (2, 2), (3, 2), (2, 3), (3, 3)])
def test_sums_under_masks(p, q) -> None:
    """One program runs under one mask after another, from none on; nothing may be left of the last."""
    grammar = random_grammar(p, q)
    program = directly(grammar)
    for pins in all_pins(p, q) if p + q < 6 else [*all_pins(p, q)][::5]:
        mask, derivations = program.compile(*selection(pins, p, q)), Derivations(grammar, pins)
        assert sorted(map(tuple, mask.kept.tolist())) == kept_bispans(p, q, pins)
        log_z, chart = program.inside(mask)
        if derivations.z == 0.0:
            assert log_z == -math.inf
            continue
        assert math.exp(log_z - derivations.log_partition) == pytest.approx(1.0, rel=TOLERANCE)
        assert program.outside(chart) == pytest.approx(derivations.marginals().ravel(), rel=TOLERANCE)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(
    ("p", "q", "pins"),
    [(2, 2, {}), (3, 3, {}), (2, 3, {(0, 2): True}), (3, 3, {(1, 0): True, (2, 2): False}), (3, 2, {(1, 1): False})],
)
def test_samples(p, q, pins) -> None:
    """H0: alignments are drawn with the probabilities of their derivations' sums. 10,000 draws, threshold 0.001 / 5.

    What an earlier mask has left is never drawn.
    """
    grammar = random_grammar(p, q, seed=1)
    program, rng = directly(grammar), np.random.default_rng([p, q])
    program.inside(program.everything())
    _, chart = program.inside(program.compile(*selection(pins, p, q)))
    drawn = np.array([program.sample(chart, rng) for _ in range(10_000)])
    check_law(drawn, Derivations(grammar, pins), 0.001 / 5)
