"""The words whose heads or labels differ between several annotations of one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import COLUMNS, UNKNOWN, no_column
from deptree_cli.io.conllu.malformed import decoded
from deptree_cli.io.conllu.notes import OTHER_DEPREL, OTHER_HEAD

# In a column that says nothing, and for an entry of MISC in the place of a bar, which would end it.
_NOTHING, _BAR = b"_", r"\p"

_SOUGHT = ("form", "upos", "head", "deprel")

# What the head of a sentence's root is called.
ROOT = "ROOT"

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
    """A word about which annotations differ.

    Attributes:
        word: from 1 on.
        form: the word's, from any annotation that knows it; `_` if none does.
        upos: the first annotation's.
        answers: what each annotation says.
        head_forms: of the heads there; None where there is no head.
    """

    word: int
    form: str
    upos: str
    answers: tuple[Answer, ...]
    head_forms: tuple[str | None, ...]

    @property
    def is_of_heads(self) -> bool:
        """Whether heads differ, and not labels alone."""
        return any(each.head != self.answers[0].head for each in self.answers)

    @property
    def lacks_label(self) -> bool:
        """Whether an annotation has a head but no label there."""
        return any(each.label is None for each in self.answers)


class Differences(NamedTuple):
    """What annotations differ in.

    Attributes:
        words: about which they do.
        unlabelled: whether only heads are compared, for an annotation has no labels at all.
    """

    words: Sequence[Difference]
    unlabelled: bool = False


NONE = Differences(())


def differences(blocks: Sequence[Block]) -> Differences:
    """The words about which annotations differ. A word whose row is the same in all of them is not looked into.

    Raises:
        DeptreeError: one has no column of heads, or another form at a word.
    """
    for each in blocks:
        if "head" not in each.columns:
            raise no_column("head", each.columns, "trees", each.place)
    first, *others = blocks
    if all(each.raw == first.raw for each in others):
        return NONE
    rows = [_rows(each) for each in blocks]
    changed = set[int]()
    for more in rows[1:]:
        changed.update([at for at, (one, other) in enumerate(zip(rows[0], more, strict=True)) if one != other])
    return _Table(blocks, rows).differences(sorted(changed)) if changed else NONE


class _Table(NamedTuple):
    """The rows of the words in each annotation."""

    blocks: Sequence[Block]
    rows: Sequence[Sequence[bytes]]

    def differences(self, places: Sequence[int]) -> Differences:
        """Those at places where rows differ."""
        found = [each for each in map(self._difference, places) if each is not None]
        if any(each.lacks_label for each in found):
            unlabelled = any({*block.deprels} <= {UNKNOWN} for block in self.blocks)
            return Differences([each for each in found if each.is_of_heads] if unlabelled else found, unlabelled)
        return Differences(found)

    def _difference(self, at: int) -> Difference | None:
        """What annotations say of the word at a place, whose rows differ; None if it is the same."""
        cells = [_cells(block, rows[at]) for block, rows in zip(self.blocks, self.rows, strict=True)]
        answers = tuple(map(_answer, self.blocks, cells))
        forms = [each.form for each in cells]
        if any(form != forms[0] for form in forms):
            _check_forms(self.blocks, forms, at + 1)
        if all(each == answers[0] for each in answers):
            return None
        head_forms = tuple(None if each.head is None else self.form(each.head) for each in answers)
        upos = decoded(cells[0].upos, self.blocks[0].place)
        return Difference(at + 1, self.form(at + 1), upos, answers, head_forms)

    def form(self, word: int) -> str:
        """That of a word, or of ROOT."""
        if not word:
            return ROOT
        for block, rows in zip(self.blocks, self.rows, strict=True):
            if (form := _cells(block, rows[word - 1]).form) != _NOTHING:
                return decoded(form, block.place)
        return _NOTHING.decode()


def _rows(block: Block) -> list[bytes]:
    """The rows of the words, without those of multiword tokens and empty nodes."""
    rows = block.raw[block.template.rows_start : block.template.rows_end].split(b"\n")
    return [row for row in rows if row.partition(b"\t")[0].isdigit()]


class _Cells(NamedTuple):
    """Cells of a word's row, `_` for a column that the file does not have."""

    form: bytes
    upos: bytes
    head: bytes
    label: bytes


def _cells(block: Block, row: bytes) -> _Cells:
    cells, names = row.rstrip(b"\r").split(b"\t"), block.columns
    if names is COLUMNS:
        return _Cells(cells[1], cells[3], cells[6], cells[7])
    return _Cells(*(cells[names.index(name)] if name in names else _NOTHING for name in _SOUGHT))


def _answer(block: Block, cells: _Cells) -> Answer:
    label = None if cells.label == _NOTHING else decoded(cells.label, block.place)
    return Answer(None if cells.head == _NOTHING else int(cells.head), label)


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
