"""From padded log-scores to shifted ones, packed sentence after sentence without padding.

A batch has shape (B, N, N), ``[head, dependent]``, node 0 is ROOT; a sentence of n words takes the first n+1 rows and
columns, and of the packed array as many places as the matrix has that a sum wants: (n+1, n), words first and ROOT last,
for elimination, or (n+1, n+1) by node for Eisner's chart. Elimination wants a word last that reaches all others: the
one that only ROOT may govern, else the one with the best arc from ROOT, changes places with the sentence's last word.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.pairs import pair_add, two_sum
from deptree_cli.kernels.xoshiro import U64


@kernel
def shift_sentences(log_scores, lengths, offsets, mask, single_root, by_node, packed, last, constants, sound):
    """Fill packed with the scores less a constant for each word, as `shift_columns` of one sentence does.

    offsets: (B,) where each sentence begins in packed. mask: scores down from -mask forbid, those above it are none.
    by_node: the layout. Fills last (B,) with the word to take last, 0 if ROOT has no arc, constants (B,) with what log
    Z loses, and sound (B,) with whether there are neither NaN nor scores too large, and some arc from ROOT.
    """
    peaks = np.empty(log_scores.shape[1])
    for b in range(lengths.shape[0]):
        n, scores = lengths[b], log_scores[b]
        columns = n + 1 if by_node else n
        target = packed[offsets[b] : offsets[b] + (n + 1) * columns].reshape(n + 1, columns)
        usable, only_root = find_peaks(scores, n, mask, single_root, peaks)
        best, highest = best_root(scores, n, mask, single_root, peaks)
        last[b] = only_root if only_root > 0 else best
        sound[b] = usable and best > 0
        constants[b] = sum_of_shifts(peaks, n, highest)
        for i in range(n + 1):
            out = target[i if by_node else (i - 1 if i > 0 else n)]
            fill_row(scores[i], i, n, mask, peaks, out, 1 if by_node else 0)
            if i == 0 and single_root:
                shift_root(scores, n, mask, peaks, highest, out, 1 if by_node else 0)
        if not by_node and best > 0:
            swap_words(target, last[b] - 1, n - 1)


@kernel
def find_peaks(scores, n, mask, single_root, peaks):
    """Fill peaks with each word's best score, of an arc from a word if there is one and the root is single.

    Returns whether all scores are numbers below the mask, and a word that only ROOT may govern, 0 if there is none.
    """
    only_root = 0
    for j in range(1, n + 1):
        peaks[j] = -math.inf
    unusable = 0
    for i in range(1 if single_root else 0, n + 1):
        unusable += raise_peaks(scores[i], 1, i, mask, peaks) + raise_peaks(scores[i], i + 1, n + 1, mask, peaks)
    for j in range(1, n + 1):
        unusable += 0 if scores[0, j] <= mask else 1
        if peaks[j] <= -mask:
            peaks[j] = 0.0
            if scores[0, j] > -mask:
                peaks[j] = np.float64(scores[0, j])
                only_root = j
    return unusable == 0, only_root


@kernel(forceinline=True)
def raise_peaks(scores, first, stop, mask, peaks):
    """Raise the peaks first..stop-1 to a row's scores; return how many of these are above the mask, or NaN."""
    unusable = 0
    for j in range(U64(first), U64(stop)):
        score = np.float64(scores[j])
        peaks[j] = score if score > peaks[j] else peaks[j]
        unusable += 0 if score <= mask else 1
    return unusable


@kernel
def best_root(scores, n, mask, single_root, peaks):
    """Return the word with the best shifted score of an arc from ROOT, 0 if there is none, and that score, a pair."""
    best, highest = 0, (-math.inf, 0.0)
    for j in range(1, n + 1):
        score = np.float64(scores[0, j])
        if score > -mask:
            shifted = two_sum(score, -peaks[j])
            if shifted > highest:
                best, highest = j, shifted
    return best, highest if single_root else (0.0, 0.0)


@kernel
def sum_of_shifts(peaks, n, highest):
    """Return the sum of what each word's scores lose and what all arcs from ROOT lose, rounded once."""
    total = highest
    for j in range(1, n + 1):
        total = pair_add(total, (peaks[j], 0.0))
    return total[0]


@kernel(forceinline=True)
def fill_row(scores, own, n, mask, peaks, out, first):
    """Fill a row, whose column `first` is word 1's, with the shifted scores (N,) of a head, node `own`."""
    for j in range(first):
        out[j] = -math.inf
    for j in range(U64(n)):
        score = np.float64(scores[j + U64(1)])
        out[j + U64(first)] = score - peaks[j + U64(1)] if score > -mask else -math.inf
    if own > 0:
        out[own - 1 + first] = -math.inf


@kernel
def shift_root(scores, n, mask, peaks, highest, out, first):
    """Fill ROOT's row once more, less its highest score: without rounding twice, however large they are."""
    for j in range(n):
        score = np.float64(scores[0, j + 1])
        if score > -mask:
            out[j + first] = pair_add(two_sum(score, -peaks[j + 1]), (-highest[0], -highest[1]))[0]


@kernel
def swap_words(arcs, a, b):
    """Exchange the rows a and b of a matrix and its columns a and b."""
    for j in range(arcs.shape[1]):
        arcs[a, j], arcs[b, j] = arcs[b, j], arcs[a, j]
    for i in range(arcs.shape[0]):
        arcs[i, a], arcs[i, b] = arcs[i, b], arcs[i, a]
