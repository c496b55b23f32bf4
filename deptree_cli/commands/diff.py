"""``deptree diff``."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Any

import click
import numpy as np

from deptree_cli.cli.job import Job
from deptree_cli.cli.options import seed_option, size_option
from deptree_cli.cli.params import INPUT, IntRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, one_score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import Writing, format_options
from deptree_cli.core.comparison import jensen_shannon, moved_arcs
from deptree_cli.core.expectations import kl
from deptree_cli.io.encoders.text import JSONL
from deptree_cli.io.scores.records import ScoredSentence


@command()
@one_score_options
@click.argument("other", type=INPUT)
@size_option(1000, "Trees sampled from each side for the Jensen-Shannon divergence.")
@option("--arcs", "count", type=IntRange(0), default=5, help="How many arcs to show.  [default: 5]")
@seed_option
@format_options(JSONL.name)
@run_options
def diff(scores: ScoreOptions, run: RunOptions, other: str, size: int, count: int, seed: int, writing: Writing) -> int:
    """Compare two score files of the same sentences, in the same layout.

    Writes JSON Lines: kl (of SCORES from OTHER) and kl_reverse in nats, null if infinite; jensen_shannon, estimated
    by sampling, with its standard error; and the arcs whose marginals differ most: head, dependent, before, after.
    """
    source = scores.with_other(other).source(run)
    return Job("diff", source, run, writing, last={"size": size, "seed": seed}).write(Diff(size, count), seed)


@dataclass(frozen=True)
class Diff:
    """One sentence's comparison as an object for JSON."""

    size: int
    count: int

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> dict[str, Any]:
        """The work on one sentence."""
        ours, theirs = sentence.distribution, sentence.other
        assert theirs is not None  # the command has named the file
        forth, back = kl(ours, theirs), kl(theirs, ours)
        middle, error = jensen_shannon(ours, theirs, self.size, rng)
        return {
            "sent_id": sentence.id,
            "n": ours.n,
            "kl": forth if isfinite(forth) else None,
            "kl_reverse": back if isfinite(back) else None,
            "jensen_shannon": middle,
            "jensen_shannon_error": error if isfinite(error) else None,
            "arcs": moved_arcs(ours, theirs, self.count),
        }
