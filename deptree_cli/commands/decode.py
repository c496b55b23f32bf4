"""``deptree decode``: a sentence's best trees, their probabilities, and whether they are enough."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import Bundle, FloatRange, check_effect, command, entry, opt, use
from deptree_cli.cli.rule_options import RelaxedSentences, Search, rules
from deptree_cli.cli.run import Fold, Job, NamedSentences, Run
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import Out
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.constrained import MBR, MST
from deptree_cli.core.decoding import METHODS, MOST_RANKED, best_trees, covering, probability_of, within
from deptree_cli.core.dtypes import Float, Heads, Integers, smallest
from deptree_cli.core.errors import counted
from deptree_cli.core.register import NamedFunction
from deptree_cli.core.rule_search import GivenUp
from deptree_cli.io.conllu.columns import entries_of, probability
from deptree_cli.io.conllu.splicing import Spliced
from deptree_cli.io.conllu.trees import AsTrees, Note, Trees, TreesOfMany, label_notes, log_prob_note, relaxed_notes
from deptree_cli.io.encoders import ARRAYS
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.io.conllu import Style
    from deptree_cli.io.scores.batches import ScoredBatch


@dataclass(eq=False)
class StoppingRule(Bundle):
    """How many of the best trees are written: `size` at most, with this mass together, or within nats of the best."""

    size: int | None = options.size(None, "The N best trees.", f"1; {MOST_RANKED:,} with --mass", sign="size")
    mass: float | None = opt(
        "--mass",
        type=FloatRange(0, 1, min_open=True),
        metavar="P",
        without=["within"],
        sign="mass",
        help="The fewest trees with a probability of P together; labels are found afterwards.",
    )
    within: float | None = opt(
        "--within",
        type=FloatRange(0),
        metavar="NATS",
        often=False,
        sign="within",
        help="Write all trees at most NATS below the best in log-probability, up to -k.",
    )

    def __post_init__(self) -> None:
        if self.option:
            self.size = self.size or MOST_RANKED

    @property
    def option(self) -> str:
        """The option that says when there are enough; empty if `size` alone does."""
        given = {"--mass": self.mass, "--within": self.within}
        return next((f"{name} {value:g}" for name, value in given.items() if value is not None), "")

    def trees_of(self, distribution: ArcFactored) -> tuple[Heads, bool | None]:
        """The best trees, (k, n), and whether these are enough; None if nothing but `size` decides."""
        size = self.size or 1
        if not self.option:
            return best_trees(distribution, size), None
        ranked = covering(distribution, self.mass, size) if self.mass else within(distribution, self.within or 0, size)
        return ranked.heads, ranked.complete


@dataclass(frozen=True, eq=False)
class Decoded(AsTrees):
    """A sentence's best trees, (k, n), with ranks if there may be several.

    `gaps`: under rules, by how much better trees may be better; `complete`: whether these are all that was asked for,
    if a number alone does not say that.
    """

    sentence: ScoredSentence
    heads: Heads
    labels: Heads | None
    ranked: bool
    gaps: Sequence[float] | None = None
    complete: bool | None = None

    @property
    def relaxed(self) -> tuple[str, str, GivenUp] | None:
        """Its place and id with the rules that were given up for it, if some were."""
        record, given_up = self.sentence.record, self.sentence.given_up
        return None if given_up is None else (record.place, record.sent_id, given_up)

    @property
    def truncated(self) -> str | None:
        return self.sentence.id if self.complete is False else None

    def arrays(self) -> list[tuple[str, Integers, str]]:
        return [(self.sentence.id, smallest(self.heads if self.ranked else self.heads[0]), "")]

    def trees(self) -> Trees:
        distribution = self.sentence.distribution
        others = label_notes(distribution, self.heads, self.labels)
        if self.gaps is not None:
            others += [Note("certified", "certified", [gap == 0 for gap in self.gaps]), Note("gap", "gap", self.gaps)]
        if self.sentence.interpretation.relax:
            others += relaxed_notes(self.sentence.given_up, len(self.heads))
        log_probs = distribution.tree_log_probs(self.heads)
        notes = probability_notes(log_probs, [distribution.entropy()] * len(self.heads), others)
        mass = Note("mass", "trees_mass", [probability_of(log_probs)], partial(probability, digits=6))
        closing = [] if self.complete is None else [mass, Note("complete", "trees_complete", [self.complete])]
        return self.sentence.as_trees(self.heads, self.labels, notes, ranked=self.ranked, closing=closing)

    def to_conllu(self, style: Style) -> Spliced:
        distribution, words = self.sentence.distribution, np.arange(1, self.sentence.n + 1)
        probs = distribution.marginals()[self.heads, words]
        misc = {"HeadProb": probs}
        if distribution.labels and self.labels is not None:
            misc["LabelProb"] = probs * np.exp(distribution.labels.log_probs[self.heads, words, self.labels])
        return replace(self.trees(), entries=entries_of(misc)).to_conllu(style)


def probability_notes(log_probs: Float, entropies: Sequence[float], others: Iterable[Note] = ()) -> list[Note]:
    return [
        log_prob_note(log_probs),
        Note(None, "tree_prob", np.exp(log_probs).tolist(), partial(probability, digits=6)),
        *others,
        Note("entropy", "entropy", entropies, "{:.6f}"),
    ]


@command()
def decode(
    scores: Scores = use(Scores, rules=rules("Only trees that obey these rules")),
    method: NamedFunction = entry(
        METHODS, "--method", default=MST, help=f"{{names}}  [default: {MST}]", name=attrgetter("line")
    ),
    rule: StoppingRule = use(StoppingRule),
    search: Search = use(Search),
    out: Out = use(Out, formats=("jsonl", "conllu", ARRAYS), of_trees=True),
    run: Run = use(Run),
) -> int:
    """Find the best tree of each sentence, the K best, or the fewest that cover a probability.

    Writes CoNLL-U if you pass --conllu (HeadProb, LabelProb in MISC; comments tree_logprob, tree_prob, entropy in
    nats), otherwise JSON Lines or arrays of heads. With scores of labels it finds arcs and labels together; otherwise
    words with a new head get the label dep. With --rules trees obey the rules; if `certified`, no better tree does.

    How good are the trees? deptree eval. Are their probabilities right? deptree calibrate.
    """
    has_rules, other_method = scores.rules is not None, f"--method {MST}, but --method is {method.name}. Remove one"
    if not has_rules:
        check_effect(["relax", "budget"], "rules: --rules")
    if rule.option and method.name != MST:
        raise click.UsageError(f"{rule.option} needs {other_method}.")
    if rule.option and has_rules:
        why = "under rules the probabilities of trees are not known"
        raise click.UsageError(f"{rule.option} cannot be combined with rules: {why}. Remove one.")
    if rule.size and method.name != MST and not has_rules:
        raise click.UsageError(f"-k needs {other_method}, or add --rules.")
    scores.how = replace(scores.how, relax=search.relax, budget=search.budget)
    first = {"method": "k-best" if rule.size and method.name == MST else method.name}
    last = {**rule.signature_fields, **search.signature_fields, **out.signature_fields}
    out = out if rule.size else out.of_single_trees()
    folds: list[Fold[Any]] = [RelaxedSentences(run)] if search.relax else []
    if rule.option:
        best = f"the best {counted(rule.size or 1, 'tree')}"
        folds.append(NamedSentences("truncated", f": {best} are not all that {rule.option} takes: raise -k"))
    job = Job("decode", scores.source(run), run, out, first, last)
    return job.write(Decode(method, rule, search.budget), folds=folds)


@dataclass(frozen=True)
class Decode:
    method: NamedFunction
    rule: StoppingRule
    budget: int

    @property
    def in_batches(self) -> bool:
        return self.method.name == MST and not self.rule.size

    def __call__(self, sentence: ScoredSentence, _: None) -> AsTrees:
        if found := sentence.ask(best_of_many):
            return found
        distribution, labels, ranked = sentence.distribution, sentence.distribution.labels, self.rule.size is not None
        joint = labels is not None and self.rule.mass is None  # a mass is one of heads: labels are found afterwards
        has_rules = sentence.interpretation.constraints is not None
        if has_rules or (joint and self.method.name == MBR):
            best = sentence.constrained.best_trees(self.rule.size or 1, self.method.name, self.budget)
            heads, numbers = np.array([each.heads for each in best]), np.array([each.labels for each in best])
            gaps = [each.gap for each in best] if has_rules else None
            return Decoded(sentence, heads, numbers if labels else None, ranked, gaps)
        distribution, complete = distribution.with_best_labels() if joint else distribution, None
        if ranked:
            heads, complete = self.rule.trees_of(distribution)
        else:
            heads = self.method.function(distribution)[None]
        return Decoded(sentence, heads, labels.best(heads) if labels else None, ranked, complete=complete)


def best_of_many(sentences: ScoredBatch, _: None) -> list[AsTrees]:
    found, best = sentences.trees, sentences.trees.argmax()

    def notes() -> list[Note]:
        return probability_notes(found.tree_log_probs(best, found.sums[0]).ravel(), found.entropies.tolist())

    return TreesOfMany(sentences.records, best, notes, False, lambda: {"HeadProb": found.probs_of(best)}).each()
