"""``deptree inspect``: how scores are read, what they are like, and whether gold heads fit another layout better."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.cli.options import command, use
from deptree_cli.cli.run import Job, OneRow, Run
from deptree_cli.cli.score_options import Scores, gold
from deptree_cli.cli.terminal import message
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.peakedness import Peakedness, peakedness, peakednesses
from deptree_cli.io.encoders.base import Sheet
from deptree_cli.io.files.streams import is_rereadable
from deptree_cli.io.scores.files import ScoreSource, ScoreStream
from deptree_cli.io.scores.layout import CHOICES, Layout, text_of, to_head_dep
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ScoredBatch


# How much better, in nats a word, gold heads must fit another layout for the one read to be called wrong. On trained
# parsers the right layout is several nats ahead.
MARGIN = 0.5

# Log-probability per word of a sentence's tree, by the name of the layout's fit.
Fits = dict[str, float]


def fits(
    how: Interpretation, records: Sequence[Sentence], trees: Sequence[Heads], own: Sequence[float | None]
) -> list[Fits]:
    """How well the trees of the CoNLL-U, (1, n) each, fit under each layout that the arrays allow.

    own: the log-probabilities of these trees as they are read; None where there is none, and then no fit.
    """
    found, known = [Fits() for _ in records], {at: each for at, each in enumerate(own) if each is not None}
    for square in (True, False):
        some = {at: each for at, each in known.items() if how.layout.is_square(records[at].scores.shape) == square}
        if not some:
            continue
        (used, _), *others = _candidates(how.layout, square).items()
        chosen = [records[at] for at in some], [trees[at] for at in some]
        log_probs = {used: some.values()} | {name: _log_probs(how, *chosen, layout) for name, layout in others}
        for name, values in log_probs.items():
            for at, value in zip(some, values, strict=True):
                found[at][name] = value / records[at].n
    return found


def _log_probs(how: Interpretation, records: Sequence[Sentence], trees: Sequence[Heads], layout: Layout) -> list[float]:
    """Those of known trees under another layout: -inf where it allows no tree, or not this one."""
    batch, found = replace(how, layout=layout).batch(records), dict[int, float]()
    if batch is not None:
        log_probs = batch.trees.log_probs_of([trees[at] for at in batch.places], batch.trees.log_partition_parts())
        found = {place: float(each[0]) for place, each in zip(batch.places, log_probs, strict=True)}
    for at in {*range(len(records))} - {*found}:
        found[at], record = -np.inf, records[at]
        with suppress(DeptreeError):
            found[at] = float(how.distribution(record.scores, record, layout).tree_log_probs(trees[at])[0])
    return [found[at] for at in range(len(records))]


def _known_tree(record: Sentence) -> Heads:
    """The known heads, (1, n), or (0, n) where they are not all known."""
    heads = record.known_heads
    return heads[None] if heads.size and heads.min() >= 0 else np.empty((0, record.n), dtype=np.int32)


def _candidates(read: Layout, square: bool) -> dict[str, Layout]:
    """The layouts that a matrix may have, by the name of their fit; first the one it is read in."""
    read = read.complete
    orients = sorted(CHOICES["orient"], key=lambda orient: orient != (read.orient or CHOICES["orient"][0]))
    roots = [read.root, *({"first", "last"} - {read.root} if read.root != "diagonal" else ())]
    found = {}
    for orient, root in product(orients if square else [read.orient], roots):
        name = "log_prob_per_word" + f"_{orient}".replace("-", "_") * square + f"_root_{root}" * (root != read.root)
        found[name] = replace(read, orient=orient, root=root)
    return found


def better_layout(means: Fits, read: Layout) -> str:
    """What to pass instead, if gold heads fit another layout far better than the one read; else nothing."""
    best, used = max(means, key=means.__getitem__, default=""), next(iter(means), "")
    if not means or means[best] - means[used] < MARGIN or not np.isfinite(means[best]):
        return ""
    layouts = _candidates(read, square=True) | _candidates(read, square=False)
    better, usual = layouts[best], layouts[used]
    fitting = " and ".join(getattr(better, name) for name in CHOICES if getattr(better, name) != getattr(usual, name))
    gain = f"mean log-probability {means[best]:.2f} instead of {means[used]:.2f} per word"
    return f"the gold heads fit {fitting} far better ({gain}): pass --from {text_of(read.merged(better))}"


# What is kept of each sentence.
SHARES = Peakedness._fields[-4:]


@command()
def inspect(
    scores: Scores = use(Scores, lacks=["fix_heads"], gold=gold("The report shows how well they fit.")),
    out: Out = use(Out, formats=ROWS, has_header=False),
    run: Run = use(Run, lacks=["shard"]),
) -> int:
    """Report how a score file is interpreted (shape, orientation, scale), how certain its heads are, and the share of
    trees with one root and without crossing arcs (single-root and projective mass).

    With --gold, or heads in --conllu, it also reports how well these heads fit under each orientation and position of
    ROOT that the matrices allow (mean log-probability of the sentences' trees per word): the right layout is far ahead.
    If another layout fits better, a line on stderr names its options, and the exit status is 1. Prints a table on a
    terminal, otherwise JSON.
    """
    if why := _not_weights(scores):
        scores = replace(scores, how=replace(scores.how, layout=replace(scores.how.layout, scale="log")))
        run.warn(why, f"{why}: reading as log-scores. For other commands pass --from log")
    found = Overview(scores.how.layout, why)
    empty = DeptreeError("there are no sentences to look at", "Check the file", place=scores.name)
    job = Job("inspect", scores.source(run), run, replace(out, single=True))
    code = job.summarise(Inspect(scores.how), OneRow(found, empty), Sheet(title=scores.name))
    if found.without_tree and not run.quiet:
        which = counted(found.without_tree, "sentence")
        message(f"{which} left out of log_prob_per_word: gold heads that are incomplete or not a possible tree")
    if advice := better_layout(found.means, scores.how.layout):
        message(advice)
    return 1 if advice else code


def _not_weights(scores: Scores) -> str:
    """Why these are not weights, if nobody said what they are; nothing if they may be, or cannot be read twice."""
    layout, files = scores.how.layout, [replace(each, source=ScoreSource(each.source.path)) for each in scores.files]
    if not layout.scale and all(is_rereadable(path) for each in files for path in each.paths):
        with suppress(DeptreeError):  # told where they are read again
            for each in ScoreStream(files, layout):
                if isinstance(each, Sentence) and to_head_dep(each.scores, layout).min() < 0:
                    return f"{each.place} has negative numbers, which weights cannot be"
    return ""


class SentenceFacts(NamedTuple):
    """What is kept of a sentence; `kind` of array: how many rows and columns beyond n it has, and its type."""

    n: int
    kind: tuple[int, int, np.dtype[Any]]
    numbers: Peakedness
    fits: Fits
    has_heads: bool

    @classmethod
    def of(cls, record: Sentence, layout: Layout, numbers: Peakedness, fitting: Fits) -> SentenceFacts:
        n, (rows, columns) = record.n, layout.arcs(record.scores.shape)
        has_heads = bool((record.known_heads >= 0).any())
        return cls(n, (rows - n, columns - n, record.scores.dtype), numbers, fitting, has_heads)


@dataclass(frozen=True)
class Inspect:
    how: Interpretation

    in_batches = True

    def __call__(self, sentence: ScoredSentence, _: None) -> tuple[SentenceFacts]:
        found = sentence.ask(self.many)
        if found is None:
            distribution, tree = sentence.distribution, _known_tree(sentence.record)
            possible = distribution.space.contains(tree).any()
            own = float(distribution.tree_log_probs(tree)[0]) if possible else None
            fitting = fits(self.how, [sentence.record], [tree], [own])[0]
            found = SentenceFacts.of(sentence.record, self.how.layout, peakedness(distribution), fitting)
        return (found,)

    def many(self, sentences: ScoredBatch, _: None) -> list[SentenceFacts]:
        records, batch = sentences.records, sentences.trees
        numbers = peakednesses(batch)  # first: it sums up marginals, of which log Z is a part
        trees = [_known_tree(record) for record in records]
        log_probs = batch.log_probs_of(trees, batch.log_partition_parts())
        own = [float(each[0]) if (each > -np.inf).any() else None for each in log_probs]
        fitting = fits(self.how, records, trees, own)
        return list(map(SentenceFacts.of, records, repeat(self.how.layout), numbers, fitting))


class Overview:
    """The sentences of a file that is laid out so: of each what is needed for means and medians, as numbers."""

    def __init__(self, layout: Layout, not_weights: str) -> None:
        self._layout, self._scale = layout, f"log (assumed: {not_weights})" if not_weights else None
        self._words = self._longest = self._forbidden = self.without_tree = 0
        self._lowest, self._highest, self._normalised = np.inf, -np.inf, True
        self._kinds = set[tuple[int, int, np.dtype[Any]]]()
        self._shares = {name: array("d") for name in SHARES}
        self._fits: dict[str, array[float]] = defaultdict(lambda: array("d"))

    def add(self, facts: SentenceFacts) -> None:
        numbers = facts.numbers
        self._words, self._longest = self._words + facts.n, max(self._longest, facts.n)
        self._lowest, self._highest = min(self._lowest, numbers.lowest), max(self._highest, numbers.highest)
        self._forbidden, self._normalised = self._forbidden + numbers.forbidden, self._normalised and numbers.normalised
        self._kinds.add(facts.kind)
        for shares, share in zip(self._shares.values(), numbers[-len(SHARES) :], strict=True):
            shares.append(share)
        self.without_tree += facts.has_heads and not facts.fits
        for name, fit in facts.fits.items():
            self._fits[name].append(fit)

    @property
    def means(self) -> Fits:
        """The mean of each fit of gold heads over the sentences that have it; -inf where one cannot have its tree."""
        return {name: float(np.mean(found)) for name, found in self._fits.items()}

    def row(self) -> dict[str, Any]:
        layout, shares, labels = self._layout, self._shares, ["L"] * (self._layout.labels is not None)
        arcs = [["n+1" if more else "n" for more in kind[:2]] for kind in self._kinds]
        shapes = [", ".join(labels + each if layout.labels == "first" else each + labels) for each in arcs]
        return {
            "sentences": len(shares["entropy"]),
            "words": self._words,
            "longest": self._longest,
            "shapes": ", ".join(sorted({f"({each})" for each in shapes})),
            "type": ", ".join(sorted({str(dtype) for *_, dtype in self._kinds})),
            "preset": layout.name or "none",
            **_answers({rows - columns for rows, columns, _ in self._kinds}, layout),
            **({"scale": self._scale} if self._scale else {}),
            "lowest_log_score": self._lowest,
            "highest_log_score": self._highest,
            "forbidden_arcs": self._forbidden,
            "weights_sum_to_1": self._normalised,
            "mean_best_head_probability": float(np.mean(shares["best_head"])),
            "mean_entropy_per_word": float(np.mean(shares["entropy"])),
            **_masses("single_root_mass", shares["single_root_mass"]),
            **_masses("projective_mass", shares["projective_mass"]),
            **{name: fit if np.isfinite(fit) else None for name, fit in self.means.items()},
        }


def _answers(longer_axes: set[int], layout: Layout) -> dict[str, str]:
    """How the matrices are read; what nobody said is marked."""
    found = {name: getattr(layout, name) or f"{answers[0]} (assumed)" for name, answers in CHOICES.items()}
    by_shape = {-1: "dep-head (by shape)", 1: "head-dep (by shape)"}
    return found | {"orient": by_shape.get(max(longer_axes), found["orient"])} if len(longer_axes) == 1 else found


def _masses(name: str, masses: array[float]) -> dict[str, float]:
    mean, median = float(np.mean(masses)), float(np.median(masses))
    return {f"{name}_mean": mean, f"{name}_median": median, f"{name}_min": min(masses)}
