"""``deptree measure``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from deptree_cli.cli.help import Listing
from deptree_cli.cli.job import Job
from deptree_cli.cli.measure_groups import LABEL, By
from deptree_cli.cli.measure_options import Reading, check_groups, compared, reading_options
from deptree_cli.cli.measured import GROUP, LENGTH, TREES
from deptree_cli.cli.measures import COLUMNS, Settings, Treebank
from deptree_cli.cli.measuring import Measure, is_of_arcs
from deptree_cli.cli.options import seed_option, size_option
from deptree_cli.cli.params import INPUT, OUTPUT, FloatRange, IntRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import ROWS, TABLE, Writing, format_options
from deptree_cli.core.chance import RandomTrees
from deptree_cli.core.quantities import NUMBERS
from deptree_cli.io.encoders import encoder_of
from deptree_cli.io.encoders.base import Sheet
from deptree_cli.io.files.output import Output

HELP = """Measure dependency lengths, direction, depth and crossings of trees, and compare them with chance.

Writes means over sentences with bootstrap intervals: a row for each quantity of the trees, and a row for each of its
baselines: the same trees with their words in random or in the shortest order (exact), random trees, and, with --scores,
the parser's expectation.

`difference` is the mean of the trees minus the baseline. Sums over arcs have exact expectations. Other quantities need
-k sampled trees; `error` is the standard error due to sampling. `sd` is the standard deviation within a sentence.
"""

SENTENCE, TREEBANK = "sentence", "treebank"

# What a table has unless quantities are asked for; everything else has all.
SHOWN = ("length", "mean_length", "optimality", "head_final", "depth", "crossings")

# The quantity that a picture shows unless another is asked for.
DRAWN = "mean_length"

RESAMPLES = 1000


@command(help=HELP, listing=Listing("Quantities", NUMBERS, lambda entry: f"{entry.name}:\n  {entry.summary}"))
@click.argument("trees", metavar="TREES...", nargs=-1, type=INPUT)
@option(
    "--per",
    type=click.Choice([SENTENCE, TREEBANK]),
    default=TREEBANK,
    metavar="UNIT",
    help="Write rows of each sentence, or means of the treebank: sentence or treebank.  [default: treebank]",
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
    help="Add the difference of two groups, or without --by of two files.",
)
@size_option(None, "Trees to sample for quantities that are not sums over arcs.", "none")
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
    """Measure trees beside chance."""
    trees, by = compared(trees, by, compare)
    per_sentence = per == SENTENCE
    check_groups(by, per_sentence, size)
    if plot:
        encoder_of(None, plot, ("svg",), "svg")  # raises for another suffix
    settings = Settings(by, compare, seed=seed, **how)
    first = {"per": per, "quantities": "+".join(names) or None, **reading.signature_fields, "by": by and by.name}
    drawn_seed = None if size is None else seed
    last = {"size": size, **({"seed": drawn_seed} if per_sentence else settings.signature_fields)}
    job = Job("measure", reading.source(trees, by, run), run, writing, first, last)
    in_table = job.encoder is TABLE
    chosen = _chosen(names, by, in_table)
    random = RandomTrees(reading.space, chosen, size, drawn_seed)
    work = Measure(chosen, random, size, reading.scores is not None, reading.reduced)
    _check_drawn(work)
    fold = Treebank(settings, work.columns)
    if per_sentence:
        code = job.write(work, drawn_seed, _sheet(work, by, in_table), [fold] if plot else [])
    else:
        sheet = Sheet(COLUMNS if by else COLUMNS[1:], "measure", _headings(settings, size) if in_table else None)
        code = job.summarise(work, fold, sheet, drawn_seed)
    if plot:
        _draw(plot, fold.picture(names[0] if names else DRAWN))
    return code


def _draw(path: str, picture: str) -> None:
    with Output(path) as out:
        out.write(picture.encode())


def _check_drawn(work: Measure) -> None:
    """Raise if trees are drawn for nothing."""
    if work.size is not None and not any(column.has_error for column in work.columns):
        raise click.UsageError("-k draws trees for what is no sum over arcs, but all of these are. Remove it.")


def _chosen(names: Sequence[str], by: By | None, in_table: bool) -> tuple[str, ...]:
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


def _headings(settings: Settings, size: int | None) -> dict[str, str]:
    """What a table shows of means: less than there is."""
    shown = ["quantity", "of", "mean", "low", "high", "difference"]
    shown = ["group"] * bool(settings.by) + shown + ["p"] * bool(settings.compare) + ["error"] * bool(size)
    return {name: name for name in shown}


def _sheet(work: Measure, by: By | None, in_table: bool) -> Sheet:
    """How rows of sentences are laid out."""
    first = ["sent_id", *([GROUP] if by else []), LENGTH]
    if in_table:
        return Sheet([*first, *(name for name in work.names if name != LENGTH)], "measure")
    columns = sorted(work.columns, key=lambda column: column.of != TREES)
    fields = [(outer, column.quantity) for column in columns if column.quantity != LENGTH for outer, _ in column.fields]
    return Sheet([*first, *(f"{outer}.{name}" if outer else name for outer, name in fields)], "measure")
