"""``deptree check``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import click

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.job import Job
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.progress import Counted
from deptree_cli.cli.report import Table
from deptree_cli.cli.rule_options import RuleOptions, check_options
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.sentences import ReadSentence, read_sentences, share_of
from deptree_cli.cli.source import Source
from deptree_cli.cli.writing import Writing, row_options
from deptree_cli.core.errors import counted
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.json_lines import dump

if TYPE_CHECKING:
    from deptree_cli.core.constraints.checking import Violation
    from deptree_cli.core.constraints.ruleset import Ruleset
    from deptree_cli.io.rules.constraints import Constraints, SentenceConstraints
    from deptree_cli.io.trees.base import GivenTree

COLUMNS = ("sent_id", "rule", "word", "form", "head", "deprel", "words")

# Exit status where a rule is broken.
BROKEN = 1


@command(epilog="\b\nTry: deptree check treebank.conllu")
@click.argument("trees", metavar="TREES...", nargs=-1, required=True, type=INPUT)
@check_options
@row_options
@run_options
def check(trees: tuple[str, ...], rules: RuleOptions, writing: Writing, run: RunOptions) -> int:
    """List the rules that given trees break: HEAD, DEPREL, UPOS and FEATS of CoNLL-U.

    Writes a row per violation, as JSON Lines or, on a terminal, as a table: the rule; the word that breaks it, with
    form, head and deprel; and `words`, all whose arcs break it together. Broken --constraints are called HeadIn,
    NotHead, DeprelIn and DeprelNot, broken --spans are called spans. A table on stderr counts violations by rule.

    Exit status: 0 no rule is broken, 1 some are (or sentences were skipped), 2 unusable input.
    """
    constraints = rules.read()
    assert constraints is not None  # there are rules in any case
    items = Counted(read_sentences(trees), share=share_of(trees))
    job = Job("check", Source(items, Given(constraints), rules.signature_fields), run, writing)
    found = BrokenRules(constraints.rules)
    code = job.write(Checked.of, sheet=Sheet(COLUMNS, "check"), folds=[found])
    return max(code, found.exit_code)


@dataclass(frozen=True)
class Tree:
    """A sentence's tree, and what it should obey."""

    read: ReadSentence
    given: GivenTree
    asked: SentenceConstraints


@dataclass(frozen=True)
class Given:
    """Takes the tree out of a sentence's block; it travels to worker processes."""

    constraints: Constraints

    def __call__(self, read: ReadSentence) -> Tree:
        """The sentence with its tree."""
        from deptree_cli.io.trees.conllu import tree_of  # when there is work

        given = tree_of(read.block)
        names = (name for name in given.names if any(name in each for each in self.constraints.of_words))
        return Tree(read, given, self.constraints.of(next(names, read.sent_id), read.block, read.block.n, None))


@dataclass(frozen=True)
class Counts:
    """What a sentence counts for.

    Attributes:
        rules: how often each is broken.
        no_upos, no_deprel: how many of its words have none.
        labels: those that some word has.
    """

    rules: Counter[str]
    no_upos: int
    no_deprel: int
    labels: frozenset[str]


@dataclass(frozen=True)
class Checked:
    """A sentence's tree with the rules that it breaks.

    Attributes:
        labels: of its words, empty where there is none.
    """

    tree: Tree
    labels: Sequence[str]
    broken: Sequence[Violation]

    @classmethod
    def of(cls, tree: Tree, _: None) -> Checked:
        """The work on one sentence."""
        labels = ["" if label == "_" else label for label in tree.given.labels or [""] * len(tree.given.heads)]
        return cls(tree, labels, tree.asked.broken(tree.given.heads, labels))

    @property
    def counted(self) -> Counts:
        """What it counts for."""
        upos = self.tree.asked.words.upos
        rules, labels = Counter(each.rule for each in self.broken), self.labels
        return Counts(rules, list(upos).count(None), labels.count(""), frozenset(labels))

    def to_jsonl(self) -> bytes:
        """A line for each place."""
        return b"".join(dump({**row, "words": words}) for row, words in self._rows)

    def rows(self) -> list[Row]:
        """A row for each place, the words with commas between them."""
        return [{**row, "words": ",".join(map(str, words))} for row, words in self._rows]

    @cached_property
    def _rows(self) -> list[tuple[Row, Sequence[int]]]:
        """The rows but for the words of each."""
        forms = self.tree.read.block.column("form") if self.broken else []
        return [
            (
                {
                    "sent_id": self.tree.read.sent_id,
                    "rule": each.rule,
                    "word": each.word,
                    "form": forms[each.word - 1],
                    "head": self.tree.given.heads[each.word - 1],
                    "deprel": self.labels[each.word - 1] or None,
                },
                each.words,
            )
            for each in self.broken
        ]


class BrokenRules(Fold[Counts]):
    """How often each rule is broken, and in how many sentences.

    Args:
        rules: all of them.
    """

    def __init__(self, rules: Ruleset) -> None:
        self._rules, self._labels = rules, set[str]()
        self._places, self._sentences = Counter[str](), Counter[str]()
        self._checked = self._breaking = self._no_upos = self._no_deprel = 0

    def add(self, counts: Counts) -> None:
        self._places += counts.rules
        self._sentences.update(counts.rules.keys())
        self._checked += 1
        self._breaking += bool(counts.rules)
        self._no_upos += counts.no_upos
        self._no_deprel += counts.no_deprel
        self._labels |= counts.labels

    def rows(self) -> list[Row]:
        return [
            {"rule": rule, "places": places, "sentences": self._sentences[rule]}
            for rule, places in self._places.most_common()
        ]

    def tables(self) -> Iterator[Table]:
        if self._places:
            names = ("rule", "places", "sentences")
            yield Table("", names, [[row[name] for name in names] for row in self.rows()])

    def lines(self) -> Iterator[str]:
        from deptree_cli.io.rules.reading import unknown_labels  # when the work is done

        for words, column in ((self._no_upos, "UPOS"), (self._no_deprel, "DEPREL")):
            if words:
                yield f"{counted(words, 'word')} without {column}: rules that ask for it are not applied to them"
        if unknown := unknown_labels(self._rules, self._labels, "that no word has"):
            yield unknown
        sentences, places = counted(self._checked, "sentence"), counted(self._places.total(), "place")
        found = f"rules are broken in {self._breaking} of {sentences}, at {places}"
        yield found if self._places else f"no rule is broken in {sentences}"

    @property
    def exit_code(self) -> int:
        """`BROKEN` where a rule is broken, else 0."""
        return BROKEN if self._places else 0
