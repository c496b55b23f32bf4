"""What an annotator asks of single words, in MISC or in a file: which heads and labels they may have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from deptree_cli.core.constraints.checking import Violation
from deptree_cli.core.constraints.conflicts import Choice
from deptree_cli.core.constraints.named import Constraint, choices_of, of_word
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import did_you_mean
from deptree_cli.io.conllu.blocks import Block

HEAD_IN, NOT_HEAD, DEPREL_IN, DEPREL_NOT = KEYS = "HeadIn", "NotHead", "DeprelIn", "DeprelNot"
SPAN = "Span"

# First and last words, from 1 on.
Spans = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class WordConstraints:
    """What is asked of a sentence.

    Attributes:
        words: for a word, from 1 on, values by `KEYS`.
        spans: stretches of words that hang together, first and last.
        place: where it is asked.
    """

    words: Mapping[int, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    spans: Spans = ()
    place: str = ""

    @property
    def labels(self) -> set[str]:
        """The labels that it names."""
        of_labels = [each.get(key, ()) for each in self.words.values() for key in (DEPREL_IN, DEPREL_NOT)]
        return {label for labels in of_labels for label in labels if label not in ("", "_")}

    def checked_spans(self, n: int) -> Spans:
        """The spans, of which each is of words 1 to n.

        Raises:
            DeptreeError: one is not.
        """
        for first, last in self.spans:
            if not 1 <= first <= last <= n:
                raise DeptreeError(f"there are no words {first} to {last}", f"Name words 1 to {n}", place=self.place)
        return self.spans

    def forbidden(self, n: int, labels: Sequence[str]) -> Bool:
        """The arcs with labels that this forbids, (n+1, n+1, L).

        Raises:
            DeptreeError: there is no such word, or no such label.
        """
        found = np.zeros((n + 1, n + 1, len(labels)), dtype=np.bool_)
        for word, arcs in choices_of(self.listed(n, labels)):
            found[:, word] |= arcs
        return found

    def listed(self, n: int, labels: Sequence[str]) -> list[Constraint]:
        """The same for each word and key by itself, under its name.

        Raises:
            DeptreeError: as `forbidden`.
        """
        return [
            of_word(key, Choice(word, self._forbidden(word, key, values, n, labels)))
            for word, key, values in self._entries(n)
        ]

    def _entries(self, n: int) -> Iterator[tuple[int, str, Sequence[str]]]:
        """What is asked, one thing at a time: word, key and values."""
        for word, entries in self.words.items():
            if not 1 <= word <= n:
                problem = f"there is no word {word}, which is asked for {', '.join(entries)}"
                raise DeptreeError(problem, f"Name words 1 to {n}", place=self.place)
            for key, values in entries.items():
                yield word, key, values

    def _forbidden(self, word: int, key: str, values: Sequence[str], n: int, labels: Sequence[str]) -> Bool:
        """The arcs with labels, (n+1, L), that are forbidden to a word."""
        found = np.zeros((n + 1, len(labels)), dtype=np.bool_)
        if key in (HEAD_IN, NOT_HEAD):
            given = np.isin(np.arange(n + 1), self._heads(word, key, values, n))
            found[~given if key == HEAD_IN else given] = True
        else:
            given = self._labels(word, key, values, labels)
            found[:, ~given if key == DEPREL_IN else given] = True
        return found

    def broken(self, heads: Sequence[int], labels: Sequence[str]) -> Iterator[Violation]:
        """The words of a tree whose head or label is not as asked, by keys; none for a head or label that is missing.

        Args:
            heads: of words 1 to n, negative where there is none.
            labels: their names, empty where there is none.

        Raises:
            DeptreeError: there is no such word.
        """
        for word, key, values in self._entries(len(heads)):
            is_of_heads = key in (HEAD_IN, NOT_HEAD)
            if heads[word - 1] < 0 if is_of_heads else not labels[word - 1]:
                continue
            among = self._heads(word, key, values, len(heads)) if is_of_heads else values
            is_among = (heads if is_of_heads else labels)[word - 1] in among
            if is_among != (key in (HEAD_IN, DEPREL_IN)):
                yield Violation(key, word, (word,))

    def _heads(self, word: int, key: str, values: Sequence[str], n: int) -> list[int]:
        wrong = next((value for value in values if not value.isdecimal() or int(value) > n), None)
        if wrong is not None:
            raise DeptreeError(f"{key} of word {word} is {wrong!r}, not 0 to {n}", "Correct it", place=self.place)
        return [int(value) for value in values]

    def _labels(self, word: int, key: str, values: Sequence[str], labels: Sequence[str]) -> Bool:
        if not any(labels):
            problem = f"word {word} is asked for {key}, and there are no labels"
            raise DeptreeError(problem, "Name them with --labels FILE", place=self.place)
        unknown = next((value for value in values if value not in labels), None)
        if unknown is not None:
            remedy = did_you_mean(unknown, labels, "Correct it")
            problem = f"{key} of word {word} is {unknown!r}, which is no label of the scores"
            raise DeptreeError(problem, remedy, place=self.place)
        return np.isin(np.array(labels), values)


def constraints_in_misc(block: Block) -> WordConstraints:
    """What MISC of a sentence's words asks for.

    Raises:
        DeptreeError: a word has the same key twice, or a span is not understood.
    """
    words: dict[int, dict[str, list[str]]] = {}
    spans: list[tuple[int, int]] = []
    for word, misc in enumerate(block.column("misc"), 1):
        for entry in misc.split("|"):
            key, _, value = entry.partition("=")
            if key == SPAN:
                spans += [_span(word, each, block.place) for each in value.split(",")]
            elif key in KEYS:
                if key in words.setdefault(word, {}):
                    raise DeptreeError(f"word {word} has {key} twice", "Join them with a comma", place=block.place)
                words[word][key] = value.split(",")
    return WordConstraints(words, tuple(spans), block.place)


def _span(word: int, text: str, place: str) -> tuple[int, int]:
    """The first and the last word, ``3-7``."""
    found = re.fullmatch(r"([0-9]+)-([0-9]+)", text)
    if not found:
        raise DeptreeError(f"{SPAN} of word {word} is {text!r}", f"Write {SPAN}=3-7 for words 3 to 7", place=place)
    return int(found[1]), int(found[2])
