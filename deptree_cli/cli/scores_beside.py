"""Scores beside the trees that a command is about, and the options of reading them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click
from click.core import ParameterSource

from deptree_cli.cli.binding import bound
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.score_options import LAYOUT_OPTIONS, ScoreOptions, options_of
from deptree_cli.cli.sections import reading_option
from deptree_cli.cli.source import Source
from deptree_cli.io.scores.record import Record
from deptree_cli.io.trees.compared import ComparedTrees, WithScores

_SCORES = reading_option(
    "--scores", type=INPUT, often=True, help="The scores that SYSTEM was parsed with: adds the expected UAS."
)

_NAMES = (
    *("scores", "preset", "orient", "root", "scale", "labels", "lengths", "space", "multi_root", "projective"),
    *("tempering", "nan_forbids"),
)


def _beside(*, scores: str | None, **how: Any) -> ScoreOptions | None:
    if scores is not None:
        return options_of(scores=scores, **how)
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if parameter.name in (*how, "temperature", "calibrated") and given:
            raise click.UsageError(f"{parameter.opts[0]} is about scores. Add --scores FILE.")
    return None


def beside_trees(scores: ScoreOptions, system: str, gold: str | None) -> Source[Record, ComparedTrees]:
    """The sentences of a file of trees, each with its distribution, and its gold tree if there is a file of these."""
    source = replace(scores, files=(replace(scores.files[0], conllu=system, gold=gold),)).source()
    prepare = WithScores(source.prepare)
    return Source(source.items, prepare, source.signature_fields, last_notice=source.last_notice)


# Gives a command --scores FILE and the options of reading it, as one `scores: ScoreOptions | None`.
scores_beside_options = bound("scores", [_SCORES, *LAYOUT_OPTIONS], _beside, _NAMES)
