"""Labels of arcs: their distribution given the tree, in which every word's label is independent of the others'.

`root` stands on the arc from ROOT and on no other; what parsers use inside (``<pad>``, ``<unk>``, ``<bos>``, ...) is
never a label of a tree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, read_only
from deptree_cli.core.errors import DeptreeError

ROOT = "root"

# <pad>, [PAD], @@PADDING@@, an underscore, nothing
_SPECIAL = re.compile(r"<.*>|\[.*\]|@@.*@@|_?")

# Between the random numbers of trees and those of their labels: labels or none, the trees are the same.
_STREAM = 1


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of a sentence's arcs.

    Attributes:
        names: of L labels; one of them is `root`.
        log_probs: (n+1, n+1, L), ``[head, dependent, label]``: the logarithm of P(label | arc), -inf for labels that an
            arc cannot have; meaningless where an arc is forbidden.
    """

    names: tuple[str, ...]
    log_probs: Float

    def __post_init__(self) -> None:
        read_only(self.log_probs)

    def __reduce__(self) -> tuple[type[Labels], tuple[tuple[str, ...], Float]]:
        return Labels, (self.names, self.log_probs)

    @cached_property
    def probs(self) -> Float:
        """P(label | arc), (n+1, n+1, L), read-only."""
        return read_only(np.exp(self.log_probs))

    def draw(self, heads: Heads, rng: np.random.Generator) -> Heads:
        """A label for every arc of k trees: heads (k, n) -> (k, n), numbers of `names`. `rng` is the sentence's stream.

        The labels of the first trees do not depend on how many there are.
        """
        from deptree_cli.kernels.trees.labels import draw_labels

        labels = np.empty_like(heads)
        draw_labels(self.probs, heads, label_stream(rng).random(heads.shape), labels)
        return labels

    def best(self, heads: Heads) -> Heads:
        """The most probable labels of k trees: heads (k, n) -> (k, n)."""
        return self.of(heads).argmax(axis=-1).astype(np.int32)

    def log_probs_of(self, heads: Heads, labels: Heads) -> Float:
        """log P(labels | tree) of k trees: (k, n) and (k, n) -> (k,)."""
        return np.take_along_axis(self.of(heads), labels[..., None], axis=-1)[..., 0].sum(axis=-1)

    def of(self, heads: Heads) -> Float:
        """log P(label | arc) of k trees' arcs: heads (k, n) -> (k, n, L)."""
        return self.log_probs[heads, np.arange(1, heads.shape[-1] + 1)]

    def marginals(self, arcs: Float) -> Float:
        """P(head, label) from the marginals of arcs: (n+1, n+1) -> (n+1, n+1, L)."""
        return np.where(arcs[..., None] > 0, self.probs * arcs[..., None], 0.0)


def label_stream(rng: np.random.Generator, *numbers: int) -> np.random.Generator:
    """A stream for labels beside a sentence's stream, whatever has been drawn from that; a stream for each numbers."""
    seed: Any = rng.bit_generator.seed_seq
    beside = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _STREAM, *numbers))
    return np.random.Generator(np.random.PCG64(beside))


def conditional(names: Sequence[str], log_scores: Float, arcs: Bool) -> Labels:
    """Labels chosen by their scores, given the arc.

    Args:
        names: of the L labels.
        log_scores: (n+1, n+1, L), ``[head, dependent, label]``; -inf forbids.
        arcs: (n+1, n+1), which are allowed.

    Raises:
        DeptreeError: an allowed arc has no label.
    """
    names, log_scores = _with_root(names, log_scores)
    labelless = arcs & ~np.isfinite(_totals(names, log_scores)[0])
    labelless[0] = False  # the arc from ROOT is called `root`, whatever its score
    if labelless.any():
        head, dependent = np.argwhere(labelless)[0]
        problem = f"the arc {head} -> {dependent} has no label with a finite score"
        raise DeptreeError(problem, "Allow one, or forbid the arc")
    log_probs = _normalised(names, log_scores)
    log_probs[0] = np.where(np.arange(len(names)) == names.index(ROOT), 0.0, -np.inf)
    return Labels(names, log_probs)


def joint(names: Sequence[str], log_scores: Float) -> tuple[Float, Float, Labels]:
    """Arcs and labels that are scored together: the log-scores of arcs (n+1, n+1), sums over their labels, what these
    round off, and labels.

    Args:
        names, log_scores: as for `conditional`.
    """
    names, log_scores = _with_root(names, log_scores)
    totals, rest = _totals(names, log_scores)
    return totals, rest, Labels(names, _normalised(names, log_scores))


def _with_root(names: Sequence[str], log_scores: Float) -> tuple[tuple[str, ...], Float]:
    """The labels with one that is called `root`.

    If the parser has none, the arc from ROOT goes by all its labels together, and is called so.
    """
    lower = [name.lower() for name in names]
    if ROOT in lower:
        at = lower.index(ROOT)
        return (*names[:at], ROOT, *names[at + 1 :]), log_scores
    added = np.full((*log_scores.shape[:2], 1), -np.inf)
    usual = [i for i, name in enumerate(names) if not _SPECIAL.fullmatch(name)]
    added[0, :, 0] = np.add(*_log_sum(log_scores[0][:, usual]))
    return (*names, ROOT), np.concatenate([log_scores, added], axis=-1)


def _allowed(names: tuple[str, ...]) -> Bool:
    """Which labels an arc may have, (2, L): from ROOT, between words."""
    usual = np.array([not _SPECIAL.fullmatch(name) for name in names])
    root = np.array(names) == ROOT
    return np.array([root, usual & ~root])


def _masked(names: tuple[str, ...], log_scores: Float) -> Float:
    from_root, between = _allowed(names)
    masked = np.where(between, log_scores, -np.inf)
    masked[0] = np.where(from_root, log_scores[0], -np.inf)
    return masked


def _totals(names: tuple[str, ...], log_scores: Float) -> tuple[Float, Float]:
    """The sums over labels, (n+1, n+1), and what they round off."""
    highest, above = _log_sum(_masked(names, log_scores))
    totals = highest + above
    with np.errstate(invalid="ignore"):
        return totals, np.where(np.isfinite(totals), above - (totals - highest), 0.0)  # above is small beside a mask


def _normalised(names: tuple[str, ...], log_scores: Float) -> Float:
    masked = _masked(names, log_scores)
    highest, above = _log_sum(masked)
    with np.errstate(invalid="ignore"):
        return (masked - highest[..., None]) - above[..., None]


def _log_sum(log_scores: Float) -> tuple[Float, Float]:
    """log(sum(exp)) over the last axis, as the highest term (0 if all are -inf) and what the others add to it."""
    highest = log_scores.max(axis=-1, initial=-np.inf)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        return highest, np.log(np.exp(log_scores - highest[..., None]).sum(axis=-1))
