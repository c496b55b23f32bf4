"""``deptree estimate``."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click
import numpy as np

from deptree_cli.commands.options import header_option, output_option
from deptree_cli.commands.writing import write_chunks
from deptree_cli.core.estimate import FUNCTIONALS
from deptree_cli.core.estimate import estimate as expectation
from deptree_cli.io.jsonl import dump
from deptree_cli.io.report import table
from deptree_cli.io.samples import DrawnTrees, read_draws
from deptree_cli.io.signature import signature

HELP = """Estimate expectations from the output of `deptree swor` (JSON Lines or CoNLL-U; - is standard input).

For each sentence and quantity two estimates with their standard errors: `unbiased` (the sum of weights times values)
and `normalised` (divided by the sum of weights; slightly biased, far less spread on flat scores). On a terminal a
table, else JSON Lines.

Quantities:

"""

LISTING = "\n\n".join(f"\b\n{name}:\n  {(f.__doc__ or '').splitlines()[0]}" for name, f in FUNCTIONALS.items())

# What the table and JSON Lines show unless told otherwise: a number per sentence each.
SCALARS = [name for name in FUNCTIONALS if name != "arcs"]


COLUMNS = ["sentence", "trees", "quantity", "unbiased", "error", "normalised", "error"]


@click.command(
    help=HELP + LISTING, epilog="\b\nTry: deptree swor scores.npz --from natasha -k 100 | deptree estimate -"
)
@click.argument("draws")
@click.option(
    "--quantity",
    "names",
    multiple=True,
    type=click.Choice(list(FUNCTIONALS)),
    help=f"What to estimate; may be repeated.  [default: {', '.join(SCALARS)}]",
)
@output_option
@header_option
@click.option("--quiet", "-q", is_flag=True, help="Nothing on stderr but errors.")
def estimate(draws: str, names: tuple[str, ...], output: str | None, header: bool | None, quiet: bool) -> int:
    """Estimate expectations from different trees."""
    quantities = list(dict.fromkeys(names)) or SCALARS
    made = signature("estimate", {"quantities": "+".join(quantities)})
    if output is None and sys.stdout and sys.stdout.isatty() and "arcs" not in quantities:
        table("estimate", COLUMNS, (line for drawn in read_draws(draws) for line in _lines(drawn, quantities)))
        return 0
    rows = (dump(_row(drawn, quantities)) for drawn in read_draws(draws))
    write_chunks(rows, "jsonl", output, made, header, quiet)
    return 0


def _row(drawn: DrawnTrees, quantities: list[str]) -> dict[str, object]:
    """What JSON Lines say of a sentence."""
    row: dict[str, object] = {"sent_id": drawn.sent_id, "n": drawn.heads.shape[1], "trees": len(drawn.heads)}
    for name in quantities:
        found = expectation(drawn.heads, drawn.log_probs, drawn.tau, FUNCTIONALS[name])
        row[name] = {of: np.asarray(value).tolist() for of, value in vars(found).items()}
    return row


def _lines(drawn: DrawnTrees, quantities: list[str]) -> Iterator[list[object]]:
    """What the table shows of a sentence: a line per quantity."""
    for name in quantities:
        found = expectation(drawn.heads, drawn.log_probs, drawn.tau, FUNCTIONALS[name])
        yield [drawn.sent_id, len(drawn.heads), name, *(float(value) for value in vars(found).values())]
