"""``deptree sample``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import command, flag, use
from deptree_cli.cli.rule_options import rules
from deptree_cli.cli.run import Job, Run
from deptree_cli.cli.sampler_options import SAMPLER, SAMPLERS_LISTED
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import Out
from deptree_cli.core.dtypes import Heads, Integers, smallest
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.streams import SentenceStreams
from deptree_cli.io.conllu.trees import AsTrees, Note, Trees, TreesOfMany, acceptance_note, label_notes, log_prob_note
from deptree_cli.io.encoders import ARRAYS
from deptree_cli.io.encoders.base import CONLLU, JSONL

if TYPE_CHECKING:
    from deptree_cli.core.samplers import Sampler
    from deptree_cli.io.scores.batches import ScoredBatch
    from deptree_cli.io.scores.records import ScoredSentence

HELP = """Sample K trees per sentence, independently, from the exact distribution.

Writes CoNLL-U if you pass --conllu (each sentence K times, as X/sample_1, ...), otherwise JSON Lines; the suffix of -o
and --format override this. npz, npy and safetensors hold an array (K, n) of heads per sentence.

With --rules, trees that break a rule are rejected; acceptance is the share of trees that obey.
"""


@command(help=HELP, listing=SAMPLERS_LISTED)
def sample(
    scores: Scores = use(Scores, rules=rules("Only trees that obey these rules")),
    size: int = options.size(1, "Trees per sentence."),
    sampler: Sampler = SAMPLER,
    unique: bool = flag("--unique", help="Write each distinct tree once, with its count, most frequent first."),
    seed: int = options.seed(),
    out: Out = use(Out, formats=("jsonl", "conllu", ARRAYS), of_trees=True),
    run: Run = use(Run),
) -> int:
    sampler.check_serves(scores.how.space)
    last = {"size": size, "seed": seed, "unique": "yes" if unique else None, **out.signature_fields}
    used = dict(sampler.uses).get(scores.how.space.name)
    first = {"sampler": f"{sampler.name}={used}" if used else sampler.name}
    job = Job("sample", scores.source(run), run, out, first, last)
    if unique and job.encoder not in (CONLLU, JSONL):
        problem = "arrays of heads cannot store the counts of --unique"
        raise DeptreeError(problem, "Remove --unique or pass --format jsonl")
    if not sampler.exact:
        run.warn("biased", f"the sampler {sampler.name} is biased ({sampler.source}); it is kept for audits")
    return job.write(DrawTrees(sampler, size, unique), seed)


@dataclass(frozen=True, eq=False)
class Drawn(AsTrees):
    """A sentence's trees, (k, n), with numbers of labels, if there are any.

    `acceptance`: under rules that only a tree decides; `counts`: how often each was drawn, if each is there once.
    """

    sentence: ScoredSentence
    heads: Integers
    labels: Heads | None
    acceptance: float | None = None
    counts: list[int] | None = None

    def arrays(self) -> list[tuple[str, Integers, str]]:
        return [(self.sentence.id, smallest(self.heads), "")]

    def trees(self) -> Trees:
        found = self.sentence.distribution
        notes = [log_prob_note(found.tree_log_probs(self.heads)), *label_notes(found, self.heads, self.labels)]
        if self.acceptance is not None:
            notes.append(acceptance_note(self.acceptance, len(self.heads)))
        if self.counts is not None:
            notes.append(Note("count", "tree_count", self.counts))
        return self.sentence.as_trees(self.heads, self.labels, notes)


@dataclass(frozen=True)
class DrawTrees:
    """Trees of one sentence; with `unique` each distinct one once, with its labels, the most frequent first."""

    sampler: Sampler
    trees: int
    unique: bool

    @property
    def in_batches(self) -> bool:
        from deptree_cli.core.samplers import is_few  # loads kernels: when there is work

        # Most sentences have fewer than 100 words: trees of many are drawn at once if they are few even of long ones.
        return self.sampler.name == "auto" and is_few(100, self.trees) and not self.unique

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> AsTrees:
        if found := sentence.ask(self.of_many):
            return found
        if sentence.needs_trees:
            found = sentence.constrained.draw(self.trees, rng, self.sampler)
            drawn = Drawn(sentence, found.heads, found.labels, found.acceptance)
        else:
            heads, labels = self.sampler.draw_small(sentence.distribution, self.trees, rng), None
            if known := sentence.distribution.labels:
                from deptree_cli.core.labels import label_stream

                trees: Heads = heads.astype(np.int32, copy=False)
                heads, labels = trees, known.draw_by(trees, label_stream(rng))
            drawn = Drawn(sentence, heads, labels)
        if not self.unique:
            return drawn
        rows = drawn.heads if drawn.labels is None else np.concatenate([drawn.heads, drawn.labels], axis=1)
        rows, tallies = np.unique(rows, axis=0, return_counts=True)
        order = np.argsort(-tallies, kind="stable")
        heads, others = np.split(rows[order], [sentence.n], axis=1)
        return replace(drawn, heads=heads, labels=others if others.size else None, counts=tallies[order].tolist())

    def of_many(self, sentences: ScoredBatch, streams: SentenceStreams) -> list[AsTrees]:
        found = sentences.trees
        drawn, log_z = found.sample(self.trees, streams)
        return TreesOfMany(
            sentences.records, drawn, lambda: [log_prob_note(found.tree_log_probs(drawn, log_z).ravel())]
        ).each()
