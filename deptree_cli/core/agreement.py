"""How far trees of the same sentences agree, and how far they would by chance.

Of a sentence there may be many trees: agreement is then that of a tree drawn from one set with a tree drawn from the
other, the mean over words of sum_h p_A(h) p_B(h). Chance-corrected it is (observed - chance) / (1 - chance), Scott's
pi (Scott 1955; Artstein and Poesio 2008, section 2): what is expected by chance is not taken per head, as a word's
number says nothing, but per distance between head and word.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Heads, Int, Integers
from deptree_cli.core.errors import DeptreeError, counted

# Up to so many cells each is counted; of more, those that occur are sorted.
_COUNTED = 1 << 18


class Shares(NamedTuple):
    """How large a share of trees has each value at each word; what none has is left out.

    `cells` are ``word * size + value``, ascending; words count from 0, values are below `size`.
    """

    cells: Int
    shares: Float

    def common(self, other: Shares) -> tuple[Int, Float]:
        at = np.searchsorted(self.cells, other.cells)
        at[at == len(self.cells)] = 0
        both = self.cells[at] == other.cells
        return other.cells[both], self.shares[at[both]] * other.shares[both]


def shares(values: Integers, times: Int, size: int) -> Shares:
    """The shares of trees; values (k, n) are below `size`. O(k n log(k n)), however long the sentence.

    `times` (k,) is how often each tree counts.
    """
    n = values.shape[1]
    cells = (np.arange(n) * size + values).ravel()
    if len(values) == 1:
        return Shares(cells, np.ones(n))
    weights = np.broadcast_to(times[:, None] / times.sum(), values.shape).ravel()
    if n * size > _COUNTED:
        named, at = np.unique(cells, return_inverse=True)
        return Shares(named, np.bincount(at, weights).astype(np.float64))
    found = np.bincount(cells, weights).astype(np.float64)
    return Shares(named := np.flatnonzero(found), found[named])


class SharedHeads(NamedTuple):
    """What the trees of a sentence in one file say of its n words.

    `heads` are of size n + 1, `labelled` of ``head * labels + label``; None without labels.
    """

    n: int
    heads: Shares
    labelled: Shares | None = None


def shared_heads(heads: Heads, times: Int, labels: Integers | None, size: int) -> SharedHeads:
    """The shares of trees; `labels`: (k, n), numbers below `size`, or None."""
    n = heads.shape[1]
    found = shares(heads, times, n + 1)
    if labels is None:
        return SharedHeads(n, found)
    return SharedHeads(n, found, shares(heads.astype(np.int64) * size + labels, times, (n + 1) * size))


def agreement(first: Shares, second: Shares) -> float:
    return float(first.common(second)[1].sum())


def marginal_chance(marginals: Float) -> float:
    """In how many words two heads agree that are drawn from a distribution, whose marginals are (n + 1, n + 1)."""
    return float((marginals[:, 1:] ** 2).sum())


class Distances:
    """How often heads stand at each distance from their word, and how many words chose among which distances.

    Only these are kept, not the sentences: O(longest sentence).
    """

    def __init__(self) -> None:
        self._counts: defaultdict[int, float] = defaultdict(float)
        self._roots = 0.0
        self._sentences: Counter[int] = Counter()

    def add(self, counts: Float, sets: int) -> None:
        """Count a sentence's heads by distance, (2 n + 1,), over all `sets`, files, so that each word counts as one."""
        n = len(counts) // 2
        self._roots += float(counts[n]) / sets
        for at in np.flatnonzero(counts).tolist():
            if at != n:
                self._counts[at - n] += float(counts[at]) / sets
        self._sentences[n] += 1

    def chance(self) -> float:
        """In how many words two heads agree that are drawn independently, each from the distances that a word allows.

        A word at place i of n may have a head at the distances 1 - i to n - i but 0, or ROOT; the distribution of
        distances is restricted to these.
        """
        longest = max(self._sentences)
        found = np.zeros(2 * longest + 1)
        for distance, each in self._counts.items():
            found[distance + longest] = each
        sums, squares = (np.concatenate([[0.0], np.cumsum(each)]) for each in (found, found**2))
        total = 0.0
        for n, sentences in self._sentences.items():
            low = longest + 1 - np.arange(1, n + 1)
            both = squares[low + n] - squares[low] + self._roots**2
            allowed = sums[low + n] - sums[low] + self._roots
            total += sentences * float((both / allowed**2).sum())
        return total


def distances(shared: SharedHeads) -> Float:
    """The shares of heads summed by distance from the word, (2 n + 1,): ROOT at n, distance d at n + d."""
    n = shared.n
    words, heads = np.divmod(shared.heads.cells, n + 1)
    at = np.where(heads > 0, heads - words - 1, 0) + n
    return np.bincount(at, shared.heads.shares, 2 * n + 1).astype(np.float64)


def label_chance(labels: Counter[str]) -> float:
    """How often two labels are the same that are drawn independently, for how often each is there."""
    found = np.array(list(labels.values()), dtype=np.float64)
    return float(((found / found.sum()) ** 2).sum())


def kappa(observed: float, chance: float) -> float | None:
    """Agreement beyond chance: 1 for all there can be, 0 for none, None where chance alone would agree."""
    return (observed - chance) / (1 - chance) if chance < 1 else None


class LabelCounts(NamedTuple):
    """In how many words each set says a label, and both do for the same head."""

    first: float
    second: float
    both: float


def of_labels(cells: Int, shares: Float, size: int) -> Float:
    """In how many words each of `size` labels is said, for cells with labels."""
    return np.bincount(cells % size, shares, size).astype(np.float64)


def by_label(first: Shares, second: Shares, names: Sequence[str]) -> dict[str, LabelCounts]:
    """How often each label is said, by shares of two sets; those that neither says are left out."""
    counts = [of_labels(*each, len(names)).tolist() for each in (first, second, first.common(second))]
    return {name: LabelCounts(*each) for name, each in zip(names, zip(*counts, strict=True), strict=True) if any(each)}


def numbered(labels: Sequence[Sequence[Sequence[str]]]) -> tuple[list[str], list[Int]]:
    """The names that labels of several sets of trees have, sorted, and each set's (k, n) as numbers of these."""
    names = sorted({each for trees in labels for tree in trees for each in tree})
    numbers = {name: number for number, name in enumerate(names)}
    return names, [np.array([[numbers[each] for each in tree] for tree in trees]) for trees in labels]


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


class TwoSamples(NamedTuple):
    """The distinct trees (d, n) of two samples, and how often each is in them."""

    heads: Heads
    first: Int
    second: Int


def two_samples(heads: Sequence[Heads], times: Sequence[Int]) -> TwoSamples:
    """Two samples as distinct trees, from trees (k, n) of each and how often they are there, (k,)."""
    distinct, at = np.unique(np.vstack(heads), axis=0, return_inverse=True)
    found = np.zeros((2, len(distinct)), dtype=np.int64)
    sample = np.repeat([0, 1], [len(each) for each in times])
    np.add.at(found, (sample, at.ravel()), np.concatenate(times))
    return TwoSamples(distinct, *found)


def statistics(samples: TwoSamples, permutations: int, rng: np.random.Generator) -> Float:
    """The statistics of two samples, observed ones first, and of permuted ones: (1 + permutations, len(STATISTICS)).

    O(permutations * distinct trees * words)
    """
    pooled, size = samples.first + samples.second, int(samples.first.sum())
    if (total := int(pooled.sum())) > _MOST:
        raise DeptreeError(f"{counted(total, 'tree')} cannot be permuted", f"Give {_MOST} at most")
    measure = _Measure(samples.heads, pooled, size)
    rows = [measure(samples.first[None])]
    step = max(1, _ROOM // max(len(pooled), measure.arcs))
    for start in range(0, permutations, step):
        drawn = min(step, permutations - start)
        rows.append(measure(rng.multivariate_hypergeometric(pooled, size, drawn, method="marginals")))
    return np.vstack(rows)


class _Measure:
    """The statistics of divisions of distinct trees (d, n), each there `pooled` times, into two samples.

    `size` trees are in the first; `arcs` counts those that some trees have and others do not.
    """

    def __init__(self, heads: Heads, pooled: Int, size: int) -> None:
        from scipy.sparse import csr_array  # a tenth of a second, where there is something to test

        d, n = heads.shape
        self._pooled, self._size, self._total = pooled, size, int(pooled.sum())
        arcs, columns = np.unique(np.arange(n) * (n + 1) + heads, return_inverse=True)
        found = csr_array((np.ones(d * n), columns.ravel(), np.arange(d + 1) * n), (d, len(arcs)))
        share = (found.T @ pooled) / self._total
        varies = share < 1
        self._trees_by_arc = found[:, varies].T.tocsr()
        self._share = share[varies]
        self._often = pooled > 1
        self._typical = found @ np.log(share)  # of each tree: large if its arcs are those that most trees have
        self.arcs = int(varies.sum())

    def __call__(self, counts: Int) -> Float:
        """The statistics, (r, len(STATISTICS)), for counts (r, d) of trees in the first sample."""
        # How far the first sample is from the share that it has of all trees; the second is as far the other way.
        excess = counts - self._size / self._total * self._pooled
        arcs = (self._trees_by_arc @ excess.T).T ** 2 / (self._share * (1 - self._share))
        largest = arcs.max(axis=1, initial=0.0)
        often = (excess[:, self._often] ** 2 / self._pooled[self._often]).sum(axis=1)
        once = excess[:, ~self._often].sum(axis=1) ** 2 / max(1, int((~self._often).sum()))
        scale = max(self._size * (self._total - self._size) / self._total, 1.0)  # then squares are near chi-square
        peakedness = self._peakedness(excess) * np.sqrt(scale)
        trees = self._total * (often + once)
        return np.column_stack([arcs.sum(axis=1), largest, peakedness, trees]) / scale

    def _peakedness(self, excess: Float) -> Float:
        """How much more typical the trees of the first sample are, with its sign: so sentences can point one way."""
        mean = self._typical @ self._pooled / self._total
        spread = float((self._typical - mean) ** 2 @ self._pooled) / self._total
        return excess @ (self._typical - mean) / np.sqrt(spread) if spread > 0 else np.zeros(len(excess))


class Tested(NamedTuple):
    """P-values: of each statistic by itself, (len(STATISTICS),), and of all together."""

    each: Float
    p: float


def p_values(found: Float) -> Tested:
    """P-values of the first of exchangeable rows of statistics, (1 + permutations, len(STATISTICS))."""
    found = np.abs(found)
    largest = found.max(axis=0)
    rounded = np.round(found / np.where(largest > 0, largest, 1.0), _DIGITS)
    each = np.column_stack([_at_least(column) for column in rounded.T])
    smallest = (each / _WEIGHTS).min(axis=1)
    return Tested(each[0], float((smallest <= smallest[0]).mean()))


def _at_least(column: Float) -> Float:
    return (len(column) - np.searchsorted(np.sort(column), column, side="left")) / len(column)
