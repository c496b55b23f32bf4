"""The words whose heads or labels differ between several annotations of one sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import UNKNOWN, no_column
from deptree_cli.io.conllu.malformed import decoded
from deptree_cli.io.conllu.notes import OTHER_DEPREL, OTHER_HEAD

# In a column that says nothing, and for an entry of MISC in the place of a bar, which would end it.
_NOTHING, _BAR = b"_", r"\p"

# What the head of a sentence's root is called.
ROOT = "ROOT"

_KEYS = frozenset({OTHER_HEAD.encode(), OTHER_DEPREL.encode()})


class Answer(NamedTuple):
    """What an annotation says of a word: its head, 0 = ROOT, and its label; None where it says nothing."""

    head: int | None
    label: str | None

    @property
    def note(self) -> str:
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
        return any(each.head != self.answers[0].head for each in self.answers)

    @property
    def lacks_label(self) -> bool:
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
    annotations = [_Annotation(each) for each in blocks]
    rows = annotations[0].rows
    changed = set[int]()
    for more in annotations[1:]:
        changed.update([at for at, (one, other) in enumerate(zip(rows, more.rows, strict=True)) if one != other])
    found = [each for each in (_difference(annotations, at) for at in sorted(changed)) if each is not None]
    if any(each.lacks_label for each in found) and any({*each.deprels} <= {UNKNOWN} for each in blocks):
        return Differences([each for each in found if each.is_of_heads], True)
    return Differences(found)


class _Annotation:
    """An annotation of a sentence: the rows of its words, without those of multiword tokens and empty nodes."""

    def __init__(self, block: Block) -> None:
        self.block = block
        data = block.raw[block.template.rows_start : block.template.rows_end]
        rows = (data.replace(b"\r\n", b"\n") if b"\r" in data else data).rstrip(b"\n").split(b"\n")
        if len(rows) > block.n:
            rows = [row for row in rows if row.partition(b"\t")[0].isdigit()]
        self.rows = rows
        self._form, self._upos, self._head, self._label = _places(block.columns)

    def form(self, at: int) -> bytes:
        return _cell(self.rows[at].split(b"\t"), self._form)

    def upos(self, at: int) -> str:
        return self.text(_cell(self.rows[at].split(b"\t"), self._upos))

    def answer(self, at: int) -> Answer:
        cells = self.rows[at].split(b"\t")
        head, label = _cell(cells, self._head), _cell(cells, self._label)
        return Answer(None if head == _NOTHING else int(head), None if label == _NOTHING else self.text(label))

    def text(self, cell: bytes) -> str:
        try:
            return cell.decode()
        except UnicodeDecodeError:
            return decoded(cell, self.block.place)  # raises, with the place, which takes time to find


@lru_cache(64)
def _places(columns: tuple[str, ...]) -> list[int | None]:
    """Where columns are, None for one that the file does not have."""
    return [columns.index(name) if name in columns else None for name in ("form", "upos", "head", "deprel")]


def _cell(cells: Sequence[bytes], place: int | None) -> bytes:
    return _NOTHING if place is None else cells[place]


def _difference(annotations: Sequence[_Annotation], at: int) -> Difference | None:
    """What annotations say of the word at a place, whose rows differ; None if it is the same."""
    forms = {each.form(at) for each in annotations}
    if len(forms) > 1:
        _check_forms(annotations, at)
    answers = tuple([each.answer(at) for each in annotations])
    if len({*answers}) == 1:
        return None
    head_forms = tuple([None if head is None else _known_form(annotations, head) for head, _ in answers])
    return Difference(at + 1, _known_form(annotations, at + 1), annotations[0].upos(at), answers, head_forms)


def _known_form(annotations: Sequence[_Annotation], word: int) -> str:
    """The form of a word, from any annotation that knows it, or what ROOT is called."""
    if not word:
        return ROOT
    for each in annotations:
        if (form := each.form(word - 1)) != _NOTHING:
            return each.text(form)
    return UNKNOWN


def _check_forms(annotations: Sequence[_Annotation], at: int) -> None:
    first, *others = [each for each in annotations if each.form(at) != _NOTHING]
    for each in others:
        if each.form(at) != first.form(at):
            one, other = (annotation.text(annotation.form(at)) for annotation in (first, each))
            problem = f"the words differ: {at + 1} is {one!r} here, {other!r} at {each.block.place}"
            remedy = "Give the same sentences, with the same words"
            raise DeptreeError(problem, remedy, place=first.block.place, sent_id=first.block.sent_id)


def with_answers(block: Block, answers: Mapping[int, Answer]) -> bytes:
    """An annotation as it is, with another's answers in MISC of some words; those of an earlier comparison go."""
    notes = {word: answer.note for word, answer in answers.items()}
    if any(key + b"=" in block.raw for key in _KEYS):
        notes = dict.fromkeys(range(1, block.n + 1), "") | notes
    return block.with_notes(notes, (), _KEYS)
