"""Trees as output: a sentence's trees in CoNLL-U or JSON Lines, with notes on each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import repeat
from math import isfinite
from typing import Any

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.second_order import SecondOrder
from deptree_cli.io.conllu.blocks import Block, no_sentences
from deptree_cli.io.conllu.misc import filled, unused_mark
from deptree_cli.io.conllu.splicing import Deprels, with_trees
from deptree_cli.io.json_lines import dump

Value = int | float | bool | None

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
    """

    sent_id: str
    block: Block | None
    heads: Heads
    notes: Sequence[Note]
    closing: Sequence[Note] = ()
    deprels: Deprels | None = None
    tags: Tags | None = None
    given: Deprels | None = None


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


def to_jsonl(trees: Trees, style: Style = USUAL, ranked: bool = True) -> bytes:
    """One object per tree: sent_id, sample (from 1, if `ranked`), heads, deprels and tags if known, and the notes.

    Without a call of a JSON encoder for every tree, which would cost more than drawing it.
    """
    notes = [note for note in trees.notes if note.field]
    numerals = [str(node) for node in range(trees.heads.shape[1] + 1)]
    columns = {"heads": _lists(numerals, trees.heads)}
    for field, named in (("deprels", trees.deprels), ("tags", trees.tags)):
        if named:
            columns[field] = _lists(_quoted(named.names), named.index)
    sample = ',"sample":{}' if ranked else ""
    template = '{{"sent_id":{}' + sample + "".join(f',"{field}":[{{}}]' for field in columns)
    lines = map(
        (template + "".join(f',"{note.field}":{{}}' for note in notes)).format,
        repeat(_json(trees.sent_id)),
        *([range(1, len(trees.heads) + 1)] if ranked else []),
        *columns.values(),
        *(_each(note.values) for note in notes),
    )
    closing = "".join(f',"{note.field}":{_json(note.values[0])}' for note in trees.closing)
    return ("}\n".join(lines) + closing + "}\n").encode()


def _lists(names: Sequence[str], numbers: Heads) -> Iterator[str]:
    """What stands in the list of each tree: numbers (k, n) by their names."""
    return (",".join(map(names.__getitem__, row)) for row in numbers.tolist())


@cache
def _quoted(names: tuple[str, ...]) -> list[str]:
    return [_json(name) for name in names]


def _json(value: object) -> str:
    return dump(value).decode()[:-1]


def _each(values: Sequence[Value]) -> list[str]:
    """Each value in JSON; floats as `json` writes them, without its function call for every one."""
    if all(type(value) is float and isfinite(value) for value in values):
        return list(map(repr, values))
    return _json(values)[1:-1].split(",")


def to_conllu(trees: Trees, style: Style = USUAL) -> bytes:
    """The sentence once per tree, each under a name of its own."""
    if trees.block is None:
        raise no_sentences()
    sent_ids = style.sent_ids(trees.sent_id, len(trees.heads))
    closing = {note.key: note.texts[0] for note in trees.closing if note.key and note.values[0] is not None}
    comments = {note.key: note.texts for note in trees.notes if note.key}
    block, tags, mark = trees.block.fresh(), trees.tags, unused_mark(trees.block)
    if tags:
        block = block.with_column(tags.column, [mark.decode()] * block.n)
    data = with_trees(block, trees.heads, sent_ids, comments, closing, trees.deprels or trees.given, style.deps)
    return filled(data, mark, (tags.names[tag] for tag in tags.index.ravel().tolist())) if tags else data


TO_BYTES: dict[str, Callable[[Trees, Style], bytes]] = {"conllu": to_conllu, "jsonl": to_jsonl}
