"""``deptree inspect``: how scores are read, what they are like, and whether gold heads fit another layout better."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import product, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.cli.options import command, use
from deptree_cli.cli.run import Job, OneRow, Run
from deptree_cli.cli.score_options import Scores, gold
from deptree_cli.cli.terminal import message
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.distribution import TreeDistribution
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
    from deptree_cli.io.scores.batches import ReadAlike, ScoredBatch


# How much better, in nats a word, gold heads must fit another layout for the one read to be called wrong. On trained
# parsers the right layout is several nats ahead.
MARGIN = 0.5

# Log-probability per word of a sentence's tree, by the name of the layout's fit.
Fits = dict[str, float]


def fits(sentence: ScoredSentence) -> Fits:
    """How well the tree of the CoNLL-U fits under each layout that the array allows; nothing where there is none."""
    heads, read = sentence.record.known_heads[None], sentence.interpretation.layout
    if not heads.size or (heads < 0).any() or not sentence.distribution.space.contains(heads)[0]:
        return {}
    (used, _), *others = _candidates(read, read.is_square(sentence.record.scores.shape)).items()
    alone = {
        name: _log_prob_per_word(sentence.interpretation, sentence.record, layout, heads) for name, layout in others
    }
    return {used: _per_word(sentence.distribution, heads), **alone}


def fits_of_many(batch: ScoredBatch, how: Interpretation) -> list[Fits]:
    """The same of each sentence of a batch, which was read so."""
    from deptree_cli.io.scores.batches import ReadAlike  # loads kernels: when there is work

    trees, found = [_known_tree(record) for record in batch.records], [Fits() for _ in batch.records]
    own = batch.trees.log_probs_of(trees, batch.trees.log_partition_parts())
    for square in (True, False):
        some = [at for at, each in enumerate(own) if (each > -np.inf).any() and batch.layout.is_square[at] == square]
        if not some:
            continue
        (used, _), *others = _candidates(how.layout, square).items()
        for at in some:
            found[at][used] = float(own[at][0]) / trees[at].size
        read, chosen = ReadAlike.of([batch.records[at] for at in some]), [trees[at] for at in some]
        for name, layout in others:
            for at, value in zip(some, _log_probs_per_word(how, read, chosen, layout), strict=True):
                found[at][name] = value
    return found


def _known_tree(record: Sentence) -> Heads:
    """The known heads, (1, n), or (0, n) where they are not all known."""
    heads = record.known_heads
    return heads[None] if heads.size and heads.min() >= 0 else np.empty((0, record.n), dtype=np.int32)


def _log_probs_per_word(how: Interpretation, read: ReadAlike, trees: Sequence[Heads], layout: Layout) -> list[float]:
    """What `_log_prob_per_word` is of each: of those that this layout lets be worked on together, at once."""
    batch, found = read.batch(layout, how.space, how.temperature.arcs, range(len(trees))), dict[int, float]()
    if batch is not None:
        given = [trees[place] for place in batch.places]
        log_probs = batch.trees.log_probs_of(given, batch.trees.log_partition_parts())
        per_word = (float(each[0]) / tree.size for each, tree in zip(log_probs, given, strict=True))
        found.update(zip(batch.places, per_word, strict=True))
    return [
        found[at] if at in found else _log_prob_per_word(how, record, layout, tree)
        for at, (record, tree) in enumerate(zip(read.records, trees, strict=True))
    ]


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


def _log_prob_per_word(how: Interpretation, record: Sentence, layout: Layout, heads: Heads) -> float:
    """That of a tree (1, n) under another layout; -inf where that allows no tree, or not this one."""
    try:
        return _per_word(how.distribution(record.scores, record, layout), heads)
    except DeptreeError:
        return -np.inf


def _per_word(distribution: TreeDistribution, heads: Heads) -> float:
    return float(distribution.tree_log_probs(heads)[0]) / heads.size


def better_layout(means: Fits, read: Layout) -> str:
    """What to pass instead, if gold heads fit another layout far better than the one read; else nothing."""
    if not means:
        return ""
    layouts = _candidates(read, square=True) | _candidates(read, square=False)
    best, used = max(means, key=means.__getitem__), next(iter(means))
    if means[best] - means[used] < MARGIN or not np.isfinite(means[best]):
        return ""
    better, usual = layouts[best], layouts[used]
    better_ones = [getattr(better, name) for name in CHOICES if getattr(better, name) != getattr(usual, name)]
    gain = f"mean log-probability {means[best]:.2f} instead of {means[used]:.2f} per word"
    fitting = " and ".join(better_ones)
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
    layout, found = scores.how.layout, Overview(scores.how.layout, why)
    empty = DeptreeError("there are no sentences to look at", "Check the file", place=scores.name)
    job = Job("inspect", scores.source(run), run, replace(out, single=True))
    code = job.summarise(Inspect(scores.how), OneRow(found, empty), Sheet(title=scores.name))
    if found.without_tree and not run.quiet:
        which = counted(found.without_tree, "sentence")
        message(f"{which} left out of log_prob_per_word: gold heads that are incomplete or not a possible tree")
    if advice := better_layout(found.means, layout):
        message(advice)
    return 1 if advice else code


def _not_weights(scores: Scores) -> str:
    """Why these are no weights, if nobody said what they are; nothing if they may be, or cannot be read twice."""
    layout, files = scores.how.layout, [replace(each, source=ScoreSource(each.source.path)) for each in scores.files]
    if not layout.scale and all(is_rereadable(path) for each in files for path in each.paths):
        with suppress(DeptreeError):  # told where they are read again
            for each in ScoreStream(files, layout):
                if isinstance(each, Sentence) and to_head_dep(each.scores, layout).min() < 0:
                    return f"{each.place} has negative numbers, which weights cannot be"
    return ""


class SentenceFacts(NamedTuple):
    n: int
    shape: str
    longer_axis: int
    type: str
    numbers: Peakedness
    fits: Fits
    has_heads: bool

    @classmethod
    def of(cls, record: Sentence, layout: Layout, numbers: Peakedness, fitting: Fits) -> SentenceFacts:
        n, (rows, columns) = record.n, layout.arcs(record.scores.shape)
        shape, has_heads = _shape_of(rows > n, columns > n, layout.labels), bool((record.known_heads >= 0).any())
        return cls(n, shape, rows - columns, _name_of(record.scores.dtype), numbers, fitting, has_heads)


@cache
def _shape_of(root_in_rows: bool, root_in_columns: bool, labels: str | None) -> str:
    """A shape in words, of arcs with ROOT among the rows or the columns and an axis of labels somewhere."""
    arcs = ["n+1" if root else "n" for root in (root_in_rows, root_in_columns)]
    return f"({', '.join(['L'] * (labels == 'first') + arcs + ['L'] * (labels == 'last'))})"


_name_of = cache(str)  # of dtypes: NumPy takes ten microseconds over it


@dataclass(frozen=True)
class Inspect:
    how: Interpretation

    in_batches = True

    def __call__(self, sentence: ScoredSentence, _: None) -> tuple[SentenceFacts]:
        found = sentence.ask(self.many)
        if found is None:
            numbers = peakedness(sentence.distribution)
            found = SentenceFacts.of(sentence.record, self.how.layout, numbers, fits(sentence))
        return (found,)

    def many(self, sentences: ScoredBatch, _: None) -> list[SentenceFacts]:
        found = peakednesses(sentences.trees), fits_of_many(sentences, self.how)
        return list(map(SentenceFacts.of, sentences.records, repeat(self.how.layout), *found))


class Overview:
    """The sentences of a file that is laid out so: of each what is needed for means and medians, as numbers."""

    def __init__(self, layout: Layout, not_weights: str) -> None:
        self._layout, self._scale = layout, f"log (assumed: {not_weights})" if not_weights else None
        self._words = self._longest = self._forbidden = self.without_tree = 0
        self._lowest, self._highest, self._normalised = np.inf, -np.inf, True
        self._shapes, self._types, self._longer_axes = set[str](), set[str](), set[int]()
        self._shares = {name: array("d") for name in SHARES}
        self._fits: dict[str, array[float]] = {}

    def add(self, facts: SentenceFacts) -> None:
        numbers = facts.numbers
        self._words, self._longest = self._words + facts.n, max(self._longest, facts.n)
        self._lowest, self._highest = min(self._lowest, numbers.lowest), max(self._highest, numbers.highest)
        self._forbidden, self._normalised = self._forbidden + numbers.forbidden, self._normalised and numbers.normalised
        self._shapes.add(facts.shape)
        self._types.add(facts.type)
        self._longer_axes.add(facts.longer_axis)
        for shares, share in zip(self._shares.values(), numbers[-len(SHARES) :], strict=True):
            shares.append(share)
        self.without_tree += facts.has_heads and not facts.fits
        for name, fit in facts.fits.items():
            if name not in self._fits:
                self._fits[name] = array("d")
            self._fits[name].append(fit)

    @property
    def means(self) -> Fits:
        """The mean of each fit of gold heads over the sentences that have it; -inf where one cannot have its tree."""
        return {name: float(np.mean(found)) for name, found in self._fits.items()}

    def row(self) -> dict[str, Any]:
        layout, shares = self._layout, self._shares
        return {
            "sentences": len(shares["entropy"]),
            "words": self._words,
            "longest": self._longest,
            "shapes": ", ".join(sorted(self._shapes)),
            "type": ", ".join(sorted(self._types)),
            "preset": layout.name or "none",
            **_answers(self._longer_axes, layout) | ({"scale": self._scale} if self._scale else {}),
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
