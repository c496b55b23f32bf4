"""Annotations of one sentence as text for a terminal: the words about which they differ, and the arcs of both.

Of two annotations the one's arcs are above the words and the other's below. A sentence that is too wide is shown around
the words that differ; if that is too wide as well, their table remains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from deptree_cli.core.errors import counted
from deptree_cli.io.pictures.arcs import ROOT, Arc
from deptree_cli.io.pictures.forms import cells, is_right_to_left, shown_form
from deptree_cli.io.pictures.table import FAINT, WIDEST, Column, joined, painted
from deptree_cli.io.pictures.text import row_of

# What a terminal is told of each annotation in turn: red, green, yellow, blue, magenta, cyan.
COLOURS = ("31", "32", "33", "34", "35", "36")

ELLIPSIS = "…"

# How many words beside the ends of arcs are shown of a sentence that is too wide.
AROUND = (1, 0)


@dataclass(frozen=True)
class DifferencePicture:
    """A sentence to be drawn.

    Attributes:
        name: the sentence's.
        forms: its words.
        words: those about which annotations differ, from 1 on.
        names: of the annotations, as headings.
        arcs: of each annotation, one for each of these words, None where it has no head.
    """

    name: str
    forms: Sequence[str]
    words: Sequence[int]
    names: Sequence[str]
    arcs: Sequence[Sequence[Arc | None]]

    def form(self, word: int) -> str:
        """What a node is called."""
        return self.forms[word - 1] if word else ROOT


def differences_to_text(picture: DifferencePicture | None, width: int, colour: bool = False) -> str:
    """The whole text, ending in an empty line; nothing where there is no picture.

    Args:
        width: columns of the terminal.
        colour: give each annotation a colour of its own.
    """
    if picture is None:
        return ""
    verb = "differs" if len(picture.words) == 1 else "differ"
    heading = f"{shown_form(picture.name)}: {counted(len(picture.words), 'word')} {verb}"
    lines = [heading, "", *_drawn(picture, width, colour), *_table(picture, colour), ""]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _drawn(picture: DifferencePicture, width: int, colour: bool) -> Iterator[str]:
    """The arcs of two annotations over and under the words, and an empty line; nothing if there is no room."""
    if len(picture.arcs) != len(COLOURS[:2]) or any(map(is_right_to_left, picture.forms)):
        return
    layers = [[arc for arc in arcs if arc is not None] for arcs in picture.arcs]
    for forms, shown in _excerpts(picture.forms, layers):
        row = row_of(forms, shown, width)
        if row is not None:
            yield from (painted(line, COLOURS[0], colour) for line in row.above(0))
            yield row.words
            yield from (painted(line, COLOURS[1], colour) for line in row.below(1))
            yield ""
            return


def _excerpts(
    forms: Sequence[str], layers: Sequence[Sequence[Arc]]
) -> Iterator[tuple[Sequence[str], Sequence[Sequence[Arc]]]]:
    """The sentence with its arcs, then what is around their ends, ever less of it."""
    yield forms, layers
    ends = {end for arcs in layers for arc in arcs for end in (arc.left, arc.right)}
    for around in AROUND:
        kept = {word for end in ends for word in range(end - around, end + around + 1) if 1 <= word <= len(forms)}
        shown, numbers = list[str](), {0: 0}
        for word, form in enumerate(forms, 1):
            if word in kept:
                shown.append(form)
                numbers[word] = len(shown)
            elif shown[-1:] != [ELLIPSIS]:
                shown.append(ELLIPSIS)
        yield (
            shown,
            [[replace(arc, head=numbers[arc.head], dependent=numbers[arc.dependent]) for arc in arcs] for arcs in layers],
        )


def _table(picture: DifferencePicture, colour: bool) -> Iterator[str]:
    """A line for each word that differs, with its head and label in every annotation."""
    digits = max(map(len, map(str, picture.words)))
    columns = [
        Column("", [f"{word:>{digits}}" for word in picture.words]),
        Column("word", [picture.form(word) for word in picture.words]),
        *(
            Column(name, [_answer(picture, arc) for arc in arcs])
            for name, arcs in zip(picture.names, picture.arcs, strict=True)
        ),
    ]
    own = [COLOURS[number % len(COLOURS)] for number in range(len(picture.arcs))]
    yield joined([column.name for column in columns], columns, [FAINT, FAINT, *own], colour)
    for row in zip(*(column.entries for column in columns), strict=True):
        yield joined(row, columns, [FAINT, "", *own], colour)


def _answer(picture: DifferencePicture, arc: Arc | None) -> str:
    """The label, with its probability, and the head, whose form is left out where the column has no room for it."""
    if arc is None:
        return "no head"
    if not arc.head:
        return arc.tag
    short = f"{arc.tag} ← {arc.head}".strip()
    head = picture.form(arc.head)
    return f"{short} {head}" if cells(f"{short} {head}") <= WIDEST else short
