"""Files of sentences as one side of a join: those that scores belong to, and those with gold heads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors
from deptree_cli.io.files.streams import open_input, place_of
from deptree_cli.io.join import joined
from deptree_cli.io.sides import Side


def sentences(paths: Sequence[str]) -> Side[Block]:
    """The sentences of CoNLL-U files, one file after another; one that is malformed is handed on as its error."""
    place = ", ".join(map(place_of, paths))
    return Side(_blocks(paths), "sentences", place)


def _blocks(paths: Sequence[str]) -> Iterator[Block | DeptreeError]:
    for path in paths:
        with open_input(path) as file:
            yield from read_blocks_or_errors(file.stream, file.place)


def with_gold(
    leaders: Side[Any], paths: Sequence[str], words_of: Callable[[Any], int], first: int = 1
) -> Iterator[Any]:
    """The leaders, each with its own sentence of CoNLL-U files as its field `gold`.

    Args:
        words_of: how many words a leader has, which its sentence must have too.
        first: the running number of the first leader.

    Raises:
        DeptreeError: the files do not hold the same sentences (`joined`).
    """

    def combine(item: Any, block: Block, _: int) -> Any:
        if block.n != words_of(item):
            problem = f"{block.place} has {counted(block.n, 'word')} where there are {words_of(item)}"
            raise OutOfStep(problem, "Give the same sentences, with the same words")
        return replace(item, gold=block)

    return joined(leaders, sentences(paths), combine, first=first)
