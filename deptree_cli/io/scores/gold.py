"""Scores with the known heads of their sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.gold import Partner, with_gold
from deptree_cli.io.scores.layout import Layout, words_in
from deptree_cli.io.scores.record import Record


def records_with_gold(
    records: Iterable[Record | DeptreeError], path: str, layout: Layout
) -> Iterator[Record | DeptreeError]:
    """The sentences, each with its own in a CoNLL-U file of known heads (`io/conllu/gold.py`).

    Args:
        layout: how the scores of the records are laid out.
    """

    def partner(record: Record) -> Partner:
        named = record.sent_id != str(record.number)
        return Partner(record.sent_id if named else None, words_in(record.scores.shape, layout))

    return with_gold(records, [path], partner, "scores")
