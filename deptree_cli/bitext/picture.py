"""A sentence pair as a matrix, drawn as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.io.pictures.arcs import SURE, cells, fitted, shown_form
from deptree_cli.io.pictures.text import FAINT, POSSIBLE, UNSURE, WIDEST, painted

# What a picture of a sentence pair shows: how probable every link is, and the links of the best alignment.


@dataclass(frozen=True, eq=False)
class AlignmentPicture:
    """A sentence pair to be drawn: source words are rows, target words are columns.

    `probabilities` (p, q) of links; `targets` (p,): the target word that a source word is linked with, -1 for none.
    """

    name: str
    caption: str
    source: Sequence[str]
    target: Sequence[str]
    probabilities: Float
    targets: Heads


def alignment_picture(
    name: str, words: tuple[Sequence[str], Sequence[str]], probabilities: Float, targets: Heads, caption: str
) -> AlignmentPicture:
    """The picture of a pair; a sentence without `words` shows their numbers, from 0 as in links."""
    source, target = (
        [shown_form(word) for word in side or map(str, range(length))]
        for side, length in zip(words, probabilities.shape, strict=True)
    )
    return AlignmentPicture(shown_form(name), caption, source, target, probabilities, targets)


# A sentence pair as text for a terminal: a matrix of shaded cells, the best alignment's links in brackets.
#
# Target words stand above their columns or, where they are too long for that, upright; where even so there are too
# many, the matrix goes on below with the next of them.


# Shades by the least probability that they stand for, the darkest first; what is less likely than all is left empty.
SHADES = {0.75: "█", 0.5: "▓", 0.25: "▒", 0.01: "░"}
EMPTY = "·"

LEGEND = "░ from .01  ▒ .25  ▓ .5  █ .75", "[ ] link of the best alignment"

# The least for source words where a terminal is narrow, and the most characters of a word that stands upright.
LEAST, TALLEST = 4, 12

# Columns that a link takes with its brackets beside or below its word; what stands above the numbers at the right.
BRACKETED, NUMBERS = 4, "  p(link)"


@dataclass(frozen=True)
class _Strip:
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
            shade = _shade(probabilities[target])
            style = "" if target == linked else FAINT if shade == EMPTY else POSSIBLE
            line[place : place + self.size] = [painted(shade * self.size, style, colour), *[""] * (self.size - 1)]
            if target == linked:
                line[place - 1], line[place + self.size] = "[", "]"
        return "".join(line)


def alignment_text(picture: AlignmentPicture, width: int, colour: bool = False) -> str:
    """The whole text, ending in a newline; `colour` marks links in doubt, and others that may be."""
    longest = min(WIDEST, max(LEAST, width // 3), max(map(cells, picture.source)))
    words = [fitted(word, longest) + " " for word in picture.source]
    strips = _strips(picture.target, max(BRACKETED, width - longest - 1 - len(NUMBERS)))
    lines = [f"{picture.name}: {picture.caption}"]
    for strip in strips:
        lines += ["", *_drawn(picture, strip, words, strip is strips[-1], colour)]
    legend = "  ".join(LEGEND)
    lines += ["", *(painted(line, FAINT, colour) for line in ([legend] if cells(legend) <= width else LEGEND))]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _drawn(
    picture: AlignmentPicture, strip: _Strip, words: Sequence[str], is_last: bool, colour: bool
) -> Iterator[str]:
    """A strip's lines, numbers at the right of the last one."""
    indent = " " * cells(words[0])
    *above, lowest = strip.heading
    yield from (indent + line for line in above)
    yield indent + lowest + painted(NUMBERS * is_last, FAINT, colour)
    for word, probabilities, linked in zip(
        words, picture.probabilities.tolist(), picture.targets.tolist(), strict=True
    ):
        behind = ""
        if is_last and linked >= 0:
            behind = painted(f"  {probabilities[linked]:.4f}", UNSURE if probabilities[linked] < SURE else "", colour)
        yield word + strip.row(probabilities, linked, colour) + behind


def _shade(probability: float) -> str:
    return next((shade for least, shade in SHADES.items() if probability >= least), EMPTY)


def _strips(target: Sequence[str], room: int) -> list[_Strip]:
    widths = [max(BRACKETED, min(WIDEST, cells(word))) + 1 for word in target]
    if sum(widths) <= room:
        return [_level(target, widths)]
    most = (room - 1) // 2
    return [_upright(target[first : first + most], first) for first in range(0, len(target), most)]


def _level(target: Sequence[str], widths: Sequence[int]) -> _Strip:
    starts = [0, *accumulate(widths)]
    places = [start + (width - 1 - BRACKETED) // 2 + 1 for start, width in zip(starts, widths, strict=False)]
    heading = "".join(_centred(word, width - 1) + " " for word, width in zip(target, widths, strict=True))
    return _Strip(0, places, BRACKETED - 2, [heading], starts[-1])


def _centred(word: str, width: int) -> str:
    before = max(0, width - cells(word)) // 2
    return " " * before + fitted(word, width - before)


def _upright(target: Sequence[str], first: int) -> _Strip:
    """Columns as narrow as can be: neighbours share the place of their brackets, as at most one of a row has some."""
    words = [_characters(word) for word in target]
    height = max(map(len, words))
    upright = ([""] * (height - len(word)) + word for word in words)
    heading = [" " + "".join(fitted(character, 2) for character in line) for line in zip(*upright, strict=True)]
    places = [2 * number + 1 for number in range(len(target))]
    return _Strip(first, places, 1, heading, 2 * len(target) + 1)


def _characters(word: str) -> list[str]:
    """The characters of a word, each with the marks on it; those of a long word up to an ellipsis."""
    found: list[str] = []
    for character in word:
        if cells(character) or not found:
            found.append(character)
        else:
            found[-1] += character
    return found if len(found) <= TALLEST else [*found[: TALLEST - 1], "…"]
