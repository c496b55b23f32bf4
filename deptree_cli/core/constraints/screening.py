"""Which rules a tree may break, told by its labels alone: finders of conflicts are made for those only.

A tree that obeys, which most are, is told so by tables that all sentences with the same labels share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from deptree_cli.core.constraints.conflicts import Conflict, Finder, Suspicion, TreeRule
from deptree_cli.core.constraints.label_lists import ForLabels
from deptree_cli.core.constraints.words import LabelledTree, Words
from deptree_cli.core.dtypes import Bool, Heads
from deptree_cli.core.spaces.rules import crossings


@dataclass(frozen=True, eq=False)
class Screen:
    """What R rules suspect, with L labels.

    Attributes:
        always: (R,), the rules of which labels tell nothing.
        tables: as `fill_suspects` takes them.
    """

    always: Bool
    tables: tuple[Bool, ...]

    @classmethod
    def of(cls, rules: Sequence[TreeRule], names: tuple[str, ...]) -> Screen:
        """That of rules, for labels of these names."""
        suspicions = [rule.suspicion(names) for rule in rules]
        none = Suspicion.none(len(names))
        known = [none if each is None else each for each in suspicions]
        tables = [np.zeros((len(rules), *each.shape), dtype=np.bool_) for each in none]
        for rule, own in enumerate(known):
            for table, each in zip(tables, own, strict=True):
                table[rule] = each
        return cls(np.array([each is None for each in suspicions], dtype=np.bool_), tuple(tables))

    def suspects(self, heads: Heads, labels: Heads, crossed: Any) -> list[int]:
        """The numbers of the rules that a tree may break."""
        from deptree_cli.kernels.trees.screening import fill_suspects  # loads kernels: when there is work

        found = self.always.copy()
        fill_suspects(heads, labels, crossed, *self.tables, found)
        return np.flatnonzero(found).tolist()


class Screens:
    """The tables of rules, kept until there are other labels.

    Args:
        rules: that only a tree decides.
    """

    def __init__(self, rules: Sequence[TreeRule]) -> None:
        self._rules = rules
        self._kept = ForLabels[Screen]()

    def finders(self, words: Words, others: Sequence[TreeRule] = ()) -> Screened:
        """What finds the conflicts of trees of a sentence, also with others' rules, which no labels screen."""
        names = words.labels
        screen = self._kept.get(names, lambda: Screen.of(self._rules, names))
        return Screened([*self._rules, *others], words, screen)


class Screened(Sequence[Finder]):
    """The finders of rules in a sentence, each made when a tree may break its rule.

    Args:
        screen: that of the first rules for the labels of the words; the others are asked about every tree.
    """

    def __init__(self, rules: Sequence[TreeRule], words: Words, screen: Screen) -> None:
        self._rules, self._words, self._screen = rules, words, screen
        self._others = range(len(screen.always), len(rules))
        self._bound: dict[int, Finder | None] = {}

    def conflicts(self, heads: Heads, labels: Heads) -> Iterator[Conflict]:
        """The conflicts of a tree, by the order of rules."""
        crossed = crossings(heads[None])[0]
        if suspects := [*self._screen.suspects(heads, labels, crossed), *self._others]:
            tree = LabelledTree(heads.tolist(), labels.tolist())
            tree.__dict__["crossings"] = crossed.tolist()  # known already
            for rule in suspects:
                if (find := self._finder(rule)) is not None:
                    yield from find(tree)

    def _finder(self, rule: int) -> Finder | None:
        if rule not in self._bound:
            self._bound[rule] = self._rules[rule].bound(self._words)
        return self._bound[rule]

    @cached_property
    def _all(self) -> list[Finder]:
        return [find for rule in range(len(self._rules)) if (find := self._finder(rule)) is not None]

    def __len__(self) -> int:
        return len(self._all)

    def __getitem__(self, place: Any) -> Any:
        return self._all[place]


def first_conflicts(finders: Sequence[Finder], heads: Heads, labels: Heads, most: int) -> list[Conflict]:
    """The first conflicts of a tree, in the order of finders."""
    if isinstance(finders, Screened):
        return list(islice(finders.conflicts(heads, labels), most))
    tree = LabelledTree(heads.tolist(), labels.tolist())
    return list(islice((conflict for find in finders for conflict in find(tree)), most))
