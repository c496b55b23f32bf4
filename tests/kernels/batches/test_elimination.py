"""Sums over packed sentences by elimination, against those of one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.spaces import space
from deptree_cli.core.spaces.elimination import factorise
from deptree_cli.kernels.batches.elimination import covariances, log_partitions, sums
from deptree_cli.kernels.shift import shift_sentences

Float = NDArray[np.float64]

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
LENGTHS = [4, 1, 6, 2, 3, 5, 1, 52]


class Batch:
    """Sentences packed, and room for results; weights: before a kernel overwrites them."""

    def __init__(self, sentences: list[Float], single_root: bool) -> None:
        self.lengths = np.array([len(scores) - 1 for scores in sentences])
        self.offsets = np.cumsum((self.lengths + 1) ** 2) - (self.lengths + 1) ** 2
        size, nodes = len(sentences), max(map(len, sentences)) + 1
        padded = np.full((size, nodes, nodes), np.nan)
        for out, scores in zip(padded, sentences, strict=True):
            out[: len(scores), : len(scores)] = scores
        self.weights = np.empty(int(((self.lengths + 1) ** 2).sum()))
        self.last, self.constants = np.empty(size, dtype=np.int64), np.empty(size)
        self.sound, self.log_z, self.out = np.empty(size, dtype=np.bool_), np.full(size, np.nan), np.zeros(padded.shape)
        layout = padded, self.lengths, self.offsets, 1e15, single_root
        shift_sentences(*layout, self.weights, self.last, self.constants, self.sound)
        np.exp(self.weights, out=self.weights)
        self.single_root = single_root

    def fill_log_partitions(self) -> None:
        weights = self.weights.copy()
        log_partitions(weights, self.lengths, self.offsets, self.last, self.single_root, self.log_z, self.sound)

    def fill_sums(self) -> None:
        packed = self.weights, self.lengths, self.offsets, self.last
        sums(*packed, self.single_root, self.log_z, self.out, self.sound)

    def fill_covariances(self, values: Any) -> None:
        packed = self.weights, self.lengths, self.offsets, self.last
        covariances(*packed, values, self.single_root, self.out, self.sound)


def some(graphs, single_root: bool) -> list[Float]:
    """Random graphs, some with forbidden arcs; every word can be reached from any other."""
    complete = [graphs.gaussian(n, 4, seed=seed) for seed, n in enumerate(LENGTHS)]
    with_holes = [graphs.gaussian(n, 2, seed=seed) for seed, n in enumerate(LENGTHS)]
    for log_scores in with_holes:
        log_scores[np.abs(np.subtract.outer(*[np.arange(len(log_scores))] * 2)) > 1] = -np.inf  # neighbours only
    return complete + with_holes


@BOTH
def test_log_z_and_marginals(graphs, single_root: bool) -> None:
    """Short sentences after long ones find nothing of theirs; padding stays 0."""
    sentences = some(graphs, single_root)
    batch, alone = Batch(sentences, single_root), Batch(sentences, single_root)
    batch.fill_sums()
    alone.fill_log_partitions()
    assert batch.log_z.tolist() == alone.log_z.tolist()
    assert batch.sound.all()
    assert alone.sound.all()
    for b, log_scores in enumerate(sentences):
        f, nodes = factorise(log_scores, space(single_root)), len(log_scores)
        assert batch.log_z[b] + batch.constants[b] == pytest.approx(f.log_z, rel=1e-14, abs=1e-13)
        np.testing.assert_allclose(batch.out[b, :nodes, :nodes], f.marginals(), rtol=0, atol=1e-14)
        assert batch.out[b].sum() == pytest.approx(nodes - 1)
        assert (batch.out[b, :nodes, :nodes][np.isneginf(log_scores)] == 0.0).all()


@BOTH
def test_covariances(graphs, single_root: bool) -> None:
    """Values of forbidden arcs and of padding are NaN here, and do not count."""
    sentences = some(graphs, single_root)
    batch, rng = Batch(sentences, single_root), np.random.default_rng(0)
    values = rng.normal(size=batch.out.shape)
    for b, log_scores in enumerate(sentences):
        nodes = len(log_scores)
        values[b, nodes:], values[b, :, nodes:] = np.nan, np.nan
        values[b, :nodes, :nodes][np.isneginf(log_scores)] = np.nan
    batch.fill_covariances(values)
    assert batch.sound.all()
    for b, log_scores in enumerate(sentences):
        nodes = len(log_scores)
        expected = factorise(log_scores, space(single_root)).arc_covariance(np.nan_to_num(values[b, :nodes, :nodes]))
        np.testing.assert_allclose(batch.out[b, :nodes, :nodes], expected, rtol=0, atol=1e-13)
        assert not batch.out[b, nodes:].any()
        assert not batch.out[b, :, nodes:].any()


@BOTH
@pytest.mark.parametrize("fill", ["fill_log_partitions", "fill_sums", "fill_covariances"])
def test_what_float64_may_not_suffice_for_is_reported(graphs, fill: str, single_root: bool) -> None:
    """Two halves e^-800 apart, no pivot, and what was unsound before; their neighbours are not concerned.

    Nothing is filled in for a sentence that was found out before the sweep backwards.
    """
    far, good = graphs.disconnected(6, 800.0), graphs.gaussian(3)
    cut = graphs.gaussian(3)
    cut[:, 3] = -np.inf
    batch = Batch([good, far, good, cut, good], single_root)
    batch.sound[2] = False
    getattr(batch, fill)(*([batch.out + 1.0] if fill == "fill_covariances" else []))
    assert batch.sound.tolist() == [True, False, False, False, True]
    assert not batch.out[1:4].any()


@BOTH
def test_a_sentence_as_deep_as_float64_reaches(graphs, single_root: bool) -> None:
    """Halves e^-100 apart are nothing yet: log Z and marginals are sound."""
    batch = Batch([graphs.disconnected(6, 100.0)], single_root)
    batch.fill_sums()
    assert batch.sound.all()


@pytest.mark.parametrize("fill", ["fill_sums", "fill_covariances"])
def test_sweeps_backwards_that_leave_the_range_are_reported(graphs, fill: str) -> None:
    """Weights as no shift would leave them: log Z is a number and no pivot is small, but adjoints are infinite."""
    batch = Batch([graphs.gaussian(3), graphs.gaussian(3), graphs.gaussian(3)], single_root=True)
    wild = [[0, 1e-150, 1e-310, 1.0], [0, 0, 1.0, 1e150], [0, 1e300, 0, 1e-300], [0, 1e-300, 1e-300, 0]]
    batch.last[1] = 1
    batch.weights[batch.offsets[1] : batch.offsets[2]] = np.ravel(wild)
    getattr(batch, fill)(*([batch.out + 1.0] if fill == "fill_covariances" else []))
    assert batch.sound.tolist() == [True, False, True]
    batch.fill_log_partitions()
    assert np.isfinite(batch.log_z[1])


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_derivatives_that_are_no_numbers(graphs, wrong: float) -> None:
    batch = Batch([graphs.gaussian(3), graphs.gaussian(3)], single_root=True)
    values = np.ones(batch.out.shape)
    values[0, 1, 2] = wrong
    batch.fill_covariances(values)
    assert batch.sound.tolist() == [False, True]
