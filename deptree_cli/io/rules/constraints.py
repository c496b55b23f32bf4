"""What the trees of a sentence must obey: rules of all sentences, and what is asked of its own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constraints.checking import Violation, broken
from deptree_cli.core.constraints.conflicts import Finder
from deptree_cli.core.constraints.constrained import Constrained, under
from deptree_cli.core.constraints.kinds import Together
from deptree_cli.core.constraints.named import Constraint, constraints_of
from deptree_cli.core.constraints.relaxation import Relaxation
from deptree_cli.core.constraints.ruleset import Ruleset, joined
from deptree_cli.core.constraints.words import Words
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.labels import Labels
from deptree_cli.core.spaces import SINGLE_ROOT, TreeSpace
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.rules.constraint_files import read_word_constraints
from deptree_cli.io.rules.reading import read_rules, words_of
from deptree_cli.io.rules.word_constraints import WordConstraints, constraints_in_misc

# Instead of a file: what is asked stands in the sentences.
MISC = "misc"

# Files of what is asked of words and spans.
OF_WORDS = (".tsv", ".jsonl")


@dataclass(frozen=True)
class Constraints:
    """Rules that trees must obey.

    Attributes:
        name: what signatures call it.
        rules: of all sentences.
        of_words: what files ask for, by sent_id.
        in_misc: whether MISC asks for something.
    """

    name: str
    rules: Ruleset
    of_words: Mapping[str, tuple[WordConstraints, ...]] = field(default_factory=dict)
    in_misc: bool = False

    @cached_property
    def need_trees(self) -> bool:
        """Whether some of it only a tree decides, as far as that is known before the sentences are read."""
        return bool(self.rules.tree_rules) or any(one.spans for asked in self.of_words.values() for one in asked)

    def of(self, sent_id: str, block: Block | None, n: int, labels: Labels | None) -> SentenceConstraints:
        """What the trees of a sentence of n words must obey."""
        given = list(self.of_words.get(sent_id, ()))
        if block is not None and self.in_misc:
            given.append(constraints_in_misc(block))
        spans = tuple(span for each in given for span in each.checked_spans(n))
        words = words_of(block, n, labels)
        return SentenceConstraints(self.rules, replace(words, spans=spans) if spans else words, tuple(given))


@dataclass(frozen=True)
class SentenceConstraints:
    """What the trees of one sentence must obey."""

    rules: Ruleset
    words: Words
    given: tuple[WordConstraints, ...] = field(default=())

    @property
    def named(self) -> set[str]:
        """The labels that are asked for, or asked not to be."""
        return {label for each in self.given for label in each.labels}

    @cached_property
    def forbidden(self) -> Bool:
        """Which arcs with which labels they may not have, (n+1, n+1, L)."""
        found = self.rules.forbidden(self.words)
        for each in self.given:
            found |= each.forbidden(self.words.n, self.words.labels)
        return found

    @cached_property
    def finders(self) -> Sequence[Finder]:
        """What finds conflicts that only a tree has."""
        return self.rules.finders(self.words, [Together()] if self.words.spans else [])

    def with_labels(self, names: tuple[str, ...]) -> SentenceConstraints:
        """The same of trees that may have these labels."""
        return replace(self, words=replace(self.words, labels=names))

    def broken(self, heads: Sequence[int], labels: Sequence[str], space: TreeSpace = SINGLE_ROOT) -> list[Violation]:
        """Every place where heads are no tree or do not obey; see `deptree_cli.core.constraints.checking.broken`.

        What is asked of single words is named as they name it: `HeadIn`, `DeprelNot`, ...

        Raises:
            DeptreeError: there are more or fewer heads or labels than words, or something is asked of no word of them.
        """
        found = broken(self.rules, self.words, heads, labels, space)
        for each in self.given:
            found += each.broken(heads, labels)
        return found

    def listed(self) -> list[Constraint]:
        """The same, one thing at a time: masks and keys of each word, rules that only a tree decides, and spans."""
        found = constraints_of(self.rules, self.words)
        for each in self.given:
            found += each.listed(self.words.n, self.words.labels)
        for first, last in self.words.spans:
            finder = Together().bound(replace(self.words, spans=((first, last),)))
            found += [Constraint(f"the span of words {first} to {last}", finder)] if finder else []
        return found

    def on(self, base: ArcFactored, relax: bool | None, budget: int) -> Constrained:
        """A distribution under them.

        Args:
            relax: whether the fewest constraints are given up if no tree obeys; None: no, and nobody can ask for it.
            budget: how many maximum trees a sentence may cost for that.

        Raises:
            DeptreeError: no tree obeys what arcs decide, and nothing is given up.
        """
        relaxation = Relaxation(base, self.listed, can_relax=relax is not None)
        return under(relaxation, self.forbidden, self.finders, bool(relax), budget)


def read_constraints(names: Sequence[str]) -> Constraints | None:
    """Return what trees must obey, None where nothing is asked.

    Args:
        names: of rules, of files, or `MISC`; all of them hold.

    Raises:
        DeptreeError: a file cannot be read, or is not understood.
    """
    if not names:
        return None
    files = [name for name in names if name.removesuffix(".gz").endswith(OF_WORDS)]
    rules = {name: read_rules(name) for name in names if name not in (MISC, *files)}
    shown = (rules[name].name if name in rules else name for name in names)
    return Constraints(",".join(shown), joined(rules.values()), read_word_constraints(files), MISC in names)
