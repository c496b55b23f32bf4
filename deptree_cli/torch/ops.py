"""log Z and marginals of padded batches as functions of tensors, differentiable, under `torch.compile` too."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual
from torch.distributions.constraints import Constraint

from deptree_cli.core.batches import TreeBatch
from deptree_cli.core.blocks import require_precision
from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, name_in_batch
from deptree_cli.core.factorisation import Rules, constant_of, shift_batch
from deptree_cli.core.scores import MASK
from deptree_cli.core.spaces import SINGLE_ROOT, SPACES, Short, SpaceLike, TreeSpace, tree_space

# Trees as tensors: heads and one-hot arcs, which words there are, and which heads make a tree.
#
# Heads are (..., N), int64: entry j is the head of node j. Entry 0 (ROOT) and padding are -1 in what is returned, and
# ignored in what is given. Arcs are (..., N, N), ``[head, dependent]``, 1 where a tree has the arc.


# Pairs of arcs of projective trees that are looked at together: 4 MiB of booleans at a time.
PAIRS = 1 << 22


def word_mask(lengths: Tensor, nodes: int) -> Tensor:
    """Return which nodes are words, (..., N) bool, for sentences of so many words (...,)."""
    node = torch.arange(nodes, device=lengths.device)
    return (node > 0) & (node <= lengths[..., None])


def arc_mask(lengths: Tensor, nodes: int) -> Tensor:
    """Return which arcs count, (..., N, N) bool: those into words, from ROOT or other words."""
    words = word_mask(lengths, nodes)
    is_node = words.clone()
    is_node[..., 0] = True
    itself = torch.eye(nodes, dtype=torch.bool, device=lengths.device)
    return is_node[..., :, None] & words[..., None, :] & ~itself


def heads_to_arcs(heads: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    """Return the one-hot arcs (..., N, N) of heads (..., N); nothing in the columns of ROOT and of negative heads."""
    node = torch.arange(heads.shape[-1], device=heads.device)
    return ((heads[..., None, :] == node[:, None]) & (node > 0)).to(dtype)


def arcs_to_heads(arcs: Tensor) -> Tensor:
    """Return the heads (..., N) of one-hot arcs (..., N, N); -1 for ROOT and where a column is empty."""
    highest, heads = arcs.max(dim=-2)
    node = torch.arange(arcs.shape[-1], device=arcs.device)
    return torch.where((highest > 0) & (node > 0), heads, -1)


def is_tree(heads: Tensor, lengths: Tensor, space: TreeSpace = SINGLE_ROOT) -> Tensor:
    """Return whether heads are trees of a space, (...,) bool.

    Every word climbs 1, 2, 4, ... heads at a time; in a tree all have arrived at ROOT after n. O(n log n) a tree, and
    n^2 for projective ones.

    Args:
        heads: (..., N) integers; entry 0 and padding are ignored.
        lengths: (...,) words, or what can be broadcast to that.
    """
    nodes = heads.shape[-1]
    words = word_mask(lengths, nodes)
    inside = (heads >= 0) & (heads <= lengths[..., None])
    above = torch.where(words & inside, heads, 0).long()
    roots = (words & (heads == 0)).sum(-1)
    found = (inside | ~words).all(-1) & ((roots == 1) if space.single_root else (roots >= 1))
    climber = above
    for _ in range((nodes - 1).bit_length()):
        climber = climber.gather(-1, climber)
    own = torch.arange(nodes, device=heads.device)
    found = found & (climber == 0).all(-1) & (space.allows(above, own) | ~words).all(-1)
    return found & ~_some_cross(above, words.expand(above.shape)) if space.projective else found


def _some_cross(above: Tensor, words: Tensor) -> Tensor:
    """Whether two arcs cross, (...,), ROOT before the first word: one begins before another, and ends inside it."""
    nodes = above.shape[-1]
    own = torch.arange(nodes, device=above.device)
    first = torch.where(words, torch.minimum(above, own), 0).reshape(-1, nodes)
    last = torch.where(words, torch.maximum(above, own), 0).reshape(-1, nodes)
    found = []
    size = max(PAIRS // nodes**2, 1)
    for a, b in zip(torch.split(first, size), torch.split(last, size), strict=True):
        begins, ends = a[:, :, None], b[:, :, None]
        crossing = (begins < a[:, None]) & (a[:, None] < ends) & (ends < b[:, None])
        found.append(crossing.any(-1).any(-1))
    return torch.cat(found).reshape(above.shape[:-1])


class TreeSupport(Constraint):
    """The trees over the sentences of a batch, as heads or as one-hot arcs: the support of a `TreeDistribution`."""

    is_discrete = True

    def __init__(self, lengths: Tensor, space: TreeSpace, event: str) -> None:
        self.lengths, self.space = lengths, space
        self.event_dim = 1 if event == "heads" else 2

    def check(self, value: Tensor) -> Tensor:
        """Return whether each is a tree, (...,), for values (..., N) or, of arcs, (..., N, N)."""
        if self.event_dim == 1:
            return is_tree(value, self.lengths, self.space)
        one_hot = ((value == 0) | (value == 1)).all(-2) & (value.sum(-2) == 1)
        words = word_mask(self.lengths, value.shape[-1])
        is_sound = is_tree(arcs_to_heads(value), self.lengths, self.space)
        return is_sound & (one_hot | ~words).all(-1)

    def __repr__(self) -> str:
        return f"TreeSupport({self.space.name}, as {'heads' if self.event_dim == 1 else 'arcs'})"


def shaped_lengths(log_scores: Tensor, lengths: Tensor | None) -> Tensor:
    """Return how many words sentences have, (...,) int64, for log-scores (..., N, N); without lengths, N - 1 each."""
    require_tensor("log_scores", log_scores)
    *batch, nodes, other = log_scores.shape if log_scores.dim() >= 2 else (0, 0, -1)
    if nodes != other or not log_scores.is_floating_point():
        problem = f"log_scores are {log_scores.dtype} of shape {tuple(log_scores.shape)}, not floats of (..., N, N)"
        raise DeptreeError(problem, "Give a square matrix per sentence, [head, dependent], ROOT included")
    if lengths is None:
        return torch.full(batch, nodes - 1, dtype=torch.int64, device=log_scores.device)
    require_tensor("lengths", lengths)
    if list(lengths.shape) != batch or not is_integer(lengths):
        problem = f"lengths are {lengths.dtype} of shape {tuple(lengths.shape)}, not integers of {tuple(batch)}"
        raise DeptreeError(problem, "Give the number of words of each sentence")
    return lengths.to(log_scores.device, torch.int64)


def require_tensor(name: str, value: object) -> None:
    """Raise a DeptreeError unless what is given by this name is a tensor."""
    if not isinstance(value, Tensor):
        raise DeptreeError(f"{name} are of type {type(value).__name__}", f"Give a tensor: torch.as_tensor({name})")


def require_real(name: str, value: object) -> None:
    """Raise a DeptreeError unless what is given by this name is a tensor of real numbers."""
    require_tensor(name, value)
    if isinstance(value, Tensor) and value.is_complex():
        raise DeptreeError(f"{name} are {value.dtype}, not real numbers", f"Give {name}.real, if that is what they are")


def is_integer(tensor: Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype is torch.bool)


def check_lengths(lengths: Tensor, nodes: int) -> None:
    """Raise a DeptreeError where a sentence has too few words, or too many for scores of so many nodes."""
    found = lengths.flatten().tolist()  # not numpy(): tensors that PyTorch transforms have none
    if found and not 1 <= min(found) <= max(found) < nodes:
        b = next(b for b, n in enumerate(found) if not 1 <= n < nodes)
        problem = f"the length is {found[b]}, not 1 to {nodes - 1}"
        remedy = "Count words without ROOT, and leave empty sentences out"
        raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def checked_lengths(log_scores: Tensor, lengths: Tensor | None) -> Tensor:
    """Return `shaped_lengths`, checked where values can be looked at without waiting for a device."""
    lengths = shaped_lengths(log_scores, lengths)
    if visible(lengths):
        check_lengths(lengths, log_scores.shape[-1])
    return lengths


def batch_lengths(log_scores: Tensor, lengths: Tensor | None) -> Tensor:
    """Return `checked_lengths`, (B,), of log-scores that are a batch, (B, N, N), or raise a DeptreeError."""
    require_tensor("log_scores", log_scores)
    if log_scores.dim() != 3:
        problem = f"log_scores have shape {tuple(log_scores.shape)}, not (B, N, N)"
        raise DeptreeError(problem, "Give a batch of sentences, even if there is only one")
    return checked_lengths(log_scores, lengths)


def visible(tensor: Tensor) -> bool:
    """Return whether values can be looked at: not while `torch.compile` traces, nor without waiting for a device."""
    return not torch.compiler.is_compiling() and tensor.device.type == "cpu"


# Sums over the trees of padded batches of tensors, without derivatives: by kernels, on the CPU.
#
# All take log-scores (B, N, N), lengths (B,), the name of the tree space and a precision, and return the scores' type.
# Tensors of another device are copied to the CPU, and results back to it.


def log_partition_by_kernels(log_scores: Tensor, lengths: Tensor, space: str, precision: str) -> Tensor:
    """Return log Z, (B,): the forward sweep alone."""
    return _tensor(_batch(log_scores, lengths, space, precision).log_partitions(), log_scores)


def log_partition_and_marginals_by_kernels(
    log_scores: Tensor, lengths: Tensor, space: str, precision: str
) -> tuple[Tensor, Tensor]:
    """Return log Z, (B,), and its gradient, the marginals of arcs, (B, N, N): both sweeps."""
    log_z, marginals = _batch(log_scores, lengths, space, precision).log_partitions_and_marginals()
    return _tensor(log_z, log_scores), _tensor(marginals, log_scores)


def arc_covariance(log_scores: Tensor, lengths: Tensor, values: Tensor, space: str, precision: str) -> Tensor:
    """Return the derivative of the marginals in the direction of values (B, N, N): both sweeps on dual numbers."""
    batch = _batch(log_scores, lengths, space, precision)
    return _tensor(batch.covariances(_array(values)), log_scores)


def _batch(log_scores: Tensor, lengths: Tensor, space: str, precision: str) -> TreeBatch:
    check_lengths(lengths, log_scores.shape[-1])
    threads = torch.get_num_threads()
    return TreeBatch(_array(log_scores), _array(lengths), SPACES.get(space), precision, threads)


def _array(tensor: Tensor) -> Array:
    """The numbers of a tensor; a RuntimeError if it has none of its own, as inside `torch.func.vmap`."""
    found = tensor.numpy(force=True)
    return found if found.flags.c_contiguous else np.ascontiguousarray(found)


def _tensor(found: Array, like: Tensor) -> Tensor:
    """A result in the type of the scores, where they are; cast by NumPy, which short sentences feel less."""
    tensor = torch.from_numpy(found.astype(np.float32 if like.dtype is torch.float32 else np.float64, copy=False))
    return tensor if like.is_cpu else tensor.to(like.device)


# log Z and marginals as functions that autograd, `torch.func` and `torch.compile` know.
#
# The gradient of log Z in the log-scores are the marginals of arcs, and the gradient of a function of the marginals are
# covariances in its direction (Zmigrod et al. 2021b, section 4), so that nothing is differentiated by machine. All are
# functions of (log_scores, lengths, [values], space, precision), as the sums above.
#
# Eager code takes `_Sums`. What `torch.func` transforms must have a `setup_context`, for which PyTorch binds
# arguments to a signature, and what is compiled must be an operator: either would cost a batch of short sentences a
# third of its time.


Gradients = tuple[Tensor | None, ...]


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    log_scores, lengths, *rest = inputs
    ctx.how = rest[-2:]
    ctx.set_materialize_grads(False)  # where only log Z is used there are no covariances to work out
    kept = (log_scores, lengths, *output[1:]) if isinstance(output, tuple) else (log_scores, lengths)
    ctx.save_for_backward(*kept)


def _remember_both_ways(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    """Keep them for derivatives forward too."""
    _remember(ctx, inputs, output)
    ctx.save_for_forward(*ctx.to_save)


def _of_sums(covariance: Any, ctx: Any, of_log_z: Tensor | None, of_marginals: Tensor | None) -> Gradients:
    """From gradients of log Z and of marginals, None where one was not used, to that of the scores."""
    log_scores, lengths, marginals = ctx.saved_tensors
    total = None if of_log_z is None else of_log_z.view(-1, 1, 1) * marginals
    if of_marginals is not None:
        second = covariance(log_scores, lengths, of_marginals, *ctx.how)
        total = second if total is None else total + second
    return total, None, None, None


def _of_covariance(covariance: Any, ctx: Any, given: Tensor) -> Gradients:
    _refuse_third(ctx.needs_input_grad[0])
    return None, None, covariance(*ctx.saved_tensors, given, *ctx.how), None, None


def _refuse_third(wanted: bool) -> None:
    """Raise a DeptreeError if the scores of a covariance are to be differentiated too."""
    if wanted:
        raise DeptreeError(
            "log Z can be differentiated twice and marginals once; this asks for one derivative more",
            "Detach what need not be differentiated, or leave out create_graph=True",
        )


def _as_larger_batch(function: Any, info: Any, in_dims: tuple[int | None, ...], *given: Any) -> tuple[Any, Any]:
    """Return a function's results for one more dimension of its tensors: their sentences make one larger batch."""
    tensors = [
        each.expand(info.batch_size, *each.shape) if dim is None else each.movedim(dim, 0)
        for each, dim in zip(given, in_dims, strict=True)
        if isinstance(each, Tensor)
    ]
    found = function(*(each.flatten(0, 1) for each in tensors), *given[len(tensors) :])
    if isinstance(found, Tensor):
        return found.reshape(info.batch_size, -1, *found.shape[1:]), 0
    return tuple(each.reshape(info.batch_size, -1, *each.shape[1:]) for each in found), (0,) * len(found)


log_partition_op = torch.library.custom_op("deptree::log_partition", log_partition_by_kernels, mutates_args=())
sums_op = torch.library.custom_op(
    "deptree::log_partition_and_marginals", log_partition_and_marginals_by_kernels, mutates_args=()
)
covariance_op = torch.library.custom_op("deptree::arc_covariance", arc_covariance, mutates_args=())
log_partition_op.register_fake(lambda log_scores, *_: log_scores.new_empty(len(log_scores)))
sums_op.register_fake(lambda log_scores, *_: (log_scores.new_empty(len(log_scores)), torch.empty_like(log_scores)))
covariance_op.register_fake(lambda log_scores, *_: torch.empty_like(log_scores))
sums_op.register_autograd(partial(_of_sums, covariance_op), setup_context=_remember)
covariance_op.register_autograd(partial(_of_covariance, covariance_op), setup_context=_remember)


class _Covariance(torch.autograd.Function):
    """`arc_covariance`, by its operator, which PyTorch can call for many directions at once."""

    forward = staticmethod(covariance_op)
    setup_context = staticmethod(_remember_both_ways)

    @staticmethod
    def backward(ctx: Any, *given: Any) -> Gradients:
        return _of_covariance(_Covariance.apply, ctx, *given)

    @staticmethod
    def jvp(ctx: Any, of_scores: Tensor | None, _: None, of_values: Tensor, *__: None) -> Tensor:
        _refuse_third(of_scores is not None)
        return _Covariance.apply(*ctx.saved_tensors, of_values, *ctx.how)  # type: ignore[no-untyped-call]

    @staticmethod
    def vmap(*given: Any) -> tuple[Any, Any]:
        return _as_larger_batch(_Covariance.apply, *given)


def _is_transformed(*tensors: Tensor) -> bool:
    """Whether tensors have no numbers of their own, as inside `torch.func` and batched gradients, or forward tangents.

    To be known beforehand: the error that PyTorch raises then is a RuntimeError, as real ones in sums are.
    """
    return torch._C._are_functorch_transforms_active() or any(
        torch._C._functorch.is_legacy_batchedtensor(each) or unpack_dual(each).tangent is not None  # type: ignore[no-untyped-call]
        for each in tensors
    )


def _covariance(log_scores: Tensor, lengths: Tensor, values: Tensor, space: str, precision: str) -> Tensor:
    """Return `arc_covariance`, by itself where no derivative is asked for, backward or forward."""
    given = log_scores, lengths, values, space, precision
    if torch.is_grad_enabled() or _is_transformed(log_scores, values):
        return _Covariance.apply(*given)  # type: ignore[no-untyped-call]
    return arc_covariance(*given)


class _Sums(torch.autograd.Function):
    """`log_partition_and_marginals_by_kernels` of eager code."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, Tensor]:
        found = log_partition_and_marginals_by_kernels(*given)
        _remember(ctx, given, found)
        return found

    @staticmethod
    def backward(ctx: Any, *given: Any) -> Gradients:
        return _of_sums(_covariance, ctx, *given)


class _TransformedSums(_Sums):
    """The same inside `torch.func`, and with derivatives forward."""

    forward = staticmethod(log_partition_and_marginals_by_kernels)  # type: ignore[assignment]
    setup_context = staticmethod(_remember_both_ways)

    @staticmethod
    def jvp(ctx: Any, of_scores: Tensor, *_: None) -> tuple[Tensor, Tensor]:
        log_scores, lengths, marginals = ctx.saved_tensors
        of_marginals = _Covariance.apply(log_scores, lengths, of_scores, *ctx.how)  # type: ignore[no-untyped-call]
        return (marginals * of_scores).sum((1, 2)), of_marginals

    @staticmethod
    def vmap(*given: Any) -> tuple[Any, Any]:
        return _as_larger_batch(_TransformedSums.apply, *given)


def log_partition_of_prepared(*given: Any) -> Tensor:
    """Return log Z, (B,), of the arguments of `log_partition_by_kernels`; without a gradient."""
    if torch.compiler.is_compiling():
        return log_partition_op(*given)
    if _is_transformed(given[0]):
        return log_partition_and_marginals_of_prepared(*given)[0]
    return log_partition_by_kernels(*given)


def log_partition_and_marginals_of_prepared(*given: Any) -> tuple[Tensor, Tensor]:
    """Return what `log_partition_and_marginals_by_kernels` does of its arguments; differentiable."""
    found: tuple[Tensor, Tensor]
    if torch.compiler.is_compiling():
        found = sums_op(*given)
    else:
        found = (_TransformedSums if _is_transformed(given[0]) else _Sums).apply(*given)  # type: ignore[no-untyped-call]
    return found


# Log-scores as sums want them: in float64, with nothing that does not count, and free of offsets.


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
    """Shift log-scores (B, N, N), each word's column to a maximum of 0, as `core/factorisation.py` does.

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
        log_z = log_partition_and_marginals_of_prepared(scores, *how)[0]
    else:
        log_z = log_partition_of_prepared(scores, *how)
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
    log_z, found = log_partition_and_marginals_of_prepared(scores, *how)
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
    """Return scores (B, N, N), lengths (B,), the space's name and the precision, as sums take them."""
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
