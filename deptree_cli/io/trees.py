"""Trees as output: a sentence's trees in CoNLL-U, JSON Lines or as an array of heads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from deptree_cli.io.jsonl import dump
from deptree_cli.io.pairing import Record

Value = int | float | bool | None


@dataclass(frozen=True)
class Trees:
    """A sentence's trees and what is said of each.

    Attributes:
        record: the sentence as it was read.
        heads: (k, n) integers.
        fields: for each tree, in order, names and values for JSON Lines.
        comments: for each tree, lines for CoNLL-U.
    """

    record: Record
    heads: NDArray[np.int32]
    fields: Sequence[Mapping[str, Value]]
    comments: Sequence[Sequence[str]]


def to_jsonl(trees: Trees) -> bytes:
    """One object per tree: sent_id, sample (from 1), heads, and the fields."""
    sent_id = trees.record.sent_id
    return b"".join(
        dump({"sent_id": sent_id, "sample": rank, "heads": heads, **fields})
        for rank, (heads, fields) in enumerate(zip(trees.heads.tolist(), trees.fields, strict=True), 1)
    )


def to_conllu(trees: Trees) -> bytes:
    """The sentence once per tree, as ``X/sample_3``: UD reserves the slash for several annotations of one sentence."""
    record = trees.record
    assert record.block is not None  # the command asks for CoNLL-U only where it was read
    sent_ids = [f"{record.sent_id}/sample_{rank}" for rank in range(1, len(trees.heads) + 1)]
    return record.block.with_trees(trees.heads, sent_ids, trees.comments)


TO_BYTES: dict[str, Callable[[Trees], bytes]] = {"conllu": to_conllu, "jsonl": to_jsonl}
