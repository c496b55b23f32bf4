"""The best trees that obey, by division, against enumeration: random small graphs with random rules of every kind."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from deptree_cli.core.constrained import MBR, constrained
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.rule_search import BUDGET, Found
from deptree_cli.core.rules import Function
from deptree_cli.core.ruleset import Ruleset
from deptree_cli.core.spaces import SPACES, TreeSpace
from deptree_cli.io.rules.reading import KINDS
from tests.brute_rules import Tree
from tests.heads_first import HEADS_FIRST
from tests.random_rules import Case, random_case

EACH_SPACE = pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
METHODS = "mst", MBR
CASES = range(500)

# Both methods are tested on the same cases.
case_of = cache(random_case)


def worths_of(case: Case, method: str) -> dict[tuple[int, ...], dict[tuple[str, ...], float]]:
    """What each labelled tree that obeys is worth, by heads and labels: its log-weight, or its expected score."""
    arcs: dict[tuple[int, int, str], float] = {}
    if method == MBR:
        total = np.logaddexp.reduce([tree.weight for tree in case.unmasked])
        for tree in case.unmasked:
            for arc in tree.arcs():
                arcs[arc] = arcs.get(arc, 0.0) + math.exp(tree.weight - total)
    found: dict[tuple[int, ...], dict[tuple[str, ...], float]] = {}
    for tree in case.obedient:
        worth = sum(arcs[arc] for arc in tree.arcs()) if method == MBR else tree.weight
        found.setdefault(tree.heads, {})[tree.labels] = worth
    return found


def tree_of(found: Found, names: Sequence[str]) -> Tree:
    """Its heads and labels."""
    return Tree(tuple(found.heads.tolist()), tuple(names[label] for label in found.labels.tolist()))


def best_or_error(case: Case, size: int, method: str, budget: int = BUDGET) -> list[Found] | str:
    """The best trees under the rules, or why there are none."""
    try:
        return case.constrained().best_trees(size, method, budget)
    except DeptreeError as error:
        return error.problem


@pytest.mark.slow("size")
@pytest.mark.parametrize("method", METHODS)
@EACH_SPACE
def test_the_best_trees_are_those_of_enumeration(space: TreeSpace, method: str) -> None:
    """Best heads first, each once with the best labels that obey; as many as there are; certain; nothing where none is.

    Scores are shifted, so their differences are compared. Where worths are equal any order will do, so worths are
    compared, place by place, and that each tree is worth what its place says.
    """
    none = 0
    for seed in CASES:
        case = case_of(space, seed)
        worths = worths_of(case, method)
        size = (1, 2, 5, 1, 2, 4, 1, 1000)[seed % 8]
        found = best_or_error(case, size, method)
        if not worths:
            none += 1
            assert isinstance(found, str), seed
            assert "no tree that obeys" not in found, seed
            continue
        assert not isinstance(found, str), (seed, found)
        expected = sorted((max(each.values()) for each in worths.values()), reverse=True)[:size]
        trees = [tree_of(each, case.known.labels) for each in found]
        assert len({tree.heads for tree in trees}) == len(trees) == len(expected), seed
        assert all(each.certified for each in found), seed
        actual = [worths[tree.heads][tree.labels] for tree in trees]
        np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-9, err_msg=str(seed))
        scores = [each.score - found[0].score for each in found]
        np.testing.assert_allclose(scores, np.array(expected) - expected[0], rtol=0, atol=1e-9, err_msg=str(seed))
    assert none > 10


@pytest.mark.slow("size")
@pytest.mark.parametrize("method", METHODS)
@EACH_SPACE
def test_a_small_budget_is_never_a_silent_guess(space: TreeSpace, method: str) -> None:
    """What is found obeys; it is the best if it is certified, else no tree is better by more than its gap."""
    uncertain = unknown = 0
    for seed in CASES[::2]:
        case, budget = case_of(space, seed), 1 + seed // 2 % 5
        worths = worths_of(case, method)
        found = best_or_error(case, 3, method, budget)
        if isinstance(found, str):
            unknown += "that obeys" in found
            assert not worths or "that obeys" in found, seed
            continue
        expected = sorted((max(each.values()) for each in worths.values()), reverse=True)
        for each, best in zip(found, expected, strict=False):
            tree = tree_of(each, case.known.labels)
            worth = worths[tree.heads][tree.labels]
            assert each.gap >= 0
            assert each.gap >= best - worth - 1e-9, seed
            assert each.certified or each is found[-1], seed
        uncertain += not found[-1].certified
    assert uncertain > 10
    assert unknown > 0


@pytest.mark.slow("statistics")
@EACH_SPACE
def test_the_masked_distribution_is_the_conditional_one(space: TreeSpace) -> None:
    """P(labelled tree | no forbidden arc with a label), its marginals and its partition function."""
    some = 0
    for seed in CASES[::2]:
        case = case_of(space, seed)
        if not case.unmasked or not any(kind == "mask" for kind, _ in case.tables):
            continue
        some += 1
        found = case.constrained().distribution
        weights = np.array([tree.weight for tree in case.unmasked])
        log_z = np.logaddexp.reduce(weights)
        np.testing.assert_allclose(found.log_partition, log_z, rtol=1e-12, atol=1e-9, err_msg=str(seed))
        heads = np.array([tree.heads for tree in case.unmasked])
        log_probs, expected = found.tree_log_probs(heads), np.zeros((case.words.n + 1,) * 2 + (len(case.known.labels),))
        marginals = found.marginals()[..., None] if found.labels is None else found.labels.marginals(found.marginals())
        if found.labels is not None:
            numbers = np.array([[found.labels.names.index(each) for each in tree.labels] for tree in case.unmasked])
            log_probs = log_probs + found.labels.log_probs_of(heads, numbers)
        np.testing.assert_allclose(log_probs, weights - log_z, rtol=0, atol=1e-9, err_msg=str(seed))
        for tree in case.unmasked:
            for head, word, label in tree.arcs():
                expected[head, word, case.known.labels.index(label)] += math.exp(tree.weight - log_z)
        np.testing.assert_allclose(marginals, expected, rtol=0, atol=1e-9, err_msg=str(seed))
    assert some > 30


@EACH_SPACE
def test_with_its_best_labels_a_tree_is_worth_its_best_labelled_tree(space: TreeSpace) -> None:
    for seed in CASES[::4]:
        case = replace(case_of(space, seed), tables=())
        best: dict[tuple[int, ...], float] = {}
        for tree in case.unmasked:
            best[tree.heads] = max(best.get(tree.heads, -math.inf), tree.weight)
        trees = case.distribution.with_best_labels().top_k(5).tolist()
        expected = sorted(best.values(), reverse=True)[:5]
        found = [best[tuple(tree)] for tree in trees]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9, err_msg=str(seed))


def test_every_kind_of_rules_is_among_the_cases() -> None:
    kinds = [kind for seed in CASES for kind, _ in case_of(SPACES.get("multi-root"), seed).tables]
    assert {kind for kind in kinds if kinds.count(kind) > 30} == set(KINDS)


@pytest.mark.slow("size")
@EACH_SPACE
def test_offsets_of_words_change_nothing_under_rules(space: TreeSpace) -> None:
    """Scores in steps of 2**-20, and 2**7 more for each arc of a word: the same trees, the same probabilities."""
    some = 0
    for seed in CASES[::5]:
        case = case_of(space, seed)
        labels, arcs = case.distribution.labels, np.round(case.distribution.log_scores * 2**20) / 2**20
        if labels is None or not case.obedient:
            continue
        some += 1
        log_probs = np.where(np.isfinite(arcs)[..., None], labels.log_probs, 0.0)
        near, far = (
            replace(case, distribution=TreeDistribution(each, space=space).labelled(labels.names, log_probs))
            for each in (arcs, arcs + 2.0**7 * np.arange(len(arcs)))
        )
        under_rules = near.constrained(), far.constrained()
        marginals = [each.distribution.marginals() for each in under_rules]
        np.testing.assert_allclose(*marginals, rtol=0, atol=1e-12, err_msg=str(seed))
        scores = [np.array([found.score for found in each.best_trees(3)]) for each in under_rules]
        np.testing.assert_allclose(*(each - each[0] for each in scores), rtol=0, atol=1e-9, err_msg=str(seed))
    assert some > 40


def test_where_a_budget_ends_no_trees_of_another_space_are_found() -> None:
    """Where heads come first, not every projective tree is a tree of the space; the best one of all is none."""
    scores = np.zeros((4, 4))
    scores[2, 1] = scores[3, 2] = 5.0
    rules = Ruleset("x", (Function("one below ROOT", _several_below_root),))
    under_rules = constrained(TreeDistribution(scores, space=HEADS_FIRST), rules)
    assert under_rules.best_trees()[0].heads.tolist() in ([0, 1, 1], [0, 1, 2])
    with pytest.raises(DeptreeError, match="no tree that obeys the rules was found among 2 maximum trees"):
        under_rules.best_trees(budget=1)


def _several_below_root(heads: Sequence[int], labels: Sequence[str]) -> list[int]:
    words = [word for word, head in enumerate(heads, 1) if head == 0]
    return words[:2] if len(words) > 1 else []
