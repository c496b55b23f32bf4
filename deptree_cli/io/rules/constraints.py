"""What the trees of a sentence must obey, rules of all sentences and what is asked of its own words; and repair by it.

Which heads and labels a word may have, and which words hang together, an annotator asks in MISC or in a file.
`repaired` is the repair in Python: heads and labels in, the nearest tree that obeys out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.core.counts import BUDGET
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError, counted, did_you_mean, one_of
from deptree_cli.core.rules import Bound, Choice, Together, Words
from deptree_cli.core.ruleset import Constraint, Ruleset, Violation, broken, constraints_of, joined, of_word
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.files.streams import entries_of, open_input
from deptree_cli.io.rules.reading import Names, names_in, read_rules, successors, unknown_names, words_of

if TYPE_CHECKING:
    from deptree_cli.core.arc_factored import ArcFactored
    from deptree_cli.core.constrained import Constrained
    from deptree_cli.core.labels import Labels
    from deptree_cli.core.repair import Habits, Repaired
    from deptree_cli.core.spaces import TreeSpace

# Instead of a file: what is asked stands in the sentences.
MISC = "misc"

# Files of what is asked of words and spans.
OF_WORDS = ".tsv"

HEAD_IN, NOT_HEAD, DEPREL_IN, DEPREL_NOT = KEYS = "HeadIn", "NotHead", "DeprelIn", "DeprelNot"
SPAN = "Span"


class WordConstraint(NamedTuple):
    """What is asked of a word, from 1 on: a head or label by one of `KEYS`; or `SPAN`, that words from it on cohere."""

    word: int
    key: str
    values: Sequence[str]
    place: str = ""

    def span(self, n: int) -> tuple[int, int]:
        first, last = self.word, int(self.values[0])
        if not 1 <= first <= last <= n:
            raise DeptreeError(f"there are no words {first} to {last}", f"Name words 1 to {n}", place=self.place)
        return first, last

    def forbidden(self, n: int, labels: Sequence[str]) -> Choice:
        """The arcs with labels that this forbids, (n+1, L); raises for a word or a label that is not there."""
        self._check_word(n)
        found = np.zeros((n + 1, len(labels)), dtype=np.bool_)
        if self.key in (HEAD_IN, NOT_HEAD):
            found[np.isin(np.arange(n + 1), self._heads(n), invert=self.key == HEAD_IN)] = True
        else:
            self._check_labels(labels)
            found[:, np.isin(np.array(labels), self.values, invert=self.key == DEPREL_IN)] = True
        return Choice(self.word, found)

    def is_broken_by(self, heads: Sequence[int], labels: Sequence[str]) -> bool:
        """Whether a word of a tree is not as asked; a negative head or an empty label is."""
        self._check_word(len(heads))
        head, label = heads[self.word - 1], labels[self.word - 1]
        if self.key in (HEAD_IN, NOT_HEAD):
            return head >= 0 and (head in self._heads(len(heads))) != (self.key == HEAD_IN)
        return label != "" and (label in self.values) != (self.key == DEPREL_IN)

    def _check_word(self, n: int) -> None:
        if not 1 <= self.word <= n:
            problem = f"there is no word {self.word}, which is asked for {self.key}"
            raise DeptreeError(problem, f"Name words 1 to {n}", place=self.place)

    def _heads(self, n: int) -> list[int]:
        for value in self.values:
            if not value.isdecimal() or int(value) > n:
                problem = f"{self.key} of word {self.word} is {value!r}, not 0 to {n}"
                raise DeptreeError(problem, "Correct it", place=self.place)
        return [int(value) for value in self.values]

    def _check_labels(self, labels: Sequence[str]) -> None:
        if not any(labels):
            problem = f"word {self.word} is asked for {self.key}, and there are no labels"
            raise DeptreeError(problem, "Name them with --labels FILE", place=self.place)
        for unknown in (value for value in self.values if value not in labels):
            problem = f"{self.key} of word {self.word} is {unknown!r}, which is not a label of the scores"
            raise DeptreeError(problem, did_you_mean(unknown, labels, "Correct it"), place=self.place)


def constraints_in_misc(block: Block) -> list[WordConstraint]:
    found: list[WordConstraint] = []
    for word, misc in enumerate(block.column("misc"), 1):
        own = set[str]()
        for entry in misc.split("|"):
            key, _, value = entry.partition("=")
            problem = remedy = ""
            if key == SPAN:
                for each in value.split(","):
                    if match := re.fullmatch(r"([0-9]+)-([0-9]+)", each):
                        found.append(WordConstraint(int(match[1]), SPAN, [match[2]], block.place))
                    else:
                        problem, remedy = f"{SPAN} of word {word} is {each!r}", f"Write {SPAN}=3-7 for words 3 to 7"
            elif meant := _meant(key):
                if key != meant:
                    problem, remedy = f"word {word} has {key!r} in MISC", f"Did you mean {meant}?"
                elif key in own:
                    problem, remedy = f"word {word} has {key} twice", "Join them with a comma"
                own.add(key)
                found.append(WordConstraint(word, key, value.split(","), block.place))
            if problem:
                raise DeptreeError(problem, remedy, place=block.place)
    return found


@lru_cache(1 << 12)  # most words have the same few
def _meant(key: str) -> str | None:
    """Which of ours a key of MISC is, but for capitals and a letter; Deprel and OldHead are others' and too far."""
    ours = {each.lower(): each for each in (*KEYS, SPAN)}
    return next((ours[each] for each in get_close_matches(key.lower(), ours, 1, cutoff=0.88)), None)


def read_word_constraints(paths: Iterable[str]) -> dict[str, list[WordConstraint]]:
    """What files ask for, by sent_id, each line with its place.

    Rows have sent_id, word, key and value, or sent_id, first and last word. Those with # in front are comments.
    """
    found: dict[str, list[WordConstraint]] = {}
    for path in paths:
        with open_input(path) as source:
            for place, line in entries_of(source.stream, source.place):
                try:
                    if (text := line.decode()) and not text.startswith("#"):
                        sent_id, *row = text.split("\t")
                        found.setdefault(sent_id, []).append(_of_row(text, sent_id, row, place))
                except UnicodeDecodeError:
                    raise DeptreeError("it is not UTF-8", "Convert the file to UTF-8", place=place) from None
    return found


def _of_row(line: str, sent_id: str, row: Sequence[str], place: str) -> WordConstraint:
    if not sent_id.strip() or len(row) not in (2, 3):
        remedy = "Write sent_id, word, key and value between tabs, or sent_id, first and last word"
        raise DeptreeError(f"Expected 3 or 4 columns, found {len(row) + 1}: {line!r}", remedy, place=place)
    word, key, value = row if len(row) == 3 else (row[0], SPAN, row[1])
    for number in [word, value] if len(row) == 2 else [word]:
        if not (number.isascii() and number.isdecimal()):
            raise DeptreeError(f"the word is {number!r}, not a number from 1 on", "Correct it", place=place)
    if len(row) == 3 and key not in KEYS:
        raise DeptreeError(f"there is no constraint {key!r}", did_you_mean(key, KEYS, one_of(KEYS)), place=place)
    return WordConstraint(int(word), key, value.split(","), place)


@dataclass(frozen=True)
class Constraints:
    """Rules of all sentences, what files ask for by sent_id, and whether MISC asks too; `name` is for signatures."""

    name: str
    rules: Ruleset
    of_words: Mapping[str, Sequence[WordConstraint]] = field(default_factory=dict)
    in_misc: bool = False

    @cached_property
    def need_trees(self) -> bool:
        """Whether some of it only a tree decides, as far as that is known before the sentences are read."""
        return bool(self.rules.tree_rules) or any(each.key == SPAN for each in chain(*self.of_words.values()))

    def of(self, sent_id: str, block: Block | None, n: int, labels: Labels | None) -> SentenceConstraints:
        given = list(self.of_words.get(sent_id, ()))
        if block is not None and self.in_misc:
            given += constraints_in_misc(block)
        spans = tuple(each.span(n) for each in given if each.key == SPAN)
        words, of_words = words_of(block, n, labels), tuple(each for each in given if each.key != SPAN)
        return SentenceConstraints(self.rules, replace(words, spans=spans) if spans else words, of_words)

    def notices(self, names: Names) -> Iterator[str]:
        """What there is to say of names in rules, and of MISC, if these are the names that words have."""
        if unknown := unknown_names(self.rules, names, "that no word has"):
            yield unknown
        if self.in_misc and not names.keys:
            yield f"0 constraints in {MISC.upper()}: no word has {', '.join(KEYS)} or {SPAN}"


@dataclass(frozen=True)
class SentenceConstraints:
    rules: Ruleset
    words: Words
    given: tuple[WordConstraint, ...] = ()

    @property
    def named(self) -> set[str]:
        asked = (each.values for each in self.given if each.key in (DEPREL_IN, DEPREL_NOT))
        return set(chain(*asked)) - {"", "_"}

    def names(self, labels: Iterable[str]) -> Names:
        """The names that its words have, `labels` among them."""
        return names_in(self.words, labels, [*(each.key for each in self.given), *[SPAN] * len(self.words.spans)])

    @cached_property
    def forbidden(self) -> Bool:
        """Which arcs with which labels they may not have, (n+1, n+1, L)."""
        found = self.rules.forbidden(self.words)
        for each in self.given:
            word, arcs = each.forbidden(self.words.n, self.words.labels)
            found[:, word] |= arcs
        return found

    @cached_property
    def bound(self) -> Sequence[Bound]:
        return self.rules.bound(self.words, [Together()] if self.words.spans else [])

    def with_labels(self, names: tuple[str, ...]) -> SentenceConstraints:
        return replace(self, words=replace(self.words, labels=names))

    def broken(self, heads: Sequence[int], labels: Sequence[str], space: TreeSpace | None = None) -> list[Violation]:
        """Every place where heads are not a tree or do not obey; see `deptree_cli.core.ruleset.broken`.

        What is asked of single words is named as they name it: `HeadIn`, `DeprelNot`, ...
        """
        found = broken(self.rules, self.words, heads, labels, space)
        asked = (each for each in self.given if each.is_broken_by(heads, labels))
        return found + [Violation(each.key, each.word, (each.word,)) for each in asked]

    def listed(self) -> list[Constraint]:
        """The same, one thing at a time: masks and keys of each word, rules that only a tree decides, and spans."""
        found = constraints_of(self.rules, self.words)
        found += [of_word(each.key, each.forbidden(self.words.n, self.words.labels)) for each in self.given]
        for first, last in self.words.spans:
            bound = Together().bound(replace(self.words, spans=((first, last),)))
            found += [Constraint(f"the span of words {first} to {last}", bound)] if bound else []
        return found

    def on(self, base: ArcFactored, relax: bool | None, budget: int) -> Constrained:
        """A distribution under them.

        `relax`: whether the fewest are given up if no tree obeys what arcs decide, which is an error otherwise; None:
        no, and nobody can ask for it. It may cost a sentence `budget` maximum trees.
        """
        from deptree_cli.core.constrained import under
        from deptree_cli.core.rule_search import Relaxation

        relaxation = Relaxation(base, self.listed, can_relax=relax is not None)
        return under(relaxation, self.forbidden, self.bound, bool(relax), budget)


def read_constraints(names: Sequence[str]) -> Constraints | None:
    """Return what trees must obey by rules, files and `MISC`, all of which hold; None where nothing is asked."""
    if not names:
        return None
    files = [name for name in names if name.removesuffix(".gz").endswith(OF_WORDS)]
    rules = {name: read_rules(name) for name in names if name not in (MISC, *files)}
    shown = (rules[name].name if name in rules else name for name in names)
    return Constraints(",".join(shown), joined(rules.values()), read_word_constraints(files), MISC in names)


def repaired(
    heads: Sequence[int | None],
    labels: Sequence[str | None] | None = None,
    upos: Sequence[str | None] | None = None,
    feats: Sequence[Collection[str]] | None = None,
    *,
    rules: str = "ud",
    scores: ArcFactored | None = None,
    like: Habits | None = None,
    costs: tuple[int, int] = (1, 1),
    worth: float = math.inf,
    space: TreeSpace | str | None = None,
    single_root: bool | None = None,
    projective: bool | None = None,
    budget: int = BUDGET,
    relax: bool = False,
) -> Repaired:
    """Return the valid tree with the fewest changes, of heads and of labels, and of several the most probable.

    >>> repaired([2, 3, 2], ["det", "nsubj", "root"], ["DET", "NOUN", "VERB"]).heads
    array([2, 3, 0], dtype=int32)

    Args:
        heads: of words 1 to n, 0 for ROOT; None for a word that may have any. They need not be a tree.
        labels: of each word, None (or without the list) where it has none.
        upos, feats: parts of speech, and features ``Key=Value``, which rules ask for.
        rules: `ud`, `tree` (one tree and nothing else), or a file of rules.
        scores: a distribution that says which trees are probable; without it `like` does.
        like: how words attach in a treebank; without both near heads are the more probable.
        costs: of another head and of another label.
        worth: how many nats of the scores a cost of 1 is worth; without it changes come first, whatever scores say.
        space, single_root, projective: which trees, as of `TreeDistribution`; usually those of the scores.
        budget: how many maximum trees the search may compute.
        relax: drop the fewest rules if no tree satisfies all.

    Raises:
        DeptreeError: lists differ in length, or no tree satisfies the rules.
    """
    from deptree_cli.core.repair import FREE, Aims, Costs, Given, Habits, nearest, ties
    from deptree_cli.core.spaces import tree_space

    n = len(heads)

    def of_words(what: str, values: Sequence[Any] | None, missing: Any) -> list[Any]:
        if values is not None and len(values) != n:
            raise DeptreeError(f"{len(values)} {what} for {counted(n, 'head')}", f"Give {what} for each word")
        return [missing if each is None else each for each in values or [None] * n]

    known = of_words("labels", labels, "")
    words = Words((), of_words("upos", upos, None), [frozenset(each) for each in of_words("feats", feats, ())])
    others = [*map(successors, known, words.upos)]
    given = Given([FREE if head is None else int(head) for head in heads], known, others)
    if scores is not None and scores.n != given.n:
        problem = f"the scores are of {counted(scores.n, 'word')}, the heads of {given.n}"
        raise DeptreeError(problem, "Check that both are of the same sentence")
    ruleset = read_rules(rules)
    asked = ruleset.labels if labels is not None else ()
    names, wanted = ties(like or Habits(), given, words.upos, scores, asked)
    obeyed = SentenceConstraints(ruleset, words.knowing(ruleset.upos)).with_labels(names)
    is_named = any(each is not None for each in (space, single_root, projective))
    trees = tree_space(space, single_root, projective) if scores is None or is_named else scores.space
    return nearest(given, obeyed, wanted, trees, Aims(Costs(*costs), worth, budget, relax))
