"""Log-scores of links and of unlinked words less a constant for each word, which changes no probability."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from deptree_cli.bitext.model.costs import is_turned
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError

# Log-weights of bispans where there are none.
NO_TABLE: Float = np.empty((0, 0))


class Shifted(NamedTuple):
    """Logarithms of weights, of links and nulls none above 0.

    Attributes:
        links, source_nulls, target_nulls: (p, q), (p,) and (q,).
        bispans: a row for every source span s..t, sorted by s and t, a column for every target span; (0, 0) for none.
        constant: what log Z loses by the shift, for every alignment has every word once.
    """

    links: Float
    source_nulls: Float
    target_nulls: Float
    bispans: Float
    constant: float

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of source and target words, p and q."""
        return len(self.source_nulls), len(self.target_nulls)

    @property
    def turned(self) -> Shifted:
        """The same with source and target exchanged.

        Raises:
            NotImplementedError: bispans have weights. Which of them an alignment has depends on the side that is joined
                first: of three parts in inverted order the grammar joins the first two on the source side.
        """
        if self.bispans.size:
            raise NotImplementedError
        links = np.ascontiguousarray(self.links.T)
        return self._replace(links=links, source_nulls=self.target_nulls, target_nulls=self.source_nulls)

    @property
    def pays_turned(self) -> bool:
        """Whether the chart is that of the pair turned round: much faster, and of the same sums.

        They are the same as every alignment has one derivation either way.
        """
        return not self.bispans.size and is_turned(*self.size)


def shift(links: Float, source_nulls: Float, target_nulls: Float, bispans: Float | None) -> Shifted:
    """Shift checked log-scores: of what a word may have the best is 0, for words of the longer side first.

    bispans: (p+1, p+1, q+1, q+1) log-weights, ``[s, t, u, v]``, or None.
    """
    p, q = links.shape
    if p > q:
        of_sources, of_targets = _constants(links.T, target_nulls, source_nulls)
    else:
        of_targets, of_sources = _constants(links, source_nulls, target_nulls)
    return Shifted(
        links - of_targets - of_sources[:, None],
        source_nulls - of_sources,
        target_nulls - of_targets,
        NO_TABLE if bispans is None else _table(bispans),
        math.fsum((*of_targets, *of_sources)),
    )


def _constants(links: Float, shorter: Float, longer: Float) -> tuple[Float, Float]:
    """What words of the longer side, and of the shorter side, lose.

    However they are linked, some words of the longer side stay unlinked. Those that lose least by it get 0 for that,
    not for their best link, or their losses would add up to what float64 cannot hold.

    Args:
        links: (shorter, longer).
        shorter, longer: scores of leaving words unlinked.
    """
    of_longer = np.maximum(longer, links.max(axis=0))
    possible = np.isfinite(longer)
    losses = np.subtract(of_longer, longer, out=np.full(len(longer), np.inf), where=possible)
    unlinked = losses.argsort(kind="stable")[: min(len(longer) - len(shorter), possible.sum())]
    of_longer[unlinked] = longer[unlinked]
    of_longer = _finite(of_longer)
    return of_longer, _finite(np.maximum(shorter, (links - of_longer).max(axis=1)))


def no_alignment(scores: Shifted) -> DeptreeError:
    """The error of a sentence pair whose words cannot all be linked or left unlinked."""
    problem = "no alignment is possible"
    for side, nulls, axis in (("source", scores.source_nulls, 1), ("target", scores.target_nulls, 0)):
        stuck = np.flatnonzero(np.isneginf(nulls) & np.isneginf(scores.links).all(axis=axis))
        if len(stuck):
            problem += f": {side} word {stuck[0] + 1} has neither a link nor a null with a finite score"
            break
    return DeptreeError(problem, "Allow more links, or let words stay unlinked")


def _table(bispans: Float) -> Float:
    """The log-weights of bispans, a row for every source span and a column for every target span."""
    s, t = np.triu_indices(len(bispans), 1)
    u, v = np.triu_indices(bispans.shape[2], 1)
    return np.ascontiguousarray(bispans[s[:, None], t[:, None], u, v])


def _finite(peaks: Float) -> Float:
    """Peaks that can be subtracted: 0 where everything is forbidden."""
    return np.where(np.isfinite(peaks), peaks, 0.0)
