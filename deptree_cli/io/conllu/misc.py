"""Values in MISC and other columns that differ from tree to tree: places for them are spliced along and then filled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deptree_cli.io.conllu.blocks import Block

# Of a float: none below 1 is rounded to it.
_ALL_DIGITS = 17


def with_places(block: Block, keys: Sequence[str]) -> tuple[Block, bytes]:
    """The block with ``key=`` and an empty place for each key in MISC of every word, and the mark of such a place.

    Notes of earlier commands go.
    """
    mark = unused_mark(block)
    entry = "|".join(f"{key}={mark.decode()}" for key in keys)
    return block.fresh().noting(dict.fromkeys(range(1, block.n + 1), entry) if keys else {}), mark


def unused_mark(block: Block) -> bytes:
    """Bytes that do not occur in a block, so that they can stand for places in it."""
    mark = b"\0"
    while mark in block.raw:
        mark += b"\1"
    return mark


def probability(value: float, digits: int = 4) -> str:
    """A probability to so many significant digits, more where it would be rounded to a certainty that it is not."""
    text = f"{value:.{digits}g}"
    while text == "1" and value < 1 and digits < _ALL_DIGITS:
        digits += 1
        text = f"{value:.{digits}g}"
    return text


def probabilities(values: Sequence[float]) -> list[str]:
    """`probability` of each, worked out once for equal ones: the trees of a sentence share most of their arcs."""
    texts = {value: probability(value) for value in set(values)}
    return [texts[value] for value in values]


def filled(data: bytes, mark: bytes, values: Iterable[str]) -> bytes:
    """The bytes of trees with their places filled, in order."""
    pieces = data.split(mark)
    texts = [value.encode() for value in values]
    return b"".join(piece for pair in zip(pieces, [*texts, b""], strict=True) for piece in pair)
