"""``deptree check``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import click

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.job import Job
from deptree_cli.cli.other_tags import OtherTags
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.progress import Counted
from deptree_cli.cli.report import Table
from deptree_cli.cli.rule_options import RuleOptions, check_options
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.sentences import ReadSentence, read_sentences, share_of
from deptree_cli.cli.source import Source
from deptree_cli.cli.space_options import signature_of, space_options
from deptree_cli.cli.writing import Writing, row_options
from deptree_cli.core.errors import counted
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.json_lines import dump
from deptree_cli.io.trees.base import names_of

if TYPE_CHECKING:
    from deptree_cli.core.constraints.checking import Violation
    from deptree_cli.core.constraints.ruleset import Ruleset
    from deptree_cli.core.spaces import TreeSpace
    from deptree_cli.io.rules.constraints import Constraints, SentenceConstraints

COLUMNS = ("sent_id", "rule", "word", "form", "head", "deprel", "words")

# Exit status where a rule is broken.
BROKEN = 1


@command(epilog="\b\nTry: deptree check treebank.conllu")
@click.argument("trees", metavar="TREES...", nargs=-1, required=True, type=INPUT)
@check_options
@space_options
@row_options
@run_options
def check(trees: tuple[str, ...], rules: RuleOptions, space: TreeSpace, writing: Writing, run: RunOptions) -> int:
    """List the rules that given trees break, and what is no tree: HEAD, DEPREL, UPOS and FEATS of CoNLL-U.

    Writes a row per violation, as JSON Lines or, on a terminal, as a table: the rule; the word that breaks it, with
    form, head and deprel; and `words`, all whose arcs break it together. Broken --constraints are called HeadIn,
    NotHead, DeprelIn and DeprelNot, broken --spans are called spans. A table on stderr counts violations by rule.
    Heads that are no tree are violations too: cycles, several roots, missing heads.

    Exit status: 0 no rule is broken, 1 some are (or sentences were skipped), 2 unusable input.
    """
    constraints = rules.read()
    assert constraints is not None  # there are rules in any case
    read = read_sentences(trees, OtherTags(constraints.rules.upos).watched, any_heads=True)
    signed = {**signature_of(space), **rules.signature_fields}
    source = Source(Counted(read, share=share_of(trees)), Given(constraints, space), signed)
    job = Job("check", source, run, writing)
    found = BrokenRules(constraints.rules)
    code = job.write(Checked.of, sheet=Sheet(COLUMNS, "check"), folds=[found])
    return max(code, found.exit_code)


@dataclass(frozen=True)
class Tree:
    """What a sentence has for a tree, and what it should obey.

    Attributes:
        heads: of its words, `NO_HEAD` where there is none.
        labels: of its words, empty where there is none.
    """

    read: ReadSentence
    heads: Sequence[int]
    labels: Sequence[str]
    asked: SentenceConstraints
    space: TreeSpace


@dataclass(frozen=True)
class Given:
    """Takes the tree out of a sentence's block; it travels to worker processes."""

    constraints: Constraints
    space: TreeSpace

    def __call__(self, read: ReadSentence) -> Tree:
        """The sentence with its tree."""
        from deptree_cli.core.constraints.checking import NO_HEAD  # when there is work

        block = read.block
        names = (name for name in names_of(block.sent_id) if any(name in each for each in self.constraints.of_words))
        asked = self.constraints.of(next(names, read.sent_id), block, block.n, None)
        if read.has_other_tags:
            asked = replace(asked, words=replace(asked.words, upos=[None] * block.n))
        heads = [NO_HEAD if head is None else head for head in block.heads]
        labels = ["" if label == "_" else label for label in block.deprels]
        return Tree(read, heads, labels, asked, self.space)


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
        broken: those of which there is a row.
        tags: words that have no part of speech as a tag; of files that have other tags there are no rows.
    """

    tree: Tree
    broken: Sequence[Violation]
    tags: Sequence[Violation]

    @classmethod
    def of(cls, tree: Tree, _: None) -> Checked:
        """The work on one sentence."""
        from deptree_cli.core.constraints.checking import wrong_tags

        broken = tree.asked.broken(tree.heads, tree.labels, tree.space)
        tags = wrong_tags(tree.asked.rules, tree.asked.words)
        return cls(tree, broken if tree.read.has_other_tags else [*broken, *tags], tags)

    @property
    def counted(self) -> Counts:
        """What it counts for."""
        tree = self.tree
        unlisted = self.tags if tree.read.has_other_tags else ()
        rules = Counter(each.rule for each in (*self.broken, *unlisted))
        return Counts(rules, list(tree.asked.words.tags).count(None), tree.labels.count(""), frozenset(tree.labels))

    def to_jsonl(self) -> bytes:
        """A line for each place."""
        return b"".join(dump({**row, "words": words}) for row, words in self._rows)

    def rows(self) -> list[Row]:
        """A row for each place, the words with commas between them."""
        return [{**row, "words": ",".join(map(str, words))} for row, words in self._rows]

    @cached_property
    def _rows(self) -> list[tuple[Row, Sequence[int]]]:
        """The rows but for the words of each."""
        tree = self.tree
        forms = tree.read.block.column("form") if self.broken else []
        return [
            (
                {
                    "sent_id": tree.read.sent_id,
                    "rule": each.rule,
                    "word": each.word,
                    "form": forms[each.word - 1],
                    "head": head if (head := tree.heads[each.word - 1]) >= 0 else None,
                    "deprel": tree.labels[each.word - 1] or None,
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
