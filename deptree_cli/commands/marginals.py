"""``deptree marginals``: marginals of a sentence, and what each format has of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import FloatRange, check_effect, command, flag, opt, use
from deptree_cli.cli.rule_options import rules
from deptree_cli.cli.run import Job, Run
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.write import Out
from deptree_cli.core import calibration
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.monte_carlo import MonteCarloEstimate, shares
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.io.conllu.columns import probability
from deptree_cli.io.conllu.trees import Style, rounded
from deptree_cli.io.encoders import ARRAYS
from deptree_cli.io.encoders.base import CONLLU, JSONL, TSV, Row, Sheet
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.layout import from_head_dep, layout_fields
from deptree_cli.io.scores.records import ScoredSentence, Temperature
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch

COLUMNS = ("sent_id", "word", "form", "head", "head_form", "prob")
LABELLED = (*COLUMNS[:-1], "label", "prob")

ROOT = "ROOT"


@dataclass(frozen=True, eq=False)
class ArcMarginals:
    """The marginals of a sentence, (n+1, n+1), and of its arcs with labels, (n+1, n+1, L).

    `estimate` and `acceptance`: of shares of drawn trees that obey; `limit`: the threshold of sets of heads, if wanted.
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

    def rows(self, above: float) -> list[Row]:
        """A row for each arc of a probability above a limit, or for each of its labels, by word and then by head."""
        labels, block = self.sentence.distribution.labels, self.sentence.record.block
        by_word = (self.arcs if self.labelled is None else self.labelled).swapaxes(0, 1)
        words, heads, *numbers = np.nonzero(by_word > above)
        forms = [ROOT, *(block.column("form") if block else [None] * (len(by_word) - 1))]
        names = [[labels.names[number] for number in numbers[0].tolist()]] if labels and numbers else []
        probs = by_word[words, heads, *numbers].tolist()
        rows = (
            (self.sentence.id, word, forms[word], head, forms[head], *label, prob)
            for word, head, *label, prob in zip(words.tolist(), heads.tolist(), *names, probs, strict=True)
        )
        return [dict(zip(LABELLED if names else COLUMNS, row, strict=True)) for row in rows]

    def to_jsonl(self) -> bytes:
        sentence, labels, estimate = self.sentence, self.sentence.distribution.labels, self.estimate
        row: dict[str, Any] = {"sent_id": sentence.id, "n": sentence.n} | ({"labels": labels.names} if labels else {})
        row |= layout_fields(sentence.interpretation.layout, sentence.record.scores.shape)
        row["marginals"] = self._as_read(self.arcs if self.labelled is None else self.labelled).tolist()
        row |= {} if self.limit is None else {"head_sets": self.head_sets}
        if estimate is not None:
            if estimate.standard_errors is not None:
                row["standard_errors"] = self._as_read(estimate.standard_errors).tolist()
            row |= {"iterations": estimate.iterations, "acceptance": rounded(self.acceptance or 0.0)}
        return dump(row)

    def arrays(self) -> list[tuple[str, Float, str]]:
        labels, found = self.sentence.distribution.labels, self.arcs
        if labels is not None and self.labelled is not None:
            found = self.labelled[..., : len(labels.scored)]
        return [(self.sentence.record.key or self.sentence.id, self._as_read(found), "")]

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
        comments = list[str]()
        if not self.estimate:
            tree = np.array([[-1 if head is None else head for head in heads]], dtype=np.int32)
            log_prob = float(distribution.log_probs(tree)[0])
            if np.isfinite(log_prob):
                comments += [f"# tree_logprob = {log_prob:.6f}", f"# tree_prob = {probability(np.exp(log_prob), 6)}"]
            comments.append(f"# entropy = {distribution.entropy():.6f}")
        return block.fresh().with_notes(misc, comments)


@dataclass(frozen=True, eq=False, slots=True)
class MatrixAsRead:
    """A matrix of marginals with the shape and orientation read, and fields of a line of JSON in front of it."""

    record: Sentence
    matrix: Float
    before: Mapping[str, Any]

    def arrays(self) -> list[tuple[str, Float, str]]:
        return [(self.record.key or self.record.sent_id, self.matrix, "")]

    def to_jsonl(self) -> bytes:
        return dump({"sent_id": self.record.sent_id, **self.before, "marginals": self.matrix.tolist()})


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
    sets = _head_set(scores.how.temperature, coverage) if head_sets else None
    drawn = {"size": size or SIZE, "seed": seed} if need_trees else {"size": None, "seed": None}
    last = {**drawn, "coverage": sets and sets[0], "threshold": sets and repr(sets[1]), "above": above}
    job = Job("marginals", scores.source(run), run, out, last=last)
    if drawn["size"]:
        shown = counted(drawn["size"], "drawn tree")
        run.warn("shares", f"where rules need whole trees, marginals are shares of {shown} (-k)")
    if job.encoder not in (JSONL, TSV):
        check_effect(["above"], f"TSV or JSON Lines, but the output is {job.encoder.name}")
    in_rows = job.encoder is TSV or above is not None
    if sets and (in_rows or job.encoder not in (JSONL, CONLLU)):
        raise click.UsageError("--head-sets are written to JSON Lines or CoNLL-U, not to arrays or rows of arcs.")
    together = not (in_rows or sets or job.encoder is CONLLU)
    work = Marginals(drawn["size"], sets and sets[1], (above or 0.0) if in_rows else None, together)
    return job.write(work, drawn["seed"], Sheet(LABELLED if scores.how.labels else COLUMNS))


def _head_set(calibration: Temperature, coverage: float | None) -> tuple[float, float]:
    """A coverage and its threshold: the one that is asked for, or the first."""
    known, place = calibration.thresholds, calibration.place
    if not known:
        raise DeptreeError("there are no sets of heads", "Run deptree calibrate with --coverage 0.9", place=place)
    asked = next(iter(known)) if coverage is None else coverage
    if asked not in known:
        listed = ", ".join(f"{each:g}" for each in known)
        raise DeptreeError(f"there is no coverage of {asked:g}", f"Choose from {listed}", place=place)
    return asked, known[asked]


@dataclass(frozen=True)
class Marginals:
    """Marginals of a sentence, or rows of those `above` a limit; where rules need it shares of `size` drawn trees."""

    size: int | None
    limit: float | None
    above: float | None
    in_batches: bool

    def __call__(self, sentence: ScoredSentence, rng: np.random.Generator) -> Any:
        if found := sentence.ask(matrices_of_many):
            return found
        labels = sentence.distribution.labels
        if self.size is None or not sentence.constrained.rules:
            arcs = sentence.distribution.marginals()
            found = ArcMarginals(sentence, arcs, labels.marginals(arcs) if labels else None, limit=self.limit)
        else:
            drawn = sentence.constrained.draw(self.size, rng, SAMPLERS.get("auto"))
            of_arcs = shares(drawn.heads)
            both = shares(drawn.heads, labels=drawn.labels, names=len(labels.names)) if labels else None
            estimated = of_arcs.expectations, both.expectations if both else None, both or of_arcs
            found = ArcMarginals(sentence, *estimated, drawn.acceptance, self.limit)
        return found if self.above is None else found.rows(self.above)


def matrices_of_many(sentences: ScoredBatch, _: None) -> list[MatrixAsRead]:
    trees, layout = sentences.trees, sentences.layout
    before = ({"n": n, **fields} for n, fields in zip(trees.lengths.tolist(), layout.fields(), strict=True))
    return list(map(MatrixAsRead, sentences.records, layout.from_head_dep(trees.marginals), before))
