"""A line for users whose files of constraints are about sentences that do not come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.rules.constraints import Constraints


class UnmetSentences:
    """Counts the sentences of files of constraints that were not among those that were read.

    Args:
        constraints: what trees must obey; None: nothing.
    """

    def __init__(self, constraints: Constraints | None) -> None:
        self._unmet = {name: None for each in (constraints.of_words if constraints else ()) for name in each}
        self._all_read = False

    def watched(self, records: Iterable[Sentence | DeptreeError]) -> Iterator[Sentence | DeptreeError]:
        """The sentences, as they are."""
        for record in records:
            self._unmet.pop(record.sent_id, None)
            yield record
        self._all_read = True

    def line(self) -> str:
        """What there is to say when all are read; nothing where all were met, or some were not read."""
        if not self._unmet or not self._all_read:
            return ""
        first, *others = self._unmet
        more = f" and {counted(len(others), 'other')}" if others else ""
        named = f"{counted(len(self._unmet), 'sentence')} named in the constraints"
        return f"{named} {'were' if others else 'was'} not found: {first!r}{more}"
