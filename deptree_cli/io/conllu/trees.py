"""Trees with notes on them as JSON Lines, of many lines at once, and as CoNLL-U."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from io import BytesIO
from itertools import chain, islice, pairwise, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Array, Float, Heads, Int, Integers, smallest
from deptree_cli.core.errors import printable
from deptree_cli.io.conllu import USUAL as USUAL
from deptree_cli.io.conllu import Style as Style
from deptree_cli.io.json_lines import dump

if TYPE_CHECKING:
    from deptree_cli.core.arc_factored import ArcFactored
    from deptree_cli.core.blocks import RaggedTrees
    from deptree_cli.core.rule_search import GivenUp
    from deptree_cli.io.conllu.blocks import Block
    from deptree_cli.io.conllu.splicing import Deprels, Spliced

Value = int | float | bool | tuple[str, ...] | None

# Trees whose lines are made at once.
BLOCK = 4096

YES_NO = {True: "yes", False: "no"}


class Note(NamedTuple):
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
        return self.values[0] is not None

    @property
    def texts(self) -> list[str]:
        shown = self.template.format if isinstance(self.template, str) else self.template
        return [YES_NO[value] if value is True or value is False else shown(value) for value in self.values]


@dataclass(frozen=True, eq=False)
class Tags:
    """The parts of speech of k trees, in ``upos`` or ``xpos``: names, and the number of each word's name, (k, n)."""

    column: str
    names: tuple[str, ...]
    index: Heads


@dataclass(eq=False)  # not frozen, which costs a microsecond a sentence
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
        entries: what MISC of CoNLL-U has of each tree's words, as of `with_trees`.
    """

    sent_id: str
    block: Block | None
    heads: Integers
    notes: Sequence[Note]
    closing: Sequence[Note] = ()
    deprels: Deprels | None = None
    tags: Tags | None = None
    given: Deprels | None = None
    ranked: bool = True
    entries: Sequence[str] = ()

    def to_jsonl(self) -> bytes:
        """One object per tree: sent_id, sample (from 1, if `ranked`), heads, deprels and tags if known, the notes."""
        out = BytesIO()  # joining pieces would take the memory of a million trees twice
        for start in range(0, len(self.heads), BLOCK):
            out.write(self._lines(slice(start, start + BLOCK)))
        data = out.getvalue()
        closing = [
            b',"%b":%b' % (note.field.encode(), dump(note.values[0])[:-1]) for note in self.closing if note.field
        ]
        return b"".join([data.removesuffix(b"}\n"), *closing, b"}\n"]) if closing else data

    def _lines(self, part: slice) -> bytes:
        heads = self.heads[part].astype(np.int32, copy=False)
        size, n = heads.shape
        ranks = range(part.start + 1, part.start + 1 + size) if self.ranked else None
        notes = [note._replace(values=note.values[part]) for note in self.notes]
        beside = {"deprels": self.deprels, "tags": self.tags}
        named = {name: (each.names, each.index[part]) for name, each in beside.items() if each}
        lines = json_lines(repeat(quoted(self.sent_id)), ranks, heads.ravel(), np.full(size, n), notes, named)
        return b"".join(chain.from_iterable(lines))

    def to_conllu(self, style: Style = USUAL) -> Spliced:
        from deptree_cli.io.conllu.splicing import with_trees

        if self.block is None:
            from deptree_cli.io.conllu.columns import no_sentences

            raise no_sentences()
        sent_ids = style.sent_ids(self.sent_id, len(self.heads))
        comments = {note.key: note.texts for note in self.notes if note.key and note.is_known}
        if self.closing:
            others = [""] * (len(self.heads) - 1)
            comments |= {note.key: others + note.texts for note in self.closing if note.key and note.is_known}
        block, mark = self.block.fresh(), b""
        if self.tags:
            from deptree_cli.io.conllu.columns import filled, unused_mark

            mark = unused_mark(block.raw)
            block = block.with_column(self.tags.column, [mark.decode()] * block.n)
        labels, heads = self.deprels or self.given, self.heads.astype(np.int32, copy=False)
        found = with_trees(block, heads, sent_ids, comments, labels, style.deps, self.entries)
        if self.tags:
            tags = map(self.tags.names.__getitem__, self.tags.index.ravel().tolist())
            return found._replace(data=filled(found.data, mark, tags))
        return found


def deprels_of(distribution: ArcFactored, labels: Heads | None) -> Deprels | None:
    from deptree_cli.io.conllu.splicing import Deprels

    return None if distribution.labels is None or labels is None else Deprels(distribution.labels.names, labels)


def label_notes(distribution: ArcFactored, heads: Integers, labels: Heads | None) -> list[Note]:
    if distribution.labels is None or labels is None:
        return []
    log_probs = distribution.labels.log_probs_of(heads, labels)
    return [Note("label_log_prob", "label_logprob", log_probs.tolist(), "{:.6f}")]


def log_prob_note(log_probs: Float) -> Note:
    return Note("log_prob", "tree_logprob", log_probs.tolist(), "{:.6f}")


def rounded(share: float) -> float:
    return float(f"{share:.4g}")


def acceptance_note(acceptance: float, trees: int) -> Note:
    return Note("acceptance", "acceptance", [rounded(acceptance)] * trees, "{:.4g}")


def relaxed_notes(given_up: GivenUp | None, trees: int) -> list[Note]:
    """For each of this many trees the rules that were given up, if some were, and whether fewer were not enough."""
    names, fewest = given_up or (None, None)
    listed = Note("relaxed", "relaxed", [names] * trees, lambda names: printable("; ".join(names)))
    return [listed, Note("relaxed_fewest", "relaxed_fewest", [fewest] * trees)]


def json_lines(
    sent_ids: Iterable[bytes],
    ranks: Iterable[int] | None,
    heads: Heads,
    sizes: Int,
    notes: Sequence[Note],
    named: Mapping[str, tuple[tuple[str, ...], Heads]],
) -> Iterator[tuple[bytes, ...]]:
    """Yield the pieces of a line for each tree; no call of a JSON encoder for each, which costs more than drawing it.

    `sent_ids` (as `quoted`), `ranks` (None where there is one tree of a sentence only), `sizes` (its number of words)
    and the values of `notes` are of each tree; `heads` of all, one after another. `named`: what words have beside their
    heads: all names, and their numbers.
    """
    pieces: list[Iterable[bytes]] = [repeat(b'{"sent_id":'), sent_ids]
    if ranks is not None:
        pieces += [repeat(b',"sample":'), map(b"%d".__mod__, ranks)]
    most: tuple[str, ...] | int = int(sizes.max(initial=0))
    for name, (names, index) in {"heads": (most, heads), **named}.items():
        pieces += [repeat(b',"%b":[' % name.encode()), comma_lists(index.ravel(), sizes, names), repeat(b"]")]
    for note in notes:
        if note.field:
            pieces += [repeat(b',"%b":' % note.field.encode()), each_json(note.values)]
    return zip(*pieces, repeat(b"}\n"), strict=False)


def quoted(text: str) -> bytes:
    """A text in JSON, as `dump` writes it."""
    return json.encoder.encode_basestring(text).encode()


def comma_lists(index: Integers, sizes: Int, names: tuple[str, ...] | int) -> list[bytes]:
    """The names of each line in JSON, with commas between them; `index`: their numbers, `sizes` of them a line."""
    from deptree_cli.kernels.text import write_lists  # loads kernels: when there is work

    text, ends, longest = _table(names)
    out, stops = np.empty(len(index) * (longest + 1), dtype=np.uint8), np.empty(len(sizes), dtype=np.int64)
    used = write_lists(index, sizes, text, ends, out, stops)
    found = out[:used].tobytes()
    return [found[start:stop] for start, stop in pairwise([0, *stops.tolist()])]


@lru_cache(1024)
def _table(names: tuple[str, ...] | int) -> tuple[Array, Int, int]:
    """The bytes of all names, or of the numbers up to one, where each ends, and how many the longest has."""
    texts = list(map(quoted, names)) if isinstance(names, tuple) else [b"%d" % number for number in range(names + 1)]
    sizes = [len(text) for text in texts]
    return np.frombuffer(b"".join(texts), dtype=np.uint8), np.cumsum(sizes), max(sizes)


def each_json(values: Sequence[Value]) -> list[bytes]:
    if any(isinstance(value, tuple) for value in values):
        return [dump(value)[:-1] for value in values]
    return dump(values)[1:-2].split(b",")


class AsTrees:
    """A result that becomes trees with notes when these are written: arrays of heads go without."""

    def trees(self) -> Trees:
        raise NotImplementedError

    def to_jsonl(self) -> bytes:
        return self.trees().to_jsonl()

    def to_conllu(self, style: Style) -> Spliced:
        return self.trees().to_conllu(style)


@dataclass(frozen=True, eq=False)
class TreesOfMany:
    """K trees of each of some sentences (a `Sentence` each), as of `Trees`; their lines of JSON are made at once.

    `make_notes` makes the notes on trees, with a value for each tree of all sentences; `make_misc` the probabilities of
    words, one after another.
    """

    sentences: Sequence[Any]
    heads: RaggedTrees
    make_notes: Callable[[], Sequence[Note]]
    ranked: bool = True
    make_misc: Callable[[], Mapping[str, Float]] = dict

    def each(self) -> list[AsTrees]:
        return [TreesOfOne(self, number) for number in range(len(self.sentences))]

    @cached_property
    def trees(self) -> list[Trees]:
        from deptree_cli.io.conllu.columns import entries_of

        size, found, start = self.heads.size, list[Trees](), 0
        notes, entries = self.make_notes(), entries_of(self.make_misc())
        for at, (sentence, heads) in enumerate(zip(self.sentences, self.heads, strict=True)):
            part, words = slice(at * size, (at + 1) * size), slice(start, start := start + heads.size)
            own = [Note(field, key, values[part], template) for field, key, values, template in notes]
            found.append(
                Trees(sentence.sent_id, sentence.block, heads, own, ranked=self.ranked, entries=entries[words])
            )
        return found

    @cached_property
    def lines(self) -> list[bytes]:
        size, number = self.heads.size, len(self.sentences)
        sent_ids = chain.from_iterable(repeat(quoted(each.sent_id), size) for each in self.sentences)
        ranks = list(range(1, size + 1)) * number if self.ranked else None
        lines = json_lines(sent_ids, ranks, self.heads.heads, self.heads.lengths.repeat(size), self.make_notes(), {})
        return [b"".join(chain.from_iterable(islice(lines, size))) for _ in range(number)]


@dataclass(frozen=True, eq=False)
class TreesOfOne(AsTrees):
    of: TreesOfMany
    number: int

    def to_jsonl(self) -> bytes:
        return self.of.lines[self.number]

    def trees(self) -> Trees:
        return self.of.trees[self.number]

    def arrays(self) -> list[tuple[str, Integers, str]]:
        heads = self.of.heads.of(self.number)
        return [(self.of.sentences[self.number].sent_id, smallest(heads if self.of.ranked else heads[0]), "")]
