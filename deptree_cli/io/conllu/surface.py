"""What a reader sees as one: a word, a multiword token, or what stands between two spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError, counted
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


def wrong_tokens(block: Block) -> list[tuple[str, str, int, int, bytes]]:
    """The multiword tokens that are not in front of their words, end beyond the sentence or overlap others: of each
    what the UD validator calls it, what is wrong, its first and last word, and its form."""
    found, words, covered = [], 0, 0
    rows = block.raw[block.template.rows_start :]
    if not (b"-" in rows.partition(b"\t")[0] or re.search(rb"\n[0-9]+-", rows)):
        return []
    for number, form in block.cells("id", "form"):
        words += number.isdigit()
        if b"-" not in number:
            continue
        first, last = map(int, number.split(b"-"))
        if words < first and block.n < last:
            found.append(("word-interval-out", f"ends beyond the {counted(block.n, 'word')}", first, last, form))
        elif words < first <= covered:
            found.append(("overlapping-word-intervals", "overlaps another", first, last, form))
            covered = max(covered, last)
        elif first != words + 1:
            found.append(("misplaced-word-interval", "is not in front of its first word", first, last, form))
        else:
            covered = last
    return found


def error_of_tokens(block: Block) -> DeptreeError | None:
    """What is wrong with the first of them; None if there are none."""
    for _, what, first, last, _ in wrong_tokens(block)[:1]:
        problem, remedy = f"the multiword token {first}-{last} {what}", "Correct the ids of multiword tokens"
        return DeptreeError(problem, remedy, place=block.place, sent_id=block.sent_id)
    return None


def words_of(block: Block) -> list[Region]:
    """The words in order, each by itself.

    Raises:
        DeptreeError: a form is not UTF-8.
    """
    cells = (each for each in block.cells("id", "form") if each[0].isdigit())
    return [Region(str(word), _text(form, block), word, word) for word, (_, form) in enumerate(cells, 1)]


def surface_tokens(block: Block) -> list[Region]:
    """The tokens in order; every word belongs to exactly one.

    Raises:
        DeptreeError: a multiword token is wrong, or a form is not UTF-8.
    """
    return [token for token, _ in _tokens(block)]


def between_spaces(block: Block) -> list[Region]:
    """What stands between spaces, in order: tokens, with those behind them if SpaceAfter=No joins them.

    As UD has it, the line of a multiword token says whether a space follows; the lines of its words say nothing.

    Raises:
        DeptreeError: a multiword token is wrong, a form is not UTF-8, or the comment ``# text`` has other spaces.
    """
    found: list[Region] = []
    joined = False
    for token, misc in _tokens(block):
        if joined:
            one = found.pop()
            token = Region(f"{one.first}-{token.last}", one.form + token.form, one.first, token.last)
        found.append(token)
        joined = b"SpaceAfter=No" in misc.split(b"|")
    _check_text(found, block)
    return found


# What a surprisal, or another number that adds up over words, may be given of.
REGIONS = {"words": words_of, "tokens": surface_tokens, "spaces": between_spaces}


def _tokens(block: Block) -> Iterator[tuple[Region, bytes]]:
    """The tokens, each with MISC of its line."""
    if error := error_of_tokens(block):
        raise error
    covered = 0
    for number, form, misc in block.cells("id", "form", "misc"):
        first, _, last = number.partition(b"-")
        if first.isdigit() and int(first) > covered:  # not an empty node, nor a word of a multiword token
            covered = int(last or first)
            yield Region(number.decode(), _text(form, block), int(first), covered), misc


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


def _text(form: bytes, block: Block) -> str:
    try:
        return form.decode()
    except UnicodeDecodeError:
        raise DeptreeError("a form is not UTF-8", "Convert the file to UTF-8", place=block.place) from None
