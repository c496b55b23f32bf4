"""``deptree check``."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from deptree_cli.cli.given_trees import Asked, BrokenRules, Counts, GivenTree, noted
from deptree_cli.cli.options import INPUT, command
from deptree_cli.cli.run import Job, RunOptions, Source, Work, run_options
from deptree_cli.cli.score_options import met, rule_option, signature_of, space_options
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import ROWS, Writing, format_options
from deptree_cli.io.conllu.blocks import wrong_tokens
from deptree_cli.io.conllu.columns import decoded
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.read import sentences
from deptree_cli.io.trees import names_of

if TYPE_CHECKING:
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
    upos, feats = rules.rules.upos, rules.rules.ask_feats
    lead = sentences(trees, watched=lambda read, _: noted(read, upos), any_heads=True, feats=feats)
    read = met(lead.in_order(), rules, lambda sentence: names_of(sentence.sent_id))
    fields = {**signature_of(space), "rules": rules.name}
    source = Source(Counted(read, share=share_of(trees)), Asked(rules, space), fields)
    job = Job("check", source, run, writing)
    found = BrokenRules(rules)
    code = job.write(Check(), sheet=Sheet(COLUMNS, "check"), folds=[found])
    return max(code, found.exit_code)


class Checked(NamedTuple):
    found: list[Row]
    counted: Counts

    def rows(self) -> list[Row]:
        return self.found


class Check(Work[Checked]):
    """Looks for broken rules; wrong tags are counted, but not listed in files that have other tags throughout."""

    def one(self, tree: GivenTree, _: None) -> Checked:
        broken = tree.broken if tree.read.has_other_tags else [*tree.broken, *tree.wrong_tags]
        forms, counts, rows = tree.block.column("form") if broken else [], tree.counts, list[tuple[Any, ...]]()
        for rule, word, words in broken:
            head, label = tree.heads[word - 1], tree.labels[word - 1]
            rows.append((tree.name, rule, word, forms[word - 1], head if head >= 0 else None, label or None, words))
        if tokens := wrong_tokens(tree.block):
            for kind, _word, first, last, form in tokens:
                rows.append((tree.name, kind, first, decoded(form, tree.block.place), None, None, (first, last)))
            counts = counts._replace(rules=counts.rules + Counter(rule for rule, *_ in tokens))
        return Checked([dict(zip(COLUMNS, row, strict=True)) for row in rows], counts)
