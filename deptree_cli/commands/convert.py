"""``deptree convert``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli.options import OUTPUT, command, opt, use
from deptree_cli.cli.rule_options import rules
from deptree_cli.cli.run import Fold, Job, Run
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import Out
from deptree_cli.core.dtypes import Array, Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.scores import to_weights
from deptree_cli.io.conllu.blocks import in_utf8
from deptree_cli.io.encoders import SCORES
from deptree_cli.io.encoders.arrays import LAYOUT_ASKED, SentenceScores, tell_left_out
from deptree_cli.io.encoders.base import JSONL, also
from deptree_cli.io.scores.arrays import Extras
from deptree_cli.io.scores.layout import PRESETS, Layout, from_head_dep, layout, text_of
from deptree_cli.io.scores.meta import UNKNOWN
from deptree_cli.io.scores.records import ScoredSentence

# Who keeps rules about whole trees.
_ELSEWHERE = "Leave these out, or pass --rules to decode, sample or marginals"


@command()
def convert(
    scores: Scores = use(
        Scores, rules=rules("Write arcs that these rules forbid as impossible, if single arcs decide them")
    ),
    to: str | None = opt(
        "--to",
        metavar="LAYOUT",
        shell_complete=PRESETS.complete,
        help="The layout to write: PARSER, or dep-head,log and so on.",
    ),
    to_labels: str | None = opt(
        "--to-labels",
        type=OUTPUT,
        help="Write arcs and labels scored together, and the names of labels (JSON) to FILE.",
    ),
    out: Out = use(Out, formats=(SCORES,)),
    run: Run = use(Run),
) -> int:
    """Write scores in another container or layout, after checking them and applying --temperature.

    Without --to the layout is (n+1, n+1), head-dep, ROOT first, on the scale read. The output names its own layout, so
    the other commands need no --from for it. A .npy cannot, so it is written only for weights or if --to names the
    scale, and never for scores of projective trees. If a float cannot hold the weights of a sentence, they are
    multiplied, column by column, by a constant, which changes log Z but no probability.
    """
    if scores.rules is not None and scores.rules.need_trees:
        all_rules = scores.rules.rules
        count, total = len(all_rules.tree_rules), counted(len(all_rules.rules), "rule")
        which = f"{count} of {total} of {all_rules.name}" if count else "spans"
        raise click.UsageError(f"Only whole trees decide {which}, and scores are of single arcs. {_ELSEWHERE}.")
    chosen = layout(to)
    target = Layout("head-dep", "first", scores.how.layout.complete.scale).merged(chosen)
    if target.labels and not to_labels:
        problem = f"--to {target.name} has an axis of labels, whose names need a file"
        raise click.UsageError(f"{problem}. Add --to-labels FILE.")
    target = target.labelled if to_labels else replace(target, labels=None)
    if to_labels and scores.how.labels is None:
        raise click.UsageError("--to-labels needs --labels FILE.")
    asked = chosen.scale is not None or target.scale == "weight"
    source = scores.source(run)
    source = replace(source, signature_fields={f"read{name}": x for name, x in source.signature_fields.items()})
    knows_order = scores.conllu or all(each.source.meta.ordered for each in scores.files)
    first = {"from": text_of(target), "trees": scores.how.space.kind or None, "order": None if knows_order else UNKNOWN}
    job = Job("convert", source, run, out, first, about=LAYOUT_ASKED if asked else None)
    if not target.labels and (scores.has_sentences or scores.how.labels):
        tell_left_out(job.encoder, run.warn)
    also(to_labels, JSONL)([scores.how.labels])
    return job.write(partial(converted, target), folds=[Lost()])


class Lost(Fold[int]):
    attribute = "lost"
    _lost = 0

    def add(self, counts: int) -> None:
        self._lost += counts

    def lines(self) -> Iterator[str]:
        if self._lost:
            are = f"{counted(self._lost, 'arc')} {'is' if self._lost == 1 else 'are'}"
            yield f"{are} forbidden now: too small a weight for a float (--to log keeps it)"


class Converted(NamedTuple):
    """A sentence's scores as they are to be written, and the number of arcs lost."""

    written: SentenceScores
    lost: int

    def scores(self) -> SentenceScores:
        return self.written


def converted(target: Layout, sentence: ScoredSentence, _: None) -> Converted:
    if sentence.needs_trees:
        raise DeptreeError("only whole trees decide a span, and scores are of single arcs", _ELSEWHERE)
    distribution, record = sentence.distribution, sentence.record
    if distribution.labels and distribution.labels.added:
        name = distribution.labels.names[-distribution.labels.added]
        remedy = "Put _ for it, or leave out --fix-heads"
        raise DeptreeError(f"the label {name!r} of the CoNLL-U has no scores to write", remedy)
    scores, lost = distribution.joint_log_scores() if target.labels else distribution.log_scores, 0
    if target.scale == "weight":
        scores, lost = to_weights(scores)
    written = from_head_dep(scores, target, target.shape(distribution.n, scores.shape[2:]), target.forbidden)
    read = sentence.interpretation.layout
    if not read.labels and not target.labels and read.complete.scale == target.scale:
        written = _as_read(written, record.scores.dtype)
    labels = None if target.labels else _of_labels(sentence, target)
    extras = Extras((), in_utf8(record.block) if record.block else b"", *labels or ())
    return Converted(SentenceScores(sentence.id, written, extras), lost)


def _of_labels(sentence: ScoredSentence, target: Layout) -> tuple[Sequence[str], Array] | None:
    """The names of labels, and their probabilities or the logarithms of these given the arc, laid out as the arcs."""
    labels = sentence.distribution.labels
    if labels is None:
        return None
    shape = target.labelled.shape(sentence.n, (len(labels.names),))
    scores = labels.probs if target.scale == "weight" else labels.log_probs
    impossible = np.isneginf(sentence.distribution.log_scores)[..., None]
    scores = from_head_dep(np.where(impossible, target.forbidden, scores), target.labelled, shape, target.forbidden)
    return labels.names, scores if sentence.record.labels is None else _as_read(scores, sentence.record.labels.dtype)


def _as_read(scores: Float, dtype: np.dtype[Any]) -> Array:
    """The scores in the type read, where that holds them to the last bit or nearly: large and small ones too."""
    if dtype.kind != "f" or dtype.itemsize > scores.itemsize:
        return scores
    with np.errstate(over="ignore", under="ignore"):
        cast = scores.astype(dtype)
    kept = (np.isfinite(cast) == np.isfinite(scores)).all() and ((cast == 0) == (scores == 0)).all()
    return cast if kept else scores
