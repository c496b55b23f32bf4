"""Sentences whose trees need masks: differences between sums of scores that float64 cannot tell apart, by core.

Beside a score of -9e14 float64 rounds to multiples of 1/8, so that what is left of log-probabilities, entropies and
divergences after all masks have cancelled is anything. Sums of weights do not suffer, and are nobody's business here
(`sums.py`). Each function takes what was found in float64, and puts what core finds with pairs of numbers in the place
of what may be wrong; as an operator where something is compiled, for what is wrong is seen only when it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import QUANTITIES
from deptree_cli.kernels.numbers.operations import SAFE_LOG
from deptree_cli.torch.sentences import sentences
from deptree_cli.torch.shifted import Shifted

# Below this logarithm float64 has no weight; from LARGE on it has lost digits.
LEAST, LARGE = -745.0, 1e4


class Sums(NamedTuple):
    """Sentences, and what has been worked out of them.

    Attributes:
        scores: (B, N, N), float64 as they were given.
        lengths: (B,).
        space: the name of the space of trees.
        shifted: the scores, shifted.
        log_partition: (B,), as given.
        marginals: (B, N, N).
        log_z: (B,), of the shifted scores.
    """

    scores: Tensor
    lengths: Tensor
    space: str
    shifted: Shifted
    log_partition: Tensor
    marginals: Tensor
    log_z: Tensor


def log_probs(found: Tensor, log_z: Tensor, scores: Tensor, lengths: Tensor, heads: Tensor, space: str) -> Tensor:
    """Return log-probabilities of trees, found (*sample, B) as a score less log Z, (B,).

    heads: (*sample, B, N); of what is no tree nothing is promised. The others: as of `Sums`.
    """
    function = log_probs_op if torch.compiler.is_compiling() else _log_probs
    return _replaced(function, found, log_z, scores.detach(), lengths, heads, space)


def log_ratios(found: Tensor, log_z: Tensor, ours: Tensor, theirs: Tensor, lengths: Tensor, space: str) -> Tensor:
    """Return log Z less another log Z, found (B,), of scores ours and theirs (B, N, N); log_z: ours, (B,)."""
    function = log_ratios_op if torch.compiler.is_compiling() else _log_ratios
    return _replaced(function, found, log_z, ours.detach(), theirs.detach(), lengths, space)


def divergence(name: str, found: Tensor, values: Tensor, ours: Sums, theirs: Sums) -> Tensor:
    """Return an entropy or a divergence, found (B,), differentiable once where it is replaced.

    Args:
        name: in `QUANTITIES`.
        values: (B, N, N), what was expected over our trees: scores, or differences of them.
        theirs: ours again, if there is no other.
    """
    large = values.detach().abs() > LARGE
    of_log_z = (ours.log_z.abs() > LARGE) | (theirs.log_z.abs() > LARGE)
    if not (_may_be_some(large) or _may_be_some(of_log_z)):
        return found
    counts = (ours.marginals > 0) | (ours.shifted.scores > LEAST) | (ours.log_z < SAFE_LOG)[:, None, None]
    suspicious = of_log_z | (counts & large).any(-1).any(-1)
    if not _may_be_some(suspicious):
        return found
    function = divergence_op if torch.compiler.is_compiling() else _Divergence.apply
    given = ours.scores, theirs.scores, ours.lengths, ours.space, theirs.space
    replaced: Tensor = function(name, found, suspicious, *given)[0]  # type: ignore[no-untyped-call]
    return replaced


def _may_be_some(which: Tensor) -> bool:
    """Whether one is true, or that is not known yet."""
    return torch.compiler.is_compiling() or bool(which.any())


def _replaced(function: Callable[..., Tensor], found: Tensor, log_z: Tensor, *given: Any) -> Tensor:
    """Return the values of a function where log Z is large, with the derivatives of those found."""
    suspicious = log_z.abs() > LARGE
    if not _may_be_some(suspicious):
        return found
    exact = function(found.detach(), suspicious, *given)
    return found + torch.where(exact.isfinite(), exact - found.detach(), 0.0)


def _log_probs(found: Tensor, suspicious: Tensor, scores: Tensor, lengths: Tensor, heads: Tensor, space: str) -> Tensor:
    exact, rows = found.clone(), suspicious.nonzero()[:, 0]
    for b, sentence in zip(rows.tolist(), sentences(scores[rows], lengths[rows], space), strict=True):
        trees = heads[..., b, 1 : sentence.n + 1].clamp(0, sentence.n).cpu().numpy()
        own = sentence.factorisation.tree_log_probs(trees.reshape(-1, sentence.n))
        exact[..., b] = torch.from_numpy(own.reshape(trees.shape[:-1])).to(exact)
    return exact


def _log_ratios(found: Tensor, suspicious: Tensor, ours: Tensor, theirs: Tensor, lengths: Tensor, space: str) -> Tensor:
    exact, rows = found.clone(), suspicious.nonzero()[:, 0]
    here, there = (sentences(each[rows], lengths[rows], space) for each in (ours, theirs))
    for b, *pair in zip(rows.tolist(), here, there, strict=True):
        exact[b] = pair[0].factorisation.log_ratio(pair[1].factorisation)
    return exact


def _divergence(
    name: str,
    found: Tensor,
    suspicious: Tensor,
    ours: Tensor,
    theirs: Tensor,
    lengths: Tensor,
    space: str,
    other_space: str,
) -> tuple[Tensor, Tensor, Tensor]:
    """Values (B,), and their gradients in both scores, (B, N, N), 0 where they are not replaced, or infinite."""
    quantity, rows = QUANTITIES.get(name), suspicious.nonzero()[:, 0]
    exact, of_ours, of_theirs = found.clone(), torch.zeros_like(ours), torch.zeros_like(theirs)
    here = sentences(ours[rows], lengths[rows], space)
    there = sentences(theirs[rows], lengths[rows], other_space)
    for b, p, q in zip(rows.tolist(), here, there, strict=True):
        given = [q] if quantity.inputs else []
        exact[b] = quantity.value(p, *given)
        if np.isfinite(exact[b].item()):
            _put(of_ours[b], quantity.gradient, p, given)
            _put(of_theirs[b], quantity.gradient_other, p, given)
    return exact, of_ours, of_theirs


def _put(out: Tensor, gradient: Callable[..., Any] | None, p: Any, given: list[Any]) -> None:
    """Fill a sentence's part of a gradient, if there is one."""
    if gradient is not None:
        out[: p.n + 1, : p.n + 1] = torch.from_numpy(gradient(p, *given)).to(out)


def _remember(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor, Tensor]) -> None:
    ctx.save_for_backward(inputs[2], *output[1:])


def _of_divergence(ctx: Any, given: Tensor, *_: Any) -> tuple[Tensor | None, ...]:
    if torch.is_grad_enabled() and not torch.compiler.is_compiling():
        raise DeptreeError(
            "an entropy or divergence is differentiated twice where trees need masks",
            "Forbid arcs by -inf, or leave out create_graph=True",
        )
    suspicious, of_ours, of_theirs = ctx.saved_tensors
    weight = given[:, None, None]
    return None, torch.where(suspicious, 0.0, given), None, weight * of_ours, weight * of_theirs, *(None,) * 3


class _Divergence(torch.autograd.Function):
    forward = staticmethod(_divergence)
    setup_context = staticmethod(_remember)
    backward = staticmethod(_of_divergence)


log_probs_op = torch.library.custom_op("deptree::log_probs", _log_probs, mutates_args=())
log_ratios_op = torch.library.custom_op("deptree::log_ratios", _log_ratios, mutates_args=())
divergence_op = torch.library.custom_op("deptree::divergence", _divergence, mutates_args=())


@log_probs_op.register_fake
@log_ratios_op.register_fake
def _(found: Tensor, *_: object) -> Tensor:
    return torch.empty_like(found)


@divergence_op.register_fake
def _(name: str, found: Tensor, suspicious: Tensor, ours: Tensor, theirs: Tensor, *_: object) -> tuple[Tensor, ...]:
    return torch.empty_like(found), torch.empty_like(ours), torch.empty_like(theirs)


divergence_op.register_autograd(_of_divergence, setup_context=_remember)
