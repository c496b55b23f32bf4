"""Rules of a sentence or a treebank, and trees checked against them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product
from typing import NamedTuple, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.rule_kinds import Function, Together
from deptree_cli.core.rule_words import (
    NOT,
    Bound,
    Choice,
    ForLabels,
    LabelledTree,
    LabelNumbers,
    Mask,
    Nogood,
    TreeRule,
    Words,
    forbidden,
    pattern_in,
)
from deptree_cli.core.spaces import SINGLE_ROOT, TreeSpace

# Rules by name: what a file of rules says, as masks and rules that only a tree decides.


Rule = Mask | TreeRule


class OfLabel(NamedTuple):
    """The masks about a label, with their numbers: those that ask little, and others.

    `known`: what the first forbid words with a part of speech below one with another on a side.
    """

    few: list[tuple[int, Mask]]
    others: list[tuple[int, Mask]]
    known: dict[tuple[object, object, bool], list[tuple[int, Mask]]]


class LookedAt(NamedTuple):
    """The masks about each label (L,), and rules that only a tree decides with the labels of which it must have one."""

    of_labels: list[OfLabel]
    tree_rules: list[tuple[TreeRule, set[int]]]


@dataclass(frozen=True)
class Ruleset:
    """Rules that are kept together, in the order in which they are looked at.

    `upos` are the only parts of speech that words may have (empty: any); no tree mends others.
    """

    name: str
    rules: tuple[Rule, ...]
    upos: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules]
        if twice := next((each for each in names if names.count(each) > 1), None):
            raise DeptreeError(f"two rules are called {twice!r}", "Give each a name of its own")

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        """The labels (and patterns), parts of speech and features that the rules name, each once, by `WHICH`."""
        found: dict[str, dict[str, None]] = {kind: {} for kind in WHICH}
        for rule in self.rules:
            values = [value if isinstance(value, tuple) else (value,) for value in vars(rule).values()]
            for (kind, fields), part in product(WHICH.items(), [*chain(*values), rule]):
                given = [each for field in fields for each in getattr(part, field, ())]
                found[kind] |= dict.fromkeys(given if kind == "upos" else (each.removeprefix(NOT) for each in given))
        return {kind: list(names) for kind, names in found.items()}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(each for each in self.names["label"] if pattern_in(each) is None)

    @property
    def asks_for(self) -> set[str]:
        """What the rules ask for of words: some of ``label``, ``upos`` and ``feats``."""
        return {kind for kind, names in self.names.items() if names or (kind == "upos" and self.upos)}

    @property
    def masks(self) -> list[Mask]:
        return [rule for rule in self.rules if isinstance(rule, Mask)]

    @property
    def ask_feats(self) -> bool:
        return any(mask.needs_feats for mask in self.masks)

    @property
    def tree_rules(self) -> list[TreeRule]:
        return [rule for rule in self.rules if not isinstance(rule, Mask)]

    def forbidden(self, words: Words) -> Bool:
        return forbidden(self.masks, words)

    def looked_at(self, words: Words) -> LookedAt:
        """What is looked at in trees of a sentence, kept until there are other labels: sentences have the same few."""
        kept, known = self._looked_at.get(words.labels, dict), (words.has_tags, words.has_feats)
        if known not in kept:
            kept[known] = self._for_labels(words)
        return kept[known]

    @cached_property
    def _looked_at(self) -> ForLabels[dict[tuple[bool, bool], LookedAt]]:
        return ForLabels()

    def _for_labels(self, words: Words) -> LookedAt:
        masks = [(number, mask) for number, mask in enumerate(self.masks) if mask.has_effect(words)]
        of_labels = [OfLabel([], [], {}) for _ in words.labels]
        for number, mask in masks:
            for label in np.flatnonzero(mask.dependent.labels(words.labels)).tolist():
                (of_labels[label].few if mask.asks_little else of_labels[label].others).append((number, mask))
        tree_rules = [(rule, set(np.flatnonzero(rule.group(words.labels)).tolist())) for rule in self.tree_rules]
        return LookedAt(of_labels, tree_rules)

    def bound(self, words: Words, others: Sequence[TreeRule] = ()) -> list[Bound]:
        bound = (rule.bound(words) for rule in (*self.tree_rules, *others))
        return [find for find in bound if find is not None]

    def idle(self, words: Words) -> list[str]:
        return [rule.name for rule in self.rules if not rule.has_effect(words)]


def joined(rulesets: Iterable[Ruleset]) -> Ruleset:
    """The rules of all of them together; a word may have the parts of speech that all allow."""
    given = list(rulesets)
    rules = tuple(rule for each in given for rule in each.rules)
    tags = [each.upos for each in given if each.upos]
    upos = tuple(tag for tag in tags[0] if all(tag in each for each in tags)) if tags else ()
    return Ruleset(",".join(each.name for each in given), rules, upos)


# The kinds of names in rules, and the fields of rules and of conditions in which they stand.
WHICH = {"label": ("label", "between", "unless"), "upos": ("upos",), "feats": ("feats",)}


# Which rules given trees break, and whether they are trees at all.
#
# A sentence whose heads make no tree is looked at all the same: every rule is applied that its other arcs decide.


# What heads may be that make no tree, as the validator of Universal Dependencies calls it: none, or no number; a number
# of no word; the word itself; ROOT more than once; words that are their own ancestors.
INVALID_HEAD, UNKNOWN_HEAD, SELF_LOOP = "invalid-head", "unknown-head", "head-self-loop"
MULTIPLE_ROOTS, NON_TREE = "multiple-roots", "non-tree"

# A part of speech that is none of those of the rules.
UNKNOWN_UPOS = "unknown-upos"

# Where a word has no head.
NO_HEAD = -1

# Sentences of a treebank have other labels each, and the same few: what rules know of them is kept.
_NUMBERED = LabelNumbers()


class Violation(NamedTuple):
    """A place where a tree breaks a rule: `words`, from 1 on, break it together, `word` first."""

    rule: str
    word: int
    words: tuple[int, ...]


def broken(
    rules: Ruleset, words: Words, heads: Sequence[int], labels: Sequence[str], space: TreeSpace = SINGLE_ROOT
) -> list[Violation]:
    """Return every place where heads are no tree, or break a rule; nothing where they are a tree that obeys.

    First what makes them no tree of the space, then the rules in their order, each by the order of words. Stretches of
    `words.spans` that do not hang together are named too, by the rule `spans`. A rule that names labels says nothing of
    words without one, and a rule that names parts of speech nothing of words of which none is known. What missing heads
    would decide, or those of a cycle, of which one must go, is left out; functions of trees are asked about trees only.

    >>> from deptree_cli.core.rule_words import Words
    >>> from deptree_cli.io.rules.reading import read_rules
    >>> words = Words((), ["NOUN", "VERB", "NOUN"], [frozenset()] * 3)
    >>> broken(read_rules("ud"), words, [2, 0, 2], ["nsubj", "root", "nsubj"])
    [Violation(rule='too-many-subjects', word=1, words=(1, 3))]
    >>> broken(read_rules("ud"), words, [3, 0, 1], ["obj", "root", "Obl"])
    [Violation(rule='non-tree', word=1, words=(1, 3)), Violation(rule='invalid-deprel', word=3, words=(3,))]

    Args:
        rules: see `Ruleset`.
        words: what rules know of the n words; its own labels are not used.
        heads: of words 1 to n, 0 for ROOT, `NO_HEAD` for none; others, which are no words, are named.
        labels: of each word the name of its label, empty where it has none.
        space: of which the tree should be one.

    Raises:
        DeptreeError: there are not as many heads and labels as words.
    """
    _check_sizes(words.n, heads, labels)
    names, numbers = _NUMBERED.of(labels)
    known = replace(words, labels=names)
    found = list(_wrong_heads(heads))
    loose = {word for each in found for word in each.words}
    given = [0 if word in loose else int(head) for word, head in enumerate(heads, 1)]
    tree = LabelledTree(given, numbers)
    found += _no_tree(tree, space, loose)
    has = tree.by_label.keys()
    asked = [rule for rule, labels in rules.looked_at(known).tree_rules if not labels.isdisjoint(has)]
    asked = [rule for rule in (*asked, Together()) if not (found and isinstance(rule, Function))]
    changing = [*({word} for word in loose), *map(set, tree.cycles)] if found else []
    found += _by_arcs(rules, known, tree, loose)
    return found + [each for rule in asked for each in _by_trees(rule, known, tree, changing)]


def wrong_tags(rules: Ruleset, words: Words) -> list[Violation]:
    wrong = {*words.tags} - {None, *rules.upos} if rules.upos else ()
    return [Violation(UNKNOWN_UPOS, word, (word,)) for word, tag in enumerate(words.tags, 1) if tag in wrong]


def _wrong_heads(heads: Sequence[int]) -> Iterator[Violation]:
    """The words whose heads are none, which are one place, no word, or they themselves."""
    if missing := tuple(word for word, head in enumerate(heads, 1) if head < 0):
        yield Violation(INVALID_HEAD, missing[0], missing)
    for word, head in enumerate(heads, 1):
        if head == word or head > len(heads):
            yield Violation(SELF_LOOP if head == word else UNKNOWN_HEAD, word, (word,))


def _no_tree(tree: LabelledTree, space: TreeSpace, loose: Set[int]) -> Iterator[Violation]:
    """What else keeps heads from being a tree of the space; `loose` words have no head and stand below ROOT."""
    roots = tuple(word for word, head in enumerate(tree.heads, 1) if not head and word not in loose)
    if len(roots) > 1 and space.single_root:
        yield Violation(MULTIPLE_ROOTS, roots[0], roots)
    for cycle in tree.cycles:
        yield Violation(NON_TREE, cycle[0], cycle)
    yield from _not_of_the_kind(tree, space, loose) if space.kind else ()


def _not_of_the_kind(tree: LabelledTree, space: TreeSpace, loose: Set[int]) -> Iterator[Violation]:
    """The words whose arcs cross, or are none of the space; the validator has no name for it but the space does."""
    aside = LabelledTree([word - 1 if word in loose else head for word, head in enumerate(tree.heads, 1)], tree.labels)
    for word, head in enumerate(aside.heads, 1):
        if other := aside.crossings.get(word) if space.projective else None:
            yield Violation(space.kind, word, (word, other))
        elif word not in loose and not space.allows(head, word):
            yield Violation(space.kind, word, (word,))


def _by_arcs(rules: Ruleset, words: Words, tree: LabelledTree, loose: Set[int]) -> list[Violation]:
    """The words whose arcs masks forbid, by the order of masks."""
    of_labels, found, upos = rules.looked_at(words).of_labels, list[tuple[int, int, Mask]](), words.upos
    for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
        few, others, known = of_labels[label]
        key = upos[word - 1], upos[head - 1] if head else 0, head < word
        if (bad := known.get(key)) is None:
            bad = known[key] = [each for each in few if each[1].forbids(words, head, word)]
        for number, mask in (*bad, *(each for each in others if each[1].forbids(words, head, word))):
            if mask.is_of_words or word not in loose:
                found.append((number, word, mask))
    return [Violation(mask.name, word, (word,)) for _, word, mask in sorted(found, key=lambda each: each[:2])]


def _by_trees(rule: TreeRule, words: Words, tree: LabelledTree, changing: Sequence[Set[int]]) -> Iterator[Violation]:
    """The nogoods of a rule that only a tree decides; in each set, `changing`, some word must get another head."""
    for nogood in rule.find(words, tree):
        by_heads = _decided_by_heads(nogood, words, tree) if changing else frozenset()
        if not any(each <= by_heads for each in changing):
            yield Violation(rule.name, nogood.words[0], nogood.words)


def _decided_by_heads(nogood: Nogood, words: Words, tree: LabelledTree) -> Set[int]:
    """The words with whose heads a nogood may go: not those that take part by their labels alone."""
    found = set()
    for word, arcs in nogood.choices:
        label = tree.labels[word - 1]
        own = slice(None) if arcs.shape[1] == 1 or not words.labels[label] else label
        if not arcs[:, own].all():
            found.add(word)
    return found


def _check_sizes(n: int, heads: Sequence[int], labels: Sequence[str]) -> None:
    for given, what in ((heads, "head"), (labels, "label")):
        if len(given) != n:
            problem = f"{counted(len(given), what)} given for a sentence of {counted(n, 'word')}"
            raise DeptreeError(problem, f"Give one {what} per word")


# What is asked of a sentence's trees, one thing at a time, each under a name; and what of it cannot hold together.


Asked = TypeVar("Asked")


@dataclass(frozen=True, eq=False)
class Constraint:
    """A constraint on trees: the arcs with labels, (n+1, L), that it forbids a word, or what finds its nogoods."""

    name: str
    asks: Choice | Bound

    def is_broken_by(self, tree: LabelledTree) -> bool:
        if isinstance(self.asks, Choice):
            word, arcs = self.asks
            return bool(arcs[tree.heads[word - 1], tree.labels[word - 1]])
        return next(self.asks.nogoods(tree), None) is not None


def constraints_of(rules: Ruleset, words: Words) -> list[Constraint]:
    """What rules ask of a sentence: a mask of each word by itself, a rule that only a tree decides of the tree."""
    found: list[Constraint] = []
    for rule in rules.rules:
        if isinstance(rule, Mask):
            of_words = forbidden([rule], words)
            for word in np.flatnonzero(of_words.any(axis=(0, 2))).tolist():
                found.append(of_word(rule.name, Choice(word, of_words[:, word].copy())))
        elif (bound := rule.bound(words)) is not None:
            found.append(Constraint(rule.name, bound))
    return found


def of_word(name: str, choice: Choice) -> Constraint:
    return Constraint(f"{name} of word {choice.word}", choice)


def choices_of(constraints: Iterable[Constraint]) -> list[Choice]:
    return [each.asks for each in constraints if isinstance(each.asks, Choice)]


def rules_of(constraints: Iterable[Constraint]) -> list[Bound]:
    return [each.asks for each in constraints if not isinstance(each.asks, Choice)]


def conflicting(constraints: Sequence[Asked], can_hold: Callable[[Sequence[Asked]], bool]) -> list[Asked]:
    """A minimal subset of constraints that cannot hold together: QuickXplain (Junker 2004).

    k of m take O(k log(m / k)) questions. More constraints can hold only if fewer can.
    """

    def among(parts: Sequence[Asked], kept: Sequence[Asked], is_new: bool) -> list[Asked]:
        """Those of some that are needed beside others, which are kept; `is_new`: more of these than when last asked."""
        if is_new and not can_hold(kept):
            return []
        if len(parts) == 1:
            return list(parts)
        first, second = parts[: len(parts) // 2], parts[len(parts) // 2 :]
        needed = among(second, [*kept, *first], True)
        return [*among(first, [*kept, *needed], bool(needed)), *needed]

    return among(constraints, [], False)
