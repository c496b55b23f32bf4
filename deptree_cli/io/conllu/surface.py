"""The tokens of a sentence as a reader sees them: a multiword token is one, whatever words it stands for."""

from __future__ import annotations

from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block


class Token(NamedTuple):
    """A token.

    Attributes:
        id: its id in CoNLL-U, ``3`` or ``3-4``.
        form: what is written there.
        first, last: the numbers of its words.
    """

    id: str
    form: str
    first: int
    last: int


def surface_tokens(block: Block) -> list[Token]:
    """The tokens in order; every word belongs to exactly one.

    A range that does not begin with the word behind it, or ends beyond the sentence, is passed over.

    Raises:
        DeptreeError: a form is not UTF-8.
    """
    tokens: list[Token] = []
    words = covered = 0
    for number, form in block.cells("id", "form"):
        if number.isdigit():
            words += 1
            first = last = words
        else:
            first, last = _range(number)
        if covered < first <= last <= block.n and first == max(words, covered + 1):
            tokens.append(Token(number.decode(), _text(form, block), first, last))
            covered = last
    return tokens


def _range(number: bytes) -> tuple[int, int]:
    """The ends of ``3-4``; of anything else a range of no words."""
    first, dash, last = number.partition(b"-")
    return (int(first), int(last)) if dash and first.isdigit() and last.isdigit() else (0, 0)


def _text(form: bytes, block: Block) -> str:
    try:
        return form.decode()
    except UnicodeDecodeError:
        raise DeptreeError("a form is not UTF-8", "Convert the file to UTF-8", place=block.place) from None
