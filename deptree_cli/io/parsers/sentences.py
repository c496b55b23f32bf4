"""Sentences as parsers take them, from running text or from CoNLL-U, and as CoNLL-U."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.files.streams import Input

EMPTY = "_"
_BOM = "\ufeff"
_CONLLU = re.compile(rb"(\xef\xbb\xbf)?\s*(#|1(-\d+)?\t)")


@dataclass(frozen=True, slots=True)
class Word:
    """A syntactic word; a column that says nothing is ``_``."""

    form: str
    lemma: str = EMPTY
    upos: str = EMPTY
    xpos: str = EMPTY
    feats: str = EMPTY
    space_after: bool = True


@dataclass(frozen=True, slots=True)
class Token:
    """What a splitter finds in running text.

    Attributes:
        words: the forms of its words where they are several (a multiword token such as `del`).
    """

    form: str
    space_after: bool = True
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with at least one word.

    Attributes:
        conllu: its block: as read, or HEAD open where it was cut from running text.
    """

    sent_id: str
    words: list[Word]
    conllu: bytes

    @property
    def forms(self) -> list[str]:
        return [word.form for word in self.words]


Split = Callable[[str], Iterable[list[Token]]]


def spaced(text: str, end: int) -> bool:
    """Whether a token of `text` that ends before position `end` has a space after it, or nothing at all."""
    return end >= len(text) or text[end].isspace()


def kind_of(head: bytes) -> str:
    """``conllu`` or ``text``, by the first bytes."""
    return "conllu" if _CONLLU.match(head) else "text"


def read_sentences(file: Input, kind: str, split: Split | None) -> Iterator[Sentence | DeptreeError]:
    """The sentences of a file of that kind, one paragraph or block in memory at a time; malformed blocks as errors."""
    sentences = _from_text(file, split) if kind == "text" and split else _from_conllu(file)
    first = next(sentences, None)
    if first is None:
        raise DeptreeError("there is no sentence in it", "Give text or CoNLL-U", place=file.place)
    yield first
    yield from sentences


def _from_conllu(file: Input) -> Iterator[Sentence | DeptreeError]:
    for number, block in enumerate(read_blocks_or_errors(file.stream, file.place), 1):
        if isinstance(block, DeptreeError):
            block.remedy += ". If this is text, pass --input text"
            yield block
        else:
            yield Sentence(block.sent_id or str(number), _words(block), block.raw)


def _words(block: Block) -> list[Word]:
    columns = map(block.column, ("form", "lemma", "upos", "xpos", "feats"))
    spaces = ("SpaceAfter=No" not in misc.split("|") for misc in block.column("misc"))
    return [Word(*row) for row in zip(*columns, spaces, strict=True)]


def _from_text(file: Input, split: Split) -> Iterator[Sentence | DeptreeError]:
    number = 0
    for paragraph in paragraphs(file.stream, file.place):
        for tokens in filter(None, split(paragraph)):
            number += 1
            yield to_sentence(str(number), tokens)


def paragraphs(stream: Iterable[bytes], place: str) -> Iterator[str]:
    """Stretches of lines between empty ones, in Unicode's NFC, which parsers know and CoNLL-U demands."""
    lines = (_line(line, f"{place}:{number}") for number, line in enumerate(stream, 1))
    for filled, group in groupby(lines, key=bool):
        if filled:
            yield "\n".join(group)


def _line(line: bytes, place: str) -> str:
    try:
        text = line.decode()
    except UnicodeDecodeError:
        remedy = "Give text or CoNLL-U in UTF-8; scores that you have already go straight to the other commands"
        raise DeptreeError("this is not UTF-8", remedy, place=place) from None
    return unicodedata.normalize("NFC", text.removeprefix(_BOM)).strip()


def to_sentence(sent_id: str, tokens: list[Token]) -> Sentence:
    """A sentence of these tokens, its block with the comments sent_id and text and every other column open."""
    words: list[Word] = []
    rows = []
    for token in tokens:
        forms = token.words or (token.form,)
        first = len(words) + 1
        words += [Word(form) for form in forms[:-1]] + [Word(forms[-1], space_after=token.space_after)]
        if len(forms) > 1:
            rows.append(_row(f"{first}-{len(words)}", token.form, token.space_after))
        rows += [
            _row(str(number), form, token.space_after or len(forms) > 1) for number, form in enumerate(forms, first)
        ]
    text = "".join(token.form + " " * token.space_after for token in tokens).rstrip()
    lines = [f"# sent_id = {sent_id}", f"# text = {text}", *rows, "", ""]
    return Sentence(sent_id, words, "\n".join(lines).encode())


def _row(number: str, form: str, space_after: bool) -> str:
    return "\t".join([number, form, *[EMPTY] * 7, EMPTY if space_after else "SpaceAfter=No"])
