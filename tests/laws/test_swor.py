"""Every SWOR algorithm of the register against exact order probabilities, and down to the last tree."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.audit import chi_square
from deptree_cli.core.oracle import Oracle
from deptree_cli.core.sentence import Sentence
from deptree_cli.core.swor import ALGORITHMS, partition_tree

pytestmark = pytest.mark.laws

Float = NDArray[np.float64]

LEVEL = 0.001
RUNS = 3_000
EACH = pytest.mark.parametrize("name", sorted(ALGORITHMS))
BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])

ORDERED = [
    ("uniform", 3, True),
    ("peaked", 3, True),
    ("saturated", 4, True),
    ("holes", 4, True),
    ("uniform", 2, False),
    ("peaked", 3, False),
    ("saturated", 3, False),
]
TESTS = len(ORDERED) * len(ALGORITHMS) * 2  # pairs and triples


def ordered_graph(graphs, graph: str, n: int, single_root: bool) -> Sentence:
    """Sentences whose trees' orders are counted; saturated words 1e-12 apart."""
    log_scores = {
        "uniform": lambda: graphs.uniform(n),
        "peaked": lambda: graphs.gaussian(n, 2, seed=3),
        "saturated": lambda: graphs.saturated(n),
        "holes": lambda: graphs.holes(n, 3, single_root),
    }[graph]()
    return graphs.sentence(log_scores, single_root)


def pair_probabilities(probs: Float) -> Float:
    """P(first a, then b) = p_a * p_b / (1 - p_a), [a, b]; what is left is summed, not subtracted."""
    others = 1.0 - np.eye(len(probs))
    return (probs / (others @ probs))[:, None] * probs * others


def triple_probabilities(probs: Float) -> Float:
    """P(first a, then b, then c) = P(a, b) * p_c / (1 - p_a - p_b), [a, b, c]."""
    others = 1.0 - np.eye(len(probs))
    left = np.einsum("ac,bc,c->ab", others, others, probs) + np.eye(len(probs))
    return (pair_probabilities(probs) / left)[:, :, None] * probs * others[:, None] * others[None]


def first_trees(name: str, sentence: Sentence, oracle: Oracle) -> NDArray[np.int64]:
    """The numbers of the first three trees of each run, (RUNS, 3)."""
    number = {tuple(tree): index for index, tree in enumerate(oracle.trees.tolist())}
    rng = np.random.default_rng(5000)
    runs = [ALGORITHMS[name].draw(sentence, 3, rng).heads.tolist() for _ in range(RUNS)]
    return np.array([[number[tuple(tree)] for tree in run] for run in runs])


def counted(draws: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    """How often each order came, flat."""
    flat = np.ravel_multi_index(tuple(draws[:, : len(shape)].T), shape)
    return np.bincount(flat, minlength=int(np.prod(shape)))


def test_order_probabilities_by_hand() -> None:
    probs = np.array([0.5, 0.3, 0.2])
    assert pair_probabilities(probs)[0, 2] == pytest.approx(0.5 * 0.2 / 0.5)
    assert triple_probabilities(probs)[2, 1, 0] == pytest.approx(0.2 * 0.3 / 0.8)
    for orders in (pair_probabilities(probs), triple_probabilities(probs)):
        assert orders.sum() == pytest.approx(1.0)
        assert orders[0, 0].sum() == orders[1, 1].sum() == 0.0


@EACH
@pytest.mark.parametrize(("graph", "n", "single_root"), ORDERED)
def test_trees_come_in_the_order_of_first_meetings(name: str, graph: str, n: int, single_root: bool, graphs) -> None:
    """H0: the first two (three) trees are a, b(, c) with probability p_a * p_b / (1 - p_a) (* p_c / (1 - p_a - p_b)).

    Chi-square over ordered pairs and over ordered triples, rare ones pooled until expected five times. 3,000 runs: at
    n = 3 uniform each of the 9 * 8 * 7 = 504 triples is expected six times. Threshold: 0.001 / (7 graphs x 2 lengths x
    algorithms), for four algorithms 0.001 / 56.
    """
    sentence = ordered_graph(graphs, graph, n, single_root)
    oracle = Oracle(sentence)
    probs = np.exp(oracle.log_probs)
    draws = first_trees(name, sentence, oracle)
    for orders in (pair_probabilities(probs), triple_probabilities(probs)):
        possible = orders.ravel() > 0
        counts = counted(draws, orders.shape)
        assert counts[~possible].sum() == 0  # no tree twice
        statistic, dof, p_value = chi_square(counts[possible], orders.ravel()[possible])
        assert p_value > LEVEL / TESTS, (statistic, dof)


HARD = {
    "flat": lambda graphs, n, single_root: graphs.gaussian(n),
    "times 50": lambda graphs, n, single_root: graphs.gaussian(n, 50, seed=1),
    "times 300": lambda graphs, n, single_root: graphs.gaussian(n, 300, seed=2),
    "saturated": lambda graphs, n, single_root: graphs.saturated(n),
    "gap 27.6": lambda graphs, n, single_root: graphs.disconnected(n, 27.6),
    "gap 100": lambda graphs, n, single_root: graphs.disconnected(n, 100.0),
    "gap 1000": lambda graphs, n, single_root: graphs.disconnected(n, 1000.0),
    "holes": lambda graphs, n, single_root: graphs.holes(n, 7, single_root, scale=10),
}


@EACH
@BOTH
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("graph", HARD)
def test_every_tree_once_and_then_the_end(name: str, single_root: bool, n: int, graph: str, graphs) -> None:
    """Also trees of probability e^-1000; no statistics in it."""
    sentence = graphs.sentence(HARD[graph](graphs, n, single_root), single_root)
    exact = Oracle(sentence)
    draws = ALGORITHMS[name].draw(sentence, len(exact.trees) + 10, np.random.default_rng(6000))
    assert sorted(draws.heads.tolist()) == exact.trees.tolist()
    assert draws.exhausted
    assert draws.mass == pytest.approx(1.0, abs=1e-11)
    by_tree = dict(zip(map(tuple, exact.trees.tolist()), exact.log_probs, strict=True))
    assert draws.log_probs == pytest.approx([by_tree[tuple(tree)] for tree in draws.heads.tolist()], abs=1e-10)


@EACH
@BOTH
@pytest.mark.parametrize("graph", HARD)
def test_exhausted_is_said_when_the_last_tree_was_drawn_and_not_before(
    name: str, single_root: bool, graph: str, graphs
) -> None:
    sentence = graphs.sentence(HARD[graph](graphs, 3, single_root), single_root)
    count = len(Oracle(sentence).trees)
    for size in {1, count // 2, count - 1, count} - {0}:
        draws = ALGORITHMS[name].draw(sentence, size, np.random.default_rng(6001))
        assert len(draws.heads) == len(np.unique(draws.heads, axis=0)) == size
        assert draws.exhausted == (size == count)


@EACH
@BOTH
def test_the_first_tree_is_a_plain_draw(name: str, single_root: bool, graphs) -> None:
    """H0: the first tree follows the distribution. Chi-square over the trees of 4 words, rare ones pooled until
    expected five times; 3,000 runs; threshold 0.001 / (algorithms x 2 root constraints), for four 0.001 / 8."""
    sentence = graphs.sentence(graphs.gaussian(4, seed=9), single_root)
    oracle, rng = Oracle(sentence), np.random.default_rng(7000)
    number = {tuple(tree): index for index, tree in enumerate(oracle.trees.tolist())}
    trees = [number[tuple(ALGORITHMS[name].draw(sentence, 1, rng).heads[0].tolist())] for _ in range(RUNS)]
    p_value = chi_square(np.bincount(trees, minlength=len(number)), np.exp(oracle.log_probs))[2]
    assert p_value > LEVEL / (2 * len(ALGORITHMS))


@pytest.mark.parametrize(("repeats", "least"), [(0, 1e-6), (1, 0.9), (30, 1e-9)], ids=["trie", "low", "high"])
@pytest.mark.parametrize(("graph", "n", "single_root"), [("peaked", 3, True), ("peaked", 3, False)])
def test_the_order_does_not_depend_on_when_cells_are_divided(
    repeats: int, least: float, graph: str, n: int, single_root: bool, graphs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """H0 as above, for `auto` with its thresholds forced low and high. Threshold 0.001 / (3 x 2 graphs x pairs and
    triples)."""
    monkeypatch.setattr(partition_tree, "REPEATS", repeats)
    monkeypatch.setattr(partition_tree, "LEAST", least)
    sentence = ordered_graph(graphs, graph, n, single_root)
    oracle = Oracle(sentence)
    probs = np.exp(oracle.log_probs)
    draws = first_trees("auto", sentence, oracle)
    for orders in (pair_probabilities(probs), triple_probabilities(probs)):
        possible = orders.ravel() > 0
        p_value = chi_square(counted(draws, orders.shape)[possible], orders.ravel()[possible])[2]
        assert p_value > LEVEL / 12
