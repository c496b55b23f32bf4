"""Sentences of a ranking: what is doubted is noted in them, and what kinds of words they have is counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from deptree_cli.core.dtypes import Float
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.misc import probability

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


def kinds_of_words(block: Block) -> Counter[tuple[str, str, str]]:
    """How many words have each kind: UPOS of the head (`ROOT`), UPOS and DEPREL; the form in small letters for a UPOS
    that is missing, `_` for what else is.
    """
    columns = zip(block.column("upos"), block.column("form"), strict=True)
    tags = [form.lower() if upos == UNKNOWN else upos for upos, form in columns]
    above = [UNKNOWN if head is None else ["ROOT", *tags][head] for head in block.heads]
    return Counter(zip(above, tags, block.deprels, strict=True))
