"""One sentence pair as it was read, and the distribution that becomes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from deptree_cli.bitext.model.links import KnownLinks
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError

if TYPE_CHECKING:
    from deptree_cli.bitext.model.distribution import AlignmentDistribution


@dataclass(slots=True, eq=False)
class PairRecord:
    """One sentence pair as it was read.

    Attributes:
        sent_id: the key of the scores, else the running number.
        number: the running number, from 1.
        place: of the scores, for messages.
        scores: log-scores of links, (p, q), -inf forbids; of both directions where both were read.
        source_nulls: log-scores of leaving source words unlinked, (p,).
        target_nulls: the same of target words, (q,).
        source: p source words, none where nobody told them.
        target: q target words, likewise.
        key: the name of the scores, where they have one.
        known: its links as annotators made them, None where nobody told them.
    """

    sent_id: str
    number: int
    place: str
    scores: Float
    source_nulls: Float
    target_nulls: Float
    source: tuple[str, ...] = ()
    target: tuple[str, ...] = ()
    key: str | None = None
    known: KnownLinks | None = None

    @property
    def weight(self) -> int:
        """How many numbers its chart has: an item is a stretch of either sentence."""
        return self.scores.size**2


@dataclass(frozen=True, slots=True)
class ScoredPair:
    """A sentence pair with the distribution over its alignments."""

    record: PairRecord
    distribution: AlignmentDistribution

    @property
    def id(self) -> str:
        """Its name: the key of the scores, else its running number."""
        return self.record.sent_id


@dataclass(frozen=True, slots=True)
class PairInterpretation:
    """How a record becomes a distribution; it travels to worker processes.

    Attributes:
        temperature: as for `AlignmentDistribution`.
    """

    temperature: float = 1.0

    def __call__(self, record: PairRecord) -> ScoredPair:
        """The pair of a record.

        Raises:
            DeptreeError: its scores make no distribution.
        """
        from deptree_cli.bitext.model.distribution import AlignmentDistribution  # loads kernels: when there is work

        parts = record.scores, "log", record.source_nulls, record.target_nulls
        try:
            found = AlignmentDistribution(*parts, record.sent_id, temperature=self.temperature)
        except DeptreeError as error:
            raise error.at(record.place, record.sent_id) from None
        return ScoredPair(record, found)
