"""Masks of -1e6 to -9e14: values and gradients are right, or refused, which is NaN in compiled code; 350 digits.

Kernels refuse none.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest

jax = pytest.importorskip("jax")

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import SPACES
from deptree_cli.jax import cross_entropy, entropy, kl, log_partition, log_prob, marginals
from tests.jax.digits import float64
from tests.masks import CYCLE, DIGITS, Exact, Graph, Worst, pairs

GRAPHS = 100  # 500 were looked at once
NODES = 6
WITHIN = {np.float64: 1e-10, np.float32: 1e-5}

Numbers = np.ndarray[Any, Any]

KINDS = pytest.mark.parametrize("projective", [False, True], ids=["all trees", "projective"])


def padded(arrays: list[Numbers]) -> Numbers:
    """Matrices with -inf around them."""
    return np.stack([np.pad(a, (0, NODES - len(a)), constant_values=-np.inf) for a in arrays])


@partial(jax.jit, static_argnums=5)
def answers(scores: Any, other: Any, heads: Any, lengths: Any, single_root: Any, projective: bool) -> dict[str, Any]:
    """Every question of each sentence, with gradients."""

    def of_one(scores: Any, other: Any, heads: Any, n: Any, single_root: Any) -> dict[str, Any]:
        how = {"lengths": n, "single_root": single_root, "projective": projective}
        questions: dict[str, Callable[[Any, Any], Any]] = {
            "log_partition": lambda x, y: log_partition(x, implementation="device", **how),
            "log_partition by kernels": lambda x, y: log_partition(x, implementation="kernels", **how),
            "log_prob": lambda x, y: log_prob(x, heads, **how),
            "entropy": lambda x, y: entropy(x, **how),
            "cross-entropy": lambda x, y: cross_entropy(x, y, **how),
            "kl": lambda x, y: kl(x, y, **how),
        }
        found = {name: jax.value_and_grad(ask, (0, 1))(scores, other) for name, ask in questions.items()}
        sums = {name: marginals(scores, implementation=name, **how) for name in ("device", "kernels")}
        return {**found, "marginals": sums["device"], "marginals by kernels": sums["kernels"]}

    return jax.vmap(of_one)(scores, other, heads, lengths, single_root)


def expected(graph: Graph, exact: Exact, other: Exact, tree: int) -> dict[str, Any]:
    """The same, with gradients in both scores or None; infinite divergences have none."""
    one_hot = np.zeros_like(graph.log_scores)
    one_hot[exact.trees[tree], np.arange(1, graph.n + 1)] = 1.0
    nothing, log_q = np.zeros_like(one_hot), exact.under(other)
    found: dict[str, Any] = {
        "log_partition": (exact.log_z, exact.marginals, nothing),
        "log_partition by kernels": (exact.log_z, exact.marginals, nothing),
        "log_prob": (exact.log_probs[tree], one_hot - exact.marginals, nothing),
        "entropy": (exact.entropy, -exact.covariances(exact.log_probs), nothing),
    }
    if log_q is None:
        return found
    with mp.workdps(DIGITS):
        ratios = [x - y for x, y in zip(exact.log_probs, log_q, strict=True)]
    moved = other.marginals - exact.marginals
    found["kl"] = exact.expectation(ratios), exact.covariances(ratios), moved
    found["cross-entropy"] = -exact.expectation(log_q), -exact.covariances(log_q), moved
    return found


def look(count: int, dtype: Any, projective: bool) -> tuple[Worst, dict[str, list[int]], list[bool]]:
    """The errors of what is not refused, what is, and which sentences' trees all need masks."""
    both = list(pairs(count, spaces=[each for each in SPACES if each.projective == projective], dtype=dtype))
    exact = [(Exact.of(graph), Exact.of(other)) for graph, other in both]
    trees = [len(ours.trees) // 2 for ours, _ in exact]
    heads = np.stack(
        [np.pad(ours.trees[t], (1, NODES - 1 - ours.trees.shape[1])) for (ours, _), t in zip(exact, trees, strict=True)]
    )
    given = [padded([each[i].log_scores for each in both]).astype(dtype) for i in range(2)]
    spaces = np.array([graph.space.single_root for graph, _ in both])
    found = jax.tree.map(np.asarray, answers(*given, heads, np.array([g.n for g, _ in both]), spaces, projective))
    worst, refused, needed = Worst(), {}, []
    for b, ((graph, _), (ours, theirs)) in enumerate(zip(both, exact, strict=True)):
        inside = slice(graph.n + 1)
        d = TreeDistribution(graph.log_scores, single_root=False).over(graph.space)
        needed.append(d.factorisation.shifted_log_z < -1e5)
        if not np.isnan(found["marginals"][b]).any():
            worst.see("marginals", found["marginals"][b, inside, inside], ours.marginals)
        worst.see("marginals by kernels", found["marginals by kernels"][b, inside, inside], ours.marginals)
        for question, (value, *gradients) in expected(graph, ours, theirs, trees[b]).items():
            answer, slopes = found[question][0][b], found[question][1]
            if np.isnan(answer):
                refused.setdefault(question, []).append(b)
            else:
                worst.see(question, answer, value)
            for name, slope, gradient in zip(("scores", "other"), slopes, gradients, strict=True):
                if not np.isnan(slope[b]).any():  # of log Z it may be known where the value is not
                    worst.see(f"{question} by {name}", slope[b, inside, inside], gradient)
    return worst, refused, needed


@KINDS
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_question_is_answered_right_or_refused(dtype: Any, projective: bool) -> None:
    """Refused are sentences that need a mask in every tree, and divergences from those that mask likely arcs."""
    with float64(dtype == np.float64):
        worst, refused, needed = look(GRAPHS, dtype, projective)
    worst.check(WITHIN[dtype])
    assert "log_partition by kernels" not in refused
    for question in ("log_prob", "entropy"):
        assert all(needed[b] for b in refused[question])
        assert len(refused[question]) > GRAPHS // 20


def batch_of(sentence: Numbers) -> tuple[Numbers, Numbers]:
    """Six sentences, the second this one, the others with every tree alike; and their lengths."""
    n = len(sentence) - 1
    batch, lengths = np.zeros((6, 5, 5), np.float32), np.array([4, n, 4, 4, 4, 4])
    batch[1, : n + 1, : n + 1] = sentence
    return batch, lengths


def traced(batch: Numbers, lengths: Numbers, projective: bool = False) -> dict[str, Any]:
    """Every question of the first of them in compiled code, in the shape of the test above; kl with uniform trees."""
    scores, heads = np.zeros((GRAPHS, NODES, NODES), np.float32), np.ones((GRAPHS, NODES), int)
    heads[:, 1] = 0
    scores[: len(batch), :-1, :-1] = batch
    words = np.concatenate([lengths, np.full(GRAPHS - len(lengths), 5)])
    given = scores, np.zeros_like(scores), heads, words, np.full(GRAPHS, True), projective
    return jax.tree.map(np.asarray, answers(*given))


def check_refused(found: dict[str, Any], kernels: bool) -> None:
    """Sentence 0 has its numbers, sentence 1 NaN for all questions, those to kernels or not."""
    for answer in [answer for name, answer in found.items() if kernels or not name.endswith("kernels")]:
        values = answer if isinstance(answer, np.ndarray) else answer[0]
        assert np.isfinite(values[0]).all()
        assert np.isnan(values[1, ..., 1:] if values.ndim > 1 else values[1]).all()


@KINDS
def test_what_needs_masks_is_refused_in_a_line(projective: bool) -> None:
    batch, lengths = batch_of(CYCLE)
    how, heads = {"lengths": lengths, "projective": projective}, [[-1, 0, 1, 1, 1]] * 6
    questions: list[Callable[[Any], Any]] = [
        partial(log_partition, implementation="device", **how),
        partial(marginals, implementation="device", **how),
        partial(entropy, **how),
        lambda x: kl(x, x, **how),
        lambda x: log_prob(x, heads, **how),
    ]
    for ask in questions:
        with pytest.raises(
            DeptreeError, match=r"^sentence 1 of the batch: every tree has a score 180,000 or more below"
        ):
            ask(batch)
    check_refused(traced(batch, lengths, projective), kernels=False)
    core = TreeDistribution(batch[1, : lengths[1] + 1, : lengths[1] + 1], projective=projective)
    assert log_partition(batch, **how)[1] == pytest.approx(core.log_partition, rel=1e-6)
    np.testing.assert_allclose(marginals(batch, **how)[1, : core.n + 1, : core.n + 1], core.marginals(), atol=1e-6)
    other = np.where(np.arange(5) == 2, np.float32(-1e9), 0) * np.tri(5, dtype=np.float32)[None]
    with pytest.raises(
        DeptreeError, match="sentence 0 of the batch: an arc that may have a probability scores 180,000"
    ):
        kl(np.zeros_like(batch), np.broadcast_to(other, batch.shape), **how)


def test_a_root_that_is_masked_as_a_whole_costs_nothing() -> None:
    """Every tree has one arc from ROOT: the mask is shifted away, as that of a word is."""
    scores = np.random.default_rng(1).normal(size=(6, 5, 5)).astype(np.float32)
    masked = scores.copy()
    masked[:, 0], scores[:, 0] = -1e9, 0.0
    masked[:, :, 2] -= np.float32(1e8)
    scores[:, :, 2] = np.round(scores[:, :, 2] / 8) * 8
    masked[:, 1:, 2] = scores[:, 1:, 2] - np.float32(1e8)
    for ask in (marginals, entropy):
        np.testing.assert_allclose(ask(masked), ask(scores), atol=1e-6)


def test_offsets_that_cancel() -> None:
    """9e14 + 0.3 - 9e14: two numbers of float32 do not hold the sum; marginals do not mind."""
    batch, lengths = batch_of(np.array([[0, 9e14, -9e14], [0, 0.3, -9e14], [0, 9e14, 0.3]]))
    with pytest.raises(DeptreeError, match="sentence 1 of the batch: the best scores of words cancel"):
        log_partition(batch, lengths, implementation="device")
    core = TreeDistribution(batch[1, : lengths[1] + 1, : lengths[1] + 1])
    assert log_partition(batch, lengths)[1] == pytest.approx(core.log_partition, rel=1e-6)
    values, (slopes, _) = traced(batch, lengths)["log_partition"]
    assert np.isnan(values[:2]).tolist() == [False, True]
    np.testing.assert_allclose(slopes[1, :5, :5], marginals(batch, lengths)[1], atol=1e-6)


@pytest.mark.parametrize(("bad", "projective"), [(9, False), (5, True), (0, False), (-1, True)])
def test_lengths_that_are_none(bad: int, projective: bool) -> None:
    """Of four words: an error in a line, or NaN for that sentence alone where lengths are traced."""
    scores, lengths = np.zeros((6, 5, 5), np.float32), np.array([4, bad, 4, 4, 4, 4])
    for ask in (log_partition, marginals, entropy, lambda x, n, **_: kl(x, x, n), lambda x, n, **_: log_prob(x, x, n)):
        with pytest.raises(DeptreeError, match=f"sentence 1 of the batch: the length is {bad}, not from 1 to 4"):
            ask(scores, lengths, projective=projective)
    check_refused(traced(scores, np.where(lengths == 5, NODES, lengths), projective), kernels=True)


def test_numbers_that_are_not_real() -> None:
    with pytest.raises(DeptreeError, match="the log-scores are complex64, not real numbers"):
        log_partition(np.zeros((3, 3), np.complex64))
    with pytest.raises(DeptreeError, match="the log-scores are not an array of numbers"):
        log_partition([["1", "2"], ["3", "4"]])
