"""What a reader sees as one: a word, a multiword token, or what stands between two spaces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block


class Region(NamedTuple):
    """A stretch of words that a reader sees as one.

    Attributes:
        id: the numbers of its words, ``3`` or ``3-4``.
        form: what is written there.
        first, last: the numbers of its words.
    """

    id: str
    form: str
    first: int
    last: int


def words_of(block: Block) -> list[Region]:
    """The words in order, each by itself.

    Raises:
        DeptreeError: a form is not UTF-8.
    """
    cells = (each for each in block.cells("id", "form") if each[0].isdigit())
    return [Region(str(word), _text(form, block), word, word) for word, (_, form) in enumerate(cells, 1)]


def surface_tokens(block: Block) -> list[Region]:
    """The tokens in order; every word belongs to exactly one.

    A range that does not begin with the word behind it, or ends beyond the sentence, is passed over.

    Raises:
        DeptreeError: a form is not UTF-8.
    """
    return [token for token, _ in _tokens(block)]


def between_spaces(block: Block) -> list[Region]:
    """What stands between spaces, in order: tokens, with those behind them if SpaceAfter=No joins them.

    As UD has it, the line of a multiword token says whether a space follows; the lines of its words say nothing.

    Raises:
        DeptreeError: a form is not UTF-8, or the comment ``# text`` has other spaces.
    """
    found: list[Region] = []
    joined = False
    for token, misc in _tokens(block):
        found.append(_joined(found.pop(), token) if joined else token)
        joined = b"SpaceAfter=No" in misc.split(b"|")
    _check_text(found, block)
    return found


# What a surprisal, or another number that adds up over words, may be given of.
REGIONS = {"words": words_of, "tokens": surface_tokens, "spaces": between_spaces}


def _tokens(block: Block) -> Iterator[tuple[Region, bytes]]:
    """The tokens, each with MISC of its line."""
    words = covered = 0
    for number, form, misc in block.cells("id", "form", "misc"):
        if number.isdigit():
            words += 1
            first = last = words
        else:
            first, last = _range(number)
        if covered < first <= last <= block.n and first == max(words, covered + 1):
            yield Region(number.decode(), _text(form, block), first, last), misc
            covered = last


def _joined(one: Region, two: Region) -> Region:
    return Region(f"{one.first}-{two.last}", one.form + two.form, one.first, two.last)


def _check_text(regions: Sequence[Region], block: Block) -> None:
    """Raise if the sentence has a text that is divided otherwise; a word may have spaces within."""
    text = block.comment("text")
    if text is None:
        return
    pairs = zip_longest(" ".join(region.form for region in regions).split(), text.split())
    for here, there in pairs:
        if here != there:
            shown = " but ".join(f"{each!r}" if each else "nothing" for each in (here, there))
            problem = f"SpaceAfter and # text disagree: by SpaceAfter a reader sees {shown} in # text"
            raise DeptreeError(problem, "Correct one of them", place=block.place, sent_id=block.sent_id)


def _range(number: bytes) -> tuple[int, int]:
    """The ends of ``3-4``; of anything else a range of no words."""
    first, dash, last = number.partition(b"-")
    return (int(first), int(last)) if dash and first.isdigit() and last.isdigit() else (0, 0)


def _text(form: bytes, block: Block) -> str:
    try:
        return form.decode()
    except UnicodeDecodeError:
        raise DeptreeError("a form is not UTF-8", "Convert the file to UTF-8", place=block.place) from None
