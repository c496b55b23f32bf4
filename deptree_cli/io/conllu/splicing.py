"""Trees as CoNLL-U: a sentence's own bytes, once for each tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptree_cli.io.conllu.blocks import UNLABELLED, Block
from deptree_cli.io.conllu.columns import no_column
from deptree_cli.io.conllu.notes import GENERATOR, keys_in
from deptree_cli.kernels.text.columns import BASIC

# What becomes of DEPS beside another tree, numbered as in kernels/text/columns.py.
DEPS = ("drop", "basic", "keep")

_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, eq=False)
class Deprels:
    """The labels of k trees.

    Attributes:
        names: the names of labels.
        index: (k, n) int32, the number of each word's name; -1 for a word without, which is treated as in `with_trees`
            without labels.
    """

    names: tuple[str, ...]
    index: NDArray[np.int32]

    @classmethod
    def given(cls, labels: Sequence[str | None], trees: int) -> Deprels | None:
        """Labels that words have in each of so many trees, None for words of any label; None if all are."""
        names = tuple(dict.fromkeys(label for label in labels if label is not None))
        numbers = {name: number for number, name in enumerate(names)}
        row = [-1 if label is None else numbers[label] for label in labels]
        return cls(names, np.tile(np.array(row, dtype=np.int32), (trees, 1))) if names else None


class Packed(NamedTuple):
    """Pieces laid end to end, and where each begins and the last ends."""

    pool: NDArray[np.uint8]
    cuts: NDArray[np.int64]

    @property
    def size(self) -> int:
        return int(self.cuts[-1] - self.cuts[0]) + len(self.cuts)

    def part(self, start: int, stop: int) -> Packed:
        return Packed(self.pool, self.cuts[start : stop + 1])


class Spliced(NamedTuple):
    """The trees of a sentence as CoNLL-U, and what became of the sentence's own annotation.

    Attributes:
        data: the bytes.
        own_labels: how many labels are those that the sentence had, beside heads of these trees.
        is_reduced: whether DEPS or empty nodes are missing beside one of the trees, because it is another one.
        empty_nodes: how many of the sentence's are missing.
        left_out: what has no column in the file: ``HeadProb (MISC)``, ``labels (DEPREL)``.
    """

    data: bytes
    own_labels: int = 0
    is_reduced: bool = False
    empty_nodes: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def losses(self) -> Iterator[str]:
        """What the user must hear of the sentence's own annotation, in lines that are the same for all sentences."""
        if self.own_labels:
            yield "labels are copied from the input where the head is unchanged: not predicted, so LAS means nothing"
        if self.is_reduced:
            yield "DEPS are removed where the tree is another one: they describe that of the input"
        if self.empty_nodes:
            yield "empty nodes are removed where the tree is another one"
        yield from map(not_written, self.left_out)


def not_written(what: str) -> str:
    """The line about something that has no column in a file of CoNLL-U Plus."""
    return f"not written, because # global.columns names no column for it: {what}"


def with_trees(
    block: Block,
    heads: NDArray[np.int32],
    sent_ids: Sequence[str],
    comments: Mapping[str, Sequence[str]] = _NOTHING,
    closing: Mapping[str, str] = _NOTHING,
    deprels: Deprels | None = None,
    deps: str = "drop",
    entries: Sequence[str] | Packed = (),
) -> Spliced:
    """The block once for each tree: HEAD, DEPREL and DEPS of its words change, all else stays.

    A byte order mark and empty lines in front stay where they are; the last copy ends as the block did. Of several
    copies the first alone keeps what says how the file was made (``# generator``), in front of its other comments.

    Args:
        heads: (k, n), 0 = ROOT.
        sent_ids: k names, in place of the sentence's own or, where it has none, in front of its comments.
        comments: for each key k values of a comment ``# key = value`` behind the others; older ones of the key go.
        closing: the same for the last tree only.
        deprels: the labels. Without them a word whose HEAD is what it was keeps its DEPREL; another one is `dep`;
            `root` stands exactly where HEAD is 0.
        deps: `drop` DEPS and empty nodes beside a tree that is another one than the block's, or labelled otherwise;
            `basic`: without empty nodes, and DEPS say the tree again; `keep` both as they are.
        entries: what is added to MISC of every word, ``Key=value`` or several with bars between them, tree after tree;
            may be packed, with that of other sentences.

    Raises DeptreeError if the file has no column HEAD.
    """
    newline = block.newline
    made_by = block.generators if len(heads) > 1 else b""
    block = block.without({GENERATOR}) if made_by else block
    if comments or closing:
        block = block.without({key.encode() for key in (*comments, *closing)})
    columns = [(repeat(f"# {key} = "), texts, repeat(newline)) for key, texts in comments.items()]
    notes = list(map("".join, zip(*chain.from_iterable(columns), strict=False))) if comments else [""] * len(heads)
    notes[-1] += "".join(f"# {key} = {value}{newline}" for key, value in closing.items())
    ids = sent_ids if block.id_span else [f"# sent_id = {sent_id}{newline}" for sent_id in sent_ids]
    ids_and_notes = packed(list(chain.from_iterable(zip(ids, notes, strict=True))))
    more = entries if isinstance(entries, Packed) else packed(entries) if entries else _NO_ENTRIES
    found = _spliced(block, heads, ids_and_notes, more, deprels, DEPS.index(deps))
    return found._replace(data=found.data[: block.start] + made_by + found.data[block.start :]) if made_by else found


def _left_out(block: Block, deprels: Deprels | None, deps: int, entries: Packed) -> tuple[str, ...]:
    """What has no column in the file; entries of MISC by their keys, which all words have."""
    lacking = []
    if deprels and "deprel" not in block.columns:
        lacking.append("labels (DEPREL)")
    if deps == BASIC and "deps" not in block.columns:
        lacking.append("arcs (DEPS)")
    if len(entries.cuts) > 1 and "misc" not in block.columns:
        first, end = entries.cuts[:2].tolist()
        lacking += [f"{key} (MISC)" for key in keys_in([entries.pool[first:end].tobytes()])]
    return tuple(lacking)


def _spliced(
    block: Block,
    heads: NDArray[np.int32],
    ids_and_notes: Packed,
    entries: Packed,
    deprels: Deprels | None,
    deps: int,
) -> Spliced:
    """The block once for each tree; ids_and_notes: the id and the notes of each tree, in turn."""
    if "head" not in block.columns:
        raise no_column("head", block.columns, "trees", block.place)
    id_span = block.id_span or (block.start, block.start)
    labels, (names, longest) = (deprels.index, _names(deprels.names)) if deprels else (_NO_LABELS, _names(()))
    gap = _GAPS[block.newline, block.ends_with_newline]
    # An arc that stays may be written into DEPS once more, so its bytes count twice.
    size = 2 * len(block.raw) + len(gap) + block.n * 2 * (_DIGITS + longest)
    out = np.empty(ids_and_notes.size + entries.size + len(heads) * size, dtype=np.uint8)
    pieces = tuple(ids_and_notes), tuple(entries)
    written, own_labels, reduced = _splice()(
        tuple(block.template), id_span, *pieces, heads, labels, names, deps, gap, out
    )
    left_out = _left_out(block, deprels, deps, entries) if block.chunk.header else ()
    return Spliced(out[:written].tobytes(), own_labels, reduced > 0, block.empty_nodes if reduced else 0, left_out)


def packed(texts: Sequence[str]) -> Packed:
    whole = "".join(texts)
    pool = whole.encode()
    sizes = map(len, texts) if len(pool) == len(whole) else (len(text.encode()) for text in texts)
    return Packed(np.frombuffer(pool, dtype=np.uint8), np.array([0, *accumulate(sizes)], dtype=np.int64))


@cache
def _names(names: tuple[str, ...]) -> tuple[tuple[NDArray[np.uint8], NDArray[np.int64]], int]:
    """The names of labels behind those for words without a label, and the length of the longest."""
    found = packed(["root", UNLABELLED, *names])
    return (found.pool, found.cuts), int(np.diff(found.cuts).max())


_NO_ENTRIES = packed(())
_NO_LABELS = np.empty((0, 0), dtype=np.int32)
_DIGITS = 12  # of a head, and the two tabs

# What stands between two trees, by the newline and whether the last line has one: what it lacks, and an empty line.
_GAPS = {
    (newline, whole): np.frombuffer(newline.encode() * (2 - whole), dtype=np.uint8)
    for newline in ("\n", "\r\n")
    for whole in (True, False)
}


@cache
def _splice() -> Callable[..., tuple[int, int, int]]:
    from deptree_cli.kernels.text.splicing import splice

    return splice
