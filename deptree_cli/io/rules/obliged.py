"""What the trees of a sentence must obey: rules of all sentences, and what is asked of its own words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from deptree_cli.core.constraints.conflicts import Finder
from deptree_cli.core.constraints.kinds import Together
from deptree_cli.core.constraints.ruleset import Ruleset
from deptree_cli.core.constraints.words import Words
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.labels import Labels
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.rules.by_word import Asked, asked_in_misc, spans_in_misc
from deptree_cli.io.rules.reading import words_of

NO_RULES = Ruleset("", ())


@dataclass(frozen=True)
class Obligations:
    """What trees must obey.

    Attributes:
        rules: of all sentences.
        in_misc: whether MISC asks for something.
        asked: what a file asks for, by sent_id.
        entities: whether the mentions of entities in MISC hang together.
    """

    rules: Ruleset = NO_RULES
    in_misc: bool = False
    asked: Mapping[str, Asked] = field(default_factory=dict)
    entities: bool = False

    def of(self, sent_id: str, block: Block | None, n: int, labels: Labels | None) -> Obliged:
        """What the trees of a sentence of n words must obey."""
        asked = [self.asked[sent_id]] if sent_id in self.asked else []
        spans = tuple(span for each in asked for span in each.spans)
        if block is not None:
            asked += [asked_in_misc(block)] if self.in_misc else []
            spans += spans_in_misc(block) if self.entities else ()
        words = words_of(block, n, labels)
        return Obliged(self.rules, replace(words, spans=spans), tuple(asked))


@dataclass(frozen=True)
class Obliged:
    """What the trees of one sentence must obey."""

    rules: Ruleset
    words: Words
    asked: tuple[Asked, ...] = ()

    @cached_property
    def forbidden(self) -> Bool:
        """Which arcs with which labels they may not have, (n+1, n+1, L)."""
        found = self.rules.forbidden(self.words)
        for each in self.asked:
            found |= each.forbidden(self.words.n, self.words.labels)
        return found

    @cached_property
    def finders(self) -> list[Finder]:
        """What finds conflicts that only a tree has."""
        spans = Together().bound(self.words)
        return [*self.rules.finders(self.words), *([spans] if spans else [])]
