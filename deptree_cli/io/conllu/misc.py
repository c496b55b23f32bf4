"""What words are given beside a tree: entries of MISC, and other columns, whose places are spliced along and filled."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from deptree_cli.core.dtypes import Float
from deptree_cli.io.conllu.blocks import Block

# Of a float: none below 1 is rounded to it.
_ALL_DIGITS = 17


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


def entries_of(misc: Mapping[str, Float]) -> list[str]:
    """An entry ``Key=probability`` for each word, with bars between several keys; equal ones are worked out once."""
    columns = []
    for key, values in misc.items():
        probs = values.ravel().tolist()
        texts = {value: f"{key}={text}" for value, text in _shown(set(probs))}
        columns.append(list(map(texts.__getitem__, probs)))
    return columns[0] if len(columns) == 1 else list(map("|".join, zip(*columns, strict=True)))


def _shown(values: Iterable[float]) -> Iterator[tuple[float, str]]:
    """Each value and its `probability`, which is called for those alone that the usual digits may make a certainty."""
    distinct = list(values)
    for value, text in zip(distinct, map("%.4g".__mod__, distinct), strict=True):
        yield value, probability(value) if text == "1" else text


def filled(data: bytes, mark: bytes, values: Iterable[str]) -> bytes:
    """The bytes of trees with their places filled, in order."""
    pieces = data.split(mark)
    texts = [value.encode() for value in values]
    return b"".join(piece for pair in zip(pieces, [*texts, b""], strict=True) for piece in pair)
