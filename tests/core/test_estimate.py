"""Weights and errors by hand, and functionals of the register against plain loops; laws are in tests/laws."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.estimate import Estimate, estimate, weights
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.quantities import OF_TREES
from deptree_cli.core.spaces import SPACES
from tests.oracle import Oracle

DEPTH, MEAN_LENGTH = (OF_TREES.get(name).of_sentence for name in ("depth", "mean_length"))


@pytest.fixture
def drawn(graphs):

    def draw(n, size, scale=1, **how):
        rng = np.random.default_rng(1)
        return graphs.distribution(graphs.gaussian(n, scale)).sample_without_replacement(size, rng, **how)

    return draw


def test_weights():
    log_probs = np.log([0.5, 0.1])
    assert weights(log_probs, 2.0) == pytest.approx([0.5 / (1 - np.exp(-1.0)), 0.1 / (1 - np.exp(-0.2))])
    assert weights(np.array([-2000.0, -90.0]), 4.0) == pytest.approx([0.25, 0.25])
    assert weights(log_probs, 2.0, certain=1) == pytest.approx([0.5, 0.1 / (1 - np.exp(-0.2))])
    assert weights(log_probs, np.inf, certain=1) == pytest.approx([0.5, 0.1])


def test_chunks_do_not_show(drawn, monkeypatch):
    whole = estimate(drawn(5, 50), DEPTH)
    monkeypatch.setattr("deptree_cli.core.estimate.CHUNK", 7)
    assert list(vars(estimate(drawn(5, 50), DEPTH)).values()) == pytest.approx(list(vars(whole).values()))


def test_the_error_of_a_constant_is_unknown_when_normalised(drawn):
    """It is 0; but trees all alike cannot tell that the others are like them."""
    found = estimate(drawn(6, 20), lambda heads: np.full(len(heads), 1 / 3))
    assert found.normalised == pytest.approx(1 / 3)
    assert np.isnan(found.normalised_error)
    assert found.unbiased_error > 0.01
    assert np.isnan(estimate(drawn(6, 20), lambda heads: np.zeros(len(heads))).unbiased_error)


def test_one_tree_has_no_error(drawn):
    found = estimate(drawn(6, 1), DEPTH)
    assert np.isnan([found.unbiased_error, found.normalised_error]).all()
    assert estimate(drawn(1, 1), "length") == Estimate(1.0, 0.0, 1.0, 0.0)


def test_errors_that_are_unknown_are_so_arc_by_arc(drawn):
    """Of an arc in no tree drawn both errors are unknown, of one in all trees drawn that of the normalised estimate."""
    draws = drawn(6, 4, 3)
    found, among = estimate(draws, "arcs"), OF_TREES.get("arcs").of_sentence(draws.heads).sum(axis=0)
    assert {0, 4} < set(among.ravel().tolist())
    assert np.array_equal(np.isnan(found.unbiased_error), among == 0)
    assert np.array_equal(np.isnan(found.normalised_error), (among == 0) | (among == 4))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda draws: {"log_probs": draws.log_probs * np.nan}, "the probability of the trees is nan"),
        (lambda draws: {"log_probs": draws.log_probs[1:]}, "there are 6 trees, but log_probs has the shape"),
        (lambda draws: {"arrivals": draws.arrivals[1:]}, "there are 6 trees, but arrivals has the shape"),
        (lambda draws: {"tau": -1.0}, "0 of 6 trees are certain"),
        (lambda draws: {"certain": -1}, "-1 of 6 trees are certain"),
        (lambda draws: {"heads": draws.heads[:0]}, r"there are no trees to estimate from\. Draw at least one\."),
    ],
)
def test_draws_that_cannot_be(drawn, change, said):
    draws = drawn(5, 6)
    with pytest.raises(DeptreeError, match=said):
        estimate(replace(draws, **change(draws)), "arcs")


@pytest.mark.parametrize("size", [3, 8, 30])
def test_the_error_of_equal_weights_is_that_of_a_mean(size, graphs):
    """Where every tree is alike, that is Student's interval of a mean, short of what was drawn of all trees."""
    draws = graphs.distribution(graphs.uniform(5)).sample_without_replacement(size, np.random.default_rng(2))
    missed, values = np.exp(-draws.tau / 625), MEAN_LENGTH(draws.heads)
    standard = np.sqrt(missed / size) * values.std(ddof=1)
    found = estimate(draws, MEAN_LENGTH)
    assert found.normalised == pytest.approx(values.mean())
    assert 1.96 * found.normalised_error == pytest.approx(standard * stats.t.ppf(0.975, size - 1), rel=1e-4)
    square = np.sqrt(missed * (values**2).sum()) / (625 * (1 - missed))
    assert 1.96 * found.unbiased_error == pytest.approx(square * stats.t.ppf(0.975, size), rel=1e-4)


def test_certain_trees_weigh_their_probability_and_carry_no_error(drawn):
    """By hand from the arrivals: the clock of the others starts when the last certain tree has come."""
    draws = drawn(5, 40, mass=0.25)
    assert 0 < draws.certain < len(draws.heads) - 1
    probs, values = np.exp(draws.log_probs), DEPTH(draws.heads)
    chances = -np.expm1(-probs * (draws.tau - draws.arrivals[draws.certain - 1]))
    chances[: draws.certain] = 1.0
    found = estimate(draws, DEPTH)
    assert found.unbiased == pytest.approx((probs / chances * values).sum())
    noise = (probs / chances) ** 2 * (1 - chances)
    widening = stats.t.ppf(0.975, noise.sum() ** 2 / (noise**2).sum()) / stats.norm.ppf(0.975)
    assert found.unbiased_error == pytest.approx(widening * np.sqrt((noise * values**2).sum()))


def test_a_functional_may_be_named():
    draws = TreeDistribution(np.zeros((4, 4))).sample_without_replacement(5, 7)
    assert repr(estimate(draws, "depth")) == repr(estimate(draws, DEPTH))
    with pytest.raises(DeptreeError, match=r"there is no quantity 'dept'\. Did you mean depth\?"):
        estimate(draws, "dept")
    with pytest.raises(DeptreeError, match=r"entropy is a quantity of a distribution\. Compute it: deptree expect"):
        estimate(draws, "entropy")


def descends(tree, word, head):
    while word not in (0, head):
        word = tree[word - 1]
    return word == head


def depth_of(tree):
    words = range(1, len(tree) + 1)
    return max(sum(descends(tree, word, above) for above in words) for word in words) - 1


def mean_length(tree):
    spans = [abs(head - word) for word, head in enumerate(tree, 1) if head]
    return float(np.mean(spans)) if spans else 0.0


def crossing_arcs(tree):
    between = [(head, range(min(head, word) + 1, max(head, word))) for word, head in enumerate(tree, 1)]
    return sum(not all(head == 0 or descends(tree, word, head) for word in words) for head, words in between)


def matrix_of(tree):
    return np.array([[float(w > 0 and tree[w - 1] == h) for w in range(len(tree) + 1)] for h in range(len(tree) + 1)])


DEFINITIONS = {"depth": depth_of, "mean_length": mean_length, "non_projective_arcs": crossing_arcs, "arcs": matrix_of}


@pytest.mark.parametrize("name", DEFINITIONS)
@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
def test_functionals_against_loops(name, trees, graphs):
    """Of every tree of five words; and all trees of four leave nothing to estimate: their sum, without an error."""
    functional, defined = OF_TREES.get(name), DEFINITIONS[name]
    every = all_trees(5, trees)
    np.testing.assert_allclose(functional.of_sentence(every), [defined(tree) for tree in every.tolist()], rtol=1e-14)
    distribution = graphs.over(graphs.gaussian(4, 2), trees)
    oracle = Oracle(distribution)
    exact = np.tensordot(np.exp(oracle.log_probs), [defined(tree) for tree in oracle.trees.tolist()], axes=1)
    found = estimate(distribution.sample_without_replacement(125, 7), functional.of_sentence)
    np.testing.assert_allclose(found.unbiased, exact, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found.normalised, exact, rtol=1e-12, atol=1e-13)
    assert not np.any([found.unbiased_error, found.normalised_error])
