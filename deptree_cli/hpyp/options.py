"""The options of the commands, and the objects that they become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import click

from deptree_cli.cli.options import INPUT, Decorator, IntRange, bound, option
from deptree_cli.cli.run import RunOptions, Source
from deptree_cli.cli.terminal import Counted, message
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.hpyp.files.treebank import Tagset as Tags
from deptree_cli.hpyp.files.treebank import annotated
from deptree_cli.hpyp.model.sentences import FILTERS, PARTICLES, UNKNOWN, Annotated
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.read import sentences
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.unknown import Symbols


# Tags of sentences that a parser does not know: counted, named, and refused if they are too many.


# More than this share of unseen tags, and so many at least, are another tag set or column rather than slips.
MOST, FEWEST = 0.05, 5

# After so many words of a file it is clear which; until then sentences are held back once a tag was not known.
ENOUGH = 1000


@dataclass
class Counts:
    """The tags of files: how many words have none, and how often each is there that the parser does not know.

    `known_elsewhere`: how many of these have a tag in the other column that it does know.
    """

    words: int = 0
    missing: int = 0
    unseen: Counter[str] = field(default_factory=Counter)
    known_elsewhere: int = 0

    def add(self, other: Counts) -> None:
        self.words += other.words
        self.missing += other.missing
        self.unseen += other.unseen
        self.known_elsewhere += other.known_elsewhere


class UnknownTags:
    """Looks at the tags of sentences as they are read, in the column ``upos`` or ``xpos``."""

    def __init__(self, symbols: Symbols, column: str) -> None:
        self._symbols = symbols
        self._column, self._other = (column, "xpos") if column == "upos" else (column, "upos")
        self._all = Counts()

    def watched(self, sentences: Iterable[Sentence | DeptreeError], place: str) -> Iterator[Sentence | DeptreeError]:
        """The sentences of a file; if a tag is not known, they are held back until it is clear that this is no rule.

        It is an error if none of the words has a tag, or more than a few per cent have tags that were never seen.
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
        tags = sorted(self._symbols.tags.symbols)
        return ", ".join(tags[:NAMED]) + (", ..." if len(tags) > NAMED else "")


# What the commands of the generative parser share: a model, sentences, and how they are looked at.


# Seconds that a particle takes for a word, its tag given or predicted; and how long a sentence may take unannounced.
PACE, PREDICTING = 1e-6, 4e-6
PATIENCE = 10.0


@dataclass(frozen=True)
class Read:
    """A sentence to be parsed: its bytes, and its words and tags."""

    block: Block
    annotated: Annotated


@dataclass(frozen=True)
class AsAnnotated:
    """Takes the words and tags out of a sentence's block; it travels to worker processes."""

    tagset: Tags
    seconds_per_word: float

    def __call__(self, read: Sentence) -> Read:
        found = annotated(read.sentence, read.sent_id, self.tagset)
        if (seconds := found.n * self.seconds_per_word) > PATIENCE:
            message(f"{read.sent_id}: {found.n:,} words with so many particles take {round(seconds):,} seconds or more")
        return Read(read.sentence, found)


def read_trained(path: str) -> Any:
    """The parser in a file (`hpyp/model/training.py`); its tables are there before workers share them."""
    from deptree_cli.hpyp.files.model_file import read_model  # loads kernels: when there is work

    trained = read_model(path)[0]
    _ = [state.model for state in trained.states]
    return trained


@dataclass(frozen=True)
class ParserOptions:
    """A model, sentences, and how they are looked at; tags that are not predicted are taken from the sentences."""

    model: str
    sentences: tuple[str, ...]
    predicts_tags: bool
    particles: int

    @cached_property
    def trained(self) -> Any:
        return read_trained(self.model)

    @property
    def prepare(self) -> AsAnnotated:
        options = click.get_current_context().params
        work = (options.get("beam") or self.particles) * (options.get("filters") or 1)
        pace = 0.0 if options.get("quiet") else PREDICTING if self.predicts_tags else PACE
        return AsAnnotated(self.trained.progress.tagset, work * pace)

    def _with_known_tags(self, run: RunOptions) -> Iterator[Sentence | DeptreeError]:
        """The sentences, as they are; tells at the end how many tags were not known."""
        tags = UnknownTags(self.trained.symbols, self.trained.progress.tagset)
        yield from sentences(self.sentences, watched=tags.watched).in_order()
        run.warn("tags", tags.line)

    def source(self, run: RunOptions) -> Source[Sentence, Read]:
        found = sentences(self.sentences).in_order() if self.predicts_tags else self._with_known_tags(run)
        items = Counted(found, share=share_of(self.sentences))
        return Source(items, self.prepare, self.signature_fields, is_conllu=True)

    @property
    def signature_fields(self) -> dict[str, object]:
        return {"tags": "predict" if self.predicts_tags else "given", "particles": self.particles}


model_argument = click.argument("model", metavar="MODEL", type=INPUT)

particles_option = option(
    "--particles",
    type=IntRange(1, 10**7),
    default=PARTICLES,
    metavar="N",
    help=f"Search effort: more is slower and more accurate.  [default: {PARTICLES}]",
)

filters_option = option(
    "--filters",
    type=IntRange(1, 1000),
    default=FILTERS,
    metavar="R",
    help=f"Repeat the estimate R times and average; 2 or more give its standard error.  [default: {FILTERS}]",
)

_OPTIONS: list[Decorator[Any]] = [
    model_argument,
    click.argument("sentences", metavar="SENTENCES...", nargs=-1, required=True, type=INPUT),
    option(
        "--tags",
        type=click.Choice(["given", "predict"]),
        default="given",
        help="Use the tags in SENTENCES, or predict all. Missing (_) and unknown tags are always predicted; too many"
        " are an error.  [default: given]",
    ),
    particles_option,
]


def _parser(*, model: str, sentences: tuple[str, ...], tags: str, particles: int) -> ParserOptions:
    return ParserOptions(model, sentences, tags == "predict", particles)


# Gives a command a model and sentences, as one `parser: ParserOptions`.
parser_options = bound("parser", _OPTIONS, _parser)


# So many tags are named.
NAMED = 5


def named(counts: Mapping[str, int]) -> str:
    most = Counter(counts).most_common(NAMED)
    return ", ".join(f"{symbol} {count}" for symbol, count in most) + (", ..." if len(counts) > NAMED else "")
