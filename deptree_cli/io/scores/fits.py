"""How well gold heads fit the scores under each layout that an array may have: the right one is far ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.layout import CHOICES, Layout
from deptree_cli.io.scores.presets import text_of
from deptree_cli.io.scores.records import Interpretation, ScoredSentence
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.batches import ReadAlike, ScoredBatch

FIT = "log_prob_per_word"

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
        name = FIT + f"_{orient}".replace("-", "_") * square + f"_root_{root}" * (root != read.root)
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
