"""Sums over packed sentences by Eisner's chart, against the chart of one sentence and against enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.spaces import space
from deptree_cli.kernels.batches.eisner import covariances, log_partitions, sums
from tests.oracle import Oracle

Float = NDArray[np.float64]

BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
LENGTHS = [4, 1, 3, 2, 4, 1]


class Batch:
    """Weights packed, and room for results."""

    def __init__(self, sentences: list[Float], single_root: bool) -> None:
        self.lengths = np.array([len(scores) - 1 for scores in sentences])
        self.offsets = np.cumsum((self.lengths + 1) ** 2) - (self.lengths + 1) ** 2
        self.weights = np.concatenate([np.exp(scores).ravel() for scores in sentences])
        size, nodes = len(sentences), max(map(len, sentences)) + 1
        self.log_z, self.out = np.full(size, np.nan), np.zeros((size, nodes, nodes))
        self.sound = np.ones(size, dtype=np.bool_)
        self.packed = self.weights, self.lengths, self.offsets
        self.single_root = single_root

    def fill_log_partitions(self) -> None:
        log_partitions(*self.packed, self.single_root, self.log_z)

    def fill_sums(self) -> None:
        sums(*self.packed, self.single_root, self.log_z, self.out, self.sound)

    def fill_covariances(self, values: Any) -> None:
        covariances(*self.packed, values, self.single_root, self.log_z, self.out, self.sound)


def some(graphs, single_root: bool) -> list[Float]:
    """Random graphs, some with forbidden arcs."""
    complete = [graphs.gaussian(n, 2, seed=seed) for seed, n in enumerate(LENGTHS)]
    return complete + [graphs.holes(n, n, single_root, projective=True) for n in LENGTHS]


def covariances_of(exact: Oracle, values: Float) -> Float:
    """Cov(1[arc in tree], sum of the tree's values), over every tree."""
    words = np.arange(1, len(values))
    probs, totals = np.exp(exact.log_probs), values[exact.trees, words].sum(axis=1)
    out = np.zeros(values.shape)
    for heads, share in zip(exact.trees, probs * (totals - probs @ totals), strict=True):
        out[heads, words] += share
    return out


@BOTH
def test_against_enumeration(graphs, single_root: bool) -> None:
    """log Z, marginals and covariances; values of forbidden arcs and of padding are NaN here, and do not count."""
    sentences, rng = some(graphs, single_root), np.random.default_rng(0)
    batch, alone, derived = (Batch(sentences, single_root) for _ in range(3))
    values = np.full(batch.out.shape, np.nan)
    for b, log_scores in enumerate(sentences):
        possible = np.isfinite(log_scores)
        values[b, : len(possible), : len(possible)][possible] = rng.normal(size=int(possible.sum()))
    batch.fill_sums()
    alone.fill_log_partitions()
    derived.fill_covariances(values)
    assert batch.log_z.tolist() == alone.log_z.tolist()
    np.testing.assert_allclose(derived.log_z, batch.log_z, rtol=0, atol=1e-14)
    for b, log_scores in enumerate(sentences):
        exact, nodes = Oracle(graphs.over(log_scores, space(single_root, projective=True))), len(log_scores)
        assert batch.log_z[b] == pytest.approx(exact.log_z, rel=1e-14, abs=1e-14)
        np.testing.assert_allclose(batch.out[b, :nodes, :nodes], exact.marginals(), rtol=0, atol=1e-14)
        expected = covariances_of(exact, np.nan_to_num(values[b, :nodes, :nodes]))
        np.testing.assert_allclose(derived.out[b, :nodes, :nodes], expected, rtol=0, atol=1e-13)
        for out in (batch.out[b], derived.out[b]):
            assert not out[nodes:].any()
            assert not out[:, nodes:].any()
    assert (batch.sound & derived.sound).all()


@BOTH
def test_what_float64_may_not_suffice_for_is_reported(graphs, single_root: bool) -> None:
    """No tree at all, and adjoints beyond float64; their neighbours, and what was unsound before, stay as they are."""
    good, cut, far = graphs.gaussian(3), graphs.uniform(3), graphs.uniform(3)
    cut[0] = -np.inf
    far[:, 1:] -= 350.0
    for fill in ("fill_sums", "fill_covariances"):
        batch = Batch([good, far, good, cut, good], single_root)
        batch.sound[2] = False
        with np.errstate(all="ignore"):
            getattr(batch, fill)(*([batch.out + 1.0] if fill == "fill_covariances" else []))
        assert batch.sound.tolist() == [True, False, False, False, True]
        assert np.isneginf(batch.log_z[[1, 3]]).all()


def test_derivatives_that_are_no_numbers(graphs) -> None:
    """Values beyond float64 unset `sound`, whatever the marginals are."""
    batch = Batch([graphs.gaussian(2), graphs.gaussian(2)], True)
    values = np.ones(batch.out.shape)
    values[1, 1, 2] = np.inf
    batch.fill_covariances(values)
    assert batch.sound.tolist() == [True, False]
