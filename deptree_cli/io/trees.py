"""Trees as output: a sentence's trees in CoNLL-U or JSON Lines, with what is said of each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.sentence import Sentence
from deptree_cli.io.jsonl import dump
from deptree_cli.io.pairing import Record
from deptree_cli.io.splicing import Deprels, with_trees

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
        deprels: the labels, if they are known.
    """

    record: Record
    heads: NDArray[np.int32]
    notes: Sequence[Note]
    closing: Sequence[Note] = ()
    deprels: Deprels | None = None


@dataclass(frozen=True)
class Style:
    """How trees are written as CoNLL-U.

    Attributes:
        deps: what becomes of DEPS and empty nodes, one of `io.splicing.DEPS`.
        sent_id_format: the name of a sentence's k-th tree, from its `{id}` and `{k}`. UD reserves the slash for several
            annotations of one sentence.
    """

    deps: str = "drop"
    sent_id_format: str = "{id}/sample_{k}"

    def sent_ids(self, sent_id: str, size: int) -> list[str]:
        """The names of a sentence's trees."""
        return [self.sent_id_format.format(id=sent_id, k=rank) for rank in range(1, size + 1)]


USUAL = Style()


def deprels_of(sentence: Sentence, labels: NDArray[np.int32] | None) -> Deprels | None:
    """Labels by their names, from numbers (k, n) of the sentence's labels."""
    return None if sentence.labels is None or labels is None else Deprels(sentence.labels.names, labels)


def label_notes(sentence: Sentence, heads: NDArray[np.int32], labels: NDArray[np.int32] | None) -> list[Note]:
    """The logarithm of the probability of each tree's labels given the tree."""
    if sentence.labels is None or labels is None:
        return []
    log_probs = sentence.labels.log_probs_of(heads, labels)
    return [Note("label_log_prob", "label_logprob", log_probs.tolist(), "{:.6f}")]


def log_prob_note(log_probs: NDArray[np.float64]) -> Note:
    """The logarithm of each tree's probability."""
    return Note("log_prob", "tree_logprob", log_probs.tolist(), "{:.6f}")


def to_jsonl(trees: Trees, style: Style = USUAL) -> bytes:
    """One object per tree: sent_id, sample (from 1), heads, deprels if there are labels, and what the notes say.

    Without a call of a JSON encoder for every tree, which would cost more than drawing it.
    """
    notes = [note for note in trees.notes if note.field]
    numerals = [str(node) for node in range(trees.heads.shape[1] + 1)]
    columns = [_lists(numerals, trees.heads)]
    if trees.deprels:
        columns.append(_lists([_json(name) for name in trees.deprels.names], trees.deprels.index))
    template = '{{"sent_id":{},"sample":{},"heads":[{}]' + ',"deprels":[{}]' * (len(columns) - 1)
    lines = map(
        (template + "".join(f',"{note.field}":{{}}' for note in notes)).format,
        repeat(_json(trees.record.sent_id)),
        range(1, len(trees.heads) + 1),
        *columns,
        *(_each(note.values) for note in notes),
    )
    closing = "".join(f',"{note.field}":{_json(note.values[0])}' for note in trees.closing)
    return ("}\n".join(lines) + closing + "}\n").encode()


def _lists(names: Sequence[str], numbers: NDArray[np.int32]) -> Iterator[str]:
    """What stands in the list of each tree: numbers (k, n) by their names."""
    return (",".join(map(names.__getitem__, row)) for row in numbers.tolist())


def _json(value: object) -> str:
    return dump(value).decode()[:-1]


def _each(values: Sequence[Value]) -> list[str]:
    """Each value in JSON; floats as `json` writes them, without its function call for every one."""
    if all(type(value) is float and isfinite(value) for value in values):
        return list(map(repr, values))
    return _json(values)[1:-1].split(",")


def to_conllu(trees: Trees, style: Style = USUAL) -> bytes:
    """The sentence once per tree, each under a name of its own."""
    record = trees.record
    sent_ids = style.sent_ids(record.sent_id, len(trees.heads))
    closing = {note.key: note.texts[0] for note in trees.closing if note.key and note.values[0] is not None}
    comments = {note.key: note.texts for note in trees.notes if note.key}
    return with_trees(record.sentence, trees.heads, sent_ids, comments, closing, trees.deprels, style.deps)


TO_BYTES: dict[str, Callable[[Trees, Style], bytes]] = {"conllu": to_conllu, "jsonl": to_jsonl}
