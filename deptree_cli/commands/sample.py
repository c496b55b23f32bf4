"""``deptree sample``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.report import talk
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, label_scores_option, score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import format_of_trees, write_arrays, write_chunks
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.labels import label_stream
from deptree_cli.core.samplers import SAMPLERS, Sampler
from deptree_cli.core.second_order import SecondOrder
from deptree_cli.core.spaces import SPACES, TreeSpace
from deptree_cli.io.conllu.trees import TO_BYTES, Note, Style, label_notes, log_prob_note
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature

HELP = """Draw K independent trees per sentence from the exact distribution.

Writes CoNLL-U (each sentence K times, as X/sample_1 ...) if --conllu is given, else JSON Lines; the suffix of -o and
--format override; npz holds an array (K, n) of heads per sentence.

Samplers, with the cost of k trees of n words (h: mean hitting time of the walk):

"""

# What stands for the second-order chart too.
SECOND_ORDER = ("auto", "eisner")


def _described(entry: Sampler) -> str:
    biased = "" if entry.exact else " (biased)"
    kinds = [trees.name for trees in SPACES if entry.serves(trees)]
    served = " and ".join(filter(None, (", ".join(kinds[:-1]), *kinds[-1:])))
    return f"{entry.name}{biased}: {served} trees; {entry.cost}\n  {entry.source}"


@command(
    help=HELP,
    listing=Listing("samplers", SAMPLERS, _described),
    epilog="\b\nTry: deptree sample scores.npz --from natasha --conllu sentences.conllu -k 10 --seed 7",
)
@score_options
@label_scores_option
@size_option(1, "Trees per sentence.")
@entry_option(SAMPLERS, "--sampler")
@option("--unique", is_flag=True, help="Each distinct tree once, with its count, most frequent first.")
@seed_option
@format_option("conllu", "jsonl", "npz")
@header_option
@style_options
@run_options
def sample(
    scores: ScoreOptions,
    run: RunOptions,
    size: int,
    sampler: Sampler,
    unique: bool,
    seed: int,
    fmt: str | None,
    header: bool | None,
    style: Style,
) -> int:
    """Draw K independent trees per sentence."""
    sampler.check_serves(scores.how.space)
    fmt = format_of_trees(fmt, run.output, scores, "conllu", "jsonl", "npz")
    if unique and fmt == "npz":
        raise DeptreeError("an .npz of heads has no place for counts", "Leave out --unique or choose --format jsonl")
    if not sampler.exact and not run.quiet:
        talk(f"the sampler {sampler.name} is biased ({sampler.source}); it is kept for audits")
    pipeline = Pipeline(scores.records(), scores.interpretation, run)
    made_by = {
        "sampler": _used(sampler, scores.how.space),
        **scores.signature_fields,
        **run.signature_fields,
        "size": size,
        "seed": seed,
        "unique": "yes" if unique else None,
        **style_fields(style),
    }
    if fmt == "npz":
        write_arrays(pipeline.map(DrawHeads(sampler, size), seed), signature("sample", made_by), run)
    else:
        chunks = pipeline.map(DrawTrees(sampler, size, unique, fmt, style), seed)
        write_chunks(chunks, fmt, signature("sample", made_by), header, run)
    return pipeline.exit_code


def _used(sampler: Sampler, trees: TreeSpace) -> str:
    """The sampler, and what stands behind it."""
    used = dict(sampler.uses).get(trees.name)
    return f"{sampler.name}={used}" if used else sampler.name


def _drawn(sampler: Sampler, sentence: ScoredSentence, size: int, rng: np.random.Generator) -> Heads:
    """Trees (size, n); where there are second-order scores, from their own chart, as `eisner` draws from its.

    Raises:
        DeptreeError: the sampler takes scores of arcs only.
    """
    if isinstance(sentence.scored, SecondOrder) and sampler.name in SECOND_ORDER:
        return sentence.scored.sample(size, rng)
    instead = f"pass --sampler {' or '.join(SECOND_ORDER)}"
    return sampler.draw(sentence.by_arcs(instead), size, rng)


@dataclass(frozen=True)
class DrawHeads:
    """Trees as an array of heads, (k, n), with the sentence's name."""

    sampler: Sampler
    size: int

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> tuple[str, Heads]:
        """The work on one sentence."""
        return sentence.id, _drawn(self.sampler, sentence, self.size, rng)


@dataclass(frozen=True)
class DrawTrees:
    """Trees as the bytes of an output format."""

    sampler: Sampler
    size: int
    unique: bool
    fmt: str
    style: Style

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> bytes:
        """The work on one sentence."""
        distribution = sentence.scored
        heads = _drawn(self.sampler, sentence, self.size, rng)
        labels = distribution.labels.draw_by(heads, label_stream(rng)) if distribution.labels else None
        counts: list[int] | None = None
        if self.unique:
            heads, labels, counts = _counted(heads, labels)
        notes = [log_prob_note(distribution.tree_log_probs(heads)), *label_notes(distribution, heads, labels)]
        if counts is not None:
            notes.append(Note("count", "tree_count", counts))
        return TO_BYTES[self.fmt](sentence.as_trees(heads, labels, notes), self.style)


def _counted(heads: Heads, labels: Heads | None) -> tuple[Heads, Heads | None, list[int]]:
    """Each distinct tree, with its labels if there are any, once; how often it was there, most frequent first."""
    rows = heads if labels is None else np.concatenate([heads, labels], axis=1)
    rows, tallies = np.unique(rows, axis=0, return_counts=True)
    order = np.argsort(-tallies, kind="stable")
    heads, others = np.split(rows[order], [heads.shape[1]], axis=1)
    return heads, None if labels is None else others, tallies[order].tolist()
