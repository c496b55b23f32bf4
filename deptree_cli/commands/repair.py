"""``deptree repair``."""

from __future__ import annotations

import click

from deptree_cli.cli.broken_rules import BrokenRules
from deptree_cli.cli.job import Job
from deptree_cli.cli.params import INPUT, OUTPUT
from deptree_cli.cli.repair_options import RepairOptions, repair_options
from deptree_cli.cli.repair_sources import trees_in, work_on
from deptree_cli.cli.repaired import Repairs, changes_file
from deptree_cli.cli.rule_options import RelaxedSentences
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, writing_option
from deptree_cli.cli.writing import Writing


@command()
@click.argument("trees", metavar="TREES...", nargs=-1, required=True, type=INPUT)
@repair_options
@writing_option("--changes", type=OUTPUT, often=True, help="Write a row for each changed word (.tsv or .jsonl).")
@writing_option("--header", is_flag=True, help="Write the run signature as first comment, or first line.")
@run_options
def repair(trees: tuple[str, ...], how: RepairOptions, changes: str | None, header: bool, run: RunOptions) -> int:
    """Change as few heads and labels as possible so that heads are trees and obey rules.

    TREES is CoNLL-U or JSON Lines. Heads may form cycles, have several roots or be no words; filling a missing head or
    label (_, null) costs nothing. Valid sentences are copied byte for byte. MISC of a changed word keeps its old head
    and label (OldHead, OldDeprel); comments say how much was changed, and whether fewer changes might do. To find
    mistakes that break no rule, use deptree doubt.

    Among equally near trees it takes the most probable one: by how words attach in the valid sentences, in --like FILE,
    or by --scores.

    Exit status: 0 all trees obey now, 1 not all (--relax), or not certain, or sentences were skipped, 2 unusable input.
    """
    repairs = Repairs(BrokenRules(how.rules.rules, "rule broken before"))
    with trees_in(trees) as given, changes_file(changes) as rows:
        source, work = work_on(given, how, run, bool(rows), repairs.before)
        repairs.untaught = how.scores is None and not work.ties.habits
        job = Job("repair", source, run, Writing((given.fmt.name,), header=header))
        code = job.write(work, folds=[repairs, *rows, *([RelaxedSentences(run)] if how.relax else [])])
    return max(code, repairs.exit_code)
