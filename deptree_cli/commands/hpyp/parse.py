"""``deptree hpyp parse``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace

import click

from deptree_cli.cli.gold_report import GoldReport, only_count, report_options
from deptree_cli.cli.gold_sentences import GoldOptions, gold_options
from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import (
    entry_option,
    format_option,
    header_option,
    seed_option,
    size_option,
    style_fields,
    style_options,
)
from deptree_cli.cli.params import OUTPUT
from deptree_cli.cli.parsed import Parsed, ParseSentence, ParseSettings
from deptree_cli.cli.parser_options import ParserOptions, parser_options
from deptree_cli.cli.parser_report import Report
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.ranges import IntRange
from deptree_cli.cli.report import talk
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import choose_format, write_chunks
from deptree_cli.core.hpyp.score_matrices import SCORE_KINDS, ScoreKind
from deptree_cli.core.spaces import PROJECTIVE
from deptree_cli.io.conllu.trees import Style
from deptree_cli.io.scores.containers import Write, container_to_write, write_scores
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.scores.presets import layout
from deptree_cli.io.signature import signature

HELP = """Parse sentences: the best tree of each, K trees drawn from the posterior, or arc scores.

Writes the sentences with HEAD and DEPREL (and with --tags predict their tags: UPOS or XPOS, whichever the model was
trained on) and all else as it was, and the comment derivation_logprob: the log-probability, in nats, of the tree's
derivation together with the words. The best tree is the best one that is found, by algorithm 1 of Buys and Blunsom
(2015) with --particles, or with a beam of fixed size (--beam).

With -k K each sentence is written K times, as X/sample_1 ..., with trees drawn by a particle filter: an approximation
that is the better the more --particles there are. Comments on the last of them say how many there were, and the
effective_size: how many trees of equal weight would vary as much as those that the filter ended with.

With --scores FILE the filter's probabilities of arcs become matrices of scores, which the other commands read without
--from. They are approximations too, and what the parser knows beyond single arcs is lost. The parser's trees are
projective, and so are those of its scores: the file says so, and is read as if --projective were given. The kinds:

"""

# What a file of scores says of itself, so that other commands need not be told.
META = Meta(layout=layout(orient="head-dep", scale="log"), trees=PROJECTIVE.kind)

# A single tree keeps the sentence's name.
_UNNAMED = "{id}"


def _described(kind: ScoreKind) -> str:
    return f"{kind.name}: {kind.summary}"


@command(
    help=HELP,
    listing=Listing("score-kinds", SCORE_KINDS, _described),
    epilog="\b\nTry: deptree hpyp parse model.npz sentences.conllu --tags predict",
)
@parser_options
@option("--beam", type=IntRange(1, 10**6), metavar="N", help="Look for the best tree with a beam of this size.")
@size_option(None, "Draw N trees of each sentence.", "the best tree", formerly=["--samples"])
@option("--scores", type=OUTPUT, help="Write scores of arcs here: .npz, .jsonl, .safetensors.")
@entry_option(
    SCORE_KINDS, "--score-kind", "kind", default=None, help=f"See above.  [default: {SCORE_KINDS.known[0].name}]"
)
@seed_option
@gold_options
@report_options("trees")
@format_option("conllu", "jsonl")
@header_option
@style_options
@run_options
def parse(
    parser: ParserOptions,
    run: RunOptions,
    beam: int | None,
    size: int | None,
    scores: str | None,
    kind: ScoreKind | None,
    seed: int,
    gold: GoldOptions,
    report: GoldReport,
    fmt: str | None,
    header: bool | None,
    style: Style,
) -> int:
    """Parse sentences."""
    report.check(bool(gold.paths))
    _check(beam, size, scores, kind, gold)
    fmt = choose_format(fmt, run.output, parser.sentences[0], "conllu", "jsonl")
    kind = (kind or SCORE_KINDS.known[0]) if scores else None
    fields = {**parser.signature_fields, "beam": beam, "size": size, **run.signature_fields, **style_fields(style)}
    style = style if size else replace(style, sent_id_format=_UNNAMED)
    task = ParseSettings(parser.particles, parser.predicts_tags, beam, size, kind, bool(report.plot), fmt, style)
    fields["seed"] = stream_seed = seed if task.filters else None
    pipeline = Pipeline(parser.source(gold.of), parser.prepare, run)
    counts = Report()
    with ExitStack() as opened:
        parsed = pipeline.map(ParseSentence(parser.trained, task), stream_seed)
        if scores and kind:
            meta = replace(META, signature=signature("hpyp parse", fields | {"scores": kind.name}))
            parsed = _scored(parsed, opened.enter_context(write_scores(scores, meta, True)), run.quiet)
        parsed = counts.counted(parsed) if gold.paths else parsed
        made_by = signature("hpyp parse", fields)
        if report.takes_output(run):
            only_count(parsed, made_by, run)
        else:
            write_chunks((each.chunk for each in parsed), fmt, made_by, header, run)
    if gold.paths:
        counts.show(report, run)
    parser.tell_unknown_tags(run)
    return pipeline.exit_code


def _check(beam: int | None, size: int | None, scores: str | None, kind: ScoreKind | None, gold: GoldOptions) -> None:
    """Raise for options that do not go together, and before any work is done for scores that cannot be written."""
    if beam and size:
        raise click.UsageError("--beam finds the best tree; -k draws trees, by particles.")
    if kind and not scores:
        raise click.UsageError("--score-kind is for --scores FILE.")
    if size and gold.paths:
        raise click.UsageError("--gold is compared with one tree per sentence, not with -k.")
    if scores:
        container_to_write(scores, META)


def _scored(parsed: Iterator[Parsed], write: Write, quiet: bool) -> Iterator[Parsed]:
    """The sentences as they pass, their scores written."""
    for each in parsed:
        for notice in () if quiet else each.notices:
            talk(f"{each.sent_id}: {notice}")
        if each.scores is not None:
            write(each.sent_id, each.scores, each.forms)
        yield each
