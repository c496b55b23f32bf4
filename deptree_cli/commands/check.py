"""``deptree check``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import click

from deptree_cli.cli.broken_rules import BrokenRules, Counts
from deptree_cli.cli.given_trees import Asked, GivenTree, GivenTrees
from deptree_cli.cli.job import Job
from deptree_cli.cli.layout_options import signature_of, space_options
from deptree_cli.cli.other_tags import OtherTags
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.rule_options import met, rule_option
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.work import Counted, Source, Work
from deptree_cli.cli.writing import ROWS, Writing, format_options
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.malformed import decoded
from deptree_cli.io.conllu.surface import wrong_tokens
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.read import sentences
from deptree_cli.io.trees.base import names_of

if TYPE_CHECKING:
    from deptree_cli.core.constraints.checking import Violation
    from deptree_cli.core.spaces import TreeSpace
    from deptree_cli.io.rules.constraints import Constraints

COLUMNS = ("sent_id", "rule", "word", "form", "head", "deprel", "words")


@command()
@click.argument("trees", metavar="TREES...", nargs=-1, required=True, type=INPUT)
@rule_option("Rules that trees must obey", ["ud"])
@space_options
@format_options(*ROWS)
@run_options
def check(trees: tuple[str, ...], rules: Constraints, space: TreeSpace, writing: Writing, run: RunOptions) -> int:
    """List the rules that trees in CoNLL-U break (by HEAD, DEPREL, UPOS and FEATS), and heads that are no tree.

    Writes a row per violation, as JSON Lines or, on a terminal, as a table: the rule; the word that breaks it, with
    form, head and deprel; and `words`, all words whose arcs break it together. Rules about single words and spans are
    called HeadIn, NotHead, DeprelIn, DeprelNot and spans. A table on stderr counts violations by rule. Heads that are
    no tree are violations too: cycles, several roots, missing heads. So are multiword tokens that are not in front of
    their words; `words` has their first and last word.

    Exit status: 0 no rule is broken, 1 some are (or sentences were skipped), 2 unusable input.
    """
    watched, feats = OtherTags(rules.rules.upos, run.warn).watched, rules.rules.ask_feats
    lead = sentences(trees, watched=watched, any_heads=True, feats=feats)
    read = met(lead.in_order(), rules, lambda sentence: names_of(sentence.sent_id))
    fields = {**signature_of(space), "rules": rules.name}
    source = Source(Counted(read, share=share_of(trees)), Asked(rules, space), fields)
    job = Job("check", source, run, writing)
    found = BrokenRules(rules.rules)
    code = job.write(Check(), sheet=Sheet(COLUMNS, "check"), folds=[found])
    return max(code, found.exit_code)


@dataclass(frozen=True)
class Checked:
    """A sentence's tree with the rules that it breaks.

    Attributes:
        found: the rows of the rules that it breaks; of tags in files that have other tags there are none.
        counted: what it counts for.
    """

    found: Callable[[], Iterable[Row]]
    counted: Counts

    def rows(self) -> list[Row]:
        """A row for each place."""
        return [*self.found()]


@dataclass(frozen=True)
class Check(Work[Checked]):
    """Looks for broken rules."""

    @property
    def in_batches(self) -> bool:
        """Whether rules are looked for in many trees at once."""
        return True

    def one(self, tree: GivenTree, _: None) -> Checked:
        """The work on one sentence."""
        broken = (*tree.broken, *tree.wrong_tags)
        told = tree.broken if tree.read.has_other_tags else broken
        rows = partial(_rows, tree.name, tree.block, tree.heads, tree.labels, told)
        return _with_tokens(rows, Counts.of(tree, broken), tree.name, tree.block)

    def batch(self, trees: GivenTrees, _: None) -> list[Checked]:
        """The work on many sentences."""
        both = [[*rules, *tags] for rules, tags in zip(trees.broken, trees.wrong_tags, strict=True)]
        return [
            _with_tokens(partial(_rows_of, trees, number, broken), counts, trees.name(number), trees.blocks[number])
            for number, (broken, counts) in enumerate(zip(both, Counts.of_many(trees, both), strict=True))
        ]


def _with_tokens(rows: Callable[[], Iterable[Row]], counts: Counts, name: str, block: Block) -> Checked:
    """What is found of a sentence's tree, and multiword tokens that are wrong."""
    if not (tokens := wrong_tokens(block)):
        return Checked(rows, counts)
    cells = (
        (name, rule, first, decoded(form, block.place), None, None, (first, last))
        for rule, _, first, last, form in tokens
    )
    more = (dict(zip(COLUMNS, each, strict=True)) for each in cells)
    counts = replace(counts, rules=counts.rules + Counter(rule for rule, *_ in tokens))
    return Checked(lambda: chain(rows(), more), counts)


def _rows_of(trees: GivenTrees, number: int, broken: Sequence[Violation]) -> Iterator[Row]:
    """The rows of one of many sentences."""
    if trees.read[number].has_other_tags:
        broken = trees.broken[number]
    if not broken:
        return iter(())
    return _rows(trees.name(number), trees.blocks[number], *trees.many.tree(number), broken)


def _rows(
    name: str, block: Block, heads: Sequence[int], labels: Sequence[str], broken: Sequence[Violation]
) -> Iterator[Row]:
    """A row for each place."""
    forms = block.column("form") if broken else []
    for each in broken:
        yield {
            "sent_id": name,
            "rule": each.rule,
            "word": each.word,
            "form": forms[each.word - 1],
            "head": head if (head := heads[each.word - 1]) >= 0 else None,
            "deprel": labels[each.word - 1] or None,
            "words": tuple(each.words),
        }
