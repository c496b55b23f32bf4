"""What an annotator asks of single words, in MISC or in a file: which heads and labels they may have."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from deptree_cli.core.constraints.conflicts import Choice
from deptree_cli.core.constraints.demands import Demand, choices_of, of_word
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import did_you_mean, one_of
from deptree_cli.io.conllu.blocks import Block

HEAD_IN, NOT_HEAD, DEPREL_IN, DEPREL_NOT = KEYS = "HeadIn", "NotHead", "DeprelIn", "DeprelNot"
_ENTITY = "Entity"


@dataclass(frozen=True)
class WordConstraints:
    """What is asked of a sentence.

    Attributes:
        words: for a word, from 1 on, values by `KEYS`.
        spans: stretches of words that hang together, first and last.
        place: where it is asked.
    """

    words: Mapping[int, Mapping[str, Sequence[str]]] = field(default_factory=dict)
    spans: tuple[tuple[int, int], ...] = ()
    place: str = ""

    def checked_spans(self, n: int) -> tuple[tuple[int, int], ...]:
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
        for word, arcs in choices_of(self.demands(n, labels)):
            found[:, word] |= arcs
        return found

    def demands(self, n: int, labels: Sequence[str]) -> list[Demand]:
        """The same for each word and key by itself, under its name.

        Raises:
            DeptreeError: as `forbidden`.
        """
        found = []
        for word, entries in self.words.items():
            if not 1 <= word <= n:
                problem = f"there is no word {word}, which is asked for {', '.join(entries)}"
                raise DeptreeError(problem, f"Name words 1 to {n}", place=self.place)
            for key, values in entries.items():
                found.append(of_word(key, Choice(word, self._forbidden(word, key, values, n, labels))))
        return found

    def _forbidden(self, word: int, key: str, values: Sequence[str], n: int, labels: Sequence[str]) -> Bool:
        """The arcs with labels, (n+1, L), that are forbidden to a word."""
        found = np.zeros((n + 1, len(labels)), dtype=np.bool_)
        if key in (HEAD_IN, NOT_HEAD):
            given = np.isin(np.arange(n + 1), [self._head(word, key, value, n) for value in values])
            found[~given if key == HEAD_IN else given] = True
        else:
            given = self._labels(word, key, values, labels)
            found[:, ~given if key == DEPREL_IN else given] = True
        return found

    def _head(self, word: int, key: str, value: str, n: int) -> int:
        if not value.isdecimal() or int(value) > n:
            raise DeptreeError(f"{key} of word {word} is {value!r}, not 0 to {n}", "Correct it", place=self.place)
        return int(value)

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
    """What MISC of a sentence's words asks for."""
    words: dict[int, dict[str, list[str]]] = {}
    for word, misc in enumerate(block.column("misc"), 1):
        for entry in misc.split("|"):
            key, _, value = entry.partition("=")
            if key in KEYS:
                words.setdefault(word, {})[key] = value.split(",")
    return WordConstraints(words, place=block.place)


def spans_in_misc(block: Block) -> tuple[tuple[int, int], ...]:
    """The mentions of entities in MISC, ``Entity=(e1-person ... e1)``, of more than a word."""
    found, opened = [], list[tuple[str, int]]()
    for word, misc in enumerate(block.column("misc"), 1):
        value = next((entry.partition("=")[2] for entry in misc.split("|") if entry.startswith(f"{_ENTITY}=")), "")
        for piece in value.replace("(", " (").replace(")", ") ").split():
            name = piece.strip("()").partition("-")[0]
            if piece.startswith("("):
                opened.append((name, word))
            if piece.endswith(")"):
                place = next((i for i in reversed(range(len(opened))) if opened[i][0] == name), None)
                if place is not None:
                    found.append((opened.pop(place)[1], word))
    return tuple(sorted({(first, last) for first, last in found if first < last}))


def read_word_constraints(path: str) -> dict[str, WordConstraints]:
    """What a file asks for, by sent_id: JSON Lines, or rows of sent_id, word, key, value or of sent_id, first, last.

    Raises:
        DeptreeError: it cannot be read, or a line is not understood.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        problem = str(getattr(error, "strerror", None) or "it is not UTF-8")
        raise DeptreeError(problem, "Name a file of constraints", place=path) from None
    found: dict[str, WordConstraints] = {}
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith("#"):
            place = f"{path}:{number}"
            for sent_id, asked in _of_line(line, place):
                before = found.get(sent_id, WordConstraints(place=place))
                words = dict(before.words)
                for word, entries in asked.words.items():
                    words[word] = {**words.get(word, {}), **entries}
                found[sent_id] = WordConstraints(words, before.spans + asked.spans, before.place)
    return found


def _of_line(line: str, place: str) -> Iterator[tuple[str, WordConstraints]]:
    """What a line asks for, and of which sentence."""
    try:
        if line.lstrip().startswith("{"):
            yield _of_object(json.loads(line))
            return
        sent_id, word, *others = line.split("\t")
        if len(others) == 1:
            yield sent_id, WordConstraints(spans=((int(word), int(others[0])),))
            return
        key, value = others
        yield sent_id, WordConstraints({int(word): {_known(key): value.split(",")}})
    except (ValueError, KeyError, TypeError, AttributeError):
        remedy = 'Write sent_id, word, key and value between tabs, or {"sent_id": ..., "words": {"3": {"HeadIn": [2]}}}'
        raise DeptreeError("a constraint is not understood", remedy, place=place) from None
    except DeptreeError as error:
        raise error.at(place) from None


def _of_object(fields: Mapping[str, Any]) -> tuple[str, WordConstraints]:
    words = {
        int(word): {
            _known(key): [str(value) for value in (values if isinstance(values, list) else [values])]
            for key, values in entries.items()
        }
        for word, entries in fields.get("words", {}).items()
    }
    spans = tuple((int(first), int(last)) for first, last in fields.get("spans", []))
    return fields["sent_id"], WordConstraints(words, spans)


def _known(key: str) -> str:
    if key not in KEYS:
        raise DeptreeError(f"there is no constraint {key!r}", did_you_mean(key, KEYS, one_of(KEYS)))
    return key
