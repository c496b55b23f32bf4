"""``deptree decode``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deptree_cli.cli.decoded import Decoded, StoppingRule, TruncatedLists, probability_notes, stopping_options
from deptree_cli.cli.folds import Fold
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import check_effect, entry_option
from deptree_cli.cli.rule_options import RelaxedSentences, rule_option, search_options
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, score_options
from deptree_cli.cli.sections import command
from deptree_cli.cli.work import Work
from deptree_cli.cli.writing import Writing, format_options
from deptree_cli.core.constraints.branch_and_bound import BUDGET
from deptree_cli.core.constraints.constrained import MBR, MST
from deptree_cli.core.decoding import METHODS
from deptree_cli.core.register import NamedFunction
from deptree_cli.io.encoders import ARRAYS
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.io.conllu.batches import TreesOfOne
    from deptree_cli.io.scores.batches import ScoredBatch


@command()
@score_options
@rule_option("Only trees that obey these rules")
@entry_option(METHODS, "--method", default=MST, help=f"{{names}}  [default: {MST}]", name=attrgetter("line"))
@stopping_options
@search_options
@format_options("jsonl", "conllu", ARRAYS, style=True)
@run_options
def decode(
    scores: ScoreOptions,
    run: RunOptions,
    method: NamedFunction,
    rule: StoppingRule,
    budget: int,
    relax: bool,
    writing: Writing,
) -> int:
    """Find the best tree of each sentence, the K best, or the fewest that cover a probability.

    Writes CoNLL-U if you pass --conllu (HeadProb, LabelProb in MISC; comments tree_logprob, tree_prob, entropy in
    nats), otherwise JSON Lines or arrays of heads. With --labels it finds arcs and labels together; otherwise words
    with a new head get the label dep. With --rules trees obey the rules; if `certified`, no better tree does.

    How good are the trees? deptree eval. Are their probabilities right? deptree calibrate.
    """
    _check(method, rule, scores.how.constraints is not None)
    scores = replace(scores, how=replace(scores.how, relax=relax, budget=budget))
    searched = {"budget": None if budget == BUDGET else budget, "relax": "yes" if relax else None}
    last = {**rule.signature_fields, **searched, **writing.style_fields}
    first = {"method": "k-best" if rule.size and method.name == MST else method.name}
    writing = writing if rule.size else writing.of_single_trees()
    folds: list[Fold[Any]] = [RelaxedSentences(run)] * relax + [TruncatedLists(rule)] * bool(rule.option)
    job = Job("decode", scores.source(run), run, writing, first, last)
    return job.write(Decode(method, rule, budget), folds=folds)


def _check(method: NamedFunction, rule: StoppingRule, rules: bool) -> None:
    """Raise for options that do not go together; `rules`: whether trees must obey some."""
    if not rules:
        check_effect(["relax", "budget"], "rules: --rules")
    if rule.option and method.name != MST:
        raise click.UsageError(f"{rule.option} needs --method {MST}, but --method is {method.name}. Remove one.")
    if rule.option and rules:
        why = "under rules the probabilities of trees are not known"
        raise click.UsageError(f"{rule.option} cannot be combined with rules: {why}. Remove one.")
    if rule.size and method.name != MST and not rules:
        raise click.UsageError(f"-k needs --method {MST}, but --method is {method.name}. Remove one, or add --rules.")


@dataclass(frozen=True)
class Decode(Work[Any]):
    """The best tree of a sentence by a method, or as many trees as a rule says.

    Attributes:
        budget: how many maximum trees each tree may cost under rules.
    """

    method: NamedFunction
    rule: StoppingRule
    budget: int

    @property
    def in_batches(self) -> bool:
        """Whether the best trees of many sentences are found at once."""
        return self.method.name == MST and not self.rule.size

    def batch(self, sentences: ScoredBatch, _: None) -> list[TreesOfOne]:
        """The work on many sentences."""
        from deptree_cli.io.conllu.batches import TreesOfMany  # loads kernels: when there is work

        found, best = sentences.trees, sentences.trees.argmax()
        return TreesOfMany(
            *(sentences.sent_ids, sentences.blocks, best),
            lambda: probability_notes(found.tree_log_probs(best, found.sums[0]).ravel(), found.entropies.tolist()),
            False,
            lambda: {"HeadProb": found.probs_of(best)},
        ).each()

    def one(self, sentence: ScoredSentence, _: None) -> Decoded:
        """The work on one sentence; the labels of a mass of trees, which is one of heads, are found afterwards."""
        distribution, labels, ranked = sentence.distribution, sentence.distribution.labels, self.rule.size is not None
        joint = labels is not None and self.rule.mass is None
        if sentence.interpretation.constraints is not None or (joint and self.method.name == MBR):
            return self._searched(sentence)
        distribution = distribution.with_best_labels() if joint else distribution
        heads, complete = (
            self.rule.trees_of(distribution) if ranked else (self.method.function(distribution)[None], None)
        )
        return Decoded(sentence, heads, labels.best(heads) if labels else None, ranked, complete=complete)

    def _searched(self, sentence: ScoredSentence) -> Decoded:
        """The best trees that obey, with their labels."""
        found = sentence.constrained.best_trees(self.rule.size or 1, self.method.name, self.budget)
        heads, labels = np.array([each.heads for each in found]), np.array([each.labels for each in found])
        gaps = [each.gap for each in found] if sentence.interpretation.constraints is not None else None
        has_labels = sentence.distribution.labels is not None
        return Decoded(sentence, heads, labels if has_labels else None, self.rule.size is not None, gaps)
