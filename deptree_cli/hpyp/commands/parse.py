"""``deptree hpyp parse``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import OUTPUT, IntRange, check_effect, command, entry, opt, use
from deptree_cli.cli.run import Beside, Fold, Job, Run
from deptree_cli.cli.write import Out
from deptree_cli.core.spaces import PROJECTIVE
from deptree_cli.hpyp.files.treebank import deprels_by_name, tags_by_name
from deptree_cli.hpyp.model.score_matrices import SCORE_KINDS, ScoreKind
from deptree_cli.hpyp.options import AnnotatedBlock, ParserOptions
from deptree_cli.io.conllu.trees import Note, Trees
from deptree_cli.io.encoders import SCORES, encoder_of
from deptree_cli.io.encoders.arrays import SentenceScores
from deptree_cli.io.encoders.base import JSONL, Page
from deptree_cli.io.scores.arrays import Extras
from deptree_cli.io.signature import signature

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
    is_filtered = bool(size or kind)
    if beam and not is_filtered:
        check_effect(["particles"], "--to-scores, or no --beam")
    stream_seed = seed if is_filtered else None
    last = {**out.signature_fields, "seed": stream_seed}
    source = parser.source(run, beam or parser.particles)
    job = Job("hpyp parse", source, run, out if size else out.of_single_trees(), last=last)
    folds: list[Fold[Any]] = []
    if kind:
        fields = {**WRITTEN, **source.signature_fields, **run.signature_fields, **last, "scores": kind.name}
        page = Page(signature("hpyp parse", fields), header=True)
        encoder = encoder_of(None, scores, (SCORES,), JSONL.name)
        folds = [Beside(partial(tell, run), "notices"), *run.also(scores, encoder, "scores", page)]
    return job.write(partial(parse_sentence, parser, beam, size, kind), stream_seed, folds=folds)


@dataclass(eq=False)
class Parsed(Trees):
    """The trees of a sentence; its scores (n+1, n+1), if they are written too, and what to report about them."""

    scores: SentenceScores | None = None
    notices: Sequence[str] = ()


def tell(run: Run, lines: Sequence[str]) -> None:
    for line in lines:
        run.warn(line, line)


def parse_sentence(
    parser: ParserOptions,
    beam: int | None,
    size: int | None,
    kind: ScoreKind | None,
    sentence: AnnotatedBlock,
    rng: np.random.Generator,
) -> Parsed:
    """Find the best tree of a sentence, by a `beam` or by particles, or `size` samples; and scores."""
    from deptree_cli.hpyp.model import parsing  # loads kernels: when there is work

    trained, words, search = parser.trained, sentence.annotated, (parser.particles, parser.predicts_tags)
    symbols, scores, notices = trained.symbols, None, list[str]()
    if size or kind:
        found = parsing.filtered(trained, words, rng, *search, size or 0)
    if size:
        heads, labels, tags = found.heads[found.drawn], found.deprels, found.tags[found.drawn]
        of_size = Note("effective_size", "effective_size", [found.effective_size], "{:.2f}")
        notes, closing = [], [of_size, Note("particles", "particles", [parser.particles])]
    else:
        best = parsing.parse(trained, words, *search, beam)
        heads = best.heads[None]
        labels = np.array([[symbols.label_numbers[label] for label in best.deprels]], dtype=np.int32)
        tags = np.array([[symbols.tags.id(tag) for tag in best.tags]], dtype=np.int32)
        notes, closing = [Note("log_prob", "derivation_logprob", [best.log_prob], "{:.6f}")], []
    if kind:
        array = kind.function(found.marginals, notify=lambda line: notices.append(f"{words.sent_id}: {line}"))
        scores = SentenceScores(words.sent_id, array, Extras(words.forms))
    deprels = deprels_by_name(symbols, heads, labels)
    column = tags_by_name(symbols, trained.progress.tagset, tags) if parser.predicts_tags else None
    trees = words.sent_id, sentence.block, heads, notes, closing, deprels, column
    return Parsed(*trees, ranked=bool(size), scores=scores, notices=notices)
