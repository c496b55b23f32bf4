"""``deptree diff``: what annotations of the same sentences differ in, word by word: as rows, pictures, or in MISC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli.options import INPUT, bound, command
from deptree_cli.cli.run import Fold, Job, RunOptions, Source, run_options
from deptree_cli.cli.score_options import LABEL_SCORES, ScoreOptions, companion, companion_options
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import Writing, format_options
from deptree_cli.core.errors import DeptreeError, counted_thousands
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.splicing import Answer, Difference, differences, with_answers
from deptree_cli.io.encoders.base import CONLLU, JSONL, TSV, Row, Sheet
from deptree_cli.io.encoders.pictures import as_text
from deptree_cli.io.files.streams import STDIN, place_of, share_of
from deptree_cli.io.pictures.arcs import Arc, shown_form
from deptree_cli.io.pictures.text import DifferencePicture, differences_to_text
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence, Side
from deptree_cli.io.trees import format_of_trees
from deptree_cli.io.trees.written import annotations_of, read_annotations

TEXT = as_text(differences_to_text)

# What fields call annotations: head_a, head_b, ...
LETTERS = ascii_lowercase

# The fields of an annotation, the last two with scores, and with scores of labels.
_FIELDS = {
    letter: [f"{name}_{letter}" for name in ("head", "head_form", "deprel", "prob", "deprel_prob")]
    for letter in LETTERS
}


def _scores_beside(**given: Any) -> ScoreOptions | None:
    """The options of `companion`; first of all, files of scores are refused in the place of trees."""
    _check_trees(click.get_current_context().params["files"])
    return companion(**given)


@command(
    gone=dict.fromkeys(
        ("-k", "--size", "--arcs", "--seed", "--conllu", "--lengths", "--fix-heads"),
        "trees are compared; for two score files: deptree expect kl A --other B",
    )
)
@click.argument("files", metavar="A B [C]...", nargs=-1, required=True, type=INPUT)
@bound("scores", [*companion_options("Scores that tell which head is likelier."), LABEL_SCORES], _scores_beside)
@format_options(TEXT, JSONL.name, TSV.name, CONLLU.name)
@run_options
def diff(files: tuple[str, ...], scores: ScoreOptions | None, writing: Writing, run: RunOptions) -> int:
    """List the words in which trees of the same sentences differ.

    Given trees (CoNLL-U, or JSON Lines of sent_id and heads), it writes a row for each word whose head or label
    differs: head, head_form and deprel in each file (head_a, head_b, ...); with --scores, the probability of each head,
    and which is likelier. A terminal shows the arcs of both; --format conllu writes A with OtherHead and OtherDeprel in
    MISC. Exit status: 0 nothing differs, 1 something does (or sentences were skipped), 2 unusable.
    """
    if len(files) < 2:
        raise click.UsageError("One file: give two or more, A B.")
    if len(files) > len(LETTERS):
        raise click.UsageError(f"{len(files)} are more than the {len(LETTERS)} letters for files. Name fewer.")
    first = {"trees": ", ".join(files), "scores": scores and scores.files[0].source.path}
    job = Job("diff", _source(files, scores, run), run, writing, first)
    if job.encoder is CONLLU and len(files) > 2:
        raise click.UsageError(f"--format conllu writes A with what B has. Name two files, not {len(files)}.")
    shown = 3 + (scores is not None) + bool(scores and scores.how.labels)
    answers = [name for letter in LETTERS[: len(files)] for name in _FIELDS[letter][:shown]]
    sheet = Sheet(("sent_id", "word", "form", "upos", *answers, *["likelier"] * (scores is not None)))
    names = tuple(f"{letter}: {Path(path).name}" for letter, path in zip(LETTERS, files, strict=False))
    found = DifferencesFound()
    return max(job.write(partial(find_differences, names), sheet=sheet, folds=[found]), found.exit_code)


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


def _source(files: Sequence[str], scores: ScoreOptions | None, run: RunOptions) -> Source[Any, Any]:
    read = read_annotations(files, run.warn)
    if scores is None:
        return Source(Counted(read, share=share_of(files[:1])))
    lead = Side(read, "sentences", place_of(files[0]))
    items = scores.files[0].read(scores.how.layout, warn=run.warn, lead=lead)
    return Source(Counted(items, share=share_of(files[:1])), scores.how, scores.signature_fields)


class Counts(NamedTuple):
    """What a sentence counts for; `labels`: of words with the same head; `unlabelled`: labels are not compared."""

    words: int
    heads: int
    labels: int
    unlabelled: bool


class Probabilities(NamedTuple):
    """Of what each annotation says of a word: of its head, and with labels of head and label; None if it has none."""

    heads: Sequence[float | None]
    labelled: Sequence[float | None] | None = None

    def of(self, at: int) -> list[float | None]:
        return [each[at] for each in self if each is not None]

    @property
    def likelier(self) -> str | None:
        known = [-1.0 if each is None else each for each in self.labelled or self.heads]
        best = [letter for letter, each in zip(LETTERS, known, strict=False) if each == max(known)]
        return ",".join(best) if len(best) < len(known) else None


@dataclass(slots=True, eq=False)  # not frozen, which costs a microsecond a sentence
class DifferentWords:
    """A sentence's words that differ between annotations, which `names` call in pictures."""

    sent_id: str
    blocks: Sequence[Block]
    names: Sequence[str]
    found: Sequence[Difference]
    unlabelled: bool
    probabilities: Sequence[Probabilities] = ()

    @property
    def counted(self) -> Counts:
        heads = sum(each.is_of_heads for each in self.found)
        return Counts(self.blocks[0].n, heads, len(self.found) - heads, self.unlabelled)

    def rows(self) -> list[Row]:
        return [self._row(number) for number in range(len(self.found))]

    def _row(self, number: int) -> Row:
        word, form, upos, answers, head_forms = self.found[number]
        row: dict[str, Any] = {"sent_id": self.sent_id, "word": word, "form": form, "upos": upos}
        given = self.probabilities[number] if self.probabilities else None
        for at, (letter, answer, head_form) in enumerate(zip(LETTERS, answers, head_forms, strict=False)):
            values = (answer.head, head_form, answer.label, *(given.of(at) if given else ()))
            row.update(zip(_FIELDS[letter], values, strict=False))
        return row | {"likelier": given.likelier} if given else row

    def to_conllu(self, _: Any) -> bytes:
        return with_answers(self.blocks[0], {each.word: each.answers[1] for each in self.found})

    @property
    def picture(self) -> DifferencePicture | None:
        if not self.found:
            return None
        columns = [block.column("form") for block in self.blocks]
        forms = [next((each for each in column if each != "_"), "_") for column in zip(*columns, strict=True)]
        arcs = [[self._arc(number, at) for number in range(len(self.found))] for at in range(len(self.blocks))]
        words = [each.word for each in self.found]
        return DifferencePicture(self.sent_id, list(map(shown_form, forms)), words, self.names, arcs)

    def _arc(self, number: int, at: int) -> Arc | None:
        """The arc of a word in an annotation, as probable as it is with its label; without scores it is certain."""
        head, label = self.found[number].answers[at]
        if head is None:
            return None
        prob = self.probabilities[number].of(at)[-1] if self.probabilities else 1.0
        return Arc(head, self.found[number].word, prob or 0.0, shown_form(label) if label else "")


def find_differences(names: tuple[str, ...], read: Sentence | ScoredSentence, _: None) -> DifferentWords:
    sentence = read if isinstance(read, Sentence) else read.record
    blocks = annotations_of(sentence, len(names))
    found, unlabelled = differences(blocks)
    probabilities = _probabilities(read, found) if found and isinstance(read, ScoredSentence) else ()
    return DifferentWords(sentence.sent_id, blocks, names, found, unlabelled, probabilities)


def _probabilities(scored: ScoredSentence, found: Sequence[Difference]) -> list[Probabilities]:
    distribution = scored.distribution
    arcs = np.minimum(distribution.marginals(), 1.0)
    labels = distribution.labels
    numbers = {name: number for number, name in enumerate(labels.names)} if labels else {}

    def prob(word: int, answer: Answer) -> float | None:
        return None if answer.head is None else float(arcs[answer.head, word])

    def labelled(word: int, answer: Answer) -> float | None:
        if labels is None or answer.head is None or answer.label is None:
            return None
        number = numbers.get(answer.label)
        arc = float(arcs[answer.head, word])
        return 0.0 if number is None or not arc else arc * float(labels.probs[answer.head, word, number])

    return [
        Probabilities(
            [prob(each.word, answer) for answer in each.answers],
            [labelled(each.word, answer) for answer in each.answers] if labels else None,
        )
        for each in found
    ]


class DifferencesFound(Fold[Counts]):
    def __init__(self) -> None:
        self._sentences = self._words = self._different = self._heads = self._labels = self._unlabelled = 0

    def add(self, counts: Counts) -> None:
        self._sentences += 1
        self._words += counts.words
        self._heads += counts.heads
        self._labels += counts.labels
        self._unlabelled += counts.unlabelled
        self._different += counts.heads + counts.labels > 0

    @property
    def exit_code(self) -> int:
        return 1 if self._different else 0  # as Unix diff

    def lines(self) -> Iterator[str]:
        words, sentences = counted_thousands(self._words, "word"), counted_thousands(self._sentences, "sentence")
        if self._unlabelled:
            lacking = counted_thousands(self._unlabelled, "sentence")
            yield f"{lacking} without labels in one of the files: only their heads are compared"
        if not self._different:
            yield f"no difference: {words} in {sentences}"
            return
        found = self._heads + self._labels
        verb = "differs" if found == 1 else "differ"
        kinds = f"{self._heads:,} in the head, {self._labels:,} in the label alone"
        yield f"{found:,} of {words} {verb}, in {self._different:,} of {sentences}: {kinds}"
