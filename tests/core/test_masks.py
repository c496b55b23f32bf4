"""Masks of -1e6 to -9e14: harmless where no tree needs them, refused where every tree needs some of 1e8 or more."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.constrained import Constrained
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.factorisation import shift
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rules import Bound, Choice, LabelledTree, Nogood
from deptree_cli.core.scores import MOST_MASKED as MOST
from deptree_cli.core.spaces import SPACES, TreeSpace
from tests.oracle import Oracle

Float = NDArray[np.float64]

EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
GRAPHS = 50  # of each space, ten times

# From the best tree's log-weight down to here no tree needs a mask.
HARMLESS = -1e5


def random_graph(rng: np.random.Generator, trees: TreeSpace) -> Float:
    """Log-scores (n+1, n+1) of scale 1 to 1,000 with masks: few or many, of one size or of several."""
    n, largest = int(rng.integers(2, 5)), rng.choice([14.9, 7.0])
    scores = rng.normal(size=(n + 1, n + 1)) * 10.0 ** rng.uniform(0, 3)
    where = rng.random((n + 1, n + 1)) < rng.choice([0.2, 0.8])
    masks = -(10.0 ** rng.uniform(6, largest, rng.choice([1, 2, 20])))
    scores[where] = rng.choice(masks, int(where.sum())) + scores[where] * rng.choice([0.0, 1.0])
    if rng.random() < 0.3 and n > 2:  # words 1 and 2 govern each other best: every tree needs a mask
        scores[0, 1:3] = scores[3:, 1:3] = masks[0]
    if rng.random() < 0.3 and trees.single_root:  # ROOT's row as a whole
        scores[0] -= 9e13
    return scores


class Exact:
    """log Z and marginals by enumeration: sums of scores as fractions, their exponentials with 40 digits."""

    def __init__(self, scores: Float, trees: TreeSpace) -> None:
        n = len(scores) - 1
        heads, words = all_trees(n, trees), np.arange(1, n + 1)
        sums = [sum(map(Fraction, row)) for row in scores[heads, words].tolist()]
        best = max(sums)
        with mp.workdps(40):
            weights = [mp.exp(mp.mpf(float(x - best))) if x - best > -100 else mp.mpf(0) for x in sums]
            total = mp.fsum(weights)
            self.log_z = float(mp.mpf(best.numerator) / best.denominator + mp.log(total))
            probs = np.array([float(weight / total) for weight in weights])
        self.marginals = np.zeros_like(scores)
        for word in range(1, n + 1):
            np.add.at(self.marginals[:, word], heads[:, word - 1], probs)
        possible = np.where(np.eye(n + 1, dtype=bool), -np.inf, scores)
        possible[:, 0] = -np.inf
        self.best = float(best - Fraction(shift(possible, trees).constant))  # log-weight of the best tree


@EACH
@pytest.mark.slow("size")
@pytest.mark.parametrize("seed", range(10))
def test_log_z_and_marginals(trees: TreeSpace, seed: int) -> None:
    rng, harmless, small, refused = np.random.default_rng(seed), 0, 0, 0
    for _ in range(GRAPHS):
        scores = random_graph(rng, trees)
        exact = Exact(scores, trees)
        if exact.best < -MOST:
            refused += 1
            with pytest.raises(DeptreeError, match=r"every tree needs masks .* the best one at word"):
                TreeDistribution(scores, space=trees)
            continue
        harmless, small = harmless + (exact.best > HARMLESS), small + (exact.best <= HARMLESS)
        found = TreeDistribution(scores, space=trees)
        assert found.log_partition == pytest.approx(exact.log_z, rel=1e-14, abs=1e-12)
        within = 1e-12 if exact.best > HARMLESS else 1e-8
        np.testing.assert_allclose(found.marginals(), exact.marginals, rtol=0, atol=within)
    assert min(harmless, small + refused) > 2


# Words 1 and 2 govern each other best; where else can they come from?
CYCLE = np.array([[0, -1e9, -1e9, 0.3], [0, 0, 0.7, -1e9], [0, -0.4, 0, -1e9], [0, -1e9, -1e9, 0]])


@EACH
def test_every_entrance_refuses_masks_that_trees_need(trees: TreeSpace) -> None:
    """By name, with the words and what to do; at a temperature by what the scores were before."""
    for temperature in (0.01, 1.0, 100.0):
        with pytest.raises(DeptreeError) as caught:
            TreeDistribution(CYCLE, space=trees, id="x", temperature=temperature)
    below = "scores far below the others, by up to 1e+07"
    remedy = "Forbid arcs by -inf, and give those that trees need scores like the others."
    assert str(caught.value) == f"x: every tree needs masks ({below}), the best one at word 1. {remedy}"
    with pytest.raises(DeptreeError, match="every tree needs masks"):
        TreeDistribution(CYCLE[..., None] + np.zeros(2), space=trees, labels=["a", "b"])
    plain = TreeDistribution(np.where(CYCLE < -1, -30.0, CYCLE), space=trees)
    assert plain.tempered(1e-8).factorisation.shifted_log_z < -MOST  # no door before tempered scores
    assert plain.raised_to(1e8).factorisation.shifted_log_z < -MOST


def test_heads_that_are_given() -> None:
    """They may leave trees that need masks; a mask on the arc that is given, or on all that are left, does no harm."""
    scores = CYCLE.copy()
    scores[3, 1] = 0.0
    with pytest.raises(DeptreeError, match=r"every tree needs masks .* the best one at word [12]"):
        TreeDistribution(scores, single_root=False).given([None, None, 1])
    for heads in ([2, None, None], [None, 0, None]):
        found = TreeDistribution(scores).given(heads)
        np.testing.assert_allclose(found.marginals(), Oracle(found).marginals(), rtol=0, atol=1e-15)


def test_trees_under_rules_that_need_masks_are_no_answer() -> None:
    """Two certified trees of the same masks would differ by what float64 rounds off; the next best are not certain."""
    scores = np.zeros((4, 4))
    scores[0, 1:] = [0.0, -9e14, -9e14]
    scores[2, 1], scores[3, 1], scores[3, 2], scores[2, 3] = -9e14, -9e14, -1.0, -2.0
    distribution = TreeDistribution(scores, single_root=False)

    def without_masks(tree: LabelledTree) -> Iterator[Nogood]:
        if all(scores[head, word] > -MOST for word, head in enumerate(tree.heads, 1)):
            nodes = np.arange(4)
            choices = [Choice(word, (nodes == head)[:, None]) for word, head in enumerate(tree.heads, 1)]
            yield Nogood((1, 2, 3), lambda: choices)

    with pytest.raises(DeptreeError, match=r"every tree that obeys the rules needs masks .* at words? [1-3]"):
        Constrained(distribution, [Bound(None, np.zeros(1, dtype=bool), without_masks)]).best_trees()
    certified = [each.certified for each in Constrained(distribution, []).best_trees(100)]
    assert certified[0]
    assert not certified[-1]


@EACH
def test_best_trees_with_masks_that_trees_do_without(trees: TreeSpace) -> None:
    """In the order without the masked arcs, and behind them the others, each once."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(5, 5))
        masked = scores + np.where(rng.random((5, 5)) < 0.3, -(10.0 ** rng.uniform(6, 14.9)), 0.0)
        allowed = np.where(masked < -1e5, -np.inf, scores)
        try:
            clean = TreeDistribution(allowed, space=trees)
        except DeptreeError:
            continue
        found, expected = TreeDistribution(masked, space=trees), clean.top_k(1000)
        ranked = found.top_k(1000)
        assert len({tree.tobytes() for tree in ranked}) == len(ranked) == len(all_trees(4, trees))
        np.testing.assert_array_equal(ranked[: len(expected)], expected)
        np.testing.assert_array_equal(found.argmax(), clean.argmax())
        assert found.entropy() == pytest.approx(clean.entropy(), abs=1e-12)
