"""Trees that are drawn under rules against enumeration of the labelled trees that obey."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.constrained import constrained
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.monte_carlo import shares
from deptree_cli.core.rules import Function
from deptree_cli.core.ruleset import Ruleset
from deptree_cli.core.spaces import PROJECTIVE, SINGLE_ROOT, SPACES
from tests.laws.test_swor import labelled, scores_of
from tests.pearson import chi_square
from tests.random_rules import Case, Sentence

pytestmark = pytest.mark.laws

N, SIZE = 4, 4_000
A_ONCE, B_LEAF = ("at-most-one", {"label": ["a"]}), ("leaf", {"label": ["b"]})


def words_with_b(heads, names):
    found = [word for word, name in enumerate(names, 1) if name == "b"][:2]
    return found if len(found) == 2 else []


# Tables of rules, functions, and stretches of which one word has its head outside.
CASES = {
    "at-most-one": ([A_ONCE], [], []),
    "leaf": ([B_LEAF], [], []),
    "no-gaps": ([("no-gaps", {"label": ["a"]})], [], []),
    "no-crossing": ([("no-crossing", {"label": ["a"]})], [], []),
    "span": ([], [], [(2, 3)]),
    "function": ([], [words_with_b], []),
    "mask and others": ([("mask", {"label": ["a"], "direction": "left"}), A_ONCE, B_LEAF], [], []),
}
LEVEL = 0.001 / (len(CASES) * len(SPACES.known))


def under(name, space):
    """A distribution under rules; the labelled trees that obey with their probabilities, and the mass of these among
    those of positive weight after masks."""
    tables, functions, spans = CASES[name]
    plain, names = labelled(N, 1.0, trees=space), ("root", "a", "b")
    below_root = np.arange(N + 1)[:, None, None] == 0
    weights = np.where(below_root == (np.arange(3) == 0), scores_of(N, 1.0), -np.inf)
    words = Sentence([None] * N, [frozenset()] * N, spans)
    case = Case(plain, names, weights, words, tables, functions)
    probs = {(tree.heads, tuple(map(names.index, tree.labels))): np.exp(tree.weight) for tree in case.obedient}
    mass = sum(probs.values())
    exact = {tree: prob / mass for tree, prob in probs.items()}
    return case.constrained(), exact, mass / sum(np.exp(tree.weight) for tree in case.unmasked)


def counts_of(heads, labels, trees):
    number = {tree: place for place, tree in enumerate(trees)}
    drawn = [number[tuple(one), tuple(its)] for one, its in zip(heads.tolist(), labels.tolist(), strict=True)]
    return np.bincount(drawn, minlength=len(trees))


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
@pytest.mark.parametrize("name", CASES)
def test_trees_that_obey_come_in_proportion(name, space):
    """H0: P(labelled tree) = its weight over those of all labelled trees that obey. Chi-square of 4,000 trees of 4
    words, rare cells pooled, p > 0.001 / 28 in each of 7 sets of rules and 4 spaces.

    H0: each drawn tree obeys with the probability that enumeration tells, after masks. |z| < 4 in 28 tests: all hold
    with probability 0.998.

    H0: the share of trees with an arc and its label is its probability among labelled trees that obey. |z| < 5 for
    each of at most 52 arcs with labels of 28 tests: all hold with probability 0.999. Standard errors are within a tenth
    of the true ones where 100 trees and more have the arc and 100 lack it, 0 where it is in no tree that obeys.
    """
    given, exact, mass = under(name, space)
    found = given.sample(SIZE, seed=11)
    assert found.heads.shape == (SIZE, N)
    counts = counts_of(found.heads, found.labels, exact)
    assert chi_square(counts, np.array(list(exact.values())))[2] > LEVEL

    assert found.accepted >= SIZE
    error = np.sqrt(mass * (1 - mass) / found.proposed)
    assert abs(found.acceptance - mass) <= 4 * error + 1e-12

    estimate = shares(found.heads, labels=found.labels, names=3)
    assert estimate.iterations == SIZE
    probs = np.zeros((N + 1, N + 1, 3))
    for (heads, labels), prob in exact.items():
        probs[heads, range(1, N + 1), labels] += prob
    errors = np.sqrt(probs * (1 - probs).clip(0) / SIZE)
    assert (abs(estimate.expectations - probs) <= 5 * errors + 1e-12).all()
    assert (estimate.standard_errors[probs == 0] == 0).all()
    many = SIZE * np.minimum(probs, 1 - probs) > 100
    assert (abs(estimate.standard_errors / np.where(many, errors, 1) - 1)[many] < 0.15).all()
    np.testing.assert_allclose(shares(found.heads).expectations, estimate.expectations.sum(axis=-1), atol=1e-12)


def test_labels_that_are_drawn_again_alone_are_found_out():
    """Control: where only the labels of a tree that does not obey are drawn again, trees that break rules more often
    come too often; the same test has p < 1e-6."""
    given, exact, _ = under("leaf", SINGLE_ROOT)
    labels_of, rng = given.distribution.labels, np.random.default_rng(3)
    heads = given.distribution.sample(SIZE, seed=11)
    labels = labels_of.draw(heads, rng)
    broken = [True] * SIZE
    while any(broken):
        labels[broken] = labels_of.draw(heads[broken], rng)
        broken = [(tuple(a), tuple(b)) not in exact for a, b in zip(heads.tolist(), labels.tolist(), strict=True)]
    assert chi_square(counts_of(heads, labels, exact), np.array(list(exact.values())))[2] < 1e-6


def test_a_seed_repeats_and_a_generator_goes_on():
    given, *_ = under("leaf", SINGLE_ROOT)
    again = [given.sample(50, seed=1) for _ in range(2)]
    np.testing.assert_array_equal(again[0].heads, again[1].heads)
    np.testing.assert_array_equal(again[0].labels, again[1].labels)
    rng = np.random.default_rng(1)
    first, second = given.sample(50, rng), given.sample(50, rng)
    assert (first.heads != second.heads).any()
    assert (first.labels != second.labels).any()


def rare(gap, space=SINGLE_ROOT):
    """A rule that hardly any tree obeys: no `a`, and `b` is `gap` below it for each of the two words not below ROOT."""
    rule = Function("no a", lambda _, names: [names.index("a") + 1] if "a" in names else None)
    return constrained(labelled(3, 0.0, gap=gap, trees=space), Ruleset("no a", (rule,)))


def test_what_hardly_any_tree_obeys_is_an_error_with_advice():
    """exp(-6)^2 = 6e-6 of trees obey: of the first 24,576 trees 0.15 on average, and 3 would be enough to go on."""
    for space in (SINGLE_ROOT, PROJECTIVE):
        with pytest.raises(DeptreeError, match="drawn trees obey the rules, fewer than 1 in 10,000") as raised:
            rare(6.0, space).sample(10, seed=1)
        assert ("`projective=True`" in raised.value.remedy) == (space is SINGLE_ROOT)


def test_what_few_trees_obey_is_drawn():
    """exp(-3)^2 / (1 + exp(-3))^2 = 0.0022 of trees obey."""
    found = rare(3.0).sample(10, seed=1)
    assert len(found.heads) == 10
    assert 0.0012 < found.acceptance < 0.0035


def test_no_trees_are_not_asked_for():
    with pytest.raises(DeptreeError, match="0 trees are asked for"):
        rare(1.0).sample(0)
