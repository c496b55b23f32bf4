"""What cannot hold together, and the fewest constraints to give up, against every tree and every set of constraints.

Hypotheses, on random graphs of up to 4 words with labels in each tree space, under random constraints of which one tree
rarely obeys all: the conflict named holds for no tree, and loses that if any of its constraints is left out; what is
given up is the least number of constraints that some tree breaks, and of as few those whose best tree is the best.
"""

from __future__ import annotations

import re
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
import pytest

from deptree_cli import TreeDistribution
from deptree_cli.core import rules as kinds
from deptree_cli.core.constrained import constrained, under
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rule_search import Relaxation, listed_names
from deptree_cli.core.rules import Choice, Condition, LabelledTree, Mask, Words
from deptree_cli.core.ruleset import Constraint, Ruleset, conflicting, constraints_of, of_word, rules_of
from deptree_cli.core.spaces import SPACES

LABELS = ("root", "subj", "obj")
GRAPHS = 40
EACH_SPACE = pytest.mark.parametrize("space", SPACES, ids=str)


class Case(NamedTuple):
    """A random sentence with its constraints, and every tree of it: its score, and the constraints that it breaks."""

    constraints: Relaxation
    names: list[str]
    scores: np.ndarray
    broken: np.ndarray

    def can_hold(self, numbers):
        return bool((~self.broken[:, list(numbers)].any(axis=1)).any())


def random_constraints(rng, n):
    """Most forbid a word much, and some only a tree decides."""
    words = Words(LABELS, [None] * n, [frozenset()] * n)
    for number in range(rng.integers(2, 9)):
        arcs = rng.random((n + 1, len(LABELS))) < rng.choice([0.4, 0.6, 0.9])
        yield of_word(f"mask-{number}", Choice(int(rng.integers(1, n + 1)), arcs))
    rules = [
        kinds.AtMostOne("single", ("subj", "obj")),
        kinds.Below("leaf", Condition(("subj",))),
        kinds.NoCrossing("crossing", ("obj",)),
        kinds.Function("chain", lambda heads, labels: [1] if 0 not in heads[:1] else None),
        *[kinds.Function("never", lambda heads, labels: [1, n][: 1 + (n > 1)])] * bool(rng.random() < 0.1),
    ]
    bounds = [(rule.name, rule.bound(words)) for rule in rules]
    span = Words(LABELS, words.upos, words.feats, ((int(rng.integers(1, n + 1)), n),))
    for name, bound in [*bounds, ("span", kinds.Together().bound(span))]:
        if rng.random() < 0.5 and bound:
            yield Constraint(name, bound)


def cases(space, infeasible):
    rng, left = np.random.default_rng(29), GRAPHS
    while left:
        n = int(rng.choice([1, 2, 3, 3, 3, 3, 3, 4]))
        scores = rng.normal(size=(n + 1, n + 1, len(LABELS))) * rng.choice([1.0, 10.0])
        base = TreeDistribution(scores, labels=LABELS, space=space)
        constraints = list(random_constraints(rng, n))
        trees = [*product(all_trees(n, space).tolist(), product(range(len(LABELS)), repeat=n))]
        totals = np.array([base.joint_log_scores()[heads, range(1, n + 1), labels].sum() for heads, labels in trees])
        kept = np.flatnonzero(totals > -np.inf)
        broken = [[each.is_broken_by(LabelledTree(*trees[at])) for each in constraints] for at in kept]
        names = [each.name for each in constraints]
        found = Case(Relaxation(base, lambda all_=constraints: all_), names, totals[kept], np.array(broken))
        if found.can_hold(range(len(names))) != infeasible:
            left -= 1
            yield found


@pytest.mark.slow("size")
@EACH_SPACE
def test_a_conflict_holds_for_no_tree_and_needs_all_its_demands(space):
    sizes = set()
    for each in cases(space, infeasible=True):
        said = str(each.constraints.error())
        listed = said.partition(" obeys ")[2].partition(". Give ")[0].removesuffix(" together")
        named = [each.names.index(name) for name in re.split(", | and ", listed)]
        sizes.add(len(named))
        assert said.partition(": ")[2].startswith("no tree obeys ")
        assert not each.can_hold(named)
        assert all(each.can_hold([other for other in named if other != one]) for one in named)
    assert {1, 2} <= sizes


@pytest.mark.slow("size")
@EACH_SPACE
@pytest.mark.parametrize("infeasible", [True, False])
def test_the_fewest_are_given_up_and_the_best_of_these_trees_found(space, infeasible):
    sizes = set()
    for each in cases(space, infeasible):
        asked, counts = each.constraints, each.broken.sum(axis=1)
        found = under(asked, asked.forbidden(asked.all), rules_of(asked.all), relax=True)
        best = int(np.where(counts == counts.min(), each.scores, -np.inf).argmax())
        names = [each.names[at] for at in np.flatnonzero(each.broken[best])]
        given_up = found.given_up
        assert (given_up and (list(given_up.names), given_up.fewest)) == ((names, True) if infeasible else None)
        (tree, *_), words = found.best_trees(), np.arange(1, found.distribution.n + 1)
        score = asked.base.joint_log_scores()[tree.heads, words, tree.labels].sum()
        assert score == pytest.approx(each.scores[best], abs=1e-9)
        assert tree.certified
        sizes.add(len(names))
    assert (len(sizes) > 1) == infeasible


def test_a_small_budget_gives_up_something_that_is_enough_and_says_if_fewer_may_be():
    """With one maximum tree an answer still comes; it is called the fewest only if it is."""
    unsure = 0
    for each in cases(SPACES.get("single-root"), infeasible=True):
        broken, fewest = each.constraints.broken(budget=1)
        kept = [at for at, name in enumerate(each.names) if name not in {one.name for one in broken}]
        assert each.can_hold(kept)
        assert not fewest or len(broken) == each.broken.sum(axis=1).min()
        unsure += not fewest
    assert unsure


def test_quickxplain_on_any_sets():
    """What is named is one of the sets that cannot hold together; 2 of 1,000 are found with some 40 questions."""
    rng, questions = np.random.default_rng(3), []
    for _ in range(300):
        size = int(rng.integers(1, 12))
        bad = [frozenset(rng.choice(size, rng.integers(1, size + 1), replace=False).tolist()) for _ in range(3)]
        found = conflicting(range(size), lambda some, bad=bad: not any(each <= set(some) for each in bad))
        assert frozenset(found) in bad
        assert not any(set(part) >= each for part in combinations(found, len(found) - 1) for each in bad)
    conflicting(range(1000), lambda some: questions.append(some) or not {3, 700} <= set(some))
    assert len(questions) <= 45


def test_masks_are_demands_of_each_word_and_rules_of_the_tree():
    words = Words(LABELS, ["NOUN", "VERB", "NOUN"], [frozenset()] * 3)
    rules = Ruleset("r", (Mask("no-subj", Condition(("subj",), ("NOUN",))), kinds.AtMostOne("one", ("obj",))))
    assert [each.name for each in constraints_of(rules, words)] == ["no-subj of word 1", "no-subj of word 3", "one"]


def test_rules_from_python_are_given_up_if_asked():
    base = TreeDistribution(np.zeros((3, 3, 3)), labels=LABELS, id="x")
    rules = Ruleset("r", (Mask("no-arcs", Condition(("subj", "obj"))), Mask("no-root", Condition(("root",)))))
    with pytest.raises(DeptreeError, match=r"^x: no tree obeys .*no-.* of word .*\. Give .* or pass `relax=True`\.$"):
        constrained(base, rules)
    found = constrained(base, rules, relax=True)
    assert found.given_up is not None
    assert len(found.given_up.names) == 2  # of each word one: root for one of them, and an arc for the other
    assert found.best_trees()[0].certified


def test_names_are_listed_up_to_six():
    assert listed_names(["a"]) == "a"
    assert listed_names(["a", "b"]) == "a and b together"
    assert listed_names(list("abcdefg")) == "a, b, c, d, e, f and g together"
    assert listed_names(list("abcdefgh")) == "a, b, c, d, e, f and 2 more together"
