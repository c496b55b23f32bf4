"""Trees as output: a sentence's trees in CoNLL-U or JSON Lines, with notes on each."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import repeat
from math import isfinite
from typing import Any

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads, Int
from deptree_cli.core.second_order import SecondOrder
from deptree_cli.io.conllu.blocks import Block, no_sentences
from deptree_cli.io.conllu.misc import entries_of, filled, unused_mark
from deptree_cli.io.conllu.splicing import Deprels, with_trees
from deptree_cli.io.json_lines import dump
from deptree_cli.io.lists import comma_lists, numerals

Value = int | float | bool | None

_NOTHING: Mapping[str, Any] = {}

YES_NO = {True: "yes", False: "no"}


@dataclass(frozen=True)
class Note:
    """Something to tell about each tree, or about the last one on behalf of all.

    Attributes:
        field: its name in JSON Lines, None where it stands there already.
        key: its name among the comments of CoNLL-U, None where it has no place there.
        values: one per tree, or a single one; None is unknown: `null` in JSON, no comment.
        template: how a comment shows a value: a template or a function.
    """

    field: str | None
    key: str | None
    values: Sequence[Value]
    template: str | Callable[[Any], str] = "{}"

    @property
    def is_known(self) -> bool:
        """Whether there is something to tell."""
        return self.values[0] is not None

    @property
    def texts(self) -> list[str]:
        """The values as comments show them."""
        shown = self.template.format if isinstance(self.template, str) else self.template
        return [YES_NO[value] if value is True or value is False else shown(value) for value in self.values]


@dataclass(frozen=True, eq=False)
class Tags:
    """The parts of speech of k trees.

    Attributes:
        column: that of CoNLL-U, ``upos`` or ``xpos``.
        names: the names of tags.
        index: (k, n), the number of each word's name.
    """

    column: str
    names: tuple[str, ...]
    index: Heads


@dataclass(frozen=True)
class Style:
    """How trees are written as CoNLL-U.

    Attributes:
        deps: what becomes of DEPS and empty nodes, one of `splicing.DEPS`.
        sent_id_format: the name of a sentence's k-th tree, from its `{id}` and `{k}`. UD reserves the slash for several
            annotations of one sentence.
    """

    deps: str = "drop"
    sent_id_format: str = "{id}/sample_{k}"

    def sent_ids(self, sent_id: str, size: int) -> list[str]:
        """The names of a sentence's trees."""
        return [self.sent_id_format.format(id=sent_id, k=rank) for rank in range(1, size + 1)]


USUAL = Style()


@dataclass(frozen=True)
class Trees:
    """A sentence's trees.

    Attributes:
        sent_id: the sentence's name.
        block: the CoNLL-U sentence, None where there is none.
        heads: (k, n).
        notes: on each tree.
        closing: notes on the last tree, on behalf of all.
        deprels: the labels, if they are known.
        tags: parts of speech, if they differ from those of the sentence.
        given: labels that some words were given, for CoNLL-U where there are no others.
        ranked: whether they are one after another, and not the one tree.
        misc: probabilities of each tree's words, (k, n), by their keys in MISC of CoNLL-U.
    """

    sent_id: str
    block: Block | None
    heads: Heads
    notes: Sequence[Note]
    closing: Sequence[Note] = ()
    deprels: Deprels | None = None
    tags: Tags | None = None
    given: Deprels | None = None
    ranked: bool = True
    misc: Mapping[str, Float] = field(default_factory=dict)

    def to_jsonl(self) -> bytes:
        """One object per tree: sent_id, sample (from 1, if `ranked`), heads, deprels and tags if known, the notes."""
        size, n = self.heads.shape
        named = {name: each for name, each in (("deprels", self.deprels), ("tags", self.tags)) if each}
        ranks = range(1, size + 1) if self.ranked else None
        lines = json_lines(repeat(self.sent_id, size), ranks, self.heads.ravel(), np.full(size, n), self.notes, named)
        closing = "".join(f',"{note.field}":{_json(note.values[0])}' for note in self.closing)
        return ("}\n".join(lines) + closing + "}\n").encode()

    def to_conllu(self, style: Style = USUAL) -> bytes:
        """The sentence once per tree, each under a name of its own."""
        if self.block is None:
            raise no_sentences()
        sent_ids = style.sent_ids(self.sent_id, len(self.heads))
        closing = {note.key: note.texts[0] for note in self.closing if note.key and note.is_known}
        comments = {note.key: note.texts for note in self.notes if note.key and note.is_known}
        block, mark = self.block.fresh(), b""
        if self.tags:
            mark = unused_mark(block)
            block = block.with_column(self.tags.column, [mark.decode()] * block.n)
        labels, entries = self.deprels or self.given, entries_of(self.misc)
        data = with_trees(block, self.heads, sent_ids, comments, closing, labels, style.deps, entries)
        if self.tags:
            return filled(data, mark, map(self.tags.names.__getitem__, self.tags.index.ravel().tolist()))
        return data


def deprels_of(distribution: ArcFactored | SecondOrder, labels: Heads | None) -> Deprels | None:
    """Labels by their names, from numbers (k, n) of the sentence's labels."""
    return None if distribution.labels is None or labels is None else Deprels(distribution.labels.names, labels)


def label_notes(distribution: ArcFactored | SecondOrder, heads: Heads, labels: Heads | None) -> list[Note]:
    """The logarithm of the probability of each tree's labels given the tree."""
    if distribution.labels is None or labels is None:
        return []
    log_probs = distribution.labels.log_probs_of(heads, labels)
    return [Note("label_log_prob", "label_logprob", log_probs.tolist(), "{:.6f}")]


def log_prob_note(log_probs: Float) -> Note:
    """The logarithm of each tree's probability."""
    return Note("log_prob", "tree_logprob", log_probs.tolist(), "{:.6f}")


def json_lines(
    sent_ids: Iterable[str],
    ranks: Iterable[int] | None,
    heads: Heads,
    sizes: Int,
    notes: Sequence[Note],
    named: Mapping[str, Deprels | Tags] = _NOTHING,
) -> Iterator[str]:
    """Yield an object for each tree, without its closing brace; no call of a JSON encoder for each, which costs more
    than drawing it.

    Args:
        sent_ids: of each tree.
        ranks: its number among those of its sentence; None where there is one only.
        heads: of all trees, one after another.
        sizes: (L,), the number of words of each tree.
        notes: with a value for each tree.
        named: names of words beside their heads.
    """
    columns = {"heads": comma_lists(heads, sizes, numerals(int(sizes.max(initial=0))))}
    for name, each in named.items():
        columns[name] = comma_lists(each.index.ravel(), sizes, _quoted(each.names))
    notes = [note for note in notes if note.field]
    template = '{{"sent_id":{}' + ("" if ranks is None else ',"sample":{}')
    template += "".join(f',"{name}":[{{}}]' for name in columns) + "".join(f',"{note.field}":{{}}' for note in notes)
    values = (each_json(note.values) for note in notes)
    return map(template.format, map(_quote, sent_ids), *([] if ranks is None else [ranks]), *columns.values(), *values)


@cache
def _quoted(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(_quote, names))


# A text in JSON, as `dump` writes it.
_quote = json.encoder.encode_basestring


def _json(value: object) -> str:
    return dump(value).decode()[:-1]


def each_json(values: Sequence[Value]) -> list[str]:
    """Each value in JSON; floats as `json` writes them, without its function call for every one."""
    if all(type(value) is float and isfinite(value) for value in values):
        return list(map(repr, values))
    return _json(values)[1:-1].split(",")


class AsTrees:
    """A result that becomes trees with notes when these are written: arrays of heads go without."""

    def trees(self) -> Trees:
        """The trees."""
        raise NotImplementedError

    def to_jsonl(self) -> bytes:
        """See `Trees`."""
        return self.trees().to_jsonl()

    def to_conllu(self, style: Style) -> bytes:
        """See `Trees`."""
        return self.trees().to_conllu(style)
