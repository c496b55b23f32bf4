"""A batch of tree distributions as PyTorch sees it: shapes, support, sums and log-probabilities."""

from __future__ import annotations

from typing import Any, NamedTuple, Self, Unpack

import torch
from torch import Tensor
from torch.distributions import Distribution, constraints
from torch.distributions.utils import lazy_property

from deptree_cli.core.batches.blocks import require_precision
from deptree_cli.core.errors import DeptreeError, one_of
from deptree_cli.core.spaces import Short, SpaceLike, tree_space
from deptree_cli.torch import operators, ops
from deptree_cli.torch.shifted import Shifted, at_most_zero, shift, tree_scores, wide
from deptree_cli.torch.trees import TreeSupport, arcs_to_heads, checked_lengths, word_mask

EVENTS = ("heads", "arcs")


class Sums(NamedTuple):
    """What is summed up of all sentences, float64: log Z of shifted scores, (B,), and marginals, (B, N, N)."""

    log_z: Tensor
    marginals: Tensor


class BatchDistribution(Distribution):
    """What a `TreeDistribution` is made of, its shapes and its sums: see there for the arguments."""

    arg_constraints = {"log_scores": constraints.dependent, "lengths": constraints.positive_integer}  # noqa: RUF012

    def __init__(
        self,
        log_scores: Tensor,
        lengths: Tensor | None = None,
        space: SpaceLike = None,
        *,
        event: str = "heads",
        precision: str = "float64",
        validate_args: bool | None = None,
        **short: Unpack[Short],
    ) -> None:
        if event not in EVENTS:
            raise DeptreeError(f"unknown event {event!r}", one_of(EVENTS))
        self.space = tree_space(space, **short)
        require_precision(precision)
        self.lengths = checked_lengths(log_scores, lengths)
        self.log_scores, self.event, self.precision = log_scores, event, precision
        event_shape = log_scores.shape[-1:] if event == "heads" else log_scores.shape[-2:]
        super().__init__(log_scores.shape[:-2], event_shape, validate_args)

    @property
    def nodes(self) -> int:
        """The number of nodes, N: words of the longest sentence, and ROOT."""
        return self.log_scores.shape[-1]

    @constraints.dependent_property(is_discrete=True)
    def support(self) -> TreeSupport:
        """The constraint that values are trees of the space; forbidden arcs are allowed, with log-probability -inf."""
        return TreeSupport(self.lengths, self.space, self.event)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Self:
        """Return the distribution broadcast to a larger batch shape."""
        shape = torch.Size(batch_shape)
        scores = self.log_scores.expand(shape + self.log_scores.shape[-2:])
        return self._with(scores, self.lengths.expand(shape), _instance)

    def __getitem__(self, index: Any) -> Self:
        """Return the distributions of some sentences; the index is one into the batch shape."""
        which = torch.arange(self.lengths.numel(), device=self.lengths.device).reshape(self.batch_shape)[index]
        return self._with(self._flat_scores[which], self._flat_lengths[which])

    def _with(self, log_scores: Tensor, lengths: Tensor, _instance: Any = None) -> Self:
        new: Self = self._get_checked_instance(BatchDistribution, _instance)  # type: ignore[no-untyped-call]
        how: dict[str, Any] = {"event": self.event, "precision": self.precision, "validate_args": False}
        BatchDistribution.__init__(new, log_scores, lengths, self.space, **how)
        new._validate_args = self._validate_args
        return new

    @property
    def _flat_scores(self) -> Tensor:
        return self.log_scores.reshape(-1, self.nodes, self.nodes)

    @property
    def _flat_lengths(self) -> Tensor:
        return self.lengths.reshape(-1)

    @lazy_property
    def _shifted(self) -> Shifted:
        return shift(wide(self._flat_scores), self._flat_lengths, self.space)

    @lazy_property
    def _sums(self) -> Sums:
        given = self._shifted.scores, self._flat_lengths, self.space.name, self.precision
        return Sums(*operators.log_partition_and_marginals(*given))

    def _to_batch_dtype(self, result: Tensor, event_dims: int = 0) -> Tensor:
        """A result (..., B, *event) in the precision and the batch shape of the scores."""
        at = result.dim() - event_dims - 1
        shape = result.shape[:at] + self.batch_shape + result.shape[at + 1 :]
        return result.reshape(shape).to(torch.promote_types(self.log_scores.dtype, torch.float32))

    @property
    def log_partition(self) -> Tensor:
        """The natural logarithm of the partition function, the sum of all trees' weights, (...,)."""
        return self._to_batch_dtype(self._sums.log_z + self._shifted.constant())

    @property
    def log_count(self) -> Tensor:
        """The natural logarithm of the number of trees without a forbidden arc, (...,)."""
        scores = self._shifted.scores.detach()
        arcs = torch.where(scores == -torch.inf, scores, 0.0)
        return self._to_batch_dtype(ops.log_partition(arcs, self._flat_lengths, self.space))

    @property
    def marginals(self) -> Tensor:
        """The probability of every arc, (..., N, N); the columns of words sum to 1."""
        return self._to_batch_dtype(self._sums.marginals, 2)

    @property
    def mean(self) -> Tensor:
        """The expectation of trees as one-hot arcs, which is the marginals; an error for trees as heads."""
        if self.event == "heads":
            raise DeptreeError("the heads of words are names, which have no mean", 'Take event="arcs"')
        return self.marginals

    def log_prob(self, value: Tensor) -> Tensor:
        """Return the log-probabilities of trees, (*sample, ...), at most 0.

        -inf for a tree with a forbidden arc and, unless arguments are validated, for heads that are no tree of the
        space.

        Args:
            value: (*sample, ..., N) heads, or (*sample, ..., N, N) arcs.
        """
        total, sound = self._scores_of(value)
        return self._to_batch_dtype(torch.where(sound, at_most_zero(total - self._sums.log_z), -torch.inf))

    def unnormalized_log_prob(self, value: Tensor) -> Tensor:
        """Return the log-weights of trees, (*sample, ...): the sums of their arcs' log-scores. See `log_prob`."""
        total, sound = self._scores_of(value)
        return self._to_batch_dtype(torch.where(sound, total + self._shifted.constant(), -torch.inf))

    def _scores_of(self, value: Tensor) -> tuple[Tensor, Tensor]:
        """The shifted scores of trees, (*sample, B) float64, and whether each is possible."""
        if self.event == "heads" and value.is_floating_point():
            raise DeptreeError(f"heads are of type {value.dtype}", "Give integers, 0 for ROOT")
        if self._validate_args:
            self._validate_sample(value)
        dims = len(self.event_shape) + len(self.batch_shape)
        sample_shape = value.shape[: max(value.dim() - dims, 0)]
        value = value.expand(sample_shape + self.batch_shape + self.event_shape)
        total, possible = self._scores_of_sound(value)
        if not self._validate_args:
            possible = possible & self.support.check(value).reshape(possible.shape)
        return total, possible

    def _scores_of_sound(self, value: Tensor) -> tuple[Tensor, Tensor]:
        """The same of values (*sample, ..., N[, N]) that need no check."""
        sample_shape = value.shape[: value.dim() - len(self.event_shape) - len(self.batch_shape)]
        heads = arcs_to_heads(value) if self.event == "arcs" else value
        heads = heads.reshape(*sample_shape, self.lengths.numel(), self.nodes)
        return tree_scores(self._shifted.scores, heads, word_mask(self._flat_lengths, self.nodes))
