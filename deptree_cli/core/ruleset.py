"""Rules of a sentence or a treebank, and trees checked against them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import chain, product
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.rules import (
    NOT,
    Bound,
    Choice,
    Finder,
    Function,
    LabelledTree,
    Mask,
    Nogood,
    Together,
    TreeRule,
    Words,
    forbidden,
    group_and_finder,
    numbers_of,
    pattern_in,
)

if TYPE_CHECKING:
    from deptree_cli.core.spaces import TreeSpace

# Rules by name: what a file of rules says, as masks and rules that only a tree decides.

Rule = Mask | TreeRule

# The kinds of names in rules, and the fields of rules and of conditions in which they stand.
WHICH = {"label": ("label", "between", "unless"), "upos": ("upos",), "feats": ("feats",)}


@dataclass(frozen=True, eq=False)
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

    def bound(self, words: Words, others: Sequence[TreeRule] = ()) -> list[Bound]:
        return [bound for rule in (*self.tree_rules, *others) if (bound := rule.bound(words)) is not None]

    def idle(self, words: Words) -> list[str]:
        return [rule.name for rule in self.rules if not rule.has_effect(words)]


def joined(rulesets: Iterable[Ruleset]) -> Ruleset:
    """The rules of all of them together; a word may have the parts of speech that all allow."""
    given = list(rulesets)
    rules = tuple(rule for each in given for rule in each.rules)
    tags = [each.upos for each in given if each.upos]
    upos = tuple(tag for tag in tags[0] if all(tag in each for each in tags)) if tags else ()
    return Ruleset(",".join(each.name for each in given), rules, upos)


# Which rules given trees break, and whether they are trees at all.
#
# A sentence whose heads make no tree is looked at all the same: every rule is applied that its other arcs decide.


# What heads may be that make no tree, as the validator of Universal Dependencies calls it: none, or no number; a number
# of no word; the word itself; ROOT more than once; words that are their own ancestors.
INVALID_HEAD, UNKNOWN_HEAD, SELF_LOOP = "invalid-head", "unknown-head", "head-self-loop"
MULTIPLE_ROOTS, NON_TREE = "multiple-roots", "non-tree"

NO_TREE = {INVALID_HEAD, UNKNOWN_HEAD, SELF_LOOP, MULTIPLE_ROOTS, NON_TREE}

# A part of speech that is none of those of the rules.
UNKNOWN_UPOS = "unknown-upos"

# Where a word has no head.
NO_HEAD = -1


class LabelNumbers:
    """Numbers of labels that stay what they are from sentence to sentence, up to `MOST` labels."""

    MOST = 500

    def __init__(self) -> None:
        self._kept: tuple[dict[str, int], tuple[str, ...]] = {}, ()

    def of(self, labels: Sequence[str]) -> tuple[tuple[str, ...], list[int]]:
        """The names of labels, among which these are, and the number of each of these."""
        known, names = self._kept
        if not known.keys() >= {*labels}:
            both = dict.fromkeys((*names, *labels))
            names = tuple(both if len(both) <= self.MOST else dict.fromkeys(labels))
            known = {name: number for number, name in enumerate(names)}
            self._kept = known, names  # both at once: threads share them
        return names, [known[label] for label in labels]


# Sentences of a treebank have other labels each, and the same few: what rules know of them is kept.
_NUMBERED = LabelNumbers()
_SPANS = Together()


class Violation(NamedTuple):
    """A place where a tree breaks a rule: `words`, from 1 on, break it together, `word` first."""

    rule: str
    word: int
    words: tuple[int, ...]


def broken(
    rules: Ruleset, words: Words, heads: Sequence[int], labels: Sequence[str], space: TreeSpace | None = None
) -> list[Violation]:
    """Return every place where heads are not a tree, or break a rule; nothing where they are a tree that obeys.

    First what makes them no tree of the space, then the rules in their order, each by the order of words. Stretches of
    `words.spans` that do not hang together are named too, by the rule `spans`. A rule that names labels says nothing of
    words without one, and a rule that names parts of speech nothing of words of which none is known. What missing heads
    would decide, or those of a cycle, of which one must go, is left out; functions of trees are asked about trees only.

    >>> from deptree_cli.core.rules import Words
    >>> from deptree_cli.io.rules.reading import read_rules
    >>> words = Words((), ["NOUN", "VERB", "NOUN"], [frozenset()] * 3)
    >>> broken(read_rules("ud"), words, [2, 0, 2], ["nsubj", "root", "nsubj"])
    [Violation(rule='too-many-subjects', word=1, words=(1, 3))]
    >>> broken(read_rules("ud"), words, [3, 0, 1], ["obj", "root", "Obl"])
    [Violation(rule='non-tree', word=1, words=(1, 3)), Violation(rule='invalid-deprel', word=3, words=(3,))]

    Args:
        rules: see `Ruleset`.
        words: what rules know of the n words; its own labels are not used.
        heads: of words 1 to n, 0 for ROOT, `NO_HEAD` for none; others, which are not words, are named.
        labels: of each word the name of its label, empty where it has none.
        space: of which the tree should be one; None for all single-root trees.

    Raises:
        DeptreeError: there are not as many heads and labels as words.
    """
    for each, what in ((heads, "head"), (labels, "label")):
        if len(each) != words.n:
            problem = f"{counted(len(each), what)} given for a sentence of {counted(words.n, 'word')}"
            raise DeptreeError(problem, f"Give one {what} per word")
    names, numbers = _NUMBERED.of(labels)
    known = replace(words, labels=names)
    missing = tuple(word for word, head in enumerate(heads, 1) if head < 0)
    found = [Violation(INVALID_HEAD, missing[0], missing)] if missing else []  # all of them are one place
    for word, head in enumerate(heads, 1):
        if head == word or head > words.n:
            found.append(Violation(SELF_LOOP if head == word else UNKNOWN_HEAD, word, (word,)))
    loose = {word for each in found for word in each.words}
    given = [0 if word in loose else int(head) for word, head in enumerate(heads, 1)]
    tree = LabelledTree(given, numbers)
    found += _no_tree(tree, space, loose)
    changing = [*({word} for word in loose), *map(set, tree.cycles)] if found else []
    masks, tree_rules = _looked_at(rules, names, known.has_tags, known.has_feats)
    has, is_tree = tree.by_label.keys(), not found
    found += _by_arcs(masks, known, tree, loose)
    for rule, of_labels, find in (*tree_rules, (_SPANS, has, _SPANS.finder(names))):
        if not of_labels.isdisjoint(has) and (is_tree or not isinstance(rule, Function)):
            found += _by_trees(rule, find(known, tree), known, tree, changing)
    return found


def wrong_tags(rules: Ruleset, words: Words) -> list[Violation]:
    wrong = {*words.tags} - {None, *rules.upos} if rules.upos else ()
    return [Violation(UNKNOWN_UPOS, word, (word,)) for word, tag in enumerate(words.tags, 1) if tag in wrong]


def _no_tree(tree: LabelledTree, space: TreeSpace | None, loose: Set[int]) -> Iterator[Violation]:
    """What else keeps heads from being a tree of the space; `loose` words have no head and stand below ROOT."""
    roots = tuple(word for word, head in enumerate(tree.heads, 1) if not head and word not in loose)
    if len(roots) > 1 and (space is None or space.single_root):
        yield Violation(MULTIPLE_ROOTS, roots[0], roots)
    for cycle in tree.cycles:
        yield Violation(NON_TREE, cycle[0], cycle)
    if (
        space is not None and space.kind
    ):  # the validator has no name for arcs that cross, or that the space does not have
        apart = [word - 1 if word in loose else head for word, head in enumerate(tree.heads, 1)]
        crossings = LabelledTree(apart, tree.labels).crossings if space.projective else {}
        for word, head in enumerate(apart, 1):
            if word in crossings:
                yield Violation(space.kind, word, (word, crossings[word]))
            elif word not in loose and not space.allows(head, word):
                yield Violation(space.kind, word, (word,))


# Of each label the masks about it, with their numbers: those that parts of speech, sides and ROOT decide, others; and
# what the first forbid words with a part of speech below one with another on a side.
Masks = list[tuple[int, Mask]]
ByLabel = list[tuple[Masks, Masks, dict[object, Masks]]]


@lru_cache(8)  # sentences have the same few labels
def _looked_at(
    rules: Ruleset, labels: tuple[str, ...], has_tags: bool, has_feats: bool
) -> tuple[ByLabel, list[tuple[TreeRule, Set[int], Finder]]]:
    """The masks about each label (L,), and rules that only a tree decides with the labels of which it must have one."""
    of_labels: ByLabel = [([], [], {}) for _ in labels]
    for number, mask in enumerate(rules.masks):
        if (has_tags or not mask.needs_tags) and (has_feats or not mask.needs_feats):
            has_key = not mask.needs_feats and mask.distance is None
            for label in numbers_of(mask.dependent.labels(labels)):
                few, others, _ = of_labels[label]
                (few if has_key else others).append((number, mask))
    tree_rules = [(rule, *group_and_finder(rule, labels)) for rule in rules.tree_rules]
    return of_labels, [(rule, numbers_of(group), find) for rule, group, find in tree_rules]


def _by_arcs(of_labels: ByLabel, words: Words, tree: LabelledTree, loose: Set[int]) -> list[Violation]:
    """The words whose arcs masks forbid, by the order of masks."""
    found, upos = list[tuple[int, int, Mask]](), words.upos
    for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
        few, others, known = of_labels[label]
        key = upos[word - 1], upos[head - 1] if head else 0, head < word
        if (bad := known.get(key)) is None:
            bad = known[key] = [each for each in few if each[1].forbids(words, head, word)]
        for number, mask in (*bad, *(each for each in others if each[1].forbids(words, head, word))):
            if mask.is_of_words or word not in loose:
                found.append((number, word, mask))
    return [Violation(mask.name, word, (word,)) for _, word, mask in sorted(found, key=lambda each: each[:2])]


def _by_trees(
    rule: TreeRule, nogoods: Iterator[Nogood], words: Words, tree: LabelledTree, changing: Sequence[Set[int]]
) -> Iterator[Violation]:
    """The nogoods of a rule that only a tree decides; in each set, `changing`, some word must get another head."""
    for nogood in nogoods:
        by_heads = set[int]()  # not the words that take part by their labels alone
        for word, arcs in nogood.choices if changing else ():
            label = tree.labels[word - 1]
            own = slice(None) if arcs.shape[1] == 1 or not words.labels[label] else label
            if not arcs[:, own].all():
                by_heads.add(word)
        if not any(each <= by_heads for each in changing):
            yield Violation(rule.name, nogood.words[0], nogood.words)


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
    return Constraint(of_word_name(name, choice.word), choice)


def of_word_name(name: str, word: int) -> str:
    return f"{name} of word {word}"


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
