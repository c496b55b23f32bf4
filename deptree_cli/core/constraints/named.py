"""What is asked of a sentence's trees, one thing at a time, each under a name; and what of it cannot hold together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from deptree_cli.core.constraints.conflicts import Choice, Finder
from deptree_cli.core.constraints.masks import Mask
from deptree_cli.core.constraints.ruleset import Ruleset
from deptree_cli.core.constraints.words import LabelledTree, Words
from deptree_cli.core.dtypes import Bool

Asked = TypeVar("Asked")


@dataclass(frozen=True, eq=False)
class Constraint:
    """One thing that is asked of trees.

    Attributes:
        name: what messages call it.
        asks: the arcs with labels, (n+1, L), that it forbids a word; or what finds its conflicts in trees.
    """

    name: str
    asks: Choice | Finder

    def is_broken_by(self, tree: LabelledTree) -> bool:
        """Whether a tree does not obey it."""
        if isinstance(self.asks, Choice):
            word, arcs = self.asks
            return bool(arcs[tree.heads[word - 1], tree.labels[word - 1]])
        return next(iter(self.asks(tree)), None) is not None


def constraints_of(rules: Ruleset, words: Words) -> list[Constraint]:
    """What rules ask of a sentence: a mask of each word by itself, a rule that only a tree decides of the tree."""
    found: list[Constraint] = []
    for rule in rules.rules:
        if isinstance(rule, Mask):
            found += _of_each_word(rule.name, rule.forbidden(words))
        elif (finder := rule.bound(words)) is not None:
            found.append(Constraint(rule.name, finder))
    return found


def of_word(name: str, choice: Choice) -> Constraint:
    """What is asked of a word by a mask, or by an annotator."""
    return Constraint(f"{name} of word {choice.word}", choice)


def _of_each_word(name: str, forbidden: Bool) -> Iterator[Constraint]:
    """What a mask, (n+1, n+1, L), asks of the words that it forbids something."""
    for word in np.flatnonzero(forbidden.any(axis=(0, 2))).tolist():
        yield of_word(name, Choice(word, forbidden[:, word].copy()))


def choices_of(constraints: Iterable[Constraint]) -> list[Choice]:
    """What constraints forbid single words."""
    return [each.asks for each in constraints if isinstance(each.asks, Choice)]


def finders_of(constraints: Iterable[Constraint]) -> list[Finder]:
    """What finds the conflicts of those that only a tree decides."""
    return [each.asks for each in constraints if not isinstance(each.asks, Choice)]


def conflicting(constraints: Sequence[Asked], can_hold: Callable[[Sequence[Asked]], bool]) -> list[Asked]:
    """Some of the constraints that cannot hold together, none of which can be left out: QuickXplain (Junker 2004).

    k of m take O(k log(m / k)) questions.

    Args:
        constraints: which cannot hold together.
        can_hold: whether some of them can; more can only if fewer can.
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
