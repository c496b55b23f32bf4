"""What a run tells its user beside its results: warnings, each of them once, and the errors that it skips."""

from __future__ import annotations

import re
from collections import Counter

from deptree_cli.cli.status_line import message
from deptree_cli.core.errors import DeptreeError, counted, printable

# How many errors are named, and how many kinds of the others.
NAMED = 10

# What is of one error and not of its kind: numbers, and texts in quotes.
_OWN = re.compile(r"'[^']*'|[-+]?\d[\d,.]*(?<=\d)")


class Messages:
    """The one way to stderr for what is neither a result nor the error that ends the run.

    Args:
        quiet: whether warnings are left out.

    Attributes:
        skips: whether errors are skipped; else the first of them ends the run.
        skipped: how many errors were.
    """

    def __init__(self, quiet: bool = False, skips: bool = False) -> None:
        self.skips = skips
        self._quiet = quiet
        self._keys: set[str] = set()
        self._waiting: list[str] | None = []
        self._nouns, self._kinds = Counter[str](), Counter[str]()
        self.skipped = 0

    def warn(self, key: str, line: str) -> None:
        """Tell a line, once for each key; an empty one says nothing.

        Before there are results it waits for the first of them: what fails gives one line, the error.
        """
        if not line or self._quiet or key in self._keys:
            return
        self._keys.add(key)
        if self._waiting is None:
            message(line)
        else:
            self._waiting.append(line)

    def tell(self) -> None:
        """Tell what waits: there is a result."""
        waiting, self._waiting = self._waiting, None
        for line in waiting or ():
            message(line)

    def skip(self, error: DeptreeError, noun: str) -> None:
        """Name an error, or count it among the others of its kind; raise it if errors are not skipped.

        Args:
            noun: what the thing is called that cannot be used.
        """
        if not self.skips:
            raise error
        self.skipped += 1
        self._nouns[noun] += 1
        if self._nouns.total() <= NAMED:
            message(f"skipped: {error.on_command_line}")
        else:
            self._kinds[_OWN.sub("...", error.problem)] += 1

    def conclude(self) -> None:
        """Tell what still waits, how many errors were skipped, and what was wrong where they are not named."""
        self.tell()
        for kind, number in self._kinds.most_common(NAMED):
            message(printable(f"skipped: {number:,} more: {kind}."))
        if rest := sum(number for _, number in self._kinds.most_common()[NAMED:]):
            message(f"skipped: {rest:,} more with other errors")
        for noun, number in self._nouns.items():
            message(f"{counted(number, noun)} skipped")
        self._nouns.clear()
        self._kinds.clear()
