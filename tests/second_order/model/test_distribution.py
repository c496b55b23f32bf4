"""Second-order distributions: every answer against enumeration, against first order where the two must agree."""

from __future__ import annotations

import copy
import pickle
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.numbers import WIDE
from deptree_cli.second_order.distribution import SecondOrder
from tests.pearson import chi_square

Float = NDArray[np.float64]
Scores = tuple[Float, Float | None, Float | None]

PARTS = {"arcs": (False, False), "grandparent": (True, False), "sibling": (False, True), "both": (True, True)}
EACH = pytest.mark.parametrize("parts", PARTS)
BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


def gaussian(n: int, parts: str = "both", scale: float = 1.0, seed: int = 0, forbidden: float = 0.0) -> Scores:
    """Normal scores of arcs and of the parts named, of which some are forbidden."""
    rng = np.random.default_rng(seed)
    arrays = [rng.normal(size=(n + 1,) * axes) * scale for axes in (2, 3, 3)]
    for array in arrays:
        array[rng.random(array.shape) < forbidden] = -np.inf
    with_grandparent, with_sibling = PARTS[parts]
    return arrays[0], arrays[1] if with_grandparent else None, arrays[2] if with_sibling else None


def check(scores: Scores, single_root: bool, part_sums: Any) -> bool:
    """Every answer must be that of enumeration; return whether there was a tree at all."""
    exact = part_sums(*scores, single_root)
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
    drawn = found.log_probs(found.sample(50, 1))
    assert np.isfinite(drawn).all()
    return True


@EACH
@BOTH
@pytest.mark.parametrize("scale", [0.1, 1.0, 10.0, 200.0])
def test_dense_scores(parts: str, single_root: bool, scale: float, part_sums) -> None:
    for n in range(1, 6):
        assert check(gaussian(n, parts, scale, seed=n), single_root, part_sums)


@EACH
@BOTH
def test_forbidden_parts(parts: str, single_root: bool, part_sums) -> None:
    """Also where they leave no tree: both must happen."""
    found = [
        check(gaussian(n, parts, scale, 10 * n + seed, forbidden), single_root, part_sums)
        for n, scale, seed, forbidden in product((2, 4), (1.0, 50.0), range(3), (0.1, 0.4))
    ]
    assert set(found) == {True, False}


@BOTH
@pytest.mark.parametrize("parts", ["sibling", "both"])
def test_draws_follow_the_distribution(single_root: bool, parts: str, part_sums) -> None:
    """H0: 20,000 independent draws from the distribution, of either kind of numbers; chi-square, p < 1e-6 by chance."""
    scores = gaussian(5, parts, 0.7, seed=3)
    exact, chart = part_sums(*scores, single_root), SecondOrder(*scores, single_root=single_root).factorisation
    numbers = {tuple(tree): number for number, tree in enumerate(exact.trees.tolist())}
    for each in (chart, chart.in_wide_numbers):
        heads = each.sample(20_000, np.random.default_rng(7))
        drawn = [numbers[tuple(tree)] for tree in heads.tolist()]
        assert chi_square(np.bincount(drawn, minlength=len(exact.trees)), np.exp(exact.log_probs))[2] > 1e-6


@BOTH
@pytest.mark.parametrize(("n", "scale"), [(1, 1.0), (12, 1.0), (25, 200.0)])
def test_parts_of_no_weight_change_nothing(n: int, scale: float, single_root: bool) -> None:
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
def test_grandparents_of_no_weight_change_no_siblings(single_root: bool, scale: float) -> None:
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


@EACH
@BOTH
def test_beyond_float64(parts: str, single_root: bool, part_sums) -> None:
    """Trees e^-2000 and less apart: the chart turns to wide numbers by itself."""
    scores = gaussian(5, parts, 2000.0, seed=1)
    scores[0][0] -= 5000.0
    exact, found = part_sums(*scores, single_root), SecondOrder(*scores, single_root=single_root)
    assert found.log_partition == pytest.approx(exact.log_z, rel=1e-14)
    np.testing.assert_allclose(found.marginals(), exact.marginals, rtol=0, atol=1e-10)


def test_float64_hands_over_to_wide_numbers() -> None:
    """A cycle that every other tree is e^-400 below, twice: no chart of float64 holds what counts."""
    scores = np.full((5, 5), -1000.0)
    scores[1, 2] = scores[2, 1] = scores[3, 4] = scores[4, 3] = 0.0
    found = SecondOrder(scores)
    assert found.factorisation.kind is WIDE
    assert SecondOrder(scores / 1000).factorisation.kind is not WIDE
    first = TreeDistribution(scores, projective=True)
    np.testing.assert_allclose(found.marginals(), first.marginals(), rtol=0, atol=1e-12)


@BOTH
def test_offsets_cost_no_digits(single_root: bool) -> None:
    """Offsets of words, and of everything that one array holds, change no probability."""
    arcs, _, sibling = gaussian(6, "sibling")
    plain = SecondOrder(arcs, None, sibling, single_root=single_root)
    of_words = np.round(np.random.default_rng(1).normal(size=7)) * 2.0**30
    moved = SecondOrder(
        np.round(arcs * 2**20) / 2**20 + of_words, None, np.round(sibling * 2**20) / 2**20 - 2.0**30, "log", single_root
    )
    exact = SecondOrder(
        np.round(arcs * 2**20) / 2**20, None, np.round(sibling * 2**20) / 2**20, single_root=single_root
    )
    np.testing.assert_allclose(moved.marginals(), exact.marginals(), rtol=0, atol=1e-13)
    assert np.abs(plain.marginals() - exact.marginals()).max() < 1e-5


def test_log_probs_of_what_is_no_tree() -> None:
    found = SecondOrder(*gaussian(4))
    crossing, cycle, two_roots = [3, 4, 0, 3], [2, 1, 0, 3], [0, 0, 2, 3]
    assert (found.log_probs([crossing, cycle, two_roots]) == -np.inf).all()
    assert np.isfinite(SecondOrder(*gaussian(4), single_root=False).log_prob(two_roots))
    with pytest.raises(DeptreeError, match="4 words"):
        found.log_prob([0, 1])


def test_fixed_heads(part_sums) -> None:
    scores = gaussian(5)
    exact, found = part_sums(*scores), SecondOrder(*scores).given([None, 3, None, None, 4])
    chosen = (exact.trees[:, 1] == 3) & (exact.trees[:, 4] == 4)
    log_z = np.logaddexp.reduce(exact.log_weights[chosen])
    assert found.log_partition == pytest.approx(log_z, abs=1e-12)
    with pytest.raises(DeptreeError, match="s-1: no projective tree is possible: the arcs"):
        SecondOrder(*scores, id="s-1").given([3, 4, None, None, None])
    sibling = np.array(scores[2])
    sibling[2, 3, 5] = -np.inf
    with pytest.raises(DeptreeError, match=r"a forbidden part \(by the grandparent and sibling scores\)"):
        SecondOrder(scores[0], scores[1], sibling).given([2, 0, 2, 3, 2])


def test_temperature_and_scale() -> None:
    arcs, grandparent, sibling = gaussian(5)
    halved = SecondOrder(arcs / 2, grandparent / 2, sibling / 2)
    for same in (
        SecondOrder(arcs, grandparent, sibling, temperature=2.0),
        SecondOrder(arcs, grandparent, sibling).tempered(2.0),
        SecondOrder(*map(np.exp, (arcs / 2, grandparent / 2, sibling / 2)), scale="weight"),
    ):
        assert same.log_partition == pytest.approx(halved.log_partition, abs=1e-12)
        np.testing.assert_allclose(same.marginals(), halved.marginals(), rtol=0, atol=1e-13)


def test_errors_name_the_sentence() -> None:
    arcs, grandparent, sibling = gaussian(3)
    with pytest.raises(DeptreeError, match=r"^s-1: the sibling scores have shape \(4, 4\)"):
        SecondOrder(arcs, grandparent, arcs, id="s-1")
    with pytest.raises(DeptreeError, match=r"^s-1: the scores have shape"):
        SecondOrder(sibling, grandparent, id="s-1")
    grandparent[0, 1, 2] = np.nan
    with pytest.raises(DeptreeError, match=r"^s-1: the grandparent score of grandparent ROOT, head 1, dependent 2 is"):
        SecondOrder(arcs, grandparent, id="s-1")
    with pytest.raises(DeptreeError, match="unknown scale"):
        SecondOrder(arcs, grandparent, scale="odds")


def test_it_is_a_value() -> None:
    """It travels between processes, asked or not, and nothing changes it; nor is it taken for first order."""
    found = SecondOrder(*gaussian(4, "grandparent"), id="s-1")
    before = pickle.loads(pickle.dumps(found))
    marginals, heads = found.marginals(), found.sample(30, 1)
    for twin in (before, pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert (twin.id, twin.space, repr(twin)) == (found.id, found.space, repr(found))
        np.testing.assert_array_equal(twin.marginals(), marginals)
        np.testing.assert_array_equal(twin.sample(30, 1), heads)
        assert not twin.grandparent.flags.writeable
        assert twin.sibling is None
    assert found.marginals() is marginals
    assert not marginals.flags.writeable
    with pytest.raises(AttributeError, match="never changes"):
        found.id = "s-2"
    assert not hasattr(found, "entropy")
    assert repr(found) == "<SecondOrder 's-1': 4 words, 16 arcs, projective single-root trees, grandparent scores>"


@pytest.mark.parametrize("part", ["scores", "grandparent", "sibling"])
def test_masks_that_every_tree_needs_are_refused(part: str) -> None:
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
