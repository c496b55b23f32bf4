"""``deptree measure``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from deptree_cli.cli.help import Listing
from deptree_cli.cli.job import Job
from deptree_cli.cli.layout_options import signature_of
from deptree_cli.cli.measure_groups import LABEL, By
from deptree_cli.cli.measure_options import Reading, check_groups, compared, reading_options
from deptree_cli.cli.measures import COLUMNS, Settings, Treebank
from deptree_cli.cli.measuring import GROUP, LENGTH, TREES, Column, Measure, is_of_arcs
from deptree_cli.cli.options import check_effect, seed_option, size_option
from deptree_cli.cli.params import INPUT, OUTPUT, FloatRange, IntRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import ROWS, TABLE, Writing, format_options
from deptree_cli.core.measures.chance import RandomTrees
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.io.encoders import encoder_of
from deptree_cli.io.encoders.base import Sheet
from deptree_cli.io.files.output import Output

SENTENCE, TREEBANK = "sentence", "treebank"

# What a table has unless quantities are asked for; everything else has all.
SHOWN = ("length", "mean_length", "optimality", "head_final", "depth", "crossings")

# The quantity that a picture shows unless another is asked for.
DRAWN = "mean_length"

RESAMPLES = 1000


@command(listing=Listing("Quantities", NUMBERS, lambda entry: f"{entry.name}:\n  {entry.summary}"))
@click.argument("trees", metavar="TREES...", nargs=-1, type=INPUT)
@option(
    "--per",
    type=click.Choice([SENTENCE, TREEBANK]),
    default=TREEBANK,
    metavar="sentence|treebank",
    help="Rows of sentences, or means.  [default: treebank]",
)
@option(
    "--quantity",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=NUMBERS.complete,
    help="What to measure; may be repeated.  [default: all; in a table some]",
)
@option(
    "--by",
    metavar="KEY",
    callback=lambda context, parameter, text: text and By.of(text),
    help="Group by file, length, label, or comment (genre; sent_id=[a-z]+: what matches).",
)
@option(
    "--compare",
    nargs=2,
    metavar="A B",
    help="Also the difference of two groups, or without --by of two files.",
)
@size_option(None, "Draw trees for what is no sum over arcs.", "none")
@option(
    "--confidence",
    type=FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    metavar="P",
    often=False,
    help="Coverage of intervals.  [default: 0.95]",
)
@option(
    "--resamples",
    type=IntRange(1),
    default=RESAMPLES,
    metavar="N",
    often=False,
    help=f"Resamples of sentences, for intervals and tests.  [default: {RESAMPLES}]",
)
@option("--plot", type=OUTPUT, help="Draw a quantity against the length of sentences (SVG).")
@seed_option
@reading_options
@format_options(*ROWS)
@run_options
def measure(
    trees: tuple[str, ...],
    per: str,
    names: tuple[str, ...],
    by: By | None,
    compare: tuple[str, str] | None,
    size: int | None,
    plot: str | None,
    seed: int,
    reading: Reading,
    writing: Writing,
    run: RunOptions,
    **how: Any,
) -> int:
    """Measure trees beside chance: lengths of dependencies, direction, depth, crossings.

    Writes means over sentences with bootstrap intervals: a row for each quantity of the trees, and for what it is if
    their words are in random or in the shortest order (exact), in random trees, and by --scores for the parser.

    `difference` is what the trees exceed a baseline by. Sums over arcs have exact expectations; for all else pass -k,
    and the means have a standard error, `error`. `sd` is the standard deviation within a sentence.
    """
    trees, by = compared(trees, by, compare)
    per_sentence = per == SENTENCE
    check_groups(by, per_sentence)
    if per_sentence and size is None:
        check_effect(["seed"], "sampled trees (-k) or means (--per treebank)")
    if by is not None and by.key == LABEL:
        check_effect(["size", "scores", "plot"], "whole trees, but --by label is about arcs")
    if plot:
        encoder_of(None, plot, ("svg",), "svg")  # raises for another suffix
    source = reading.source(trees, by, run)
    drawn_seed = seed if size is not None else None
    random = None if per_sentence and size is None else seed
    fields = {
        "per": per,
        "quantities": "+".join(names) or None,
        "punct": "no" if reading.no_punct else None,
        "words": "tokens" if reading.tokens else None,
        **({} if reading.scores else signature_of(reading.space)),
    }
    means = {} if per_sentence else {**how, "by": by and by.name, "compare": compare and "+".join(compare)}
    job = Job("measure", source, run, writing, fields, {"size": size, **means, "seed": random})
    chosen = _chosen(names, by, job.encoder is TABLE, plot)
    table = RandomTrees(reading.space, chosen, size, drawn_seed)
    work = Measure(chosen, table, size, reading.scores is not None, reading.reduced)
    fold = Treebank(Settings(by, compare, seed=seed, **how), work.columns)
    if per_sentence:
        sheet = _sheet(work, by, job.encoder is TABLE)
        code = job.write(work, drawn_seed, sheet, [fold] if plot else [])
    else:
        sheet = Sheet(COLUMNS if by else COLUMNS[1:], "measure", _headings(by, compare, size, job.encoder is TABLE))
        code = job.summarise(work, fold, sheet, drawn_seed)
    if plot:
        with Output(plot) as out:
            out.write(fold.picture(names[0] if names else DRAWN).encode())
    return code


def _chosen(names: Sequence[str], by: By | None, in_table: bool, plot: str | None) -> tuple[str, ...]:
    """The quantities that are measured.

    Raises:
        click.UsageError: one is not of arcs, but they are grouped by label.
    """
    asked = tuple(NUMBERS.get(name).name for name in dict.fromkeys(names))
    if by is None or by.key != LABEL:
        return asked or (SHOWN if in_table else tuple(NUMBERS.names))
    of_arcs = tuple(each.name for each in NUMBERS if is_of_arcs(each))
    for name in asked:
        if name not in of_arcs:
            raise click.UsageError(f"--by label is about arcs: {', '.join(of_arcs)}. {name} is of whole trees.")
    return asked or of_arcs


def _headings(by: By | None, compare: object, size: int | None, in_table: bool) -> dict[str, str] | None:
    """What a table shows of means: less than there is."""
    shown = ["quantity", "of", "mean", "low", "high", "difference"]
    shown = ["group"] * bool(by) + shown + ["p"] * bool(compare) + ["error"] * bool(size)
    return {name: name for name in shown} if in_table else None


def _sheet(work: Measure, by: By | None, in_table: bool) -> Sheet:
    """How rows of sentences are laid out."""
    first = ["sent_id", *([GROUP] if by else []), LENGTH]
    if in_table:
        return Sheet([*first, *(name for name in work.names if name != LENGTH)], "measure")
    columns = sorted(work.columns, key=lambda column: column.of != TREES)
    fields = [(outer, column.quantity) for column in columns if column.quantity != LENGTH for outer, _ in column.fields]
    return Sheet([*first, *(f"{outer}.{name}" if outer else name for outer, name in fields)], "measure")
