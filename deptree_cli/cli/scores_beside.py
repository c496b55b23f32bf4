"""Scores beside the trees that a command is about, and the options of reading them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
from click.core import ParameterSource

from deptree_cli.cli.binding import bound
from deptree_cli.cli.layout_options import LAYOUT_OPTIONS
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.progress import Counted
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.score_options import ScoreOptions, options_of
from deptree_cli.cli.sections import Decorator, reading_option
from deptree_cli.cli.sentences import share_of
from deptree_cli.cli.source import Source
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.members import Member, Members, read_members, with_records
from deptree_cli.io.scores.pairing import records_side
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.trees.compared import ComparedTrees, WithScores

NAMES = (
    *("scores", "preset", "orient", "root", "scale", "labels", "lengths", "space", "multi_root", "projective"),
    "temperature",
)


def beside(*, scores: str | None, also: Collection[str] = (), **how: Any) -> ScoreOptions | None:
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


def beside_trees(scores: ScoreOptions, system: str, gold: str | None, run: RunOptions) -> Source[Record, ComparedTrees]:
    """The sentences of a file of trees, each with its distribution, and its gold tree if there is a file of these."""
    source = replace(scores, files=(replace(scores.files[0], conllu=system, gold=gold),)).source(run)
    prepare = WithScores(source.prepare)
    return Source(source.items, prepare, source.signature_fields)


def beside_sets(scores: ScoreOptions, paths: Sequence[str], run: RunOptions) -> Source[Members, Any]:
    """The sentences of files of trees with their trees from each, and the distribution of each."""
    source, files = scores.source(run), scores.files[0]
    records = records_side(iter(source.items), files.source, files.conllu)
    found = with_records(read_members(list(map(Member, paths))), place_of(paths[0]), records, scores.how.layout)
    items, prepare = Counted(found, share=share_of(paths[:1])), WithDistribution(source.prepare)
    return Source(items, prepare, source.signature_fields)


@dataclass(frozen=True)
class WithDistribution:
    """Makes sets of trees beside the distribution of their sentence; it travels to worker processes."""

    prepare: Callable[[Record], ScoredSentence]

    def __call__(self, members: Members) -> tuple[Members, ScoredSentence]:
        """The two."""
        (record,) = members.records
        return members, self.prepare(record)


def scores_beside_options(help: str) -> Decorator[Any]:
    """Give a command --scores FILE and the options of reading it, as one `scores: ScoreOptions | None`."""
    return bound("scores", beside_options(help), beside, NAMES)


def beside_options(help: str) -> list[Decorator[Any]]:
    """The same options, for `beside`."""
    return [reading_option("--scores", type=INPUT, often=True, help=help), *LAYOUT_OPTIONS]
