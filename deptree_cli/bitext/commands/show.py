"""``deptree bitext show``: a sentence pair as a matrix of shaded cells, links of the best alignment in brackets.

Target words stand above their columns, or upright if they are too long for that. If there are still too many, the
matrix continues below with the next of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from deptree_cli.bitext.files import ScoredPair
from deptree_cli.bitext.options import GONE_OF_PAIRS, LISTING, BitextOptions, Estimate, Estimating, PruningOptions
from deptree_cli.cli.options import command, use
from deptree_cli.cli.run import ALONE, Job, Run
from deptree_cli.cli.score_options import WANTED, chosen_sentence
from deptree_cli.cli.write import Out
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import counted
from deptree_cli.io.encoders.pictures import as_text
from deptree_cli.io.files.streams import cells, place_of
from deptree_cli.io.pictures.arcs import SURE, fitted, shown_form
from deptree_cli.io.pictures.text import FAINT, POSSIBLE, UNSURE, WIDEST, painted


class AlignmentPicture:
    """A sentence pair to be drawn: source words are rows, target words are columns, by their numbers if there are none.

    `probabilities` (p, q) of links; `targets` (p,): the target word that a source word is linked with, -1 for none.
    """

    def __init__(
        self, name: str, words: tuple[Sequence[str], ...], probabilities: Float, targets: Heads, caption: str
    ) -> None:
        self.name, self.caption, self.probabilities, self.targets = shown_form(name), caption, probabilities, targets
        self.source, self.target = (
            [shown_form(word) for word in side or map(str, range(length))]
            for side, length in zip(words, probabilities.shape, strict=True)
        )


# The shade of a link by the least probability that it stands for, the darkest first; and that of other links.
SHADES, EMPTY = {0.75: "█", 0.5: "▓", 0.25: "▒", 0.01: "░"}, "·"
LEGEND = "░ from .01  ▒ .25  ▓ .5  █ .75", "[ ] link of the best alignment"

# Columns for source words: at least this many, however narrow the terminal; and the characters of an upright word.
LEAST, TALLEST = 4, 12

# Columns of a link with its brackets below its word; and the heading of the numbers at the right.
BRACKETED, NUMBERS = 4, "  p(link)"


class _Strip(NamedTuple):
    """Neighbouring columns of the matrix, from the target word `first` on.

    `places` is where the cell of each begins, `size` how many characters a cell takes; brackets stand beside them.
    `heading` are the lines above, `width` that of all lines.
    """

    first: int
    places: list[int]
    size: int
    heading: list[str]
    width: int

    def row(self, probabilities: Sequence[float], linked: int, colour: bool) -> str:
        """The cells of a source word, given the probabilities of all its links and the target word linked, or -1."""
        line = [" "] * self.width
        for target, place in enumerate(self.places, self.first):
            shade = next((shade for least, shade in SHADES.items() if probabilities[target] >= least), EMPTY)
            style = "" if target == linked else FAINT if shade == EMPTY else POSSIBLE
            line[place : place + self.size] = [painted(shade * self.size, style, colour), *[""] * (self.size - 1)]
            if target == linked:
                line[place - 1], line[place + self.size] = "[", "]"
        return "".join(line)


def alignment_text(picture: AlignmentPicture, width: int, colour: bool = False) -> str:
    """The whole text, ending in a newline; `colour` marks doubtful links and others that are possible."""
    longest = min(WIDEST, max(LEAST, width // 3), max(map(cells, picture.source)))
    words = [fitted(word, longest) + " " for word in picture.source]
    rows = list(zip(words, picture.probabilities.tolist(), picture.targets.tolist(), strict=True))
    strips = list(_strips(picture.target, max(BRACKETED, width - longest - 1 - len(NUMBERS))))
    lines = [f"{picture.name}: {picture.caption}"]
    for strip in strips:
        is_last = strip is strips[-1]  # with the numbers
        *above, lowest = (" " * cells(words[0]) + line for line in strip.heading)
        lines += ["", *above, lowest + painted(NUMBERS * is_last, FAINT, colour)]
        for word, probabilities, linked in rows:
            style = UNSURE if probabilities[linked] < SURE else ""
            number = f"  {probabilities[linked]:.4f}" * (is_last and linked >= 0)
            lines.append(word + strip.row(probabilities, linked, colour) + painted(number, style, colour))
    legend = "  ".join(LEGEND)
    lines += ["", *(painted(line, FAINT, colour) for line in ([legend] if cells(legend) <= width else LEGEND))]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _strips(target: Sequence[str], room: int) -> Iterator[_Strip]:
    """All target words above their columns if there is room; else upright, as many strips as it takes."""
    widths = [max(BRACKETED, min(WIDEST, cells(word))) for word in target]
    starts = [0, *accumulate(width + 1 for width in widths)]
    if starts[-1] <= room:
        places = [start + (width - BRACKETED) // 2 + 1 for start, width in zip(starts, widths, strict=False)]
        centred = (" " * ((width - cells(word)) // 2) + word for word, width in zip(target, widths, strict=True))
        heading = "".join(fitted(word, width) + " " for word, width in zip(centred, widths, strict=True))
        yield _Strip(0, places, BRACKETED - 2, [heading], starts[-1])
        return
    most = (room - 1) // 2
    for first in range(0, len(target), most):
        words = [_characters(word) for word in target[first : first + most]]
        height = max(map(len, words))
        upright = ([""] * (height - len(word)) + word for word in words)
        heads = [" " + "".join(fitted(character, 2) for character in line) for line in zip(*upright, strict=True)]
        # As narrow as can be: neighbours share the place of their brackets, as at most one of a row has some.
        yield _Strip(first, [2 * number + 1 for number in range(len(words))], 1, heads, 2 * len(words) + 1)


def _characters(word: str) -> list[str]:
    """The characters of a word, each with the marks on it; a long word ends in an ellipsis."""
    found: list[str] = []
    for character in word:
        if cells(character) or not found:
            found.append("")
        found[-1] += character
    return found if len(found) <= TALLEST else [*found[: TALLEST - 1], "…"]


TEXT = as_text(alignment_text)


@command(listing=LISTING, gone=GONE_OF_PAIRS)
def show(
    bitext: BitextOptions = use(BitextOptions),
    wanted: str | None = WANTED,
    pruning: PruningOptions = use(PruningOptions, lacks=["seconds"]),
    out: Out = use(Out, formats=(TEXT,), has_header=False),
    run: Run = use(Run, lacks=ALONE),
) -> int:
    """Draw one sentence pair as a matrix: the darker a cell, the more probable the link.

    Writes text as wide as the terminal: source words on the left, target words above. The links of the best alignment
    are marked, and their probabilities listed on the right. Without --text, words are shown by their numbers, counted
    from 0.
    """
    estimating = Estimating(pruning.method, pruning.settings, run)
    select = chosen_sentence(wanted, place_of(bitext.sources[0].path), "sentence pair")
    chosen = bitext.announcing(select, run, 1 if pruning.is_asked else 3)
    fields = {"sentence": wanted, **pruning.signature_fields}
    job = Job("bitext show", bitext.source(run), run, out, last=fields, select=chosen)
    return estimating.write(job, partial(draw_links, pruning.method.name, estimating.estimate), pruning.stream_seed)


class Drawn(NamedTuple):
    """A sentence pair as a picture, and how far its estimate has converged."""

    picture: AlignmentPicture
    r_hat: float


def draw_links(method: str, estimate: Estimate, pair: ScoredPair, rng: np.random.Generator) -> Drawn:
    estimated = estimate(pair.distribution.program(), rng)
    words = pair.record.source, pair.record.target
    caption = f"best alignment; probabilities by method {method}"
    if estimated.iterations is not None:
        caption += f", {counted(estimated.iterations, 'iteration')}"
    picture = AlignmentPicture(pair.id, words, estimated.expectations, pair.distribution.argmax(), caption)
    return Drawn(picture, estimated.r_hat or 0.0)
