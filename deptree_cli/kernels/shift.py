"""From log-scores to shifted ones, less a constant for each word.

Elimination wants a word first that reaches all others: mostly that is the one that only ROOT may govern, or else the
one with the best arc from ROOT.
"""

from __future__ import annotations

import math

import numpy as np

from deptree_cli.kernels.flags import Index, kernel


@kernel
def two_sum(a, b):
    """Return a + b, rounded, and what rounding took off (Knuth's error-free transformation)."""
    total = a + b
    x = total - a
    return total, (a - (total - x)) + (b - x)


@kernel
def add_pair(x, y):
    """Return the sum of two pairs as `two_sum` gives them, as such a pair."""
    high, low = two_sum(x[0], y[0])
    return two_sum(high, low + (x[1] + y[1]))


@kernel
def shift_sentence(scores, mask, single_root, peaks, shifted):
    """Fill shifted (n+1, n+1) with the scores less each word's maximum, each rounded once.

    Under the single-root constraint the maximum is over the arcs from words, and ROOT's row is then shifted as a whole:
    every tree has exactly one of its arcs. peaks (n+1,): to compute in. Scores down from -mask forbid, those above it
    are none. Returns the sum of what was subtracted; the word to eliminate last, 0 if ROOT has no arc; and whether
    there are neither NaN nor scores too large, and some arc from ROOT.
    """
    n = shifted.shape[0] - 1
    in_range, only_root = find_peaks(scores, n, mask, single_root, peaks)
    best, highest = best_root(scores, n, mask, single_root, peaks)
    for i in range(n + 1):
        fill_row(scores[i], i, n, mask, peaks, shifted[i])
    if single_root:
        shift_root(scores[0], n, mask, peaks, highest, shifted[0])
    return sum_of_shifts(peaks, n, highest), only_root if only_root > 0 else best, in_range and best > 0


@kernel
def find_peaks(scores, n, mask, single_root, peaks):
    """Fill peaks with each word's best score, of an arc from a word if there is one and the root is single.

    Returns whether all scores are numbers below the mask, and a word that only ROOT may govern, 0 if there is none.
    """
    only_root = 0
    for j in range(1, n + 1):
        peaks[j] = -math.inf
    out_of_range = 0
    for i in range(1 if single_root else 0, n + 1):
        out_of_range += raise_peaks(scores[i], 1, i, mask, peaks) + raise_peaks(scores[i], i + 1, n + 1, mask, peaks)
    for j in range(1, n + 1):
        out_of_range += 0 if scores[0, j] <= mask else 1
        if peaks[j] <= -mask:
            peaks[j] = 0.0
            if scores[0, j] > -mask:
                peaks[j] = np.float64(scores[0, j])
                only_root = j
    return out_of_range == 0, only_root


@kernel(forceinline=True)
def raise_peaks(scores, first, stop, mask, peaks):
    """Raise the peaks first..stop-1 to a row's scores; return how many of these are above the mask, or NaN."""
    out_of_range = 0
    for j in range(Index(first), Index(stop)):
        score = np.float64(scores[j])
        peaks[j] = score if score > peaks[j] else peaks[j]
        out_of_range += 0 if score <= mask else 1
    return out_of_range


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
    return best, highest if single_root and best > 0 else (0.0, 0.0)


@kernel
def sum_of_shifts(peaks, n, highest):
    """Return the sum of what each word's scores lose and what all arcs from ROOT lose, rounded once."""
    total = highest
    for j in range(1, n + 1):
        total = add_pair(total, (peaks[j], 0.0))
    return total[0]


@kernel(forceinline=True)
def fill_row(scores, own, n, mask, peaks, shifted):
    """Fill a row with the shifted scores (n+1,) of a head, node `own`; neither it nor ROOT is its dependent."""
    for j in range(Index(1), Index(n + 1)):
        score = np.float64(scores[j])
        shifted[j] = score - peaks[j] if score > -mask else -math.inf
    shifted[0] = shifted[own] = -math.inf


@kernel
def shift_root(scores, n, mask, peaks, highest, shifted):
    """Fill ROOT's row once more, less its highest score: without rounding twice, however large they are."""
    for j in range(1, n + 1):
        score = np.float64(scores[j])
        if score > -mask:
            shifted[j] = add_pair(two_sum(score, -peaks[j]), (-highest[0], -highest[1]))[0]
