"""log Z, marginals and covariances of padded batches: by kernels, and sentence by sentence where those give up.

A sentence whose weights leave the range of float32, where that is asked for, is computed in float64. One that leaves
that too, or whose last word cannot reach all others, is worked out as
any other sentence of the house is (`core/arc_factored.py`), which also says what is wrong with one that has no tree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.batches.by_space import BatchSums, kernels_for
from deptree_cli.core.batches.packed import PRECISIONS, Batch, Packed, pack
from deptree_cli.core.batches.threads import spread
from deptree_cli.core.dtypes import Array, Float
from deptree_cli.core.errors import DeptreeError, in_batch, name_in_batch
from deptree_cli.core.spaces.shifted import shift


def log_partitions(batch: Batch, threads: int = 1) -> Float:
    """Return the natural logarithms of the partition functions, (B,). O(n^3) a sentence.

    Raises:
        DeptreeError: something is wrong with a sentence's scores, or it has no tree; it is named.
    """
    return _sums(batch, threads, None)[0]


def log_partitions_and_marginals(batch: Batch, threads: int = 1) -> tuple[Float, Array, Float]:
    """Return log Z, (B,) float64, the marginals of arcs, (B, N, N), of the scores' type: the gradient of log Z; and log
    Z of the shifted scores (`core/spaces/shifted.py`), (B,), which has digits that log Z of large scores lacks.

    Marginals of forbidden arcs, of column 0 and of padding are 0. O(n^3) a sentence. Errors as for `log_partitions`.
    """
    marginals = np.zeros_like(batch.log_scores)
    log_z, relative = _sums(batch, threads, marginals)
    return log_z, marginals, relative


def sums(batch: Batch, threads: int = 1, *, with_marginals: bool) -> tuple[Float, Array | None]:
    """Return log Z and the marginals, if they are wanted; nothing is raised.

    -inf and 0 of a sentence that has no tree; NaN, all of them, of one whose scores are none.
    """
    marginals = np.zeros_like(batch.log_scores) if with_marginals else None
    return _sums(batch, threads, marginals, raises=False)[0], marginals


def _sums(batch: Batch, threads: int, marginals: Array | None, *, raises: bool = True) -> tuple[Float, Float]:
    """Return log Z and that of the shifted scores, (B,) both, and fill marginals (B, N, N), zeros at first."""
    log_z, relative = np.empty((2, len(batch.lengths)))

    def fill(kernels: BatchSums, packed: Packed, first: int, stop: int) -> None:
        if marginals is None:
            kernels.log_partitions(packed, relative[first:stop])
        else:
            kernels.marginals(packed, relative[first:stop], marginals[first:stop])
        log_z[first:stop] = relative[first:stop] + packed.constants

    def fill_one(b: int, sentence: ArcFactored) -> None:
        log_z[b], relative[b] = sentence.factorisation.log_z, relative_log_partition(sentence)
        if marginals is not None:
            _put(marginals[b], sentence.factorisation.marginals())

    def leave_out(b: int) -> None:
        nodes = int(batch.lengths[b]) + 1
        own = batch.log_scores[b, :nodes, 1:nodes][~np.eye(nodes, dtype=bool)[:, 1:]]
        is_none = not (own < np.inf).all()
        log_z[b] = relative[b] = np.nan if is_none else -np.inf
        if marginals is not None:
            marginals[b] = np.nan if is_none else 0.0

    _run(batch, threads, fill, fill_one, batch.precision, None if raises else leave_out)
    return log_z, relative


def relative_log_partition(sentence: ArcFactored) -> float:
    """Return log Z of the shifted scores of all arcs, those that no tree has included, as batches are shifted."""
    constant = shift(sentence.log_scores, sentence.space).constant
    return sentence.factorisation.shifted_log_z + (sentence.factorisation.shifted.constant - constant)


def covariances(batch: Batch, values: Array, threads: int = 1) -> Array:
    """Return Cov(1[arc in tree], sum of the tree's values) of every arc, (B, N, N), of the scores' type.

    It is the derivative of the marginals in the direction of the values (B, N, N), which count on possible arcs only.
    O(n^3) a sentence. Errors as for `log_partitions`.
    """
    found = np.zeros_like(batch.log_scores)

    def fill(kernels: BatchSums, packed: Packed, first: int, stop: int) -> None:
        kernels.covariances(packed, values[first:stop], found[first:stop])

    def fill_one(b: int, sentence: ArcFactored) -> None:
        nodes = sentence.n + 1
        direction = np.where(sentence.support, values[b, :nodes, :nodes], 0.0).astype(np.float64)
        _put(found[b], sentence.factorisation.arc_covariance(direction))

    _run(batch, threads, fill, fill_one)
    return found


def _run(
    batch: Batch,
    threads: int,
    fill: Callable[[BatchSums, Packed, int, int], None],
    fill_one: Callable[[int, ArcFactored], None],
    precision: str = "float64",
    leave_out: Callable[[int], None] | None = None,
) -> None:
    """Fill results by kernels, if the space has some, and one by one those of sentences they do not suffice for.

    leave_out: what to do about a sentence that has no distribution, instead of raising why.
    """
    kernels = kernels_for(batch.space)
    precision = precision if kernels and precision in kernels.precisions else "float64"
    sound = np.zeros(len(batch.lengths), dtype=np.bool_)

    def act(first: int, stop: int, dtype: type[np.floating]) -> None:
        if kernels is not None:
            packed = pack(batch, first, stop, dtype)
            fill(kernels, packed, first, stop)
            sound[first:stop] = packed.sound

    spread(partial(act, dtype=PRECISIONS[precision]), batch.lengths, threads)
    if sound.all():
        return
    for b in np.flatnonzero(~sound).tolist():
        if precision != "float64":
            act(b, b + 1, np.float64)
        if not sound[b]:
            try:
                sentence = _sentence(batch, b)
            except DeptreeError:
                if leave_out is None:
                    raise
                leave_out(b)
            else:
                fill_one(b, sentence)


def _sentence(batch: Batch, b: int) -> ArcFactored:
    """Return sentence b as a distribution of its own."""
    nodes, name = int(batch.lengths[b]) + 1, name_in_batch(b)
    with in_batch(name):
        return ArcFactored(batch.log_scores[b, :nodes, :nodes], space=batch.space, id=name)


def _put(out: Array, found: Float) -> None:
    """Put what belongs to a sentence's nodes into its place in a padded array."""
    out[: len(found), : len(found)] = found
