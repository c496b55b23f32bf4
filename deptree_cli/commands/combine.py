"""``deptree combine``: the files, scores in their layouts or trees; products, mixtures, fitted weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import compress
from pathlib import Path
from typing import Any

import click
import numpy as np

from deptree_cli.cli.options import INPUT, command, flag, opt, reading, use
from deptree_cli.cli.rule_options import Space, signature_of
from deptree_cli.cli.run import Fold, Job, Pipeline, Run, Source
from deptree_cli.cli.score_options import Scores
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import Out
from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.combination import BOUNDS, consensus, fit_mixture, fit_product, majority_labels, mixture, product
from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError, counted, counted_thousands
from deptree_cli.core.monte_carlo import MonteCarloEstimate, shares
from deptree_cli.core.spaces import TreeSpace
from deptree_cli.io.conllu.blocks import in_utf8
from deptree_cli.io.conllu.columns import entries_of, no_sentences
from deptree_cli.io.conllu.splicing import Deprels, Spliced
from deptree_cli.io.conllu.trees import Style, Trees
from deptree_cli.io.encoders import ARRAYS, SCORES
from deptree_cli.io.encoders.arrays import SentenceScores
from deptree_cli.io.encoders.base import CONLLU
from deptree_cli.io.files.streams import STDIN
from deptree_cli.io.json_lines import dump
from deptree_cli.io.pairing import LOST, OPEN
from deptree_cli.io.read import trees_in
from deptree_cli.io.scores.arrays import NO_EXTRAS, Extras
from deptree_cli.io.scores.files import ScoreSource
from deptree_cli.io.scores.layout import PRESETS, QUESTIONS, Layout, from_head_dep, layout, text_of
from deptree_cli.io.scores.meta import space_of
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import format_of_trees
from deptree_cli.io.trees.sets import Member, TreeSet, read_several

TREES = "trees"


class LaidOutPath(str):
    """The path of a file, with the layout as text, or `TREES`, that the user put behind it, if there is one."""

    layout: str | None = None


def _split(path: str) -> LaidOutPath:
    """FILE:LAYOUT as a path with a layout; a file that is called so comes first."""
    front, colon, text = path.rpartition(":")
    known = text.split(",")[0] in (TREES, *PRESETS.names, *QUESTIONS)
    split = bool(colon) and not Path(path).exists() and (known or Path(front).is_file())
    found = LaidOutPath(front if split else path)
    if split:
        found.layout = text
    return found


def _member(path: LaidOutPath, usual: Layout) -> Member:
    """A file; `usual`: the layout that options ask for, for scores without one of their own."""
    kind = format_of_trees(path) if path.layout in (TREES, None) else ""
    if kind or path.layout == TREES:
        return Member(path, blocks=kind == CONLLU.name)
    source = ScoreSource(path)
    read = source.layout(layout(path.layout) if path.layout else usual)
    if read.labels:
        why = f"{read.name} has an axis of labels, but combine adds up arcs"
        raise click.UsageError(f"{why}. Sum out the labels with deptree convert.")
    return Member(path, source, read)


@dataclass(frozen=True)
class Combinable:
    read: Sentence
    members: Sequence[Any]  # ArcFactored, or TreeSet
    space: TreeSpace


@dataclass(frozen=True)
class Distributions:
    """Makes of what was read of a sentence what can be combined; picklable. `layouts`: of each file, None for trees."""

    how: Interpretation
    layouts: tuple[Layout | None, ...]

    def __call__(self, read: Sentence) -> Combinable:
        found: list[ArcFactored | TreeSet] = []
        for number, each in enumerate(self.layouts):
            item = read.companions.get(str(number), read)
            if each is None:
                found.append(item.renumbered(item.aligned, read.n))
                continue
            try:
                found.append(self.how.distribution(item.scores, read, each))
            except DeptreeError as error:
                raise error.at(item.place, read.sent_id) from None
        return Combinable(read, found, self.how.space)


# What a product is written in.
WRITTEN = Layout("head-dep", "first", "log")


def product_of(weights: Float, sentence: Combinable, _: None) -> SentenceScores:
    """The product of a sentence's distributions, by (m,) weights, laid out to be written."""
    scores = product(sentence.members, weights)
    found = ArcFactored(scores, space=sentence.space, id=sentence.read.sent_id)  # raises where no tree is left
    written = from_head_dep(found.log_scores, WRITTEN, WRITTEN.shape(found.n), WRITTEN.forbidden)
    block = sentence.read.block
    return SentenceScores(found.id, written, Extras((), in_utf8(block)) if block else NO_EXTRAS)


def mixture_of(weights: Float, sentence: Combinable, _: None) -> Mixed:
    """The mixture of a sentence's distributions and sets of trees, by (m,) weights that sum to 1."""
    members = [
        shares(each.heads, each.times) if isinstance(each, TreeSet) else MonteCarloEstimate(each.marginals())
        for each in sentence.members
    ]
    found, read = mixture(members, weights), sentence.read
    if not found.expectations.any():
        problem, remedy = "no file has a HEAD for any of its words", "Leave the sentence out with --on-error skip"
        raise DeptreeError(problem, remedy, place=read.place, sent_id=read.sent_id)
    heads = consensus(found.expectations, sentence.space)
    each_weight = zip(weights.tolist(), sentence.members, strict=True)
    sets = [(weight, each) for weight, each in each_weight if isinstance(each, TreeSet)]
    votes = [(weight, each.heads, each.times, each.labels) for weight, each in sets if each.labels]
    reasons = {"in words that files divide otherwise": LOST, "missing": OPEN}
    gapped = [each.heads for _, each in sets if each.heads.min() < 0]
    gaps = {why: sum(int((heads == kind).sum()) for heads in gapped) for why, kind in reasons.items()}
    return Mixed(read, found, heads, majority_labels(heads, votes) if votes else None, gaps)


@dataclass(frozen=True, eq=False)
class Mixed:
    """A sentence's mixture, its consensus tree, (n,) heads, and the labels of that, if there are some.

    `gaps`: how many heads of votes are none, by the reason.
    """

    read: Sentence
    mixture: MonteCarloEstimate
    heads: Heads
    labels: list[str] | None
    gaps: Mapping[str, int]

    @property
    def support(self) -> Float:
        return self.mixture.expectations[self.heads, np.arange(1, len(self.heads) + 1)]

    def to_jsonl(self) -> bytes:
        row: dict[str, Any] = {"sent_id": self.read.sent_id, "heads": self.heads.tolist()}
        if self.labels:
            row["deprels"] = self.labels
        row |= {"support": self.support.tolist(), "expected_attachment": float(self.support.mean())}
        row |= {"orient": "head-dep", "root": "first", "marginals": self.mixture.expectations.tolist()}
        errors = self.mixture.standard_errors
        return dump(row if errors is None else row | {"standard_errors": errors.tolist()})

    def to_conllu(self, style: Style) -> Spliced:
        read, labels = self.read, self.labels
        deprels = Deprels(tuple(labels), np.arange(len(labels), dtype=np.int32)[None]) if labels else None
        of_sentence = read.sent_id, read.block, self.heads[None], ()
        entries = entries_of({"HeadProb": self.support[None]})
        return Trees(*of_sentence, deprels=deprels, ranked=False, entries=entries).to_conllu(style)

    def arrays(self) -> list[tuple[str, Float, str]]:
        name, errors = self.read.sent_id, self.mixture.standard_errors
        found = [(name, self.mixture.expectations, "")]
        return found if errors is None else [*found, (name, errors, "standard_errors")]


class Gaps(Fold[Mapping[str, int]]):
    """Counts heads of votes that are none."""

    attribute = "gaps"

    def __init__(self) -> None:
        self._gaps = Counter[str]()

    def add(self, counts: Mapping[str, int]) -> None:
        self._gaps.update(counts)

    def lines(self) -> Iterator[str]:
        for what, number in self._gaps.items():
            if number:
                yield f"{counted_thousands(number, 'head')} {what}: no vote"


def _fitted(source: Source[Any, Any], mixed: bool, paths: Sequence[str], run: Run) -> list[float]:
    """The weights of files that make the gold trees of sentences, of those that have some, most probable."""
    kept, without, impossible = list[Any](), 0, 0
    for members, heads in Pipeline(source, run).map(with_gold_tree):
        log_probs = [] if heads is None else [float(each.log_prob(heads)) for each in members]
        if heads is None:
            without += 1
        elif max(log_probs) == -np.inf or (not mixed and min(log_probs) == -np.inf):
            impossible += 1
        else:
            kept.append(log_probs if mixed else (members, heads))
    if not kept:
        raise DeptreeError("no sentence has a gold tree that the files allow", "Give gold trees of these sentences")
    found = fit_mixture(np.array(kept)) if mixed else fit_product(kept)
    weights = list(map(written_weight, found.weights))
    per = f"{found.log_likelihood:.4f}, with equal weights {found.before:.4f}"
    lines = [f"--weights {','.join(weights)}: mean log-probability of {counted(len(kept), 'gold tree')} {per}"]
    lines += [f"{counted(without, 'sentence')} without a whole gold tree: not fitted to"] * bool(without)
    lines += [f"{counted(impossible, 'gold tree')} impossible by the scores: not fitted to"] * bool(impossible)
    least, most = BOUNDS
    for path, weight in zip(paths, () if mixed else found.weights, strict=False):
        if weight <= least:
            why = "Only its forbidden arcs count; 0 in --weights leaves it out."
            lines.append(f"{path}: lowest weight, {least:g}. {why}")
        elif weight >= most:
            lines.append(
                f"{path}: highest weight, {most:g}. Was this parser trained on these gold trees? Then fit to others."
            )
    for line in lines:
        run.warn(line, line)
    return list(map(float, weights))


def with_gold_tree(sentence: Combinable, _: None) -> tuple[Sequence[ArcFactored], Heads | None]:
    heads = sentence.read.gold.heads if sentence.read.gold else [None]
    return sentence.members, None if None in heads else np.array(heads, dtype=np.int32)


def checked_weights(weights: Sequence[float], size: int, mixed: bool) -> Float:
    """Weights of this many members, (size,), of a mixture divided by their sum; equal ones if there are none."""
    found = np.array(weights or [1 / size] * size, dtype=np.float64)
    if len(found) != size:
        problem = f"{counted(len(found), 'weight')} for {counted(size, 'file')}"
        raise DeptreeError(problem, "Give one for each file, in their order")
    if not (np.isfinite(found).all() and (found >= 0).all() and found.any()):
        raise DeptreeError("a weight is negative or not a number, or all are 0", "Give 0 to files that are left out")
    return found / found.sum() if mixed else found


def written_weight(weight: float) -> str:
    return f"{weight:.6g}"


PRODUCT, MIXTURE = "product", "mixture"


def _numbers(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(map(float, text.split(","))) if text else ()
    except ValueError:
        raise click.BadParameter(f"{text!r} is not a list of numbers such as 0.7,0.3.") from None


HELP = """Combine several parsers, or votes, about the same sentences.

SCORES are score files (FILE:LAYOUT if they have different layouts), or trees (CoNLL-U, or JSON Lines of sent_id and
heads), which are votes. product: weighted sums of log-scores; writes a score file for all other commands. mixture:
weighted means of arc probabilities, which are exact, and the consensus: the tree with the highest expected attachment
score.

A mixture has no arc scores. It is written as JSON Lines (heads, support, marginals, and standard_errors over
voters), as CoNLL-U with HeadProb (with --conllu, or if all are trees in CoNLL-U), or as arrays of marginals.
"""


@command(help=HELP)
def combine(
    scores: tuple[LaidOutPath, ...] = opt(many=True, type=INPUT, convert=lambda paths: tuple(map(_split, paths))),
    method: str | None = opt(
        "--method", type=click.Choice([PRODUCT, MIXTURE]), help="See above.  [default: product; with trees, mixture]"
    ),
    weights: tuple[float, ...] = opt(
        "--weights", convert=_numbers, metavar="W,W,...", help="One weight per file.  [default: equal weights]"
    ),
    fit: bool = flag(
        "--fit",
        needs=["gold"],
        without=["weights"],
        help="Find the weights that make the trees of --gold most probable, and use them.",
    ),
    gold: str | None = reading(
        "--gold",
        type=INPUT,
        often=True,
        needs=["fit"],
        help="Gold trees for --fit: the same sentences; words with HEAD _ are not used.",
    ),
    conllu: str | None = reading("--conllu", type=INPUT, often=True, help="The sentences in CoNLL-U."),
    preset: str | None = Scores.__dataclass_fields__["preset"],  # type: ignore[assignment]  # as any scores
    space: Space = use(Space),
    out: Out = use(Out, formats=("jsonl", "conllu", ARRAYS)),
    run: Run = use(Run),
) -> int:
    if fit and STDIN in (*scores, gold, conllu):
        raise click.UsageError("--fit reads all files twice, and standard input (-) can be read only once.")
    asked = layout(preset)
    members = [_member(path, asked) for path in scores]
    mixed = _is_mixture(method, members, fit)
    out = out.of_single_trees() if mixed else out.narrowed("a product, which is scores", SCORES)
    used = checked_weights(weights, len(members), mixed)
    chosen = list(compress(members, used))  # those of weight 0 are not read
    of_conllu = conllu is not None or all(each.blocks for each in chosen)
    if not (of_conllu or (chosen[0].scores and chosen[0].scores.has_words)) and out.encoder(run.output) is CONLLU:
        raise no_sentences().at(scores[0])
    if not mixed and any(each.scores and each.scores.labels for each in chosen):
        run.warn("labels", "scores of labels are left out: a product is of arcs")
    trees = _space(chosen, space)
    interpretation = Interpretation(Layout(), space=trees)

    def source(read: Sequence[Member]) -> Source[Any, Any]:
        items = Counted(read_several(read, conllu, [trees_in(gold)] if gold else [], run.warn))
        prepare = Distributions(interpretation, tuple(each.layout for each in read))
        return Source(items, prepare, _fields(members, trees), of_conllu)

    if fit:
        used = checked_weights(_fitted(source(members), mixed, scores, run), len(members), mixed)
        members = [_member(path, asked) for path in scores]  # files are read once each time they are opened
    last = {"weights": ",".join(map(written_weight, used)), "fit": gold if fit else None}
    read, positive = source(list(compress(members, used))), used[used > 0]
    if mixed:
        job, gaps = Job("combine", read, run, out, {"method": MIXTURE}, last), Gaps()
        return job.write(partial(mixture_of, positive), folds=[gaps])
    first = {"from": text_of(WRITTEN), "method": PRODUCT}
    return Job("combine", read, run, out, first, last).write(partial(product_of, positive))


def _is_mixture(method: str | None, members: Sequence[Member], fit: bool) -> bool:
    """Whether the files are mixed: if that is asked for, and if one of them is of trees."""
    trees = next((each.path for each in members if each.scores is None), None)
    if method == PRODUCT and trees is not None:
        raise click.UsageError(f"{trees} has trees, which have no scores to add up. Use --method {MIXTURE}.")
    if fit and trees is not None:
        raise click.UsageError(f"--fit needs probabilities of gold trees, and {trees} has none: give --weights.")
    return method == MIXTURE or trees is not None


def _space(members: Sequence[Member], asked: Space) -> TreeSpace:
    """The tree space that options ask for, or any of the files."""
    own = next((each.scores.meta.trees for each in members if each.scores and each.scores.meta.trees), "")
    return space_of(own, asked.space, **asked.short)


def _fields(members: Sequence[Member], space: TreeSpace) -> dict[str, object]:
    layouts = [text_of(each.layout.complete) if each.layout else TREES for each in members]
    return {"files": ",".join(each.path for each in members), "layouts": ";".join(layouts), **signature_of(space)}
