"""``deptree check``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from deptree_cli.cli.broken_rules import BrokenRules, Counts
from deptree_cli.cli.given_trees import Asked, GivenTree
from deptree_cli.cli.job import Job
from deptree_cli.cli.layout_options import signature_of, space_options
from deptree_cli.cli.other_tags import OtherTags
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.rule_options import met, rule_option
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.work import Counted, Source
from deptree_cli.cli.writing import ROWS, Writing, format_options
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
@rule_option("What trees must obey", ["ud"])
@space_options
@format_options(*ROWS)
@run_options
def check(trees: tuple[str, ...], rules: Constraints, space: TreeSpace, writing: Writing, run: RunOptions) -> int:
    """List the rules that given trees break, and what is no tree: HEAD, DEPREL, UPOS and FEATS of CoNLL-U.

    Writes a row per violation, as JSON Lines or, on a terminal, as a table: the rule; the word that breaks it, with
    form, head and deprel; and `words`, all whose arcs break it together. What is asked of words is called HeadIn,
    NotHead, DeprelIn, DeprelNot and spans. A table on stderr counts violations by rule. Heads that are no tree are
    violations too: cycles, several roots, missing heads.

    Exit status: 0 no rule is broken, 1 some are (or sentences were skipped), 2 unusable input.
    """
    lead = sentences(trees, watched=OtherTags(rules.rules.upos, run.warn).watched, any_heads=True)
    read = met(lead.in_order(), rules, lambda sentence: names_of(sentence.sent_id))
    fields = {**signature_of(space), "rules": rules.name}
    source = Source(Counted(read, share=share_of(trees)), Asked(rules, space), fields)
    job = Job("check", source, run, writing)
    found = BrokenRules(rules.rules)
    code = job.write(Checked.of, sheet=Sheet(COLUMNS, "check"), folds=[found])
    return max(code, found.exit_code)


@dataclass(frozen=True)
class Checked:
    """A sentence's tree with the rules that it breaks.

    Attributes:
        broken: those of which there is a row; of tags in files that have other tags there are none.
    """

    tree: GivenTree
    broken: Sequence[Violation]

    @classmethod
    def of(cls, tree: GivenTree, _: None) -> Checked:
        """The work on one sentence."""
        return cls(tree, tree.broken if tree.read.has_other_tags else [*tree.broken, *tree.wrong_tags])

    @property
    def counted(self) -> Counts:
        """What it counts for."""
        return Counts.of(self.tree, (*self.tree.broken, *self.tree.wrong_tags))

    def rows(self) -> list[Row]:
        """A row for each place."""
        tree, forms = self.tree, self.tree.block.column("form") if self.broken else []
        return [
            {
                "sent_id": tree.name,
                "rule": each.rule,
                "word": each.word,
                "form": forms[each.word - 1],
                "head": head if (head := tree.heads[each.word - 1]) >= 0 else None,
                "deprel": tree.labels[each.word - 1] or None,
                "words": tuple(each.words),
            }
            for each in self.broken
        ]
