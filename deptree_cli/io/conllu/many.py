"""The words of many sentences of CoNLL-U at once: heads as one array, columns as lists, without a string of a word.

Words of all sentences stand one behind the other. What a column has are bytes: `numbered` makes numbers of them, and
whoever wants names decodes each that there is, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, groupby

import numpy as np

from deptree_cli.core.dtypes import Int
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import UNKNOWN
from deptree_cli.kernels.text.columns import HEAD

_UNKNOWN = UNKNOWN.encode()


def word_starts(blocks: Sequence[Block]) -> Int:
    """Where the words of each of S sentences begin, and where the last end, (S + 1,)."""
    return np.cumsum([0, *(block.n for block in blocks)])


def heads_of(blocks: Sequence[Block]) -> Int:
    """The heads of all words, 0 = ROOT, negative where the column is no number."""
    return np.concatenate([block.template.words[:, HEAD] for block in blocks])  # type: ignore[index]


def columns_of(blocks: Sequence[Block], *names: str) -> list[list[bytes]]:
    """What all words have in some columns; ``_`` for each where a file does not have it."""
    found: list[list[bytes]] = [[] for _ in names]
    for columns, alike in groupby(blocks, lambda block: block.columns):
        together = list(alike)
        rows = list(_rows(together))
        for name, cells in zip(names, found, strict=True):
            if name in columns:
                place = columns.index(name)
                cells += [row[place] for row in rows]
            else:
                cells += [_UNKNOWN] * len(rows)
    return found


def _rows(blocks: Sequence[Block]) -> Iterator[list[bytes]]:
    """The rows of all words, cut into columns; those of multiword tokens and empty nodes are none."""
    data = b"\n".join(block.raw[block.template.rows_start : block.template.rows_end] for block in blocks)
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    rows = [line.rstrip(b"\r").split(b"\t") for line in lines if line]
    words = sum(block.n for block in blocks)
    return iter(rows) if len(rows) == words else compress(rows, (row[0].isdigit() for row in rows))


def numbered(cells: Sequence[bytes]) -> tuple[list[bytes], Int]:
    """What stands in a column, each once, in the order in which it came; and the number of each word's."""
    known = {cell: number for number, cell in enumerate(dict.fromkeys(cells))}
    return list(known), np.fromiter(map(known.__getitem__, cells), dtype=np.int64, count=len(cells))
