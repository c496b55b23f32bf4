"""The log-partition function and edge marginals, by the core's kernels or by elimination in plain JAX."""

from __future__ import annotations

from typing import Unpack

import jax
from jax import Array
from jax.typing import ArrayLike

from deptree_cli.core.errors import DeptreeError, did_you_mean, one_of
from deptree_cli.core.spaces import Short, SpaceLike
from deptree_cli.jax import sums
from deptree_cli.jax.batches import Sentences, require_trees, sentences_of

# Where log Z and marginals are computed: by our kernels on the CPU, which compiled code calls back; in plain JAX, where
# the scores are; or as the default backend of JAX suggests.
IMPLEMENTATIONS = ("auto", "kernels", "device")


def log_partition(
    log_scores: ArrayLike,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    implementation: str = "auto",
    **short: Unpack[Short],
) -> Array:
    """Return the log-partition function, the logarithm of the sum of all trees' weights, (...,). O(n^3).

    Its gradient is the marginals. It can be differentiated twice; the second derivative is computed by our kernels.

    Args:
        log_scores: (..., N, N), ``[head, dependent]``; -inf forbids an arc.
        lengths: (...,), the number of words of each sentence; it may be traced.
        space: which trees: a name in `core.spaces.SPACES`, single-root by default. Or pass `single_root` (exactly one
            ROOT arc, or one or more) and `projective` (no two arcs may cross). All static under jit.
        implementation: "kernels": our kernels on the CPU, called back from compiled code, on any scores; "device":
            plain JAX on any device, for trees that may cross, in the range of the scores' type. "auto": kernels if
            JAX's default backend is the CPU or trees are projective.

    Returns:
        numbers of the scores' type, float32 for all but float64. Under jit, vmap and grad no error can be raised: a
            sentence without a tree gives -inf, with gradient 0; any other bad sentence gives NaN.

    Raises:
        DeptreeError: shapes do not fit, the implementation is unknown or has no such trees, or a sentence has no tree,
            a NaN or infinite score, or sums out of the range of float32 or float64 on the device.
    """
    sentences = sentences_of(log_scores, lengths, space, **short)
    log_z = sums.log_partition(sentences, _how(implementation, sentences))
    require_trees(log_z, sentences)
    return log_z


def marginals(
    log_scores: ArrayLike,
    lengths: ArrayLike | None = None,
    space: SpaceLike = None,
    implementation: str = "auto",
    **short: Unpack[Short],
) -> Array:
    """Return the probability of every arc, (..., N, N). O(n^3).

    Arguments and errors as in `log_partition`; all are 0 if that returns -inf.
    """
    sentences = sentences_of(log_scores, lengths, space, **short)
    log_z, found = sums.log_partition_and_marginals(sentences, _how(implementation, sentences))
    require_trees(log_z, sentences)
    return found


def _how(implementation: str, sentences: Sentences) -> str:
    """Who computes: see `sums.py`."""
    if implementation not in IMPLEMENTATIONS:
        remedy = did_you_mean(str(implementation), IMPLEMENTATIONS, one_of(IMPLEMENTATIONS))
        raise DeptreeError(f"unknown implementation {implementation!r}", remedy)
    projective = sentences.space.projective
    if implementation == "device" and projective:
        raise DeptreeError("projective trees are summed by kernels only", "Leave out the implementation")
    on_device = implementation == "device" or (implementation == "auto" and jax.default_backend() != "cpu")
    return sums.DEVICE if on_device and not projective else str(sentences.log_scores.dtype)
