"""The nearest tree that obeys, against enumeration: fewest changes first, then the highest score; and habits."""

from __future__ import annotations

import math
import pickle
from dataclasses import replace
from itertools import product
from operator import ne

import numpy as np
import pytest

from deptree_cli.core import repair
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.repair import FREE, Aims, Costs, Given, Habits, Objective, distances, nearest
from deptree_cli.core.rules import Words
from deptree_cli.core.ruleset import Ruleset
from deptree_cli.core.spaces import SPACES
from deptree_cli.io.checking import Excused
from deptree_cli.io.rules.constraints import SentenceConstraints, WordConstraint
from tests.random_rules import Tree, random_case

CASES = range(500)
EACH_SPACE = pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)


def free(n, *of_words):
    return SentenceConstraints(Ruleset("", ()), Words(("",), [None] * n, [frozenset()] * n), of_words)


def asked_of(case):
    return SentenceConstraints(case.rules, case.known, ()), case.weights, case.distribution.space


def given_of(case, seed):
    rng = np.random.default_rng([seed, 1])
    n = case.words.n
    heads = [FREE if rng.random() < 0.15 else int(rng.integers(0, n + 2)) for _ in range(n)]
    labels = ["" if rng.random() < 0.15 else str(rng.choice(case.known.labels)) for _ in range(n)]
    return Given(heads, labels)


def cost_of_word(given, word, head, label, costs):
    own, name = given.heads[word - 1], given.labels[word - 1]
    cost = costs.head * (own not in (FREE, head)) + costs.label * (name not in ("", label))
    return cost + (100 if cost and word in given.kept else 0)


def cost_of(tree, given, costs):
    return sum(cost_of_word(given, word, head, label, costs) for head, word, label in tree.arcs())


def solved(case, given, costs, worth=math.inf):
    try:
        return nearest(given, *asked_of(case), Aims(costs, worth))
    except DeptreeError as error:
        return None if "that obeys the rules" not in error.problem else pytest.fail(error.problem)


def tree_of(found):
    return Tree(tuple(found.heads.tolist()), found.labels)


def could_be(case):
    n, names = case.words.n, case.known.labels
    arcs = ~np.eye(n + 1, dtype=np.bool_) & (np.arange(n + 1) > 0)
    is_root, below_root = np.array([name == "root" for name in names]), np.arange(n + 1)[:, None] == 0
    return arcs[..., None] & ((is_root == below_root) | (names == ("",)))[:, None]


def of_tree(case, tree):
    numbers = [case.known.labels.index(each) for each in tree.labels]
    own = [float(case.weights[head, word, numbers[word - 1]]) for head, word, _ in tree.arcs()]
    return sum(map(math.isinf, own)), math.fsum(own)


def in_order(case, given, costs):
    possible, names, n = could_be(case), case.known.labels, case.words.n
    for word in given.kept:  # also a root below a word
        head, label = given.heads[word - 1], given.labels[word - 1]
        if 0 <= head <= n and head != word:
            possible[head, word, names.index(label) if label else slice(None)] = True
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
def test_the_nearest_tree_is_that_of_enumeration(space):
    """500 sentences of up to five words: heads, labels and rules of every kind; of as many changes, the fewest arcs
    that scores forbid, then the highest score. A tree that obeys is left alone."""
    none = changed = against = 0
    for seed in CASES:
        case = random_case(space, seed, 5 if seed % 20 == 0 else None)
        given, costs = given_of(case, seed), (Costs(), Costs(2, 1), Costs(1, 3))[seed % 3]
        found = solved(case, given, costs)
        best = next((each for each in in_order(case, given, costs) if case.is_obeyed(each[3])), None)
        if best is None or found is None:
            none += 1
            assert best is found, seed
            continue
        (fewest, forbidden, most, _), tree = best, tree_of(found)
        assert found.certified, seed
        assert case.is_obeyed(tree), seed
        assert cost_of(tree, given, costs) == fewest, seed
        own, spread = of_tree(case, tree), np.ptp(case.weights[np.isfinite(case.weights)])
        assert own[0] == forbidden, seed
        assert forbidden or own[1] == pytest.approx(most, abs=1e-7 * max(1.0, spread)), seed
        if seed % 5 == 0:
            assert tree_of(solved(case, Given(tree.heads, tree.labels), costs)) == tree, seed
        changed += fewest > 0
        against += forbidden > 0
    assert none > 10
    assert min(changed, against) > 50


@pytest.mark.slow("size")
@EACH_SPACE
def test_what_is_known_is_excused_and_its_words_are_kept(space):
    """Of trees that break nothing but what is known, each violation by its rule and word: those in which the fewest
    words of these change, then the nearest to what was given."""
    kept = changed = 0
    for seed in CASES:
        case = random_case(space, seed)
        given, (asked, scores, trees) = given_of(case, seed), asked_of(case)
        broken, rng = asked.broken(given.heads, given.labels, space), np.random.default_rng([seed, 2])
        known = {(each.rule, each.word) for each in broken if rng.random() < 0.5}
        given = replace(given, kept={word for _, word in known})

        def is_obeyed(tree, asked=asked, known=known):
            left = asked.broken(tree.heads, tree.labels, space)
            return all((each.rule, each.word) in known for each in left)

        best = next((each for each in in_order(case, given, Costs()) if is_obeyed(each[3])), None)
        try:
            found = nearest(given, Excused(asked, known), scores, trees)
        except DeptreeError:
            assert best is None, seed
            continue
        tree = tree_of(found)
        assert best is not None, seed
        assert is_obeyed(tree), seed
        assert cost_of(tree, given, Costs()) == best[0], seed
        if seed % 5 == 0:  # changes that are traded for nats are not made of them
            traded = tree_of(nearest(given, Excused(asked, known), scores, trees, Aims(worth=0.1)))
            assert cost_of(traded, given, Costs()) // 100 == best[0] // 100, seed
        kept += bool(known) and best[0] < 100
        changed += best[0] >= 100
    assert kept > 80
    assert changed > 150


@EACH_SPACE
def test_changes_are_traded_for_nats(space):
    """With a worth of w nats the tree has most of score - w cost, without arcs that scores forbid if that can be; with
    0 it is the best tree that obeys."""
    some = against = 0
    for seed in CASES[::5]:
        case = random_case(space, seed)
        given, worth = given_of(case, seed), (0.0, 0.7, 5.0)[seed // 5 % 3]
        found = solved(case, given, Costs(), worth)
        trees = [each for each in in_order(case, given, Costs()) if case.is_obeyed(each[3])]
        if not trees:
            assert found is None, seed
            continue
        tree = tree_of(found)
        forbidden, own = of_tree(case, tree)
        assert forbidden == min(each[1] for each in trees), seed
        against += forbidden > 0
        if not forbidden:
            most = max(score - worth * cost for cost, _, score, _ in trees)
            assert own - worth * cost_of(tree, given, Costs()) == pytest.approx(most, abs=1e-9, rel=1e-12), seed
            some += 1
    assert some > 50
    assert against


@EACH_SPACE
def test_what_is_given_up_is_as_little_as_can_be(space):
    """Every word is asked for a head, in all ways: of the trees in which the fewest words do not have it, the nearest;
    what is given up is what it breaks, and nothing more."""
    n, given_up = 3, 0
    trees, scores = all_trees(n, space).tolist(), np.random.default_rng(1).normal(size=(n + 1, n + 1, 1))
    for heads, own in product(product(range(n + 1), repeat=n), ([0, 1, 1], [3, 3, 0], [2, 0, FREE])):
        asked = free(n, *(WordConstraint(word, "HeadIn", [str(head)]) for word, head in enumerate(heads, 1)))
        given = Given(own, [""] * n)
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


def test_a_budget_that_ends_leaves_a_gap():
    """It counts changes: no fewer than what is missing, and no more than to the nearest tree that breaks rules but no
    mask, which every bound knows."""
    uncertain = tight = 0
    for seed in CASES:
        case = random_case(SPACES.get("single-root"), seed)
        given = given_of(case, seed)
        try:
            found = nearest(given, *asked_of(case), Aims(budget=2))
        except DeptreeError:
            continue
        fewest = next(cost for cost, *_, tree in in_order(case, given, Costs()) if case.is_obeyed(tree))
        own = cost_of(tree_of(found), given, Costs())
        assert own - fewest <= found.gap, seed
        if not found.certified:
            at_least = next(cost for cost, *_, tree in in_order(case, given, Costs()) if case.is_unmasked(tree))
            assert found.gap <= own - at_least, seed
            assert found.gap == int(found.gap), seed
            uncertain, tight = uncertain + 1, tight + (found.gap == own - at_least)
    assert uncertain > 3
    assert tight > 3


def test_a_gap_is_by_how_much_less_another_tree_may_cost():
    """Of trees with up to 5 changes, whose scores take less than another change off, all are tried."""
    unit, costs, steps = 8.0, range(6), range(8)
    for cost, step, gap in product(costs, steps, range(60)):
        score = -unit * cost - step
        least = min(each for each, lost in product(costs, steps) if -unit * each - lost <= score + gap)
        found = Objective(np.empty(0), unit).gap(score, gap)
        assert found == cost - least if score + gap <= 0 else found >= cost
    assert Objective(np.empty(0)).gap(-3.5, 0.25) == 0.25


@pytest.mark.quick
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e6, 1e12])
def test_a_change_outweighs_every_score(size):
    space, scores = SPACES.get("single-root"), np.zeros((3, 3, 1))
    scores[2, 1] = scores[0, 2] = size
    for own, repaired in (([0, 1], [0, 1]), ([0, 0], [2, 0]), ([FREE, FREE], [2, 0])):
        assert nearest(Given(own, [""] * 2), free(2), scores, space).heads.tolist() == repaired
    scores = np.zeros((5, 5, 1))
    scores[4, 1:4] = size  # all words but one would gain from other heads
    assert nearest(Given([0, 0, 1, 1], [""] * 4), free(4), scores, space).heads.tolist() == [0, 4, 1, 1]


@pytest.mark.quick
@pytest.mark.parametrize("mask", [-1e15, -1e32, -np.inf])
def test_masks_leave_other_scores_their_digits(mask):
    scores = np.zeros((4, 4, 1))
    scores[3, 2], scores[2, 3] = mask, 0.01
    found = nearest(Given([0, 1, FREE], [""] * 3), free(3), scores, SPACES.get("single-root"))
    assert found.heads.tolist() == [0, 1, 2]


TAGS = ["DET", "NOUN", "VERB"]
CAT = TAGS, [2, 3, 0], ["det", "nsubj", "root"]  # the cat sleeps


def counted(times=2):
    found = Habits()
    for _ in range(times):
        found.add(*CAT)
    return found


def test_an_arc_is_as_probable_as_it_was_counted():
    """Of DET: its head was a NOUN next to it on the right, 2 times of 2; near ones where nothing was counted."""
    scores = counted().arcs(TAGS)
    assert scores[2, 1] == pytest.approx(np.log((2 + repair.ADDED) / (2 + repair.KINDS * repair.ADDED)))
    assert scores[3, 1] == pytest.approx(np.log(repair.ADDED / 2 / (2 + repair.KINDS * repair.ADDED)))
    assert scores[0, 3] == pytest.approx(np.log((2 + repair.ADDED) / (2 + repair.KINDS * repair.ADDED)))
    scores = Habits().arcs(["NOUN"] * 5)
    assert scores[2, 1] > scores[3, 1] > scores[5, 1]


def test_a_label_is_as_probable_as_it_was_counted_and_more_if_it_was_given():
    """`dep` is likelier than what was not counted, less likely than what was, once, of the same part of speech."""
    names, unknown = ("det", "nsubj", "obj", "root"), Given([FREE] * 3, [""] * 3)
    scores = counted().label_scores(TAGS, names, unknown)
    assert np.exp(scores[2, 1]).sum() == pytest.approx(1)
    assert scores[3, 2].argmax() == 1
    given = counted().label_scores(TAGS, names, Given([FREE] * 3, ["", "dobj", ""], [(), ["obj"], ()]))
    np.testing.assert_allclose(given[:, 2, 2] - scores[:, 2, 2], repair.STAYS - 1)
    np.testing.assert_array_equal(given[:, 1], scores[:, 1])
    names = ("acl", "dep", "det", "nsubj", "root")
    for habits, tags, best in ((counted(), TAGS, "det"), (counted(), ["ADJ"] * 3, "dep"), (Habits(), TAGS, "dep")):
        assert names[habits.label_scores(tags, names, unknown)[3, 1].argmax()] == best


def test_counts_add_up_and_travel():
    """Also to habits that were asked before; of two sentences that stand side by side."""
    sum_of_parts, side_by_side, whole = Habits(), Habits(), counted()
    names, unknown, tags = ("dep", "det", "nsubj", "root"), Given([FREE] * 3, [""] * 3), [*TAGS, "X", None]
    assert (sum_of_parts.arcs(TAGS) == side_by_side.arcs(TAGS)).all()
    for each in (counted(1), pickle.loads(pickle.dumps(counted(1)))):
        sum_of_parts += each
    side_by_side.add([*TAGS, *TAGS], [2, 3, 0, 5, 6, 0], CAT[2] * 2)
    for each in (sum_of_parts, side_by_side):
        np.testing.assert_array_equal(each.arcs(tags), whole.arcs(tags))
        np.testing.assert_array_equal(each.label_scores(TAGS, names, unknown), whole.label_scores(TAGS, names, unknown))
        assert each.names(Given([0], [""])) == names
    assert whole
    assert not Habits()


def test_labels_are_those_counted_given_asked_for_and_meant():
    given = Given([0], ["dobj"], [["obj"]])
    assert counted().names(given, ["obj"]) == ("dep", "det", "dobj", "nsubj", "obj", "root")
    passive = Given([2, 0], ["nsubjpass", "root"], [["nsubj:pass", "nsubj"], []])
    assert Habits().names(passive, ["nsubj"]) == ("dep", "nsubj", "nsubj:pass", "nsubjpass", "root")
    assert Habits().names(passive) == ("dep", "nsubjpass", "root")
    assert Habits().names(Given([0], [""])) == ("",)
    assert Habits().names(Given([0], [""]), ["obj"]) == ("dep", "obj", "root")
    assert Habits().names(Given([0, 0], ["root", "root"])) == ("dep", "root")


def test_meanings_of_given_labels():
    others = [["obj", "obj"], ["obl:tmod", "obl"], ["", ""]]
    given = Given([FREE] * 3, ["dobj", "obl", ""], others)
    assert list(given.meanings) == [["dobj", "obj"], ["obl", "obl:tmod"], []]
    assert list(Given([FREE] * 2, ["a", ""]).meanings) == [["a"], []]


def test_classes_of_distance():
    heads = np.array([0, 2, 3, 5, 9, 17, 40])
    assert distances(heads, np.ones_like(heads)).tolist() == [10, 0, 1, 2, 3, 4, 4]
    assert distances(np.array([8, 7, 5]), np.array([9, 9, 9])).tolist() == [5, 6, 7]
