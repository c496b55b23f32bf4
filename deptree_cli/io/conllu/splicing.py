"""Trees as CoNLL-U: a sentence's own bytes, once for each tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from deptree_cli.io.conllu import DEPS
from deptree_cli.io.conllu.columns import (
    GENERATOR,
    OLD_DEPREL,
    OLD_HEAD,
    UNLABELLED,
    decoded,
    is_signature,
    key_of,
    keys_in,
    no_column,
)
from deptree_cli.kernels.columns import BASIC

if TYPE_CHECKING:
    from deptree_cli.io.conllu.blocks import Block


_NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, eq=False)
class Deprels:
    """The labels of k trees: names, and the number of each word's name, (k, n) int32; of a word without one it is -1,
    and the word is treated as in `with_trees` without labels."""

    names: tuple[str, ...]
    index: NDArray[np.int32]

    @classmethod
    def given(cls, labels: Sequence[str | None], trees: int) -> Deprels | None:
        """Labels that words have in each of this many trees, None for words of any label; None if all are."""
        names = tuple(dict.fromkeys(label for label in labels if label is not None))
        numbers = {name: number for number, name in enumerate(names)}
        row = [-1 if label is None else numbers[label] for label in labels]
        return cls(names, np.tile(np.array(row, dtype=np.int32), (trees, 1))) if names else None


# Pieces laid end to end, and where each begins and the last ends.
Packed = tuple[NDArray[np.uint8], NDArray[np.int64]]


class Spliced(NamedTuple):
    """The bytes of the trees of a sentence, and what became of the sentence's own annotation.

    `own_labels` are those that it had, beside heads of these trees. If one of the trees `is_reduced`, DEPS or this many
    empty nodes are missing beside it. `left_out` has no column in the file: ``HeadProb (MISC)``, ``labels (DEPREL)``.
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
            yield "DEPS are removed where the tree changed: they describe the old one"
        if self.empty_nodes:
            yield "empty nodes are removed where the tree changed"
        yield from map(not_written, self.left_out)


def not_written(what: str) -> str:
    return f"not written, because # global.columns names no column for it: {what}"


@cache
def _splice() -> Callable[..., Any]:
    from deptree_cli.kernels.text import splice  # loads kernels: when there is work

    return splice


def with_trees(
    block: Block,
    heads: NDArray[np.int32],
    sent_ids: Sequence[str],
    comments: Mapping[str, Sequence[str]] = _NOTHING,
    deprels: Deprels | None = None,
    deps: str = "drop",
    entries: Sequence[str] = (),
) -> Spliced:
    """The block once for each tree: HEAD, DEPREL and DEPS of its words change, all else stays.

    A byte order mark and empty lines in front stay where they are; the last copy ends as the block did. Of several
    copies the first alone keeps what says how the file was made (``# generator``), in front of its other comments.

    Args:
        heads: (k, n), 0 = ROOT.
        sent_ids: k names, in place of the sentence's own or, where it has none, in front of its comments; empty: none.
        comments: for each key k values of a comment ``# key = value`` behind the others, an empty one is not written;
            older ones of the key go.
        deprels: the labels. Without them a word whose HEAD is what it was keeps its DEPREL; another one is `dep`;
            `root` stands exactly where HEAD is 0.
        deps: `drop` DEPS and empty nodes beside a tree that is another one than the block's, or labelled otherwise;
            `basic`: without empty nodes, and DEPS say the tree again; `keep` both as they are.
        entries: what is added to MISC of every word, ``Key=value`` or several with bars between them, tree after tree.

    Raises DeptreeError if the file has no column HEAD.
    """
    newline = block.newline
    made_by = b"".join(each for each in block.comments if key_of(each) == GENERATOR) if len(heads) > 1 else b""
    if gone := {key.encode() for key in comments} | ({GENERATOR} if made_by else set()):
        block = block.without(gone)
    columns = [[f"# {key} = {text}{newline}" * bool(text) for text in texts] for key, texts in comments.items()]
    notes = list(map("".join, zip(*columns, strict=True))) if comments else [""] * len(heads)
    ids = sent_ids if block.id_span else [f"# sent_id = {each}{newline}" * bool(each) for each in sent_ids]
    ids_and_notes = packed(list(chain.from_iterable(zip(ids, notes, strict=True))))
    more = packed(entries) if entries else _NO_ENTRIES
    if "head" not in block.columns:
        raise no_column("head", block.columns, "trees", block.place)
    places = block.template
    id_span = block.id_span or (places.comments, places.comments)
    labels, (names, longest) = (deprels.index, _names(deprels.names)) if deprels else (_NO_LABELS, _names(()))
    # between two trees what the last line lacks, and an empty line
    gap = np.frombuffer(newline.encode() * (2 - block.raw.endswith(b"\n", 0, places.rows_end)), dtype=np.uint8)
    # An arc that stays may be written into DEPS once more, so its bytes count twice.
    size = 2 * len(block.raw) + len(gap) + block.n * 2 * (_DIGITS + longest)
    out = np.empty(
        sum(len(pool) + len(cuts) for pool, cuts in (ids_and_notes, more)) + len(heads) * size, dtype=np.uint8
    )
    pieces, number = (ids_and_notes, more), DEPS.index(deps)
    written, own_labels, reduced = _splice()(tuple(places), id_span, *pieces, heads, labels, names, number, gap, out)
    left_out = _left_out(block, deprels, number, more) if block.chunk.header else ()
    data = out[:written].tobytes()
    if made_by:
        data = data[: places.comments] + made_by + data[places.comments :]
    return Spliced(data, own_labels, reduced > 0, block.empty_nodes if reduced else 0, left_out)


def _left_out(block: Block, deprels: Deprels | None, deps: int, entries: Packed) -> tuple[str, ...]:
    """What has no column in the file; entries of MISC by their keys, which all words have."""
    lacking = ["labels (DEPREL)"] * bool(deprels and "deprel" not in block.columns)
    lacking += ["arcs (DEPS)"] * (deps == BASIC and "deps" not in block.columns)
    pool, cuts = entries
    if len(cuts) > 1 and "misc" not in block.columns:
        lacking += [f"{key} (MISC)" for key in keys_in([pool[: cuts[1]].tobytes()])]
    return tuple(lacking)


def packed(texts: Sequence[str]) -> Packed:
    whole = "".join(texts)
    pool = whole.encode()
    sizes = map(len, texts) if len(pool) == len(whole) else (len(text.encode()) for text in texts)
    return np.frombuffer(pool, dtype=np.uint8), np.array([0, *accumulate(sizes)], dtype=np.int64)


@cache
def _names(names: tuple[str, ...]) -> tuple[Packed, int]:
    """The names of labels behind those for words without a label, and the length of the longest."""
    found = packed(["root", UNLABELLED, *names])
    return found, int(np.diff(found[1]).max())


_NO_ENTRIES = packed(())
_NO_LABELS = np.empty((0, 0), dtype=np.int32)
_DIGITS = 12  # of a head, and the two tabs


# What stands in a column that says nothing.
NOTHING = ("_", "")

# A bar would end an entry of MISC.
_BAR = str.maketrans({"|": r"\p"})


class Change(NamedTuple):
    """A word, from 1 on, that has another head or label than it was given; a label is empty where there is none.

    The old ones are as they were written, of any text; of `NOTHING` where it was for us to choose.
    """

    word: int
    head: int
    label: str
    old_head: str
    old_label: str

    @property
    def moved(self) -> bool:
        return self.old_head not in NOTHING and self.old_head != str(self.head)

    @property
    def renamed(self) -> bool:
        return self.old_label not in NOTHING and self.old_label != self.label

    @property
    def filled(self) -> bool:
        return self.old_head in NOTHING or (self.old_label in NOTHING and self.label not in NOTHING)

    @property
    def note(self) -> str:
        """What MISC says of what it was; empty if it was nothing."""
        entries = [f"{OLD_HEAD}={self.old_head}"] * self.moved + [f"{OLD_DEPREL}={self.old_label}"] * self.renamed
        return "|".join(entry.translate(_BAR) for entry in entries)


def changes_of(block: Block, heads: Iterable[int], labels: Iterable[str]) -> list[Change]:
    """The words whose head or label is not what the sentence has; one without a label keeps what it has."""
    found, given = list[Change](), zip(block.heads, block.column("head"), block.column("deprel"), strict=True)
    labels = labels if "deprel" in block.columns else [""] * block.n
    for word, (head, label, (old, old_head, old_label)) in enumerate(zip(heads, labels, given, strict=True), 1):
        if (label and label != old_label) or old != head:  # as a number: zeros in front do not make another head
            found.append(Change(word, head, label or ("" if old_label in NOTHING else old_label), old_head, old_label))
    return found


def mended(block: Block, changes: Sequence[Change], comments: Mapping[str, str]) -> tuple[bytes, int, Sequence[str]]:
    """The sentence with changes, and with comments ``# key = value``; notes of earlier commands on its tree go then.

    DEPS of a changed word that held its basic arc and no other hold the new one. If they held more, nobody knows what
    the rest would be of another head, and they hold the new arc alone: without one the enhanced graph would fall apart.

    Returns its bytes; how many words lost arcs of DEPS that were not their basic ones; and what has no column in the
    file: ``OldHead (MISC)``.
    """
    changed, reduced, left_out, made_by = block, 0, list[str](), list[bytes]()
    if changes:
        changed, reduced = _with_arcs(block.fresh(), changes)
        notes = {each.word: note for each in changes if (note := each.note)}
        made_by = [each for each in block.comments if is_signature(each)]
        if "misc" in block.columns:
            changed = changed.noting(notes)
        else:
            left_out = [f"{key} (MISC)" for key in keys_in(note.encode() for note in notes.values())]
    lines = {key.encode(): f"# {key} = {value}{block.newline}".encode() for key, value in comments.items()}
    own = [lines.pop(key_of(each), each) for each in changed.comments]  # in the place of those of their keys
    raw, places = changed.raw, changed.template
    data = b"".join([raw[: places.comments], *made_by, *own, *lines.values(), raw[places.rows_start :]])
    return data, reduced, left_out


def _with_arcs(block: Block, changes: Sequence[Change]) -> tuple[Block, int]:
    """The sentence with the heads, labels and DEPS of changes, and how many words lost arcs of DEPS."""
    heads, labels, cells = block.column("head"), block.column("deprel"), block.cells("id", "deps")
    deps = {number.decode(): decoded(arcs, block.place) for number, arcs in cells if b"-" not in number}
    before = dict(deps)
    for each in changes:
        heads[each.word - 1], labels[each.word - 1] = str(each.head), each.label or "_"
        word = str(each.word)
        if deps[word] not in NOTHING and (each.moved or each.renamed):  # they say something, of the old arc
            deps[word] = f"{each.head}:{each.label or '_'}"
    changed = block.with_column("head", heads).with_column("deprel", labels)
    if deps != before and not _unreached(before):
        for word in _unreached(deps):
            if word.isdigit():
                deps[word] = f"{heads[int(word) - 1]}:{labels[int(word) - 1]}"
    words = [word for word in deps if word.isdigit()]
    basic = {str(each.word): f"{each.old_head}:{each.old_label}" for each in changes}
    reduced = sum(deps[word] != before[word] != basic.get(word) for word in words)
    return (changed.with_column("deps", [deps[word] for word in words]) if deps != before else changed), reduced


def _unreached(deps: Mapping[str, str]) -> list[str]:
    """The nodes of an enhanced graph to which no path leads from ROOT; all nodes if there is no graph."""
    children: dict[str, list[str]] = {}
    for node, arcs in deps.items():
        for arc in arcs.split("|") if arcs not in NOTHING else ():
            children.setdefault(arc.partition(":")[0], []).append(node)
    seen, waiting = {"0"}, ["0"]
    while waiting:
        new = {*children.get(waiting.pop(), ())} - seen
        seen |= new
        waiting += new
    return [node for node in deps if node not in seen]
