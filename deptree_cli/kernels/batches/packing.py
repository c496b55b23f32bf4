"""From padded log-scores to shifted ones, packed sentence after sentence without padding, and back.

A batch has shape (B, N, N), ``[head, dependent]``, node 0 is ROOT; a sentence of n words takes the first n+1 rows and
columns, and of the packed array as many places as the matrix has that a sum wants: (n+1, n), words first and ROOT last,
for elimination, or (n+1, n+1) by node for Eisner's chart. Elimination wants a word last that reaches all others: the
one with the best arc from ROOT changes places with the sentence's last word.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.numbers.pairs import pair_add, two_sum


@kernel
def shift_sentences(log_scores, lengths, offsets, mask, single_root, by_node, packed, last, constants, sound):
    """Fill packed with the scores less a constant for each word, as `shift_columns` of one sentence does.

    offsets: (B,) where each sentence begins in packed. mask: scores down from -mask forbid, those above it are none.
    by_node: the layout. Fills last (B,) with the word that has the best arc from ROOT, constants (B,) with what log Z
    loses, and sound (B,) with whether there are neither NaN nor scores too large, and some arc from ROOT.
    """
    peaks = np.empty(log_scores.shape[1])
    for b in range(lengths.shape[0]):
        n, scores = lengths[b], log_scores[b]
        columns = n + 1 if by_node else n
        target = packed[offsets[b] : offsets[b] + (n + 1) * columns].reshape(n + 1, columns)
        sound[b] = find_peaks(scores, n, mask, single_root, peaks)
        best, highest = best_root(scores, n, mask, single_root, peaks)
        last[b] = best
        sound[b] = sound[b] and best > 0
        constants[b] = sum_of_shifts(peaks, n, highest)
        for i in range(n + 1):
            fill_row(scores, i, n, mask, peaks, target, i if by_node else (i - 1 if i > 0 else n), 1 if by_node else 0)
            if i == 0 and single_root:
                shift_root(scores, n, mask, peaks, highest, target[0 if by_node else n], 1 if by_node else 0)
        if not by_node and best > 0:
            swap_words(target, best - 1, n - 1)


@kernel
def find_peaks(scores, n, mask, single_root, peaks):
    """Fill peaks with each word's best score, of an arc from a word if there is one and the root is single.

    Returns whether all scores are numbers below the mask.
    """
    usable = True
    for j in range(1, n + 1):
        peaks[j] = -math.inf
    for i in range(1 if single_root else 0, n + 1):
        for j in range(1, n + 1):
            score = np.float64(scores[i, j])
            if i != j:
                usable = usable and score <= mask  # not so of NaN
                peaks[j] = max(peaks[j], score)
    for j in range(1, n + 1):
        usable = usable and scores[0, j] <= mask
        if peaks[j] <= -mask:  # a word that only ROOT may govern, if anything
            peaks[j] = np.float64(scores[0, j]) if scores[0, j] > -mask else 0.0
    return usable


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


@kernel
def fill_row(scores, i, n, mask, peaks, target, position, first):
    """Fill a row of the target, whose column `first` is word 1's, with the shifted scores of head i."""
    out = target[position]
    for j in range(first):
        out[j] = -math.inf
    for j in range(n):
        score = np.float64(scores[i, j + 1])
        out[j + first] = score - peaks[j + 1] if score > -mask else -math.inf
    if i > 0:
        out[i - 1 + first] = -math.inf


@kernel
def shift_root(scores, n, mask, peaks, highest, out, first):
    """Fill ROOT's row once more, less its highest score: without rounding twice, however large they are."""
    for j in range(n):
        score = np.float64(scores[0, j + 1])
        if score > -mask:
            out[j + first] = pair_add(two_sum(score, -peaks[j + 1]), (-highest[0], -highest[1]))[0]


@kernel
def swap_words(matrix, a, b):
    """Exchange the rows and the columns of two words; matrix (n+1, n)."""
    for j in range(matrix.shape[1]):
        matrix[a, j], matrix[b, j] = matrix[b, j], matrix[a, j]
    for i in range(matrix.shape[0]):
        matrix[i, a], matrix[i, b] = matrix[i, b], matrix[i, a]


@kernel
def node_at(position, n, last):
    """Return which node stands at a position of elimination, after word `last` and the last word changed places."""
    if position == n:
        return 0
    if position == n - 1:
        return last
    return n if position == last - 1 else position + 1
