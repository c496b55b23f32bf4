"""Options of the commands of the generative parser: a model, sentences, and how many particles look at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from deptree_cli.cli.options import INPUT, Bundle, IntRange, opt
from deptree_cli.cli.run import Run, Source
from deptree_cli.cli.terminal import Counted, message
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.hpyp.files.treebank import Tagset, annotated
from deptree_cli.hpyp.model.sentences import FILTERS, PARTICLES, UNKNOWN, Annotated
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.read import sentences
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.unknown import Symbols


# Tags that a parser does not know are counted, named, and refused if they are too many: one is a slip, but more than
# this share of them, and at least this many, are another tag set or column.
MOST, FEWEST = 0.05, 5

ENOUGH = 1000  # a file with unknown tags is judged after this many words; until then its sentences are held back
NAMED = 5  # how many unknown tags a message names


def named(counts: Mapping[str, int]) -> str:
    most = Counter(counts).most_common(NAMED)
    return ", ".join(f"{symbol} {count}" for symbol, count in most) + (", ..." if len(counts) > NAMED else "")


class UnknownTags:
    """Looks at the tags of sentences as they are read, in the column ``upos`` or ``xpos``."""

    def __init__(self, symbols: Symbols, column: str) -> None:
        self._symbols = symbols
        self._column, self._other = column, "xpos" if column == "upos" else "upos"
        self._counts, self._unseen = Counter[str](), Counter[str]()

    def watched(self, sentences: Iterable[Sentence | DeptreeError], place: str) -> Iterator[Sentence | DeptreeError]:
        """The sentences of a file; after an unknown tag they are held back until unknown tags are known to be few.

        Raises:
            DeptreeError: no word has a tag, or more than a few per cent of the tags are unknown.
        """
        counts, unseen, held = Counter[str](), Counter[str](), list[Sentence | DeptreeError]()
        for sentence in sentences:
            held.append(sentence)
            if not isinstance(sentence, DeptreeError):
                self._count(sentence.sentence, counts, unseen)
            if counts["words"] >= ENOUGH or not (counts["missing"] or unseen):
                self._check(counts, unseen, place)
                yield from held
                held.clear()
        self._check(counts, unseen, place)
        self._counts += counts
        self._unseen += unseen
        yield from held

    @property
    def line(self) -> str:
        """The unknown tags of all files, for a message; empty if there are none."""
        missing, unseen = self._counts["missing"], self._unseen
        parts = [f"without a tag: {missing}"] * bool(missing)
        if unseen:
            parts.append(f"with a tag that the model does not know: {unseen.total()} ({named(unseen)})")
        start = f"of {counted(self._counts['words'], 'word')} in {self._column.upper()}, "
        return f"{start}{'; '.join(parts)}. These tags were predicted or summed over" if parts else ""

    def _count(self, block: Block, counts: Counter[str], unseen: Counter[str]) -> None:
        """Add the words of a sentence, those without a tag, and those whose tag in the other column is known."""
        known = self._symbols.tags
        with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised when it is worked on
            tags = [tag or UNKNOWN for tag in block.column(self._column)]
            new = [index for index, tag in enumerate(tags) if tag not in known and tag != UNKNOWN]
            others = block.column(self._other) if new else []
            elsewhere = sum(others[index] in known for index in new)
            counts.update(words=len(tags), missing=tags.count(UNKNOWN), elsewhere=elsewhere)
            unseen.update(tags[index] for index in new)

    def _check(self, counts: Counter[str], unseen: Counter[str], place: str) -> None:
        predict = "pass --tags predict" if self._symbols.is_lexicalised else "train with --lexicalised to predict tags"
        column, other, words = self._column.upper(), self._other.upper(), counts["words"]
        if words and counts["missing"] == words:
            raise DeptreeError(f"no word has a tag in {column}", f"Tag the words, or {predict}", place=place)
        if unseen.total() < FEWEST or unseen.total() <= MOST * words:
            return
        problem = f"the model does not know the tags of {unseen.total()} of {counted(words, 'word')} in {column}"
        guess = f"{other} has tags that it knows: swap the columns, or {predict}"
        if 2 * counts["elsewhere"] <= unseen.total():
            tags = sorted(self._symbols.tags.symbols)
            known = ", ".join([*tags[:NAMED], *["..."] * (len(tags) > NAMED)])
            guess = f"It knows {known}: convert the tags if this is another tag set, or {predict}"
        raise DeptreeError(f"{problem} ({named(unseen)})", guess, place=place)


# Seconds per particle and word, with given and with predicted tags; and how long a sentence may take unannounced.
PACE, PREDICTING = 1e-6, 4e-6
PATIENCE = 10.0


class AnnotatedBlock(NamedTuple):
    """A sentence to be parsed: its bytes, and its words and tags."""

    block: Block
    annotated: Annotated


def annotate(tagset: Tagset, pace: float, read: Sentence) -> AnnotatedBlock:
    """Take the words and tags out of a sentence; `pace`: seconds per word, to announce a sentence that takes long."""
    found = annotated(read.sentence, read.sent_id, tagset)
    if (seconds := found.n * pace) > PATIENCE:
        message(f"{read.sent_id}: {found.n:,} words with this many particles take {round(seconds):,} seconds or more")
    return AnnotatedBlock(read.sentence, found)


def read_trained(path: str) -> Any:
    """The parser in a file; its tables are computed now, so that workers share them."""
    from deptree_cli.hpyp.files.model_file import read_model  # loads kernels: when there is work

    trained = read_model(path)[0]
    _ = [state.model for state in trained.states]
    return trained


MODEL = opt(metavar="MODEL", type=INPUT)

REPEATED = opt(
    "--filters",
    type=IntRange(1, 1000),
    default=FILTERS,
    metavar="R",
    sign="filters",
    help=f"Repeat the estimate R times and average; 2 or more give its standard error.  [default: {FILTERS}]",
)


@dataclass(eq=False)
class ParserOptions(Bundle):
    """A model, sentences, and the search effort; tags that are not predicted are taken from the sentences."""

    model: str = MODEL
    sentences: tuple[str, ...] = opt(metavar="SENTENCES...", many=True, type=INPUT)
    tags: str = opt(
        "--tags",
        type=click.Choice(["given", "predict"]),
        default="given",
        sign="tags",
        help="Use the tags in SENTENCES, or predict all. Missing (_) and unknown tags are always predicted; too many"
        " are an error.  [default: given]",
    )
    particles: int = opt(
        "--particles",
        type=IntRange(1, 10**7),
        default=PARTICLES,
        sign="particles",
        help=f"Search effort: more is slower and more accurate.  [default: {PARTICLES}]",
    )

    @property
    def predicts_tags(self) -> bool:
        return self.tags == "predict"

    @cached_property
    def trained(self) -> Any:
        return read_trained(self.model)

    def source(self, run: Run, effort: int) -> Source[Sentence, AnnotatedBlock]:
        """The sentences; `effort`: how many particles go over each word."""
        pace = 0.0 if run.quiet else effort * (PREDICTING if self.predicts_tags else PACE)
        prepare = partial(annotate, self.trained.progress.tagset, pace)
        found = sentences(self.sentences).in_order() if self.predicts_tags else self._with_known_tags(run)
        return Source(Counted(found, share=share_of(self.sentences)), prepare, self.signature_fields, is_conllu=True)

    def _with_known_tags(self, run: Run) -> Iterator[Sentence | DeptreeError]:
        """The sentences; at the end a line on stderr counts unknown tags."""
        tags = UnknownTags(self.trained.symbols, self.trained.progress.tagset)
        yield from sentences(self.sentences, watched=tags.watched).in_order()
        run.warn("tags", tags.line)
