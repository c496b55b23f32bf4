"""The table of commands, and groups that import a command when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, NamedTuple

import click

from deptree_cli.core.errors import nearest


class Entry(NamedTuple):
    """A line of a table of commands; ``check-bias`` is the object `check_bias` of the module `check_bias`."""

    does: str  # in at most ten words and a sentence
    line: str  # what its help tells to try, for files that have the names of our sample data
    reads: str = "scores"  # what its line reads first: or trees, draws, pairs, treebank, model, text, nothing
    writes: str = "rows"  # or trees, arrays, scores, model, picture, page, nothing
    package: str = ""  # of a group, where its commands are


COMMANDS = {
    "sample": Entry(
        "Sample trees, without bias, with replacement.",
        "deptree sample scores.npz --from natasha --conllu sentences.conllu -k 10 --seed 7",
        writes="arrays",
    ),
    "swor": Entry(
        "Sample distinct trees, without replacement.",
        "deptree swor scores.npz --from natasha -k 10 --seed 7",
        writes="trees",
    ),
    "estimate": Entry(
        "Estimate expectations from the distinct trees of swor.",
        "deptree swor scores.npz --from natasha -k 100 | deptree estimate -",
        reads="draws",
    ),
    "decode": Entry(
        "Find the best tree, or the k best.",
        "deptree decode scores.npz --from natasha --conllu sentences.conllu",
        writes="arrays",
    ),
    "marginals": Entry(
        "Compute the probability of every arc.",
        "deptree marginals scores.npz --from natasha -o marginals.npz",
        writes="arrays",
    ),
    "score": Entry("Compute the probabilities of given trees.", "deptree score scores.npz gold.conllu --from natasha"),
    "eval": Entry(
        "Compare parsed trees with gold trees, with error bars.",
        "deptree decode scores.npz --from natasha --conllu sentences.conllu | deptree eval gold.conllu -",
        reads="trees",
    ),
    "measure": Entry(
        "Measure dependency lengths, depth, crossings, ...; compare with chance.",
        "deptree measure gold.conllu",
        reads="trees",
    ),
    "doubt": Entry(
        "Rank annotated words and sentences by how much the scores doubt them.",
        "deptree doubt scores.npz --from natasha --conllu gold.conllu --top 10",
    ),
    "agree": Entry(
        "Measure agreement of annotators, parsers or samples.",
        "deptree decode scores.npz --from natasha --conllu sentences.conllu | deptree agree gold.conllu -",
        reads="trees",
    ),
    "check": Entry("Find the rules that given trees break.", "deptree check broken.conllu", reads="trees"),
    "repair": Entry(
        "Make trees valid with as few changes as possible.",
        "deptree repair broken.conllu -o repaired.conllu --changes changes.tsv",
        reads="trees",
        writes="trees",
    ),
    "partition": Entry(
        "Compute partition functions and the share of single-root trees.",
        "deptree partition scores.npz --from natasha | jq .single_root_mass",
    ),
    "expect": Entry(
        "Compute an expectation: entropy, divergence, risk, ...", "deptree expect entropy scores.npz --from natasha"
    ),
    "calibrate": Entry(
        "Make probabilities fit gold trees; find sets of heads.",
        "deptree calibrate scores.npz --from natasha --gold gold.conllu -o calibration.json",
    ),
    "combine": Entry(
        "Combine parsers, or trees as votes.",
        "deptree combine scores.npz:natasha gold.conllu --weights 0.7,0.3",
        writes="scores",
    ),
    "diff": Entry(
        "List the words in which trees differ.",
        "deptree decode scores.npz --from natasha --conllu sentences.conllu | deptree diff gold.conllu -",
        reads="trees",
    ),
    "check-bias": Entry(
        "Test a sampler, or given samples, against the exact distribution.",
        "deptree check-bias scores.npz --from natasha --sampler wilson-rc -k 2000 --seed 7",
    ),
    "inspect": Entry(
        "Report how a score file is interpreted.", "deptree inspect scores.npz --from natasha --conllu gold.conllu"
    ),
    "show": Entry(
        "Draw a sentence: its tree, arcs with their probabilities, or samples.",
        "deptree show scores.npz --from natasha --conllu gold.conllu --sentence en-1 -o en-1.svg",
        writes="picture",
    ),
    "report": Entry(
        "Write a page to look through a treebank.",
        "deptree report scores.npz --from natasha --conllu gold.conllu -o report.html",
        writes="page",
    ),
    "convert": Entry(
        "Write scores in another container or layout.",
        "deptree convert scores.npz --from natasha --to torch-struct -o converted.npz",
        writes="scores",
    ),
    "dump": Entry(
        "Run a parser and write its scores.",
        "deptree dump natasha paragraphs.txt | deptree sample - -k 5 --seed 7",
        reads="text",
        writes="scores",
    ),
    "warm": Entry("Compile the kernels of commands ahead of time.", "deptree warm partition", reads="", writes=""),
    "hpyp": Entry(
        "Train and use a generative parser; no other parser is needed.",
        "deptree hpyp train treebank.conllu -o model.npz && deptree hpyp parse model.npz sentences.conllu",
        package="deptree_cli.hpyp.commands",
    ),
    "bitext": Entry(
        "Align sentence pairs: probabilities of links, alignments.",
        "deptree bitext align bitext.npz --text bitext.txt",
        package="deptree_cli.bitext.commands",
    ),
}


def entries_of(ctx: click.Context) -> dict[str, Entry]:
    program = ctx.find_root().command
    return program.entries() if isinstance(program, LazyGroup) else {}


class LazyGroup(click.Group):
    """A group by a table; groups within groups work alike, each with the table of its own folder."""

    def __init__(self, *args: Any, package: str, table: Mapping[str, Entry], **options: Any) -> None:
        self.package, self.table = package, table
        self.gone: Mapping[str, str] = options.pop("gone", {})
        super().__init__(*args, **options)

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.table:
            return None
        name, entry = cmd_name.replace("-", "_"), self.table[cmd_name]
        command: click.Command = getattr(import_module(entry.package or f"{self.package}.{name}"), name)
        command.epilog = f"\b\nTry: {entry.line}"
        return command

    def entries(self) -> dict[str, Entry]:
        found: dict[str, Entry] = {}
        for name, entry in self.table.items():
            group = self.get_command(click.Context(self), name) if entry.package else None
            within = group.entries() if isinstance(group, LazyGroup) else {}
            found |= {f"{name} {inner}": each for inner, each in within.items()} or {name: entry}
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command as click does, or say which one may have been meant."""
        if args[0] in self.gone:
            raise click.UsageError(f"There is no {args[0]} now: {self.gone[args[0]]}.", ctx)
        if args[0] not in self.table and (near := nearest(args[0], self.table)):
            raise click.UsageError(f"No such command '{args[0]}'. Did you mean {near}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table as it stands, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.does) for name, entry in self.table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        """Offer commands from the table, without importing them, and the group's own options."""
        item = click.shell_completion.CompletionItem
        names = [item(name, help=entry.does) for name, entry in self.table.items() if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]
