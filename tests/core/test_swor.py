"""Trees without replacement: what all algorithms promise, and when cells are divided and tries made; and the choices
that a tree is made of, against enumeration. Laws: tests/laws.

The partition tree draws trees with crossing arcs, the derivation tree projective ones.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from deptree_cli.core import cells
from deptree_cli.core import conditionals as module
from deptree_cli.core.conditionals import Conditionals, Derivations, choices_in, log_sum, pick
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, PROJECTIVE_MULTI, SINGLE_ROOT, SPACES
from deptree_cli.core.swor import ALGORITHMS, Draws, most_certain, size_for_mass
from deptree_cli.kernels import derivations
from tests.laws.test_samplers import counts_of
from tests.laws.test_swor import LEVEL, order_p_values
from tests.oracle import Oracle
from tests.pearson import chi_square

IN_EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
EACH = pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
SEQUENTIAL = [algorithm for algorithm in ALGORITHMS if algorithm.sequential]  # the others draw all trees at once

HEADS = np.array([[0, 1], [2, 0], [0, 2]], dtype=np.int32)
THREE = Draws(HEADS, np.log([0.5, 0.25, 0.125]), np.array([1.0, 2.5, 7.0]), 9.0, exhausted=False)


def test_draws_and_their_times():
    assert repr(THREE) == "<Draws: 3 distinct trees, mass=0.875, tau=9>"
    assert [THREE.reach(mass) for mass in (0.1, 0.5, 0.6, 0.75, 0.8, 0.99)] == [1, 1, 2, 2, 3, 3]
    two = THREE.first(2)
    assert (two.heads.tolist(), two.arrivals.tolist(), two.tau) == ([[0, 1], [2, 0]], [1.0, 2.5], 7.0)
    every = replace(THREE, log_probs=np.log([0.5, 0.25, 0.25 + 1e-15]), tau=np.inf, exhausted=True)
    assert (every.mass, repr(every)) == (1.0, "<Draws: 3 distinct trees, mass=1, all there are>")
    assert every.first(3) is every.first(10) is every
    assert (every.first(2).tau, every.first(2).exhausted) == (7.0, False)
    two_certain = replace(THREE, certain=2)
    assert (THREE.since, THREE.window) == (0.0, 9.0)
    assert (two_certain.since, two_certain.window) == (2.5, 6.5)
    assert replace(two_certain, tau=np.inf).window == np.inf


def test_how_many_are_drawn():
    """At least five and a tenth behind those that reach the mass; all, where half of them do not."""
    assert [most_certain(size) for size in (3, 5, 7, 12, 10_000)] == [0, 0, 2, 6, 5_000]
    assert [size_for_mass(certain, 12) for certain in range(1, 7)] == [6, 7, 8, 9, 10, 12]
    assert [size_for_mass(each, 10_000) for each in (1, 50, 51, 4_999, 5_000)] == [6, 55, 57, 5_499, 10_000]
    assert [size_for_mass(each, 7) for each in (1, 2)] == [6, 7]


@EACH
@pytest.mark.parametrize(("mass", "size"), [(0.3, 64), (0.9, 64), (0.5, 12), (0.9, 12), (0.999, 7), (0.5, 5)])
def test_draws_to_a_mass_are_the_first_of_all(algorithm, mass, size, graphs):
    distribution = graphs.distribution(graphs.gaussian(4, 2))
    for seed in range(5):
        first, plain = np.random.default_rng(seed), np.random.default_rng(seed)
        found = algorithm.draw(distribution, size, first, mass)
        every = algorithm.draw(distribution, size if not algorithm.sequential else 64, plain)
        reached = int((np.exp(every.log_probs).cumsum() < mass).sum()) + 1
        assert found.certain == min(reached, most_certain(size))
        assert len(found.heads) == (size_for_mass(found.certain, size) if most_certain(size) else size)
        expected = every.first(len(found.heads))
        assert np.array_equal(found.heads, expected.heads)
        assert (found.arrivals.tolist(), found.tau) == (expected.arrivals.tolist(), expected.tau)


@EACH
def test_all_trees_are_few(algorithm, graphs):
    draws = algorithm.draw(graphs.distribution(graphs.figure1()), 100, np.random.default_rng(1), 0.6)
    assert (len(draws.heads), draws.exhausted, draws.window) == (3, True, np.inf)
    assert draws.certain == 2


@EACH
@IN_EACH
def test_the_stream_decides_everything(algorithm, trees, graphs):
    for n, size in [(3, 0), (15, 5)]:
        distribution = graphs.over(graphs.gaussian(n, 2), trees)
        first, again, other = (algorithm.draw(distribution, size, np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert (first.heads.shape, first.heads.dtype, first.exhausted) == ((size, n), np.int32, False)
        assert first.log_probs == pytest.approx(distribution.log_probs(first.heads))
        assert np.array_equal(first.heads, again.heads)
        assert np.array_equal(first.heads, other.heads) == (size == 0)


@pytest.mark.parametrize("algorithm", SEQUENTIAL, ids=lambda algorithm: algorithm.name)
@IN_EACH
@pytest.mark.parametrize("scale", [2, 15])
def test_fewer_trees_are_the_first_of_more(algorithm, trees, scale, graphs):
    distribution = graphs.over(graphs.gaussian(5, scale), trees)
    few, many = (algorithm.draw(distribution, size, np.random.default_rng(3)) for size in (4, 15))
    assert np.array_equal(few.heads, many.heads[:4])
    assert few.arrivals == pytest.approx(many.arrivals[:4], rel=1e-6)
    assert few.tau == pytest.approx(many.arrivals[4], rel=1e-6)


def draw(distribution, size, seed=1):
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
    monkeypatch.setattr(cells, "TRIE_COST" if trees.projective else "REPEATS", repeats)
    monkeypatch.setattr(cells, "LEAST", least)
    monkeypatch.setattr(Draws, "timed", lambda *given: told.append(given[2].copy()) or timed(*given))
    draws = draw(graphs.over(HARD[graph](graphs, 4), trees), 200)
    left = np.logaddexp.accumulate(draws.log_probs[::-1])[::-1]
    digits = max(1e-9 if trees.projective else 1e-6, 4 * len(left) * 2.0**-53 / least)  # rounding at each of four words
    np.testing.assert_allclose(told[0][:-1], left, rtol=1e-13, atol=digits)
    assert told[0][-1] == -np.inf


@IN_EACH
@pytest.mark.parametrize("size", [64, 1500, 3000])
def test_memory_does_not_show(size, trees, graphs, monkeypatch):
    """It grows from room for two cells or slots, over junk of two kinds; more trees than the first set holds."""
    distribution, empty = graphs.over(graphs.gaussian(7 if trees.projective else 5, 3), trees), np.empty
    expected = draw(distribution, size)
    for junk in (0, 7):
        monkeypatch.setattr(np, "empty", lambda *shape, junk=junk, **how: np.full_like(empty(*shape, **how), junk))
        found = draw(distribution, size)
        assert np.array_equal(found.heads, expected.heads)
        assert np.array_equal(found.arrivals, expected.arrivals)
    monkeypatch.setattr(cells, "SLOTS" if trees.projective else "CELLS", 2)
    assert np.array_equal(draw(distribution, size).heads, expected.heads)


@pytest.mark.parametrize(("trees", "n", "size"), [(SINGLE_ROOT, 100, 10_000), (PROJECTIVE, 40, 5_000)])
@pytest.mark.parametrize("scale", [1, 5, 15, 60])
def test_no_tree_twice_of_many(trees, n, size, scale, graphs):
    draws = draw(graphs.over(graphs.gaussian(n, scale), trees), size)
    assert len(np.unique(draws.heads, axis=0)) == len(draws.heads) == size


def improbable(graphs, trees):
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


@pytest.fixture
def work(monkeypatch):
    """How often a cell was divided, a tree drawn inside one, and a trie made of numbers of a kind."""
    done = Counter()
    kernel, draw_by_walk, draw_from_trie = cells.kernel, cells.kernel.draw_by_walk, derivations.draw_from_trie

    def walk(*arguments):
        needs = draw_by_walk(*arguments)
        done.update(name for name in ("INSIDE", "DIVIDE") if getattr(kernel, name) == needs)
        return needs

    def trie(grammar, drawn, left, below, cursor):
        if cursor[derivations.USED] == 1:  # no nodes yet
            done["WIDE" if isinstance(left, tuple) else "REAL"] += 1
        return draw_from_trie(grammar, drawn, left, below, cursor)

    monkeypatch.setattr(kernel, "draw_by_walk", walk)
    monkeypatch.setattr(derivations, "draw_from_trie", trie)
    return done


def test_cells_are_divided_along_trees_and_only_where_few_have_nearly_all_mass(graphs, work):
    """Where mass is spread and no walk ends, every tree takes one draw inside a cell. A division takes O(n^3)."""
    for single_root in (True, False):
        trees = draw(graphs.distribution(graphs.saturated(40), single_root), 30).heads
        assert len(np.unique(trees, axis=0)) == 30
    assert work == {"INSIDE": 60}
    trees = draw(graphs.distribution(graphs.gaussian(30, 100)), 40).heads
    assert len(np.unique(trees, axis=0)) == 40
    assert 0 < work["DIVIDE"] <= 40


def test_a_trie_is_made_where_repeats_pile_up_and_only_there(graphs, work):
    draw(graphs.over(graphs.gaussian(30), PROJECTIVE), 2_000)
    assert not work
    draw(graphs.over(graphs.gaussian(30, 20), PROJECTIVE), 2_000)
    assert work == {"REAL": 1}
    draw(improbable(graphs, PROJECTIVE), 200)
    assert work == {"REAL": 2, "WIDE": 1}


@pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)
def test_the_time_of_the_next_tree_is_right_where_next_to_nothing_is_left(trees, graphs):
    """H0: what is left behind the best tree, e^-350 or less, times the time until the next one is Exp(1). The mean of
    500 is 1 within five standard errors, 5 / sqrt(500) = 0.22; float64 alone would say that no tree is left."""
    distribution = graphs.over(graphs.uniform(3) - 400.0 * (1 - np.eye(4, k=1)), trees)
    log_left = np.logaddexp.reduce(np.sort(Oracle(distribution).log_probs)[:-1])
    assert -500 < log_left < -350
    draws = [draw(distribution, 1, seed) for seed in range(500)]
    waits = [np.exp(log_left) * (each.tau - each.arrivals[0]) for each in draws if not each.exhausted]
    assert len(waits) == 500
    assert np.mean(waits) == pytest.approx(1.0, abs=0.22)


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


GRAPHS = {
    "flat": lambda graphs, n, trees: graphs.gaussian(n),
    "times 50": lambda graphs, n, trees: graphs.gaussian(n, 50),
    "saturated": lambda graphs, n, trees: graphs.saturated(n),
    **{f"gap {gap}": lambda graphs, n, trees, gap=gap: graphs.disconnected(n, gap) for gap in (100, 500, 1000, 1e5)},
    "holes": lambda graphs, n, trees: graphs.holes(n, 3, trees.single_root, 1.0, trees.projective),
    "one way": lambda graphs, n, trees: graphs.one_way(n, 3),
}


def sequences_of(choices, heads):
    prefixes = np.empty((1, 0), dtype=np.int64)
    for _ in range(choices.depth):
        above, choice = np.nonzero(np.isfinite(choices.log_probs_of_each(prefixes)))
        prefixes = np.column_stack([prefixes[above], choice])
    made = choices.heads_of_each(prefixes)
    order = np.lexsort(made.T[::-1])
    assert made[order].tolist() == heads.tolist()
    return prefixes[order]


@IN_EACH
@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("graph", GRAPHS)
def test_choices_against_enumeration(graph, n, trees, graphs):
    """Each tree is made by one sequence; the probability of each choice is that of all trees that agree up to it.

    A word's heads, and what leads from them to ROOT, are up to e^-200,000 apart.
    """
    distribution = graphs.over(GRAPHS[graph](graphs, n, trees), trees)
    oracle, choices = Oracle(distribution), choices_in(distribution)
    sequences = sequences_of(choices, oracle.trees)
    rounded = 1e-12 + 1e-15 * (1e5 if graph == "gap 100000.0" else 0)
    for prefix in {tuple(row[:length]) for row in sequences.tolist() for length in range(choices.depth)}:
        below = (sequences[:, : len(prefix)] == prefix).all(axis=1)
        total, found = np.logaddexp.reduce(oracle.log_probs[below]), choices.log_probs(prefix)
        for value in range(n + 1):
            part = below & (sequences[:, len(prefix)] == value)
            expected = np.logaddexp.reduce(oracle.log_probs[part], initial=-np.inf) - total
            assert found[value] == pytest.approx(expected, rel=1e-12, abs=rounded), (prefix, value)


def picked(choices, length, rng):
    prefix = ()
    while len(prefix) < length:
        prefix = (*prefix, pick(choices.log_probs(prefix), rng))
    return prefix


@IN_EACH
def test_a_branch_tells_the_probabilities_along_it(trees, graphs):
    distribution = graphs.over(graphs.gaussian(12, 10), trees)
    choices, rng = choices_in(distribution), np.random.default_rng(4)
    for _ in range(5):
        begun = picked(choices, 7, rng)
        log_probs, chosen = choices.branch(begun, rng)
        sequence = (*begun, *chosen.tolist())
        each = np.array([choices.log_probs(sequence[:done]) for done in range(choices.depth)])
        np.testing.assert_allclose(log_probs, each[7:], rtol=1e-13, atol=1e-13)
        along = each[range(choices.depth), sequence].sum()
        heads = choices.heads_of_each(np.array([sequence]))[0]
        assert along == pytest.approx(distribution.log_prob(heads), abs=1e-11)


@pytest.mark.parametrize("trees", [PROJECTIVE, PROJECTIVE_MULTI], ids=lambda trees: trees.name)
def test_branches_follow_the_distribution(trees, graphs):
    """H0: all choices at once make independent draws from the distribution. 4,000 trees of 4 words, chi-square, rare
    ones pooled until expected five times; threshold 0.001 / 2."""
    distribution = graphs.over(graphs.gaussian(4, 1.5, seed=2), trees)
    oracle, choices, rng = Oracle(distribution), Derivations(distribution), np.random.default_rng(3)
    drawn = choices.heads_of_each(np.array([choices.branch((), rng)[1] for _ in range(4_000)]))
    assert chi_square(counts_of(drawn, oracle.trees), np.exp(oracle.log_probs))[2] > 0.001 / 2


@IN_EACH
def test_many_prefixes_at_once(trees, graphs):
    choices, rng = choices_in(graphs.over(graphs.disconnected(5, 400.0), trees)), np.random.default_rng(2)
    prefixes = np.array([picked(choices, 3, rng) for _ in range(20)])
    found = choices.log_probs_of_each(prefixes)
    assert np.array_equal(found, np.array([choices.log_probs(tuple(prefix)) for prefix in prefixes.tolist()]))


@pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
@pytest.mark.parametrize("log_gap", [0.0, 150.0, 400.0, 1000.0])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_what_prefixes_share_changes_no_probability(n, log_gap, single_root, graphs):
    """Prefixes are dropped, doubled and exchanged at random; a deep gap takes them to wide numbers on the way."""
    log_scores, rng = graphs.gaussian(n, 3, seed=n), np.random.default_rng(n)
    ahead = np.arange(1, n + 1) > n // 2
    log_scores[1:, 1:] -= log_gap * (ahead != ahead[:, None])
    conditionals = Conditionals(graphs.distribution(log_scores, single_root))
    beam = conditionals.beam(7)
    assert isinstance(beam, module.HeadPaths)
    prefixes, above = np.empty((1, 0), dtype=np.int64), np.zeros(1, dtype=np.int64)
    for _ in range(n):
        log_probs = beam(prefixes, above)
        np.testing.assert_allclose(log_probs, conditionals.log_probs_of_each(prefixes), rtol=1e-12, atol=1e-12)
        possible = np.argwhere(np.isfinite(log_probs))
        above, values = possible[rng.choice(len(possible), min(7, len(possible)), replace=False)].T
        prefixes = np.column_stack([prefixes[above], values])
    assert prefixes.shape[1] == n


def test_without_enough_memory_each_goes_by_itself(monkeypatch, graphs):
    monkeypatch.setattr(module, "MOST_NUMBERS", 1000)
    conditionals, prefixes = Conditionals(graphs.distribution(graphs.uniform(4), True)), np.array([[1], [2]])
    beam = conditionals.beam(100)
    assert not isinstance(beam, module.HeadPaths)
    assert np.array_equal(beam(prefixes, np.zeros(2, dtype=np.int64)), conditionals.log_probs_of_each(prefixes))


@pytest.mark.parametrize("number", [0.0, 0.3, 1 - 2**-53])
def test_a_choice_of_weight_0_is_never_picked(number):
    """Not if rounding leaves something over of the sum, either."""
    many = [[*np.random.default_rng(seed).normal(size=50), -np.inf] for seed in range(20)]
    for log_weights in ([-np.inf, 0, -np.inf, -1, -np.inf], [-np.inf, -5000.0], [0, -1e-16, -np.inf], *many):
        assert np.isfinite(log_weights[pick(np.array(log_weights), SimpleNamespace(random=lambda: number))])


def test_picks_follow_their_weights():
    """H0: an index comes in proportion to exp(weight). 20,000 draws of (0.2, 0, 0.8): the first within five standard
    deviations, 5 * sqrt(0.16 / 20,000) = 0.0142, which chance misses once in two million."""
    log_weights, rng = np.array([np.log(2), -np.inf, np.log(8)]) - 3000, np.random.default_rng(5)
    picks = np.bincount([pick(log_weights, rng) for _ in range(20_000)], minlength=3)
    assert picks[1] == 0
    assert abs(picks[0] / 20_000 - 0.2) < 0.0142


@IN_EACH
def test_what_is_left_in_a_trie_is_the_mass_of_the_trees_not_drawn(trees, graphs):
    distribution = graphs.over(graphs.gaussian(3, 60), trees)
    oracle, choices, rng = Oracle(distribution), choices_in(distribution), np.random.default_rng(1)
    root = module.Node(choices.log_probs(()))
    left = {tuple(tree): log_prob for tree, log_prob in zip(oracle.trees.tolist(), oracle.log_probs, strict=True)}
    while left:
        assert log_sum(root.log_left) == pytest.approx(np.logaddexp.reduce(list(left.values())), rel=1e-12, abs=1e-11)
        path = module.draw_new(root, choices.depth, rng, lambda prefix: zip(*choices.branch(prefix, rng), strict=True))
        left.pop(tuple(choices.heads_of_each(np.array([module.choices_of(path)]))[0].tolist()))
    assert log_sum(root.log_left) == -np.inf


@IN_EACH
@pytest.mark.parametrize("safe_share", [0.0, 1e-6, 1.1])
def test_subtracting_and_summing_agree_on_flat_scores(safe_share, trees, graphs, monkeypatch):
    """A threshold of 0 always subtracts, one above 1 never; the trees drawn are the same."""
    distribution = graphs.over(graphs.gaussian(4), trees)
    expected = module.draw_zmigrod(distribution, 25, np.random.default_rng(1)).heads
    monkeypatch.setattr(module, "SAFE_SHARE", safe_share)
    assert np.array_equal(module.draw_zmigrod(distribution, 25, np.random.default_rng(1)).heads, expected)
