"""Probabilities of arcs as a long table: a row for each arc of a sentence, or for each label of an arc."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.encoders.base import Row

COLUMNS = ("sent_id", "word", "form", "head", "head_form", "prob")
LABELLED = (*COLUMNS[:-1], "label", "prob")

ROOT = "ROOT"


def arc_rows(sent_id: str, block: Block | None, arcs: Float, above: float) -> Iterator[Row]:
    """Yield a row for each arc of a probability above a limit, by word and then by head.

    Args:
        block: the words; without them forms are None.
        arcs: (n+1, n+1).
    """
    words, heads = np.nonzero(above < arcs.T)
    forms = _forms(block, len(arcs))
    for word, head, prob in zip(words.tolist(), heads.tolist(), arcs[heads, words].tolist(), strict=True):
        yield dict(zip(COLUMNS, (sent_id, word, forms[word], head, forms[head], prob), strict=True))


def labelled_rows(
    sent_id: str, block: Block | None, arcs: Float, labels: tuple[str, ...], above: float
) -> Iterator[Row]:
    """Yield a row for each label of each arc of a probability above a limit.

    Args:
        arcs: (n+1, n+1, L).
    """
    by_word = arcs.swapaxes(0, 1)
    words, heads, numbers = np.nonzero(by_word > above)
    forms = _forms(block, len(arcs))
    probs = by_word[words, heads, numbers].tolist()
    for word, head, label, prob in zip(words.tolist(), heads.tolist(), numbers.tolist(), probs, strict=True):
        row = (sent_id, word, forms[word], head, forms[head], labels[label], prob)
        yield dict(zip(LABELLED, row, strict=True))


def _forms(block: Block | None, nodes: int) -> list[str | None]:
    """The forms of ROOT and of the words."""
    return [ROOT, *(block.column("form") if block else [None] * (nodes - 1))]
