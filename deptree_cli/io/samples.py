"""Trees that somebody else drew, to be audited: CoNLL-U or JSON Lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu import Block, read_blocks
from deptree_cli.io.inputs import open_input
from deptree_cli.io.jsonl import objects, sent_id_of

# What marks a sample of a sentence: /anything as in UD, or -sample_3, which strict validators prefer.
_MARKS = re.compile(r"/[^/]*$"), re.compile(r"-sample_\d+$")
_COUNT = "tree_count"

# How containers of arrays begin.
_BINARY = b"PK", b"\x93NUMPY", b"\x80", b"\x89HDF"


class DrawnTree(NamedTuple):
    """A tree drawn `times` times, as `sent_id` is named in the file; heads: n integers, 0 = ROOT."""

    sent_id: str
    heads: tuple[int, ...]
    times: int
    place: str

    @property
    def names(self) -> list[str]:
        """What its sentence may be called, likeliest first: its own name, or that without the mark of a sample."""
        return [self.sent_id, *(mark.sub("", self.sent_id) for mark in _MARKS if mark.search(self.sent_id))]


def read_samples(path: str) -> Iterator[DrawnTree]:
    """The trees in a file; `-` is standard input.

    In CoNLL-U samples are usually named ``X/sample_3`` (`DrawnTree.names`), and a comment ``# tree_count = 5`` says how
    often the tree was drawn. In JSON Lines the fields are `sent_id`, `heads` and, unless it is 1, `count`.

    Raises:
        DeptreeError: with ``file:line``, where something is not a tree of a named sentence.
    """
    with open_input(path) as file:
        if file.head.startswith(_BINARY):
            problem = "these are not samples in CoNLL-U or JSON Lines"
            raise DeptreeError(problem, "Give trees as CoNLL-U, or a line of JSON with sent_id and heads", place=path)
        json = file.head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))
        yield from (_from_jsonl if json else _from_conllu)(file.stream, file.place)


def _from_conllu(stream: Iterable[bytes], place: str) -> Iterator[DrawnTree]:
    for block in read_blocks(stream, place):
        sent_id = block.sent_id
        heads = tuple(head for head in block.heads if head is not None)
        if not sent_id:
            raise _nameless(block.place)
        if len(heads) < block.n:
            problem = f"word {block.heads.index(None) + 1} has no HEAD"
            raise DeptreeError(problem, "Every word of a sample needs one", place=block.place, sent_id=sent_id)
        yield DrawnTree(sent_id, heads, _count_in(block), block.place)


def _count_in(block: Block) -> int:
    said = block.comment(_COUNT)
    if said is None:
        return 1
    if not re.fullmatch("[1-9][0-9]{0,17}", said):
        raise _miscounted(said, block.place, block.sent_id)
    return int(said)


def _from_jsonl(stream: Iterable[bytes], place: str) -> Iterator[DrawnTree]:
    for here, value in objects(stream, place):
        if isinstance(value, DeptreeError):
            raise value
        if value.keys() == {"signature"}:  # our own --header
            continue
        sent_id = sent_id_of(value, here)
        if not sent_id:
            raise _nameless(here)
        count = value.get("count", 1)
        if type(count) is not int or count < 1:
            raise _miscounted(count, here, sent_id)
        yield DrawnTree(sent_id, _heads(value.get("heads"), here, sent_id), count, here)


def _heads(heads: Any, place: str, sent_id: str) -> tuple[int, ...]:
    if not isinstance(heads, list) or not heads:
        problem = "the field heads is not a list of numbers"
        raise DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place, sent_id=sent_id)
    for word, head in enumerate(heads, 1):
        if type(head) is not int or not 0 <= head <= len(heads):
            problem = f"the head of word {word} is {head!r}, not 0 to {len(heads)}"
            raise DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place, sent_id=sent_id)
    return tuple(heads)


def _nameless(place: str) -> DeptreeError:
    return DeptreeError("a sample without sent_id", "Name the sentence that it is a tree of", place=place)


def _miscounted(count: object, place: str, sent_id: str) -> DeptreeError:
    return DeptreeError(f"the count is {count!r}", "Give a positive integer", place=place, sent_id=sent_id)
