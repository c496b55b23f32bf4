"""Log-scores as sums want them: in float64, with nothing that does not count, and free of offsets."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from deptree_cli.core.scores import MASK
from deptree_cli.core.spaces.rules import Rules
from deptree_cli.core.spaces.shifted import constant_of, shift_batch
from deptree_cli.torch.trees import arc_mask


class Shifted(NamedTuple):
    """Log-scores less a constant for each word, so that the highest are 0: no distribution changes by it.

    Attributes:
        scores: (B, N, N) float64, -inf where there is no arc: outside sentences too.
        parts: (B, N) float64, what log Z loses by the shift: no gradient passes through it, as none has to.
    """

    scores: Tensor
    parts: Tensor

    # Methods, as torch.compile of PyTorch 2.10 cannot follow a property of a tuple.
    def constant(self) -> Tensor:
        """Return the sum of what log Z loses, (B,)."""
        found: Tensor = constant_of(torch, self.parts)
        return found

    def finite(self) -> Tensor:
        """Return the scores with 0 where there is no arc, so that a marginal of 0 times it is 0."""
        return self.scores.masked_fill(self.scores == -torch.inf, 0.0)


def wide(log_scores: Tensor) -> Tensor:
    """Return log-scores in float64, or in float32 on devices that have nothing wider."""
    return log_scores.to(torch.float32 if log_scores.device.type == "mps" else torch.float64)


def shift(log_scores: Tensor, lengths: Tensor, space: Rules) -> Shifted:
    """Shift log-scores (B, N, N), each word's column to a maximum of 0, as `core/spaces/shifted.py` does.

    Under the single-root constraint the maximum is over words as heads, and ROOT's row is shifted as a whole: ROOT may
    score far below words without a loss of digits.
    """
    given = wide(log_scores)
    scores = given.masked_fill(~arc_mask(lengths, given.shape[-1]) | (given <= -MASK), -torch.inf)
    below, parts = shift_batch(torch, scores.detach(), space.single_root)
    finite = scores.masked_fill(below == -torch.inf, 0.0)
    return Shifted(below + (finite - finite.detach()), parts)


def tree_scores(scores: Tensor, heads: Tensor, words: Tensor, forbidden: float = -torch.inf) -> tuple[Tensor, Tensor]:
    """Return the sums of the scores of trees' arcs, (..., B), and whether no arc of theirs is forbidden, (..., B) bool.

    Forbidden arcs count 0, so that no gradient passes through them.

    Args:
        scores: (B, N, N).
        heads: (..., B, N) integers; those outside 0 to N - 1 are read as the nearest of these.
        words: (B, N) bool, whose heads count.
        forbidden: what scores forbid an arc, from there down.
    """
    sentences, nodes = words.shape
    column = torch.arange(nodes, device=scores.device)
    sentence = torch.arange(sentences, device=scores.device)[:, None]
    picked = scores.flatten()[(sentence * nodes + heads.long().clamp(0, nodes - 1)) * nodes + column]
    possible = picked > forbidden
    return torch.where(words & possible, picked, 0.0).sum(-1), (possible | ~words).all(-1)


def at_least_zero(values: Tensor) -> Tensor:
    """Return values with 0 for those that rounding took below it; gradients pass as if nothing had happened."""
    return values - values.detach().clamp(max=0.0)


def at_most_zero(values: Tensor) -> Tensor:
    """Return values with 0 for those that rounding took above it; gradients pass as if nothing had happened."""
    return values - values.detach().clamp(min=0.0)


def expected_surprisal(marginals: Tensor, shifted: Shifted, log_z: Tensor) -> Tensor:
    """Return log Z less the expected score of a tree, (B,): an entropy, or a cross-entropy of two distributions.

    Args:
        marginals: (B, N, N), of the trees that are expected.
        shifted: the scores by which they surprise.
        log_z: (B,), of these scores.
    """
    return at_least_zero(log_z - (marginals * shifted.finite()).sum((-2, -1)))
