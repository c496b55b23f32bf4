"""log Z and marginals of padded batches as functions of tensors, differentiable, under `torch.compile` too."""

from __future__ import annotations

from typing import Unpack

import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual

from deptree_cli.core.batches.blocks import require_precision
from deptree_cli.core.spaces import Short, SpaceLike, TreeSpace, tree_space
from deptree_cli.torch import operators
from deptree_cli.torch.trees import require_tensor, shaped_lengths


def log_partition(
    log_scores: Tensor,
    lengths: Tensor | None = None,
    space: SpaceLike = None,
    precision: str | None = None,
    **short: Unpack[Short],
) -> Tensor:
    """Return the natural logarithm of the partition function of every sentence, (...,).

    It is differentiable twice, by `torch.autograd` and `torch.func`. Sums are computed on the CPU, with
    `torch.get_num_threads()` threads; tensors of another device are copied there, and results back. O(n^3) per
    sentence (Grassmann-Taksar-Heyman elimination, or Eisner's chart). The gradient is 0 at forbidden arcs, in padding,
    in column 0 and on the diagonal.

    Args:
        log_scores: (..., N, N), ``[head, dependent]``: natural logarithms of the weights of arcs, node 0 is ROOT.
            ``-inf`` forbids an arc, and so does a mask of -1e15 or below; column 0 and the diagonal are ignored. Half
            precision is computed and returned as float32.
        lengths: (...,) integers, the number of words of each sentence, at most N - 1 (the default). The rest is
            ignored.
        space: which trees: a name in `core.spaces.SPACES`, single-root by default. Or pass `single_root` (exactly one
            ROOT arc, or one or more) and `projective` (no two arcs may cross).
        precision: of sums, ``float64`` or ``float32``; by default that of the scores, ``float32`` of half precision.
            ``float32`` is faster and keeps marginals within 5e-6 of the truth. Sentences of more than 100 words or
            beyond its range, projective trees and second derivatives use float64.

    Raises:
        DeptreeError: names the sentence with an invalid score or without a tree, and says what to do.
    """
    require_tensor("log_scores", log_scores)
    trees = tree_space(space, **short)
    scores, *how = prepared(log_scores, lengths, trees, precision)
    if _is_differentiated(log_scores):  # both sweeps at once: the gradient will be wanted
        log_z = operators.log_partition_and_marginals(scores, *how)[0]
    else:
        log_z = operators.log_partition(scores, *how)
    return log_z if scores is log_scores else log_z.reshape(log_scores.shape[:-2])


def marginals(
    log_scores: Tensor,
    lengths: Tensor | None = None,
    space: SpaceLike = None,
    precision: str | None = None,
    **short: Unpack[Short],
) -> Tensor:
    """Return the probability of every arc, (..., N, N), 0 where there is none; differentiable once.

    Arguments and errors as in `log_partition`.
    """
    return log_partition_and_marginals(log_scores, lengths, space, precision, **short)[1]


def log_partition_and_marginals(
    log_scores: Tensor,
    lengths: Tensor | None = None,
    space: SpaceLike = None,
    precision: str | None = None,
    **short: Unpack[Short],
) -> tuple[Tensor, Tensor]:
    """Return log Z, (...,), and the marginals of arcs, (..., N, N), at the cost of the marginals alone.

    Arguments and errors as in `log_partition`.
    """
    scores, *how = prepared(log_scores, lengths, tree_space(space, **short), precision)
    log_z, found = operators.log_partition_and_marginals(scores, *how)
    if scores is log_scores:  # views would cost a batch of short sentences a twentieth of its time
        return log_z, found
    return log_z.reshape(log_scores.shape[:-2]), found.reshape(log_scores.shape)


def _is_differentiated(log_scores: Tensor) -> bool:
    """Whether a derivative is asked for, backward or forward."""
    if torch.is_grad_enabled() and log_scores.requires_grad:
        return True
    return not torch.compiler.is_compiling() and unpack_dual(log_scores).tangent is not None  # type: ignore[no-untyped-call]


def prepared(
    log_scores: Tensor, lengths: Tensor | None, space: TreeSpace, precision: str | None
) -> tuple[Tensor, Tensor, str, str]:
    """Return scores (B, N, N), lengths (B,), the space's name and the precision, as `sums.py` takes them."""
    words, precision = shaped_lengths(log_scores, lengths), precision_of(log_scores, precision)
    scores = log_scores if log_scores.dtype in (torch.float32, torch.float64) else log_scores.float()
    if words.dim() != 1:  # views would cost a batch of short sentences some of its time
        scores, words = scores.reshape(-1, *scores.shape[-2:]), words.reshape(-1)
    return scores, words, space.name, precision


def precision_of(log_scores: Tensor, precision: str | None) -> str:
    """Return what sums are computed in: what was asked for, or the type of the scores, at least float32.

    Float32 loses little, as elimination never subtracts.
    """
    if precision is None:
        return "float64" if log_scores.dtype is torch.float64 else "float32"
    require_precision(precision)
    return precision
