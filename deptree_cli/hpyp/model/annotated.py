"""Sentences as the generative parser takes them: words, tags, and the tree where it is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deptree_cli.core.constraints.words import cycles_of
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError, fits_a_line
from deptree_cli.kernels.text.columns import NO_HEAD

# What stands in the place of a tag or a label that is not known; `NO_HEAD` in that of a head.
UNKNOWN = "_"

_SEVERAL_ROOTS = "Keep one root: attach the others to it, or leave the sentence out of the training data"


@dataclass(frozen=True, eq=False)
class Annotated:
    """A sentence: words, tags and, if known, heads and labels.

    Attributes:
        sent_id: the name that messages and output use.
        place: ``file:line``, for messages; empty if the sentence is not from a file.
        forms: the n words.
        tags: their n parts of speech, ``_`` if unknown.
        heads: (n,), 0 for ROOT, -1 if unknown.
        deprels: the n labels, ``_`` if unknown.

    Raises:
        DeptreeError: there are no words, the parts differ in length, or a head is not in the sentence.
    """

    sent_id: str
    place: str
    forms: tuple[str, ...]
    tags: tuple[str, ...]
    heads: Heads
    deprels: tuple[str, ...]

    def __post_init__(self) -> None:
        lengths = [len(part) for part in (self.forms, self.tags, self.heads, self.deprels)]
        if len(set(lengths)) != 1 or not lengths[0]:
            counts = "{} forms, {} tags, {} heads and {} labels".format(*lengths)
            raise self._problem(counts, "Give one of each for every word, and at least one word")
        if self.heads.min() < NO_HEAD or self.heads.max() > self.n:
            problem = f"heads range from {self.heads.min()} to {self.heads.max()}"
            raise self._problem(problem, f"Give -1 (unknown), 0 (ROOT) or the number of a word, 1 to {self.n}")

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.forms)

    def check_forms(self) -> None:
        """Check that a parser can learn the words and write them.

        Raises:
            DeptreeError: a form is empty or holds a control character.
        """
        self._check("form", self.forms)

    def check_trainable(self) -> None:
        """Check that a parser can be trained on the sentence; tags and labels may be missing (`complete.py`).

        Raises:
            DeptreeError: a form, a tag or a label cannot be written, or the heads are not a tree with one root.
        """
        self.check_forms()
        self._check("tag", self.tags)
        self._check("label", self.deprels)
        self.check_tree()

    def check_tree(self) -> None:
        """Check that the heads are a tree with one root.

        Raises:
            DeptreeError: a head is unknown, words form a cycle, or the tree has several roots.
        """
        unknown = np.flatnonzero(self.heads == NO_HEAD)
        if len(unknown):
            problem = "no word has a HEAD" if len(unknown) == self.n else f"word {unknown[0] + 1} has no HEAD"
            raise self._problem(problem, "Train on sentences with complete trees")
        roots = int((self.heads == 0).sum())
        if roots > 1:
            raise self._problem(f"{roots} words have HEAD 0, but the parser needs trees with one root", _SEVERAL_ROOTS)
        cycle = next(cycles_of(self.heads.tolist()), None)
        if cycle:
            words = " -> ".join(map(str, [*cycle, cycle[0]]))
            raise self._problem(f"not a tree: the heads form a cycle, {words}", "Correct HEAD of these words")

    def _check(self, name: str, symbols: tuple[str, ...]) -> None:
        for word, symbol in enumerate(symbols, 1):
            if not (symbol and fits_a_line(symbol)):
                remedy = "Fill it in" if not symbol else "Remove the control characters"
                raise self._problem(f"the {name} of word {word} is {symbol!r}", remedy)

    def _problem(self, problem: str, remedy: str) -> DeptreeError:
        return DeptreeError(problem, remedy, place=self.place, sent_id=self.sent_id)
