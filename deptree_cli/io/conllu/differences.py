"""The words whose heads or labels differ between several annotations of one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import COLUMNS, no_column
from deptree_cli.io.conllu.malformed import decoded
from deptree_cli.io.conllu.notes import OTHER_DEPREL, OTHER_HEAD

# In a column that says nothing, and for an entry of MISC in the place of a bar, which would end it.
_NOTHING, _BAR = b"_", r"\p"

_KEYS = frozenset({OTHER_HEAD.encode(), OTHER_DEPREL.encode()})


class Answer(NamedTuple):
    """What an annotation says of a word: its head, 0 = ROOT, and its label; None where it says nothing."""

    head: int | None
    label: str | None

    @property
    def note(self) -> str:
        """The answer as entries of MISC of another annotation."""
        head, label = ("_" if each is None else str(each) for each in self)
        return f"{OTHER_HEAD}={head}|{OTHER_DEPREL}={label.replace('|', _BAR)}"


class Difference(NamedTuple):
    """A word, from 1 on, about which annotations differ, and what each of them says."""

    word: int
    answers: tuple[Answer, ...]

    @property
    def is_of_heads(self) -> bool:
        """Whether heads differ, and not labels alone."""
        return len({each.head for each in self.answers}) > 1


def differences(blocks: Sequence[Block]) -> list[Difference]:
    """The words about which annotations differ. A word whose row is the same in all of them is not looked into.

    Raises:
        DeptreeError: one has no column of heads, or another form at a word.
    """
    first, *others = blocks
    if all(each.raw == first.raw for each in others):
        return []
    for each in blocks:
        if "head" not in each.columns:
            raise no_column("head", each.columns, "trees", each.place)
    rows = [_rows(each) for each in blocks]
    changed = set[int]()
    for each in rows[1:]:
        changed.update([at for at, (one, other) in enumerate(zip(rows[0], each, strict=True)) if one != other])
    found = (_difference(blocks, [row[at] for row in rows], at + 1) for at in sorted(changed))
    return [each for each in found if each is not None]


def _difference(blocks: Sequence[Block], rows: Sequence[bytes], word: int) -> Difference | None:
    """What annotations say of a word, whose rows differ; None if it is the same."""
    cells = [_cells(block, row) for block, row in zip(blocks, rows, strict=True)]
    forms = [form for form, _, _ in cells]
    if any(form != forms[0] for form in forms):
        _check_forms(blocks, forms, word)
    answers = tuple(map(_answer, blocks, cells))
    return Difference(word, answers) if any(each != answers[0] for each in answers) else None


def _rows(block: Block) -> list[bytes]:
    """The rows of the words, without those of multiword tokens and empty nodes."""
    rows = block.raw[block.template.rows_start : block.template.rows_end].split(b"\n")
    return [row for row in rows if row.partition(b"\t")[0].isdigit()]


def _cells(block: Block, row: bytes) -> tuple[bytes, bytes, bytes]:
    """Form, head and label of a word's row, `_` for a column that the file does not have."""
    cells, names = row.rstrip(b"\r").split(b"\t"), block.columns
    if names is COLUMNS:
        return cells[1], cells[6], cells[7]
    form, head, label = (cells[names.index(name)] if name in names else _NOTHING for name in ("form", "head", "deprel"))
    return form, head, label


def _answer(block: Block, cells: tuple[bytes, bytes, bytes]) -> Answer:
    _, head, label = cells
    text = None if label == _NOTHING else decoded(label, block.place)
    return Answer(None if head == _NOTHING else int(head), text)


def _check_forms(blocks: Sequence[Block], forms: Sequence[bytes], word: int) -> None:
    """Raise if annotations are of other words; an underscore may be any."""
    known = [(form, block) for form, block in zip(forms, blocks, strict=True) if form != _NOTHING]
    for form, block in known[1:]:
        if form != known[0][0]:
            first = known[0][1]
            one, other = decoded(known[0][0], first.place), decoded(form, block.place)
            problem = f"the words differ: {word} is {one!r} here, {other!r} at {block.place}"
            remedy = "Give the same sentences, with the same words"
            raise DeptreeError(problem, remedy, place=first.place, sent_id=first.sent_id)


def with_answers(block: Block, answers: Mapping[int, Answer]) -> bytes:
    """An annotation as it is, with another's answers in MISC of some words; those of an earlier comparison go."""
    notes = {word: answer.note for word, answer in answers.items()}
    if any(key + b"=" in block.raw for key in _KEYS):
        notes = dict.fromkeys(range(1, block.n + 1), "") | notes
    return block.with_notes(notes, (), _KEYS)
