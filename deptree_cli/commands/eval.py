"""``deptree eval``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np

from deptree_cli.cli.companion_scores import companion_scores_options
from deptree_cli.cli.evaluation import Evaluation, EvaluationSettings, Expected
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import check_effect, seed_option
from deptree_cli.cli.params import INPUT, FloatRange, IntRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.work import Counted, Source
from deptree_cli.cli.writing import ROWS, Writing, format_options
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.evaluation.classes import CLASSES, Classes
from deptree_cli.core.expectations.risks import risk_variance
from deptree_cli.io.evaluation.compared import Unit, compared, compared_files
from deptree_cli.io.evaluation.tree_file import TreeFile, read_trees
from deptree_cli.io.evaluation.vocabulary import Vocabulary
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.pairing import unmarked
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence

SHARE = FloatRange(0, 1, min_open=True, max_open=True)

# A gold tree and those of two systems.
MOST = 3


@command()
@click.argument("trees", metavar="GOLD SYSTEM [SYSTEM2]", nargs=-1, required=True, type=INPUT)
@option(
    "--by",
    multiple=True,
    type=click.Choice(CLASSES.names),
    help=f"Write precision, recall and F1 by class instead: {', '.join(CLASSES.names)}. May be repeated.",
    metavar="CLASS",
)
@option("--confidence", type=SHARE, default=0.95, metavar="P", help="Coverage of intervals.  [default: 0.95]")
@option(
    "--resamples",
    type=IntRange(1),
    default=10_000,
    metavar="N",
    help="Resamples of sentences, for intervals and the test.  [default: 10000]",
)
@option("--no-punct", is_flag=True, help="Leave out words with the label punct in GOLD: UAS, LAS and classes.")
@seed_option
@companion_scores_options("The scores that SYSTEM was parsed with: adds the expected UAS.")
@format_options(*ROWS)
@run_options
def eval(
    trees: tuple[str, ...],
    scores: ScoreOptions | None,
    writing: Writing,
    run: RunOptions,
    by: tuple[str, ...],
    no_punct: bool,
    **how: Any,
) -> int:
    """Evaluate parsed trees against gold trees, with the metrics of the CoNLL 2018 shared task.

    All files are CoNLL-U of the same text; words are aligned by their characters, so that tokens and sentences may
    differ. Writes a row per metric: F1, precision and recall, each with a bootstrap interval over sentences. SYSTEM2
    adds its scores and the differences, with p of a paired randomisation test. --scores FILE adds the expected UAS
    under SYSTEM's distribution, and needs no gold trees: deptree eval SYSTEM --scores FILE.

    The last line on stderr has the scores in percent, ready to be quoted, without those that SYSTEM has from GOLD.
    """
    gold, systems = _files(trees, scores)
    if no_punct and scores:
        raise click.UsageError("--no-punct: the expected score of --scores is that of all words. Remove one.")
    if gold and scores and run.shard != (1, 1):
        raise click.UsageError("--shard divides scores and gold trees apart. Remove it, or one of these.")
    kinds = tuple(CLASSES.get(name) for name in dict.fromkeys(by))
    if not gold:
        check_effect(["by", "resamples", "seed"], "gold trees: deptree eval GOLD SYSTEM --scores FILE")
    settings = EvaluationSettings(systems, kinds, gold=gold, **how)
    if scores is None:
        assert gold is not None
        source: Source[Any, Any] = Source(Counted(compared_files(gold, systems, kinds, no_punct)))
    else:
        source = _scored(gold, systems[0], kinds, scores, run)
    last = _signature_fields(gold, settings, scores) | {"punct": "no" if no_punct else None}
    job = Job("eval", source, run, writing, last=last)
    return job.summarise(_evaluated, Evaluation(settings, job.signature, job.encoder.for_people), settings.sheet)


def _files(trees: tuple[str, ...], scores: ScoreOptions | None) -> tuple[str | None, tuple[str, ...]]:
    """The file of gold trees, if there is one, and those of systems."""
    if len(trees) > MOST:
        raise click.UsageError(f"{counted(len(trees), 'file')} of trees: give GOLD, SYSTEM and at most one SYSTEM2.")
    if len(trees) == 1 and scores is None:
        raise click.UsageError("One file of trees: give GOLD and SYSTEM, or add --scores FILE for the expected score.")
    if len(trees) == MOST and scores is not None:
        raise click.UsageError("--scores belong to one SYSTEM, but there are two. Remove one.")
    return (None, trees) if len(trees) == 1 else (trees[0], trees[1:])


def _scored(
    gold: str | None, system: str, kinds: Sequence[Classes], scores: ScoreOptions, run: RunOptions
) -> Source[Any, Any]:
    """The system's sentences with their scores, then the units in which its trees are compared with gold trees."""
    source = replace(scores, files=(replace(scores.files[0], conllu=system, any_heads=True),)).source(run)
    if gold is None:
        return Source(source.items, source.prepare, source.signature_fields)

    def items() -> Iterator[Any]:
        vocabulary = Vocabulary()
        trees = TreeFile(place_of(system), vocabulary)
        for item in source.items:
            if isinstance(item, DeptreeError):  # it is told of the gold sentence
                trees.add(item, item.sent_id)
            else:
                trees.add(item.sentence, unmarked(item.sentence.sent_id))
                yield item
        yield from compared(read_trees(gold, vocabulary), [trees], kinds)

    return Source(Counted(items()), _Prepare(source.prepare), source.signature_fields)


@dataclass(frozen=True)
class _Prepare:
    """Prepares what is no unit."""

    prepare: Callable[[Sentence], ScoredSentence]

    def __call__(self, item: Sentence | Unit) -> ScoredSentence | Unit:
        return item if isinstance(item, Unit) else self.prepare(item)


def _signature_fields(gold: str | None, settings: EvaluationSettings, scores: ScoreOptions | None) -> dict[str, object]:
    fields: dict[str, object] = {
        "gold": gold,
        **dict(zip(("system", "system2"), settings.systems, strict=False)),
        "scores": scores.name if scores else None,
        "confidence": settings.confidence,
    }
    if gold:
        by = ",".join(each.name for each in settings.kinds) or None
        fields |= {"by": by, "resamples": settings.resamples, "seed": settings.seed}
    return fields


def _evaluated(item: Unit | ScoredSentence, _: None) -> Unit | Expected:
    """What is counted of an item: of scores the right heads that they expect."""
    if isinstance(item, Unit):
        return item
    distribution, heads = item.distribution, item.record.sentence.known_heads
    known = np.flatnonzero(heads >= 0)
    mean = float(distribution.marginals()[heads[known], known + 1].sum())
    return Expected(mean, risk_variance(distribution, heads), distribution.n)
