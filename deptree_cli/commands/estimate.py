"""``deptree estimate``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import click
import numpy as np

from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import header_option
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.progress import Counted
from deptree_cli.cli.report import table
from deptree_cli.cli.rows import JSON, TABLE, TSV, RowFormat, flattened, row_options, write_rows
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import signed
from deptree_cli.core.dtypes import Float
from deptree_cli.core.estimate import FUNCTIONALS, Estimate
from deptree_cli.core.estimate import estimate as expectation
from deptree_cli.io.signature import signature
from deptree_cli.io.streams import share_read
from deptree_cli.io.trees.draws import DrawnTrees, read_draws

HELP = """Estimate expectations from the output of `deptree swor` (JSON Lines or CoNLL-U; - is standard input).

For each sentence and quantity two estimates: `unbiased` (the sum of weights times values) and `normalised` (divided by
the sum of weights; slightly biased, far less spread on flat scores). Each has an error such that the estimate +- 1.96
errors covers the expectation with probability 0.95 from 5 trees on (0.9 on some peaked sentences), and more with fewer
trees. It is a standard error, widened where few trees carry it; 0 where all trees were drawn; null (- in a table) where
the trees tell nothing of it: a single one, or all of the same value. On a terminal a table, else JSON Lines.

Quantities:

"""

# What the table and JSON Lines show unless told otherwise: a number per sentence each.
SCALARS = [functional.name for functional in FUNCTIONALS if functional.scalar]

# What there is of a quantity.
ESTIMATES = [field.name for field in fields(Estimate)]

COLUMNS = ["sent_id", "trees", "quantity", "unbiased", "error", "normalised", "error"]

Row = dict[str, Any]


@command(
    help=HELP,
    listing=Listing("functionals", FUNCTIONALS, lambda entry: f"{entry.name}:\n  {entry.summary}"),
    epilog="\b\nTry: deptree swor scores.npz --from natasha -k 100 | deptree estimate -",
)
@click.argument("draws", type=INPUT)
@option(
    "--quantity",
    "names",
    multiple=True,
    type=click.Choice(FUNCTIONALS.names),
    help=f"What to estimate; may be repeated.  [default: {', '.join(SCALARS)}]",
)
@row_options
@header_option
@run_options
def estimate(draws: str, run: RunOptions, names: tuple[str, ...], row_format: RowFormat, header: bool | None) -> int:
    """Estimate expectations from distinct trees."""
    quantities = list(dict.fromkeys(names)) or SCALARS
    made_by = signature("estimate", {"quantities": "+".join(quantities), **run.signature_fields})
    fmt = row_format.form(run.output)
    source = Counted(read_draws(draws), share=lambda: share_read(draws))
    pipeline = Pipeline(source, _as_drawn, run)
    rows = pipeline.map(Estimated(tuple(quantities)))
    if not set(quantities) <= set(SCALARS):
        if fmt == TSV:
            raise click.UsageError("--tsv has no place for arcs: leave it out.")
        fmt = JSON
    if fmt == TABLE:
        table("estimate", COLUMNS, list(signed(_lines(rows, quantities), made_by, run)), sys.stdout)
    else:
        columns = ["sent_id", "n", "trees", *(f"{name}.{of}" for name in quantities for of in ESTIMATES)]
        write_rows(map(flattened, rows) if fmt == TSV else rows, columns, fmt, made_by, header, run)
    return pipeline.exit_code


def _as_drawn(trees: DrawnTrees) -> DrawnTrees:
    return trees


@dataclass(frozen=True)
class Estimated:
    """A sentence's estimates as an object for JSON."""

    quantities: tuple[str, ...]

    def __call__(self, trees: DrawnTrees, _: None) -> Row:
        """The work on one sentence."""
        row: Row = {"sent_id": trees.sent_id, "n": trees.heads.shape[1], "trees": len(trees.heads)}
        for name in self.quantities:
            found = expectation(trees, FUNCTIONALS.get(name).function)
            row[name] = {of: _without_nan(value) for of, value in vars(found).items()}
        return row


def _without_nan(value: Float) -> Any:
    """Numbers for JSON, in lists if there are many; None for an error that is not known."""
    return np.where(np.isnan(value), None, value).tolist()  # type: ignore[call-overload]


def _lines(rows: Iterable[Row], quantities: list[str]) -> Iterator[list[object]]:
    """What the table shows: a line per sentence and quantity."""
    for row in rows:
        for name in quantities:
            yield [row["sent_id"], row["trees"], name, *row[name].values()]
