"""The options that say how a matrix of scores is laid out, and which trees they are scores of."""

from __future__ import annotations

from collections.abc import Sequence

import click

from deptree_cli.cli.options import mark_provenance, positive
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.sections import bound, reading_option
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import TreeSpace, tree_space
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.scores.presets import PRESETS, complete
from deptree_cli.io.scores.source import ScoreSource

SPACE_OPTIONS = [
    reading_option("--space", metavar="NAME", hidden=True, help="Which trees, also a space of another package."),
    reading_option("--multi-root", is_flag=True, often=True, help="Allow several ROOT arcs (spanning trees)."),
    reading_option("--projective", is_flag=True, often=True, help="Only trees without crossing arcs."),
]


def asked_space(space: str | None, multi_root: bool, projective: bool) -> TreeSpace:
    """Return the space that the options ask for."""
    return tree_space(space, False if multi_root else None, projective or None)


# Of a command that reads trees without scores.
space_options = bound("space", SPACE_OPTIONS, asked_space)


def signature_of(space: TreeSpace) -> dict[str, object]:
    """What signatures call a space."""
    return {"root": "single" if space.single_root else "multi", "trees": space.kind or None}


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
        metavar="LAYOUT",
        often=True,
        shell_complete=complete,
        names=lambda: PRESETS.names,
        help="The parser whose layout it is ({names}), its parts, or both (supar,weight): head-dep or dep-head (rows "
        "are heads or dependents); ROOT first, last or on the diagonal; weight (0 forbids) or log (log-scores such as "
        "logits; -inf and anything up to -1e15 forbid).",
    ),
    *SPACE_OPTIONS,
]

_TEMPERATURE = reading_option(
    "--temperature",
    type=INPUT,
    default="1",
    callback=_number_or_path,
    metavar="X|FILE",
    help="Divide log-scores by X, or by the temperatures in FILE of deptree calibrate.  [default: 1]",
)

_LABELS = reading_option(
    "--labels", type=INPUT, help="Names of labels (JSON or one per line); the last axis of the scores holds labels."
)

LENGTHS = reading_option(
    "--lengths",
    type=INPUT,
    multiple=True,
    help="Words per sentence of a padded batch, one number a line or .npy.",
)

# What the scores of one parser need; beside trees, which tell how many words there are; and where the temperature is
# sought.
LAYOUT_OPTIONS = [*MATRIX_OPTIONS, _TEMPERATURE, _LABELS, LENGTHS]
COMPANION_OPTIONS = [*MATRIX_OPTIONS, _TEMPERATURE, _LABELS]
UNTEMPERED_OPTIONS = [*MATRIX_OPTIONS, _LABELS, LENGTHS]


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
