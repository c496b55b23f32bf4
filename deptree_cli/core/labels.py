"""Labels of arcs: their distribution given the tree, in which every word's label is independent of the others'.

`root` stands on the arc from ROOT and on no other; what parsers use inside (``<pad>``, ``<unk>``, ``<bos>``, ...) is
never a label of a tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Heads, Integers, read_only
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.label_names import ROOT as ROOT
from deptree_cli.core.label_names import is_root as is_root
from deptree_cli.core.label_names import is_special as is_special
from deptree_cli.core.scores import checked_temperature
from deptree_cli.core.streams import Randomness, stream_of

# Between the random numbers of trees and those of their labels: labels or none, the trees are the same.
_STREAM = 1


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of a sentence's arcs.

    Attributes:
        names: of L labels; one of them is `root`.
        log_probs: (n+1, n+1, L), ``[head, dependent, label]``: the logarithm of P(label | arc), -inf for labels that an
            arc cannot have; meaningless where an arc is forbidden.
        id: the sentence's name, which what a seed draws depends on.
        added: how many of the names, the last ones, have no scores: an annotator's own (`core/conditioning.py`).
    """

    names: tuple[str, ...]
    log_probs: Float
    id: str = "1"
    added: int = 0

    def __post_init__(self) -> None:
        read_only(self.log_probs)

    def __reduce__(self) -> tuple[type[Labels], tuple[object, ...]]:
        return Labels, (self.names, self.log_probs, self.id, self.added)

    @property
    def scored(self) -> tuple[str, ...]:
        """The names without those that were `added`."""
        return self.names[: len(self.names) - self.added]

    @cached_property
    def best_log_probs(self) -> Float:
        """The logarithm of the probability of each arc's best label given the arc, (n+1, n+1)."""
        found: Float = self.log_probs.max(axis=2)
        return found

    @cached_property
    def probs(self) -> Float:
        """P(label | arc), (n+1, n+1, L), read-only."""
        return read_only(np.exp(self.log_probs))

    def draw(self, heads: Heads, rng: Randomness | None = None, *, seed: int | None = None) -> Heads:
        """A label for every arc of k trees: heads (k, n) -> (k, n), numbers of `names`.

        The labels of the first trees do not depend on how many there are.

        Args:
            rng, seed: a seed, which gives the labels that ``deptree sample --seed`` gives to the same trees of this id,
                or a Generator; a fresh seed if neither is given.

        Raises:
            DeptreeError: both are given, or what is given is neither.
        """
        stream = stream_of(rng, seed, self.id)
        return self.draw_by(heads, stream if stream is rng else label_stream(stream))

    def draw_by(self, heads: Heads, stream: np.random.Generator) -> Heads:
        """The same by the numbers of a stream as they come: for commands that of the sentence's `label_stream`."""
        from deptree_cli.kernels.trees import draw_labels  # loads kernels: when there is work

        labels = np.empty_like(heads)
        draw_labels(self.probs, heads, stream.random(heads.shape), labels)
        return labels

    def best(self, heads: Heads) -> Heads:
        """The most probable labels of k trees: heads (k, n) -> (k, n)."""
        return self.of(heads).argmax(axis=-1).astype(np.int32)

    def log_probs_of(self, heads: Integers, labels: Heads) -> Float:
        """log P(labels | tree) of k trees: (k, n) and (k, n) -> (k,)."""
        return np.take_along_axis(self.of(heads), labels[..., None], axis=-1)[..., 0].sum(axis=-1)

    def of_names(self, heads: Integers, names: Sequence[Sequence[str | None]]) -> tuple[Float, Float]:
        """log P(labels | tree) of k trees: heads (k, n) and n names each, None for a label that is not known.

        Returns:
            what is known of them, (k,), other labels summed out; and the same where these are the most probable.
            -inf for a label that an arc cannot have, or that is none of these.
        """
        numbers = {name: number for number, name in enumerate(self.names)}
        given = self.of(heads)
        beyond = np.concatenate([given, np.full((*given.shape[:-1], 1), -np.inf)], axis=-1)
        index = np.array([[numbers.get(name or "", len(self.names)) for name in row] for row in names])
        own = np.take_along_axis(beyond, index[..., None], axis=-1)[..., 0]
        known = np.array([[name is not None for name in row] for row in names])
        best = given.max(axis=-1)
        return np.where(known, own, 0.0).sum(axis=-1), np.where(known, own, best).sum(axis=-1)

    def with_names(self, names: Iterable[str]) -> Labels:
        """The same labels, and behind them those of the names that are not among them, which no arc has."""
        new = [name for name in dict.fromkeys(names) if name not in self.names]
        log_probs = np.pad(self.log_probs, [(0, 0), (0, 0), (0, len(new))], constant_values=-np.inf)
        return Labels((*self.names, *new), log_probs, self.id, self.added + len(new))

    def with_log_probs(self, log_probs: Float, best: Float | None = None) -> Labels:
        """The same names with other probabilities; and the best of each arc where they are known."""
        found = Labels(self.names, log_probs, self.id, self.added)
        if best is not None:
            found.__dict__["best_log_probs"] = best
        return found

    def tempered(self, temperature: float) -> Labels:
        """The same names, their log-probabilities divided by a temperature and normalised.

        Raises:
            DeptreeError: it is not a positive number, or takes scores out of range.
        """
        return self.with_log_probs(tempered_log_probs(self.log_probs, temperature))

    def of(self, heads: Integers) -> Float:
        """log P(label | arc) of k trees' arcs: heads (k, n) -> (k, n, L)."""
        return self.log_probs[heads, np.arange(1, heads.shape[-1] + 1)]

    def marginals(self, arcs: Float) -> Float:
        """P(head, label) from the marginals of arcs: (n+1, n+1) -> (n+1, n+1, L)."""
        return np.where(arcs[..., None] > 0, self.probs * arcs[..., None], 0.0)


def label_stream(rng: np.random.Generator, *numbers: int) -> np.random.Generator:
    """A stream for labels beside a sentence's stream, whatever has been drawn from that; a stream for each numbers.

    It is made of the seed, so the same stream has only one: an `offshoot` of what is used again has another.
    """
    seed: Any = rng.bit_generator.seed_seq
    beside = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, _STREAM, *numbers))
    return np.random.Generator(np.random.PCG64(beside))


def conditional(names: Sequence[str], log_scores: Float, arcs: Bool, id: str = "1") -> Labels:
    """Labels chosen by their log-scores (n+1, n+1, L), given one of the allowed `arcs`; -inf forbids."""
    names, totals, log_probs = _by_arc(names, log_scores)
    labelless = arcs & ~np.isfinite(totals)
    labelless[0] = False  # the arc from ROOT is called `root`, whatever its score
    if labelless.any():
        head, dependent = np.argwhere(labelless)[0]
        problem = f"the arc {head} -> {dependent} has no label with a finite score"
        raise DeptreeError(problem, "Allow one, or forbid the arc")
    log_probs[0] = np.where(np.arange(len(names)) == names.index(ROOT), 0.0, -np.inf)
    return Labels(names, log_probs, id)


def joint(names: Sequence[str], log_scores: Float, id: str = "1") -> tuple[Float, Labels]:
    """Log-scores of arcs, sums over labels of joint ones (n+1, n+1, L), -inf forbids, and the labels."""
    names, totals, log_probs = _by_arc(names, log_scores)
    return totals, Labels(names, log_probs, id)


def _by_arc(names: Sequence[str], log_scores: Float) -> tuple[tuple[str, ...], Float, Float]:
    """The labels with one that is called `root`; sums over those that an arc may have, (n+1, n+1); log P(label | arc).

    If the parser has no `root`, the arc from ROOT goes by all its labels together, and is called so.
    """
    usual, roots = [not is_special(name) for name in names], [at for at, name in enumerate(names) if is_root(name)]
    if roots:
        names = (*names[: roots[0]], ROOT, *names[roots[0] + 1 :])
    else:
        added = np.full((*log_scores.shape[:2], 1), -np.inf)
        added[0, :, 0] = np.add(*log_sum(log_scores[0][:, usual]))
        names, usual, log_scores = (*names, ROOT), [*usual, True], np.concatenate([log_scores, added], axis=-1)
    root = np.array(names) == ROOT
    masked = np.where(np.array(usual) & ~root, log_scores, -np.inf)
    masked[0] = np.where(root, log_scores[0], -np.inf)
    highest, above = log_sum(masked)
    with np.errstate(invalid="ignore"):
        return names, highest + above, (masked - highest[..., None]) - above[..., None]


def tempered_log_probs(log_probs: Float, temperature: float) -> Float:
    """Log-probabilities of labels, (..., L), at a temperature; arcs without a label, whose rows are -inf, stay so."""
    scores = checked_temperature(log_probs, temperature)
    highest, above = log_sum(scores)
    return (scores - highest[..., None]) - np.where(np.isfinite(above), above, 0.0)[..., None]


def log_sum(log_scores: Float) -> tuple[Float, Float]:
    """log(sum(exp)) over the last axis, as the highest term (0 if all are -inf) and what the others add to it."""
    highest = log_scores.max(axis=-1, initial=-np.inf)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        return highest, np.log(np.exp(log_scores - highest[..., None]).sum(axis=-1))
