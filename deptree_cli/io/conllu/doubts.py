"""Sentences of a ranking: what is doubted is noted in them."""

from __future__ import annotations

from collections.abc import Sequence

from deptree_cli.core.dtypes import Float
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.notes import probability

# In MISC: the probability that the annotated head, with its label where there are labels, is wrong.
KEY = "Doubt"

# Of a kind of word: what is not known of it.
UNKNOWN = "_"


def with_doubts(block: Block, doubts: Float, threshold: float, comments: Sequence[str]) -> bytes:
    """The sentence as it is, with `Doubt` in MISC of words of more than a threshold, and comments behind its own.

    It can stand anywhere in a file: without a byte order mark, and with an empty line behind it.

    Args:
        doubts: (n,), NaN where nothing is annotated.
    """
    marks = {
        word: f"{KEY}={probability(doubt)}" if doubt > threshold else ""
        for word, doubt in enumerate(doubts.tolist(), 1)
    }
    data = block.with_notes(marks, comments, instead=frozenset({KEY.encode()}))
    return block.chunk.header + data[block.start :].rstrip(b"\r\n") + 2 * block.newline.encode()
