"""Annotated sentences, whatever their heads are, held against what trees must obey: what check and repair share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, overload

import numpy as np

from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.rules import Bound, Choice, LabelledTree, Nogood, Words, arcs_of
from deptree_cli.core.ruleset import NO_HEAD, NO_TREE, Constraint, Violation, choices_of, of_word_name, wrong_tags
from deptree_cli.io.conllu.blocks import Block, wrong_tokens
from deptree_cli.io.conllu.columns import UNLABELLED, decoded
from deptree_cli.io.conllu.enhanced import wrong_arcs
from deptree_cli.io.files.streams import entries_of, open_input
from deptree_cli.io.read import sentences
from deptree_cli.io.rules.reading import Names, old_labels
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import names_of

if TYPE_CHECKING:
    from deptree_cli.core.spaces import TreeSpace
    from deptree_cli.io.rules.constraints import Constraints, SentenceConstraints

# So many tags of a file tell which they are; wrong ones are slips if they are fewer than these, or not the most.
ENOUGH, FEWEST = 1000, 20

# Of what is wrong; `word` may be the ID of an empty node, and has a head and a label only if the tree is wrong.
COLUMNS = ("sent_id", "rule", "word", "form", "head", "deprel", "words", "file", "line")


def noted(read: Iterator[Sentence | DeptreeError], upos: Sequence[str]) -> Iterator[Sentence | DeptreeError]:
    """The sentences of a file, noted if most of its first tags are not parts of speech: then rules use none of them."""
    held: list[Sentence | DeptreeError] = []
    tags = Counter[bool]()
    while upos and tags.total() < ENOUGH and (sentence := next(read, None)) is not None:
        held.append(sentence)
        with suppress(DeptreeError):  # not UTF-8: an error of the sentence, raised where it is worked on
            if not isinstance(sentence, DeptreeError):
                tags.update(tag in upos for tag in sentence.sentence.column("upos") if tag != "_")
    others = FEWEST <= tags[False] > tags[True]
    for sentence in chain(held, read):
        if others and not isinstance(sentence, DeptreeError):
            sentence.has_other_tags = True
        yield sentence


def possible_names(item: Sentence | DeptreeError) -> Sequence[str]:
    """What files of rules may call a sentence."""
    return names_of(item.sent_id)


# A violation by the sent_id of its sentence, the rule and the word, or the empty node, as its ID has it.
Key = tuple[str, str, str]


def read_known(path: str) -> dict[Key, str]:
    """Violations that are meant, each with its ``file:line``: rows of sent_id, rule and word, as ``check --tsv`` has.

    Further columns and rows with # in front are free; a first row of names says which columns these are.
    """
    found, columns = dict[Key, str](), list(range(3))
    with open_input(path, may_be_empty=True) as source:
        for place, line in entries_of(source.stream, source.place):
            text = decoded(line, place)
            cells = [] if text.startswith("#") else text.split("\t")
            if {"sent_id", "rule", "word"} <= set(cells):
                columns = [cells.index(name) for name in ("sent_id", "rule", "word")]
            elif text and cells:
                row = [cells[column] for column in columns if column < len(cells)]
                if len(row) < 3 or not re.fullmatch(r"[0-9]+(\.[0-9]+)?", row[2]):
                    problem = f"{text!r} is not a sent_id, a rule and the number of a word"
                    raise DeptreeError(problem, "Write them with tabs between, as check --tsv does", place=place)
                found.setdefault((row[0], row[1], row[2]), place)
    return found


class Counts(NamedTuple):
    """What a sentence counts for: how often each rule is broken, and how many words lack what or have other tags.

    `known`: how often each violation was found that is known.
    """

    rules: Counter[str]
    words: Mapping[str, int]
    names: Names
    known: Mapping[Key, int] = {}


@dataclass(frozen=True, eq=False)
class AnnotatedTree:
    """What a sentence has for a tree, and what it should be; if its tags are not parts of speech, rules know none."""

    read: Sentence
    asked: SentenceConstraints
    of: Asked

    @property
    def block(self) -> Block:
        return self.read.sentence

    @cached_property
    def heads(self) -> Sequence[int]:
        """The heads of its words, `NO_HEAD` where there is none."""
        return [NO_HEAD if head is None else head for head in self.block.heads]

    @cached_property
    def labels(self) -> Sequence[str]:
        return ["" if label == "_" else label for label in self.block.deprels]

    @cached_property
    def _found(self) -> list[tuple[Key, Violation]]:
        found, sent_id = self.asked.broken(self.heads, self.labels, self.of.space), self.read.sent_id
        return [((sent_id, each.rule, str(each.word)), each) for each in found]

    @cached_property
    def known(self) -> Counter[Key]:
        """How often each violation was found that is known."""
        return Counter(key for key, _ in self._found if key in self.of.known)

    @cached_property
    def broken(self) -> list[Violation]:
        """What is broken and not known; that it is no tree of the space, whoever knows it."""
        no_tree = {*NO_TREE, self.of.space.kind} if self.of.space else NO_TREE
        return [each for key, each in self._found if key not in self.known or each.rule in no_tree]

    @property
    def kept(self) -> set[int]:
        """The words of known violations."""
        return {int(word) for _, _, word in self.known}

    @property
    def excused(self) -> Excused:
        """What is asked of it but for what is known."""
        return Excused(self.asked, {(rule, int(word)) for _, rule, word in self.known})

    @cached_property
    def wrong_tags(self) -> list[Violation]:
        return wrong_tags(self.asked.rules, self.asked.words)

    @cached_property
    def wrong(self) -> list[dict[str, Any]]:
        """All that is wrong: what is broken, multiword tokens and graphs; tags unless all of the file are others."""
        broken = self.broken if self.read.has_other_tags else [*self.broken, *self.wrong_tags]
        block, rows = self.block, list[tuple[Any, ...]]()
        forms = block.column("form") if broken else []
        for rule, word, words in broken:
            head, label = self.heads[word - 1], self.labels[word - 1]
            cells = forms[word - 1], head if head >= 0 else None, label or None, words
            rows.append((rule, word, *cells, block.file, block.line_of(word)))
        for rule, _what, first, last, form in wrong_tokens(block):
            line = block.line_of(first) if first <= block.n else block.line
            rows.append((rule, first, decoded(form, block.place), None, None, (first, last), block.file, line))
        for rule, node, written in wrong_arcs(block):
            word = int(node.partition(".")[0])
            named, line = word if node.isdigit() else node, block.line_of(max(word, 1))
            rows.append((rule, named, written, None, None, (word,), block.file, line))
        return [dict(zip(COLUMNS, (self.read.sent_id, *row), strict=True)) for row in rows]

    @property
    def counts(self) -> Counts:
        """What it counts for: all that is wrong, or, if trees are repaired, what that mends."""
        others = self.wrong_tags if self.of.mends or self.read.has_other_tags else []
        rules = Counter(each.rule for each in (self.broken if self.of.mends else others))
        if not self.of.mends:
            rules.update(row["rule"] for row in self.wrong)
        words = {"upos": [*self.asked.words.tags].count(None), "label": self.labels.count(""), "other": len(others)}
        return Counts(rules, words, self.asked.names(self.labels), self.known)

    @property
    def is_suspect(self) -> bool:
        """Whether there is something to repair: it is not a tree, breaks a rule, or lacks labels that can be filled."""
        return bool(self.broken) or ("" in self.labels and (any(self.labels) or bool(self.asked_labels)))

    @property
    def asked_labels(self) -> set[str]:
        """The labels that annotators and rules name, one if these name patterns; none without a column for labels."""
        asked = self.asked.rules.asks_for if "deprel" in self.block.columns else ()
        return {*self.asked.named, *(self.asked.rules.labels or [UNLABELLED] if "label" in asked else [])}


@dataclass(frozen=True, eq=False)
class Excused:
    """What is asked of a sentence's trees but for violations that are `known`: to each word its rule does not apply."""

    asked: SentenceConstraints
    known: Set[tuple[str, int]]

    @property
    def words(self) -> Words:
        return self.asked.words

    @property
    def forbidden(self) -> Bool:
        found = np.zeros_like(self.asked.forbidden)
        for word, arcs in choices_of(self.listed()):
            found[:, word] |= arcs
        return found

    @property
    def bound(self) -> Sequence[Bound]:
        return [self._without(each) for each in self.asked.bound]

    def listed(self) -> list[Constraint]:
        known = {of_word_name(rule, word) for rule, word in self.known}
        asked = [each for each in self.asked.listed() if each.name not in known]
        return [replace(each, asks=self._without(each.asks)) for each in asked]

    def with_labels(self, names: tuple[str, ...]) -> Excused:
        return replace(self, asked=self.asked.with_labels(names))

    @overload
    def _without(self, asks: Bound) -> Bound: ...
    @overload
    def _without(self, asks: Choice | Bound) -> Choice | Bound: ...
    def _without(self, asks: Choice | Bound) -> Choice | Bound:
        """The same without the nogoods whose first word is known, by which violations are called."""
        if isinstance(asks, Choice) or not asks.rule:
            return asks
        known = {word for rule, word in self.known if rule == asks.rule.name}

        def nogoods(tree: LabelledTree) -> Iterator[Nogood]:
            """Those of trees in which known words have these arcs: with others a violation may be known."""
            for each in asks.nogoods(tree):
                if each.words[0] not in known:
                    yield Nogood(each.words, partial(beside, tree, each))

        def beside(tree: LabelledTree, nogood: Nogood) -> list[Choice]:
            words, numbers = known - {word for word, _ in nogood.choices}, np.arange(len(self.words.labels))
            arcs = ((word, tree.heads[word - 1], numbers == tree.labels[word - 1]) for word in sorted(words))
            return [*nogood.choices, *(Choice(word, arcs_of(self.words, head, own)) for word, head, own in arcs)]

        return Bound(None, asks.group, nogoods) if known else asks


@dataclass(frozen=True)
class Asked:
    """What trees should be; picklable. `mends`: they are repaired, and rules use no single tag that is none of UD's.

    `space`: None for all single-root trees. `known`: violations that are meant.
    """

    constraints: Constraints
    space: TreeSpace | None
    mends: bool = False
    known: Collection[Key] = ()

    def in_files(self, paths: Sequence[str]) -> Iterator[Sentence | DeptreeError]:
        upos, feats = self.constraints.rules.upos, self.constraints.rules.ask_feats
        return sentences(paths, watched=lambda read, _: noted(read, upos), any_heads=True, feats=feats).in_order()

    def __call__(self, read: Sentence) -> AnnotatedTree:
        block = read.sentence
        names = (each for each in possible_names(read) if each in self.constraints.of_words)
        asked = self.constraints.of(next(names, read.sent_id), block, block.n, None)
        if read.has_other_tags:
            asked = replace(asked, words=replace(asked.words, upos=[None] * block.n))
        elif self.mends:
            asked = replace(asked, words=asked.words.knowing(asked.rules.upos))
        return AnnotatedTree(read, asked, self)


class BrokenRules:
    """Counts how often each rule is broken, and in how many sentences; and what keeps rules from being applied.

    Violations that are known are counted apart, each by itself.
    """

    def __init__(self, constraints: Constraints) -> None:
        self._constraints, self._names = constraints, Names()
        self._checked = self._breaking = 0
        self._places, self._sentences, self._words = Counter[str](), Counter[str](), Counter[str]()
        self.known = Counter[Key]()

    def add(self, counts: Counts) -> None:
        self._checked += 1
        if counts.rules:
            self._breaking += 1
            self._places.update(counts.rules)
            self._sentences.update(counts.rules.keys())
        self._words.update(counts.words)
        self._names |= counts.names
        self.known.update(counts.known)

    @property
    def found(self) -> list[tuple[str, int, int]]:
        """Each rule that is broken, at how many places, and in how many sentences."""
        return [(rule, places, self._sentences[rule]) for rule, places in self._places.most_common()]

    def notices(self, labels: bool = True) -> Iterator[str]:
        """What keeps rules from being applied; `labels`: also that words have none."""
        rules, words = self._constraints.rules, self._words
        for kind, column in (("upos", "UPOS"), ("label", "DEPREL"))[: 1 + labels]:
            if words[kind] and kind in rules.asks_for:
                without = f"{counted(words[kind], 'word')} without {column}"
                yield f"{without}: rules that ask for it are not applied to them"
        if others := words["other"]:
            have = f"{counted(others, 'word')} {'has' if others == 1 else 'have'}"
            yield f"{have} a UPOS that is not a universal tag; rules about UPOS ignore them"
        yield from filter(None, [old_labels(rules, self._names.label), *self._constraints.notices(self._names)])

    def __str__(self) -> str:
        sentences = counted(self._checked, "sentence")
        if not self._places:
            return f"no rule is broken in {sentences}"
        return f"rules are broken in {self._breaking} of {sentences}, at {counted(self._places.total(), 'place')}"
