"""Every exact SWOR algorithm of the register against exact order probabilities, and down to the last tree; and wrong
ones that have to be caught. The same of labelled trees."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from deptree_cli.core import cells
from deptree_cli.core.conditionals import Conditionals, Prefix, draw_labelled
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.estimate import weights
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, PROJECTIVE_MULTI, SINGLE_ROOT, SPACES
from deptree_cli.core.streams import sentence_stream
from deptree_cli.core.swor import ALGORITHMS, Algorithm, Draws, most_certain, size_for_mass
from tests.laws.test_samplers import called, counts_of
from tests.oracle import Oracle
from tests.pearson import chi_square

pytestmark = pytest.mark.laws

LEVEL = 0.001
RUNS = 1_500
EXACT = [algorithm for algorithm in ALGORITHMS if algorithm.exact]
EACH = pytest.mark.parametrize("algorithm", EXACT, ids=lambda algorithm: algorithm.name)
IN_EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
ORDERED = [
    ("uniform", 3, SINGLE_ROOT),
    ("peaked", 3, SINGLE_ROOT),
    ("saturated", 4, SINGLE_ROOT),
    ("holes", 4, SINGLE_ROOT),
    ("uniform", 2, MULTI_ROOT),
    ("peaked", 3, MULTI_ROOT),
    ("saturated", 3, MULTI_ROOT),
    ("uniform", 3, PROJECTIVE),
    ("peaked", 3, PROJECTIVE_MULTI),
]
MORE_RUNS = {("uniform", 3, SINGLE_ROOT): 3_000}  # so many make each of its 504 triples expected five times
TESTS = len(ORDERED) * len(EXACT) * 2  # pairs and triples


def ordered_graph(graphs, graph, n, trees):
    log_scores = {
        "uniform": lambda: graphs.uniform(n),
        "peaked": lambda: graphs.gaussian(n, 2, seed=3),
        "saturated": lambda: graphs.saturated(n),
        "holes": lambda: graphs.holes(n, 3, trees.single_root),
        "far apart": lambda: graphs.disconnected(n, 1000.0, seed=1),
    }[graph]()
    return graphs.over(log_scores, trees)


def pair_probabilities(probs):
    """P(first a, then b) = p_a * p_b / (1 - p_a), [a, b]; what is left is summed, not subtracted."""
    others = 1.0 - np.eye(len(probs))
    return (probs / (others @ probs))[:, None] * probs * others


def triple_probabilities(probs):
    """P(first a, then b, then c) = P(a, b) * p_c / (1 - p_a - p_b), [a, b, c]."""
    others = 1.0 - np.eye(len(probs))
    left = np.einsum("ac,bc,c->ab", others, others, probs) + np.eye(len(probs))
    return (pair_probabilities(probs) / left)[:, :, None] * probs * others[:, None] * others[None]


def order_p_values(algorithm, distribution, runs=RUNS):
    oracle, rng = Oracle(distribution), np.random.default_rng(5000)
    probs, p_values = np.exp(oracle.log_probs), []
    number = {tuple(tree): index for index, tree in enumerate(oracle.trees.tolist())}
    drawn = (algorithm.draw(distribution, 3, rng).heads.tolist() for _ in range(runs))
    draws = np.array([[number[tuple(tree)] for tree in run] for run in drawn])
    for orders in (pair_probabilities(probs), triple_probabilities(probs)):
        possible = orders.ravel() > 0
        flat = np.ravel_multi_index(tuple(draws[:, : orders.ndim].T), orders.shape)
        counts = np.bincount(flat, minlength=orders.size)
        assert counts[~possible].sum() == 0  # no tree twice
        p_values.append(chi_square(counts[possible], orders.ravel()[possible])[2])
    return p_values


@pytest.mark.slow("statistics")
@EACH
@pytest.mark.parametrize(("graph", "n", "trees"), ORDERED, ids=called)
def test_trees_come_in_the_order_of_first_meetings(algorithm, graph, n, trees, graphs):
    """H0: the first two (three) trees are a, b(, c) with probability p_a * p_b / (1 - p_a) (* p_c / (1 - p_a - p_b)).

    Chi-square over ordered pairs and over ordered triples, rare ones pooled until expected five times. 1,500 runs: at
    n = 3 uniform each of the 7 * 6 * 5 = 210 triples of projective trees is expected seven times; of all trees 3,000,
    each of the 9 * 8 * 7 = 504 triples six times. Threshold: 0.001 / (9 graphs x 2 lengths x algorithms), for four
    algorithms 0.001 / 72.
    """
    runs = MORE_RUNS.get((graph, n, trees), RUNS)
    for p_value in order_p_values(algorithm, ordered_graph(graphs, graph, n, trees), runs):
        assert p_value > LEVEL / TESTS


def in_order_of(power, right):
    """A wrong algorithm: trees come in proportion to a power of their probability, all but the first `right` ones."""

    def draw(distribution, size, rng, mass):
        oracle = Oracle(distribution)
        left, chosen = np.exp(oracle.log_probs), []
        for place in range(size):
            weights = left if place < right else left**power
            chosen.append(int(rng.choice(len(weights), p=weights / weights.sum())))
            left[chosen[-1]] = 0.0
        return Draws(oracle.trees[chosen], oracle.log_probs[chosen], np.arange(float(size)), float(size), False)

    return Algorithm(f"power {power}", draw, "", "")


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("right", [0, 1])
def test_a_wrong_order_is_caught(right, graphs):
    """H0 of the test above is false: trees come in proportion to the square roots of their probabilities, all of them,
    or all but the first.

    3 words, peaked; 1,500 runs; over ordered pairs 5 degrees of freedom are left and the noncentrality is 1,550 (780
    where the first tree is right), while the threshold 0.001 / 72 asks for 30: missed with probability < 1e-100. The
    same with the power 1 is not caught.
    """
    distribution = ordered_graph(graphs, "peaked", 3, SINGLE_ROOT)
    assert max(order_p_values(in_order_of(0.5, right), distribution)) < LEVEL / TESTS
    assert min(order_p_values(in_order_of(1.0, right), distribution)) > LEVEL / TESTS


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(
    ("repeats", "least", "graph"),
    [(0, 1e-6, "peaked"), (0, 1e-6, "far apart"), (1, 0.9, "peaked"), (30, 1e-9, "peaked")],
    ids=["trie", "trie of wide numbers", "low", "high"],
)
@IN_EACH
def test_the_order_does_not_depend_on_when_repeats_are_too_many(repeats, least, graph, trees, graphs, monkeypatch):
    """H0 as above, for `auto` with its thresholds forced low and high. Threshold 0.001 / (4 x tree spaces x pairs and
    triples)."""
    monkeypatch.setattr(cells, "TRIE_COST" if trees.projective else "REPEATS", repeats)
    monkeypatch.setattr(cells, "LEAST", least)
    for p_value in order_p_values(ALGORITHMS.get("auto"), ordered_graph(graphs, graph, 3, trees)):
        assert p_value > LEVEL / (8 * len(SPACES))


@pytest.mark.slow("statistics")
@EACH
@IN_EACH
def test_the_first_tree_is_a_plain_draw(algorithm, trees, graphs):
    """H0: the first tree follows the distribution. Chi-square over the trees of 4 words, rare ones pooled until
    expected five times; 1,500 runs; threshold 0.001 / (algorithms x tree spaces), for four 0.001 / 16. Trees drawn in
    proportion to their square roots make the noncentrality 890 or more, while the threshold asks for 62 to 168."""
    distribution = graphs.over(graphs.gaussian(4, seed=9), trees)
    oracle, rng = Oracle(distribution), np.random.default_rng(7000)
    heads = np.concatenate([algorithm.draw(distribution, 1, rng).heads for _ in range(RUNS)])
    p_value = chi_square(counts_of(heads, oracle.trees), np.exp(oracle.log_probs))[2]
    assert p_value > LEVEL / (len(SPACES) * len(EXACT))


HARD = {
    "flat": lambda graphs, n, trees: graphs.gaussian(n),
    "times 50": lambda graphs, n, trees: graphs.gaussian(n, 50, seed=1),
    "times 300": lambda graphs, n, trees: graphs.gaussian(n, 300, seed=2),
    "saturated": lambda graphs, n, trees: graphs.saturated(n),
    "gap 27.6": lambda graphs, n, trees: graphs.disconnected(n, 27.6),
    "gap 100": lambda graphs, n, trees: graphs.disconnected(n, 100.0),
    "gap 1000": lambda graphs, n, trees: graphs.disconnected(n, 1000.0),
    "holes": lambda graphs, n, trees: graphs.holes(n, 7, trees.single_root, 10, trees.projective),
}


def hard(graph, trees, graphs):
    return graphs.over(HARD[graph](graphs, 3 if trees.projective else 4, trees), trees)


def check_every_tree_once(algorithm, distribution):
    exact = Oracle(distribution)
    draws = algorithm.draw(distribution, len(exact.trees) + 10, np.random.default_rng(6000))
    assert sorted(draws.heads.tolist()) == exact.trees.tolist()
    assert draws.exhausted
    assert draws.mass == pytest.approx(1.0, abs=1e-11)
    by_tree = dict(zip(map(tuple, exact.trees.tolist()), exact.log_probs, strict=True))
    assert draws.log_probs == pytest.approx([by_tree[tuple(tree)] for tree in draws.heads.tolist()], abs=1e-10)


@EACH
@IN_EACH
@pytest.mark.parametrize("graph", HARD)
def test_every_tree_once_and_then_the_end(algorithm, trees, graph, graphs):
    """Also trees of probability e^-1000; no statistics in it. The end is known with the last tree, and not before."""
    distribution = hard(graph, trees, graphs)
    check_every_tree_once(algorithm, distribution)
    count = len(Oracle(distribution).trees)
    for size in {1, count // 2, count - 1, count} - {0}:
        draws = algorithm.draw(distribution, size, np.random.default_rng(6001))
        assert len(draws.heads) == len(np.unique(draws.heads, axis=0)) == size
        assert draws.exhausted == (size == count)


@IN_EACH
@pytest.mark.parametrize(("repeats", "least"), [(0, 1e-6), (1, 0.999), (10, 1e-6), (50, 1e-12)])
def test_every_tree_once_whenever_repeats_are_too_many(repeats, least, trees, graphs, monkeypatch):
    """`auto` with its thresholds forced low and high: divided at once, or hardly ever."""
    monkeypatch.setattr(cells, "TRIE_COST" if trees.projective else "REPEATS", repeats)
    monkeypatch.setattr(cells, "LEAST", least)
    for graph in HARD:
        check_every_tree_once(ALGORITHMS.get("auto"), hard(graph, trees, graphs))


@pytest.mark.parametrize("graph", ["flat", "times 50", "gap 27.6", "gap 100"])
@IN_EACH
def test_every_tree_of_other_lengths(trees, graph, graphs):
    """Up to 3 words by all algorithms, and 625 or 273 trees of 5 words by `auto`."""
    for algorithm, n in [*product(EXACT, (1, 2, 3)), (ALGORITHMS.get("auto"), 5)]:
        if n < 5 or trees in (SINGLE_ROOT, PROJECTIVE_MULTI):
            check_every_tree_once(algorithm, graphs.over(HARD[graph](graphs, n, trees), trees))


def subtract(distribution, size, rng, mass):
    """The trie as it is published (Shi et al. 2020): a tree's probability is subtracted from every node above it."""
    conditionals = Conditionals(distribution)
    left = {}
    trees = []
    total = 1.0
    while len(trees) < size and total > 0:
        prefix, prob = Prefix(), 1.0
        while len(prefix) < conditionals.depth:
            probs = np.exp(conditionals.log_probs(prefix))
            weights = np.maximum(left.setdefault(prefix, prob * probs), 0.0)
            total = weights.sum()
            if not total > 0:
                break
            choice = int(rng.choice(len(weights), p=weights / total))
            prefix, prob = (*prefix, choice), prob * probs[choice]
        else:
            trees.append(prefix)
            for length in range(conditionals.depth):
                left[prefix[:length]][prefix[length]] -= prob
    heads = conditionals.heads_of_each(np.array(trees))
    return Draws(heads, distribution.log_probs(heads), np.arange(float(len(heads))), np.inf, True)


@pytest.mark.parametrize("graph", ["times 50", "saturated", "gap 27.6", "gap 100"])
def test_masses_by_subtraction_are_caught(graph, graphs):
    """What is left cancels: trees repeat, or the end comes too soon. On flat scores the same finds every tree."""
    wrong = Algorithm("subtract", subtract, "", "")
    check_every_tree_once(wrong, graphs.distribution(HARD["flat"](graphs, 3, SINGLE_ROOT)))
    with pytest.raises(AssertionError):
        check_every_tree_once(wrong, graphs.distribution(HARD[graph](graphs, 4, SINGLE_ROOT)))


SCALES = (0.0, 1.0, 2.0)
AUTO = ALGORITHMS.get("auto")
SEQUENTIAL = [algorithm for algorithm in ALGORITHMS if algorithm.sequential]


def scores_of(n, scale, labels=2, gap=0.0):
    """Joint scores of `labels` labels behind `root`; each label `gap` below the one before."""
    return np.random.default_rng(4).normal(size=(n + 1, n + 1, labels + 1)) * scale - gap * np.arange(labels + 1)


def labelled(n, scale, labels=2, gap=0.0, trees=SINGLE_ROOT):
    return TreeDistribution(scores_of(n, scale, labels, gap), space=trees, labels=["root", *"abcdefgh"[:labels]])


def every(given):
    found = {}
    for heads in Oracle(given).trees:
        choices = [[0] if head == 0 else range(1, len(given.labels.names)) for head in heads]
        for labels in product(*choices):
            of_labels = given.labels.log_probs_of(heads[None], np.array([labels], dtype=np.int32))
            log_prob = given.log_probs(heads[None]) + of_labels
            found[tuple(heads.tolist()), labels] = float(np.exp(log_prob[0]))
    assert sum(found.values()) == pytest.approx(1)
    return found


def labelled_draws(given, size, seed, algorithm=AUTO, mass=1.0):
    draws = draw_labelled(algorithm, given, size, sentence_stream(seed, "s"), mass)
    trees = [(tuple(heads), tuple(row)) for heads, row in zip(draws.heads.tolist(), draws.labels.tolist(), strict=True)]
    return draws, trees


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("scale", SCALES)
def test_ordered_pairs_of_labelled_trees(scale):
    """H0: P(first a, then b) = p_a p_b / (1 - p_a). Chi-square, 1,500 runs, p > 0.001 / 3. Of 6 labelled trees all 30
    orders are expected 50 times at scale 0."""
    given = labelled(2, scale, labels=3)
    exact = every(given)
    number = {tree: index for index, tree in enumerate(exact)}
    probs = np.array(list(exact.values()))
    expected = probs[:, None] * probs / (1 - probs)[:, None] * (1 - np.eye(len(probs)))
    counts = np.zeros(expected.shape, dtype=np.int64)
    for seed in range(RUNS):
        first, second = labelled_draws(given, 2, seed)[1]
        counts[number[first], number[second]] += 1
    possible = expected.ravel() > 0
    assert chi_square(counts.ravel()[possible], expected.ravel()[possible])[2] > LEVEL / len(SCALES)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize(
    ("scale", "size", "mass", "runs"),
    [*((scale, 6, 1.0, RUNS) for scale in SCALES), (1.0, 24, 0.2, 1_000), (1.0, 24, 0.4, 1_000)],
)
def test_weights_of_labelled_trees_are_unbiased(scale, size, mass, runs):
    """H0: E[sum of weights of drawn labelled trees] = 1, as of Horvitz and Thompson, wherever the drawing stops; 1,500
    runs, 1,000 with a mass, |z| < 3.9. A bias of 0.15 of the sum's standard deviation makes z about 5.8: found with
    probability 0.97."""
    given = labelled(3, scale)
    draws = [labelled_draws(given, size, seed, mass=mass)[0] for seed in range(runs)]
    assert (len({each.certain for each in draws}) > 1) == (mass < 1)
    sums = [weights(each.log_probs, each.window, each.certain).sum() for each in draws]
    z = (np.mean(sums) - 1) / (np.std(sums) / np.sqrt(runs))
    assert abs(z) < 3.9


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: algorithm.name)
@pytest.mark.parametrize("gap", [0.0, 5.0, 1000.0])
@IN_EACH
def test_every_labelled_tree_comes_once_and_then_it_ends(algorithm, gap, trees):
    given = labelled(3, 1.0, gap=gap, trees=trees)
    draws, found = labelled_draws(given, 1000, 3, algorithm)
    exact = every(given)
    assert len(found) == len(set(found)) == len(exact)
    assert draws.exhausted
    assert draws.tau == np.inf
    assert (np.diff(draws.arrivals[np.isfinite(draws.arrivals)]) >= 0).all()
    np.testing.assert_allclose(np.exp(draws.log_probs), [exact[tree] for tree in found], rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("algorithm", SEQUENTIAL, ids=lambda algorithm: algorithm.name)
@IN_EACH
def test_fewer_labelled_trees_are_the_first_of_more(algorithm, trees):
    given = labelled(4, 1.0, trees=trees)
    many, few = labelled_draws(given, 60, 1, algorithm), labelled_draws(given, 9, 1, algorithm)
    assert many[1][:9] == few[1]
    np.testing.assert_array_equal(many[0].arrivals[:9], few[0].arrivals)
    assert few[0].tau == many[0].arrivals[9]


@pytest.mark.parametrize("size", [1000, 20])
def test_the_mass_asked_for_is_reached_and_not_passed_by_a_tree(size):
    given = labelled(4, 2.0)
    draws, trees = labelled_draws(given, size, 1, mass=0.8)
    probs = np.exp(draws.log_probs)
    assert draws.certain == min(int((probs.cumsum() < 0.8).sum()) + 1, most_certain(size))
    assert len(trees) == size_for_mass(draws.certain, size)
    every, more = labelled_draws(given, 1000, 1)
    if size == 1000:  # otherwise the trees behind them are others
        assert more[: len(trees)] == trees
        assert draws.tau == every.arrivals[len(trees)]
