"""Padded batches shifted and packed: against the shift of one sentence, exactly, and with what must be refused."""

from __future__ import annotations

from collections import namedtuple

import numpy as np
import pytest

from deptree_cli.core.factorisation import shift
from deptree_cli.core.spaces import space
from deptree_cli.kernels.packed import Matrices, Packed, shift_sentences

UNTOUCHED = 77.0
BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])


# What comes out of `shift_sentences`; sentences: the packed scores of each.
Shifted = namedtuple("Shifted", "sentences final_words constants in_range")


def packed(sentences, single_root, dtype=np.float64, rubbish=np.nan):
    """A batch of matrices, with rubbish in the padding, on the diagonal and in column 0: nobody may look there.

    Each sentence has its stretch of the packed array, with free places between them that must stay as they are.
    """
    nodes, size = np.array([*map(len, sentences)]), max(map(len, sentences)) + 1
    batch = np.full((len(sentences), size, size), rubbish, dtype=dtype)
    for out, scores in zip(batch, sentences, strict=True):
        out[: len(scores), 1 : len(scores)] = scores[:, 1:]
        np.fill_diagonal(out[: len(scores), : len(scores)], rubbish)
    offsets = np.cumsum(nodes**2 + 2) - nodes**2
    array = np.full(int((nodes**2 + 2).sum()) + 2, UNTOUCHED)
    final_words, constants, in_range = np.full(len(nodes), -1), np.empty(len(nodes)), np.zeros(len(nodes), np.bool_)
    rows = np.full(len(nodes), size)
    into = Packed(array, offsets, nodes - 1, final_words, single_root, 0, in_range)
    shift_sentences(Matrices(batch.ravel(), np.arange(len(nodes)) * rows**2, rows), 1e15, into, constants)
    assert (array == UNTOUCHED).sum() == 2 * len(nodes) + 2
    found = [array[at : at + n * n].reshape(n, n) for at, n in zip(offsets, nodes, strict=True)]
    return Shifted(found, final_words.tolist(), constants.tolist(), in_range.tolist())


def assert_shifted(found, b, log_scores, single_root):
    """A sentence of the batch is what the shift of it alone makes, to the last bit."""
    expected = shift(log_scores, space(single_root))
    np.testing.assert_array_equal(found.sentences[b], expected.log_weights)
    assert found.constants[b] == pytest.approx(expected.constant, rel=1e-15)
    assert found.in_range[b]


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rubbish", [np.nan, np.inf, 99.0])
def test_every_sentence_is_shifted_as_alone(graphs, single_root, dtype, rubbish):
    """Also where ROOT's row, a word's column, or both are far from the others, or forbidden."""
    sentences = [graphs.gaussian(n, 7, seed=n) for n in (3, 1, 5, 2, 8, 4, 1, 6)]
    sentences += [graphs.holes(len(each) - 1, len(each) - 1, single_root, 5) for each in sentences]
    for offset in (1e6, -1e6, 1e14 / 3):
        in_row, in_column = graphs.gaussian(5, 3), graphs.gaussian(5, 3)
        in_row[0] += offset
        in_column[:, 2] += offset
        sentences += [in_row, in_column, in_row - offset / 7 * (np.arange(6) == 4)]
    sentences = [each.astype(dtype).astype(np.float64) for each in sentences]
    found = packed(sentences, single_root, dtype, rubbish)
    for b, log_scores in enumerate(sentences):
        assert_shifted(found, b, log_scores, single_root)


@BOTH
@pytest.mark.parametrize("mask", [-1e15, -1e32, -np.inf])
def test_masks_forbid(graphs, single_root, mask):
    """From -1e15 down; a score just above that is one. A word may be left with an arc from ROOT, or with none."""
    log_scores = graphs.gaussian(4)
    log_scores[2, 3] = log_scores[0, 4] = log_scores[3, 1] = -np.inf
    log_scores[1:, 2] = -np.inf
    masked = np.where(np.isneginf(log_scores), mask, log_scores)
    just_above = graphs.gaussian(2)
    just_above[1, 2] = just_above[0, 1] = np.nextafter(-1e15, 0.0)
    alone, rootless = masked.copy(), graphs.gaussian(3)
    alone[0, 2] = rootless[0] = mask
    found = packed([masked, just_above, alone, rootless], single_root)
    assert_shifted(found, 0, log_scores, single_root)
    assert_shifted(found, 1, just_above, single_root)
    assert np.isneginf(found.sentences[2][:, 2]).all()
    assert not np.isnan(found.sentences[2]).any()
    assert abs(found.constants[2]) < 100.0  # the word without any arc is shifted by nothing
    assert (found.in_range[3], found.final_words[3]) == (False, 0)  # without an arc from ROOT there is no last word


@BOTH
@pytest.mark.parametrize("best", [1, 2, 5])
def test_the_word_with_the_best_arc_from_root_is_last(graphs, single_root, best):
    """The best as it is after the shift, told apart where float64 rounds the difference off."""
    log_scores = graphs.gaussian(5)
    log_scores[0, 1:] = -3.0 + log_scores[1:, 1:].max(axis=0)
    log_scores[0, best] += 0.5
    near = np.full((6, 6), -1.0)
    near[0, 1:] = -1e6
    near[1:, 1:] = 1e-12
    near[1:, best] = 0.0
    found = packed([log_scores, near], single_root)
    assert found.final_words == [best, best]
    root = found.sentences[0][0]
    assert root[best] == root.max() > np.delete(root, best).max()
