"""Trees as output: a sentence's trees in CoNLL-U or JSON Lines, with what is said of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from deptree_cli.io.jsonl import dump
from deptree_cli.io.pairing import Record

Value = int | float | bool | None

YES_NO = {True: "yes", False: "no"}


@dataclass(frozen=True)
class Note:
    """What is said of each tree, or of the last one on behalf of all.

    Attributes:
        field: its name in JSON Lines, None where it stands there already.
        key: its name among the comments of CoNLL-U, None where it has no place there.
        values: one per tree, or a single one; None is unknown: `null` in JSON, no comment.
        form: how a comment shows a value.
    """

    field: str | None
    key: str | None
    values: Sequence[Value]
    form: str = "{}"

    @property
    def texts(self) -> list[str]:
        """The values as comments show them."""
        return [YES_NO[value] if value is True or value is False else self.form.format(value) for value in self.values]


@dataclass(frozen=True)
class Trees:
    """A sentence's trees.

    Attributes:
        record: the sentence as it was read.
        heads: (k, n) integers.
        notes: what is said of each tree.
        closing: what the last tree says on behalf of all.
    """

    record: Record
    heads: NDArray[np.int32]
    notes: Sequence[Note]
    closing: Sequence[Note] = ()


def log_prob_note(log_probs: NDArray[np.float64]) -> Note:
    """The logarithm of each tree's probability."""
    return Note("log_prob", "tree_logprob", log_probs.tolist(), "{:.6f}")


def to_jsonl(trees: Trees) -> bytes:
    """One object per tree: sent_id, sample (from 1), heads, and what the notes say.

    Without a call of a JSON encoder for every tree, which would cost more than drawing it.
    """
    notes = [note for note in trees.notes if note.field]
    template = '{{"sent_id":{},"sample":{},"heads":[{}]' + "".join(f',"{note.field}":{{}}' for note in notes)
    numerals = [str(node) for node in range(trees.heads.shape[1] + 1)]
    lines = map(
        template.format,
        repeat(_json(trees.record.sent_id)),
        range(1, len(trees.heads) + 1),
        (",".join(map(numerals.__getitem__, heads)) for heads in trees.heads.tolist()),
        *(_each(note.values) for note in notes),
    )
    closing = "".join(f',"{note.field}":{_json(note.values[0])}' for note in trees.closing)
    return ("}\n".join(lines) + closing + "}\n").encode()


def _json(value: object) -> str:
    return dump(value).decode()[:-1]


def _each(values: Sequence[Value]) -> list[str]:
    """Each value in JSON; floats as `json` writes them, without its function call for every one."""
    if all(type(value) is float and isfinite(value) for value in values):
        return list(map(repr, values))
    return _json(values)[1:-1].split(",")


def to_conllu(trees: Trees) -> bytes:
    """The sentence once per tree, as ``X/sample_3``: UD reserves the slash for several annotations of one sentence."""
    record = trees.record
    assert record.block is not None  # the command asks for CoNLL-U only where it was read
    sent_ids = [f"{record.sent_id}/sample_{rank}" for rank in range(1, len(trees.heads) + 1)]
    closing = {note.key: note.texts[0] for note in trees.closing if note.key and note.values[0] is not None}
    comments = {note.key: note.texts for note in trees.notes if note.key}
    return record.block.with_trees(trees.heads, sent_ids, comments, closing)


TO_BYTES: dict[str, Callable[[Trees], bytes]] = {"conllu": to_conllu, "jsonl": to_jsonl}
