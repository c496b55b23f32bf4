"""Which rules given trees break."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from deptree_cli.core.constraints.conflicts import TreeRule
from deptree_cli.core.constraints.kinds import Together
from deptree_cli.core.constraints.ruleset import Ruleset
from deptree_cli.core.constraints.words import LabelledTree, Words
from deptree_cli.core.errors import DeptreeError, counted


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


def broken(rules: Ruleset, words: Words, heads: Sequence[int], labels: Sequence[str]) -> list[Violation]:
    """Return every place where a tree breaks a rule, by the order of rules, then of words; nothing where it obeys.

    Stretches of `words.spans` that do not hang together are named too, by the rule `spans`. A rule that names labels
    says nothing of words without one, and a rule that names parts of speech nothing of words of which none is known.

    >>> from deptree_cli.core.constraints.words import Words
    >>> from deptree_cli.io.rules.reading import read_rules
    >>> words = Words((), ["NOUN", "VERB", "NOUN"], [frozenset()] * 3)
    >>> broken(read_rules("ud"), words, [2, 0, 2], ["nsubj", "root", "nsubj"])
    [Violation(rule='too-many-subjects', word=1, words=(1, 3))]

    Args:
        rules: see `Ruleset`.
        words: what rules know of the n words; its own labels are not used.
        heads: of words 1 to n, 0 for ROOT.
        labels: of each word the name of its label, empty where it has none.

    Raises:
        DeptreeError: there are not as many heads and labels as words, or a head is no word.
    """
    _check(words.n, heads, labels)
    numbers = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    known = replace(words, labels=tuple(numbers))
    tree = LabelledTree([int(head) for head in heads], [numbers[label] for label in labels])
    found = list(_by_arcs(rules, known, tree))
    for rule in (*rules.tree_rules, Together()):
        found += _by_trees(rule, known, tree)
    return found


def _by_arcs(rules: Ruleset, words: Words, tree: LabelledTree) -> Iterator[Violation]:
    """The places where single arcs are forbidden."""
    for mask in rules.masks:
        yield from (Violation(mask.name, word, (word,)) for word in mask.broken(words, tree).tolist())


def _by_trees(rule: TreeRule, words: Words, tree: LabelledTree) -> Iterator[Violation]:
    """The conflicts of a rule that only a tree decides."""
    find = rule.bound(words)
    for conflict in find(tree) if find else ():
        yield Violation(rule.name, conflict.words[0], conflict.words)


def _check(n: int, heads: Sequence[int], labels: Sequence[str]) -> None:
    """Raise unless there is a head and a label for every word."""
    for given, what in ((heads, "head"), (labels, "label")):
        if len(given) != n:
            problem = f"{counted(len(given), what)} given for a sentence of {counted(n, 'word')}"
            raise DeptreeError(problem, f"Give one {what} per word")
    for word, head in enumerate(heads, 1):
        if not 0 <= head <= n or head == word:
            problem = f"the head of word {word} is {head}"
            raise DeptreeError(problem, f"Give another word, 1 to {n}, or 0 for ROOT")
