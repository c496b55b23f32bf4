"""What the commands of the generative parser share: a model, sentences, and how they are looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from itertools import count
from typing import Any, TypeVar

import click

from deptree_cli.cli.progress import Sized
from deptree_cli.cli.sections import Decorator, apply, files, option
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.hpyp.annotated import Annotated
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.hpyp.treebank import Tags, annotated
from deptree_cli.io.streams import STDIN, open_input, share_read

Function = TypeVar("Function", bound=Callable[..., Any])

# As in core/hpyp/parsing.py, which is not loaded to show help.
PARTICLES = 1000


@dataclass(frozen=True)
class ReadSentence:
    """A sentence as it was read.

    Attributes:
        sent_id: its own, or its running number.
    """

    block: Block
    sent_id: str
    notice: str = ""

    @property
    def place(self) -> str:
        """Where it was read."""
        return self.block.place


@dataclass(frozen=True)
class Sentence:
    """A sentence to be parsed: its bytes, and its words and tags."""

    block: Block
    annotated: Annotated


@dataclass(frozen=True)
class AsAnnotated:
    """Takes the words and tags out of a sentence's block; it travels to worker processes."""

    tagset: Tags

    def __call__(self, read: ReadSentence) -> Sentence:
        """The sentence with its words."""
        return Sentence(read.block, annotated(read.block, read.sent_id, self.tagset))


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
        """The parser (`core/hpyp/trained.py`), read once."""
        from deptree_cli.io.hpyp.model_file import read_model  # loads kernels: when there is work

        return read_model(self.model)[0]

    @property
    def prepare(self) -> AsAnnotated:
        """What a worker makes of a sentence before the work proper."""
        return AsAnnotated(self.trained.progress.tagset)

    def source(self) -> Sized[ReadSentence | DeptreeError]:
        """The sentences of all files in order, with what is known of their number."""
        share = (lambda: share_read(self.sentences[0])) if len(self.sentences) == 1 else (lambda: None)
        return Sized(self._read(), share=share)

    def _read(self) -> Iterator[ReadSentence | DeptreeError]:
        numbers = count(1)
        for path in self.sentences:
            with open_input(path) as file:
                for block in read_blocks_or_errors(file.stream, file.place):
                    number = str(next(numbers))
                    yield block if isinstance(block, DeptreeError) else ReadSentence(block, block.sent_id or number)

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of it a run must repeat to give the same result."""
        return {"tags": "predict" if self.predicts_tags else "given", "particles": self.particles}


model_argument = click.argument("model", metavar="MODEL", shell_complete=files)

particles_option = option(
    "--particles",
    type=click.IntRange(1, 10**7),
    default=PARTICLES,
    metavar="N",
    help=f"More are slower and closer to the exact result.  [default: {PARTICLES}]",
)

_OPTIONS: list[Decorator[Any]] = [
    model_argument,
    click.argument("sentences", metavar="SENTENCES...", nargs=-1, required=True, shell_complete=files),
    option(
        "--tags",
        type=click.Choice(["given", "predict"]),
        default="given",
        help="Take parts of speech from the sentences, or predict them.  [default: given]",
    ),
    particles_option,
]


def parser_options(function: Function) -> Function:
    """Give a command a model and sentences; it receives them as one `parser: ParserOptions`."""

    @wraps(function)
    def with_parser(*, model: str, sentences: tuple[str, ...], tags: str, particles: int, **others: Any) -> Any:
        if [model, *sentences].count(STDIN) > 1:
            raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
        return function(parser=ParserOptions(model, sentences, tags == "predict", particles), **others)

    decorated: Function = apply(_OPTIONS, with_parser)
    return decorated
