"""What the commands of the generative parser share: a model, sentences, and how they are looked at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import click

from deptree_cli.cli.options import INPUT, Decorator, IntRange, bound, option
from deptree_cli.cli.run import RunOptions, Source
from deptree_cli.cli.terminal import Counted, message
from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.files.treebank import Tags, annotated
from deptree_cli.hpyp.model.annotated import Annotated
from deptree_cli.hpyp.model.defaults import FILTERS, PARTICLES
from deptree_cli.hpyp.options.unknown_tags import UnknownTags
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.read import sentences
from deptree_cli.io.sentence import Sentence as ReadSentence

# Seconds that a particle takes for a word, its tag given or predicted; and how long a sentence may take unannounced.
PACE, PREDICTING = 1e-6, 4e-6
PATIENCE = 10.0


@dataclass(frozen=True)
class Sentence:
    """A sentence to be parsed: its bytes, and its words and tags."""

    block: Block
    annotated: Annotated


@dataclass(frozen=True)
class AsAnnotated:
    """Takes the words and tags out of a sentence's block; it travels to worker processes."""

    tagset: Tags
    seconds_per_word: float

    def __call__(self, read: ReadSentence) -> Sentence:
        """The sentence with its words."""
        found = annotated(read.sentence, read.sent_id, self.tagset)
        if (seconds := found.n * self.seconds_per_word) > PATIENCE:
            message(f"{read.sent_id}: {found.n:,} words with so many particles take {round(seconds):,} seconds or more")
        return Sentence(read.sentence, found)


def read_trained(path: str) -> Any:
    """The parser in a file (`hpyp/model/trained.py`); its tables are there before workers share them."""
    from deptree_cli.hpyp.files.model_file import read_model  # loads kernels: when there is work

    trained = read_model(path)[0]
    _ = [state.model for state in trained.states]
    return trained


@dataclass(frozen=True)
class ParserOptions:
    """A model, sentences, and how they are looked at.

    Attributes:
        model: the path of the model.
        sentences: the paths of sentences.
        predicts_tags: whether tags are predicted; else they are taken from the sentences.
        particles: of searches and filters.
    """

    model: str
    sentences: tuple[str, ...]
    predicts_tags: bool
    particles: int

    @cached_property
    def trained(self) -> Any:
        """The parser, read once."""
        return read_trained(self.model)

    @property
    def prepare(self) -> AsAnnotated:
        """What a worker makes of a sentence before the work proper."""
        options = click.get_current_context().params
        work = (options.get("beam") or self.particles) * (options.get("filters") or 1)
        pace = 0.0 if options.get("quiet") else PREDICTING if self.predicts_tags else PACE
        return AsAnnotated(self.trained.progress.tagset, work * pace)

    def _with_known_tags(self, run: RunOptions) -> Iterator[ReadSentence | DeptreeError]:
        """The sentences, as they are; tells at the end how many tags were not known."""
        tags = UnknownTags(self.trained.symbols, self.trained.progress.tagset)
        yield from sentences(self.sentences, watched=tags.watched).in_order()
        run.warn("tags", tags.line)

    def source(self, run: RunOptions) -> Source[ReadSentence, Sentence]:
        """The sentences of all files in order."""
        found = sentences(self.sentences).in_order() if self.predicts_tags else self._with_known_tags(run)
        items = Counted(found, share=share_of(self.sentences))
        return Source(items, self.prepare, self.signature_fields, is_conllu=True)

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of it a run must repeat to give the same result."""
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
