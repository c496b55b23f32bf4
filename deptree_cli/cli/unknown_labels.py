"""A line for users whose sentences are given labels that scores do not have."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from dataclasses import replace

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.labels import is_root
from deptree_cli.io.sentence import Sentence


class UnknownLabels:
    """Notes on sentences which of their labels have no scores.

    Args:
        known: the labels that have.
        path: of the file with their names.
    """

    def __init__(self, known: Collection[str], path: str) -> None:
        self._known = frozenset(known)
        self._path = path

    def noted(self, record: Sentence) -> Sentence:
        """The sentence with a line of notice for each such label."""
        labels: list[str | None] = []
        with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised where it is worked on
            labels = record.block.labels if record.block else []
        lines = [
            f"the label {label!r} is not in {self._path}: it stays where the sentences have it, without a score"
            for label in dict.fromkeys(labels)
            if label is not None and label not in self._known and not is_root(label)
        ]
        return replace(record, notice="\n".join(filter(None, [record.notice, *lines]))) if lines else record
