"""Mended trees in CoNLL-U: new heads and labels in a sentence's own bytes, beside notes of what they were.

What nobody changed stays: DEPS of the other words, empty nodes, multiword tokens, all other columns and comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.notes import OLD_DEPREL, OLD_HEAD, is_signature, key_of, keys_in

# What stands in a column that says nothing.
NOTHING = ("_", "")

# A bar would end an entry of MISC.
_BAR = str.maketrans({"|": r"\p"})


class Change(NamedTuple):
    """A word that has another head or label than it was given.

    Attributes:
        word: from 1 on.
        head, label: the new ones; a label is empty where there is none.
        old_head, old_label: as they were written, of any text; of `NOTHING` where it was for us to choose.
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


class Mended(NamedTuple):
    """A sentence with another tree.

    Attributes:
        data: its bytes.
        reduced: how many words lost arcs of DEPS that were not their basic ones.
        left_out: what has no column in the file: ``OldHead (MISC)``.
    """

    data: bytes
    reduced: int = 0
    left_out: tuple[str, ...] = ()


def changes_of(block: Block, heads: Iterable[int], labels: Iterable[str]) -> list[Change]:
    """The words whose head or label is not what the sentence has; a word without a label keeps what it has.

    Where there is no column for labels, they are none.
    """
    found = []
    labels = labels if "deprel" in block.columns else [""] * block.n
    columns = zip(heads, labels, block.column("head"), block.column("deprel"), strict=True)
    for word, (head, label, old_head, old_label) in enumerate(columns, 1):
        is_same = (
            old_head.isascii() and old_head.isdigit() and int(old_head) == head
        )  # zeros in front are no other head
        if (label and label != old_label) or not is_same:
            found.append(Change(word, head, label or ("" if old_label in NOTHING else old_label), old_head, old_label))
    return found


def mended(block: Block, changes: Sequence[Change], comments: Mapping[str, str]) -> Mended:
    """The sentence with changes, and with comments ``# key = value``; notes of earlier commands on its tree go.

    DEPS of a changed word that held its basic arc and no other hold the new one. If they held more, nobody knows what
    the rest would be of another head, and they hold the new arc alone: without one the enhanced graph would fall apart.
    """
    changed, reduced = _with_arcs(block.fresh(), changes)
    notes = {each.word: note for each in changes if (note := each.note)}
    left_out: tuple[str, ...] = ()
    if "misc" not in block.columns:
        left_out = tuple(f"{key} (MISC)" for key in keys_in(note.encode() for note in notes.values()))
        notes = {}
    noted = changed.noting(notes)
    made_by = [each for each in _comments(block) if is_signature(each)]
    return Mended(with_comments(noted, comments, made_by), reduced, left_out)


def with_comments(block: Block, comments: Mapping[str, str], first: Sequence[bytes] = ()) -> bytes:
    """The sentence with comments in front of its own, and others ``# key = value`` in the place of those of their keys,
    or behind all."""
    lines = {key.encode(): f"# {key} = {value}{block.newline}".encode() for key, value in comments.items()}
    own = [lines.pop(key_of(each), each) for each in _comments(block)]
    raw, places = block.raw, block.template
    return b"".join([raw[: places.comments], *first, *own, *lines.values(), raw[places.rows_start :]])


def _comments(block: Block) -> list[bytes]:
    lines = block.raw[block.template.comments : block.template.rows_start].split(b"\n")
    return [line + b"\n" for line in lines[:-1]]


def _with_arcs(block: Block, changes: Sequence[Change]) -> tuple[Block, int]:
    """The sentence with the heads, labels and DEPS of changes, and how many words lost arcs of DEPS."""
    heads, labels = block.column("head"), block.column("deprel")
    deps = dict(block.rows("deps"))
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
        new = [node for node in children.get(waiting.pop(), ()) if node not in seen]
        seen.update(new)
        waiting += new
    return [node for node in deps if node not in seen]
