"""The choices a tree is made of against enumeration, however unlikely; tries over them. Laws are in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core import conditionals as module
from deptree_cli.core.conditionals import (
    Choices,
    Conditionals,
    Derivations,
    HeadPaths,
    Node,
    choices_in,
    choices_of,
    draw_new,
    draw_trie,
    draw_zmigrod,
    log_sum,
    pick,
)
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.spaces import PROJECTIVE, PROJECTIVE_MULTI, SPACES
from tests.laws.test_samplers import counts_of
from tests.oracle import Oracle
from tests.pearson import chi_square

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
IN_EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)

GRAPHS = {
    "flat": lambda graphs, n, trees: graphs.gaussian(n),
    "times 50": lambda graphs, n, trees: graphs.gaussian(n, 50),
    "saturated": lambda graphs, n, trees: graphs.saturated(n),
    **{f"gap {gap}": lambda graphs, n, trees, gap=gap: graphs.disconnected(n, gap) for gap in (100, 500, 1000, 1e5)},
    "holes": lambda graphs, n, trees: graphs.holes(n, 3, trees.single_root, 1.0, trees.projective),
    "one way": lambda graphs, n, trees: graphs.one_way(n, 3),
}


def sequences_of(choices: Conditionals | Derivations, heads: Heads) -> Choices:
    """The sequences of choices of positive probability, (trees, depth), in the order of the trees that they make."""
    prefixes: Choices = np.empty((1, 0), dtype=np.int64)
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


def drawn(choices: Conditionals | Derivations, length: int, rng: np.random.Generator) -> tuple[int, ...]:
    prefix: tuple[int, ...] = ()
    while len(prefix) < length:
        prefix = (*prefix, pick(choices.log_probs(prefix), rng))
    return prefix


@IN_EACH
def test_a_branch_tells_the_probabilities_along_it(trees, graphs):
    """Which multiply to the probability of the tree that it makes."""
    distribution = graphs.over(graphs.gaussian(12, 10), trees)
    choices, rng = choices_in(distribution), np.random.default_rng(4)
    for _ in range(5):
        begun = drawn(choices, 7, rng)
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
    oracle, derivations, rng = Oracle(distribution), Derivations(distribution), np.random.default_rng(3)
    sequences = np.array([derivations.branch((), rng)[1] for _ in range(4_000)])
    probs = np.exp(oracle.log_probs)
    counts = counts_of(derivations.heads_of_each(sequences), oracle.trees)
    assert chi_square(counts, probs / probs.sum())[2] > 0.001 / 2


@IN_EACH
def test_many_prefixes_at_once(trees, graphs):
    """Some with digits that float64 loses, and some without."""
    choices = choices_in(graphs.over(graphs.disconnected(5, 400.0), trees))
    rng = np.random.default_rng(2)
    prefixes = np.array([drawn(choices, 3, rng) for _ in range(20)])
    found = choices.log_probs_of_each(prefixes)
    assert np.array_equal(found, np.array([choices.log_probs(tuple(prefix)) for prefix in prefixes.tolist()]))


@BOTH
@pytest.mark.parametrize("log_gap", [0.0, 150.0, 400.0, 1000.0])
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_what_prefixes_share_changes_no_probability(n, log_gap, single_root, graphs):
    """Prefixes are dropped, doubled and exchanged at random; a deep gap takes them to wide numbers on the way."""
    log_scores, rng = graphs.gaussian(n, 3, seed=n), np.random.default_rng(n)
    log_scores[1 : n // 2 + 1, n // 2 + 1 :] -= log_gap
    log_scores[n // 2 + 1 :, 1 : n // 2 + 1] -= log_gap
    conditionals = Conditionals(graphs.distribution(log_scores, single_root))
    beam = conditionals.beam(7)
    assert isinstance(beam, HeadPaths)
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
    assert not isinstance(beam, HeadPaths)
    assert np.array_equal(beam(prefixes, np.zeros(2, dtype=np.int64)), conditionals.log_probs_of_each(prefixes))


class Fixed:
    """A generator whose uniform number is always the same."""

    def __init__(self, number: float) -> None:
        self._number = number

    def random(self) -> float:
        return self._number


@pytest.mark.parametrize("number", [0.0, 0.3, 1 - 2**-53])
def test_a_choice_of_weight_0_is_never_picked(number):
    for log_weights in ([-np.inf, 0, -np.inf, -1, -np.inf], [-np.inf, -5000.0], [-900, -np.inf], [0, -1e-16, -np.inf]):
        assert np.isfinite(log_weights[pick(np.array(log_weights), Fixed(number))])


def test_picks_follow_their_weights():
    """H0: an index comes in proportion to exp(weight). 20,000 draws of (0.2, 0, 0.8): the first within five standard
    deviations, 5 * sqrt(0.16 / 20,000) = 0.0142, which chance misses once in two million."""
    rng = np.random.default_rng(5)
    log_weights = np.array([np.log(2), -np.inf, np.log(8)]) - 3000
    picks = np.bincount([pick(log_weights, rng) for _ in range(20_000)], minlength=3)
    assert picks[1] == 0
    assert abs(picks[0] / 20_000 - 0.2) < 0.0142


def test_log_sum():
    assert log_sum(np.array([])) == -np.inf
    assert log_sum(np.array([-np.inf, -np.inf])) == -np.inf
    assert log_sum(np.log([1.0, 2.0, 3.0])) == pytest.approx(np.log(6))


@IN_EACH
def test_what_is_left_is_the_mass_of_the_trees_not_drawn(trees, graphs):
    """After every tree; relative to itself, though less than 1e-100 is left in the end."""
    distribution = graphs.over(graphs.gaussian(3, 60), trees)
    oracle, choices, rng = Oracle(distribution), choices_in(distribution), np.random.default_rng(1)
    root = Node(choices.log_probs(()))
    left = {tuple(tree): log_prob for tree, log_prob in zip(oracle.trees.tolist(), oracle.log_probs, strict=True)}
    while left:
        assert log_sum(root.log_left) == pytest.approx(np.logaddexp.reduce(list(left.values())), rel=1e-12, abs=1e-11)
        path = draw_new(root, choices.depth, rng, lambda prefix: zip(*choices.branch(prefix, rng), strict=True))
        left.pop(tuple(choices.heads_of_each(np.array([choices_of(path)]))[0].tolist()))
    assert log_sum(root.log_left) == -np.inf


def test_conditionals_are_asked_for_once_per_prefix(graphs, monkeypatch):
    asked: list[tuple[int, ...]] = []
    log_probs, branch = Conditionals.log_probs, Conditionals.branch

    def counting(self: Conditionals, prefix: tuple[int, ...]) -> np.ndarray:
        asked.append(prefix)
        return log_probs(self, prefix)

    def counting_all(self: Conditionals, prefix: tuple[int, ...], rng: np.random.Generator):
        found, chosen = branch(self, prefix, rng)
        asked.extend((*prefix, *chosen[:length].tolist()) for length in range(len(chosen)))
        return found, chosen

    monkeypatch.setattr(Conditionals, "log_probs", counting)
    monkeypatch.setattr(Conditionals, "branch", counting_all)
    draw_trie(graphs.distribution(graphs.uniform(4)), 60, np.random.default_rng(2))
    assert len(asked) == len(set(asked)) > 20


@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
@pytest.mark.parametrize("safe_share", [0.0, 1e-6, 1.1])
def test_subtracting_and_summing_agree_on_flat_scores(safe_share, trees, graphs, monkeypatch):
    """A threshold of 0 always subtracts, one above 1 never; the trees drawn are the same."""
    distribution = graphs.over(graphs.gaussian(4), trees)
    expected = draw_zmigrod(distribution, 25, np.random.default_rng(1)).heads
    monkeypatch.setattr(module, "SAFE_SHARE", safe_share)
    assert np.array_equal(draw_zmigrod(distribution, 25, np.random.default_rng(1)).heads, expected)


def test_a_remainder_far_below_a_rounding_error(graphs):
    """One tree has all mass but 1e-40: one minus its probability is 0 in float64, what is left is not."""
    distribution = graphs.distribution(graphs.gaussian(3, 60, seed=2))
    conditionals = Conditionals(distribution)
    first = draw_zmigrod(distribution, 1, np.random.default_rng(0))
    rest = draw_zmigrod(distribution, 9, np.random.default_rng(0))
    assert first.mass == 1.0
    root = int(np.argmin(first.heads[0])) + 1
    prefix = (root, *(int(h) for w, h in enumerate(first.heads[0], 1) if w != root))
    log_left = module._log_left(conditionals, (), np.array([prefix]), first.log_probs)
    others = np.logaddexp.reduce(rest.log_probs[1:])
    assert others < -30
    assert np.logaddexp.reduce(log_left) == pytest.approx(others, rel=1e-12)
