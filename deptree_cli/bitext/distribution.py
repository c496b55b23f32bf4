"""A distribution over the alignments of a sentence pair: scores of links in; sums, samples and best links out."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.bitext.scores import (
    LinkScores,
    Shifted,
    checked_bispans,
    checked_links,
    checked_nulls,
    shift,
)
from deptree_cli.core.arc_factored import Frozen
from deptree_cli.core.counts import how_many, room_for_trees
from deptree_cli.core.dtypes import Float, Heads, read_only
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.streams import Randomness, stream_of

if TYPE_CHECKING:
    from deptree_cli.bitext.chart import ItgChart, LinkProgram


class AlignmentDistribution(Frozen):
    """A distribution over the alignments of a sentence pair by an inversion transduction grammar (Wu 1997).

    Every word is linked with at most one word of the other sentence. Links may cross if neighbouring parts of the
    sentences swap places, part within part. The weight of an alignment is the product of the weights of its links and
    of its unlinked words. Every alignment has exactly one derivation (`bitext/kernels.py`).

    Args:
        scores: (p, q), ``[i, j]`` scores the link of source word i with target word j.
        scale: ``log`` (natural logarithms; ``-inf`` forbids, and so does a mask of -1e15 or below) or ``weight``
            (non-negative, 0 forbids), for nulls too.
        source_nulls: (p,) or one number, scores of leaving source words unlinked; a log-score of 0 if None.
        target_nulls: (q,) or one number, the same for target words.
        id: the pair's name in messages; its random stream depends on it.
        temperature: divides the log-scores.
        bispans: (p+1, p+1, q+1, q+1), ``[s, t, u, v]``, log-scores of parts that consist of the source words s..t-1 and
            the target words u..v-1; or None. A part is a link with the unlinked words behind its two words, or two
            parts side by side. If three or more parts follow each other in one order, the last is joined to the part of
            all others.

    Attributes:
        log_scores, source_nulls, target_nulls: float64, read-only; ``-inf`` forbids.

    Raises:
        DeptreeError: says what is wrong with the scores and what to do.
    """

    FIELDS = ("log_scores", "source_nulls", "target_nulls", "bispans", "id")

    log_scores: Float
    source_nulls: Float
    target_nulls: Float
    bispans: Float | None
    id: str

    def __init__(
        self,
        scores: ArrayLike,
        scale: str = "log",
        source_nulls: ArrayLike | None = None,
        target_nulls: ArrayLike | None = None,
        id: str = "1",
        *,
        temperature: float = 1.0,
        bispans: ArrayLike | None = None,
    ) -> None:
        try:
            links = checked_links(scores, scale, temperature)
            p, q = links.shape
            nulls = (
                checked_nulls("source", source_nulls, p, scale, temperature),
                checked_nulls("target", target_nulls, q, scale, temperature),
            )
            parts = None if bispans is None else checked_bispans(bispans, p, q, temperature)
        except DeptreeError as error:
            raise error.at(sent_id=id) from None
        self._set(log_scores=links, source_nulls=nulls[0], target_nulls=nulls[1], bispans=parts, id=id)

    def __repr__(self) -> str:
        links = int(np.isfinite(self.log_scores).sum())
        size = f"{self.p} source and {self.q} target words, {counted(links, 'link')}"
        return f"<{type(self).__name__} {self.id!r}: {size}>"

    @property
    def p(self) -> int:
        """The number of source words."""
        return len(self.log_scores)

    @property
    def q(self) -> int:
        """The number of target words."""
        return self.log_scores.shape[1]

    @property
    def link_scores(self) -> LinkScores:
        """The log-scores of links, and of leaving words unlinked."""
        return LinkScores(self.log_scores, self.source_nulls, self.target_nulls)

    @cached_property
    def shifted(self) -> Shifted:
        """The log-scores minus a constant for each word."""
        return shift(self.log_scores, self.source_nulls, self.target_nulls, self.bispans)

    @cached_property
    def _chart(self) -> ItgChart:
        """The chart of all alignments. O(p^3 q^3)

        Raises:
            DeptreeError: there is none.
        """
        from deptree_cli.bitext.chart import ItgChart, nothing_pinned  # loads kernels: when there is work

        found = ItgChart(self.shifted).filled(nothing_pinned(self.shifted))
        if found.log_z == -np.inf:
            raise self.shifted.no_alignment().at(sent_id=self.id)
        return found

    @property
    def log_partition(self) -> float:
        """The natural logarithm of the partition function, the sum of all alignments' weights.

        Raises:
            DeptreeError: no alignment is possible. `marginals` and `sample` raise it too.
        """
        return self._chart.log_z

    def marginals(self) -> Float:
        """The probability of every link, (p, q), read-only."""
        return self._marginals

    @cached_property
    def _marginals(self) -> Float:
        return read_only(self._chart.marginals())

    def argmax(self) -> Heads:
        """The most probable alignment: the target word of every source word, -1 for none, (p,).

        Raises:
            DeptreeError: no alignment is possible.
        """
        from deptree_cli.bitext.chart import best_links

        found = best_links(self.shifted)
        if found is None:
            raise self.shifted.no_alignment().at(sent_id=self.id)
        return found

    def sample(self, k: int, rng: Randomness | None = None, *, seed: int | None = None) -> Heads:
        """Sample k independent alignments: the target word of every source word, -1 for none, (k, p).

        Args:
            rng, seed: a seed, from which each pair has its own stream, or a Generator; a fresh seed if neither is
                given.

        Raises:
            DeptreeError: k or the seed is invalid, or no alignment is possible.
        """
        stream = stream_of(rng, seed, self.id)
        with room_for_trees(how_many(k, "alignments"), "alignments") as size:
            return self._chart.sample(size, stream)

    def program(self, heuristic: AlignmentDistribution | None = None) -> LinkProgram:
        """The dynamic program over the alignments, for `expectations`.

        Args:
            heuristic: a distribution over the same words, whose scores tell which links and states matter; this one if
                None.

        Raises:
            DeptreeError: the heuristic has other numbers of words.
        """
        from deptree_cli.bitext.chart import LinkProgram

        if heuristic and heuristic.log_scores.shape != self.log_scores.shape:
            problem = f"the heuristic has {heuristic.p} x {heuristic.q} words, the pair {self.p} x {self.q}"
            raise DeptreeError(problem, "Give scores of the same words", sent_id=self.id)
        return LinkProgram(self.shifted, (heuristic or self).link_scores)
