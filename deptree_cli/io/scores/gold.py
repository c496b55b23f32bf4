"""Sentences with known heads beside those that were read: the one way in which gold files are paired."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.scores.layout import Layout, words_in
from deptree_cli.io.scores.raw import OutOfStep
from deptree_cli.io.scores.record import Record
from deptree_cli.io.streams import open_input

_SAME = "Give the same sentences in the same order, with the same tokens"


def with_gold(records: Iterable[Record | DeptreeError], path: str, layout: Layout) -> Iterator[Record | DeptreeError]:
    """The sentences, each with its own in a CoNLL-U file of known heads: by order, and never against their names.

    Args:
        layout: how the scores of the records are laid out.

    Raises:
        DeptreeError: the files do not hold the same sentences in the same order.
    """
    with open_input(path) as file:
        blocks = read_blocks_or_errors(file.stream, file.place)
        for record in records:
            block = next(blocks, None)
            if block is None:
                sent_id = record.sent_id
                raise OutOfStep(f"{file.place} has no sentence left for these scores", _SAME, sent_id=sent_id)
            if isinstance(record, DeptreeError):
                yield record
            else:
                yield block if isinstance(block, DeptreeError) else _paired(record, block, layout)
        if (left := next(blocks, None)) is not None:
            raise OutOfStep("there are no scores left for this sentence", _SAME, place=left.place)


def _paired(record: Record, block: Block, layout: Layout) -> Record:
    n = words_in(record.scores.shape, layout)
    if block.n != n:
        problem = f"{block.place} has {block.n} words where there are scores of {n} words"
        raise OutOfStep(problem, _SAME, sent_id=record.sent_id)
    named = record.sent_id != str(record.number)
    if named and block.sent_id and block.sent_id != record.sent_id:
        raise OutOfStep(f"out of step: {block.place} is {block.sent_id!r}", _SAME, sent_id=record.sent_id)
    return replace(record, gold=block)
