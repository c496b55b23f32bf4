"""How often each rule is broken by the trees of a run, and what keeps rules from being applied."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import TYPE_CHECKING

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.given_trees import GivenTree, GivenTrees
from deptree_cli.cli.tables import Table
from deptree_cli.core.errors import counted
from deptree_cli.io.encoders.base import Row

if TYPE_CHECKING:
    from deptree_cli.core.constraints.checking import Violation
    from deptree_cli.core.constraints.ruleset import Ruleset

# Exit status where a rule is broken.
BROKEN = 1

_NONE = Counter[str]()


@dataclass(frozen=True, slots=True)
class Counts:
    """What a sentence counts for.

    Attributes:
        rules: how often each is broken.
        no_upos, no_deprel: how many of its words have none.
        labels: those that some word has.
        other_upos: how many have one that is no part of speech, if there are no places for these.
    """

    rules: Counter[str]
    no_upos: int
    no_deprel: int
    labels: frozenset[str]
    other_upos: int = 0

    @classmethod
    def of(cls, tree: GivenTree, broken: Sequence[Violation], other_upos: int = 0) -> Counts:
        """That of a sentence that breaks rules at some places."""
        rules = Counter(each.rule for each in broken)
        missing = list(tree.asked.words.tags).count(None), tree.labels.count("")
        return cls(rules, *missing, frozenset(tree.labels), other_upos)

    @classmethod
    def of_many(
        cls, trees: GivenTrees, broken: Sequence[Sequence[Violation]], other_upos: Iterable[int] = ()
    ) -> Iterator[Counts]:
        """Those of many sentences."""
        columns = zip(
            broken, trees.untagged, trees.unlabelled, trees.label_sets, chain(other_upos, repeat(0)), strict=False
        )
        for each, no_upos, no_deprel, labels, others in columns:
            yield cls(Counter([one.rule for one in each]) if each else _NONE, no_upos, no_deprel, labels, others)


class BrokenRules(Fold[Counts]):
    """How often each rule is broken, and in how many sentences.

    Args:
        rules: all of them.
        title: of the column of their names in a table.
    """

    def __init__(self, rules: Ruleset, title: str = "rule") -> None:
        self._rules, self._title, self._labels = rules, title, set[str]()
        self._places, self._sentences = Counter[str](), Counter[str]()
        self._checked = self._breaking = self._no_upos = self._no_deprel = self._other_upos = 0

    def add(self, counts: Counts) -> None:
        self._checked += 1
        if counts.rules:
            self._places.update(counts.rules)
            self._sentences.update(counts.rules.keys())
        self._breaking += bool(counts.rules)
        self._no_upos += counts.no_upos
        self._no_deprel += counts.no_deprel
        self._other_upos += counts.other_upos
        if not counts.labels <= self._labels:
            self._labels |= counts.labels

    def rows(self) -> list[Row]:
        return [
            {"rule": rule, "places": places, "sentences": self._sentences[rule]}
            for rule, places in self._places.most_common()
        ]

    def tables(self) -> Iterator[Table]:
        """How often each rule is broken, if one is."""
        if self._places:
            yield Table("", (self._title, "places", "sentences"), [[*row.values()] for row in self.rows()])

    def notices(self, labels: bool = True) -> Iterator[str]:
        """What keeps rules from being applied; `labels`: also that words have none."""
        from deptree_cli.io.rules.reading import old_labels, unknown_labels  # when the work is done

        for words, column, kind in ((self._no_upos, "UPOS", "upos"), (self._no_deprel * labels, "DEPREL", "label")):
            if words and kind in self._rules.asks_for:
                yield f"{counted(words, 'word')} without {column}: rules that ask for it are not applied to them"
        if self._other_upos:
            yield f"{counted(self._other_upos, 'word')} with a UPOS that is no part of speech, which no tree mends"
        known = old_labels(self._rules, self._labels), unknown_labels(self._rules, self._labels, "that no word has")
        yield from filter(None, known)

    def lines(self) -> Iterator[Table | str]:
        yield from self.tables()
        yield from self.notices()
        sentences, places = counted(self._checked, "sentence"), counted(self._places.total(), "place")
        found = f"rules are broken in {self._breaking} of {sentences}, at {places}"
        yield found if self._places else f"no rule is broken in {sentences}"

    @property
    def exit_code(self) -> int:
        """`BROKEN` where a rule is broken, else 0."""
        return BROKEN if self._places else 0
