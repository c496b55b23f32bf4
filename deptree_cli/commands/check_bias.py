"""``deptree check-bias``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.cli.options import entry_option, header_option, seed_option, size_option
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.progress import Counted
from deptree_cli.cli.ranges import FloatRange
from deptree_cli.cli.report import line_of, talk
from deptree_cli.cli.rows import RowFormat, row_options, write_rows
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, label_scores_option, score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.core.audit import BIASED, ENUMERATED_N, UNBIASED, Audit, Tally, judge
from deptree_cli.core.audit.tally import BATCH, INDEPENDENT, WITHOUT_REPLACEMENT
from deptree_cli.core.audit.verdicts import LARGEST_DETECTABLE
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.signature import signature
from deptree_cli.io.trees import read_trees
from deptree_cli.io.trees.base import GivenTree
from deptree_cli.io.trees.beside import RecordTrees, records_with_trees

Row = dict[str, Any]

# What a row has of the audit.
AUDIT_FIELDS = (
    *("method", "size", "evidence", "statistic", "tests", "p_value"),
    *("tv_distance", "tv_expected_by_chance", "log_prob_z", "impossible"),
)

# All that a row may have, in order.
FIELDS = ("sent_id", "n", "sampler", *AUDIT_FIELDS, "detectable_tv", "verdict", "tv_closed_form")

# field -> its heading in the table
COLUMNS = {
    "sent_id": "sent_id",
    "n": "n",
    "method": "method",
    "size": "trees",
    "p_value": "p-value",
    "tv_distance": "distance",
    "tv_expected_by_chance": "by chance",
    "detectable_tv": "detectable",
    "verdict": "verdict",
}


HELP = f"""Test a sampler, or somebody else's samples, against the exact distribution.

Sentences of up to {ENUMERATED_N} words are enumerated and every tree is tested; longer ones by the frequencies of arcs
and pairs of arcs and by the trees' mean log-probability. All tests are exact or bounded and corrected for their number
and that of the sentences (Holm): an unbiased sampler is called biased with probability --alpha at most. Where nothing
was found, detectable_tv is the bias that would have been found in nine of ten cases; above {LARGEST_DETECTABLE} the
verdict is 'undecided'.

Writes JSON Lines, on a terminal a table. Exit status: 0 no bias found, 1 bias found, 2 unusable input, 3 could not
tell: sentences are undecided, or were skipped.
"""

# Exit statuses.
NO_BIAS, BIAS, COULD_NOT_TELL = 0, 1, 3


@command(
    help=HELP,
    epilog="\b\nTry: deptree check-bias scores.npz --from natasha --sampler wilson-rc -k 2000 --seed 7",
)
@score_options
@label_scores_option
@size_option(2000, "Trees per sentence.")
@entry_option(SAMPLERS, "--sampler", help="See deptree help samplers.  [default: auto]")
@option("--samples", type=INPUT, help="Audit these trees (CoNLL-U or JSON Lines of heads) instead.")
@option(
    "--alpha",
    type=FloatRange(0, 1, True, True),
    default=0.001,
    help="How often an unbiased sampler may be called biased.  [default: 0.001]",
)
@seed_option
@row_options
@header_option
@run_options
def check_bias(
    scores: ScoreOptions,
    run: RunOptions,
    size: int,
    sampler: Sampler,
    samples: str | None,
    alpha: float,
    seed: int,
    row_format: RowFormat,
    header: bool | None,
) -> int:
    """Test a sampler, or somebody else's samples, against the exact distribution."""
    if not samples:
        sampler.check_serves(scores.how.space)
    fields = {"sampler": sampler.name, **scores.signature_fields, **run.signature_fields}
    fields |= {"size": size, "seed": seed, "alpha": f"{alpha:g}"}
    if samples:
        fields |= {"sampler": None, "samples": samples, "size": None, "seed": None}
    fmt = row_format.form(run.output)
    pipeline: Pipeline[Any, Any]
    if samples:
        given, bad = _with_trees(scores, samples, run)
        pipeline = Pipeline(given, WithTrees(scores.interpretation), run)
        audited = list(pipeline.map(audit_trees))
    else:
        pipeline, bad = Pipeline(scores.records(), scores.interpretation, run), 0
        audited = list(pipeline.map(AuditSampler(sampler, size), seed))
    rows = _with_verdicts(audited, None if samples else sampler.name, alpha)
    made_by = signature("check-bias", fields)
    title = f"check-bias: {samples or sampler.name}"
    write_rows(rows, FIELDS, fmt, made_by, header, run, title, COLUMNS)
    return _conclude(rows, len(pipeline.skipped) + bad, run.quiet)


@dataclass(frozen=True)
class Audited:
    """A sentence's audit, and the exact bias of the sampler where it has a closed form."""

    sent_id: str
    n: int
    audit: Audit
    tv_closed_form: float | None = None


@dataclass(frozen=True)
class AuditSampler:
    """The audit of a sampler of the register on one sentence."""

    sampler: Sampler
    size: int

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> Audited:
        """The work on one sentence."""
        distribution = sentence.distribution
        tally = Tally(distribution)
        tally.add(self.sampler.draw(distribution, self.size, rng))
        return Audited(sentence.id, distribution.n, tally.audit(), self.sampler.bias(distribution))


@dataclass(frozen=True)
class WithTrees:
    """Makes the distribution of a sentence that comes with its trees."""

    interpretation: Interpretation

    def __call__(self, item: RecordTrees) -> tuple[TreeDistribution, RecordTrees]:
        """The distribution, and the trees."""
        return self.interpretation(item.record).distribution, item


def audit_trees(prepared: tuple[TreeDistribution, RecordTrees], _: None) -> Audited:
    """The audit of the trees that are given of a sentence."""
    distribution, given = prepared
    tally = Tally(distribution)
    for start in range(0, len(given.times), BATCH):
        tally.add(given.heads[start : start + BATCH], given.times[start : start + BATCH])
    return Audited(given.sent_id, distribution.n, tally.audit())


def _with_trees(scores: ScoreOptions, path: str, run: RunOptions) -> tuple[Counted[RecordTrees | DeptreeError], int]:
    """The sentences with their trees, which may come in any order, and how many of these were skipped."""
    skipped: list[str] = []

    def skip(error: DeptreeError) -> None:
        if not run.skip_errors:
            raise error
        skipped.append(error.sent_id)
        talk(f"skipped: {line_of(error)}")

    found = records_with_trees(scores.records(), _independent(read_trees(path)), scores.how.layout, skip)
    if skipped:
        talk(f"{counted(len(skipped), 'sample')} skipped")
    return Counted(found, lambda: len(found)), len(skipped)


def _independent(trees: Iterator[GivenTree | DeptreeError]) -> Iterator[GivenTree | DeptreeError]:
    """The trees; raises for those of `deptree swor`."""
    for tree in trees:
        if isinstance(tree, GivenTree) and tree.distinct:
            raise DeptreeError(WITHOUT_REPLACEMENT, INDEPENDENT, place=tree.place, sent_id=tree.sent_id)
        yield tree


def _with_verdicts(audited: list[Audited], name: str | None, alpha: float) -> list[Row]:
    rows = []
    for one, verdict in zip(audited, judge([one.audit for one in audited], alpha), strict=True):
        audit = one.audit
        row: Row = {"sent_id": one.sent_id, "n": one.n, "sampler": name}
        row |= {field: getattr(audit, field) for field in AUDIT_FIELDS}
        row |= {"detectable_tv": verdict.detectable_tv, "verdict": verdict.verdict}
        rows.append(row if one.tv_closed_form is None else row | {"tv_closed_form": one.tv_closed_form})
    return rows


def _conclude(rows: list[Row], skipped: int, quiet: bool) -> int:
    """The verdict on all sentences together as exit status."""
    verdicts = [row["verdict"] for row in rows]
    biased, passed = verdicts.count(BIASED), verdicts.count(UNBIASED)
    if not quiet:
        undecided = len(verdicts) - biased - passed
        sentences = counted(len(verdicts), "sentence")
        talk(f"{biased} of {sentences} biased, {passed} without a sign of bias, {undecided} undecided")
    if biased:
        return BIAS
    return NO_BIAS if passed == len(verdicts) and verdicts and not skipped else COULD_NOT_TELL
