"""What a parser is trained on: the sentences of a treebank of which every word has a tag and a label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from deptree_cli.core.errors import STATES, UNLABELLED, DeptreeError, Setting, counted
from deptree_cli.hpyp.model.annotated import UNKNOWN, Annotated
from deptree_cli.hpyp.model.contexts import Contexts

# The largest share of sentences that may be left out.
MOST = 0.5


class Complete:
    """Leaves out sentences in which a tag or a label is missing, and counts them.

    Args:
        column: that of the tags, `upos` or `xpos`.

    Attributes:
        sentences: how many there were.
        untagged, unlabelled: how many were left out for a missing tag; for a missing label, with all tags there.
    """

    def __init__(self, column: str) -> None:
        self.sentences = self.untagged = self.unlabelled = 0
        self._column = column

    def of(self, treebank: Iterable[Annotated]) -> Iterator[Annotated]:
        """The sentences that are complete.

        Raises:
            DeptreeError: at the end, if these are the smaller part.
        """
        place = ""
        for sentence in treebank:
            self.sentences += 1
            if UNKNOWN in sentence.tags:
                self.untagged += 1
            elif UNKNOWN in sentence.deprels:
                self.unlabelled += 1
            else:
                yield sentence
                continue
            place = place or sentence.place
        if self.untagged + self.unlabelled > MOST * self.sentences:
            problem, other = f"{self._found()}, too many to leave out", Setting("column", self._other)
            raise DeptreeError(problem, self._remedy(other), place=place, options=[other])

    @property
    def line(self) -> str:
        """What was left out; empty for nothing."""
        return f"left out of training: {self._found()}" if self.untagged or self.unlabelled else ""

    def _found(self) -> str:
        counts = (self.untagged, f"tag in {self._column.upper()}"), (self.unlabelled, "DEPREL")
        of_all = counted(self.sentences, "sentence")
        return " and ".join(f"in {count} of {of_all} a word has no {what}" for count, what in counts if count)

    @property
    def _other(self) -> str:
        """The other column of tags."""
        return "xpos" if self._column == "upos" else "upos"

    def _remedy(self, other: Setting) -> str:
        if self.untagged < self.unlabelled:
            return "Fill in DEPREL; trees without labels may have one for all words, such as dep"
        return f"Tag the words, or take tags from {self._other.upper()} with {other}"


def check_training(treebank: Sequence[Annotated], text: Sequence[Annotated], contexts: Contexts, kept: range) -> None:
    """Raise a DeptreeError if a parser cannot be trained on these.

    Args:
        kept: after which iterations states of it are kept.
    """
    iterations = kept.start
    if iterations < 1:
        given = Setting("iterations", iterations)
        raise DeptreeError(f"{given} trains nothing", "Pass 1 or more", options=[given])
    if not treebank:
        raise DeptreeError("there are no sentences to train on", "Pass a treebank with trees")
    if len(kept) > 1 and text:
        problem = f"with several {STATES}, only the last state would read the text"
        raise DeptreeError(problem, f"Remove {UNLABELLED}", options=[STATES, UNLABELLED])
    if text and not contexts.word:
        problem = "a parser without words learns nothing from text"
        raise DeptreeError(problem, f"Remove {UNLABELLED}", options=[UNLABELLED])
    for sentence in treebank:
        sentence.check_trainable()
    for sentence in text:
        sentence.check_forms()
