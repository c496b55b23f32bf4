"""``deptree eval``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import click
import numpy as np

from deptree_cli.cli.companion_scores import companion_scores_options
from deptree_cli.cli.evaluation import Evaluation, EvaluationSettings, Expected, SentenceCounts
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import check_effect, seed_option
from deptree_cli.cli.params import INPUT, FloatRange, IntRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.work import Counted, Source
from deptree_cli.cli.writing import ROWS, Writing, format_options
from deptree_cli.core.errors import counted
from deptree_cli.core.evaluation import attachment
from deptree_cli.core.evaluation.attachment import TAGS, Attached, no_punctuation, right_tags, universal
from deptree_cli.core.evaluation.classes import CLASSES, Classes, by_class
from deptree_cli.core.expectations.risks import risk, risk_variance
from deptree_cli.io.conllu import lexical_scores
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.surface import OTHER_WORDS, check_same_words
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.read import read, sentences, trees_in
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.conllu import tree_of

MISSING = "MLAS and BLEX need udtools: pip install 'deptree-cli[eval]'"

SHARE = FloatRange(0, 1, min_open=True, max_open=True)

# A gold tree and those of two systems.
MOST = 3

# The roles of these.
SYSTEMS = ("system", "system2")


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
    """Compare parsed trees with gold trees: UAS, LAS, CLAS, MLAS, BLEX and tags, as in the CoNLL 2018 shared task.

    All files are CoNLL-U with the same words. Writes a row per metric: its value and a bootstrap interval over
    sentences. SYSTEM2 adds its scores and the differences, with p of a paired randomisation test. --scores FILE adds
    the expected UAS under SYSTEM's distribution, and needs no gold trees: deptree eval SYSTEM --scores FILE.

    The last line on stderr has all scores in percent, made to be quoted.
    """
    gold, systems = _files(trees, scores)
    if no_punct and scores:
        raise click.UsageError("--no-punct: the expected score of --scores is that of all words. Remove one.")
    lexical = bool(gold) and lexical_scores.udtools_version() is not None
    names = (*attachment.METRICS, *(lexical_scores.METRICS if lexical else ()), *TAGS)
    kinds = tuple(CLASSES.get(name) for name in dict.fromkeys(by))
    if not gold:
        check_effect(["by", "resamples", "seed"], "gold trees: deptree eval GOLD SYSTEM --scores FILE")
    missing = MISSING if gold and not lexical else ""
    settings = EvaluationSettings(systems, names, kinds, missing=missing, **how)
    source = _source(gold, systems, scores, run)
    last = _signature_fields(gold, settings, scores, lexical) | {"punct": "no" if no_punct else None}
    job = Job("eval", source, run, writing, last=last)
    return job.summarise(Evaluate(kinds, lexical, no_punct), Evaluation(settings, job.signature), settings.sheet)


def _files(trees: tuple[str, ...], scores: ScoreOptions | None) -> tuple[str | None, tuple[str, ...]]:
    """The file of gold trees, if there is one, and those of systems."""
    if len(trees) > MOST:
        raise click.UsageError(f"{counted(len(trees), 'file')} of trees: give GOLD, SYSTEM and at most one SYSTEM2.")
    if len(trees) == 1 and scores is None:
        raise click.UsageError("One file of trees: give GOLD and SYSTEM, or add --scores FILE for the expected score.")
    if len(trees) == MOST and scores is not None:
        raise click.UsageError("--scores belong to one SYSTEM, but there are two. Remove one.")
    return (None, trees) if len(trees) == 1 else (trees[0], trees[1:])


def _source(
    gold: str | None, systems: tuple[str, ...], scores: ScoreOptions | None, run: RunOptions
) -> Source[Sentence, Any]:
    if scores is None:
        assert gold is not None
        companions = [trees_in([path], role, OTHER_WORDS) for path, role in zip(systems, SYSTEMS, strict=False)]
        return Source(Counted(read(sentences([gold]), companions), share=share_of([gold])))
    source = replace(scores, files=(replace(scores.files[0], conllu=systems[0], gold=gold),)).source(run)
    return Source(source.items, source.prepare, source.signature_fields)


def _signature_fields(
    gold: str | None, settings: EvaluationSettings, scores: ScoreOptions | None, lexical: bool
) -> dict[str, object]:
    fields: dict[str, object] = {
        "gold": gold,
        **dict(zip(("system", "system2"), settings.systems, strict=False)),
        "scores": scores.name if scores else None,
        "confidence": settings.confidence,
    }
    if gold:
        by = ",".join(each.name for each in settings.kinds) or None
        fields |= {"by": by, "resamples": settings.resamples, "seed": settings.seed}
    return fields | {"udtools": lexical_scores.udtools_version() if lexical else None}


@dataclass(frozen=True)
class Evaluate:
    """Counts what is right in a sentence.

    Attributes:
        lexical: also MLAS and BLEX.
        no_punct: not in punctuation.
    """

    kinds: tuple[Classes, ...]
    lexical: bool
    no_punct: bool

    def __call__(self, read: Sentence | ScoredSentence, _: None) -> SentenceCounts:
        """The work on one sentence, whose own tree is the gold tree, or if it has scores that of the system."""
        if isinstance(read, Sentence):
            gold_block, blocks = read.block, [read.companions[role] for role in SYSTEMS if role in read.companions]
        else:
            gold_block, blocks = read.record.gold, [read.record.sentence]
        for block in blocks:
            check_same_words(gold_block or block, block)
        systems = [_attached(block) for block in blocks]
        expected = None if isinstance(read, Sentence) else _expected(read, systems[0])
        trees, scores, classes = systems, None, []
        if gold_block is not None:
            gold = _attached(gold_block)
            trees = [gold, *systems]
            words = no_punctuation(gold) if self.no_punct else None
            counts = (attachment.attachment(gold, each, words) for each in systems)
            scores = np.stack(
                [[*found, *self._of_words(gold_block, each)] for found, each in zip(counts, blocks, strict=True)]
            )
            classes = [by_class(gold, each, self.kinds, words) for each in systems]
        several = sum((each.heads == 0).sum() > 1 for each in trees)
        return SentenceCounts(len(systems[0].heads), scores, classes, int(several), expected)

    def _of_words(self, gold: Block, system: Block) -> Iterator[Any]:
        """What is counted of other columns than HEAD and DEPREL."""
        if self.lexical:
            yield from lexical_scores.lexical_scores(gold, system)
        for tag in TAGS:
            yield right_tags(*(each.column(tag.lower()) for each in (gold, system)))


def _attached(block: Block) -> Attached:
    tree = tree_of(block)
    return Attached(np.array(tree.heads), [universal(label) for label in tree.labels or ["_"] * block.n])


def _expected(sentence: ScoredSentence, system: Attached) -> Expected:
    distribution, heads = sentence.distribution, system.heads.astype(np.int32)
    return Expected(distribution.n - risk(distribution, heads), risk_variance(distribution, heads))
