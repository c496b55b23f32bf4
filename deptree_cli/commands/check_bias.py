"""``deptree check-bias``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import INPUT, FloatRange, check_effect, command, opt, use
from deptree_cli.cli.run import Fold, Job, Run
from deptree_cli.cli.sampler_options import SAMPLER, SAMPLERS_LISTED
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core import audit
from deptree_cli.core.audit import ENUMERATED_N, LARGEST_DETECTABLE
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.samplers import Sampler
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.trees import GivenTree, read_trees

# What a row has of the audit.
AUDIT_FIELDS = (
    *("method", "size", "evidence", "statistic", "tests", "p_value"),
    *("tv_distance", "tv_expected_by_chance", "log_prob_z", "impossible"),
)

# All that a row may have, in order.
FIELDS = ("sent_id", "n", "sampler", *AUDIT_FIELDS, "detectable_tv", "verdict", "tv_closed_form")

# field -> its heading in the table
COLUMNS = {name: name for name in ("sent_id", "n", "method")} | {"size": "trees", "p_value": "p-value"}
COLUMNS |= {"tv_distance": "distance", "tv_expected_by_chance": "by chance", "detectable_tv": "detectable"}
COLUMNS |= {"verdict": "verdict"}

HELP = f"""Test a sampler, or given samples, against the exact distribution.

For sentences of up to {ENUMERATED_N} words every tree is tested; for longer ones the frequencies of arcs and pairs of
arcs, and the mean log-probability of the trees. All p-values are exact or upper bounds, and are corrected for the
number of tests and sentences (Holm): an unbiased sampler is called biased with probability at most --alpha. If nothing
was found, detectable_tv is the bias that would have been found in nine of ten cases; above {LARGEST_DETECTABLE} the
verdict is 'undecided'.

Writes JSON Lines, on a terminal a table. Exit status: 0 no bias found, 1 bias found, 2 unusable input, 3 could not
tell (sentences are undecided, or were skipped).
"""

# So many given trees are counted at once.
AT_ONCE = 4096

# Exit statuses.
NO_BIAS, BIAS, COULD_NOT_TELL = 0, 1, 3


@command(help=HELP, listing=SAMPLERS_LISTED)
def check_bias(
    scores: Scores = use(Scores),
    size: int = options.size(2000, "Trees per sentence."),
    sampler: Sampler = SAMPLER,
    samples: str | None = opt(
        "--samples", type=INPUT, help="Audit these trees (CoNLL-U or JSON Lines of heads) instead."
    ),
    alpha: float = opt(
        "--alpha",
        type=FloatRange(0, 1, True, True),
        default=0.001,
        metavar="P",
        help="How often an unbiased sampler may be called biased.  [default: 0.001]",
    ),
    seed: int = options.seed(),
    out: Out = use(Out, formats=ROWS),
    run: Run = use(Run),
) -> int:
    out.encoder(run.output)  # raises for another suffix, before samples are read
    how: dict[str, object] = {"alpha": f"{alpha:g}", "samples": samples}
    name, work = None if samples else sampler.name, audit_trees if samples else AuditSampler(sampler, size)
    if samples:
        check_effect(["sampler", "size"], "trees to draw, but --samples FILE has them. Remove one")
        source = scores.with_samples(_independent(read_trees(samples)), run)
    else:
        sampler.check_serves(scores.how.space)
        source, how = scores.source(run), {"size": size, "seed": seed, **how}
    audits = Audits(name, alpha)
    job = Job("check-bias", source, run, out, {"sampler": name}, how)
    job.summarise(work, audits, Sheet(FIELDS, f"check-bias: {samples or name}", COLUMNS), seed)
    return audits.exit_code(run.messages.skipped)


class Audited(NamedTuple):
    """A sentence's audit, and the exact bias of the sampler where it has a closed form."""

    sent_id: str
    n: int
    found: audit.Audit
    tv_closed_form: float | None = None

    def row(self, verdict: audit.Verdict, sampler: str | None) -> Row:
        row: dict[str, Any] = {"sent_id": self.sent_id, "n": self.n, "sampler": sampler}
        row |= {field: getattr(self.found, field) for field in AUDIT_FIELDS}
        row |= {"detectable_tv": verdict.detectable_tv, "verdict": verdict.verdict}
        return row if self.tv_closed_form is None else row | {"tv_closed_form": self.tv_closed_form}


class Audits(Fold[Audited]):
    """The audits of all sentences, which are judged together."""

    attribute = ""

    def __init__(self, sampler: str | None, alpha: float) -> None:
        self._sampler, self._alpha = sampler, alpha
        self._audited: list[Audited] = []

    def add(self, counts: Audited) -> None:
        self._audited.append(counts)

    @cached_property
    def _verdicts(self) -> list[audit.Verdict]:
        return audit.judge([each.found for each in self._audited], self._alpha)

    def rows(self) -> list[Row]:
        return [each.row(verdict, self._sampler) for each, verdict in zip(self._audited, self._verdicts, strict=True)]

    @property
    def _counts(self) -> Counter[str]:
        return Counter(each.verdict for each in self._verdicts)

    def lines(self) -> Iterator[str]:
        biased, passed, sentences = self._counts[audit.BIASED], self._counts[audit.UNBIASED], len(self._verdicts)
        judged = f"{biased} of {counted(sentences, 'sentence')} biased, {passed} without a sign of bias"
        yield f"{judged}, {sentences - biased - passed} undecided"

    def exit_code(self, skipped: int) -> int:
        if self._counts[audit.BIASED]:
            return BIAS
        all_passed = self._counts[audit.UNBIASED] == len(self._verdicts) > 0
        return NO_BIAS if all_passed and not skipped else COULD_NOT_TELL


@dataclass(frozen=True)
class AuditSampler:
    sampler: Sampler
    trees: int

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> Audited:
        distribution = sentence.distribution
        tally = audit.Tally(distribution)
        tally.add(self.sampler.draw(distribution, self.trees, rng))
        return Audited(sentence.id, distribution.n, tally.audit(), self.sampler.bias(distribution))


def audit_trees(sentence: ScoredSentence, _: None) -> Audited:
    distribution, given = sentence.distribution, sentence.record.trees
    tally = audit.Tally(distribution)
    for start in range(0, len(given.times), AT_ONCE):
        tally.add(given.heads[start : start + AT_ONCE], given.times[start : start + AT_ONCE])
    return Audited(given.sent_id, distribution.n, tally.audit())


def _independent(trees: Iterator[GivenTree | DeptreeError]) -> Iterator[GivenTree | DeptreeError]:
    """The trees; raises for those of `deptree swor`."""
    for tree in trees:
        if isinstance(tree, GivenTree) and tree.distinct:
            raise DeptreeError(audit.WITHOUT_REPLACEMENT, audit.INDEPENDENT, place=tree.place, sent_id=tree.sent_id)
        yield tree
