"""log Z and marginals in JAX against enumeration and multi-precision arithmetic; and transformations of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp

from benchmarks.sums import exact
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.jax import log_partition, marginals
from deptree_cli.jax.batches import batch_of, require_trees
from tests.jax.digits import float64

SCALES = (1.0, 10.0, 30.0, 100.0)
STATIC = ("projective", "implementation")
EACH = pytest.mark.parametrize("implementation", ["kernels", "device"])


@pytest.fixture
def x64() -> Iterator[None]:
    """float64, for one test."""
    with float64():
        yield


@partial(jax.jit, static_argnames=STATIC)
def summed(scores: Any, **how: Any) -> Any:
    """The sum over the batch of log Z; compiled once for all tests."""
    return log_partition(scores, **how).sum()


gradient = jax.jit(jax.grad(summed), static_argnames=STATIC)


@partial(jax.jit, static_argnames=STATIC)
def forwards(scores: Any, direction: Any, **how: Any) -> Any:
    """The second derivative in a direction, forwards over backwards."""
    return jax.jvp(lambda scores: gradient(scores, **how), (scores,), (direction,))[1]


@partial(jax.jit, static_argnames=STATIC)
@jax.grad
def backwards(scores: Any, direction: Any, **how: Any) -> Any:
    """The same, backwards twice."""
    return (gradient(scores, **how) * direction).sum()


@EACH
def test_values_are_those_of_enumeration(sentences: Any, implementation: str) -> None:
    found = log_partition(sentences.log_scores, **sentences.how, implementation=implementation)
    assert found.dtype == jnp.float32
    np.testing.assert_allclose(found, [oracle.log_z for oracle in sentences.oracles], rtol=3e-7)
    probs = marginals(sentences.log_scores, **sentences.how, implementation=implementation)
    expected = sentences.padded([oracle.marginals() for oracle in sentences.oracles])
    np.testing.assert_allclose(probs, expected, atol=2e-6)
    assert not np.asarray(probs)[~sentences.counted()].any()
    assert (np.asarray(probs) >= 0).all()


@EACH
def test_the_gradient_are_the_marginals_and_0_where_nothing_counts(sentences: Any, implementation: str) -> None:
    found = np.asarray(gradient(sentences.log_scores, **sentences.how, implementation=implementation))
    np.testing.assert_allclose(
        found, marginals(sentences.log_scores, **sentences.how, implementation=implementation), rtol=1e-6, atol=1e-9
    )
    assert not found[~sentences.counted()].any()


@EACH
def test_a_direction_forwards_is_the_gradient_in_it(sentences: Any, implementation: str) -> None:
    how = sentences.how | {"implementation": implementation}
    direction = np.random.default_rng(0).normal(size=sentences.log_scores.shape).astype(np.float32)
    _, tangent = jax.jvp(lambda scores: summed(scores, **how), (sentences.log_scores,), (direction,))
    assert tangent == pytest.approx(float((gradient(sentences.log_scores, **how) * direction).sum()), rel=1e-5)


@EACH
def test_sentences_one_by_one_change_nothing(sentences: Any, implementation: str) -> None:
    lengths, name = sentences.lengths, sentences.space.name
    one = jax.vmap(lambda scores, n: marginals(scores, n, name, implementation))
    together = marginals(sentences.log_scores, **sentences.how, implementation=implementation)
    np.testing.assert_allclose(one(sentences.log_scores, lengths), together, atol=1e-7)


def test_root_modes_may_differ_where_vmap_is_over_them(sentences: Any) -> None:
    """Of 0, no length, too: NaN."""
    projective, modes = sentences.space.projective, np.arange(6) % 2 == 0
    lengths = np.where(np.arange(6) == 1, 0, sentences.lengths)
    one = jax.vmap(lambda scores, n, mode: log_partition(scores, n, single_root=mode, projective=projective))
    found = one(sentences.log_scores, lengths, modes)
    plain = np.stack(
        [
            log_partition(sentences.log_scores, sentences.lengths, single_root=mode, projective=projective)
            for mode in (False, True)
        ]
    )
    expected = np.where(np.arange(6) == 1, np.nan, plain[modes.astype(int), np.arange(6)])
    np.testing.assert_array_equal(found, expected)


def test_second_derivatives_are_those_of_finite_differences(sentences: Any, x64: None, quick: None) -> None:
    """The sentence e^-1000 apart included; and 0 where nothing counts."""
    how = sentences.how
    scores, counted = sentences.log_scores.astype(np.float64), sentences.counted()
    direction = np.where(counted, np.random.default_rng(1).normal(size=scores.shape), 0.0)
    found = forwards(scores, direction, **how)
    step = 1e-5 * direction
    expected = (gradient(scores + step, **how) - gradient(scores - step, **how)) / 2e-5
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(backwards(scores, direction, **how), found, atol=1e-13)
    assert not np.asarray(backwards(scores, direction, **how))[~counted].any()
    assert np.abs(found).max() > 0.1


def test_the_hessian_is_the_covariance_of_arcs(graphs: Any, quick: None) -> None:
    """jax.hessian in float32, an arc forbidden, against E[arc arc'] - E[arc] E[arc'] by enumeration."""
    scores = graphs.gaussian(3).astype(np.float32)
    scores[1, 2] = -np.inf
    oracle_trees, probs = _enumerated(scores)
    arcs = np.zeros((len(oracle_trees), 4, 4))
    for tree, heads in zip(arcs, oracle_trees, strict=True):
        tree[heads, np.arange(1, 4)] = 1.0
    mean = np.einsum("t,tij->ij", probs, arcs)
    covariance = np.einsum("t,tij,tkl->ijkl", probs, arcs, arcs) - np.multiply.outer(mean, mean)
    hessian = jax.hessian(log_partition)(scores)
    np.testing.assert_allclose(hessian, covariance, atol=1e-6)
    assert not np.asarray(hessian)[1, 2].any()


def _enumerated(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from tests.oracle import Oracle

    oracle = Oracle(TreeDistribution(scores))
    return oracle.trees, np.exp(oracle.log_probs)


def test_differentiating_keeps_no_matrix_per_word() -> None:
    """No array of the derivative of a derivative has n^3 numbers; n matrices per sentence would. Of projective trees
    those of the derivative, and of its derivative in a direction."""
    n = 12
    scores = np.zeros((n + 1, n + 1), dtype=np.float32)
    projective = jax.grad(partial(log_partition, projective=True))
    for derivative in (
        jax.grad(lambda scores: (jax.grad(log_partition)(scores) ** 2).sum()),
        lambda scores: jax.jvp(projective, (scores,), (scores,)),
    ):
        jaxpr = jax.make_jaxpr(derivative)(scores).jaxpr
        sizes = [variable.aval.size for equation in _equations(jaxpr) for variable in equation.outvars]
        assert max(sizes) >= n * (n + 1)
        assert max(sizes) < n**3


def _equations(jaxpr: Any) -> Iterator[Any]:
    for equation in jaxpr.eqns:
        yield equation
        for inner in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda part: hasattr(part, "eqns")):
            if hasattr(inner, "eqns"):
                yield from _equations(getattr(inner, "jaxpr", inner))


def exact_marginals(scores: np.ndarray, projective: bool) -> list[np.ndarray]:
    """By 400 digits, or by the core's chart, which has no subtraction and is good for 14."""
    each = [TreeDistribution(own, projective=projective) for own in scores]
    return [own.marginals() if projective else exact.marginals(own) for own in each]


KINDS = pytest.mark.parametrize("projective", [False, True], ids=["all trees", "projective"])


@EACH
@KINDS
def test_float32_suffices_at_any_scale(projective: bool, graphs: Any, implementation: str) -> None:
    """Gaussian logits, and words that choose each other with probability 1 - e^-27 to e^-300; of these the logits
    differ by numbers that are rounded when they are shifted."""
    graph = [graphs.gaussian(12, scale, seed) for scale in SCALES for seed in (0, 1)]
    graph += [graphs.saturated(12, np.exp(-gap)) + graphs.gaussian(12, 0.1) for gap in (27.0, 100.0, 300.0)]
    scores = np.stack(graph).astype(np.float32)
    found = marginals(scores, projective=projective, implementation=implementation)
    np.testing.assert_allclose(found, exact_marginals(scores, projective), atol=1e-6)


@EACH
@KINDS
def test_float64_is_exact_to_rounding(projective: bool, graphs: Any, x64: None, implementation: str) -> None:
    scores = np.stack([graphs.gaussian(12, scale) for scale in SCALES] + [graphs.saturated(12)])
    found = marginals(scores, projective=projective, implementation=implementation)
    assert found.dtype == jnp.float64
    np.testing.assert_allclose(found, exact_marginals(scores, projective), atol=3e-14)


def test_half_precision_is_computed_in_single(graphs: Any) -> None:
    scores = jnp.asarray(graphs.gaussian(3), jnp.bfloat16)
    found = log_partition(scores)
    assert found.dtype == jnp.float32
    assert found == log_partition(scores.astype(jnp.float32))
    assert jax.grad(log_partition)(scores).dtype == jnp.bfloat16


class TestWithoutATree:
    @staticmethod
    def scores() -> np.ndarray:
        scores = np.zeros((6, 5, 5), dtype=np.float32)
        scores[1, 1:, 2:4] = -np.inf  # words 2 and 3 hang on ROOT only
        return scores

    @EACH
    def test_the_sentence_is_named(self, implementation: str) -> None:
        ask = {"implementation": implementation}
        with pytest.raises(DeptreeError, match=r"^sentence 1 of the batch: no single-root tree .* words 2 and 3 can"):
            log_partition(self.scores(), **ask)
        with pytest.raises(DeptreeError, match=r"^sentence 1 of the batch"):
            marginals(self.scores(), **ask)
        assert np.isfinite(log_partition(self.scores(), single_root=False, **ask)).all()

    def test_what_is_not_finite_in_spite_of_trees_is_an_error(self) -> None:
        batch = batch_of(np.zeros((6, 5, 5), dtype=np.float32), None)
        with pytest.raises(
            DeptreeError, match=r"^sentence 3 of the batch: every tree has a score 180,000 or more .*\. Raise"
        ):
            require_trees(jnp.zeros(6).at[3].set(-jnp.inf), batch)

    @EACH
    def test_compiled_code_gives_minus_infinity_and_gradients_of_0(self, implementation: str) -> None:
        found = jax.jit(partial(log_partition, implementation=implementation))(self.scores())
        np.testing.assert_array_equal(np.isneginf(found), np.arange(6) == 1)
        how = {"single_root": True, "projective": False, "implementation": implementation}
        slopes = np.asarray(gradient(self.scores(), lengths=np.full(6, 4), **how))
        assert not slopes[1].any()
        np.testing.assert_allclose(slopes[0].sum(0)[1:], 1, rtol=1e-6)


def test_masks_beside_large_scores_are_not_lost() -> None:
    """-1e10 less 100 is -1e10 in float32; what that rounds off is a weight of e^-100, no number of float32. A column
    that has larger scores hides no mask of another."""
    plain = np.full((6, 5, 5), 100, dtype=np.float32)
    plain[3:, :, 2:4] = 500, 300
    plain[:, 0] = 0
    scores = plain.copy()
    scores[:, 0] = -1e10
    np.testing.assert_allclose(marginals(scores), marginals(plain), atol=1e-6)
    assert np.isfinite(log_partition(scores)).all()


def test_single_root_is_what_is_true() -> None:
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    np.testing.assert_array_equal(log_partition(scores, single_root=2), log_partition(scores))
    np.testing.assert_array_equal(jax.jit(log_partition)(scores, single_root=2), log_partition(scores))
    np.testing.assert_array_equal(log_partition(scores, single_root=0), log_partition(scores, single_root=False))


def test_what_cannot_be_read_is_refused_in_a_line() -> None:
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    with pytest.raises(DeptreeError, match=r"shape \(4, 3\)"):
        log_partition(scores[0, :4, :3])
    with pytest.raises(DeptreeError, match=r"lengths have shape \(3,\)"):
        log_partition(scores, [1, 2, 3])
    with pytest.raises(DeptreeError, match="sentence 1 of the batch: the length is 5, not from 1 to 4"):
        log_partition(scores, [1, 5, 1, 1, 1, 1])
    with pytest.raises(DeptreeError, match=r"the log-scores are key<.*>, not real numbers"):
        log_partition(jax.random.key(0))
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'multiroot'.*single_root=False"):
        log_partition(scores, multiroot=True)
    with pytest.raises(DeptreeError, match=r"unknown implementation 'devices'.*device"):
        marginals(scores, implementation="devices")


def test_nan_is_refused_or_stays_nan_but_in_padding() -> None:
    scores = np.zeros((6, 5, 5), dtype=np.float32)
    scores[1, 2, 4] = np.nan
    with pytest.raises(DeptreeError, match=r"sentence 1 of the batch: the score of 2 -> 4 \(nan\) is NaN.*with -inf\."):
        marginals(scores)
    lengths = np.full(6, 4)
    assert np.isnan(gradient(scores, lengths=lengths, single_root=True, projective=False)[1]).any()
    lengths[1] = 3
    assert np.isfinite(marginals(scores, lengths)).all()
