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

# Above and below the words.
SIDES = 2

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
    drawn = (
        [] if _is_table_only(picture) else _drawn(picture.forms, list(zip(*picture.arcs, strict=True)), width, colour)
    )
    lines = [heading, "", *drawn, *_table(picture, colour), ""]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _is_table_only(picture: DifferencePicture) -> bool:
    """Whether there is no place for the arcs, or a terminal may put words into the order of their script."""
    return len(picture.arcs) != SIDES or any(map(is_right_to_left, picture.forms))


def _drawn(forms: Sequence[str], arcs: Sequence[Sequence[Arc | None]], width: int, colour: bool) -> Iterator[str]:
    """The arcs of words over and under the sentence, and an empty line; if that is too wide, of fewer words at a time.

    Args:
        arcs: of each word both.
    """
    layers = [[arc for arc in side if arc is not None] for side in zip(*arcs, strict=True)]
    rows = (row_of(*excerpt, width) for excerpt in _excerpts(forms, layers))
    row = next((row for row in rows if row is not None), None)
    if row is not None:
        yield from (painted(line.rstrip(), COLOURS[0], colour) for line in row.above(0))
        yield row.words
        yield from (painted(line.rstrip(), COLOURS[1], colour) for line in row.below(1))
        yield ""
    elif len(arcs) > 1:
        half = len(arcs) // 2
        for part in (arcs[:half], arcs[half:]):
            yield from _drawn(forms, part, width, colour)


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
            [
                [replace(arc, head=numbers[arc.head], dependent=numbers[arc.dependent]) for arc in arcs]
                for arcs in layers
            ],
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
        return arc.tag if arc.label in ("", ROOT.lower()) else f"{arc.tag} ← {ROOT}"
    short = f"{arc.tag} ← {arc.head}".strip()
    head = picture.form(arc.head)
    return f"{short} {head}" if cells(f"{short} {head}") <= WIDEST else short
