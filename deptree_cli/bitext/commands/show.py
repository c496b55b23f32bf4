"""``deptree bitext show``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from deptree_cli.bitext.files.picture import AlignmentPicture, alignment_picture
from deptree_cli.bitext.files.record import PairRecord, ScoredPair
from deptree_cli.bitext.files.text_picture import alignment_text
from deptree_cli.bitext.options.estimating import Estimating, Estimator
from deptree_cli.bitext.options.pairs import BitextOptions, bitext_options
from deptree_cli.bitext.options.pruning import LISTING, PruningOptions, pruning_options
from deptree_cli.cli.chosen_sentence import ChosenSentence, wanted_option
from deptree_cli.cli.job import signed
from deptree_cli.cli.pipeline import Numbered, Pipeline
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.screen import screen_of
from deptree_cli.cli.sections import command
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.files.output import Output, suffix_of
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.pictures.plots import check_plot
from deptree_cli.io.signature import signature

PLOTS = (".svg", ".png", ".pdf")

HELP = """Draw one sentence pair as a matrix: the darker a cell, the more probable the link.

Writes text as wide as the terminal: source words on the left, target words above. The links of the best alignment are
marked, and their probabilities listed on the right. -o FILE.svg (.png, .pdf) draws a heat map instead. Without --text,
words are shown by their numbers, counted from 0.
"""


@command(
    help=HELP,
    listing=LISTING,
    epilog="\b\nTry: deptree bitext show bitext.npz --text bitext.txt --sentence de-3",
)
@bitext_options
@wanted_option
@pruning_options
@run_options
def show(bitext: BitextOptions, pruning: PruningOptions, run: RunOptions, wanted: str | None) -> int:
    """Draw one sentence pair."""
    plot = _plot(run.output)
    estimating = Estimating(pruning.method, pruning.settings, run)
    choose = ChosenSentence(wanted, place_of(bitext.sources[0].path), run.shard, "sentence pair")

    def chosen(tasks: Iterator[Numbered[PairRecord] | DeptreeError]) -> Iterator[Numbered[PairRecord] | DeptreeError]:
        return bitext.announced(choose(tasks), run, 1 if pruning.is_asked else 3)

    pipeline = Pipeline(bitext.source(run), run, chosen)
    fields = {**bitext.signature_fields, **run.signature_fields, "sentence": wanted, **pruning.signature_fields}
    with estimating.listening():
        # To the end first, so that no progress is shown where the picture goes.
        drawn = list(pipeline.map(DrawLinks(estimating.work), pruning.stream_seed))
    for r_hat, _ in drawn:
        estimating.add(r_hat)
    for picture in signed([each for _, each in drawn], signature("bitext show", fields), run):
        if plot:
            picture.heat_map.write(plot)
            continue
        with Output(run.output) as out:
            out.write(alignment_text(picture, *screen_of(run.output)).encode())
    for line in estimating.lines():
        run.warn(line, line)
    return estimating.exit_code(pipeline.exit_code)


def _plot(output: str | None) -> str | None:
    """The file for a heat map, None for text.

    Raises:
        DeptreeError: the suffix promises something else, or nothing can be drawn.
    """
    suffix = suffix_of(output)
    if suffix in ("", ".txt"):
        return None
    if suffix not in PLOTS:
        remedy = "Name a .svg, .png or .pdf for a heat map, or a .txt for text"
        raise DeptreeError(f"a sentence pair cannot be drawn as {suffix}", remedy, place=output or "")
    check_plot(output or "")
    return output


@dataclass(frozen=True)
class DrawLinks:
    """A sentence pair as a picture."""

    work: Estimator

    def __call__(self, pair: ScoredPair, rng: np.random.Generator) -> tuple[float, AlignmentPicture]:
        """The work on one pair."""
        estimate = self.work(pair.distribution.program(), rng)
        words = pair.record.source, pair.record.target
        caption = f"best alignment; probabilities by method {self.work.method.name}"
        if estimate.iterations is not None:
            caption += f", {counted(estimate.iterations, 'iteration')}"
        targets = pair.distribution.argmax()
        return estimate.r_hat or 0.0, alignment_picture(pair.id, words, estimate.expectations, targets, caption)
