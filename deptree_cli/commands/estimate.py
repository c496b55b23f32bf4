"""``deptree estimate``."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import click
import numpy as np

from deptree_cli.cli.help import Listing
from deptree_cli.cli.job import Job
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.work import Counted, Source
from deptree_cli.cli.writing import ROWS, TABLE, Writing, format_options
from deptree_cli.core.dtypes import Float
from deptree_cli.core.estimate import Estimate
from deptree_cli.core.estimate import estimate as expectation
from deptree_cli.core.quantities import OF_TREES
from deptree_cli.io.encoders.base import Sheet
from deptree_cli.io.encoders.text import JSONL
from deptree_cli.io.files.streams import share_read
from deptree_cli.io.trees.draws import DrawnTrees, read_draws

HELP = """Estimate expectations from the output of `deptree swor` (JSON Lines or CoNLL-U; - is standard input).

Writes two estimates per sentence and quantity: `unbiased` (the sum of weights times values) and `normalised` (divided
by the sum of weights; slightly biased, far less spread on flat scores). Estimate +- 1.96 errors covers the expectation
with probability 0.95 from 5 trees on (at least 0.84 in our tests), and more with fewer trees. The error is a standard
error, wider if few trees carry it; 0 if all trees were sampled; null (- in a table) if the trees cannot tell it: there
is only one, or all have the same value. Prints a table on a terminal, otherwise JSON Lines.
"""

# What is estimated unless told otherwise.
USUAL = ["non_projective_arcs", "depth", "mean_length"]

# What there is of a quantity.
ESTIMATES = [field.name for field in fields(Estimate)]

# field -> its heading in the table, which has a line for each quantity
HEADINGS = {name: name for name in ("sent_id", "trees", "quantity")}
HEADINGS |= {name: "error" if name.endswith("error") else name for name in ESTIMATES}

Row = dict[str, Any]


@command(help=HELP, listing=Listing("Quantities", OF_TREES, lambda entry: f"{entry.name}:\n  {entry.summary}"))
@click.argument("draws", type=INPUT)
@option(
    "--quantity",
    "names",
    multiple=True,
    metavar="NAME",
    shell_complete=OF_TREES.complete,
    help=f"What to estimate; may be repeated.  [default: {', '.join(USUAL)}]",
)
@format_options(*ROWS)
@run_options
def estimate(draws: str, run: RunOptions, names: tuple[str, ...], writing: Writing) -> int:
    """Estimate expectations from distinct trees."""
    quantities = [OF_TREES.get(name).name for name in dict.fromkeys(names)] or USUAL
    if not all(OF_TREES.get(name).scalar for name in quantities):
        writing = writing.narrowed("arcs", JSONL.name)
    source: Source[DrawnTrees, DrawnTrees] = Source(Counted(read_draws(draws), share=lambda: share_read(draws)))
    job = Job("estimate", source, run, writing, {"quantities": "+".join(quantities)})
    columns = ["sent_id", "n", "trees", *(f"{name}.{of}" for name in quantities for of in ESTIMATES)]
    by_quantity = job.encoder is TABLE
    sheet = Sheet(columns, "estimate", HEADINGS if by_quantity else None)
    return job.write(Estimated(tuple(quantities), by_quantity), sheet=sheet)


@dataclass(frozen=True)
class Estimated:
    """A sentence's estimates as an object for JSON, or as a row for each quantity."""

    quantities: tuple[str, ...]
    by_quantity: bool

    def __call__(self, trees: DrawnTrees, _: None) -> Row | list[Row]:
        row: Row = {"sent_id": trees.sent_id, "n": trees.heads.shape[1], "trees": len(trees.heads)}
        found: dict[str, Row] = {}
        for name in self.quantities:
            values = vars(expectation(trees, name))
            found[name] = {of: _without_nan(value) for of, value in values.items()}
        return [{**row, "quantity": name, **each} for name, each in found.items()] if self.by_quantity else row | found


def _without_nan(value: Float) -> Any:
    """Numbers for JSON, in lists if there are many; None for an error that is not known."""
    return np.where(np.isnan(value), None, value).tolist()  # type: ignore[call-overload]
