"""What cannot be used and is left out: the first are named, the others counted by what is wrong with them."""

from __future__ import annotations

import re
from collections import Counter

from deptree_cli.cli.report import talk
from deptree_cli.core.errors import DeptreeError, counted, printable

# How many are named, and how many kinds of the others.
NAMED = 10

# What is of one error and not of its kind: numbers, and texts in quotes.
_OWN = re.compile(r"'[^']*'|[-+]?\d[\d,.]*(?<=\d)")


class Skipped:
    """Errors that are skipped, or the first of which ends the run.

    Args:
        allowed: whether they are skipped.
        noun: what one thing is called that cannot be used.
    """

    def __init__(self, allowed: bool, noun: str) -> None:
        self._allowed, self._noun = allowed, noun
        self._others: Counter[str] = Counter()
        self.count = 0

    def add(self, error: DeptreeError) -> None:
        """Name what cannot be used, or count it among the others; raise the error if errors are not skipped."""
        if not self._allowed:
            raise error
        self.count += 1
        if self.count <= NAMED:
            talk(f"skipped: {error.on_command_line}")
        else:
            self._others[_OWN.sub("...", error.problem)] += 1

    def tell(self) -> None:
        """Say how many there were, and what was wrong with those that are not named."""
        for kind, number in self._others.most_common(NAMED):
            talk(printable(f"skipped: {number:,} more: {kind}."))
        if rest := sum(self._others.values()) - sum(number for _, number in self._others.most_common(NAMED)):
            talk(f"skipped: {rest:,} more with other errors")
        if self.count:
            talk(f"{counted(self.count, self._noun)} skipped")
