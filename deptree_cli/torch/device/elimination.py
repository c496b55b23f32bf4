"""log Z, marginals and covariances of padded batches on the device of the scores, by elimination in their precision.

Sentences for which that precision does not suffice are done again in float64 with the largest pivot first, and those
for which this does not suffice either by the kernels on the CPU, which serve every input that has a tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.errors import in_batch, name_in_batch
from deptree_cli.core.scores import MASK
from deptree_cli.torch.device.by_position import ByPosition, by_position
from deptree_cli.torch.device.dual import Dual
from deptree_cli.torch.device.sweeps import adjoints, eliminate

# Where the negative logarithms of pivots sum to less, products of weights may have left the range of numbers.
LEAST_DEPTH = {torch.float32: -60.0, torch.float64: -300.0}

# By how much columns of marginals may miss 1, and those of covariances 0.
TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-9}

# How much larger than their sum the constants of words may be, which are added up in float64.
CANCELLED = {torch.float32: 1e8, torch.float64: 1e4}

# Results for a batch, and for which of its sentences they are right.
Found = tuple[tuple[Tensor, ...], Tensor]


def log_partition(log_scores: Tensor, lengths: Tensor, single_root: bool) -> Tensor:
    """Return the logarithms of the partition functions, (B,), of log-scores (B, N, N), ``[head, dependent]``. O(N^3).

    Args:
        log_scores: float32 or float64, on any device.
        lengths: the words of each sentence, (B,) int64 on the same device, at least 1.

    Raises:
        DeptreeError: names a sentence that has no tree, or scores that are none.
    """

    def by_kernels(sentence: ArcFactored) -> tuple[float]:
        return (sentence.factorisation.log_z,)

    (log_z,) = _repaired(partial(_log_partition, single_root), by_kernels, log_scores, lengths, single_root)
    return log_z


def log_partition_and_marginals(
    log_scores: Tensor, lengths: Tensor, single_root: bool
) -> tuple[Tensor, Tensor, Tensor]:
    """Return log Z (B,), the marginals of arcs (B, N, N), exactly 0 where an arc is forbidden or padding, and log Z of
    shifted scores (B,). O(N^3).

    See `log_partition`.
    """

    def by_kernels(sentence: ArcFactored) -> tuple[float, np.ndarray, float]:
        found = sentence.factorisation
        return found.log_z, found.marginals(), found.shifted_log_z

    sums = _repaired(partial(_sums, single_root), by_kernels, log_scores, lengths, single_root)
    log_z, marginals, relative = sums
    return log_z, marginals, relative


def arc_covariance(log_scores: Tensor, lengths: Tensor, values: Tensor, single_root: bool) -> Tensor:
    """Return Cov(1[arc in tree], sum of the tree's values) of every arc, (B, N, N), 0 where forbidden or padding.

    It is the derivative of the marginals in the direction `values` (B, N, N), which are finite except where arcs are
    forbidden or padding: those do not count (Zmigrod et al. 2021b; O(N^3)). See `log_partition` for the rest.
    """

    def by_kernels(sentence: ArcFactored, own: np.ndarray) -> tuple[np.ndarray]:
        possible = np.where(sentence.support, own, 0.0)
        return (sentence.factorisation.arc_covariance(possible),)

    covariances = partial(_covariances, single_root)
    (found,) = _repaired(covariances, by_kernels, log_scores, lengths, single_root, values)
    return found


def _repaired(
    on_device: Callable[..., Found],
    by_kernels: Callable[..., tuple[float | np.ndarray, ...]],
    log_scores: Tensor,
    lengths: Tensor,
    single_root: bool,
    *values: Tensor,
) -> tuple[Tensor, ...]:
    """Results of `on_device`, right for every sentence, in the precision of the scores."""
    given = log_scores.masked_fill(log_scores <= -MASK, -math.inf), *values
    with torch.inference_mode():  # nothing is differentiated by machine, and views cost less
        found, is_right = on_device(lengths, *given, search=False)
        rest = (~is_right).nonzero()[:, 0]  # the one synchronisation
        if len(rest):
            precise, is_right = on_device(lengths[rest], *(each[rest].double() for each in given), search=True)
            for whole, part in zip(found, precise, strict=True):
                whole[rest] = part.to(whole.dtype)
            for b in rest[~is_right].tolist():
                inside = slice(int(lengths[b]) + 1)
                own, *direction = (each[b, inside, inside].double().cpu().numpy() for each in given)
                with in_batch(name_in_batch(b)):
                    sentence = ArcFactored(own, single_root=single_root, id=name_in_batch(b))
                _put(found, b, by_kernels(sentence, *direction))
    return tuple(whole.clone() for whole in found)  # what was made in inference mode cannot be saved


def _put(batch: tuple[Tensor, ...], b: int, exact: tuple[float | np.ndarray, ...]) -> None:
    """Overwrite what a batch holds for sentence b."""
    for whole, part in zip(batch, exact, strict=True):
        whole[b] = 0.0
        inside = tuple(slice(size) for size in np.shape(part))
        whole[b][inside] = torch.as_tensor(part, dtype=whole.dtype)


def _log_partition(single_root: bool, lengths: Tensor, log_scores: Tensor, search: bool) -> Found:
    given, _, pivots = _factorised(single_root, lengths, log_scores, search)
    log_z, _, is_right = _log_z(given, pivots)
    return (log_z,), is_right


def _sums(single_root: bool, lengths: Tensor, log_scores: Tensor, search: bool) -> Found:
    given, factors, pivots = _factorised(single_root, lengths, log_scores, search)
    log_z, relative, is_right = _log_z(given, pivots)
    marginals = given.where_possible(given.weights * adjoints(factors, pivots, single_root))
    is_right &= _sum_to_one(given, marginals)
    found = given.by_node(marginals.clamp(min=0.0))  # -1e-8 where the subtraction rounded
    return (log_z, found, relative), is_right


def _factorised(
    single_root: bool, lengths: Tensor, log_scores: Tensor, search: bool
) -> tuple[ByPosition, Tensor, Tensor]:
    """Weights, and their factors and pivots."""
    given = by_position(log_scores, lengths, single_root, search)
    factors = given.with_padding()
    return given, factors, eliminate(factors, single_root)


def _covariances(single_root: bool, lengths: Tensor, log_scores: Tensor, values: Tensor, search: bool) -> Found:
    given = by_position(log_scores, lengths, single_root, search)
    direction = given.of_nodes(values)
    direction = given.where_possible(direction - direction.gather(1, given.weights.argmax(1, keepdim=True)))
    weights = Dual(given.weights, given.weights * direction)
    factors = Dual(given.with_padding(), weights.tangent.clone())
    pivots = eliminate(factors, single_root)
    products = weights * adjoints(factors, pivots, single_root)
    marginals, covariances = (given.where_possible(part) for part in (products.value, products.tangent))
    is_right = _log_z(given, pivots.value)[2] & _sum_to_one(given, marginals)
    rest, largest = covariances.sum(1).abs().amax(1), direction.abs().amax((1, 2))
    is_right &= rest <= TOLERANCE[rest.dtype] * largest
    return (given.by_node(covariances),), is_right


def _log_z(given: ByPosition, pivots: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """log Z, (B,), the same of shifted scores, and whether no pivot was 0, products stayed in range, scores were below
    the mask, and the constants of words did not cancel."""
    logs = pivots.log()
    relative = logs.sum(1, dtype=torch.float64)
    log_z = relative + given.constants.sum(1)
    is_right = given.constants.abs().sum(1) <= CANCELLED[logs.dtype] * log_z.abs().clamp(min=1.0)
    is_right &= (log_z.abs() < MASK) & (logs.clamp(max=0.0).sum(1) > LEAST_DEPTH[logs.dtype])
    return log_z.to(logs.dtype), relative.to(logs.dtype), is_right


def _sum_to_one(given: ByPosition, marginals: Tensor) -> Tensor:
    """Whether the columns of marginals (B, n+1, n) do, (B,)."""
    misses = (marginals.sum(1) - 1.0).abs() < TOLERANCE[marginals.dtype]
    return (misses | given.padding).all(1)
