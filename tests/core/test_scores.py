"""From scores as they come to log-scores: what is refused, and in which words; masks, and where they do harm."""

import warnings
from decimal import Decimal
from fractions import Fraction
from itertools import product

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.core import expectations
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constrained import Constrained
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.factorisation import shift
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rules import Bound, Choice, Nogood
from deptree_cli.core.scores import MOST_MASKED as MOST
from deptree_cli.core.scores import SCALES, checked_log_scores, to_weights
from deptree_cli.core.spaces import SPACES
from deptree_cli.second_order.distribution import SecondOrder
from tests.oracle import Oracle

INF, NAN = float("inf"), float("nan")
EACH = pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)


def weights(n=3, **arcs):
    """Ones, and the weights of some arcs: ``_1_2=7`` is that of 1 -> 2."""
    matrix = np.ones((n + 1, n + 1))
    for name, weight in arcs.items():
        matrix[tuple(map(int, name[1:].split("_")))] = weight
    return matrix


def only(n, *arcs):
    """Weight 1 for these arcs, 0 for all others."""
    matrix = np.zeros((n + 1, n + 1))
    matrix[tuple(np.transpose(arcs))] = 1.0
    return matrix


LOG, SEVERAL, NONE = {"scale": "log"}, {"single_root": False}, "no tree is possible:"
HEADLESS, NO_ROOT = weights(_0_2=0, _1_2=0, _3_2=0), weights(_0_1=0, _0_2=0, _0_3=0)
TWO_ROOTS, APART = weights(_1_2=0, _3_2=0, _1_3=0, _2_3=0), only(4, (0, 1), (1, 2), (3, 4), (4, 3))
REFUSED = [
    (weights(_2_3=NAN), {}, "the score of 2 -> 3 (nan) is NaN. Repair the scores, or forbid such arcs: scores[np."),
    (weights(_0_1=NAN), LOG, "the score of ROOT -> 1 (nan) is NaN."),
    (weights(_1_3=INF), {}, "the weight of 1 -> 3 (inf) is infinite."),
    (weights(_1_3=INF), LOG, "the score of 1 -> 3 (inf) is too large for a score"),
    (weights(_1_3=1e16), LOG, "the score of 1 -> 3 (1e+16) is too large for a score (beyond"),
    (weights(_3_1=-0.25), {}, "the weight of 3 -> 1 (-0.25) is negative."),
    (weights(_3_1=-INF), {}, 'is negative. If these are log-scores (logits), pass `scale="log"`.'),
    (np.zeros((3, 3)), {}, "all weights are 0, and an arc of weight 0 is forbidden. If these are log-scores"),
    (weights(), {"scale": "logit"}, "unknown scale 'logit'. Choose one of weight, log."),
    (weights(), {"temperature": 0}, "the temperature is 0. Give a positive number; 1 changes nothing."),
    (weights(), {"temperature": -1.0}, "the temperature is -1."),
    (weights(), {"temperature": NAN}, "the temperature is nan."),
    (weights(), {"temperature": INF}, "the temperature is inf."),
    (weights(_1_2=1e10), LOG | {"temperature": 1e-20}, "the temperature 1e-20 takes scores out of range"),
    (weights(_1_2=1e10), LOG | {"temperature": 1e-300}, "the temperature 1e-300 takes scores out of range"),
    (np.ones((3, 4)), {}, "the scores have shape (3, 4), not (n+1, n+1). Give one square matrix"),
    (np.ones(4), {}, "the scores have shape (4,), not (n+1, n+1)."),
    (np.ones((3, 3, 2)), {}, "the scores have shape (3, 3, 2), not (n+1, n+1)."),
    (3.0, {}, "the scores have shape (), not (n+1, n+1)."),
    (np.ones((1, 1)), {}, "the sentence has no words (n = 0). Leave it out or give at least one word"),
    (np.ones((0, 0)), {}, "the sentence has no words (n = 0)."),
    ({"scores": 1}, {}, "the scores are of type object, not real numbers."),
    (HEADLESS, {}, "no single-root tree is possible: word 2 has no head with a finite score. Allow at least"),
    (only(3, (0, 2)), SEVERAL, f"{NONE} words 1 and 3 have no head with a finite score."),
    (NO_ROOT, {}, "no single-root tree is possible: no word may attach to ROOT. Allow at least one arc from ROOT."),
    (NO_ROOT, SEVERAL, f"{NONE} no word may attach to ROOT."),
    (TWO_ROOTS, {}, "words 2 and 3 can attach to ROOT only. Allow another head for all but one of them, or allow"),
    (APART, {}, "words 3 and 4 cannot be reached from the possible root 1. Allow more arcs, or allow several roots ("),
    (APART, SEVERAL, f"{NONE} words 3 and 4 cannot be reached from ROOT. Allow more arcs."),
]


@pytest.mark.quick
@pytest.mark.parametrize(("scores", "options", "part"), REFUSED, ids=[part[:45] for *_, part in REFUSED])
def test_what_is_refused(scores, options, part):
    with pytest.raises(DeptreeError) as caught:
        ArcFactored(scores, **{"scale": "weight", "id": "s"} | options)
    assert str(caught.value).startswith("s: ")
    assert part in str(caught.value)


class Tensor:
    """As PyTorch's that requires a gradient."""

    def detach(self):
        return self

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")


ZEROS = np.zeros((3, 3))
NO_NUMBERS = {
    "complex": (ZEROS.astype(complex), "of type complex128, not real numbers"),
    "complex in a list": ([[0, 1j, 0]] * 3, "of type complex128, not real numbers"),
    "text": ([["1", "2", "3"]] * 3, "of type <U1, not real numbers. Give them as float32 or float64"),
    "dates": (np.zeros((3, 3), "M8[D]"), "of type datetime64"),
    "durations": (np.zeros((3, 3), "m8[s]"), "of type timedelta64"),
    "objects": (np.array([["1", 2, 3]] * 3, object), "of type object, not real numbers"),
    "nothing": ([[None, 1.0, 2.0]] * 3, "of type object, not real numbers"),
    "masked": (np.ma.masked_less(ZEROS, 1), "some of the .* are masked"),
    "ragged": ([[1.0], [1.0, 2.0]], "are not an array of numbers"),
    "a tensor with a gradient": (Tensor(), r"Give a tensor of .* as tensor\.detach\(\)"),
    "too large": ([[10**400] * 3] * 3, "are not an array of numbers"),
}
ENTRANCES = {
    "scores": lambda x: TreeDistribution(x),
    "weights": lambda x: TreeDistribution(x, "weight"),
    "labelled": lambda x: TreeDistribution(x, labels=["a"]),
    "scores of labels": lambda x: TreeDistribution(ZEROS).labelled(["a"], x),
    "second order": lambda x: SecondOrder(x),
    "grandparent": lambda x: SecondOrder(ZEROS, x),
    "sibling": lambda x: SecondOrder(ZEROS, None, x),
    "links": lambda x: AlignmentDistribution(x),
    "nulls": lambda x: AlignmentDistribution(ZEROS, source_nulls=x),
    "features": lambda x: expectations.expected_features(TreeDistribution(ZEROS), x),
}


@pytest.mark.quick
@pytest.mark.parametrize(("entrance", "kind"), [*product(["scores"], NO_NUMBERS), *product(ENTRANCES, ["complex"])])
def test_only_real_numbers_are_taken(entrance, kind):
    """Nothing is dropped (imaginary parts, masks) or guessed (numbers in texts), and nothing is warned of instead."""
    values, problem = NO_NUMBERS[kind]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(DeptreeError, match=problem):
            ENTRANCES[entrance](values)


@pytest.mark.quick
@pytest.mark.parametrize("kind", [bool, "i1", "u2", "f2", "f4", np.longdouble, object, Fraction, Decimal])
def test_real_numbers_of_any_type_are_taken(kind):
    ones = [[0, 1, 1], [0, 0, 1], [0, 1, 0]]
    scores = [[kind(x) for x in row] for row in ones] if kind in (Fraction, Decimal) else np.array(ones, kind)
    assert TreeDistribution(scores, "weight").log_partition == pytest.approx(np.log(2))
    assert TreeDistribution(ZEROS).log_partition == pytest.approx(np.log(2))  # all log-scores may be 0


@pytest.mark.quick
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("junk", [NAN, INF, -INF, -1.0, 1e300])
def test_the_diagonal_and_column_0_may_hold_anything(scale, junk):
    dirty = weights(_1_2=0.25)
    clean = dirty.copy()
    dirty[:, 0] = junk
    np.fill_diagonal(dirty, junk)
    given = dirty.copy()
    found, expected = (ArcFactored(scores, scale=scale).log_scores for scores in (dirty, clean))
    assert np.array_equal(dirty, given, equal_nan=True)
    assert np.array_equal(found, expected)
    assert found.dtype == np.float64
    assert np.isneginf(found[:, 0]).all()
    assert np.isneginf(np.diag(found)).all()


@given(st.integers(0, 10**6), st.sampled_from(SCALES), st.floats(1e-3, 1e3))
def test_temperature_divides(seed, scale, temperature):
    scores = np.random.default_rng(seed).random((5, 5))
    scores[1, 2] = 0.0 if scale == "weight" else -INF
    plain = ArcFactored(scores, scale=scale).log_scores
    for each in (temperature, 1.0):
        assert np.array_equal(ArcFactored(scores, scale=scale, temperature=each).log_scores, plain / each)


def test_weights_of_log_scores_keep_the_distribution(graphs):
    """Where float64 has no room columns are multiplied by constants, which changes no probability."""
    for log_scores in (graphs.gaussian(4, 10), graphs.holes(4, 1)):
        found, lost = to_weights(log_scores)
        np.testing.assert_array_equal(found, np.exp(log_scores))
        assert lost == 0
    log_scores = graphs.gaussian(4, 3) + np.array([0.0, 900.0, -900.0, 5.0, 1000.0])
    found, lost = to_weights(log_scores)
    assert np.isfinite(found).all()
    assert lost == 0
    before, after = TreeDistribution(log_scores), TreeDistribution(found, "weight")
    np.testing.assert_allclose(after.marginals(), before.marginals(), rtol=1e-11, atol=1e-300)


def test_weights_of_arcs_with_labels():
    """A column is shifted as a whole, labels and all; an arc is lost if one of its labels is."""
    log_scores = np.full((3, 3, 2), -np.inf)
    log_scores[0, 1:] = 800.0
    log_scores[1, 2], log_scores[2, 1] = [799.0, -800.0], [800.0 + np.log(2.0), -np.inf]
    found, lost = to_weights(log_scores)
    assert lost == 1
    np.testing.assert_allclose(found[[0, 2], 1], [[0.5, 0.5], [1.0, 0.0]])
    np.testing.assert_allclose(found[[0, 1], 2], [[1.0, 1.0], [np.exp(-1.0), 0.0]])
    assert not found[:, 0].any()


@pytest.mark.quick
@pytest.mark.parametrize("mask", [-1e15, float(np.float32(-1e15)), -998356558020608.0, -1e32, -np.inf], ids=str)
def test_a_mask_is_one_in_every_type(mask):
    """-1e15 as float64, as float32 and as bfloat16 hold it; scores short of it stay."""
    assert checked_log_scores(weights(_1_2=mask), "log")[1, 2] == -np.inf
    for score in (mask * 0.5 if mask > -1e16 else -1e14, 9e14):
        assert checked_log_scores(weights(_1_2=score), "log")[1, 2] == score
    for weight in (1e300, 5e-324):
        assert checked_log_scores(weights(_1_2=weight), "weight")[1, 2] == np.log(weight)


def random_graph(rng, trees):
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


def exactly(scores, trees):
    """Log Z, marginals and the best tree's log-weight: sums of scores as fractions, exponentials with 40 digits."""
    n = len(scores) - 1
    heads, words = all_trees(n, trees), np.arange(1, n + 1)
    sums = [sum(map(Fraction, row)) for row in scores[heads, words].tolist()]
    best = max(sums)
    with mp.workdps(40):
        of_trees = [mp.exp(mp.mpf(float(x - best))) if x - best > -100 else mp.mpf(0) for x in sums]
        total = mp.fsum(of_trees)
        log_z = float(mp.mpf(best.numerator) / best.denominator + mp.log(total))
        probs = np.array([float(weight / total) for weight in of_trees])
    marginals = np.zeros_like(scores)
    for word in range(1, n + 1):
        np.add.at(marginals[:, word], heads[:, word - 1], probs)
    possible = np.where(np.eye(n + 1, dtype=bool), -np.inf, scores)
    possible[:, 0] = -np.inf
    return log_z, marginals, float(best - Fraction(shift(possible, trees).constant))


@EACH
@pytest.mark.slow("size")
@pytest.mark.parametrize("seed", range(10))
def test_log_z_and_marginals_with_masks(trees, seed):
    """50 graphs of each space, ten times; from the best tree's log-weight down to -1e5 no tree needs a mask."""
    rng, harmless, small, refused = np.random.default_rng(seed), 0, 0, 0
    for _ in range(50):
        scores = random_graph(rng, trees)
        log_z, marginals, best = exactly(scores, trees)
        if best < -MOST:
            refused += 1
            with pytest.raises(DeptreeError, match=r"every tree needs masks .* the best one at word"):
                TreeDistribution(scores, space=trees)
            continue
        harmless, small = harmless + (best > -1e5), small + (best <= -1e5)
        found = TreeDistribution(scores, space=trees)
        assert found.log_partition == pytest.approx(log_z, rel=1e-14, abs=1e-12)
        np.testing.assert_allclose(found.marginals(), marginals, rtol=0, atol=1e-12 if best > -1e5 else 1e-8)
    assert min(harmless, small + refused) > 2


# Words 1 and 2 govern each other best; where else can they come from?
CYCLE = np.array([[0, -1e9, -1e9, 0.3], [0, 0, 0.7, -1e9], [0, -0.4, 0, -1e9], [0, -1e9, -1e9, 0]])


@EACH
def test_every_entrance_refuses_masks_that_trees_need(trees):
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


def test_masks_where_heads_are_given():
    """They may leave trees that need masks; a mask on the arc that is given, or on all that are left, does no harm."""
    scores = CYCLE.copy()
    scores[3, 1] = 0.0
    with pytest.raises(DeptreeError, match=r"every tree needs masks .* the best one at word [12]"):
        TreeDistribution(scores, single_root=False).given([None, None, 1])
    for heads in ([2, None, None], [None, 0, None]):
        found = TreeDistribution(scores).given(heads)
        np.testing.assert_allclose(found.marginals(), Oracle(found).marginals(), rtol=0, atol=1e-15)


def test_trees_under_rules_that_need_masks_are_no_answer():
    """Two certified trees of the same masks would differ by what float64 rounds off; the next best are not certain."""
    scores = np.zeros((4, 4))
    scores[0, 1:] = [0.0, -9e14, -9e14]
    scores[2, 1], scores[3, 1], scores[3, 2], scores[2, 3] = -9e14, -9e14, -1.0, -2.0
    distribution = TreeDistribution(scores, single_root=False)

    def without_masks(tree):
        if all(scores[head, word] > -MOST for word, head in enumerate(tree.heads, 1)):
            choices = [Choice(word, (np.arange(4) == head)[:, None]) for word, head in enumerate(tree.heads, 1)]
            yield Nogood((1, 2, 3), lambda: choices)

    with pytest.raises(DeptreeError, match=r"every tree that obeys the rules needs masks .* at words? [1-3]"):
        Constrained(distribution, [Bound(None, np.zeros(1, dtype=bool), without_masks)]).best_trees()
    certified = [each.certified for each in Constrained(distribution, []).best_trees(100)]
    assert (certified[0], certified[-1]) == (True, False)


@EACH
def test_best_trees_with_masks_that_trees_do_without(trees):
    """In the order without the masked arcs, and behind them the others, each once."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(5, 5))
        masked = scores + np.where(rng.random((5, 5)) < 0.3, -(10.0 ** rng.uniform(6, 14.9)), 0.0)
        try:
            clean = TreeDistribution(np.where(masked < -1e5, -np.inf, scores), space=trees)
        except DeptreeError:
            continue
        found, expected = TreeDistribution(masked, space=trees), clean.top_k(1000)
        ranked = found.top_k(1000)
        assert len({tree.tobytes() for tree in ranked}) == len(ranked) == len(all_trees(4, trees))
        np.testing.assert_array_equal(ranked[: len(expected)], expected)
        np.testing.assert_array_equal(found.argmax(), clean.argmax())
        assert found.entropy() == pytest.approx(clean.entropy(), abs=1e-12)
