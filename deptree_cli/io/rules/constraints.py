"""What the trees of a sentence must obey: rules of all sentences, and what is asked of its own words.

Which heads and labels a word may have, and which words hang together, an annotator asks in MISC or in a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.checking import Violation, broken
from deptree_cli.core.constraints.conflicts import Choice, Finder
from deptree_cli.core.constraints.constrained import Constrained, under
from deptree_cli.core.constraints.kinds import Together
from deptree_cli.core.constraints.named import Constraint, choices_of, constraints_of, of_word
from deptree_cli.core.constraints.relaxation import Relaxation
from deptree_cli.core.constraints.ruleset import Ruleset, joined
from deptree_cli.core.constraints.words import Words
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError, did_you_mean, one_of
from deptree_cli.core.labels import Labels
from deptree_cli.core.spaces import SINGLE_ROOT, TreeSpace
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.files.streams import entries_of, open_input
from deptree_cli.io.rules.reading import read_rules, words_of

# Instead of a file: what is asked stands in the sentences.
MISC = "misc"

# Files of what is asked of words and spans.
OF_WORDS = ".tsv"

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
        of_labels = [each.get(key, ()) for each in self.words.values() for key in (DEPREL_IN, DEPREL_NOT)]
        return {label for labels in of_labels for label in labels if label not in ("", "_")}

    def checked_spans(self, n: int) -> Spans:
        for first, last in self.spans:
            if not 1 <= first <= last <= n:
                raise DeptreeError(f"there are no words {first} to {last}", f"Name words 1 to {n}", place=self.place)
        return self.spans

    def forbidden(self, n: int, labels: Sequence[str]) -> Bool:
        """The arcs with labels that this forbids, (n+1, n+1, L); raises for a word or a label that is not there."""
        found = np.zeros((n + 1, n + 1, len(labels)), dtype=np.bool_)
        for word, arcs in choices_of(self.listed(n, labels)):
            found[:, word] |= arcs
        return found

    def listed(self, n: int, labels: Sequence[str]) -> list[Constraint]:
        return [
            of_word(key, Choice(word, self._forbidden(word, key, values, n, labels)))
            for word, key, values in self._entries(n)
        ]

    def _entries(self, n: int) -> Iterator[tuple[int, str, Sequence[str]]]:
        for word, entries in self.words.items():
            if not 1 <= word <= n:
                problem = f"there is no word {word}, which is asked for {', '.join(entries)}"
                raise DeptreeError(problem, f"Name words 1 to {n}", place=self.place)
            for key, values in entries.items():
                yield word, key, values

    def _forbidden(self, word: int, key: str, values: Sequence[str], n: int, labels: Sequence[str]) -> Bool:
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
    words: dict[int, dict[str, list[str]]] = {}
    spans: list[tuple[int, int]] = []
    for word, misc in enumerate(block.column("misc"), 1):
        for entry in misc.split("|"):
            key, _, value = entry.partition("=")
            if key == SPAN:
                for each in value.split(","):
                    if not (match := re.fullmatch(r"([0-9]+)-([0-9]+)", each)):
                        problem, remedy = f"{SPAN} of word {word} is {each!r}", f"Write {SPAN}=3-7 for words 3 to 7"
                        raise DeptreeError(problem, remedy, place=block.place)
                    spans.append((int(match[1]), int(match[2])))
            elif key in KEYS:
                if key in words.setdefault(word, {}):
                    raise DeptreeError(f"word {word} has {key} twice", "Join them with a comma", place=block.place)
                words[word][key] = value.split(",")
    return WordConstraints(words, tuple(spans), block.place)


def read_word_constraints(paths: Iterable[str]) -> dict[str, tuple[WordConstraints, ...]]:
    """What files ask for, by sent_id, each line with its place.

    Rows have sent_id, word, key and value, or sent_id, first and last word. Those with # in front are comments.
    """
    found: dict[str, tuple[WordConstraints, ...]] = {}
    for path in paths:
        with open_input(path) as source:
            for place, line in entries_of(source.stream, source.place):
                try:
                    if (text := line.decode()) and not text.startswith("#"):
                        sent_id, asked = _of_row(text, place)
                        found[sent_id] = (*found.get(sent_id, ()), asked)
                except UnicodeDecodeError:
                    raise DeptreeError("it is not UTF-8", "Convert the file to UTF-8", place=place) from None
                except DeptreeError as error:
                    raise error.at(place) from None
    return found


def _of_row(line: str, place: str) -> tuple[str, WordConstraints]:
    sent_id, *others = line.split("\t")
    if not sent_id.strip() or len(others) not in (2, 3):
        remedy = "Write sent_id, word, key and value between tabs, or sent_id, first and last word"
        raise DeptreeError(f"Expected 3 or 4 columns, found {len(others) + 1}: {line!r}", remedy)
    if len(others) == 2:
        return sent_id, WordConstraints({}, ((_number(others[0]), _number(others[1])),), place)
    word, key, value = others
    number = _number(word)
    if key not in KEYS:
        raise DeptreeError(f"there is no constraint {key!r}", did_you_mean(key, KEYS, one_of(KEYS)))
    return sent_id, WordConstraints({number: {key: value.split(",")}}, (), place)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()):
        raise DeptreeError(f"the word is {text!r}, not a number from 1 on", "Correct it")
    return int(text)


@dataclass(frozen=True)
class Constraints:
    """Rules that trees must obey.

    Attributes:
        name: what signatures call it.
        rules: of all sentences.
        of_words: what files ask for, by sent_id.
        in_misc: whether MISC asks for something.
    """

    name: str
    rules: Ruleset
    of_words: Mapping[str, tuple[WordConstraints, ...]] = field(default_factory=dict)
    in_misc: bool = False

    @cached_property
    def need_trees(self) -> bool:
        """Whether some of it only a tree decides, as far as that is known before the sentences are read."""
        return bool(self.rules.tree_rules) or any(one.spans for asked in self.of_words.values() for one in asked)

    def of(self, sent_id: str, block: Block | None, n: int, labels: Labels | None) -> SentenceConstraints:
        given = list(self.of_words.get(sent_id, ()))
        if block is not None and self.in_misc:
            given.append(constraints_in_misc(block))
        spans = tuple(span for each in given for span in each.checked_spans(n))
        words = words_of(block, n, labels)
        return SentenceConstraints(self.rules, replace(words, spans=spans) if spans else words, tuple(given))


@dataclass(frozen=True)
class SentenceConstraints:
    rules: Ruleset
    words: Words
    given: tuple[WordConstraints, ...] = field(default=())

    @property
    def named(self) -> set[str]:
        return {label for each in self.given for label in each.labels}

    @cached_property
    def forbidden(self) -> Bool:
        """Which arcs with which labels they may not have, (n+1, n+1, L)."""
        found = self.rules.forbidden(self.words)
        for each in self.given:
            found |= each.forbidden(self.words.n, self.words.labels)
        return found

    @cached_property
    def finders(self) -> Sequence[Finder]:
        return self.rules.finders(self.words, [Together()] if self.words.spans else [])

    def with_labels(self, names: tuple[str, ...]) -> SentenceConstraints:
        return replace(self, words=replace(self.words, labels=names))

    def broken(self, heads: Sequence[int], labels: Sequence[str], space: TreeSpace = SINGLE_ROOT) -> list[Violation]:
        """Every place where heads are no tree or do not obey; see `deptree_cli.core.constraints.checking.broken`.

        What is asked of single words is named as they name it: `HeadIn`, `DeprelNot`, ...
        """
        found = broken(self.rules, self.words, heads, labels, space)
        for each in self.given:
            found += each.broken(heads, labels)
        return found

    def listed(self) -> list[Constraint]:
        """The same, one thing at a time: masks and keys of each word, rules that only a tree decides, and spans."""
        found = constraints_of(self.rules, self.words)
        for each in self.given:
            found += each.listed(self.words.n, self.words.labels)
        for first, last in self.words.spans:
            finder = Together().bound(replace(self.words, spans=((first, last),)))
            found += [Constraint(f"the span of words {first} to {last}", finder)] if finder else []
        return found

    def on(self, base: ArcFactored, relax: bool | None, budget: int) -> Constrained:
        """A distribution under them.

        Args:
            relax: whether the fewest constraints are given up if no tree obeys; None: no, and nobody can ask for it.
            budget: how many maximum trees a sentence may cost for that.

        Raises:
            DeptreeError: no tree obeys what arcs decide, and nothing is given up.
        """
        relaxation = Relaxation(base, self.listed, can_relax=relax is not None)
        return under(relaxation, self.forbidden, self.finders, bool(relax), budget)


def read_constraints(names: Sequence[str]) -> Constraints | None:
    """Return what trees must obey by rules, files and `MISC`, all of which hold; None where nothing is asked."""
    if not names:
        return None
    files = [name for name in names if name.removesuffix(".gz").endswith(OF_WORDS)]
    rules = {name: read_rules(name) for name in names if name not in (MISC, *files)}
    shown = (rules[name].name if name in rules else name for name in names)
    return Constraints(",".join(shown), joined(rules.values()), read_word_constraints(files), MISC in names)
