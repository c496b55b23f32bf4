"""The best trees under rules, by division and by linear programs.

All against enumeration: random small graphs with random rules of every kind.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from deptree_cli.core.constrained import MBR, constrained
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.rule_program import BranchAndCut
from deptree_cli.core.rule_search import BUDGET, BranchAndBound, LogScores
from deptree_cli.core.rules import Function, LabelledTree
from deptree_cli.core.ruleset import Ruleset
from deptree_cli.core.spaces import SPACES
from deptree_cli.io.rules.constraints import repaired
from deptree_cli.io.rules.reading import KINDS
from deptree_cli.kernels.trees import reaches
from tests.heads_first import HEADS_FIRST
from tests.random_rules import random_case

EACH_SPACE = pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
CASES = range(500)
# Both methods are tested on the same cases.
case_of = cache(random_case)


def solved(case, size, method, budget=BUDGET):
    """The best trees or why there are none, what these are worth, and what the best trees of enumeration are worth.

    The worth of a labelled tree that obeys is its log-weight, or its expected score.
    """
    arcs, worths = Counter(), {}
    if method == MBR:
        total = np.logaddexp.reduce([tree.weight for tree in case.unmasked])
        for tree in case.unmasked:
            arcs.update(dict.fromkeys(tree.arcs(), math.exp(tree.weight - total)))
    for tree in case.obedient:
        worth = sum(arcs[arc] for arc in tree.arcs()) if method == MBR else tree.weight
        worths.setdefault(tree.heads, {})[tree.labels] = worth
    best = sorted((max(each.values()) for each in worths.values()), reverse=True)
    try:
        found = case.constrained().best_trees(size, method, budget)
    except DeptreeError as error:
        return error.problem, [], best
    named = [tuple(case.known.labels[label] for label in each.labels.tolist()) for each in found]
    return found, [worths[tuple(each.heads)][labels] for each, labels in zip(found, named, strict=True)], best


@pytest.mark.slow("size")
@pytest.mark.parametrize("method", ["mst", MBR])
@EACH_SPACE
def test_the_best_trees_are_those_of_enumeration(space, method):
    """Best heads first, each once with the best labels that obey; as many as there are; certain; nothing where none is.

    Scores are shifted, so their differences are compared. Where worths are equal any order will do, so worths are
    compared, place by place, and that each tree is worth what its place says.
    """
    none = 0
    for seed in CASES:
        size = (1, 2, 5, 1, 2, 4, 1, 1000)[seed % 8]
        found, worths, best = solved(case_of(space, seed), size, method)
        if not best:
            none += 1
            assert isinstance(found, str), seed
            assert "no tree that obeys" not in found, seed
            continue
        assert not isinstance(found, str), (seed, found)
        assert len({tuple(each.heads) for each in found}) == len(found) == len(best[:size]), seed
        assert all(each.certified for each in found), seed
        np.testing.assert_allclose(worths, best[:size], rtol=0, atol=1e-9, err_msg=str(seed))
        scores, differences = [each.score - found[0].score for each in found], np.array(best[:size]) - best[0]
        np.testing.assert_allclose(scores, differences, rtol=0, atol=1e-9, err_msg=str(seed))
    assert none > 10


@pytest.mark.slow("size")
@pytest.mark.parametrize("method", ["mst", MBR])
@EACH_SPACE
def test_a_small_budget_is_never_a_silent_guess(space, method):
    """What is found obeys; it is the best if it is certified, else no tree is better by more than its gap."""
    uncertain = unknown = 0
    for seed in CASES[::2]:
        found, worths, bests = solved(case_of(space, seed), 3, method, budget=1 + seed // 2 % 5)
        if isinstance(found, str):
            unknown += "that obeys" in found
            assert not bests or "that obeys" in found, seed
            continue
        for each, worth, best in zip(found, worths, bests, strict=False):
            assert each.gap >= max(0, best - worth - 1e-9), seed
            assert each.certified or each is found[-1], seed
        uncertain += not found[-1].certified
    assert uncertain > 10
    assert unknown > 0


@pytest.mark.slow("statistics")
@EACH_SPACE
def test_the_masked_distribution_is_the_conditional_one(space):
    """P(labelled tree | no forbidden arc with a label), its marginals and its partition function."""
    some = 0
    for seed in CASES[::2]:
        case = case_of(space, seed)
        if not case.unmasked or "mask" not in dict(case.tables):
            continue
        some += 1
        found, names, words = case.constrained().distribution, case.known.labels, range(1, case.words.n + 1)
        weights = np.array([tree.weight for tree in case.unmasked])
        log_probs = weights - np.logaddexp.reduce(weights)
        heads = np.array([tree.heads for tree in case.unmasked])
        labels = np.array([[names.index(label) for label in tree.labels] for tree in case.unmasked])
        own, marginals = found.tree_log_probs(heads), found.marginals()[..., None]
        if found.labels is not None:
            own = own + found.labels.log_probs_of(heads, labels)
            marginals = found.labels.marginals(found.marginals())
        expected = np.zeros((len(words) + 1, len(words) + 1, len(names)))
        for tree, its, prob in zip(heads, labels, np.exp(log_probs), strict=True):
            expected[tree, words, its] += prob
        np.testing.assert_allclose(found.log_partition, weights[0] - log_probs[0], rtol=1e-12, atol=1e-9)
        np.testing.assert_allclose(own, log_probs, rtol=0, atol=1e-9, err_msg=str(seed))
        np.testing.assert_allclose(marginals, expected, rtol=0, atol=1e-9, err_msg=str(seed))
    assert some > 30


@EACH_SPACE
def test_with_its_best_labels_a_tree_is_worth_its_best_labelled_tree(space):
    for seed in CASES[::4]:
        case, best = replace(case_of(space, seed), tables=()), {}
        for tree in case.unmasked:
            best[tree.heads] = max(best.get(tree.heads, -math.inf), tree.weight)
        found = [best[tuple(tree)] for tree in case.distribution.with_best_labels().top_k(5).tolist()]
        np.testing.assert_allclose(found, sorted(best.values(), reverse=True)[:5], rtol=0, atol=1e-9, err_msg=str(seed))


def test_every_kind_of_rules_is_among_the_cases():
    kinds = [kind for seed in CASES for kind, _ in case_of(SPACES.get("multi-root"), seed).tables]
    assert {kind for kind in kinds if kinds.count(kind) > 30} == set(KINDS)


# What costs may be apart for equal trees: of each of eight words 2^-17 decides between these.
APART = 8 * 2.0**-17


def costs_of(case, rng, unit):
    whole = LogScores(case.constrained().distribution).whole
    fine = rng.random(whole.shape) * rng.choice([0.3, 1.0, 3.0])
    costs = fine if unit is None else fine + unit * rng.integers(0, 3, whole.shape)
    return np.where(whole > -np.inf, costs, np.inf)


def cost_of(heads, labels, costs):
    return float(costs[heads, np.arange(1, len(costs)), labels].sum())


def is_certain(settled):
    return settled.incumbent is not None and settled.bound >= settled.incumbent.cost - 1e-6


@pytest.mark.parametrize("seeds", [range(0, 125, 5), pytest.param(range(125), marks=pytest.mark.slow("size"))], ids=len)
@EACH_SPACE
def test_the_cheapest_trees_are_those_of_enumeration(space, seeds):
    none = 0
    for seed in seeds:
        case, rng = random_case(space, seed), np.random.default_rng(seed)
        try:
            constrained = case.constrained()
        except DeptreeError:
            continue
        unit = 32.0 if seed % 2 else None
        costs, names = costs_of(case, rng, unit), case.known.labels
        expected = [cost_of(tree.heads, [names.index(each) for each in tree.labels], costs) for tree in case.obedient]
        settled = BranchAndCut(costs, space, constrained.rules, 3000, 300, unit).settle()
        if not expected:
            none += 1
            assert settled.incumbent is None
            assert settled.bound == np.inf, seed
            continue
        assert is_certain(settled), seed
        found = settled.incumbent
        assert cost_of(found.heads, found.labels, costs) == pytest.approx(min(expected), rel=0, abs=APART), seed
    assert none > 3 or len(seeds) < 125


def case_and_rules(space, seed, n):
    case = random_case(space, seed, n)
    return case, case.rules.bound(case.known)


def obeys(found, rules, space):
    tree = LabelledTree(found.heads.tolist(), found.labels.tolist())
    return space.contains(found.heads[None]).all() and not any(True for each in rules for _ in each.nogoods(tree))


def medium(space, seeds):
    """Scores and rules of sentences of 5 to 8 words of which the maximum tree breaks some."""
    for seed in seeds:
        rng = np.random.default_rng([seed, 7])
        case, rules = case_and_rules(space, seed, int(rng.integers(5, 9)))
        unit = 32.0 if seed % 2 else None
        n, size = case.words.n, len(case.known.labels)
        scores = -rng.random((n + 1, n + 1, size)) * rng.choice([0.3, 1.0, 3.0])
        scores -= (unit or 0.0) * rng.integers(0, 3, scores.shape)
        scores[:, 0] = scores[np.diag_indices(n + 1)] = -np.inf
        first = next(BranchAndBound(scores, space, [], 1).trees())
        if rules and not obeys(first, rules, space):
            yield scores, rules, unit


@pytest.mark.slow("size")
@EACH_SPACE
def test_no_certified_tree_is_another_than_that_of_a_long_search(space):
    """Sentences of 5 to 8 words beside a search with 3,000 maximum trees; `certified` is never wrong."""
    both = uncertain = 0
    for scores, rules, unit in medium(space, range(175)):
        search = BranchAndBound(scores, space, rules, 3000, unit)
        long = next(search.trees(), None)
        settled = BranchAndCut(-scores, space, rules, 600, 300, unit).settle()
        if long is None or settled.incumbent is None:
            assert not (search.is_infeasible and settled.incumbent is not None)
            assert not (long is not None and settled.bound == np.inf)
            continue
        assert obeys(settled.incumbent, rules, space)
        assert settled.bound <= -long.score + APART
        uncertain += not is_certain(settled)
        if long.certified:
            both += is_certain(settled)
            assert settled.incumbent.cost >= -long.score - APART
            assert not is_certain(settled) or settled.incumbent.cost <= -long.score + APART
    assert both >= 15
    assert uncertain <= 0.1 * both


@EACH_SPACE
def test_a_budget_that_is_too_small_still_gives_a_tree_and_an_honest_gap(space):
    found = missed = 0
    for scores, rules, unit in medium(space, range(175)):
        best = BranchAndBound(scores, space, rules, 3000, unit).best()
        tree = next(BranchAndBound(scores, space, rules, 12, unit).trees(), None)
        if best is None or not best.certified or (tree is not None and tree.certified):
            continue
        if tree is None:
            missed += 1
            continue
        found += 1
        assert obeys(tree, rules, space)
        assert tree.score <= best.score + APART <= tree.score + tree.gap + 2 * APART
    assert found >= 10
    assert missed <= 10


@EACH_SPACE
def test_equal_trees_come_in_one_order_whatever_vertices_are_found(space, monkeypatch):
    """Costs of 0 and 1 alone; the simplex method, dual and primal, with other seeds."""
    highspy, how, equal = pytest.importorskip("highspy"), {}, 0

    def made(original=highspy._Highs):
        found = original()
        for name, value in how.items():
            found.setOptionValue(name, value)
        return found

    monkeypatch.setattr(highspy, "_Highs", made)
    for scores, rules, _ in medium(space, range(12)):
        costs, answers = np.where(scores > -np.inf, np.floor(np.nan_to_num(scores)) % 2, np.inf), set()
        for how["simplex_strategy"], how["random_seed"] in ((1, 0), (1, 5), (4, 0)):
            settled = BranchAndCut(costs, space, rules, 600, 300).settle()
            if is_certain(settled):
                answers.add((settled.incumbent.heads.tobytes(), settled.incumbent.labels.tobytes()))
        assert len(answers) <= 1
        equal += len(answers)
    assert equal > 1


def test_of_another_space_the_bound_holds():
    certain = 0
    for seed in range(60):
        case, rules = case_and_rules(HEADS_FIRST, seed, 4)
        costs = np.random.default_rng(seed).random((5, 5, len(case.known.labels)))
        costs[:, 0] = costs[np.diag_indices(5)] = np.inf
        long = next(BranchAndBound(-costs, HEADS_FIRST, rules, 3000).trees(), None)
        settled = BranchAndCut(costs, HEADS_FIRST, rules, 300, 300).settle()
        assert settled.bound <= (-long.score if long else np.inf) + APART, seed
        assert settled.incumbent is None or obeys(settled.incumbent, rules, HEADS_FIRST)
        certain += is_certain(settled)
    assert certain > 10


def test_where_a_budget_ends_no_trees_of_another_space_are_found():
    """Where heads come first, not every projective tree is a tree of the space; the best one of all is none."""
    scores = np.zeros((4, 4))
    scores[2, 1] = scores[3, 2] = 5.0

    def several_below_root(heads, labels):
        words = [word for word, head in enumerate(heads, 1) if head == 0]
        return words[:2] if len(words) > 1 else []

    rule = Function("one below ROOT", several_below_root)
    under_rules = constrained(TreeDistribution(scores, space=HEADS_FIRST), Ruleset("x", (rule,)))
    assert under_rules.best_trees()[0].heads.tolist() in ([0, 1, 1], [0, 1, 2])
    with pytest.raises(DeptreeError, match="no tree that obeys the rules was found among 2 maximum trees"):
        under_rules.best_trees(budget=1)


def test_enough_flows_as_scipy_has_it():
    """Random capacities of sixteenths; where too little flows, the nodes that still reach the sink cut it off."""
    rng, too_little = np.random.default_rng(3), 0
    for _ in range(200):
        size = int(rng.integers(3, 9))
        whole = rng.integers(0, 5, (size, size)).astype(np.int32) * (rng.random((size, size)) < 0.5)
        flow = maximum_flow(csr_matrix(whole.astype(np.int32)), 0, size - 1)
        need, reached = float(rng.integers(1, 8)) / 16, np.ones(size, dtype=bool)
        enough = reaches(whole / 16, 0, size - 1, need, reached)
        assert enough == (flow.flow_value / 16 >= need)
        if not enough:
            too_little += 1
            assert reached[size - 1]
            assert not reached[0]
            assert whole[np.ix_(~reached, reached)].sum() == flow.flow_value
            left = csr_matrix((whole - flow.flow.toarray()).T)
            assert set(np.flatnonzero(reached)) == set(breadth_first_order(left, size - 1, return_predecessors=False))
    assert 50 < too_little < 150


def test_without_highspy_only_what_is_hard_ends(monkeypatch):
    labels = ["punct" if word % 3 == 0 else ("nsubj", "obj")[word % 2] for word in range(1, 19)]
    tags = ["PUNCT" if label == "punct" else "NOUN" for label in labels]
    hard = [16, 5, 14, 9, 3, 9, 2, 13, 2, 13, 4, 6, 17, 8, 6, 18, 15, 11], labels, tags
    with_it = repaired(*hard)
    assert with_it.certified
    assert with_it.opened > 10
    monkeypatch.setitem(sys.modules, "highspy", None)
    assert repaired([2, 3, 2], ["det", "nsubj", "root"], ["DET", "NOUN", "VERB"]).heads.tolist() == [2, 3, 0]
    with pytest.raises(DeptreeError, match="highspy, which settles that, is not installed"):
        repaired(*hard)
    with pytest.raises(DeptreeError, match="no tree that obeys the rules was found among"):
        repaired(*hard, budget=10)
