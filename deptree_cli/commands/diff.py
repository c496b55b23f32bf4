"""``deptree diff``: what annotations of the same sentences differ in, word by word: as rows, or in MISC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli.options import INPUT, command, opt, use
from deptree_cli.cli.run import ALONE, Fold, Job, Run, Source
from deptree_cli.cli.score_options import Scores, beside
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.errors import DeptreeError, counted_thousands
from deptree_cli.core.evaluation import universal
from deptree_cli.io.conllu.blocks import Block, Chunk
from deptree_cli.io.conllu.columns import OTHER_DEPREL, OTHER_HEAD, UNKNOWN, decoded, no_column
from deptree_cli.io.encoders.base import CONLLU, Row, Sheet
from deptree_cli.io.files.streams import STDIN, place_of, share_of
from deptree_cli.io.pairing import LOST, Tokens, aligned_words, known_tokens, tokens_in, words_of
from deptree_cli.io.read import blocks_side, check_words, read, sentence_of
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Companion, Sentence, Side
from deptree_cli.io.trees import blocks_of, format_of_trees
from deptree_cli.kernels.budget import BYTES, foresee

# What a word may differ in, and what the last line says of it; the first two always.
WORD, HEAD, LABEL, SUBTYPE = "word", "head", "label", "subtype"
KINDS = {
    HEAD: "in the head",
    LABEL: "in the label alone",
    SUBTYPE: "in the subtype of the label alone",
    WORD: "divided otherwise",
}

# In a column that says nothing, what the head of a sentence's root is called, and in MISC a bar, which ends an entry.
_MISSING, ROOT, _BAR = b"_", "ROOT", str.maketrans({"|": r"\p"})

# What fields call annotations: head_a, head_b, ...
LETTERS = ascii_lowercase

# The fields of an annotation, the last two with scores, and with scores of labels.
_FIELDS = {
    letter: [f"{name}_{letter}" for name in ("head", "head_form", "deprel", "prob", "deprel_prob")]
    for letter in LETTERS
}


@command(
    gone=dict.fromkeys(
        ("-k", "--size", "--arcs", "--seed", "--conllu", "--lengths", "--fix-heads"),
        "trees are compared; for two score files: deptree expect kl A --other B",
    )
)
def diff(
    files: tuple[str, ...] = opt(metavar="A B [C]...", many=True, type=INPUT),
    scores: Scores | None = beside("Scores that tell which head is likelier.", lacks=["lengths"]),
    out: Out = use(Out, formats=(*ROWS, CONLLU.name)),
    run: Run = use(Run, lacks=ALONE),
) -> int:
    """List the words in which trees of the same sentences differ.

    Given trees (CoNLL-U, or JSON Lines of sent_id and heads), it writes a row for each word whose head or label
    differs: head, head_form and deprel in each file (head_a, head_b, ...) and what differs; with --scores, the
    probability of each head, and which is likelier. --format conllu writes A with OtherHead and OtherDeprel in MISC;
    deptree show A B draws both trees of a sentence.

    Exit status: 0 nothing differs, 1 something does (or sentences were skipped), 2 unusable input.
    """
    if len(files) < 2:
        raise click.UsageError("Only one file. Pass two or more: A B.")
    if len(files) > len(LETTERS):
        raise click.UsageError(f"{len(files)} are more than the {len(LETTERS)} letters for files. Name fewer.")
    _check_trees(files)
    first = {"trees": ", ".join(files), "scores": scores and scores.files[0].source.path}
    job = Job("diff", _source(files, scores, run), run, out, first)
    if job.encoder is CONLLU and len(files) > 2:
        raise click.UsageError(f"--format conllu writes A with what B has. Name two files, not {len(files)}.")
    shown = 3 + (scores is not None) + bool(scores and scores.how.labels)
    answers = [name for letter in LETTERS[: len(files)] for name in _FIELDS[letter][:shown]]
    more = ["likelier"] * (scores is not None) + ["differs"] + ["file", "line"] * (len(files) > 2)
    columns = ["sent_id", "word", "form", "upos", *answers, *more]
    sheet = Sheet(columns, "", {name: name for name in columns if name not in ("upos", "file", "line")})  # to fit 80
    found = DifferencesFound()
    return max(job.write(partial(find_differences, len(files)), sheet=sheet, folds=[found]), found.exit_code)


def _check_trees(paths: Sequence[str]) -> None:
    """Raise for a file of scores: its first bytes tell, but of what comes through pipes, which looking takes away."""
    there = [path for path in paths if path != STDIN and (Path(path).is_file() or not Path(path).exists())]
    scores = [path for path in there if not format_of_trees(path)]
    if scores:
        trees = [path for path in there if path not in scores]
        problem = f"this has scores, but {place_of(trees[0])} has trees" if trees else "this has scores, not trees"
        remedy = f"Compare trees with trees (deptree decode {scores[0]}), or pass --scores {scores[0]}"
        if not trees:
            remedy = f"Compare scores with deptree expect kl {scores[0]} --other {(*scores, 'FILE')[1]}"
        raise DeptreeError(problem, remedy, place=scores[0])


def _source(files: Sequence[str], scores: Scores | None, run: Run) -> Source[Any, Any]:
    for path in files:
        with suppress(OSError):  # what is not there is told when it is opened
            foresee(Path(path).stat().st_size / BYTES)
    blocks = map(sentence_of, blocks_of(files[0]), count(1))
    lead = Side(blocks, "sentences", place_of(files[0]), tokens=words_of)
    items = read(lead, [_beside(path, str(number)) for number, path in enumerate(files[1:], 1)], run.warn)
    if scores is None:
        return Source(Counted(items, share=share_of(files[:1])))
    lead = Side(items, "sentences", place_of(files[0]))
    items = scores.files[0].read(scores.how.layout, warn=run.warn, lead=lead)
    return Source(Counted(items, share=share_of(files[:1])), scores.how, scores.signature_fields)


@dataclass(slots=True, eq=False)
class Unread:
    """A sentence of CoNLL-U of which nothing is known but its name: it may be the bytes that the first file has."""

    chunk: Chunk
    file: str
    sent_id: str

    @property
    def place(self) -> str:
        return f"{self.file}:{self.chunk.line}"

    def read(self, first: Block) -> Block:
        return first if self.chunk.data == first.raw else Block(self.chunk, self.file)


def _unread(chunk: Chunk, file: str) -> Block | Unread:
    """A sentence without a name is read, because it may be malformed."""
    return Unread(chunk, file, name) if (name := chunk.sent_id) else Block(chunk, file)


def _beside(path: str, role: str) -> Companion:
    def add(sentence: Sentence, item: Block | Unread) -> None:
        block = item.read(sentence.sentence) if isinstance(item, Unread) else item
        if block.n != sentence.n and not (known_tokens(block) and words_of(sentence)):
            check_words(block, sentence, sentence, "")
        sentence.companions[role] = block

    def tokens(item: Block | Unread) -> Tokens | None:
        return known_tokens(Block(item.chunk, item.file) if isinstance(item, Unread) else item)

    side = blocks_side(blocks_of(path, _unread), place_of(path))
    return Companion(replace(side, tokens=tokens), add)


class Answer(NamedTuple):
    """What an annotation says of a word.

    Attributes:
        head, label: the head in the first annotation, 0 = ROOT, `LOST` if that has no such word; None: it says nothing.
        here: the head as it is numbered there.
        form: of that head, as it is written there.
        probs: how probable the head is, and with labels head and label; None if it has none.
    """

    head: int | None
    label: str | None
    here: int | None
    form: str | None = None
    probs: tuple[float | None, ...] = ()

    @property
    def note(self) -> str:
        head, label = ("_" if each in (None, LOST) else str(each) for each in self[:2])
        return f"{OTHER_HEAD}={head}|{OTHER_DEPREL}={label.translate(_BAR)}"


class Difference(NamedTuple):
    """A word (of the first annotation, from 1 on) about which annotations differ; `kind` is one of `KINDS`.

    Its form is from any annotation that knows it, `_` if none does; its upos the first annotation's.
    """

    word: int
    form: str
    upos: str
    kind: str
    answers: Sequence[Answer]


class Annotation:
    """An annotation of a sentence, beside the first one: the rows of its words, which are cut if they differ.

    If words are others, `words` has the place of each word of the first annotation, None if there is none, and
    `numbers` the number there of each word that has one. `changed`: the first one's words whose rows are others here.
    """

    words: list[int | None] | None = None
    numbers: Mapping[int, int] = {}

    def __init__(self, block: Block, first: Annotation | None = None) -> None:
        self.block = block
        self.changed: Sequence[int] = range(first.block.n if first else 0)
        data = block.raw[block.template.rows_start : block.template.rows_end]
        self.rows = (data.replace(b"\r\n", b"\n") if b"\r" in data else data).rstrip(b"\n").split(b"\n")
        if len(self.rows) > block.n:  # without those of multiword tokens and empty nodes
            self.rows = [row for row in self.rows if row.partition(b"\t")[0].isdigit()]
        if first is None:
            return
        if len(self.rows) == len(first.rows):
            changed = [at for at, pair in enumerate(zip(first.rows, self.rows, strict=True)) if pair[0] != pair[1]]
            if all(len({first.cell(at, "form"), self.cell(at, "form")} - {_MISSING}) < 2 for at in changed):
                self.changed = changed
                return
        ours, theirs = aligned_words(tokens_in(first.block), tokens_in(block), block.place) or ([], [])
        pairs = {int(own): int(at) for own, at in zip(ours, theirs, strict=True)}
        self.words = [pairs.get(at) for at in self.changed]
        self.numbers = {0: 0} | {at + 1: own + 1 for own, at in pairs.items()}

    def cell(self, at: int, column: str) -> bytes:
        columns = self.block.columns
        return self.rows[at].split(b"\t")[columns.index(column)] if column in columns else _MISSING

    def answer(self, at: int) -> Answer:
        """What it says of a word of the first annotation."""
        own = at if self.words is None else self.words[at]
        if own is None:
            return Answer(LOST, None, None)
        head, label = self.cell(own, "head"), self.cell(own, "deprel")
        here = None if head == _MISSING else int(head)
        ours = here if self.words is None or here is None else self.numbers.get(here, LOST)
        return Answer(ours, None if label == _MISSING else self.text(label), here)

    def text(self, cell: bytes) -> str:
        return decoded(cell, self.block.place)


def find_differences(files: int, scored: Sentence | ScoredSentence, _: None) -> DifferentWords:
    """What annotations of a sentence differ in. A word whose row is the same in all of them is not looked into."""
    sentence = scored if isinstance(scored, Sentence) else scored.record
    blocks = [sentence.sentence, *(sentence.companions[str(number)] for number in range(1, files))]
    for block in blocks:
        if "head" not in block.columns:
            raise no_column("head", block.columns, "trees", block.place)
    if all(block.raw == blocks[0].raw for block in blocks[1:]):
        return DifferentWords(sentence.sent_id, blocks)
    first = Annotation(blocks[0])
    annotations = [first, *(Annotation(block, first) for block in blocks[1:])]
    others = [each for each in annotations if each.words is not None]
    unpaired = sum(first.block.n + each.block.n - 2 * (len(each.numbers) - 1) for each in others)
    looked = sorted({at for each in annotations[1:] for at in each.changed})
    found = [word for at in looked if (word := _difference(annotations, at))]
    unlabelled = any(answer.label is None and answer.head != LOST for word in found for answer in word.answers)
    if unlabelled := unlabelled and any({*block.deprels} <= {UNKNOWN} for block in blocks):
        found = [word for word in found if word.kind in (WORD, HEAD)]
    if found and isinstance(scored, ScoredSentence):
        found = _with_probabilities(scored, found)
    return DifferentWords(sentence.sent_id, blocks, found, unlabelled, unpaired)


def _difference(annotations: Sequence[Annotation], at: int) -> Difference | None:
    """What annotations say of the word at a place; None if it is the same."""
    answers = [each.answer(at) for each in annotations]
    if len({answer[:2] for answer in answers}) == 1:
        return None
    kind = SUBTYPE if len({answer.label and universal(answer.label) for answer in answers}) == 1 else LABEL
    if len({answer.head for answer in answers}) > 1:
        is_lost = any(each.words is not None and each.words[at] is None for each in annotations)
        kind = WORD if is_lost else HEAD
    first, alike = annotations[0], [each for each in annotations if each.words is None]
    for number, (each, answer) in enumerate(zip(annotations, answers, strict=True)):
        if answer.here is not None:
            form = _known_form(alike if each.words is None else [each], answer.here)
            answers[number] = answer._replace(form=form)
    return Difference(at + 1, _known_form(alike, at + 1), first.text(first.cell(at, "upos")), kind, answers)


def _with_probabilities(scored: ScoredSentence, found: Sequence[Difference]) -> list[Difference]:
    arcs, labels = np.minimum(scored.distribution.marginals(), 1.0), scored.distribution.labels
    numbers = {name: number for number, name in enumerate(labels.names)} if labels else {}

    def probs(word: int, answer: Answer) -> tuple[float | None, ...]:
        head, label, number = answer.head, answer.label, numbers.get(answer.label or "")
        known = head is not None and head != LOST
        arc = float(arcs[head, word]) if known else None
        if labels is None:
            return (arc,)
        both = arc * float(labels.probs[head, word, number]) if arc and number is not None else 0.0
        return arc, both if known and label is not None else None

    return [
        each._replace(answers=[answer._replace(probs=probs(each.word, answer)) for answer in each.answers])
        for each in found
    ]


def _known_form(annotations: Sequence[Annotation], word: int) -> str:
    """The form of a word, from any annotation that knows it, or what ROOT is called."""
    forms = ((each, each.cell(word - 1, "form")) for each in annotations)
    return next((each.text(form) for each, form in forms if form != _MISSING), UNKNOWN) if word else ROOT


@dataclass(slots=True, eq=False)  # not frozen, which costs a microsecond a sentence
class DifferentWords:
    """A sentence's words that differ between annotations.

    `unlabelled`: only heads are compared, as one has no labels at all; `unpaired`: how many words of any annotation are
    divided otherwise in the first, or the first's in it.
    """

    sent_id: str
    blocks: Sequence[Block]
    found: Sequence[Difference] = ()
    unlabelled: bool = False
    unpaired: int = 0

    @property
    def counted(self) -> dict[str, int]:
        facts = {"sentences": 1, "words": self.blocks[0].n, "different": int(bool(self.found or self.unpaired))}
        facts |= {"unpaired": self.unpaired, "unlabelled": int(self.unlabelled)}
        return facts | Counter([each.kind for each in self.found]) if self.found else facts

    def rows(self) -> list[Row]:
        return list(map(self._row, self.found))

    def _row(self, each: Difference) -> Row:
        row: dict[str, Any] = {"sent_id": self.sent_id, "word": each.word, "form": each.form, "upos": each.upos}
        for letter, (_, label, *head, probs) in zip(LETTERS, each.answers, strict=False):
            row.update(zip(_FIELDS[letter], (*head, label, *probs), strict=False))
        if each.answers[0].probs:
            known = [-1.0 if answer.probs[-1] is None else answer.probs[-1] for answer in each.answers]
            best = [letter for letter, prob in zip(LETTERS, known, strict=False) if prob == max(known)]
            row["likelier"] = ",".join(best) if len(best) < len(known) else None
        row["differs"] = each.kind
        block = self.blocks[0]
        return row | {"file": block.file, "line": block.line_of(each.word)} if len(self.blocks) > 2 else row

    def to_conllu(self, _: Any) -> bytes:
        """The first annotation as it is, with the other's answers in MISC; those of an earlier comparison go."""
        block, keys = self.blocks[0], {OTHER_HEAD.encode(), OTHER_DEPREL.encode()}
        notes = {each.word: each.answers[1].note for each in self.found}
        if any(key + b"=" in block.raw for key in keys):
            notes = dict.fromkeys(range(1, block.n + 1), "") | notes
        return block.with_notes(notes, (), keys)


class DifferencesFound(Fold[dict[str, int]]):
    def __init__(self) -> None:
        self._counts = Counter[str]()

    def add(self, counts: dict[str, int]) -> None:
        self._counts.update(counts)

    @property
    def exit_code(self) -> int:
        return int(self._counts["different"] > 0)  # as Unix diff

    def lines(self) -> Iterator[str]:
        counts = self._counts
        words, sentences = (counted_thousands(counts[each], each[:-1]) for each in ("words", "sentences"))
        if counts["unlabelled"]:
            lacking = counted_thousands(counts["unlabelled"], "sentence")
            yield f"{lacking} without labels in one of the files: only their heads are compared"
        if counts["unpaired"]:
            yield f"{counted_thousands(counts['unpaired'], 'word')} that another file divides otherwise"
        if not counts["different"]:
            yield f"no difference: {words} in {sentences}"
            return
        found = sum(counts[kind] for kind in KINDS)
        told = [f"{counts[kind]:,} {what}" for kind, what in KINDS.items() if counts[kind] or kind in (HEAD, LABEL)]
        verb = "differs" if found == 1 else "differ"
        yield f"{found:,} of {words} {verb}, in {counts['different']:,} of {sentences}: {', '.join(told)}"
