"""``deptree decode``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deptree_cli.cli.calibrating import HeadCalibration
from deptree_cli.cli.folds import Fold
from deptree_cli.cli.gold_report import GoldReport, report_options
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import check_effect, entry_option, size_option
from deptree_cli.cli.ranges import FloatRange
from deptree_cli.cli.relaxed_sentences import RelaxedSentences
from deptree_cli.cli.rule_options import KEPT, search_options
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, gold_option, score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.unfinished import Enough, Unfinished
from deptree_cli.cli.work import Work
from deptree_cli.cli.writing import Writing, format_options
from deptree_cli.core.constraints.branch_and_bound import BUDGET
from deptree_cli.core.constraints.constrained import MBR, MST
from deptree_cli.core.constraints.relaxation import GivenUp
from deptree_cli.core.decoding import METHODS, MOST_RANKED, best_trees, probability_of
from deptree_cli.core.dtypes import Bool, Float, Heads, Integers, smallest
from deptree_cli.core.register import NamedFunction
from deptree_cli.io.conllu.misc import probability
from deptree_cli.io.conllu.splicing import Spliced
from deptree_cli.io.conllu.trees import AsTrees, Note, Style, Trees, label_notes, log_prob_note, relaxed_notes
from deptree_cli.io.encoders import ARRAYS
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.io.conllu.batches import TreesOfOne
    from deptree_cli.io.scores.batches import ScoredBatch

K_BEST = "k-best"


@command()
@score_options
@entry_option(METHODS, "--method", default=MST, help=f"By default {MST}", names=lambda: [each.line for each in METHODS])
@size_option(None, "The N best trees.", f"1; {MOST_RANKED:,} with --mass", formerly=["--k-best"])
@option(
    "--mass",
    type=FloatRange(0, 1, min_open=True),
    metavar="P",
    help="The fewest trees with a probability of P together.",
)
@option(
    "--within",
    type=FloatRange(0),
    metavar="NATS",
    often=False,
    help="Write all trees at most NATS below the best in log-probability, up to -k.",
)
@option("--labels-after", is_flag=True, often=False, help="Find the best tree without its labels, then the labels.")
@search_options
@gold_option("Heads and their probabilities are compared with them (a table).", formerly=["--calibration"])
@report_options("trees")
@format_options("jsonl", "conllu", ARRAYS, style=True)
@run_options
def decode(
    scores: ScoreOptions,
    run: RunOptions,
    method: NamedFunction,
    size: int | None,
    mass: float | None,
    within: float | None,
    labels_after: bool,
    budget: int,
    relax: bool,
    report: GoldReport,
    writing: Writing,
) -> int:
    """Find the best tree of each sentence, the K best, or the fewest that cover a probability.

    Writes CoNLL-U if you pass --conllu (HeadProb, LabelProb in MISC; comments tree_logprob, tree_prob, entropy in
    nats), otherwise JSON Lines or arrays of heads. --labels finds arcs and labels together; without it a word with a
    new head has the label dep. With --rules trees obey them; `certified`: no better tree does.

    With --gold a table on stderr shows how often heads in each tenth of probability are right, the attachment score,
    the one that the parser expects, and the expected calibration error.
    """
    gold = bool(scores.gold)
    enough = _enough(mass, within, scores, method, labels_after)
    size = size or (MOST_RANKED if enough else None)
    _check(size, gold, report)
    _check_rules(scores.how.constraints is not None, method, size, labels_after)
    if scores.how.labels is None:
        check_effect(["labels_after"], "the names of labels: --labels FILE")
    scores = replace(scores, how=replace(scores.how, relax=relax, budget=budget))
    after = "after" if labels_after and scores.how.labels else None
    fields = {"budget": None if budget == BUDGET else budget, "relax": "yes" if relax else None}
    last = {"size": size, "mass": mass, "within": within, "labelled": after, **fields, **writing.style_fields}
    writing = writing if size else writing.of_single_trees()
    folds: list[Fold[Any]] = [HeadCalibration()] if gold else []
    folds += [RelaxedSentences(run.quiet)] if relax else []
    folds += [Unfinished(enough, size)] if enough and size else []
    first = {"method": K_BEST if size and method.name == MST else method.name}
    job = Job("decode", scores.source(KEPT), run, writing, first, last)
    return job.write(Decode(method, size, gold, labels_after, budget, enough), folds=folds, report=report)


def _check(size: int | None, gold: bool, report: GoldReport) -> None:
    """Raise for options that do not go together, and for a picture that cannot be drawn."""
    report.check(gold)
    if size and gold:
        raise click.UsageError("--gold is compared with one tree per sentence, not with several. Remove one.")


def _enough(
    mass: float | None, nats: float | None, scores: ScoreOptions, method: NamedFunction, labels_after: bool
) -> Enough | None:
    """How many trees are enough, None where nothing says; raises for options that do not go with it."""
    if mass is None and nats is None:
        return None
    if mass is not None and nats is not None:
        raise click.UsageError("--mass and --within are two ways to choose trees. Remove one.")
    enough = Enough(mass, nats)
    if method.name != MST:
        raise click.UsageError(f"{enough.option} needs --method {MST}, but --method is {method.name}. Remove one.")
    if scores.how.constraints is not None:
        why = "under rules the probabilities of trees are not known"
        raise click.UsageError(f"{enough.option} cannot be combined with rules: {why}. Remove one.")
    if mass is not None and scores.how.labels and not labels_after:
        raise click.UsageError("--mass covers trees, each with its best labels. Add --labels-after.")
    return enough


def _check_rules(rules: bool, method: NamedFunction, size: int | None, labels_after: bool) -> None:
    """Raise for options that need rules, or that do not go with them."""
    if size and method.name != MST and not rules:
        raise click.UsageError(f"-k needs --method {MST}, but --method is {method.name}. Remove one, or add --rules.")
    if labels_after and rules:
        raise click.UsageError("--labels-after cannot be combined with rules, which need arcs with labels. Remove one.")
    if not rules:
        check_effect(["relax", "budget"], "rules: --rules, --constraints or --spans")


@dataclass(frozen=True, eq=False)
class Decoded(AsTrees):
    """A sentence's best trees, (k, n), with numbers of labels, if there are some; of a single one that is `compared`,
    what it counts for; under rules by how much better ones may be better; and, if asked, whether they are enough.
    """

    sentence: ScoredSentence
    heads: Heads
    labels: Heads | None
    ranked: bool
    compared: bool
    gaps: Sequence[float] | None = None
    complete: bool | None = None

    @cached_property
    def probs(self) -> Float:
        """The probability of every word's head in each tree, (k, n)."""
        distribution = self.sentence.distribution
        return distribution.marginals()[self.heads, np.arange(1, distribution.n + 1)]

    @property
    def calibrated(self) -> tuple[Float, Bool] | None:
        """The probabilities of the heads of words whose head is known, and whether they are right."""
        if not self.compared:
            return None
        gold = self.sentence.record.known_heads
        return self.probs[0][gold >= 0], (self.heads[0] == gold)[gold >= 0]

    @property
    def relaxed(self) -> tuple[str, str, GivenUp] | None:
        """Its place and id with the rules that were given up for it, if some were."""
        record, given_up = self.sentence.record, self.sentence.given_up
        return None if given_up is None else (record.place, record.sent_id, given_up)

    @property
    def unfinished(self) -> str | None:
        """Its id, if its trees are not enough."""
        return self.sentence.id if self.complete is False else None

    def arrays(self) -> list[tuple[str, Integers, str]]:
        """The heads, of a single tree (n,)."""
        return [(self.sentence.id, smallest(self.heads if self.ranked else self.heads[0]), "")]

    def trees(self) -> Trees:
        """The trees with what their probabilities are."""
        distribution = self.sentence.distribution
        others = label_notes(distribution, self.heads, self.labels)
        if self.gaps is not None:
            others += [Note("certified", "certified", [gap == 0 for gap in self.gaps]), Note("gap", "gap", self.gaps)]
        if self.sentence.interpretation.relax:
            others += relaxed_notes(self.sentence.given_up, len(self.heads))
        log_probs = distribution.tree_log_probs(self.heads)
        notes = _notes(log_probs, [distribution.entropy()] * len(self.heads), others)
        closing = [] if self.complete is None else _on_all(log_probs, self.complete)
        return self.sentence.as_trees(self.heads, self.labels, notes, ranked=self.ranked, closing=closing)

    def to_conllu(self, style: Style) -> Spliced:
        """The same with the probabilities of each word's head, and of head and label, in MISC."""
        misc, labels = {"HeadProb": self.probs}, self.sentence.distribution.labels
        if labels and self.labels is not None:
            given_arc = labels.probs[self.heads, np.arange(1, self.heads.shape[1] + 1), self.labels]
            misc["LabelProb"] = self.probs * given_arc
        return replace(self.trees(), misc=misc).to_conllu(style)


def _notes(log_probs: Float, entropies: Sequence[float], others: Iterable[Note] = ()) -> list[Note]:
    """What there is to tell about trees: their log-probabilities, and the entropies of what they were chosen from."""
    return [
        log_prob_note(log_probs),
        Note(None, "tree_prob", np.exp(log_probs).tolist(), partial(probability, digits=6)),
        *others,
        Note("entropy", "entropy", entropies, "{:.6f}"),
    ]


def _on_all(log_probs: Float, complete: bool) -> list[Note]:
    """What there is to tell about all trees that were taken: their probability, and whether they are enough."""
    mass = Note("mass", "trees_mass", [probability_of(log_probs)], partial(probability, digits=6))
    return [mass, Note("complete", "trees_complete", [complete])]


@dataclass(frozen=True)
class Decode(Work[Any]):
    """One tree of a sentence by a method, or up to `size` of them; `compared` with gold heads or not.

    Attributes:
        labels_after: whether labels are found when the tree is.
        budget: how many maximum trees each tree may cost.
        enough: how many of up to `size` trees are taken; None: all.
    """

    method: NamedFunction
    size: int | None
    compared: bool
    labels_after: bool
    budget: int
    enough: Enough | None = None

    @property
    def in_batches(self) -> bool:
        """Whether the best trees of many sentences are found at once."""
        return self.method.name == MST and not (self.size or self.compared)

    def batch(self, sentences: ScoredBatch, _: None) -> list[TreesOfOne]:
        """The work on many sentences."""
        from deptree_cli.io.conllu.batches import TreesOfMany  # loads kernels: when there is work

        found, best = sentences.trees, sentences.trees.argmax()

        def notes() -> list[Note]:
            return _notes(found.tree_log_probs(best, found.sums[0]).ravel(), found.entropies.tolist())

        sentence = sentences.sent_ids, sentences.blocks
        return TreesOfMany(*sentence, best, notes, False, lambda: {"HeadProb": found.probs_of(best)}).each()

    def one(self, sentence: ScoredSentence, _: None) -> Decoded:
        """The work on one sentence."""
        how, labels = (self.size is not None, self.compared), sentence.distribution.labels
        joint = labels is not None and not self.labels_after
        obey = sentence.interpretation.constraints is not None
        if not obey and not (joint and self.method.name == MBR):
            heads, complete = self._best(sentence, joint)
            return Decoded(sentence, heads, labels.best(heads) if labels else None, *how, complete=complete)
        found = sentence.constrained.best_trees(self.size or 1, self.method.name, self.budget)
        heads, of_words = (np.stack(rows) for rows in zip(*((each.heads, each.labels) for each in found), strict=True))
        return Decoded(
            sentence, heads, of_words if labels else None, *how, [each.gap for each in found] if obey else None
        )

    def _best(self, sentence: ScoredSentence, joint: bool) -> tuple[Heads, bool | None]:
        """Its best trees, (k, n), or those of arcs with their best labels; and whether they are `enough`."""
        distribution = sentence.distribution.with_best_labels() if joint else sentence.distribution
        if not self.size:
            found: Heads = self.method.function(distribution)
            return found[None], None
        if self.enough is None:
            return best_trees(distribution, self.size), None
        ranked = self.enough.of_trees(distribution, self.size)
        return ranked.heads, ranked.complete
