"""Tags of sentences that a parser does not know: counted, named, and refused if they are too many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.hpyp.model.annotated import UNKNOWN
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.symbols import Symbols

# More than this share of unseen tags, and so many at least, are another tag set or column rather than slips.
MOST, FEWEST = 0.05, 5

# So many tags are named.
NAMED = 5

# After so many words of a file it is clear which; until then sentences are held back once a tag was not known.
ENOUGH = 1000


@dataclass
class Counts:
    """The tags of a file, or of several.

    Attributes:
        words: how many there are; missing: how many of them have no tag.
        unseen: how many have each tag that the parser does not know.
        known_elsewhere: how many of these have a tag in the other column that it does know.
    """

    words: int = 0
    missing: int = 0
    unseen: Counter[str] = field(default_factory=Counter)
    known_elsewhere: int = 0

    def add(self, other: Counts) -> None:
        """Add those of a sentence or a file."""
        self.words += other.words
        self.missing += other.missing
        self.unseen += other.unseen
        self.known_elsewhere += other.known_elsewhere


class UnknownTags:
    """Looks at the tags of sentences as they are read.

    Args:
        symbols: what the parser knows.
        column: where sentences have their tags, ``upos`` or ``xpos``.
    """

    def __init__(self, symbols: Symbols, column: str) -> None:
        self._symbols = symbols
        self._column, self._other = (column, "xpos") if column == "upos" else (column, "upos")
        self._all = Counts()

    def watched(self, sentences: Iterable[Sentence | DeptreeError], place: str) -> Iterator[Sentence | DeptreeError]:
        """The sentences of a file; if a tag is not known, they are held back until it is clear that this is no rule.

        Raises:
            DeptreeError: none of the words has a tag, or more than a few per cent have tags that were never seen.
        """
        counts = Counts()
        held: list[Sentence | DeptreeError] = []
        for sentence in sentences:
            held.append(sentence)
            if not isinstance(sentence, DeptreeError):
                counts.add(self._count(sentence.sentence))
            if counts.words < ENOUGH and (counts.missing or counts.unseen):
                continue
            self._check(counts, place)
            yield from held
            held.clear()
        self._check(counts, place)
        self._all.add(counts)
        yield from held

    @property
    def line(self) -> str:
        """What was not known in files that were read; empty for nothing."""
        found = self._all
        parts = [f"without a tag: {found.missing}"] if found.missing else []
        if found.unseen:
            parts.append(f"with a tag that the model does not know: {found.unseen.total()} ({named(found.unseen)})")
        if not parts:
            return ""
        start = f"of {counted(found.words, 'word')} in {self._column.upper()}, "
        return f"{start}{'; '.join(parts)}. These tags were predicted or summed over"

    def _count(self, block: Block) -> Counts:
        known = self._symbols.tags
        with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised where it is worked on
            tags = [tag or UNKNOWN for tag in block.column(self._column)]
            unseen = [index for index, tag in enumerate(tags) if tag not in known and tag != UNKNOWN]
            others = block.column(self._other) if unseen else []
            elsewhere = sum(others[index] in known for index in unseen)
            return Counts(len(tags), tags.count(UNKNOWN), Counter(tags[index] for index in unseen), elsewhere)
        return Counts()

    def _check(self, counts: Counts, place: str) -> None:
        predict = "pass --tags predict" if self._symbols.is_lexicalised else "train with --lexicalised to predict tags"
        column, other, unseen = self._column.upper(), self._other.upper(), counts.unseen.total()
        if counts.words and counts.missing == counts.words:
            raise DeptreeError(f"no word has a tag in {column}", f"Tag the words, or {predict}", place=place)
        if unseen < FEWEST or unseen <= MOST * counts.words:
            return
        problem = f"the model does not know the tags of {unseen} of {counted(counts.words, 'word')} in {column}"
        if 2 * counts.known_elsewhere > unseen:
            guess = f"{other} has tags that it knows: swap the columns, or {predict}"
        else:
            guess = f"It knows {self._examples()}: convert the tags if this is another tag set, or {predict}"
        raise DeptreeError(f"{problem} ({named(counts.unseen)})", guess, place=place)

    def _examples(self) -> str:
        """Some tags that the parser knows."""
        tags = sorted(self._symbols.tags.symbols)
        return ", ".join(tags[:NAMED]) + (", ..." if len(tags) > NAMED else "")


def named(counts: Mapping[str, int]) -> str:
    """The most frequent of some symbols, with how often each is there."""
    most = Counter(counts).most_common(NAMED)
    return ", ".join(f"{symbol} {count}" for symbol, count in most) + (", ..." if len(counts) > NAMED else "")
