"""What annotations of the same sentences differ in, word by word: rows, pictures, one annotation with another's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import ascii_lowercase
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.cli.folds import Fold
from deptree_cli.core.errors import counted_thousands
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.differences import Answer, Difference, differences, with_answers
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.pictures.arcs import Arc
from deptree_cli.io.pictures.differences import DifferencePicture
from deptree_cli.io.pictures.forms import shown_form
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.annotations import annotations_of

# What fields call annotations: head_a, head_b, ...
LETTERS = ascii_lowercase

# Exit status if something differs, as that of Unix diff.
DIFFERENT = 1

# The fields of an annotation, the last two with scores, and with scores of labels.
_FIELDS = {
    letter: [f"{name}_{letter}" for name in ("head", "head_form", "deprel", "prob", "deprel_prob")]
    for letter in LETTERS
}


def sheet(files: int, scored: bool, labelled: bool) -> Sheet:
    """How rows are laid out."""
    answers = [name for letter in LETTERS[:files] for name in _FIELDS[letter][: 3 + scored + labelled]]
    return Sheet(("sent_id", "word", "form", "upos", *answers, *["likelier"] * scored))


class Counts(NamedTuple):
    """What a sentence counts for.

    Attributes:
        words: how many it has.
        heads, labels: how many of these have other heads, or the same head with another label.
        unlabelled: whether labels are not compared.
    """

    words: int
    heads: int
    labels: int
    unlabelled: bool


class Probabilities(NamedTuple):
    """Of what each annotation says of a word: of its head, and with labels of head and label; None if it has none."""

    heads: Sequence[float | None]
    labelled: Sequence[float | None] | None = None

    def of(self, at: int) -> list[float | None]:
        """Those of one annotation."""
        return [each[at] for each in self if each is not None]

    @property
    def likelier(self) -> str | None:
        """The letters of the likeliest; None if none is likelier than another."""
        known = [-1.0 if each is None else each for each in self.labelled or self.heads]
        best = [letter for letter, each in zip(LETTERS, known, strict=False) if each == max(known)]
        return ",".join(best) if len(best) < len(known) else None


@dataclass(slots=True, eq=False)  # not frozen, which costs a microsecond a sentence
class DifferentWords:
    """A sentence's words that differ.

    Attributes:
        sent_id: the sentence's name.
        blocks: the annotations.
        names: of these, for pictures.
        found: the words.
        unlabelled: whether their labels are not compared.
        probabilities: of each of these, if there are scores.
    """

    sent_id: str
    blocks: Sequence[Block]
    names: Sequence[str]
    found: Sequence[Difference]
    unlabelled: bool
    probabilities: Sequence[Probabilities] = ()

    @property
    def counted(self) -> Counts:
        """What it counts for."""
        heads = sum(each.is_of_heads for each in self.found)
        return Counts(self.blocks[0].n, heads, len(self.found) - heads, self.unlabelled)

    def rows(self) -> list[Row]:
        """A row for each word."""
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
        """The first annotation, with the second one's answers in MISC."""
        return with_answers(self.blocks[0], {each.word: each.answers[1] for each in self.found})

    @property
    def picture(self) -> DifferencePicture | None:
        """The words with their arcs; None if there are none."""
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


@dataclass(frozen=True)
class FindDifferences:
    """Finds the words of a sentence that differ.

    Attributes:
        names: of the annotations, for pictures.
    """

    names: tuple[str, ...]

    @classmethod
    def of(cls, paths: Sequence[str]) -> FindDifferences:
        """That of files."""
        return cls(tuple(f"{letter}: {Path(path).name}" for letter, path in zip(LETTERS, paths, strict=False)))

    def __call__(self, read: Sentence | ScoredSentence, _: None) -> DifferentWords:
        """The work on one sentence."""
        sentence = read if isinstance(read, Sentence) else read.record
        blocks = annotations_of(sentence, len(self.names))
        found, unlabelled = differences(blocks)
        probabilities = _probabilities(read, found) if found and isinstance(read, ScoredSentence) else ()
        return DifferentWords(sentence.sent_id, blocks, self.names, found, unlabelled, probabilities)


def _probabilities(scored: ScoredSentence, found: Sequence[Difference]) -> list[Probabilities]:
    """The probabilities of the answers about each word."""
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
    """Counts words and sentences that differ."""

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
        """Whether something differs, as a status."""
        return DIFFERENT if self._different else 0

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
