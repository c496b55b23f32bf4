"""``deptree hpyp parse``."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deptree_cli.cli.folds import Fold
from deptree_cli.cli.gold_report import GoldReport, report_options
from deptree_cli.cli.help import Listing
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import check_effect, entry_option, seed_option, size_option
from deptree_cli.cli.params import OUTPUT
from deptree_cli.cli.ranges import IntRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import Writing, format_options
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.spaces import PROJECTIVE
from deptree_cli.hpyp.files.trees import deprels_by_name, tags_by_name
from deptree_cli.hpyp.model.comparison import Compared, Names, compare
from deptree_cli.hpyp.model.score_matrices import SCORE_KINDS, ScoreKind
from deptree_cli.hpyp.options.parser_folds import ParserReport, ScoredWords, ScoresBeside
from deptree_cli.hpyp.options.parser_options import ParserOptions, Sentence, gold_option, parser_options
from deptree_cli.io.conllu.splicing import Deprels
from deptree_cli.io.conllu.trees import AsTrees, Note, Tags, Trees
from deptree_cli.io.scores.containers import container_to_write, write_scores
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.scores.presets import layout
from deptree_cli.io.signature import signature

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.parsing import Filtered  # loads kernels

HELP = """Parse CoNLL-U sentences with a model of `deptree hpyp train`.

Writes CoNLL-U with HEAD and DEPREL filled in (and, with --tags predict, the tags); the rest stays as it is. The tree is
the best one that the search finds; its arcs never cross. The comment derivation_logprob is the log-probability
(in nats) of the words and of the steps that build the tree. With -k K each sentence is written K times, as
X/sample_1, ..., with sampled trees.

Samples and scores come from a particle filter, an approximation that improves with --particles. Comments on the last
sample give the number of particles and effective_size, the effective sample size at the end of the filter. The best
tree is found by algorithm 1 of Buys and Blunsom (2015), or with --beam by a beam of fixed size.

With --scores FILE, the filter's arc probabilities (marginals) become arc scores, which the other commands read without
--from, as if you passed --projective. They are approximate, and the parser's preferences beyond single arcs are lost.
The kinds:

"""

# The layout and tree space that a score file records, so that other commands need no options.
META = Meta(layout=layout(orient="head-dep", scale="log"), trees=PROJECTIVE.kind)


def _described(kind: ScoreKind) -> str:
    return f"{kind.name}: {kind.summary}"


@command(
    help=HELP,
    listing=Listing("score-kinds", SCORE_KINDS, _described),
)
@parser_options
@option("--beam", type=IntRange(1, 10**6), metavar="N", help="Search with a beam of N instead of particles.")
@size_option(None, "Sample N trees per sentence.", "the best tree", formerly=["--samples"])
@option("--scores", type=OUTPUT, help="Also write arc scores to FILE: .npz, .jsonl, .safetensors.")
@entry_option(
    SCORE_KINDS,
    "--score-kind",
    "kind",
    default=None,
    help=f"Kind of arc scores, see above.  [default: {SCORE_KINDS.known[0].name}]",
)
@seed_option
@gold_option
@report_options("trees")
@format_options("conllu", "jsonl", style=True)
@run_options
def parse(
    parser: ParserOptions,
    run: RunOptions,
    beam: int | None,
    size: int | None,
    scores: str | None,
    kind: ScoreKind | None,
    seed: int,
    gold: tuple[str, ...],
    report: GoldReport,
    writing: Writing,
) -> int:
    """Parse sentences."""
    report.check(bool(gold))
    _check(beam, size, scores, kind, bool(gold))
    kind = (kind or SCORE_KINDS.known[0]) if scores else None
    task = ParseSettings(parser.particles, parser.predicts_tags, beam, size, kind, bool(report.plot))
    if not task.filters:
        check_effect(["seed"], "-k, --scores or --plot: only a particle filter is random")
    if beam and not task.filters:
        check_effect(["particles"], "--scores or --plot, or no --beam")
    stream_seed = seed if task.filters else None
    last = {"beam": beam, "size": size, **writing.style_fields, "seed": stream_seed}
    source = parser.source(gold)
    job = Job("hpyp parse", source, run, writing if size else writing.of_single_trees(), last=last)
    folds: list[Fold[Any]] = [ParserReport()] if gold else []
    with ExitStack() as opened:
        if kind:
            fields = {**source.signature_fields, **run.signature_fields, **last, "scores": kind.name}
            meta = replace(META, signature=signature("hpyp parse", fields))
            folds.insert(0, ScoresBeside(opened.enter_context(write_scores(scores, meta, True)), run.quiet))
        code = job.write(ParseSentence(parser.trained, task), stream_seed, folds=folds, report=report)
    parser.tell_unknown_tags(run)
    return code


def _check(beam: int | None, size: int | None, scores: str | None, kind: ScoreKind | None, has_gold: bool) -> None:
    """Raise for options that do not go together, and before any work is done for scores that cannot be written."""
    if beam and size:
        raise click.UsageError("--beam finds the best tree, -k samples trees. Remove one.")
    if kind and not scores:
        raise click.UsageError("--score-kind needs --scores FILE.")
    if size and has_gold:
        raise click.UsageError("--gold compares one tree per sentence, -k samples many. Remove one.")
    if scores:
        container_to_write(scores, META)


@dataclass(frozen=True)
class ParseSettings:
    """What is to be found of each sentence.

    Attributes:
        particles, predicts_tags: as in `ParserOptions`.
        beam: the size of a beam, None for the search by particles.
        size: how many trees to draw, None for the best one.
        kind: of scores that are wanted, None for none.
        calibrated: whether the probabilities of arcs are wanted.
    """

    particles: int
    predicts_tags: bool
    beam: int | None
    size: int | None
    kind: ScoreKind | None
    calibrated: bool

    @property
    def filters(self) -> bool:
        """Whether anything is asked for that comes from a particle filter."""
        return bool(self.size or self.kind or self.calibrated)


@dataclass(frozen=True, eq=False)
class Parsed(AsTrees):
    """What was found of a sentence.

    Attributes:
        parsed: the trees.
        marginals: the probabilities of arcs, (n+1, n+1), if they were asked for.
        scores: (n+1, n+1), if they were.
        notices: what the user must hear of these.
    """

    sentence: Sentence
    parsed: Trees
    marginals: Float | None
    scores: Float | None
    notices: tuple[str, ...]

    def trees(self) -> Trees:
        """The trees."""
        return self.parsed

    @property
    def beside(self) -> ScoredWords | None:
        """The scores with the words, where there are some."""
        return None if self.scores is None else ScoredWords(self.sentence.annotated, self.scores, self.notices)

    @property
    def compared(self) -> Compared | None:
        """How the one tree compares with the gold one, if there is one."""
        gold, found = self.sentence.gold, self.parsed
        if gold is None or found.deprels is None:
            return None
        labels = Names(*_names(found.deprels))
        return compare(gold, found.heads[0], labels, Names(*(_names(found.tags) if found.tags else ())), self.marginals)


def _names(found: Deprels | Tags) -> tuple[list[str], Sequence[str]]:
    """The labels or tags of the first tree's words, and all that there are."""
    return [found.names[number] for number in found.index[0]], found.names


@dataclass(frozen=True)
class ParseSentence:
    """The work on one sentence; it travels to worker processes."""

    trained: Any
    task: ParseSettings

    def __call__(self, sentence: Sentence, rng: np.random.Generator) -> Parsed:
        """The sentence's trees, and its scores if they are wanted."""
        from deptree_cli.hpyp.model.parsing import filtered  # loads kernels: when there is work

        task, found, words = self.task, None, sentence.annotated
        if task.filters:
            found = filtered(self.trained, words, rng, task.particles, task.predicts_tags, task.size or 0)
        trees = self._drawn(sentence, found) if task.size and found else self._best(sentence)
        notices: list[str] = []
        scores = task.kind.function(found.marginals, notify=notices.append) if task.kind and found else None
        return Parsed(sentence, trees, found.marginals if found else None, scores, tuple(notices))

    def _best(self, sentence: Sentence) -> Trees:
        """The best tree that is found."""
        from deptree_cli.hpyp.model.parsing import parse

        task, symbols = self.task, self.trained.symbols
        best = parse(self.trained, sentence.annotated, task.particles, task.predicts_tags, task.beam)
        labels = np.array([[symbols.label_numbers[label] for label in best.deprels]], dtype=np.int32)
        tags = self._tags(np.array([[symbols.tags.id(tag) for tag in best.tags]], dtype=np.int32))
        notes = [Note("log_prob", "derivation_logprob", [best.log_prob], "{:.6f}")]
        heads = best.heads[None]
        deprels = deprels_by_name(symbols, heads, labels)
        return Trees(sentence.annotated.sent_id, sentence.block, heads, notes, (), deprels, tags, ranked=False)

    def _drawn(self, sentence: Sentence, found: Filtered) -> Trees:
        """Trees drawn by weight."""
        heads = found.heads[found.drawn]
        closing = [
            Note("effective_size", "effective_size", [found.effective_size], "{:.2f}"),
            Note("particles", "particles", [self.task.particles]),
        ]
        return Trees(
            sentence.annotated.sent_id,
            sentence.block,
            heads,
            [],
            closing,
            deprels_by_name(self.trained.symbols, heads, found.deprels),
            self._tags(found.tags[found.drawn]),
        )

    def _tags(self, tags: Heads) -> Tags | None:
        """Tags that were predicted, (k, n) numbers, as they are written."""
        if not self.task.predicts_tags:
            return None
        return tags_by_name(self.trained.symbols, self.trained.progress.tagset, tags)
