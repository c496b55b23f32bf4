"""``deptree hpyp parse``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import OUTPUT, IntRange, check_effect, command, entry, opt, use
from deptree_cli.cli.run import Fold, Job, Run
from deptree_cli.cli.write import Out
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.spaces import PROJECTIVE
from deptree_cli.hpyp.files.treebank import deprels_by_name, tags_by_name
from deptree_cli.hpyp.model.score_matrices import SCORE_KINDS, ScoreKind
from deptree_cli.hpyp.options import AnnotatedBlock, ParserOptions
from deptree_cli.io.conllu.trees import AsTrees, Note, Trees
from deptree_cli.io.encoders import SCORES, encoder_of
from deptree_cli.io.encoders.arrays import SentenceScores
from deptree_cli.io.encoders.base import JSONL, Page
from deptree_cli.io.signature import signature

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.parsing import Filtered  # loads kernels


# The layout and tree space that a score file records, so that other commands need no options.
WRITTEN = {"from": "head-dep,first,log", "trees": PROJECTIVE.kind}


LISTING = Listing("Kinds of arc scores", SCORE_KINDS, lambda kind: f"{kind.name}: {kind.summary}")


@command(listing=LISTING)
def parse(
    parser: ParserOptions = use(ParserOptions),
    beam: int | None = opt(
        "--beam",
        type=IntRange(1, 10**6),
        sign="beam",
        without=["size"],
        help="Search with a beam of N instead of particles.",
    ),
    size: int | None = options.size(None, "Sample N trees per sentence.", "the best tree", sign="size"),
    scores: str | None = opt(
        "--to-scores", type=OUTPUT, help="Also write arc scores to FILE: .npz, .jsonl, .safetensors."
    ),
    kind: ScoreKind | None = entry(
        SCORE_KINDS,
        "--score-kind",
        default=None,
        needs=["scores"],
        help=f"Kind of arc scores: {{names}}.  [default: {SCORE_KINDS.known[0].name}]",
    ),
    seed: int = options.seed(),
    out: Out = use(Out, formats=("conllu", "jsonl"), of_trees=True),
    run: Run = use(Run),
) -> int:
    """Parse CoNLL-U sentences with a model of `deptree hpyp train`.

    Writes CoNLL-U with HEAD and DEPREL filled in (and, with --tags predict, the tags); the rest stays as it is. The
    tree is the best one that the search finds; its arcs never cross. The comment derivation_logprob is the
    log-probability (in nats) of the words and of the steps that build the tree. With -k K each sentence is written K
    times, as X/sample_1, ..., with sampled trees.

    Samples and scores come from a particle filter, an approximation that improves with --particles. Comments on the
    last sample give the number of particles and effective_size, the effective sample size at the end of the filter. The
    best tree is found by algorithm 1 of Buys and Blunsom (2015), or with --beam by a beam of fixed size.

    With --to-scores FILE, the filter's arc probabilities (marginals) become arc scores, which other commands read
    without --from, as if you passed --projective. They are approximate, and the parser's preferences beyond single arcs
    are lost.
    """
    kind = (kind or SCORE_KINDS.known[0]) if scores else None
    task = ParseSentence(parser, beam, size, kind)
    if beam and not task.filters:
        check_effect(["particles"], "--to-scores, or no --beam")
    stream_seed = seed if task.filters else None
    last = {**out.signature_fields, "seed": stream_seed}
    source = parser.source(run, beam or parser.particles)
    job = Job("hpyp parse", source, run, out if size else out.of_single_trees(), last=last)
    folds: list[Fold[Any]] = []
    if kind:
        fields = {**WRITTEN, **source.signature_fields, **run.signature_fields, **last, "scores": kind.name}
        page = Page(signature("hpyp parse", fields), header=True)
        encoder = encoder_of(None, scores, (SCORES,), JSONL.name)
        folds = [Notices(run), *run.also(scores, encoder, "scores", page)]
    return job.write(task, stream_seed, folds=folds)


@dataclass(frozen=True, eq=False)
class Parsed(AsTrees):
    """The trees of a sentence; its scores (n+1, n+1), if they are written too, and what to report about them."""

    parsed: Trees
    scores: SentenceScores | None
    notices: tuple[str, ...]

    def trees(self) -> Trees:
        return self.parsed


class Notices(Fold[tuple[str, ...]]):
    attribute = "notices"

    def __init__(self, run: Run) -> None:
        self._run = run

    def add(self, counts: tuple[str, ...]) -> None:
        for line in counts:
            self._run.warn(line, line)


@dataclass(frozen=True)
class ParseSentence:
    """Find the best tree of a sentence, by a `beam` or by particles, or `size` samples; and scores."""

    parser: ParserOptions
    beam: int | None
    size: int | None
    kind: ScoreKind | None

    @property
    def filters(self) -> bool:
        return bool(self.size or self.kind)

    def __call__(self, sentence: AnnotatedBlock, rng: np.random.Generator) -> Parsed:
        from deptree_cli.hpyp.model.parsing import filtered  # loads kernels: when there is work

        parser, words, found, scores, notices = self.parser, sentence.annotated, None, None, list[str]()
        if self.filters:
            found = filtered(parser.trained, words, rng, parser.particles, parser.predicts_tags, self.size or 0)
        trees = self._drawn(sentence, found) if self.size and found else self._best(sentence)
        if self.kind and found:
            array = self.kind.function(found.marginals, notify=notices.append)
            scores = SentenceScores(words.sent_id, array, words.forms)
        return Parsed(trees, scores, tuple(f"{words.sent_id}: {each}" for each in notices))

    def _best(self, sentence: AnnotatedBlock) -> Trees:
        from deptree_cli.hpyp.model.parsing import parse

        parser, symbols = self.parser, self.parser.trained.symbols
        best = parse(parser.trained, sentence.annotated, parser.particles, parser.predicts_tags, self.beam)
        labels = np.array([[symbols.label_numbers[label] for label in best.deprels]], dtype=np.int32)
        tags = np.array([[symbols.tags.id(tag) for tag in best.tags]], dtype=np.int32)
        notes = [Note("log_prob", "derivation_logprob", [best.log_prob], "{:.6f}")]
        return self._trees(sentence, best.heads[None], labels, tags, notes)

    def _drawn(self, sentence: AnnotatedBlock, found: Filtered) -> Trees:
        size = Note("effective_size", "effective_size", [found.effective_size], "{:.2f}")
        closing, drawn = [size, Note("particles", "particles", [self.parser.particles])], found.drawn
        return self._trees(sentence, found.heads[drawn], found.deprels, found.tags[drawn], closing=closing)

    def _trees(
        self,
        sentence: AnnotatedBlock,
        heads: Heads,
        labels: Heads,
        tags: Heads,
        notes: Sequence[Note] = (),
        closing: Sequence[Note] = (),
    ) -> Trees:
        """k trees, (k, n) heads, numbers of labels and of tags; tags are written if they were predicted."""
        trained = self.parser.trained
        deprels = deprels_by_name(trained.symbols, heads, labels)
        column = tags_by_name(trained.symbols, trained.progress.tagset, tags) if self.parser.predicts_tags else None
        words, ranked = sentence.annotated, bool(closing)
        return Trees(words.sent_id, sentence.block, heads, notes, closing, deprels, column, ranked=ranked)
