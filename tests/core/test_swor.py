"""Trees without replacement: what all algorithms promise, and when cells are divided and tries made. Laws: tests/laws.

The partition tree draws those with crossing arcs, the derivation tree projective ones.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from deptree_cli.core import cells
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, PROJECTIVE_MULTI, SINGLE_ROOT, SPACES, TreeSpace
from deptree_cli.core.swor import ALGORITHMS, Draws, most_certain, size_for_mass
from deptree_cli.kernels import derivations
from tests.laws.test_swor import LEVEL, order_p_values
from tests.oracle import Oracle

IN_EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
EACH = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
SEQUENTIAL = [algorithm for algorithm in ALGORITHMS if algorithm.sequential]  # the others draw all trees at once
BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])

THREE = Draws(
    np.array([[0, 1], [2, 0], [0, 2]], dtype=np.int32),
    np.log([0.5, 0.25, 0.125]),
    np.array([1.0, 2.5, 7.0]),
    9.0,
    exhausted=False,
)


def test_mass():
    assert THREE.mass == pytest.approx(0.875)
    assert repr(THREE) == "<Draws: 3 distinct trees, mass=0.875, tau=9>"
    rounded_up = replace(THREE, log_probs=np.log([0.5, 0.25, 0.25 + 1e-15]), tau=np.inf, exhausted=True)
    assert rounded_up.mass == 1.0
    assert repr(rounded_up) == "<Draws: 3 distinct trees, mass=1, all there are>"


def test_the_first_are_draws_of_their_own():
    two = THREE.first(2)
    assert (two.heads.tolist(), two.arrivals.tolist(), two.tau) == ([[0, 1], [2, 0]], [1.0, 2.5], 7.0)
    every = replace(THREE, tau=np.inf, exhausted=True)
    assert every.first(3) is every.first(10) is every
    assert (every.first(2).tau, every.first(2).exhausted) == (7.0, False)


def test_times():
    assert (THREE.since, THREE.window) == (0.0, 9.0)
    two_certain = replace(THREE, certain=2)
    assert (two_certain.since, two_certain.window) == (2.5, 6.5)
    assert replace(two_certain, tau=np.inf).window == np.inf


def test_the_number_that_reaches_a_mass():
    assert [THREE.reach(mass) for mass in (0.1, 0.5, 0.6, 0.75, 0.8, 0.99)] == [1, 1, 2, 2, 3, 3]


@pytest.mark.parametrize(
    ("size", "most", "totals"),
    [
        (3, 0, {}),
        (5, 0, {}),
        (7, 2, {1: 6, 2: 7}),
        (12, 6, {1: 6, 5: 10, 6: 12}),
        (10_000, 5_000, {1: 6, 50: 55, 51: 57, 4_999: 5_499, 5_000: 10_000}),
    ],
)
def test_how_many_are_drawn(size, most, totals):
    """At least five and a tenth behind those that reach the mass; all, where half of them do not."""
    assert most_certain(size) == most
    assert {certain: size_for_mass(certain, size) for certain in totals} == totals
    assert all(size_for_mass(certain, size) <= size for certain in range(1, most + 1))


@EACH
@pytest.mark.parametrize(("mass", "size"), [(0.3, 64), (0.9, 64), (0.5, 12), (0.9, 12), (0.999, 7), (0.5, 5)])
def test_draws_to_a_mass_are_the_first_of_all(algorithm, mass, size, graphs):
    """The same trees at the same times; the fewest that reach the mass are certain, if half of all can."""
    distribution = graphs.distribution(graphs.gaussian(4, 2))
    for seed in range(5):
        first, plain = np.random.default_rng(seed), np.random.default_rng(seed)
        found = algorithm.draw(distribution, size, first, mass)
        every = algorithm.draw(distribution, size if not algorithm.sequential else 64, plain)
        reached = int((np.exp(every.log_probs).cumsum() < mass).sum()) + 1
        most = most_certain(size)
        assert found.certain == min(reached, most)
        assert len(found.heads) == (size_for_mass(found.certain, size) if most else size)
        expected = every.first(len(found.heads))
        assert np.array_equal(found.heads, expected.heads)
        assert (found.arrivals.tolist(), found.tau) == (expected.arrivals.tolist(), expected.tau)


@EACH
def test_all_trees_are_few(algorithm, graphs):
    """With the mass of all but the last of three trees, all three come."""
    draws = algorithm.draw(graphs.distribution(graphs.figure1()), 100, np.random.default_rng(1), 0.6)
    assert (len(draws.heads), draws.exhausted, draws.window) == (3, True, np.inf)
    assert draws.certain == 2


@EACH
@IN_EACH
def test_shape_type_and_probabilities(algorithm, trees, graphs):
    for n, size in [(1, 0), (3, 0), (15, 5)]:
        distribution = graphs.over(graphs.gaussian(n, 2), trees)
        draws = algorithm.draw(distribution, size, np.random.default_rng(1))
        assert (draws.heads.shape, draws.heads.dtype) == ((size, n), np.int32)
        assert draws.log_probs == pytest.approx(distribution.log_probs(draws.heads))
        assert trees.contains(draws.heads).all()
        assert len(np.unique(draws.heads, axis=0)) == size
        assert not draws.exhausted


@EACH
@IN_EACH
def test_the_stream_decides_everything(algorithm, trees, graphs):
    log_scores = graphs.gaussian(5)
    first, again, other = (
        algorithm.draw(graphs.over(log_scores, trees), 12, np.random.default_rng(seed)).heads for seed in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("algorithm", SEQUENTIAL, ids=lambda algorithm: algorithm.name)
@IN_EACH
@pytest.mark.parametrize("scale", [2, 15])
def test_fewer_trees_are_the_first_of_more(algorithm, trees, scale, graphs):
    distribution = graphs.over(graphs.gaussian(5, scale), trees)
    few, many = (algorithm.draw(distribution, size, np.random.default_rng(3)) for size in (4, 15))
    assert np.array_equal(few.heads, many.heads[:4])
    assert few.arrivals == pytest.approx(many.arrivals[:4], rel=1e-6)
    assert few.tau == pytest.approx(many.arrivals[4], rel=1e-6)


def draw(distribution: TreeDistribution, size: int, seed: int = 1) -> Draws:
    return cells.draw_auto(distribution, size, np.random.default_rng(seed))


HARD = {
    "flat": lambda graphs, n: graphs.gaussian(n),
    "times 200": lambda graphs, n: graphs.gaussian(n, 200, seed=3),
    "gap 100": lambda graphs, n: graphs.disconnected(n, 100.0),
}


@IN_EACH
@pytest.mark.parametrize(("repeats", "least"), [(0, 1e-6), (1, 0.999), (10, 1e-6), (50, 1e-12)])
@pytest.mark.parametrize("graph", HARD)
def test_what_is_left_is_the_mass_of_the_trees_not_drawn(graph, repeats, least, trees, graphs, monkeypatch):
    """To nine digits of itself (six in cells), however little it is, before every tree and after the last."""
    timed, told = Draws.timed, []

    def noting(heads: Any, log_probs: Any, log_left: Any, clock: Any) -> Draws:
        told.append(log_left.copy())
        return timed(heads, log_probs, log_left, clock)

    monkeypatch.setattr(cells, "TRIE_COST" if trees.projective else "REPEATS", repeats)
    monkeypatch.setattr(cells, "LEAST", least)
    monkeypatch.setattr(Draws, "timed", noting)
    draws = draw(graphs.over(HARD[graph](graphs, 4), trees), 200)
    left = np.logaddexp.accumulate(draws.log_probs[::-1])[::-1]
    digits = max(1e-9 if trees.projective else 1e-6, 4 * len(left) * 2.0**-53 / least)  # rounding at each of four words
    np.testing.assert_allclose(told[0][:-1], left, rtol=1e-13, atol=digits)
    assert told[0][-1] == -np.inf


@IN_EACH
@pytest.mark.parametrize("size", [64, 1000, 3000])
def test_memory_does_not_show(size, trees, graphs, monkeypatch):
    """It grows from room for two cells or slots."""
    distribution = graphs.over(graphs.gaussian(7 if trees.projective else 5, 3), trees)
    expected = draw(distribution, size)
    monkeypatch.setattr(cells, "SLOTS" if trees.projective else "CELLS", 2)
    assert np.array_equal(draw(distribution, size).heads, expected.heads)


@IN_EACH
def test_memory_is_not_read_before_it_is_written(trees, graphs, monkeypatch):
    """Over junk of two kinds; more trees than the first set of them holds."""
    distribution, empty, found = graphs.over(graphs.gaussian(7, 3), trees), np.empty, []
    for junk in (0, 7):

        def filled(*arguments: Any, junk: int = junk, **options: Any) -> np.ndarray:
            array = empty(*arguments, **options)
            array.fill(junk)
            return array

        monkeypatch.setattr(np, "empty", filled)
        found.append(draw(distribution, 1500))
    assert np.array_equal(found[0].heads, found[1].heads)
    assert np.array_equal(found[0].arrivals, found[1].arrivals)


@pytest.mark.parametrize(("trees", "n", "size"), [(SINGLE_ROOT, 100, 10_000), (PROJECTIVE, 40, 5_000)])
@pytest.mark.parametrize("scale", [1, 5, 15, 60])
def test_no_tree_twice_of_many(trees, n, size, scale, graphs):
    draws = draw(graphs.over(graphs.gaussian(n, scale), trees), size)
    assert len(np.unique(draws.heads, axis=0)) == len(draws.heads) == size


def improbable(graphs, trees: TreeSpace) -> TreeDistribution:
    """Three trees in four have less than e^-300, though its sums need no wide numbers."""
    log_scores = graphs.gaussian(4)
    log_scores[1:3, 3:] -= 400.0
    return graphs.over(log_scores, trees)


@IN_EACH
def test_from_float64_on_in_wide_numbers(trees, graphs):
    """The improbable trees come after all others, and in the order of their mass."""
    distribution = improbable(graphs, trees)
    assert not distribution.factorisation.is_wide
    draws = draw(distribution, 200)
    assert sorted(draws.heads.tolist()) == Oracle(distribution).trees.tolist()
    assert draws.log_probs.min() < -700
    assert (np.diff((draws.log_probs / 200).round()) <= 0).all()


def tries(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """The kinds of numbers in which tries are made."""
    made: Counter[str] = Counter()
    draw_from_trie = derivations.draw_from_trie

    def counting(grammar: Any, drawn: Any, left: Any, below: Any, cursor: Any) -> Any:
        made["WIDE" if isinstance(left, tuple) else "REAL"] += cursor[derivations.USED] == 1  # no nodes yet
        return draw_from_trie(grammar, drawn, left, below, cursor)

    monkeypatch.setattr(derivations, "draw_from_trie", counting)
    return made


def test_a_trie_is_made_where_repeats_pile_up_and_only_there(graphs, monkeypatch):
    made = tries(monkeypatch)
    draw(graphs.over(graphs.gaussian(30), PROJECTIVE), 2_000)
    assert not made
    draw(graphs.over(graphs.gaussian(30, 20), PROJECTIVE), 2_000)
    assert made == {"REAL": 1}
    draw(improbable(graphs, PROJECTIVE), 200)
    assert made == {"REAL": 2, "WIDE": 1}


@pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)
def test_the_time_of_the_next_tree_is_right_where_next_to_nothing_is_left(trees, graphs):
    """H0: what is left behind the best tree, e^-350 or less, times the time until the next one is Exp(1). The mean of
    500 is 1 within five standard errors, 5 / sqrt(500) = 0.22; float64 alone would say that no tree is left."""
    log_scores = graphs.uniform(3)
    log_scores[:, 1:] -= 400.0
    log_scores[0, 1] = log_scores[1, 2] = log_scores[2, 3] = 0.0
    distribution = graphs.over(log_scores, trees)
    log_left = np.logaddexp.reduce(np.sort(Oracle(distribution).log_probs)[:-1])
    assert -500 < log_left < -350
    draws = [draw(distribution, 1, seed) for seed in range(500)]
    waits = [np.exp(log_left) * (each.tau - each.arrivals[0]) for each in draws if not each.exhausted]
    assert len(waits) == 500
    assert np.mean(waits) == pytest.approx(1.0, abs=0.22)


def requests(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """What draws need, by name."""
    asked: Counter[str] = Counter()
    kernel = cells.kernel
    names = {getattr(kernel, name): name for name in ("DONE", "INSIDE", "DIVIDE")}
    draw_by_walk = kernel.draw_by_walk

    def counting(*arguments: Any) -> Any:
        needs = draw_by_walk(*arguments)
        asked[names[needs]] += 1
        return needs

    monkeypatch.setattr(kernel, "draw_by_walk", counting)
    return asked


@BOTH
def test_saturated_sentences_are_not_divided_level_by_level(single_root, graphs, monkeypatch):
    """Where mass is spread and no walk ends, every tree takes one draw inside a cell, and no cell is divided."""
    asked = requests(monkeypatch)
    trees = draw(graphs.distribution(graphs.saturated(40), single_root), 30).heads
    assert len(np.unique(trees, axis=0)) == 30
    assert asked["INSIDE"] == 30
    assert asked["DIVIDE"] == 0


def test_a_cell_is_divided_along_a_tree_at_once(graphs, monkeypatch):
    """Nearly all mass is on few trees: there are no more divisions than trees, each of which takes O(n^3)."""
    asked = requests(monkeypatch)
    trees = draw(graphs.distribution(graphs.gaussian(30, 100)), 40).heads
    assert len(np.unique(trees, axis=0)) == 40
    assert 0 < asked["DIVIDE"] <= 40


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("trees", [SINGLE_ROOT, MULTI_ROOT], ids=str)
@pytest.mark.parametrize(("tree", "repeats"), [(1, 0.0), (1, 1.0), (6, 0.0), (6, 1.0)])
def test_the_order_does_not_depend_on_when_walks_are_given_up(trees, tree, repeats, graphs, monkeypatch):
    """H0: as in tests/laws/test_swor.py. Walks are given up after one step, or after six, which about half of them
    need; trees then come from inside cells. Threshold 0.001 / (8 x pairs and triples)."""
    monkeypatch.setattr(cells, "TREE", tree / 4)  # for each of the words
    monkeypatch.setattr(cells, "FACTORS", 0.0)
    monkeypatch.setattr(cells, "REPEATS", repeats)
    distribution = graphs.over(graphs.gaussian(4, 2.5, seed=3), trees)
    assert min(order_p_values(ALGORITHMS.get("auto"), distribution)) > LEVEL / 16
