"""``deptree marginals``: marginals of a sentence, and what each format has of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import FloatRange, check_effect, command, flag, opt, use
from deptree_cli.cli.rule_options import rules
from deptree_cli.cli.run import Job, Run, unchanged
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import Out
from deptree_cli.core import calibration
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import counted
from deptree_cli.core.monte_carlo import MonteCarloEstimate, shares
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import probability
from deptree_cli.io.conllu.trees import Style, rounded
from deptree_cli.io.encoders import ARRAYS
from deptree_cli.io.encoders.base import CONLLU, JSONL, TSV, Encoder, Row, Sheet
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.layout import from_head_dep, layout_fields
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch

COLUMNS = ("sent_id", "word", "form", "head", "head_form", "prob")
LABELLED = (*COLUMNS[:-1], "label", "prob")

ROOT = "ROOT"


def arc_rows(
    sent_id: str, block: Block | None, arcs: Float, above: float, labels: tuple[str, ...] | None
) -> Iterator[Row]:
    """Yield a row for each arc of a probability above a limit, or for each of its labels, by word and then by head.

    arcs: (n+1, n+1), with labels (n+1, n+1, L).
    """
    by_word = arcs.swapaxes(0, 1)
    words, heads, *numbers = np.nonzero(by_word > above)
    forms = [ROOT, *(block.column("form") if block else [None] * (len(arcs) - 1))]
    names = [[labels[number] for number in numbers[0].tolist()]] if labels else []
    probs = by_word[words, heads, *numbers].tolist()
    for word, head, *label, prob in zip(words.tolist(), heads.tolist(), *names, probs, strict=True):
        row = (sent_id, word, forms[word], head, forms[head], *label, prob)
        yield dict(zip(LABELLED if labels else COLUMNS, row, strict=True))


@dataclass(frozen=True, eq=False)
class ArcMarginals:
    """The marginals of a sentence, (n+1, n+1), and of its arcs with labels, (n+1, n+1, L).

    `estimate` and `acceptance` are there if they are shares of drawn trees that obey; `limit` is the threshold of sets
    of heads, if these are asked for.
    """

    sentence: ScoredSentence
    arcs: Float
    labelled: Float | None
    estimate: MonteCarloEstimate | None = None
    acceptance: float | None = None
    limit: float | None = None

    @property
    def head_sets(self) -> list[list[int]] | None:
        return None if self.limit is None else calibration.head_sets(self.arcs, self.limit)

    def rows(self, above: float | None) -> list[Row]:
        labels, block = self.sentence.distribution.labels, self.sentence.record.block
        if labels is None or self.labelled is None:
            return list(arc_rows(self.sentence.id, block, self.arcs, above or 0.0, None))
        return list(arc_rows(self.sentence.id, block, self.labelled, above or 0.0, labels.names))

    def in_json(self) -> MatrixAsRead:
        labels, estimate = self.sentence.distribution.labels, self.estimate
        layout = layout_fields(self.sentence.interpretation.layout, self.sentence.record.scores.shape)
        before: dict[str, Any] = {"n": self.sentence.distribution.n} | ({"labels": labels.names} if labels else {})
        behind: dict[str, Any] = {} if self.limit is None else {"head_sets": self.head_sets}
        if estimate is not None:
            if estimate.standard_errors is not None:
                behind["standard_errors"] = self._as_read(estimate.standard_errors).tolist()
            behind |= {"iterations": estimate.iterations, "acceptance": rounded(self.acceptance or 0.0)}
        found = self._as_read(self.arcs if self.labelled is None else self.labelled)
        return MatrixAsRead(self.sentence.record, found, before | layout, behind)

    def in_arrays(self) -> MatrixAsRead:
        labels, found = self.sentence.distribution.labels, self.arcs
        if labels is not None and self.labelled is not None:
            found = self.labelled[..., : len(labels.scored)]
        return MatrixAsRead(self.sentence.record, self._as_read(found))

    def _as_read(self, matrix: Float) -> Float:
        """A matrix of arcs, or of arcs with labels, with the shape and orientation read."""
        how, shape = self.sentence.interpretation, self.sentence.record.scores.shape
        if matrix.ndim == 2:
            return from_head_dep(matrix, how.layout, shape)
        joint = how.layout.labels is not None
        return from_head_dep(matrix, how.layout.labelled, shape if joint else (*shape, matrix.shape[-1]))

    def to_conllu(self, _: Style) -> bytes:
        """The sentence with notes in MISC of the words that have a HEAD; all words have a set of heads."""
        block, labels, distribution = self.sentence.record.sentence, self.labelled, self.sentence.distribution
        misc = {word: f"HeadSet={','.join(map(str, heads))}" for word, heads in enumerate(self.head_sets or [], 1)}
        heads = block.heads
        for word, (head, deprel) in enumerate(zip(heads, block.deprels, strict=True), 1):
            if head is not None:
                prob = f"HeadProb={probability(self.arcs[head, word])}"
                misc[word] = f"{prob}|{misc[word]}" if word in misc else prob
                if distribution.labels and labels is not None and deprel in distribution.labels.names:
                    given = labels[head, word, distribution.labels.names.index(deprel)]
                    misc[word] += f"|LabelProb={probability(given)}"
        if self.estimate:
            return block.fresh().with_notes(misc)
        comments = [f"# entropy = {distribution.entropy():.6f}"]
        tree = np.array([[-1 if head is None else head for head in heads]], dtype=np.int32)
        log_prob = float(distribution.log_probs(tree)[0])
        if np.isfinite(log_prob):
            own = [f"# tree_logprob = {log_prob:.6f}", f"# tree_prob = {probability(np.exp(log_prob), 6)}"]
            comments = [*own, *comments]
        return block.fresh().with_notes(misc, comments)


@dataclass(frozen=True, eq=False, slots=True)
class MatrixAsRead:
    """A matrix of marginals with the shape and orientation read, and fields of a line of JSON on its two sides."""

    record: Sentence
    matrix: Float
    before: Mapping[str, Any] = field(default_factory=dict)
    behind: Mapping[str, Any] = field(default_factory=dict)

    def arrays(self) -> list[tuple[str, Float, str]]:
        return [(self.record.key or self.record.sent_id, self.matrix, "")]

    def to_jsonl(self) -> bytes:
        marginals = {"marginals": self.matrix.tolist()}
        return dump({"sent_id": self.record.sent_id, **self.before, **marginals, **self.behind})


HELP = """Compute the probability of every arc. The probabilities of a word's heads sum to 1.

Writes JSON Lines: a matrix per sentence, with rows for heads if `orient` is head-dep, else for dependents. TSV has a
row per arc: sent_id, word, form, head, head_form, prob. -o FILE.npz (.npy, .safetensors) writes arrays in the layout of
the scores. --conllu adds HeadProb to MISC of words that have a HEAD, and the comments tree_logprob, tree_prob and
entropy (nats).

With --labels it writes the probability of every arc with every label, on the last axis (the first, if the scores have
it there), and LabelProb in MISC: the probability of HEAD with DEPREL.

If rules need whole trees, probabilities are shares of -k sampled trees that obey. JSON Lines then have standard_errors,
iterations (the number of trees) and acceptance, the share of sampled trees that obey; CoNLL-U lacks the comments."""

# How many trees that obey marginals are shares of, unless told otherwise.
SIZE = 1000


@command(help=HELP)
def marginals(
    scores: Scores = use(Scores, rules=rules("Only trees that obey these rules")),
    head_sets: bool = flag(
        "--head-sets", help="Write the set of heads of each word, by the threshold in the FILE of --temperature."
    ),
    coverage: float | None = opt(
        "--coverage",
        type=FloatRange(0, 1, min_open=True, max_open=True),
        often=False,
        metavar="SHARE",
        needs=["head_sets"],
        help="For --head-sets: one of the coverages in FILE.  [default: the first]",
    ),
    above: float | None = opt(
        "--above", type=FloatRange(0, 1, max_open=True), metavar="P", help="Write rows of arcs more probable than P."
    ),
    size: int | None = options.size(
        None, "Under rules that need whole trees: trees to sample.", str(SIZE), often=False
    ),
    seed: int = options.seed(),
    out: Out = use(Out, formats=("jsonl", "conllu", "tsv", ARRAYS)),
    run: Run = use(Run),
) -> int:
    need_trees = scores.rules is not None and (scores.rules.need_trees or scores.rules.in_misc)
    if size and not need_trees:
        raise click.UsageError("-k needs rules that only whole trees decide. Remove it: these marginals are exact.")
    if head_sets and not scores.how.temperature.place:
        raise click.UsageError("--head-sets needs the threshold that deptree calibrate found: --temperature FILE.")
    sets = scores.how.temperature.head_set(coverage) if head_sets else None
    drawn = {"size": size or SIZE, "seed": seed} if need_trees else {"size": None, "seed": None}
    last = {**drawn, "coverage": sets and sets[0], "threshold": sets and repr(sets[1]), "above": above}
    job = Job("marginals", scores.source(run), run, out, last=last)
    if drawn["size"]:
        shown = counted(drawn["size"], "drawn tree")
        run.warn("shares", f"where rules need whole trees, marginals are shares of {shown} (-k)")
    work = Marginals(_shown(job.encoder, above, head_sets), drawn["size"], sets and sets[1])
    return job.write(work, drawn["seed"], Sheet(LABELLED if scores.how.labels else COLUMNS))


# What is written of a sentence's marginals.
Shown = Callable[[ArcMarginals], Any]


def _shown(encoder: Encoder, above: float | None, sets: bool) -> Shown:
    """What a format has of marginals: rows of arcs, the sentence, or a matrix; `sets`: with sets of heads."""
    if encoder not in (JSONL, TSV):
        check_effect(["above"], f"TSV or JSON Lines, but the output is {encoder.name}")
    in_rows = encoder is TSV or above is not None
    if sets and (in_rows or encoder not in (JSONL, CONLLU)):
        raise click.UsageError("--head-sets are written to JSON Lines or CoNLL-U, not to arrays or rows of arcs.")
    if in_rows:
        return partial(ArcMarginals.rows, above=above)
    return {JSONL: ArcMarginals.in_json, CONLLU: unchanged}.get(encoder, ArcMarginals.in_arrays)


@dataclass(frozen=True)
class Marginals:
    """Shows marginals of a sentence; where rules need whole trees they are shares of `size` drawn ones."""

    shown: Shown
    size: int | None = None
    limit: float | None = None

    @property
    def in_batches(self) -> bool:
        return self.shown in (ArcMarginals.in_json, ArcMarginals.in_arrays) and self.limit is None

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> Any:
        if found := sentence.ask(matrices_of_many):
            return found
        labels = sentence.distribution.labels
        if self.size is None or not sentence.constrained.rules:
            arcs = sentence.distribution.marginals()
            exact = ArcMarginals(sentence, arcs, labels.marginals(arcs) if labels else None, limit=self.limit)
            return self.shown(exact)
        drawn = sentence.constrained.draw(self.size, rng, SAMPLERS.get("auto"))
        of_arcs = shares(drawn.heads)
        both = shares(drawn.heads, labels=drawn.labels, names=len(labels.names)) if labels else None
        of_labels = both.expectations if both else None
        estimated = of_arcs.expectations, of_labels, both or of_arcs, drawn.acceptance, self.limit
        return self.shown(ArcMarginals(sentence, *estimated))


def matrices_of_many(sentences: ScoredBatch, _: None) -> list[MatrixAsRead]:
    trees, layouts = sentences.trees, sentences.layout.fields()
    before = ({"n": n, **layout} for n, layout in zip(trees.lengths.tolist(), layouts, strict=True))
    return list(map(MatrixAsRead, sentences.records, sentences.as_read(trees.marginals), before))
