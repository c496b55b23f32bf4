"""How far trees of the same sentences agree, and how far they would by chance.

Of a sentence there may be many trees: agreement is then that of a tree drawn from one set with a tree drawn from the
other, the mean over words of sum_h p_A(h) p_B(h). Chance-corrected it is (observed - chance) / (1 - chance), Scott's
pi (Scott 1955; Artstein and Poesio 2008, section 2): what is expected by chance is not taken per head, as a word's
number says nothing, but per distance between head and word.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.errors import DeptreeError, counted

Key = TypeVar("Key", bound=Hashable)

# How large a share of trees has each arc, (word, head) or (word, head, label), in order; words count from 1.
Shares = dict[tuple[Any, ...], float]


def shares(times: Int, *trees: Sequence[Sequence[Any]]) -> Shares:
    """The shares of k trees; `times` (k,) is how often each counts. O(k n log(k n)), however long the sentence.

    `trees` are k lists of n heads, and maybe others of labels.
    """
    if len(times) == 1:
        return dict.fromkeys(zip(count(1), *(each[0] for each in trees)), 1.0)
    found: Shares = {}
    for share, *tree in zip((times / times.sum()).tolist(), *trees, strict=True):
        for arc in zip(count(1), *tree):
            found[arc] = found.get(arc, 0.0) + share
    return {arc: found[arc] for arc in sorted(found)}


def common(first: Shares, second: Shares) -> Shares:
    return {arc: share * second[arc] for arc, share in first.items() if arc in second}


def agreement(first: Shares, second: Shares) -> float:
    return float(np.add.reduce([*common(first, second).values()]))


def marginal_chance(marginals: Float) -> float:
    """In how many words two heads agree that are drawn from a distribution, whose marginals are (n + 1, n + 1)."""
    return float((marginals[:, 1:] ** 2).sum())


def distance_chance(distances: Mapping[int, float], sentences: Mapping[int, float]) -> float:
    """In how many words two heads agree that are drawn independently, each from the distances that a word allows.

    A word at place i of n may have a head at the distances 1 - i to n - i but 0, or ROOT.

    Args:
        distances: how often heads stand at each distance from their word, 0 for ROOT; each word counts as one.
        sentences: how many there are of each length.
    """
    longest = max(sentences)
    found = np.zeros(2 * longest + 1)
    found[[distance + longest for distance in distances]] = list(distances.values())
    roots, found[longest] = float(found[longest]), 0.0
    sums, squares = (np.concatenate([[0.0], np.cumsum(each)]) for each in (found, found**2))
    total = 0.0
    for n, count_of in sentences.items():
        low = longest + 1 - np.arange(1, n + 1)
        both = squares[low + n] - squares[low] + roots**2
        allowed = sums[low + n] - sums[low] + roots
        total += count_of * float((both / allowed**2).sum())
    return total


def by_distance(heads: Shares) -> dict[int, float]:
    """The shares of heads summed by distance from the word: 0 is ROOT."""
    return summed([(head and head - word, share) for (word, head), share in heads.items()])


def by_name(labelled: Shares) -> dict[str, float]:
    return summed([(label, share) for (_, _, label), share in labelled.items()])


def summed(counts: Iterable[tuple[Key, float]]) -> dict[Key, float]:
    found: dict[Key, float] = {}
    for key, each in counts:
        found[key] = found.get(key, 0.0) + each
    return found


def label_chance(labels: Mapping[str, float]) -> float:
    """How often two labels are the same that are drawn independently, for how often each is there."""
    found = np.array(list(labels.values()), dtype=np.float64)
    return float(((found / found.sum()) ** 2).sum())


def kappa(observed: float, chance: float) -> float | None:
    """Agreement beyond chance: 1 for all there can be, 0 for none, None where chance alone would agree."""
    return (observed - chance) / (1 - chance) if chance < 1 else None


def by_label(first: Shares, second: Shares, renumbered: Shares | None = None) -> dict[str, Float]:
    """In how many words each of two sets says each label, and both do for the same head: (3,).

    `renumbered`: the second set by the words of the first, if it has others.
    """
    counts = list(map(by_name, (first, second, common(first, second if renumbered is None else renumbered))))
    return {name: np.array([each.get(name, 0.0) for each in counts]) for name in sorted({*counts[0], *counts[1]})}


# What each column of statistics looks at.
STATISTICS = ("arcs", "largest", "peakedness", "trees")

# How much of the level each may spend: most for what samplers usually get wrong, an arc or the temperature.
_WEIGHTS = np.array([0.1, 0.45, 0.35, 0.1])

# Counts in memory at a time: of distinct trees or arcs by permutations.
_ROOM = 4_000_000

# What numpy's hypergeometric draws take.
_MOST = 10**9 - 1

# Digits in which statistics that are the same in exact arithmetic agree.
_DIGITS = 10


def statistics(heads: Sequence[Heads], times: Sequence[Int], permutations: int, rng: np.random.Generator) -> Float:
    """The statistics of two samples, observed ones first, and of permuted ones: (1 + permutations, len(STATISTICS)).

    O(permutations * distinct trees * words)

    Args:
        heads, times: of each sample trees (k, n), and how often they are there, (k,).
    """
    from scipy.sparse import csr_array  # a tenth of a second, where there is something to test

    trees, at = np.unique(np.vstack(heads), axis=0, return_inverse=True)
    counts = np.zeros((2, len(trees)), dtype=np.int64)
    np.add.at(counts, (np.repeat([0, 1], [len(each) for each in times]), at.ravel()), np.concatenate(times))
    pooled, (size, other), (d, n) = counts.sum(axis=0), counts.sum(axis=1).tolist(), trees.shape
    if (total := size + other) > _MOST:
        raise DeptreeError(f"{counted(total, 'tree')} cannot be permuted", f"Give {_MOST} at most")
    arcs, columns = np.unique(np.arange(n) * (n + 1) + trees, return_inverse=True)
    found = csr_array((np.ones(d * n), columns.ravel(), np.arange(d + 1) * n), (d, len(arcs)))
    share = (found.T @ pooled) / total
    varies = share < 1
    trees_by_arc, often = found[:, varies].T.tocsr(), pooled > 1
    typical = found @ np.log(share)  # of each tree: large if its arcs are those that most trees have
    typical -= typical @ pooled / total
    spread = float(typical**2 @ pooled) / total
    share = share[varies]
    scale = max(size * (total - size) / total, 1.0)  # then squares are near chi-square

    def measure(counts: Int) -> Float:
        """Of divisions of all trees into two samples, by the counts (r, d) of trees in the first."""
        # How far the first sample is from the share that it has of all trees; the second is as far the other way.
        excess = counts - size / total * pooled
        of_arcs = (trees_by_arc @ excess.T).T ** 2 / (share * (1 - share))
        largest = of_arcs.max(axis=1, initial=0.0)
        trees = (excess[:, often] ** 2 / pooled[often]).sum(axis=1)
        trees = total * (trees + excess[:, ~often].sum(axis=1) ** 2 / max(1, int((~often).sum())))
        # How much more typical the trees of the first sample are, with its sign: so sentences can point one way.
        peakedness = excess @ typical / np.sqrt(spread) if spread > 0 else np.zeros(len(excess))
        return np.column_stack([of_arcs.sum(axis=1), largest, peakedness * np.sqrt(scale), trees]) / scale

    rows, step = [measure(counts[:1])], max(1, _ROOM // max(d, len(share)))
    for start in range(0, permutations, step):
        drawn = min(step, permutations - start)
        rows.append(measure(rng.multivariate_hypergeometric(pooled, size, drawn, method="marginals")))
    return np.vstack(rows)


class Tested(NamedTuple):
    """P-values: of each statistic by itself, (len(STATISTICS),), and of all together."""

    each: Float
    p: float


def p_values(found: Float) -> Tested:
    """P-values of the first of exchangeable rows of statistics, (1 + permutations, len(STATISTICS))."""
    found = np.abs(found)
    largest = found.max(axis=0)
    rounded = np.round(found / np.where(largest > 0, largest, 1.0), _DIGITS)
    below = [np.searchsorted(np.sort(column), column, side="left") for column in rounded.T]
    each = (len(rounded) - np.column_stack(below)) / len(rounded)
    smallest = (each / _WEIGHTS).min(axis=1)
    return Tested(each[0], float((smallest <= smallest[0]).mean()))
