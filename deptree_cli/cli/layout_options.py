"""The options that say how a matrix of scores is laid out, and which trees they are scores of."""

from __future__ import annotations

from collections.abc import Sequence

import click

from deptree_cli.cli.options import positive
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.provenance import mark_provenance
from deptree_cli.cli.sections import reading_option
from deptree_cli.cli.space_options import SPACE_OPTIONS
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.layout import CHOICES, Layout
from deptree_cli.io.scores.presets import PRESETS
from deptree_cli.io.scores.source import ScoreSource


def _number_or_path(context: click.Context, parameter: click.Parameter, said: str) -> float | str | None:
    """A click callback: the number, which is no name of a file."""
    try:
        number = float(said)
    except ValueError:
        return said
    return positive(context, parameter, number)


# What matrices need wherever they are read.
MATRIX_OPTIONS = [
    reading_option(
        "--from",
        "preset",
        metavar="PARSER",
        often=True,
        shell_complete=PRESETS.complete,
        names=lambda: PRESETS.names,
        help="The layout that this parser uses ({names}), or answers such as dep-head,log.",
    ),
    reading_option("--orient", type=click.Choice(CHOICES["orient"]), help="Rows are heads, or rows are dependents."),
    reading_option("--root", "root", type=click.Choice(CHOICES["root"]), help="The position of ROOT."),
    reading_option(
        "--scale",
        type=click.Choice(CHOICES["scale"]),
        help="Weights (0 forbids), or log-scores such as logits (-inf and anything up to -1e15 forbid).",
    ),
    *SPACE_OPTIONS,
]

# What the scores of one parser need.
LAYOUT_OPTIONS = [
    *MATRIX_OPTIONS,
    reading_option(
        "--temperature",
        type=INPUT,
        default="1",
        callback=_number_or_path,
        metavar="X|FILE",
        help="Divide log-scores by this, or by what deptree calibrate found.  [default: 1]",
    ),
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


def own_trees(sources: Sequence[ScoreSource]) -> str:
    """What the files say that their trees are, which is news to the user, empty if they say nothing.

    Raises:
        DeptreeError: some do, and others do not.
    """
    kinds = {each.meta.trees: each for each in sources}
    own = next(filter(None, kinds), "")
    if own:
        if len(kinds) > 1:
            place = kinds[own].place
            raise DeptreeError(f"is of {own} trees, and not all others are", "Read them one by one", place=place)
        mark_provenance(click.get_current_context(silent=True), "trees")
    return own


def one_layout(sources: Sequence[ScoreSource], asked: Layout) -> Layout:
    """The layout of all the files, as they say of themselves, which is news to the user, or as the options ask.

    Raises:
        DeptreeError: one file says another than the others, or than the options.
    """
    layouts = [each.layout(asked) for each in sources]
    for each, own in zip(sources, layouts, strict=True):
        if own.reading != layouts[0].reading:
            problem = f"is read in another layout than {sources[0].place}"
            remedy = "Read them one by one, or pass --from if one of them does not name its layout"
            raise DeptreeError(problem, remedy, place=each.place)
    if layouts[0].reading != asked.reading:
        mark_provenance(click.get_current_context(silent=True), "from")
    return layouts[0]
