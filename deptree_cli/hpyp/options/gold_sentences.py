"""Sentences to be parsed, each with its gold tree, and the options that name these and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter

from deptree_cli.cli.binding import bound
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.sections import reading_option
from deptree_cli.cli.sentences import SentenceStream
from deptree_cli.io.conllu.beside import with_gold
from deptree_cli.io.sides import Side


@dataclass(frozen=True)
class GoldOptions:
    """Gold trees, and how parsed ones are compared with them.

    Attributes:
        paths: of files with the sentences; none if nothing is compared.
    """

    paths: tuple[str, ...]

    def of(self, read: SentenceStream) -> SentenceStream:
        """The sentences, each with its gold tree if there is one."""
        if not self.paths:
            return read
        return with_gold(
            Side(read, "sentences", names=attrgetter("block.names")), self.paths, lambda each: each.block.n
        )


_OPTIONS = [
    reading_option(
        "--gold",
        type=INPUT,
        multiple=True,
        often=True,
        help="Gold trees: the same sentences in CoNLL-U. Reports attachment scores, with and without punctuation, and"
        " tag accuracy; with --scores or --plot also the calibration of arc probabilities.",
    ),
]


def _gold(*, gold: tuple[str, ...]) -> GoldOptions:
    return GoldOptions(gold)


# Gives a command gold trees, as one `gold: GoldOptions`.
gold_options = bound("gold", _OPTIONS, _gold)
