"""How well gold heads fit the scores under each layout that an array may have: the right one is far ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from deptree_cli.core.dtypes import Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.layout import CHOICES, Layout
from deptree_cli.io.scores.records import ScoredSentence

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
    candidates = _candidates(read, read.is_square(sentence.record.scores.shape))
    used = next(iter(candidates))
    return {
        name: _log_prob_per_word(sentence, None if name == used else layout, heads)
        for name, layout in candidates.items()
    }


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


def _log_prob_per_word(sentence: ScoredSentence, layout: Layout | None, heads: Heads) -> float:
    """-inf where this layout allows no tree, or not this one; None is the layout it is read in."""
    distribution, record = sentence.distribution, sentence.record
    try:
        if layout is not None:
            distribution = sentence.interpretation.distribution(record.scores, record, layout)
        return float(distribution.tree_log_probs(heads)[0]) / heads.size
    except DeptreeError:
        return -np.inf


def mean_fits(found: Sequence[Fits]) -> Fits:
    """The mean of each fit over the sentences that have it; -inf where one of them cannot have its tree."""
    names = dict.fromkeys(name for fits in found for name in fits)
    return {name: float(np.mean([fits[name] for fits in found if name in fits])) for name in names}


def better_layout(means: Fits, read: Layout) -> str:
    """What to pass instead, if gold heads fit another layout far better than the one read; else nothing."""
    if not means:
        return ""
    layouts = _candidates(read, square=True) | _candidates(read, square=False)
    best, used = max(means, key=means.__getitem__), next(iter(means))
    if means[best] - means[used] < MARGIN or not np.isfinite(means[best]):
        return ""
    better, usual = layouts[best], layouts[used]
    given = [f"--{name} {getattr(better, name)}" for name in CHOICES if getattr(better, name) != getattr(usual, name)]
    gain = f"mean log-probability {means[best]:.2f} instead of {means[used]:.2f} per word"
    options = " ".join(given)
    return f"the gold heads fit {options} far better ({gain}): pass {options}"
