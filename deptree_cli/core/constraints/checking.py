"""Which rules given trees break, and whether they are trees at all.

A sentence whose heads make no tree is looked at all the same: every rule is applied that its other arcs decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from deptree_cli.core.constraints.conflicts import Conflict, TreeRule
from deptree_cli.core.constraints.kinds import Function, Together
from deptree_cli.core.constraints.label_lists import LabelNumbers
from deptree_cli.core.constraints.many import ManyTrees
from deptree_cli.core.constraints.ruleset import Rule, Ruleset
from deptree_cli.core.constraints.words import LabelledTree, Words
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.spaces import SINGLE_ROOT, TreeSpace

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
    """A place where a tree breaks a rule.

    Attributes:
        rule: its name.
        word: the word, from 1 on, at which it is broken.
        words: all words whose arcs break it together, `word` first.
    """

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

    >>> from deptree_cli.core.constraints.words import Words
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
    asked = [rule for rule in (*rules.tree_rules, Together()) if not (found and isinstance(rule, Function))]
    changing = [*({word} for word in loose), *map(set, tree.cycles)] if found else []
    found += _by_arcs(rules, known, tree, loose)
    return found + [each for rule in asked for each in _by_trees(rule, known, tree, changing)]


def broken_in_many(rules: Ruleset, trees: ManyTrees) -> list[list[Violation]]:
    """Return the places where trees, which are of the space and without spans, break a rule; see `broken`."""
    found: list[list[Violation]] = [[] for _ in trees.sizes]
    asked: list[Rule] = [*rules.masks, *rules.tree_rules]
    for rule in asked:
        for sentence, words in rule.places(trees):
            found[sentence].append(Violation(rule.name, words[0], words))
    return found


def wrong_tags(rules: Ruleset, words: Words) -> list[Violation]:
    """Return the words whose tag is no part of speech of the rules, which no tree mends."""
    tags = enumerate(words.tags, 1) if rules.upos else ()
    return [Violation(UNKNOWN_UPOS, word, (word,)) for word, tag in tags if not (tag is None or tag in rules.upos)]


def wrong_tags_in_many(rules: Ruleset, trees: ManyTrees) -> list[list[Violation]]:
    """Return the same of each of many sentences."""
    found: list[list[Violation]] = [[] for _ in trees.sizes]
    wrong = np.zeros(trees.kinds.n, dtype=np.bool_)
    wrong[[word - 1 for _, word, _ in wrong_tags(rules, trees.kinds)]] = True
    for sentence, words in trees.places(np.flatnonzero(wrong[trees.kind - 1])) if wrong.any() else ():
        found[sentence].append(Violation(UNKNOWN_UPOS, words[0], words))
    return found


def _wrong_heads(heads: Sequence[int]) -> Iterator[Violation]:
    """The words whose heads are none, which are one place, no word, or they themselves."""
    if missing := tuple(word for word, head in enumerate(heads, 1) if head < 0):
        yield Violation(INVALID_HEAD, missing[0], missing)
    for word, head in enumerate(heads, 1):
        if head == word or head > len(heads):
            yield Violation(SELF_LOOP if head == word else UNKNOWN_HEAD, word, (word,))


def _no_tree(tree: LabelledTree, space: TreeSpace, loose: Set[int]) -> Iterator[Violation]:
    """What else keeps heads from being a tree of the space: roots too many, cycles, arcs that it does not have.

    loose: words whose heads are none; they stand below ROOT.
    """
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
        other = aside.crossing(word) if space.projective else None
        if other is not None:
            yield Violation(space.kind, word, (word, other))
        elif word not in loose and not space.allows(head, word):
            yield Violation(space.kind, word, (word,))


def _by_arcs(rules: Ruleset, words: Words, tree: LabelledTree, loose: Set[int]) -> Iterator[Violation]:
    """The places where single arcs are forbidden."""
    for mask in rules.masks:
        for word in mask.broken(words, tree).tolist():
            if word not in loose or mask.is_of_words:
                yield Violation(mask.name, word, (word,))


def _by_trees(rule: TreeRule, words: Words, tree: LabelledTree, changing: Sequence[Set[int]]) -> Iterator[Violation]:
    """The conflicts of a rule that only a tree decides.

    changing: sets of words, in each of which some word must get another head.
    """
    find = rule.bound(words)
    for conflict in find(tree) if find else ():
        by_heads = _decided_by_heads(conflict, words, tree) if changing else frozenset()
        if not any(each <= by_heads for each in changing):
            yield Violation(rule.name, conflict.words[0], conflict.words)


def _decided_by_heads(conflict: Conflict, words: Words, tree: LabelledTree) -> Set[int]:
    """The words with whose heads a conflict may go: not those that take part by their labels alone."""
    found = set()
    for word, arcs in conflict.choices:
        label = tree.labels[word - 1]
        own = slice(None) if arcs.shape[1] == 1 or not words.labels[label] else label
        if not arcs[:, own].all():
            found.add(word)
    return found


def _check_sizes(n: int, heads: Sequence[int], labels: Sequence[str]) -> None:
    """Raise unless there is a head and a label for every word."""
    for given, what in ((heads, "head"), (labels, "label")):
        if len(given) != n:
            problem = f"{counted(len(given), what)} given for a sentence of {counted(n, 'word')}"
            raise DeptreeError(problem, f"Give one {what} per word")
