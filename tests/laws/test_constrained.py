"""Trees that are drawn under rules against enumeration of the labelled trees that obey.

Who obeys is decided here by other words than in `core/rules.py`, of a whole tree and without conflicts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pytest

from deptree_cli.core import rules as kinds
from deptree_cli.core.constrained import Constrained, constrained
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.monte_carlo import shares
from deptree_cli.core.rules import LEFT, Condition, Mask, Words
from deptree_cli.core.ruleset import Rule, Ruleset
from deptree_cli.core.spaces import PROJECTIVE, SINGLE_ROOT, SPACES, TreeSpace
from tests.laws.test_labelled import every, labelled
from tests.pearson import chi_square

pytestmark = pytest.mark.laws

N, SIZE = 4, 4_000
SPAN = (2, 3)

A, B = 1, 2  # the numbers of labels; 0 is root

Labelled = tuple[tuple[int, ...], tuple[int, ...]]


class Case(NamedTuple):
    """Rules, and which trees obey: by heads and labels of words, after a None in the place of ROOT."""

    rules: tuple[Rule, ...]
    obeys: Callable[[Sequence[int], Sequence[int]], bool]


def words(heads: Sequence[int]) -> range:
    return range(1, len(heads))


def one_a_per_head(heads: Sequence[int], labels: Sequence[int]) -> bool:
    pairs = [(heads[word], labels[word]) for word in words(heads) if labels[word] == A]
    return len(pairs) == len(set(pairs))


def nothing_below_b(heads: Sequence[int], labels: Sequence[int]) -> bool:
    return not any(heads[word] and labels[heads[word]] == B for word in words(heads))


def a_side_by_side(heads: Sequence[int], labels: Sequence[int]) -> bool:
    """A head and its dependents with `a` fill the stretch from the first of them to the last."""
    for head in words(heads):
        family = {head, *(word for word in words(heads) if (heads[word], labels[word]) == (head, A))}
        if len(family) != max(family) - min(family) + 1:
            return False
    return True


def nothing_across_a(heads: Sequence[int], labels: Sequence[int]) -> bool:
    arcs = {word: sorted((word, heads[word])) for word in words(heads)}
    return not any(
        first < start < last < end or start < first < end < last
        for word, (first, last) in arcs.items()
        if labels[word] == A
        for start, end in arcs.values()
    )


def one_leaves_the_span(heads: Sequence[int], labels: Sequence[int]) -> bool:
    return sum(heads[word] not in SPAN for word in SPAN) == 1


def b_below_root_only_once(heads: Sequence[int], labels: Sequence[int]) -> bool:
    return sum(label == B for label in labels) <= 1


def words_with_b(heads: Sequence[int], names: Sequence[str]) -> list[int] | None:
    found = [word for word, name in enumerate(names, 1) if name == "b"][:2]
    return found if len(found) == 2 else None


def no_a_to_the_left(heads: Sequence[int], labels: Sequence[int]) -> bool:
    return not any(labels[word] == A and word < heads[word] for word in words(heads))


LEFT_A = Mask("mask", Condition(("a",)), direction=LEFT)
CASES = {
    "at-most-one": Case((kinds.AtMostOne("one", ("a",)),), one_a_per_head),
    "leaf": Case((kinds.Below("leaf", Condition(("b",))),), nothing_below_b),
    "no-gaps": Case((kinds.NoGaps("gap", ("a",)),), a_side_by_side),
    "no-crossing": Case((kinds.NoCrossing("crossing", ("a",)),), nothing_across_a),
    "span": Case((kinds.Together(),), one_leaves_the_span),
    "function": Case((kinds.Function("one b", words_with_b),), b_below_root_only_once),
    "mask and others": Case(
        (LEFT_A, kinds.AtMostOne("one", ("a",)), kinds.Below("leaf", Condition(("b",)))),
        lambda heads, labels: (
            no_a_to_the_left(heads, labels) and one_a_per_head(heads, labels) and nothing_below_b(heads, labels)
        ),
    ),
}
TESTS = len(CASES) * len(SPACES.known)
LEVEL = 0.001 / TESTS

each_space = pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
each_case = pytest.mark.parametrize("name", CASES)


def under(name: str, space: TreeSpace) -> tuple[Constrained, dict[Labelled, float], float]:
    """A distribution under rules; the labelled trees that obey with their probabilities, and the mass of these among
    those of positive weight after masks."""
    rules, obeys = CASES[name]
    plain = labelled(N, 1.0, trees=space)
    assert plain.labels is not None
    known = Words(plain.labels.names, [None] * N, [frozenset()] * N, [SPAN])
    found = constrained(plain, Ruleset(name, rules), known)
    probs = {tree: prob for tree, prob in every(plain).items() if obeys((0, *tree[0]), (0, *tree[1]))}
    masked = no_a_to_the_left if LEFT_A in rules else lambda heads, labels: True
    after_masks = sum(prob for tree, prob in every(plain).items() if masked((0, *tree[0]), (0, *tree[1])))
    mass = sum(probs.values())
    return found, {tree: prob / mass for tree, prob in probs.items()}, mass / after_masks


def counts_of(heads: Heads, labels: Heads, trees: dict[Labelled, float]) -> np.ndarray:
    """How often each tree was drawn; a tree that does not obey is a KeyError."""
    number = {tree: place for place, tree in enumerate(trees)}
    drawn = [number[tuple(one), tuple(its)] for one, its in zip(heads.tolist(), labels.tolist(), strict=True)]
    return np.bincount(drawn, minlength=len(trees))


@each_space
@each_case
def test_trees_that_obey_come_in_proportion(name: str, space: TreeSpace) -> None:
    """H0: P(labelled tree) = its weight over those of all labelled trees that obey. Chi-square of 4,000 trees of 4
    words, rare cells pooled, p > 0.001 / 28 in each of 7 sets of rules and 4 spaces."""
    given, exact, _ = under(name, space)
    found = given.sample(SIZE, seed=11)
    assert found.heads.shape == (SIZE, N)
    assert found.labels is not None
    counts = counts_of(found.heads, found.labels, exact)
    assert chi_square(counts, np.array(list(exact.values())))[2] > LEVEL


def test_labels_that_are_drawn_again_alone_are_found_out() -> None:
    """Control: where only the labels of a tree that does not obey are drawn again, trees that break rules more often
    come too often; the same test has p < 1e-6."""
    given, exact, _ = under("leaf", SINGLE_ROOT)
    labels_of, rng = given.distribution.labels, np.random.default_rng(3)
    assert labels_of is not None
    heads = given.distribution.sample(SIZE, seed=11)
    labels = labels_of.draw(heads, rng)
    broken = [True] * SIZE
    while any(broken):
        labels[broken] = labels_of.draw(heads[broken], rng)
        broken = [(tuple(a), tuple(b)) not in exact for a, b in zip(heads.tolist(), labels.tolist(), strict=True)]
    assert chi_square(counts_of(heads, labels, exact), np.array(list(exact.values())))[2] < 1e-6


@each_space
@each_case
def test_the_acceptance_is_the_mass_of_trees_that_obey(name: str, space: TreeSpace) -> None:
    """H0: each drawn tree obeys with the probability that enumeration tells, after masks. |z| < 4 in 28 tests: all hold
    with probability 0.998."""
    given, _, mass = under(name, space)
    found = given.sample(SIZE, seed=12)
    assert found.accepted >= SIZE
    error = np.sqrt(mass * (1 - mass) / found.proposed)
    assert abs(found.acceptance - mass) <= 4 * error + 1e-12


@each_space
@each_case
def test_shares_of_arcs_with_labels_are_their_probabilities(name: str, space: TreeSpace) -> None:
    """H0: the share of trees with an arc and its label is its probability among labelled trees that obey. |z| < 5 for
    each of at most 52 arcs with labels of 28 tests: all hold with probability 0.999. Standard errors are within a tenth
    of the true ones where 100 trees and more have the arc and 100 lack it, 0 where it is in no tree that obeys."""
    given, exact, _ = under(name, space)
    found = given.sample(SIZE, seed=13)
    assert found.labels is not None
    estimate = shares(found.heads, labels=found.labels, names=3)
    assert estimate.iterations == SIZE
    assert estimate.standard_errors is not None
    probs = np.zeros((N + 1, N + 1, 3))
    for (heads, labels), prob in exact.items():
        probs[heads, range(1, N + 1), labels] += prob
    errors = np.sqrt(probs * (1 - probs).clip(0) / SIZE)
    assert (abs(estimate.expectations - probs) <= 5 * errors + 1e-12).all()
    assert (estimate.standard_errors[probs == 0] == 0).all()
    many = SIZE * np.minimum(probs, 1 - probs) > 100
    assert (abs(estimate.standard_errors / np.where(many, errors, 1) - 1)[many] < 0.15).all()
    np.testing.assert_allclose(shares(found.heads).expectations, estimate.expectations.sum(axis=-1), atol=1e-12)


def test_a_seed_repeats_and_a_generator_goes_on() -> None:
    given, *_ = under("leaf", SINGLE_ROOT)
    again = [given.sample(50, seed=1) for _ in range(2)]
    np.testing.assert_array_equal(again[0].heads, again[1].heads)
    np.testing.assert_array_equal(again[0].labels, again[1].labels)
    rng = np.random.default_rng(1)
    first, second = given.sample(50, rng), given.sample(50, rng)
    assert (first.heads != second.heads).any()
    assert (first.labels != second.labels).any()


def rare(gap: float, space: TreeSpace = SINGLE_ROOT) -> Constrained:
    """A rule that hardly any tree obeys: no `a`, and `b` is `gap` below it for each of the two words not below ROOT."""
    plain = labelled(3, 0.0, gap=gap, trees=space)
    return constrained(
        plain,
        Ruleset("no a", (kinds.Function("no a", lambda _, names: [names.index("a") + 1] if "a" in names else None),)),
    )


def test_what_hardly_any_tree_obeys_is_an_error_with_advice() -> None:
    """exp(-6)^2 = 6e-6 of trees obey: of the first 24,576 trees 0.15 on average, and 3 would be enough to go on."""
    with pytest.raises(DeptreeError, match="drawn trees obey the rules, fewer than 1 in 10,000") as raised:
        rare(6.0).sample(10, seed=1)
    assert "`projective=True`" in raised.value.remedy
    with pytest.raises(DeptreeError) as raised:
        rare(6.0, PROJECTIVE).sample(10, seed=1)
    assert "`projective=True`" not in raised.value.remedy


def test_what_few_trees_obey_is_drawn() -> None:
    """exp(-3)^2 / (1 + exp(-3))^2 = 0.0022 of trees obey."""
    found = rare(3.0).sample(10, seed=1)
    assert len(found.heads) == 10
    assert 0.0012 < found.acceptance < 0.0035


def test_no_trees_are_not_asked_for() -> None:
    with pytest.raises(DeptreeError, match="0 trees are asked for"):
        rare(1.0).sample(0)
