"""Sentences with known heads beside those that were read: the one way in which gold files are paired."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.streams import open_input, place_of

Item = TypeVar("Item")

_SAME = "Give the same sentences in the same order, with the same words"


class Partner(NamedTuple):
    """What an item and its sentence must agree on: the name, None if it has none of its own, and how many words."""

    name: str | None
    words: int


def with_gold(
    items: Iterable[Item | DeptreeError], paths: Sequence[str], partner: Callable[[Any], Partner], what: str
) -> Iterator[Item | DeptreeError]:
    """The items, each with its own sentence of CoNLL-U files as `gold`: by order, and never against their names.

    Args:
        partner: what of an item its sentence must agree with.
        what: an item consists of, for messages: ``scores`` for example.

    Raises:
        DeptreeError: the files do not hold the same sentences in the same order.
    """
    known = _blocks(paths)
    for item in items:
        block = next(known, None)
        if block is None:
            problem = f"{place_of(paths[-1])} has no sentence left for these {what}"
            raise OutOfStep(problem, _SAME, sent_id=getattr(item, "sent_id", ""))
        if isinstance(item, DeptreeError):
            yield item
        else:
            yield block if isinstance(block, DeptreeError) else _paired(item, block, partner(item))
    if (left := next(known, None)) is not None:
        raise OutOfStep(f"there are no {what} left for this sentence", _SAME, place=left.place)


def _blocks(paths: Sequence[str]) -> Iterator[Block | DeptreeError]:
    for path in paths:
        with open_input(path) as file:
            yield from read_blocks_or_errors(file.stream, file.place)


def _paired(item: Any, block: Block, partner: Partner) -> Any:
    if block.n != partner.words:
        problem = f"{block.place} has {counted(block.n, 'word')} where there are {partner.words}"
        raise OutOfStep(problem, _SAME, sent_id=item.sent_id)
    if partner.name and block.sent_id and block.sent_id != partner.name:
        raise OutOfStep(f"out of step: {block.place} is {block.sent_id!r}", _SAME, sent_id=item.sent_id)
    return replace(item, gold=block)
