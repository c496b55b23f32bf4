"""Padded batches shifted and packed: against the shift of one sentence, exactly, and with what must be refused."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from deptree_cli.core.factorisation import shift
from deptree_cli.core.spaces import space
from deptree_cli.kernels.packed import Matrices, Packed, shift_sentences

Float = NDArray[np.float64]

MASK = 1e15
UNTOUCHED = 77.0
BOTH = pytest.mark.parametrize("single_root", [True, False], ids=["single", "multi"])
FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


class Shifted(NamedTuple):
    """What comes out of `shift_sentences`; sentences: the packed scores of each."""

    sentences: list[Float]
    final_words: list[int]
    constants: list[float]
    in_range: list[bool]


def padded(sentences: list[Float], dtype: Any = np.float64, rubbish: float = np.nan) -> NDArray[Any]:
    """A batch of matrices, with rubbish in the padding, on the diagonal and in column 0: nobody may look there."""
    size = max(map(len, sentences)) + 1
    batch = np.full((len(sentences), size, size), rubbish, dtype=dtype)
    for out, scores in zip(batch, sentences, strict=True):
        nodes = len(scores)
        out[:nodes, 1:nodes] = scores[:, 1:]
        np.fill_diagonal(out[:nodes, :nodes], rubbish)
    return batch


def pack(batch: NDArray[Any], lengths: list[int], single_root: bool) -> Shifted:
    """Each sentence on its stretch of the packed array, with free places between them that must stay as they are."""
    shapes = [(n + 1, n + 1) for n in lengths]
    sizes = np.array([nodes**2 for nodes, _ in shapes])
    offsets = np.cumsum(sizes + 2) - sizes
    packed = np.full(int(offsets[-1] + sizes[-1] + 2), UNTOUCHED)
    final_words, constants, in_range = (
        np.full(len(lengths), -1),
        np.empty(len(lengths)),
        np.zeros(len(lengths), dtype=np.bool_),
    )
    into = Packed(packed, offsets, np.array(lengths), final_words, single_root, 0, in_range)
    rows = np.full(len(lengths), batch.shape[-1])
    shift_sentences(Matrices(batch.ravel(), np.arange(len(lengths)) * rows**2, rows), MASK, into, constants)
    found = [packed[at : at + size].reshape(shape) for at, size, shape in zip(offsets, sizes, shapes, strict=True)]
    assert (packed == UNTOUCHED).sum() == 2 * len(lengths) + 2
    return Shifted(found, into.final_words.tolist(), constants.tolist(), into.in_range.tolist())


def assert_shifted(found: Shifted, b: int, log_scores: Float, single_root: bool) -> None:
    """A sentence of the batch is what the shift of it alone makes, to the last bit."""
    expected = shift(log_scores, space(single_root))
    np.testing.assert_array_equal(found.sentences[b], expected.log_weights)
    assert found.constants[b] == pytest.approx(expected.constant, rel=1e-15)
    assert found.in_range[b]


@BOTH
@FLOATS
@pytest.mark.parametrize("rubbish", [np.nan, np.inf, 99.0])
def test_every_sentence_is_shifted_as_alone(graphs, single_root: bool, dtype: Any, rubbish: float) -> None:
    lengths = [3, 1, 5, 2, 8, 4, 1, 6]
    sentences = [graphs.gaussian(n, 7, seed=n).astype(dtype).astype(np.float64) for n in lengths]
    sentences += [graphs.holes(n, n, single_root, 5).astype(dtype).astype(np.float64) for n in lengths]
    found = pack(padded(sentences, dtype, rubbish), lengths * 2, single_root)
    for b, log_scores in enumerate(sentences):
        assert_shifted(found, b, log_scores, single_root)


@BOTH
@pytest.mark.parametrize("offset", [1e6, -1e6, 1e14 / 3])
def test_offsets_cost_no_digits(graphs, single_root: bool, offset: float) -> None:
    """Of ROOT's row, of a word's column, or of both: what the shift of one sentence leaves, to the last bit."""
    in_row, in_column, in_both = (graphs.gaussian(5, 3) for _ in range(3))
    in_row[0] += offset
    in_column[:, 2] += offset
    in_both[0] += offset
    in_both[:, 4] -= offset / 7
    sentences = [in_row, in_column, in_both]
    found = pack(padded(sentences), [5, 5, 5], single_root)
    for b, log_scores in enumerate(sentences):
        assert_shifted(found, b, log_scores, single_root)


@BOTH
def test_constants_are_rounded_once(graphs, single_root: bool) -> None:
    """Peaks of 1e15 / 3 that cancel leave the digits of the others."""
    log_scores = np.round(graphs.uniform(4))
    log_scores[1:, 1:] += np.array([0.1, 1e15 / 3, -1e15 / 3, 0.0])
    log_scores[0, 1:] = np.array([0.05, 0.0, -1e15 / 2, 0.0])
    words = [[head for head in range(5) if head != word] for word in range(1, 5)]
    peaks = [max(log_scores[head, word] for head in heads if head) for word, heads in enumerate(words, 1)]
    if single_root:
        above = [math.fsum((log_scores[0, word], -peak)) for word, peak in enumerate(peaks, 1)]
        expected = math.fsum((*peaks, max(above)))
    else:
        expected = math.fsum(max(peak, log_scores[0, word]) for word, peak in enumerate(peaks, 1))
    found = pack(padded([log_scores]), [4], single_root)
    assert found.constants[0] == expected


@BOTH
@pytest.mark.parametrize("mask", [-1e15, -1e32, -np.inf])
def test_masks_forbid(graphs, single_root: bool, mask: float) -> None:
    """From -1e15 down; a score just above that is one. A word may be left with an arc from ROOT, or with none."""
    log_scores = graphs.gaussian(4)
    log_scores[2, 3] = log_scores[0, 4] = log_scores[3, 1] = -np.inf
    log_scores[1:, 2] = -np.inf
    masked = np.where(np.isneginf(log_scores), mask, log_scores)
    just_above = graphs.gaussian(2)
    just_above[1, 2] = just_above[0, 1] = np.nextafter(-1e15, 0.0)
    alone = masked.copy()
    alone[0, 2] = mask
    found = pack(padded([masked, just_above, alone]), [4, 2, 4], single_root)
    assert_shifted(found, 0, log_scores, single_root)
    assert_shifted(found, 1, just_above, single_root)
    assert np.isneginf(found.sentences[2][:, 2]).all()
    assert not np.isnan(found.sentences[2]).any()
    assert abs(found.constants[2]) < 100.0  # the word without any arc is shifted by nothing


@BOTH
@pytest.mark.parametrize("arc", [(0, 1), (0, 3), (2, 1), (1, 3), (3, 2)])
@pytest.mark.parametrize("bad", [np.nan, np.inf, np.nextafter(1e15, 2e15)])
def test_what_is_no_score_is_reported(graphs, single_root: bool, arc: tuple[int, int], bad: float) -> None:
    """NaN and scores beyond the mask, of that sentence only; 1e15 itself is a score."""
    good, spoiled, large = (graphs.gaussian(3, seed=seed) for seed in range(3))
    spoiled[arc], large[arc] = bad, 1e15
    assert pack(padded([good, spoiled, large]), [3, 3, 3], single_root).in_range == [True, False, True]


@BOTH
@pytest.mark.parametrize("mask", [-1e15, -1e32, -np.inf])
def test_no_arc_from_root(graphs, single_root: bool, mask: float) -> None:
    """Such a sentence has no last word, and no numbers."""
    rootless = graphs.gaussian(3)
    rootless[0] = mask
    found = pack(padded([rootless, graphs.gaussian(2)]), [3, 2], single_root)
    assert found.in_range == [False, True]
    assert found.final_words[0] == 0


@BOTH
@pytest.mark.parametrize("best", [1, 2, 5])
def test_the_word_with_the_best_arc_from_root_is_last(graphs, single_root: bool, best: int) -> None:
    """The best as it is after the shift, told apart where float64 rounds the difference off."""
    log_scores = graphs.gaussian(5)
    log_scores[0, 1:] = -3.0 + log_scores[1:, 1:].max(axis=0)
    log_scores[0, best] += 0.5
    near = np.full((6, 6), -1.0)
    near[0, 1:] = -1e6
    near[1:, 1:] = 1e-12
    near[1:, best] = 0.0
    found = pack(padded([log_scores, near]), [5, 5], single_root)
    assert found.final_words == [best, best]
    root = found.sentences[0][0]
    assert root[best] == root.max() > np.delete(root, best).max()
