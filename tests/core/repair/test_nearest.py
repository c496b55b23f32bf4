"""The nearest tree that obeys, against enumeration: fewest changes first, then the highest score."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from operator import ne

import numpy as np
import pytest

from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.repair import FREE, Aims, Costs, Given, Objective, Repaired, nearest
from deptree_cli.core.rules import Bound, LabelledTree, Words
from deptree_cli.core.ruleset import Constraint, Ruleset, constraints_of
from deptree_cli.core.spaces import SPACES, TreeSpace
from deptree_cli.io.rules.constraints import SentenceConstraints, WordConstraint
from deptree_cli.io.rules.reading import ruleset_of
from tests import brute_rules
from tests.brute_rules import Tree
from tests.random_rules import Case, random_case

CASES = range(500)
EACH_SPACE = pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)


@dataclass(frozen=True)
class Asked:
    """Rules that are asked of words."""

    rules: Ruleset
    words: Words

    @cached_property
    def forbidden(self) -> Bool:
        return self.rules.forbidden(self.words)

    @cached_property
    def bound(self) -> Sequence[Bound]:
        return self.rules.bound(self.words)

    def listed(self) -> list[Constraint]:
        return constraints_of(self.rules, self.words)


def given_of(case: Case, seed: int) -> Given:
    """Heads and labels of all kinds: free ones, beyond the sentence, the word itself, in cycles; also no label."""
    rng = np.random.default_rng([seed, 1])
    n = case.words.n
    heads = [FREE if rng.random() < 0.15 else int(rng.integers(0, n + 2)) for _ in range(n)]
    labels = ["" if rng.random() < 0.15 else str(rng.choice(case.known.labels)) for _ in range(n)]
    return Given(heads, labels)


def cost_of_word(given: Given, word: int, head: int, label: str, costs: Costs) -> int:
    """What a word costs, from the definition: another head and another label, each."""
    own, name = given.heads[word - 1], given.labels[word - 1]
    return costs.head * (own not in (FREE, head)) + costs.label * (name not in ("", label))


def cost_of(tree: Tree, given: Given, costs: Costs) -> int:
    """What a tree costs."""
    return sum(cost_of_word(given, word, head, label, costs) for head, word, label in tree.arcs())


def solved(case: Case, given: Given, scores: Float, costs: Costs, worth: float = math.inf) -> Repaired | None:
    """What is found; None where it is certain that no tree obeys."""
    asked = Asked(case.rules, case.known)
    try:
        return nearest(given, asked, scores, case.distribution.space, Aims(costs, worth))
    except DeptreeError as error:
        return None if "that obeys the rules" not in error.problem else pytest.fail(error.problem)


def could_be(case: Case) -> Bool:
    """Which arcs with which labels there are whatever scores say, (n+1, n+1, L)."""
    n, names = case.words.n, case.known.labels
    arcs = ~np.eye(n + 1, dtype=np.bool_) & (np.arange(n + 1) > 0)
    is_root, below_root = np.array([name == "root" for name in names]), np.arange(n + 1)[:, None] == 0
    return arcs[..., None] & ((is_root == below_root) | (names == ("",)))[:, None]


def of_tree(case: Case, tree: Tree) -> tuple[int, float]:
    """How many arcs of a tree the scores forbid, and its score."""
    numbers = [case.known.labels.index(each) for each in tree.labels]
    own = [float(case.weights[head, word, numbers[word - 1]]) for head, word, _ in tree.arcs()]
    return sum(map(math.isinf, own)), math.fsum(own)


def in_order(case: Case, given: Given, costs: Costs) -> Iterator[tuple[float, int, float, Tree]]:
    """Every labelled tree with its cost, how many of its arcs scores forbid, and its score, by these: heads times
    labels, then sorted."""
    possible, names, n = could_be(case), case.known.labels, case.words.n
    heads = all_trees(n, case.distribution.space)
    labels = np.array(list(product(range(len(names)), repeat=n)))
    price, forbidden, worth = np.zeros((3, len(heads), len(labels)))
    for word in range(1, n + 1):
        of_arcs = np.array([[cost_of_word(given, word, head, name, costs) for name in names] for head in range(n + 1)])
        rows, columns = heads[:, word - 1, None], labels[None, :, word - 1]
        price += np.where(possible[rows, word, columns], of_arcs[rows, columns], np.inf)
        forbidden += np.isneginf(case.weights[rows, word, columns])
        worth += case.weights[rows, word, columns]
    order = np.lexsort((-worth.ravel(), forbidden.ravel(), price.ravel()))
    for place in order.tolist():
        row, column = divmod(place, len(labels))
        if np.isfinite(price[row, column]):
            tree = Tree(tuple(heads[row].tolist()), tuple(names[label] for label in labels[column].tolist()))
            yield price[row, column], int(forbidden[row, column]), worth[row, column], tree


@pytest.mark.slow("size")
@EACH_SPACE
def test_the_nearest_tree_is_that_of_enumeration(space: TreeSpace) -> None:
    """500 sentences of up to five words: heads, labels and rules of every kind; of as many changes, the fewest arcs
    that scores forbid, then the highest score."""
    none = changed = against = 0
    for seed in CASES:
        case = random_case(space, seed, 5 if seed % 20 == 0 else None)
        given, costs = given_of(case, seed), (Costs(), Costs(2, 1), Costs(1, 3))[seed % 3]
        found = solved(case, given, case.weights, costs)
        best = next((each for each in in_order(case, given, costs) if obeys(case, each[3])), None)
        if best is None or found is None:
            none += 1
            assert best is None, seed
            assert found is None, seed
            continue
        fewest, forbidden, most, _ = best
        tree = Tree(tuple(found.heads.tolist()), found.labels)
        assert found.certified, seed
        assert obeys(case, tree), seed
        assert cost_of(tree, given, costs) == fewest, seed
        own = of_tree(case, tree)
        spread = np.ptp(case.weights[np.isfinite(case.weights)])
        assert own[0] == forbidden, seed
        assert forbidden or own[1] == pytest.approx(most, abs=1e-7 * max(1.0, spread)), seed
        if seed % 5 == 0:
            again = solved(case, Given(tree.heads, tree.labels), case.weights, costs)
            assert again is not None, seed
            assert (tuple(again.heads.tolist()), again.labels) == tree[:2], seed
        changed += fewest > 0
        against += forbidden > 0
    assert none > 10
    assert min(changed, against) > 50


def obeys(case: Case, tree: Tree) -> bool:
    """Whether a tree keeps the rules, masks included."""
    return case.is_obeyed(tree) and all(brute_rules.obeys(tree, *each, case.words) for each in case.tables)


@EACH_SPACE
def test_changes_are_traded_for_nats(space: TreeSpace) -> None:
    """With a worth of w nats the tree has most of score - w cost, without arcs that scores forbid if that can be; with
    0 it is the best tree that obeys."""
    some = against = 0
    for seed in CASES[::5]:
        case = random_case(space, seed)
        given, worth = given_of(case, seed), (0.0, 0.7, 5.0)[seed // 5 % 3]
        found = solved(case, given, case.weights, Costs(), worth)
        trees = [each for each in in_order(case, given, Costs()) if obeys(case, each[3])]
        if not trees:
            assert found is None, seed
            continue
        assert found is not None, seed
        tree = Tree(tuple(found.heads.tolist()), found.labels)
        forbidden, own = of_tree(case, tree)
        assert forbidden == min(each[1] for each in trees), seed
        against += forbidden > 0
        if not forbidden:
            most = max(score - worth * cost for cost, _, score, _ in trees)
            assert own - worth * cost_of(tree, given, Costs()) == pytest.approx(most, abs=1e-9, rel=1e-12), seed
            some += 1
    assert some > 50
    assert against


def test_a_tree_that_obeys_is_left_alone() -> None:
    """Whatever it scores: changes come first."""
    rng = np.random.default_rng(3)
    for n in range(1, 6):
        scores = rng.normal(size=(n + 1, n + 1, 1)) * 1e6
        words = Words(("",), [None] * n, [frozenset()] * n)
        for heads in all_trees(n, SPACES.get("single-root"))[:50].tolist():
            found = nearest(Given(heads, [""] * n), Asked(Ruleset("", ()), words), scores, SPACES.get("single-root"))
            assert found.heads.tolist() == heads


@EACH_SPACE
def test_what_is_given_up_is_as_little_as_can_be(space: TreeSpace) -> None:
    """Every word is asked for a head, in all ways: of the trees in which the fewest words do not have it, the nearest;
    what is given up is what it breaks, and nothing more."""
    words, n, given_up = Words(("",), [None] * 3, [frozenset()] * 3), 3, 0
    trees, scores = all_trees(n, space).tolist(), np.random.default_rng(1).normal(size=(n + 1, n + 1, 1))
    for heads, own in product(product(range(n + 1), repeat=n), ([0, 1, 1], [3, 3, 0], [2, 0, FREE])):
        of_words = tuple(WordConstraint(word, "HeadIn", [str(head)]) for word, head in enumerate(heads, 1))
        asked, given = SentenceConstraints(Ruleset("", ()), words, of_words), Given(own, [""] * n)
        least = min((sum(map(ne, tree, heads)), cost_of(Tree(tree, ("",) * n), given, Costs())) for tree in trees)
        found = nearest(given, asked, scores, space, Aims(relax=True))
        tree = found.heads.tolist()
        broken = [word for word in range(1, n + 1) if tree[word - 1] != heads[word - 1]]
        assert (len(broken), cost_of(Tree(tree, ("",) * n), given, Costs())) == least
        assert found.certified
        names = found.given_up.names if found.given_up else ()
        assert names == tuple(f"HeadIn of word {word}" for word in broken)
        assert found.given_up is None or found.given_up.fewest
        given_up += len(broken) > 0
        if given_up == 1 and broken:
            with pytest.raises(DeptreeError, match=r"^no tree obeys HeadIn of word \d"):
                nearest(given, asked, scores, space)
    assert given_up > 50


@pytest.mark.slow("size")
@EACH_SPACE
def test_with_as_little_given_up_as_can_be_the_nearest_tree_is_that_of_enumeration(space: TreeSpace) -> None:
    """Where no tree obeys: of the trees that break the fewest constraints, the nearest."""
    relaxed = 0
    for seed in CASES:
        case = random_case(space, seed)
        given, asked, costs = given_of(case, seed), Asked(case.rules, case.known), Costs(1, 1 + seed % 2)
        found = nearest(given, asked, case.weights, space, Aims(costs, relax=True))
        if found.given_up is None:
            continue
        constraints = asked.listed()

        def broken(tree: Tree, case: Case = case, constraints: list[Constraint] = constraints) -> int:
            labelled = LabelledTree(tree.heads, [case.known.labels.index(label) for label in tree.labels])
            return sum(each.is_broken_by(labelled) for each in constraints)

        tree = Tree(tuple(found.heads.tolist()), found.labels)
        least = min((broken(each), cost) for cost, *_, each in in_order(case, given, costs))
        assert found.certified, seed
        assert found.given_up.fewest, seed
        assert (len(found.given_up.names), cost_of(tree, given, costs)) == least, seed
        assert broken(tree) == least[0], seed
        relaxed += 1
    assert relaxed > 10


def test_a_budget_that_ends_leaves_a_gap() -> None:
    """It counts changes: no fewer than what is missing, and no more than to the nearest tree that breaks rules but no
    mask, which every bound knows."""
    uncertain = tight = 0
    for seed in CASES:
        case = random_case(SPACES.get("single-root"), seed)
        given = given_of(case, seed)
        try:
            found = nearest(given, Asked(case.rules, case.known), case.weights, case.distribution.space, Aims(budget=2))
        except DeptreeError:
            continue
        fewest = next(cost for cost, *_, tree in in_order(case, given, Costs()) if obeys(case, tree))
        own = cost_of(Tree(tuple(found.heads.tolist()), found.labels), given, Costs())
        assert own - fewest <= found.gap, seed
        if not found.certified:
            at_least = next(cost for cost, *_, tree in in_order(case, given, Costs()) if keeps_masks(case, tree))
            assert found.gap <= own - at_least, seed
            assert found.gap == int(found.gap), seed
            uncertain, tight = uncertain + 1, tight + (found.gap == own - at_least)
    assert uncertain > 3
    assert tight > 3


def keeps_masks(case: Case, tree: Tree) -> bool:
    masks = (each for each in case.tables if each[0] == "mask")
    return all(brute_rules.obeys(tree, *each, case.words) for each in masks)


def test_a_gap_is_by_how_much_less_another_tree_may_cost() -> None:
    """Of trees with up to 5 changes, whose scores take less than another change off, all are tried."""
    unit, costs, steps = 8.0, range(6), range(8)
    for cost, step, gap in product(costs, steps, range(60)):
        score = -unit * cost - step
        least = min(each for each, lost in product(costs, steps) if -unit * each - lost <= score + gap)
        found = Objective(np.empty(0), unit).gap(score, gap)
        assert found == cost - least if score + gap <= 0 else found >= cost
    assert Objective(np.empty(0)).gap(-3.5, 0.25) == 0.25


@EACH_SPACE
def test_one_change_outweighs_what_all_words_lose(space: TreeSpace) -> None:
    """A comma has no dependents: as long as it is one, all others lose their good heads. Of all trees the nearest keeps
    it; where it has no label, scores decide."""
    names, n = ("dep", "punct", "root"), 4
    words, rules = Words(names, [None] * n, [frozenset()] * n), ruleset_of("", {"leaf": ["punct"]})
    scores = np.zeros((n + 1, n + 1, len(names)))
    scores[[0, 1, 2, 4], 1:], scores[:, 3] = -1000.0, 0.0
    trees = [tree for tree in brute_rules.labelled_trees(space, scores, names) if is_labelled(tree)]
    for label in ("punct", ""):
        given = Given([FREE] * n, ["", "", label, ""])
        sound = [each for each in trees if brute_rules.obeys(each, "leaf", {"label": "punct"}, brute(words))]
        best = min(sound, key=lambda each: (cost_of(each, given, Costs()), -each.weight))
        found = nearest(given, Asked(rules, words), scores, space)
        tree = Tree(tuple(found.heads.tolist()), found.labels)
        own = sum(scores[head, word, names.index(name)] for head, word, name in tree.arcs())
        assert (found.certified, cost_of(tree, given, Costs()), own) == (True, 0, best.weight)
        assert (found.labels[2] == "punct") == bool(label)


def is_labelled(tree: Tree) -> bool:
    return all((head == 0) == (label == "root") for head, _, label in tree.arcs())


def brute(words: Words) -> brute_rules.Sentence:
    return brute_rules.Sentence(words.upos, words.feats)


@pytest.mark.parametrize("mask", [-1e15, -1e32, -np.inf])
def test_masks_leave_other_scores_their_digits(mask: float) -> None:
    """Of an arc that no good tree has, a mask; among the others differences of 0.01 decide."""
    words = Words(("",), [None] * 3, [frozenset()] * 3)
    scores = np.zeros((4, 4, 1))
    scores[3, 2], scores[2, 3] = mask, 0.01
    asked, free, space = Asked(Ruleset("", ()), words), Given([0, 1, FREE], [""] * 3), SPACES.get("single-root")
    assert nearest(free, asked, scores, space).heads.tolist() == [0, 1, 2]


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6, 1e12])
def test_a_change_outweighs_every_score(size: float) -> None:
    """Of two trees the one that changes less is taken, however large scores are; and the score decides when equal."""
    words = Words(("",), [None] * 2, [frozenset()] * 2)
    asked, space = Asked(Ruleset("", ()), words), SPACES.get("single-root")
    scores = np.zeros((3, 3, 1))
    scores[2, 1] = scores[0, 2] = size
    assert nearest(Given([0, 1], ["", ""]), asked, scores, space).heads.tolist() == [0, 1]
    assert nearest(Given([0, 0], ["", ""]), asked, scores, space).heads.tolist() == [2, 0]
    assert nearest(Given([FREE, FREE], ["", ""]), asked, scores, space).heads.tolist() == [2, 0]
