"""``deptree diff``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import click
import numpy as np

from deptree_cli.cli.companion_scores import companion
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import check_effect, seed_option, size_option
from deptree_cli.cli.params import INPUT, IntRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import READING_OPTIONS, ScoreOptions, options_of
from deptree_cli.cli.sections import apply, command, option, reading_option
from deptree_cli.cli.tree_differences import LETTERS, DifferencesFound, FindDifferences, sheet
from deptree_cli.cli.work import Counted, Source
from deptree_cli.cli.writing import Writing, format_options
from deptree_cli.core.comparison import jensen_shannon, moved_arcs
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import kl
from deptree_cli.io.encoders.pictures import as_text
from deptree_cli.io.encoders.text import CONLLU, JSONL, TSV
from deptree_cli.io.files.streams import STDIN, place_of, share_of
from deptree_cli.io.pictures.differences import differences_to_text
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Side
from deptree_cli.io.trees import is_of_trees
from deptree_cli.io.trees.annotations import read_annotations

TEXT = as_text(differences_to_text)

# Two files.
PAIR = 2

# Options of reading that are about two score files alone.
OF_SCORES = ("conllu", "lengths", "fix_heads")


@command()
@click.argument("files", metavar="A B [C]...", nargs=-1, required=True, type=INPUT)
@reading_option("--scores", type=INPUT, often=True, help="For trees: scores that tell which head is likelier.")
@size_option(1000, "For scores: trees to sample from each for the Jensen-Shannon divergence.")
@option("--arcs", "count", type=IntRange(0), default=5, metavar="N", help="For scores: arcs to show.  [default: 5]")
@seed_option
@partial(apply, READING_OPTIONS)
@format_options(TEXT, JSONL.name, TSV.name, CONLLU.name)
@run_options
def diff(
    files: tuple[str, ...],
    scores: str | None,
    size: int,
    count: int,
    seed: int,
    writing: Writing,
    run: RunOptions,
    **how: Any,
) -> int:
    """List the words in which trees of the same sentences differ; or compare two score files.

    Given trees (CoNLL-U, or JSON Lines of sent_id and heads), it writes a row for each word whose head or label
    differs: head, head_form and deprel in each file (head_a, head_b, ...); with --scores, the probability of each head,
    and which is likelier. A terminal shows the arcs of both; --format conllu writes A with OtherHead and OtherDeprel in
    MISC. Exit status: 0 nothing differs, 1 something does (or sentences were skipped), 2 unusable.

    Given scores in the same layout, it writes JSON Lines: kl (of A from B) and kl_reverse in nats, null if infinite;
    jensen_shannon, estimated by sampling, with its standard error; and the arcs whose marginals differ most.
    """
    if len(files) < PAIR:
        raise click.UsageError("One file: give two or more, A B.")
    if are_of_trees(files):
        return _of_trees(files, scores, how, writing, run)
    if len(files) > PAIR:
        raise click.UsageError(f"Two score files are compared at a time, but there are {len(files)}. Name two.")
    check_effect(["scores"], "files of trees to compare, but these are scores")
    writing = writing.narrowed("comparisons of scores", JSONL.name)
    source = options_of(scores=files[0], **how).with_other(files[1]).source(run)
    return Job("diff", source, run, writing, last={"size": size, "seed": seed}).write(Diff(size, count), seed)


def are_of_trees(paths: Sequence[str]) -> bool:
    """Whether all files have trees, and not scores: their first bytes tell; what comes through pipes is as the others.

    Raises:
        DeptreeError: a file cannot be read, or some have trees and others scores.
    """
    kinds = {path: is_of_trees(path) for path in paths if path != STDIN and _is_no_pipe(path)}
    trees, scores = ([path for path, kind in kinds.items() if kind is wanted] for wanted in (True, False))
    if trees and scores:
        problem = f"this has scores, but {place_of(trees[0])} has trees"
        remedy = f"Compare trees with trees (deptree decode {scores[0]}), or pass --scores {scores[0]}"
        raise DeptreeError(problem, remedy, place=scores[0])
    return not scores


def _is_no_pipe(path: str) -> bool:
    """Whether looking at it takes nothing away; what is not there is told when it is opened."""
    return Path(path).is_file() or not Path(path).exists()


def _of_trees(
    files: tuple[str, ...], scores: str | None, how: dict[str, Any], writing: Writing, run: RunOptions
) -> int:
    """Write the words that differ."""
    check_effect(["size", "count", "seed", *OF_SCORES], "two score files, but these are trees")
    if len(files) > len(LETTERS):
        raise click.UsageError(f"{len(files)} are more than the {len(LETTERS)} letters for files. Name fewer.")
    options = companion(scores=scores, **{name: value for name, value in how.items() if name not in OF_SCORES})
    first = {"trees": ", ".join(files), "scores": scores}
    job = Job("diff", _source(files, options, run), run, writing, first)
    if job.encoder is CONLLU and len(files) > PAIR:
        raise click.UsageError(f"--format conllu writes A with what B has. Name two files, not {len(files)}.")
    found, labelled = DifferencesFound(), bool(options and options.how.labels)
    laid_out = sheet(len(files), options is not None, labelled)
    return max(job.write(FindDifferences.of(files), sheet=laid_out, folds=[found]), found.exit_code)


def _source(files: Sequence[str], scores: ScoreOptions | None, run: RunOptions) -> Source[Any, Any]:
    read = read_annotations(files, run.warn)
    if scores is None:
        return Source(Counted(read, share=share_of(files[:1])))
    lead = Side(read, "sentences", place_of(files[0]))
    items = scores.files[0].read(scores.how.layout, warn=run.warn, lead=lead)
    return Source(Counted(items, share=share_of(files[:1])), scores.how, scores.signature_fields)


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
