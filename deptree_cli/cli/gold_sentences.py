"""Sentences to be parsed, each with its known tree, and the options that name these and what becomes of them."""

from __future__ import annotations

from dataclasses import dataclass

import click

from deptree_cli.cli.binding import bound
from deptree_cli.cli.parser_options import ReadSentence, SentenceStream
from deptree_cli.cli.sections import option, reading_option
from deptree_cli.io.conllu.gold import Partner, with_gold
from deptree_cli.io.pictures.plots import check_plot


@dataclass(frozen=True)
class GoldOptions:
    """Known trees, and how parsed ones are compared with them.

    Attributes:
        paths: of files with the sentences in their order; none if nothing is compared.
        as_json: whether what is found is the command's result.
        plot: the path of a picture of calibration, None for no picture.
    """

    paths: tuple[str, ...]
    as_json: bool
    plot: str | None

    def of(self, read: SentenceStream) -> SentenceStream:
        """The sentences, each with its known tree if there is one."""
        return with_gold(read, self.paths, _partner, "words") if self.paths else read


_OPTIONS = [
    reading_option(
        "--gold",
        metavar="FILE",
        multiple=True,
        help="Known trees: the same sentences in CoNLL-U. Attachment scores are shown, with and without words of label"
        " punct, and how many tags are right; with --scores or --plot also the calibration of the filter's"
        " probabilities.",
    ),
    option("--json", "as_json", is_flag=True, help="What --gold finds as JSON on standard output, trees only to -o."),
    option("--plot", metavar="FILE", writes=True, help="The calibration as a picture (.svg, .png, .pdf)."),
]


def _gold(*, gold: tuple[str, ...], as_json: bool, plot: str | None) -> GoldOptions:
    if (plot or as_json) and not gold:
        raise click.UsageError(f"{'--plot draws' if plot else '--json writes'} what --gold FILE finds.")
    if plot:
        check_plot(plot)
    return GoldOptions(gold, as_json, plot)


# Gives a command options of known trees, as one `gold: GoldOptions`.
gold_options = bound("gold", _OPTIONS, _gold)


def _partner(sentence: ReadSentence) -> Partner:
    return Partner(sentence.block.sent_id, sentence.block.n)
