"""The options that say how a matrix of scores is laid out, and which trees they are scores of."""

from __future__ import annotations

import click

from deptree_cli.cli.params import INPUT
from deptree_cli.cli.sections import reading_option
from deptree_cli.cli.space_options import SPACE_OPTIONS
from deptree_cli.cli.tempering_options import tempering_options
from deptree_cli.io.scores.layout import CHOICES
from deptree_cli.io.scores.presets import PRESETS

# What matrices need wherever they are read.
MATRIX_OPTIONS = [
    reading_option(
        "--from",
        "preset",
        metavar="PARSER",
        often=True,
        shell_complete=PRESETS.complete,
        names=lambda: PRESETS.names,
        help="The layout that this parser uses: {names}.",
    ),
    reading_option("--orient", type=click.Choice(CHOICES["orient"]), help="Rows are heads, or rows are dependents."),
    reading_option("--root", "root", type=click.Choice(CHOICES["root"]), help="The position of ROOT."),
    reading_option(
        "--scale",
        type=click.Choice(CHOICES["scale"]),
        help="Weights (0 forbids), or log-scores such as logits (-inf and anything up to -1e15 forbid).",
    ),
    *SPACE_OPTIONS,
    reading_option("--nan-forbids", is_flag=True, help="Read NaN as a forbidden arc."),
]

# What the scores of one parser need.
LAYOUT_OPTIONS = [
    *MATRIX_OPTIONS,
    tempering_options,
    reading_option(
        "--labels", type=INPUT, help="Names of labels (JSON or one per line); the last axis of the scores holds labels."
    ),
    reading_option(
        "--lengths",
        type=INPUT,
        multiple=True,
        help="Words per sentence of a padded batch, one number a line or .npy.",
    ),
]
