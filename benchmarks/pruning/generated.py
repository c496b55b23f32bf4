"""Generated bitext, of which the true links are known: scores from nothing, and sentences beside noisy copies.

Everything follows from the random generator that is handed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deptree_cli.core.dtypes import Float, Int

Link = tuple[int, int]

# The strength of true links where a model is unsure, and where it is sure.
FLAT, PEAKED = 3.0, 6.0

# Scores of links that are no true ones are Gaussian about LINK; words that are not linked have NULL.
LINK, NULL = -1.0, -1.5
TRUE_LINKS, SWAPPED = 0.85, 0.3

# Shares of words, and of a copy's neighbours.
DROPPED, REPLACED, NEIGHBOURS = 0.1, 0.1, 0.1

# Scores by form: what equal forms add, what a distance of the whole sentence takes away, what is left for others.
EQUAL, DISTANCE, UNLIKE, NOISE = 12.0, 5.0, -3.0, 0.5


@dataclass(frozen=True)
class Problem:
    """A sentence pair of p and q words as a grammar sees it.

    scores: log-scores of links, (p, q). source_nulls, target_nulls: of unlinked words, (p,) and (q,).
    bispans: log-weights, (p+1, p+1, q+1, q+1). heuristic: what a simpler model takes for the scores, (p, q).
    links: those that were made strong.
    """

    scores: Float
    source_nulls: Float
    target_nulls: Float
    bispans: Float
    heuristic: Float
    links: frozenset[Link]


def problem(
    rng: np.random.Generator,
    p: int,
    q: int,
    strong: float = FLAT,
    noise: float = 1.0,
    *,
    sigma: float = 0.0,
    corruption: float = 0.0,
) -> Problem:
    """Return a problem whose strong links can be built by two children at a time.

    Args:
        strong: what is added to the scores of strong links.
        noise: the standard deviation of all links' scores.
        sigma: that of the log-weights of bispans.
        corruption: that of what the heuristic's scores are off by.
    """
    length = min(p, q)
    source, target = (np.sort(rng.permutation(words)[:length]) for words in (p, q))
    order = _inverted_here_and_there(rng, np.arange(length))
    is_strong = rng.random(length) < TRUE_LINKS
    i, j = source[is_strong], target[order][is_strong]
    scores = LINK + noise * rng.normal(size=(p, q))
    scores[i, j] += strong
    return Problem(
        scores,
        np.full(p, NULL),
        np.full(q, NULL),
        sigma * rng.normal(size=(p + 1, p + 1, q + 1, q + 1)),
        scores + corruption * rng.normal(size=(p, q)),
        frozenset(zip(i.tolist(), j.tolist(), strict=True)),
    )


def _inverted_here_and_there(rng: np.random.Generator, words: Int) -> Int:
    """The words cut in two at random, the halves too and so on, some of them swapped: a derivation's order."""
    if len(words) < 2:
        return words
    cut = int(rng.integers(1, len(words)))
    halves = [_inverted_here_and_there(rng, half) for half in (words[:cut], words[cut:])]
    return np.concatenate(halves[::-1] if rng.random() < SWAPPED else halves)


def noisy_copy(rng: np.random.Generator, words: Sequence[str]) -> tuple[list[str], frozenset[Link]]:
    """Return a sentence's noisy copy and the links of its words to the copy's.

    Some words are dropped, two blocks that meet and some neighbours change places, and some words are replaced by their
    own letters in another order. Those have no links. Of a sentence that has words at least one stays.
    """
    kept = np.flatnonzero(rng.random(len(words)) >= DROPPED)
    if len(kept) == 0 and words:
        kept = rng.integers(len(words), size=1)
    order = _neighbours_swapped(rng, _blocks_swapped(rng, kept)).tolist()
    is_replaced = rng.random(len(order)) < REPLACED
    copy = ["".join(rng.permutation(list(words[i]))) if is_replaced[j] else words[i] for j, i in enumerate(order)]
    return copy, frozenset((i, j) for j, i in enumerate(order) if not is_replaced[j])


def _blocks_swapped(rng: np.random.Generator, order: Int) -> Int:
    """The same with one stretch moved behind the next, if there are two words."""
    if len(order) < 2:
        return order
    a, b, c = np.sort(rng.choice(len(order) + 1, size=3, replace=False))
    return np.concatenate([order[:a], order[b:c], order[a:b], order[c:]])


def _neighbours_swapped(rng: np.random.Generator, order: Int) -> Int:
    """The same with some neighbours swapped, none of them twice."""
    order, k = order.copy(), 0
    while k < len(order) - 1:
        if rng.random() < NEIGHBOURS:
            order[[k, k + 1]] = order[[k + 1, k]]
            k += 1
        k += 1
    return order


def similarity(source: Sequence[str], target: Sequence[str], rng: np.random.Generator) -> Float:
    """Return log-scores (p, q) of links by the words' forms, their places and noise: which of equal words is open.

    They are made for log-scores 0 of unlinked words, of which there are many derivations: a link has to outweigh those.
    """
    ours, theirs = ([_pieces(word) for word in words] for words in (source, target))
    alike = np.array([[_dice(a, b) for b in theirs] for a in ours], dtype=np.float64).reshape(len(ours), len(theirs))
    places = [(np.arange(len(words)) + 0.5) / max(len(words), 1) for words in (source, target)]
    off_diagonal = np.abs(places[0][:, None] - places[1])
    return UNLIKE + EQUAL * alike - DISTANCE * off_diagonal + NOISE * rng.normal(size=alike.shape)


def _pieces(word: str) -> Counter[str]:
    """The pairs and triples of a word's letters, edges marked."""
    marked = f"<{word.casefold()}>"
    return Counter(marked[k : k + n] for n in (2, 3) for k in range(len(marked) - n + 1))


def _dice(a: Counter[str], b: Counter[str]) -> float:
    """What two collections share, 0 to 1."""
    return 2.0 * (a & b).total() / (a.total() + b.total())
