"""Values in MISC that differ from tree to tree: places for them are spliced along, and filled in at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deptree_cli.io.conllu.blocks import Block


def with_places(block: Block, keys: Sequence[str]) -> tuple[Block, bytes]:
    """The block with ``key=`` and an empty place for each key in MISC of every word, and the mark of such a place."""
    mark = b"\0"
    while mark in block.raw:
        mark += b"\1"
    entry = "|".join(f"{key}={mark.decode()}" for key in keys)
    return block.noting(dict.fromkeys(range(1, block.n + 1), entry)), mark


def filled(data: bytes, mark: bytes, values: Iterable[str]) -> bytes:
    """The bytes of trees with their places filled, in order."""
    pieces = data.split(mark)
    texts = [value.encode() for value in values]
    return b"".join(piece for pair in zip(pieces, [*texts, b""], strict=True) for piece in pair)
