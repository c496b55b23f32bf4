"""Second-order distributions, and arcs that are pinned in them: every answer against enumeration and first order."""

from __future__ import annotations

import math
import pickle
from itertools import product

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.numbers import WIDE
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import PROJECTIVE_MULTI, SPACES, space
from deptree_cli.pruning import expectations
from deptree_cli.second_order.distribution import (
    AXES,
    PARTS,
    SecondOrder,
    SecondOrderArcs,
    checked_part,
    forbids_some,
    kept_arcs,
)
from tests.pearson import chi_square


class PartSums:
    """A second-order distribution from its definition: every projective tree, part by part.

    support: (n+1, n+1), the arcs of trees that have no forbidden part.
    """

    def __init__(self, log_scores, grandparent, sibling, single_root=True):
        self.scores, nodes = (log_scores, grandparent, sibling), len(log_scores)
        self.trees = all_trees(nodes - 1, space(single_root, projective=True))
        self.log_weights = np.array([self.log_weight(tree) for tree in self.trees.tolist()])
        self.log_z = float(np.logaddexp.reduce(self.log_weights))
        with np.errstate(invalid="ignore"):
            self.log_probs = self.log_weights - self.log_z
        self.marginals, self.support = np.zeros((nodes, nodes)), np.zeros((nodes, nodes), dtype=bool)
        for word in range(1, nodes):
            np.add.at(self.marginals[:, word], self.trees[:, word - 1], np.exp(self.log_probs))
            self.support[self.trees[np.isfinite(self.log_weights), word - 1], word] = True

    @staticmethod
    def parts(tree):
        """Of each word the arc (head, word), the part (grandparent, head, word) or (), and (head, sibling, word)."""
        found = []
        for word, head in enumerate(tree, 1):
            same = [other for other, its in enumerate(tree, 1) if its == head and (other < head) == (word < head)]
            inner = [other for other in same if abs(other - head) < abs(word - head)]
            nearest = min(inner, key=lambda other: abs(other - word), default=head)
            found.append(((head, word), (tree[head - 1], head, word) if head else (), (head, nearest, word)))
        return found

    def log_weight(self, tree):
        """The sum of a tree's scores."""
        scored = (pair for parts in self.parts(tree) for pair in zip(self.scores, parts, strict=True))
        return math.fsum(scores[part] for scores, part in scored if scores is not None and part)


EACH_PART = pytest.mark.parametrize("name", PARTS)


@EACH_PART
@pytest.mark.parametrize("n", [1, 2, 5])
def test_parts_are_those_of_projective_trees(name, n):
    which = {"grandparent": 1, "sibling": 2}[name]
    found = {parts[which] for tree in all_trees(n, PROJECTIVE_MULTI).tolist() for parts in PartSums.parts(tree)} - {()}
    assert {tuple(cell) for cell in np.argwhere(PARTS[name](n + 1)).tolist()} == found


@EACH_PART
def test_what_no_tree_has_is_ignored(name):
    """Whatever stands there: parsers fill their arrays with anything."""
    scores = np.where(PARTS[name](4), 1.0, np.nan)
    found = checked_part(name, scores, 4, "log", temperature=2.0)
    np.testing.assert_array_equal(found, np.where(PARTS[name](4), 0.5, -np.inf))
    assert not forbids_some(name, found)
    np.testing.assert_array_equal(np.exp(checked_part(name, scores, 4, "weight")), PARTS[name](4))


@EACH_PART
def test_what_forbids(name):
    cell, scores = tuple(np.argwhere(PARTS[name](4))[-1]), np.ones((4, 4, 4))
    for scores[cell], scale in ((-np.inf, "log"), (-1e32, "log"), (0.0, "weight")):
        found = checked_part(name, scores, 4, scale)
        assert found[cell] == -np.inf
        assert forbids_some(name, found)


@EACH_PART
@pytest.mark.parametrize(
    ("value", "scale", "words"),
    [
        (np.nan, "log", "is NaN. Repair the scores, or forbid such parts: scores[np.isnan(scores)] = -np.inf."),
        (np.nan, "weight", "is NaN"),
        (1e30, "log", "is too large for a score"),
        (np.inf, "weight", "is infinite"),
        (-0.5, "weight", 'is negative. If these are log-scores (logits), pass `scale="log"`.'),
    ],
)
def test_wrong_numbers_are_named(name, value, scale, words):
    cell, scores = tuple(np.argwhere(PARTS[name](4))[0]), np.ones((4, 4, 4))
    scores[cell] = value
    with pytest.raises(DeptreeError) as error:
        checked_part(name, scores, 4, scale)
    place = ", ".join(f"{axis} {node or 'ROOT'}" for axis, node in zip(AXES[name], cell, strict=True))
    assert str(error.value).startswith(f"the {name} score of {place} ")
    assert words in str(error.value)


@EACH_PART
def test_wrong_arrays_are_named(name):
    for scores in (np.ones((4, 4)), np.ones((3, 3, 3)), np.ones((4, 4, 3))):
        with pytest.raises(DeptreeError, match=rf"the {name} scores have shape \({scores.shape[0]}, .*\(4, 4, 4\)"):
            checked_part(name, scores, 4, "log")
    with pytest.raises(DeptreeError, match=f"the {name} scores are of type <U1, not real numbers"):
        checked_part(name, [["a"]], 4, "log")


WITH = {"arcs": (1, 0, 0), "grandparent": (1, 1, 0), "sibling": (1, 0, 1), "both": (1, 1, 1)}
EACH = pytest.mark.parametrize("parts", WITH)
BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def gaussian(n, parts="both", scale=1.0, seed=0, forbidden=0.0):
    """Normal scores of arcs and of the parts named, of which some are forbidden."""
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=(n + 1,) * axes) * scale for axes in (2, 3, 3)]
    for array in arrays:
        array[rng.random(array.shape) < forbidden] = -np.inf
    return tuple(array if is_given else None for array, is_given in zip(arrays, WITH[parts], strict=True))


def check(scores, single_root):
    """Every answer must be that of enumeration; return whether there was a tree at all."""
    exact = PartSums(*scores, single_root)
    if exact.log_z == -np.inf:
        with pytest.raises(DeptreeError, match=r"no .*tree is possible"):
            SecondOrder(*scores, single_root=single_root)
        return False
    found = SecondOrder(*scores, single_root=single_root)
    for chart in (found.factorisation, found.factorisation.in_wide_numbers):
        assert chart.log_z == pytest.approx(exact.log_z, rel=0, abs=1e-10)
        np.testing.assert_allclose(chart.marginals(), exact.marginals, rtol=0, atol=1e-10)
        assert not chart.marginals()[~exact.support].any()
    np.testing.assert_allclose(found.log_probs(exact.trees), exact.log_probs, rtol=0, atol=1e-10)
    assert exact.log_weight(found.argmax().tolist()) == pytest.approx(exact.log_weights.max(), rel=0, abs=1e-10)
    assert np.isfinite(found.log_probs(found.sample(50, 1))).all()
    return True


@EACH
@BOTH
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 200.0, 2000.0])
def test_dense_scores(parts, single_root, scale):
    """Trees that are e^-2000 apart, too: the chart turns to wide numbers by itself."""
    for n in range(1, 6):
        assert check(gaussian(n, parts, scale, seed=n), single_root)


@EACH
@BOTH
def test_forbidden_parts(parts, single_root):
    """Also where they leave no tree: both must happen."""
    found = [
        check(gaussian(n, parts, scale, 10 * n + seed, forbidden), single_root)
        for n, scale, seed, forbidden in product((2, 4), (1.0, 50.0), range(3), (0.1, 0.4))
    ]
    assert set(found) == {True, False}


@BOTH
@pytest.mark.parametrize(("n", "scale"), [(1, 1.0), (12, 1.0), (25, 200.0)])
def test_parts_of_no_weight_change_nothing(n, scale, single_root):
    """First order is another chart; with a grandparent of every arc in the items and without one."""
    scores, nothing = gaussian(n, "arcs", scale)[0], np.zeros((n + 1,) * 3)
    first = TreeDistribution(scores, single_root=single_root, projective=True)
    for parts in ((None, None), (nothing, None), (None, nothing), (nothing, nothing)):
        found = SecondOrder(scores, *parts, single_root=single_root)
        assert found.log_partition == pytest.approx(first.log_partition, rel=1e-13, abs=1e-12)
        np.testing.assert_allclose(found.marginals(), first.marginals(), rtol=0, atol=1e-11)
        np.testing.assert_array_equal(found.argmax(), first.argmax())


@BOTH
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_grandparents_of_no_weight_change_no_siblings(single_root, scale):
    """The same sums in O(n^3) and in O(n^4), for more words than enumeration knows."""
    scores, _, sibling = gaussian(20, "sibling", scale)
    short = SecondOrder(scores, None, sibling, single_root=single_root)
    long = SecondOrder(scores, np.zeros((21,) * 3), sibling, single_root=single_root)
    assert short.log_partition == pytest.approx(long.log_partition, rel=1e-13)
    np.testing.assert_allclose(short.marginals(), long.marginals(), rtol=0, atol=1e-11)
    np.testing.assert_array_equal(short.argmax(), long.argmax())
    heads = long.sample(200, 1)
    np.testing.assert_allclose(short.log_probs(heads), long.log_probs(heads), rtol=1e-12)
    assert (short.log_probs(heads) <= short.log_prob(short.argmax())).all()


def test_float64_hands_over_to_wide_numbers():
    """A cycle that every other tree is e^-400 below, twice: no chart of float64 holds what counts."""
    scores = np.full((5, 5), -1000.0)
    scores[1, 2] = scores[2, 1] = scores[3, 4] = scores[4, 3] = 0.0
    assert SecondOrder(scores).factorisation.kind is WIDE
    assert SecondOrder(scores / 1000).factorisation.kind is not WIDE


@BOTH
def test_offsets_cost_no_digits(single_root):
    """Offsets of words, and of everything that one array holds, change no probability."""
    arcs, sibling = (np.round(part * 2**20) / 2**20 for part in gaussian(6, "sibling") if part is not None)
    of_words = np.round(np.random.default_rng(1).normal(size=7)) * 2.0**30
    moved = SecondOrder(arcs + of_words, None, sibling - 2.0**30, single_root=single_root)
    exact = SecondOrder(arcs, None, sibling, single_root=single_root)
    np.testing.assert_allclose(moved.marginals(), exact.marginals(), rtol=0, atol=1e-13)


def test_log_probs_of_what_is_no_tree():
    found = SecondOrder(*gaussian(4))
    crossing, cycle, two_roots = [3, 4, 0, 3], [2, 1, 0, 3], [0, 0, 2, 3]
    assert (found.log_probs([crossing, cycle, two_roots]) == -np.inf).all()
    assert np.isfinite(SecondOrder(*gaussian(4), single_root=False).log_prob(two_roots))
    with pytest.raises(DeptreeError, match="4 words"):
        found.log_prob([0, 1])


def test_fixed_heads():
    scores = gaussian(5)
    exact, found = PartSums(*scores), SecondOrder(*scores).given([None, 3, None, None, 4])
    chosen = (exact.trees[:, 1] == 3) & (exact.trees[:, 4] == 4)
    log_z = np.logaddexp.reduce(exact.log_weights[chosen])
    assert found.log_partition == pytest.approx(log_z, abs=1e-12)
    with pytest.raises(DeptreeError, match="s-1: no projective tree is possible: the arcs"):
        SecondOrder(*scores, id="s-1").given([3, 4, None, None, None])
    sibling = np.array(scores[2])
    sibling[2, 3, 5] = -np.inf
    with pytest.raises(DeptreeError, match=r"a forbidden part \(by the grandparent and sibling scores\)"):
        SecondOrder(scores[0], scores[1], sibling).given([2, 0, 2, 3, 2])


def test_temperature_and_scale():
    arcs, grandparent, sibling = gaussian(5)
    halved = SecondOrder(arcs / 2, grandparent / 2, sibling / 2)
    for same in (
        SecondOrder(arcs, grandparent, sibling, temperature=2.0),
        SecondOrder(arcs, grandparent, sibling).tempered(2.0),
        SecondOrder(*map(np.exp, (arcs / 2, grandparent / 2, sibling / 2)), scale="weight"),
    ):
        assert same.log_partition == pytest.approx(halved.log_partition, abs=1e-12)
        np.testing.assert_allclose(same.marginals(), halved.marginals(), rtol=0, atol=1e-13)


def test_errors_name_the_sentence():
    arcs, grandparent, sibling = gaussian(3)
    with pytest.raises(DeptreeError, match=r"^s-1: the sibling scores have shape \(4, 4\)"):
        SecondOrder(arcs, grandparent, arcs, id="s-1")
    with pytest.raises(DeptreeError, match=r"^s-1: the scores have shape"):
        SecondOrder(sibling, grandparent, id="s-1")
    with pytest.raises(DeptreeError, match="unknown scale"):
        SecondOrder(arcs, grandparent, scale="odds")


def test_it_is_a_value():
    """It travels between processes, asked or not, and is not taken for first order."""
    found = SecondOrder(*gaussian(4, "grandparent"), id="s-1")
    before = pickle.loads(pickle.dumps(found))
    marginals, heads = found.marginals(), found.sample(30, 1)
    for twin in (before, pickle.loads(pickle.dumps(found))):
        assert (twin.space, twin.sibling, repr(twin)) == (found.space, None, repr(found))
        np.testing.assert_array_equal(twin.marginals(), marginals)
        np.testing.assert_array_equal(twin.sample(30, 1), heads)
        assert not twin.grandparent.flags.writeable
    assert found.marginals() is marginals
    assert not marginals.flags.writeable
    assert not hasattr(found, "entropy")
    assert repr(found) == "<SecondOrder 's-1': 4 words, 16 arcs, projective single-root trees, grandparent scores>"


@pytest.mark.parametrize("part", ["scores", "grandparent", "sibling"])
def test_masks_that_every_tree_needs_are_refused(part):
    """Others do no harm."""
    given = dict(zip(("scores", "grandparent", "sibling"), gaussian(4), strict=True))
    harmless, needed = given[part].copy(), given[part].copy()
    harmless[1, 2, ...] = needed[...] = -9e14
    SecondOrder(**given | {part: harmless})
    needed[0] = -9e14 if part == "grandparent" else 0.0
    if part == "scores":  # words 1 and 2 govern each other
        needed[1, 2] = needed[2, 1] = 0.0
        needed[0, 1:3] = -9e14
    with pytest.raises(DeptreeError, match=r"every tree needs masks .* the best one at word"):
        SecondOrder(**given | {part: needed})


def selections(trees, rng, size):
    """Arcs selected at random, assigned as in a tree; of every fourth selection one is not as in that tree."""
    nodes = trees.shape[1] + 1
    for number in range(size):
        assigned = arcs_of(trees[rng.integers(len(trees))])
        selected = rng.random((nodes, nodes)) < np.where(assigned, rng.random(), rng.random() / 3)
        if number % 4 == 3:
            head, word = rng.integers(nodes), rng.integers(1, nodes)
            selected[head, word] = True
            assigned[head, word] = ~assigned[head, word]
        yield selected.ravel(), assigned.ravel()


def arcs_of(heads):
    """The arcs of a tree, (n+1, n+1)."""
    found = np.zeros((len(heads) + 1,) * 2, dtype=np.bool_)
    found[heads, np.arange(1, len(found))] = True
    return found


def agreeing(trees, selected, assigned):
    """Which trees have all selected arcs as they are assigned, (k,)."""
    return np.array([(arcs_of(tree).ravel() == assigned)[selected].all() for tree in trees], dtype=np.bool_)


def check_masked(program, trees, log_weights, selected, assigned):
    """Sums under a mask must be those over the trees that agree; return whether there are any."""
    possible = agreeing(trees, selected, assigned) & np.isfinite(log_weights)
    log_z, chart = program.inside(program.compile(selected, assigned))
    if not possible.any():
        assert log_z == -np.inf
        return False
    exact = float(np.logaddexp.reduce(log_weights[possible]))
    assert log_z == pytest.approx(exact, rel=1e-13, abs=1e-10)
    probs = np.exp(log_weights[possible] - exact)
    marginals = sum(p * arcs_of(tree) for p, tree in zip(probs, trees[possible], strict=True))
    np.testing.assert_allclose(program.outside(chart), marginals, rtol=0, atol=1e-10)
    assert program.sample(chart, np.random.default_rng(1)).tolist() in trees[possible].tolist()
    return True


@pytest.mark.slow("size")
@BOTH
@EACH
@pytest.mark.parametrize(("scale", "forbidden"), [(0.1, 0), (1, 0), (10, 0), (200, 0), (1, 0.1), (200, 0.1)])
def test_sums_over_parts(single_root, parts, scale, forbidden):
    """One mask after the other in the same memory, some in wide numbers, some of which no tree agrees with."""
    rng, found = np.random.default_rng(0), set()
    for n in (1, 3, 5):
        scores = gaussian(n, parts, scale, n, forbidden)
        exact = PartSums(*scores, single_root)
        if exact.log_z == -np.inf:
            continue
        program = SecondOrderArcs(SecondOrder(*scores, single_root=single_root))
        for selection in selections(exact.trees, rng, 16):
            found.add(check_masked(program, exact.trees, exact.log_weights, *selection))
    assert found == {True, False}


@BOTH
@pytest.mark.parametrize("scale", [1.0, 200.0])
def test_parts_of_no_weight_change_nothing_under_a_mask(single_root, scale):
    """First order over the arcs that are kept agrees for more words than enumeration knows."""
    rng, nothing = np.random.default_rng(3), np.zeros((21,) * 3)
    scores = rng.normal(size=(21, 21)) * scale
    first = TreeDistribution(scores, single_root=single_root, projective=True)
    for parts in ((None, nothing), (nothing, None)):
        program = SecondOrderArcs(SecondOrder(scores, *parts, single_root=single_root))
        for tree, share in product(first.tempered(scale).sample(5, 1), (0.1, 0.5, 0.9)):
            assigned = arcs_of(tree)
            selected = rng.random(assigned.shape) < np.where(assigned, share, 0.1)
            log_z, chart = program.inside(program.compile(selected.ravel(), assigned.ravel()))
            kept = kept_arcs(selected & assigned, selected & ~assigned, first.space)
            plain = TreeDistribution(np.where(kept, scores, -np.inf), space=first.space)
            assert log_z == pytest.approx(plain.log_partition, rel=1e-12, abs=1e-10)
            np.testing.assert_allclose(program.outside(chart), plain.marginals(), rtol=0, atol=1e-10)


@pytest.mark.parametrize("trees", SPACES, ids=lambda space: space.name)
def test_masks_are_their_definition(trees):
    """An arc is pruned if it is selected and negative, or if a selected positive one excludes it."""

    def excludes(pinned, arc):
        (a, b), (c, d) = sorted(pinned), sorted(arc)
        crosses = a < c < b < d or c < a < d < b
        same_word = pinned[1] == arc[1] and pinned != arc
        same_root = trees.single_root and pinned[0] == arc[0] == 0 and pinned != arc
        return same_word or same_root or pinned == arc[::-1] or (trees.projective and crosses)

    rng = np.random.default_rng(5)
    for n in (1, 3, 6):
        nodes = range(n + 1)
        for positive, negative in product((0.05, 0.2), (0.0, 0.2)):
            pinned = rng.random((n + 1, n + 1)) < positive
            pinned[:, 0] = False
            forbidden = (rng.random(pinned.shape) < negative) & ~pinned
            kept = kept_arcs(pinned, forbidden, trees)
            pairs = [(int(i), int(j)) for i, j in np.argwhere(pinned)]
            for arc in product(nodes, nodes):
                assert kept[arc] == (not forbidden[arc] and not any(excludes(pair, arc) for pair in pairs))


@BOTH
@pytest.mark.parametrize("parts", ["sibling", "both"])
@pytest.mark.parametrize("is_masked", [False, True])
def test_draws_follow_the_distribution(single_root, parts, is_masked):
    """H0: 20,000 independent draws from the trees that agree with a mask, of either kind of numbers; p < 1e-6."""
    scores = gaussian(5, parts, 0.7, seed=3)
    exact, program = PartSums(*scores, single_root), SecondOrderArcs(SecondOrder(*scores, single_root=single_root))
    selected, assigned = np.zeros((2, 6, 6), dtype=np.bool_)
    selected[2, 4] = selected[1, 3] = assigned[2, 4] = is_masked
    possible = agreeing(exact.trees, selected.ravel(), assigned.ravel())
    numbers = {tuple(tree): number for number, tree in enumerate(exact.trees[possible].tolist())}
    probs = np.exp(exact.log_weights[possible] - np.logaddexp.reduce(exact.log_weights[possible]))
    _, chart = program.inside(program.compile(selected.ravel(), assigned.ravel()))
    for each in (chart, chart.in_wide_numbers):
        drawn = [numbers[tuple(tree)] for tree in each.sample(20_000, np.random.default_rng(7)).tolist()]
        assert chi_square(np.bincount(drawn, minlength=len(numbers)), probs)[2] > 1e-6


@EACH
def test_where_nothing_is_selected_nothing_is_pruned(parts):
    """The same numbers to the last bit as without a mask, also in memory that was used before."""
    exact = SecondOrder(*gaussian(6, parts, 1.0))
    program = SecondOrderArcs(exact)
    mask = program.everything()
    assert mask.arc.all()
    pinned = program.assign(exact.argmax())
    program.outside(program.inside(program.compile(pinned, pinned))[1])
    log_z, chart = program.inside(mask)
    assert log_z == exact.log_partition
    np.testing.assert_array_equal(program.outside(chart), exact.marginals())
    assert "in_wide_numbers" not in vars(chart)  # to which marginals would turn if adjoints were left over


def test_nothing_possible():
    """Two heads of a word, an arc into ROOT, a cycle: no error, and the next mask is served."""
    program = SecondOrderArcs(SecondOrder(*gaussian(4)))
    for arcs in ([(1, 2), (3, 2)], [(2, 0)], [(1, 1)], [(1, 2), (2, 1)], [(1, 2), (2, 3), (3, 1)], [(0, 1), (0, 2)]):
        pinned = np.zeros((5, 5), dtype=np.bool_)
        pinned[tuple(np.transpose(arcs))] = True
        assert program.inside(program.compile(pinned.ravel(), pinned.ravel()))[0] == -np.inf
    assert np.isfinite(program.inside(program.everything())[0])


@BOTH
def test_what_is_confident(single_root):
    """By the scores of arcs alone, in the same space; never two heads of a word."""
    scores = gaussian(8, "both", 4.0)
    program = SecondOrderArcs(SecondOrder(*scores, single_root=single_root))
    first = TreeDistribution(scores[0], single_root=single_root, projective=True)
    confident = program.confident()
    assert 0 < len(confident) < 8
    np.testing.assert_array_equal(confident, np.flatnonzero(first.marginals().ravel() >= 0.9))


@pytest.mark.slow("statistics")
def test_chains_converge():
    """The worst marginal of 1,000 iterations of 4 chains, around a chain of arcs of which some are confident."""
    n, rng = 10, np.random.default_rng(10)
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[range(n), range(1, n + 1)] += rng.uniform(1, 6, size=n)
    exact = SecondOrder(arcs, *(rng.normal(size=(n + 1,) * 3) for _ in range(2)))
    found = expectations(SecondOrderArcs(exact), "randomized", seed=7)
    np.testing.assert_allclose(found.expectations, exact.marginals(), atol=0.05)
    assert 0 < found.standard_errors.max() < 0.05
    assert found.r_hat < 1.1
