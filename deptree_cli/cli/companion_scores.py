"""Scores that are companions of the trees that a command is about: the options of reading them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click
from click.core import ParameterSource

from deptree_cli.cli.layout_options import COMPANION_OPTIONS
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.score_options import ScoreOptions, options_of
from deptree_cli.cli.sections import Decorator, bound, reading_option

NAMES = ("scores", "preset", "labels", "lengths", "space", "multi_root", "projective", "temperature")


def companion(*, scores: str | None, also: Collection[str] = (), **how: Any) -> ScoreOptions | None:
    """The options of reading scores, None without a file of them.

    Args:
        also: names of those that say something without scores too.
    """
    if scores is not None:
        return options_of(scores=scores, **how)
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name in {*how} - {*also}:
            raise click.UsageError(f"{parameter.opts[0]} is about scores. Add --scores FILE.")
    return None


def companion_scores_options(help: str, *more: Decorator[Any]) -> Decorator[Any]:
    """Give a command --scores FILE and the options of reading it, as one `scores: ScoreOptions | None`; and `more`."""
    return bound("scores", [*companion_options(help), *more], companion, NAMES)


def companion_options(help: str) -> list[Decorator[Any]]:
    """The same options, for `companion`."""
    return [reading_option("--scores", type=INPUT, often=True, help=help), *COMPANION_OPTIONS]
