"""What samplers promise besides the right distribution; `auto`, walks beyond their limit, roots. Laws: tests/laws."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.core import spaces, walks
from deptree_cli.core.audit import Tally
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.core.spaces import MULTI_ROOT, PROJECTIVE, SINGLE_ROOT, SPACES, space
from tests.laws.test_samplers import counts_of
from tests.oracle import Oracle
from tests.pearson import chi_square

EACH = pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda sampler: sampler.name)
SERVED = [(sampler, trees) for sampler in SAMPLERS for trees in SPACES if sampler.serves(trees)]
EACH_SERVED = pytest.mark.parametrize(("sampler", "trees"), SERVED, ids=lambda entry: entry.name)
BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])

# Weights next to each other, and as far apart as a product of six of them in float64 allows.
EXTREME = [0.0, 1e-40, 1e-15, 0.5, 1.0 - 1e-15, 1.0, 1.0 + 1e-15, 1e15]


def test_every_tree_space_has_an_exact_default():
    assert SAMPLERS.get("auto").exact
    assert all(SAMPLERS.get("auto").serves(trees) for trees in SPACES)
    for sampler in SAMPLERS:
        assert (sampler.name == "wilson-rc") == bool(sampler.root_probs) == (not sampler.exact)


@EACH
def test_a_tree_space_not_served_is_refused(sampler, graphs):
    for trees in [trees for trees in SPACES if not sampler.serves(trees)]:
        with pytest.raises(DeptreeError) as caught:
            sampler.draw(graphs.over(graphs.uniform(2), trees), 1, np.random.default_rng(0))
        assert caught.value.problem == f"the sampler {sampler.name} does not draw {trees.trees}"
        assert caught.value.remedy.startswith("Choose one of auto, e")


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "trees", "way"),
    [
        ("wilson", SINGLE_ROOT, "or add `single_root=False`"),
        ("wilson-reject", MULTI_ROOT, "or leave out `single_root=False`"),
        ("elimination", PROJECTIVE, "or leave out `projective=True`"),
        ("wilson", PROJECTIVE, "or add `single_root=False` and leave out `projective=True`"),
        ("eisner", MULTI_ROOT, "or add `projective=True`"),
    ],
)
def test_the_way_to_a_tree_space_that_is_served(name, trees, way):
    with pytest.raises(DeptreeError) as caught:
        SAMPLERS.get(name).check_serves(trees)
    assert caught.value.remedy.endswith(way)


@EACH_SERVED
def test_the_stream_decides_everything(sampler, trees, graphs):
    log_scores = graphs.gaussian(6)
    distribution = graphs.over(log_scores, trees)
    first = sampler.draw(distribution, 200, np.random.default_rng(3))
    np.random.seed(5)  # the global generator must not matter
    assert np.array_equal(sampler.draw(distribution, 200, np.random.default_rng(3)), first)
    fresh = graphs.over(log_scores, trees)
    assert np.array_equal(sampler.draw(fresh, 200, np.random.default_rng(3)), first)
    assert not np.array_equal(sampler.draw(distribution, 200, rng := np.random.default_rng(4)), first)
    assert not np.array_equal(sampler.draw(distribution, 200, rng), sampler.draw(distribution, 200, rng))  # it goes on


@pytest.mark.filterwarnings("error")
@EACH_SERVED
def test_shape_and_type_also_far_beyond_the_range_of_float64(sampler, trees, graphs):
    for n, size in [(1, 3), (6, 100), (6, 0)]:
        heads = sampler.draw(graphs.over(graphs.disconnected(n, 1e7), trees), size, np.random.default_rng(2))
        assert (heads.shape, heads.dtype) == ((size, n), np.int32)
        assert trees.contains(heads).all()
    heads = sampler.draw(graphs.over(graphs.disconnected(6, 1e7), trees), 100, np.random.default_rng(2))
    crossings = (heads == 0) | ((heads > 3) != (np.arange(1, 7) > 3))
    assert (crossings.sum(axis=1) == 2).all()  # ROOT to one half, and from there or from ROOT to the other


def random_distribution(n, seed, trees):
    rng = np.random.default_rng(seed)
    weights = rng.choice(EXTREME, size=(n + 1, n + 1))
    weights[rng.random(weights.shape) < rng.random()] = 0.0
    kept = all_trees(n, space(True, trees.projective))
    arcs = kept[rng.integers(len(kept))], np.arange(1, n + 1)
    weights[arcs] = rng.choice(EXTREME[1:], size=n)
    return TreeDistribution(weights, "weight", trees)


@EACH_SERVED
@given(n=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_only_trees_and_never_a_forbidden_arc(sampler, trees, n, seed):
    distribution = random_distribution(n, seed, trees)
    heads = sampler.draw(distribution, 40, np.random.default_rng(seed))
    assert trees.contains(heads).all()
    assert (distribution.log_weights(heads) > -np.inf).all()


def drawn(name, distribution, size):
    return SAMPLERS.get(name).draw(distribution, size, np.random.default_rng(4))


@BOTH
def test_few_trees_and_those_that_walks_are_long_to_come_from_elimination(single_root, graphs):
    """However certain the trees are: of the saturated ones two words in three choose each other."""
    distribution = graphs.distribution(graphs.gaussian(20), single_root)
    by_walks = "wilson-marginal" if single_root else "wilson"
    for size, name in ((1, "elimination"), (149, "elimination"), (150, by_walks), (1000, by_walks)):
        assert np.array_equal(drawn("auto", distribution, size), drawn(name, distribution, size))
    distribution = graphs.distribution(graphs.saturated(20), single_root)
    assert walks.least_steps(distribution) > 1e6
    assert np.array_equal(drawn("auto", distribution, 1000), drawn("elimination", distribution, 1000))


def test_least_steps(graphs):
    """With several roots, by an inverse: visits to each word from itself on the way to ROOT."""
    for log_scores in (graphs.gaussian(7, scale, seed) for seed in range(5) for scale in (1.5, 3.0)):
        weights = np.exp(log_scores)
        steps = (weights / np.where(weights.sum(axis=0), weights.sum(axis=0), 1.0)).T[1:, 1:]
        exact = np.trace(np.linalg.inv(np.eye(7) - steps))
        assert walks.least_steps(graphs.distribution(log_scores, False)) == pytest.approx(exact, rel=1e-9)


def test_walks_that_are_longer_than_the_rule_knows_end_too(monkeypatch):
    """From word to word nine steps back for one ahead: 9^40 steps to the root, of which no single arc tells."""
    n = 40
    log_scores = np.full((n + 1, n + 1), -np.inf)
    log_scores[0, n] = 0.0
    for word in range(1, n):
        log_scores[word + 1, word] = np.log(0.1)
        log_scores[max(word - 1, 1), word] = np.log(0.9)
    distribution = TreeDistribution(log_scores)
    assert walks.least_steps(distribution) < n * n / 4
    monkeypatch.setattr(walks, "LIMIT", 10_000)
    monkeypatch.setattr(walks, "LIMIT_PER_TREE", 10)
    heads = drawn("auto", distribution, 100)
    assert (heads == [*range(2, n + 1), 0]).all()


@pytest.mark.parametrize("number", [0.0, 0.5, 1 - 2**-53])
def test_a_root_of_probability_0_is_never_drawn(number):
    for probs in ([0, 0, 0.3, 0.7, 0], [0, 1, 0, 0], [0, 1 / 3, 1 / 3, 0, 1 / 3 - 1e-16, 0], [0, 1e-300, 0.0]):
        root = walks.draw_roots(np.array(probs), 1, SimpleNamespace(random=lambda size: np.full(size, number)))[0]
        assert probs[root] > 0


def test_local_root_probabilities(graphs):
    assert walks.local_root_probs(graphs.distribution(graphs.figure1())) == pytest.approx([0, 0.5, 0, 0.5])
    log_scores = graphs.figure1()
    log_scores[2:, 1] = -np.inf  # now only ROOT governs word 1, which must be the root
    assert walks.local_root_probs(graphs.distribution(log_scores)).tolist() == [0, 1, 0, 0]


def limited(monkeypatch, limit):
    monkeypatch.setattr(walks, "LIMIT", limit)
    monkeypatch.setattr(walks, "LIMIT_PER_TREE", 0)


@pytest.mark.slow("statistics")
@pytest.mark.parametrize("limit", [0, 8, 20])
@pytest.mark.parametrize("draw", [walks.draw_marginal, walks.draw_reject, walks.draw_spanning])
def test_a_limit_does_not_bias(draw, limit, graphs, monkeypatch):
    """H0: trees drawn two by two, some by walking and some beyond the limit, follow the distribution.

    A walk over four words takes 4 to 10 steps, mostly: no tree, about every second, and nearly all of them are walked.
    12,000 trees of 64 or 125; the rarest are pooled until expected five times; threshold 0.001 / 9.
    """
    limited(monkeypatch, limit)
    distribution = graphs.distribution(graphs.gaussian(4, seed=5), single_root=draw is not walks.draw_spanning)
    rng, tally = np.random.default_rng(6), Tally(distribution)
    tally.add(np.concatenate([draw(distribution, 2, rng) for _ in range(6_000)]))
    assert tally.audit().p_value > 0.001 / 9


@pytest.mark.parametrize("limit", [0, 5, 200, 10**6])
def test_the_root_drawn_is_kept(limit, graphs, monkeypatch):
    limited(monkeypatch, limit)
    for root in range(1, 7):
        distribution = graphs.distribution(graphs.gaussian(6))  # a fresh one: root marginals are worked out once
        monkeypatch.setattr(spaces.Elimination, "root_marginals", lambda factors, root=root: np.eye(7)[root])
        heads = walks.draw_marginal(distribution, 100, np.random.default_rng(12))
        assert (heads[:, root - 1] == 0).all()
        assert ((heads == 0).sum(axis=1) == 1).all()


def root_corrected(distribution):
    oracle = Oracle(distribution)
    probs, roots = np.exp(oracle.log_probs), np.argmin(oracle.trees, axis=1) + 1
    root_marginals = np.bincount(roots, weights=probs, minlength=distribution.n + 1)
    return oracle, walks.local_root_probs(distribution)[roots] * probs / root_marginals[roots]


def test_the_bias_of_root_correction_is_its_distance_from_the_truth(graphs):
    """H0: wilson-rc draws P(tree | root) times its own root probabilities. 40,000 trees, chi-square over those of
    the 64 that are expected five times, threshold 0.001: the bias lies in the roots alone."""
    for seed in range(10):
        for log_scores in (graphs.gaussian(4, 2, seed), graphs.holes(4, seed)):
            oracle, drawn = root_corrected(distribution := graphs.distribution(log_scores))
            by_enumeration = 0.5 * np.abs(drawn - np.exp(oracle.log_probs)).sum()
            assert SAMPLERS.get("wilson-rc").bias(distribution) == pytest.approx(by_enumeration, abs=1e-13)
    distribution = graphs.distribution(graphs.gaussian(4, seed=5))
    oracle, drawn = root_corrected(distribution)
    heads = walks.draw_root_corrected(distribution, 40_000, np.random.default_rng(14))
    assert chi_square(counts_of(heads, oracle.trees), drawn)[2] > 0.001
