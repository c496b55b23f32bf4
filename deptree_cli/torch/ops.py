"""log Z and marginals of padded batches as functions of tensors, differentiable, under `torch.compile` too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Unpack

import numpy as np
import torch
from torch import Tensor
from torch.autograd.forward_ad import unpack_dual
from torch.distributions.constraints import Constraint
from torch.nn import Parameter

from deptree_cli.core.batches import TreeBatch
from deptree_cli.core.blocks import require_precision
from deptree_cli.core.dtypes import MASK, Array
from deptree_cli.core.errors import DeptreeError, name_in_batch
from deptree_cli.core.factorisation import Rules
from deptree_cli.core.padded import shift_batch
from deptree_cli.core.spaces import SINGLE_ROOT, SPACES, Short, SpaceLike, TreeSpace, tree_space

# Trees as tensors: heads and one-hot arcs, which words there are, and which heads make a tree.
#
# Heads are (..., N), int64: entry j is the head of node j. Entry 0 (ROOT) and padding are -1 in what is returned, and
# ignored in what is given. Arcs are (..., N, N), ``[head, dependent]``, 1 where a tree has the arc.


def word_mask(lengths: Tensor, nodes: int) -> Tensor:
    """Return which nodes are words, (..., N) bool, for sentences of this many words (...,)."""
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
    """Return whether heads are trees of a space, (...,) bool. O(n) a tree, and n^2 for projective ones.

    Args:
        heads: (..., N) integers; entry 0 and padding are ignored.
        lengths: (...,) words; the two are broadcast to each other.
    """
    batch, nodes = lengths.shape, heads.shape[-1]
    if heads.shape[:-1] != batch:  # seldom, and slow
        batch = torch.broadcast_shapes(heads.shape[:-1], batch)  # type: ignore[no-untyped-call]
    given = heads.expand(*batch, nodes).reshape(-1, nodes), lengths.expand(batch).reshape(-1)
    found: Tensor = are_trees(*given, space.name)
    return found.reshape(batch)


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


def require_tensor(name: str, value: object) -> None:
    """Raise a DeptreeError unless what is given by this name is a tensor of real numbers."""
    if not isinstance(value, Tensor):
        raise DeptreeError(f"{name} are of type {type(value).__name__}", f"Give a tensor: torch.as_tensor({name})")
    if value.is_complex():
        raise DeptreeError(f"{name} are {value.dtype}, not real numbers", f"Give {name}.real, if that is what they are")


def is_integer(tensor: Tensor) -> bool:
    return not (tensor.is_floating_point() or tensor.dtype is torch.bool)


def checked_lengths(log_scores: Tensor, lengths: Tensor | None) -> Tensor:
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
    lengths = lengths.to(log_scores.device, torch.int64)
    if visible(lengths):
        _check_lengths(lengths, nodes)
    return lengths


def _check_lengths(lengths: Tensor, nodes: int) -> None:
    """Raise a DeptreeError where a sentence has too few words, or too many for scores of this many nodes."""
    found = lengths.flatten().tolist()  # not numpy(): tensors that PyTorch transforms have none
    if found and not 1 <= min(found) <= max(found) < nodes:
        b = next(b for b, n in enumerate(found) if not 1 <= n < nodes)
        problem = f"the length is {found[b]}, not 1 to {nodes - 1}"
        remedy = "Count words without ROOT, and leave empty sentences out"
        raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def visible(tensor: Tensor) -> bool:
    """Return whether values can be looked at: not while `torch.compile` traces, nor without waiting for a device."""
    return not torch.compiler.is_compiling() and tensor.device.type == "cpu"


# What kernels answer of padded batches of tensors, on the CPU: operators of PyTorch, without derivatives.
#
# All take (log_scores, lengths, [values], space, precision): log-scores (B, N, N), lengths (B,), the name of the tree
# space and a precision. What they return has the scores' type. Tensors of another device are copied to the CPU, and
# results back to it.


Function = Callable[..., Any]


def operator(name: str, fake: Function) -> Callable[[Function], Function]:
    """Make a function of tensors an operator, which PyTorch can trace and transform; `fake` says what it returns.

    Where tensors have numbers the function is called as it is: an operator would cost a batch of short sentences a
    third of its time.
    """

    def made(function: Function) -> Function:
        called = torch.library.custom_op(f"deptree::{name}", function, mutates_args=())
        called.register_fake(fake)
        called.register_vmap(partial(_as_larger_batch, called))

        def answer(*given: Any) -> Any:
            return (function if _have_numbers(*given) else called)(*given)

        return answer

    return made


def _have_numbers(*given: Any) -> bool:
    """Whether tensors have numbers of their own: not while they are traced, or batched as by `torch.func.vmap`.

    To be known beforehand: the error that PyTorch raises then is a RuntimeError, as real ones in sums are.
    """
    if torch.compiler.is_compiling():
        return False
    for each in given:
        if type(each) in (Tensor, Parameter):
            if torch._C._functorch.is_functorch_wrapped_tensor(each) or torch._C._functorch.is_legacy_batchedtensor(
                each
            ):
                return False
        elif isinstance(each, Tensor):
            return False
    return True


def _as_larger_batch(function: Function, info: Any, in_dims: tuple[int | None, ...], *given: Any) -> tuple[Any, Any]:
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


@operator("log_partition", lambda log_scores, *_: log_scores.new_empty(len(log_scores)))
def log_partition_by_kernels(log_scores: Tensor, lengths: Tensor, space: str, precision: str) -> Tensor:
    """Return log Z, (B,): the forward sweep alone."""
    return _tensor(_batch(log_scores, lengths, space, precision).log_partitions(), log_scores)


@operator(
    "log_partition_and_marginals",
    lambda log_scores, *_: (log_scores.new_empty(len(log_scores)), torch.empty_like(log_scores)),
)
def log_partition_and_marginals_by_kernels(
    log_scores: Tensor, lengths: Tensor, space: str, precision: str
) -> tuple[Tensor, Tensor]:
    """Return log Z, (B,), and its gradient, the marginals of arcs, (B, N, N): both sweeps."""
    log_z, marginals = _batch(log_scores, lengths, space, precision).log_partitions_and_marginals()
    return _tensor(log_z, log_scores), _tensor(marginals, log_scores)


@operator("arc_covariance", lambda log_scores, *_: torch.empty_like(log_scores))
def arc_covariance(log_scores: Tensor, lengths: Tensor, values: Tensor, space: str, precision: str) -> Tensor:
    """Return the derivative of the marginals in the direction of values (B, N, N): both sweeps on dual numbers."""
    batch = _batch(log_scores, lengths, space, precision)
    return _tensor(batch.covariances(_array(values)), log_scores)


@operator("are_trees", lambda heads, *_: heads.new_empty(len(heads), dtype=torch.bool))
def are_trees(heads: Tensor, lengths: Tensor, space: str) -> Tensor:
    """Return whether heads (B, N) are trees, (B,)."""
    found = SPACES.get(space).contains_padded(_array(heads), _array(lengths))
    return torch.from_numpy(found).to(heads.device)


def _batch(log_scores: Tensor, lengths: Tensor, space: str, precision: str) -> TreeBatch:
    _check_lengths(lengths, log_scores.shape[-1])
    return TreeBatch(_array(log_scores), _array(lengths), SPACES.get(space), precision, torch.get_num_threads())


def _array(tensor: Tensor) -> Array:
    found = tensor.numpy(force=True)
    return found if found.flags.c_contiguous else np.ascontiguousarray(found)


def _tensor(found: Array, like: Tensor) -> Tensor:
    """A result in the type of the scores, where they are; cast by NumPy, which short sentences feel less."""
    tensor = torch.from_numpy(found.astype(np.float32 if like.dtype is torch.float32 else np.float64, copy=False))
    return tensor if like.is_cpu else tensor.to(like.device)


# log Z and marginals as functions that autograd, `torch.func` and `torch.compile` differentiate.
#
# The gradient of log Z in the log-scores are the marginals of arcs, and the gradient of a function of the marginals are
# covariances in its direction (Zmigrod et al. 2021b, section 4), so that nothing is differentiated by machine.


Gradients = tuple[Tensor | None, ...]


class Differentiable(torch.autograd.Function):
    """A function as the operators above, differentiable backward and forward, and for many batches at once."""

    generate_vmap_rule = True

    @classmethod
    def apply(cls, *given: Any) -> Any:
        """Do what PyTorch does, but for binding arguments to a signature where nothing is transformed.

        That would cost a batch of short sentences a quarter of its time.
        """
        transformed = torch._C._are_functorch_transforms_active()
        return super(Differentiable if transformed else torch.autograd.Function, cls).apply(*given)  # type: ignore[misc]

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        log_scores, lengths, *_ = inputs
        ctx.how = inputs[-2:]
        ctx.set_materialize_grads(False)  # where only log Z is used there are no covariances to work out
        kept = (log_scores, lengths, *output[1:]) if isinstance(output, tuple) else (log_scores, lengths)
        ctx.save_for_backward(*kept)
        ctx.save_for_forward(*kept)


class Sums(Differentiable):
    """`log_partition_and_marginals_by_kernels`."""

    forward = staticmethod(log_partition_and_marginals_by_kernels)

    @staticmethod
    def backward(ctx: Any, of_log_z: Tensor | None, of_marginals: Tensor | None) -> Gradients:
        log_scores, lengths, marginals = ctx.saved_tensors
        total = None if of_log_z is None else of_log_z.view(-1, 1, 1) * marginals
        if of_marginals is not None:
            second = Covariance.apply(log_scores, lengths, of_marginals, *ctx.how)
            total = second if total is None else total + second
        return total, None, None, None

    @staticmethod
    def jvp(ctx: Any, of_scores: Tensor, *_: None) -> tuple[Tensor, Tensor]:
        log_scores, lengths, marginals = ctx.saved_tensors
        return (marginals * of_scores).sum((1, 2)), Covariance.apply(log_scores, lengths, of_scores, *ctx.how)


class Covariance(Differentiable):
    """`arc_covariance`, linear in the values and its own transpose."""

    forward = staticmethod(arc_covariance)

    @staticmethod
    def backward(ctx: Any, given: Tensor) -> Gradients:
        _refuse_third(ctx.needs_input_grad[0])
        return None, None, Covariance.apply(*ctx.saved_tensors, given, *ctx.how), None, None

    @staticmethod
    def jvp(ctx: Any, of_scores: Tensor | None, _: None, of_values: Tensor, *__: None) -> Tensor:
        _refuse_third(of_scores is not None)
        return Covariance.apply(*ctx.saved_tensors, of_values, *ctx.how)


def _refuse_third(wanted: bool) -> None:
    """Raise a DeptreeError if the scores of a covariance are to be differentiated too."""
    if wanted:
        raise DeptreeError(
            "log Z can be differentiated twice and marginals once; this asks for one derivative more",
            "Detach what need not be differentiated, or leave out create_graph=True",
        )


# What is compiled or exported is the operator, by the same rules.
torch.library.register_autograd(
    "deptree::log_partition_and_marginals", Sums.backward, setup_context=Differentiable.setup_context
)


def sums_of(*given: Any) -> tuple[Tensor, Tensor]:
    """Return log Z, (B,), and marginals, (B, N, N), of the arguments of operators; differentiable."""
    found: tuple[Tensor, Tensor]
    found = (log_partition_and_marginals_by_kernels if torch.compiler.is_compiling() else Sums.apply)(*given)
    return found


# Log-scores as distributions and losses want them: wide, with nothing that does not count, and free of offsets.


def wide(log_scores: Tensor) -> Tensor:
    """Return log-scores in float64, or in float32 on devices that have nothing wider."""
    return log_scores.to(torch.float32 if log_scores.device.type == "mps" else torch.float64)


def shift(log_scores: Tensor, lengths: Tensor, space: Rules) -> tuple[Tensor, Tensor]:
    """Shift log-scores (B, N, N), each word's column to a maximum of 0, as `core/factorisation.py` does.

    Under the single-root constraint the maximum is over words as heads, and ROOT's row is shifted as a whole: ROOT may
    score far below words without a loss of digits.

    Returns:
        scores: (B, N, N) float64, -inf where there is no arc: outside sentences too.
        parts: (B, N) float64, of what log Z loses (`constant_of`): no gradient passes through it, as none has to.
    """
    given = wide(log_scores)
    scores = given.masked_fill(~arc_mask(lengths, given.shape[-1]) | (given <= -MASK), -torch.inf)
    below, parts = shift_batch(torch, scores.detach(), space.single_root)
    finite = scores.masked_fill(below == -torch.inf, 0.0)
    return below + (finite - finite.detach()), parts


def finite(scores: Tensor) -> Tensor:
    """Return scores with 0 where there is no arc, so that a marginal of 0 times it is 0."""
    return scores.masked_fill(scores == -torch.inf, 0.0)


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


# Log Z and marginals as users ask for them: of any leading shape and type.


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
    scores, *how = prepared(log_scores, lengths, tree_space(space, **short), precision)
    # both sweeps at once where the gradient will be wanted
    log_z = sums_of(scores, *how)[0] if _is_differentiated(log_scores) else log_partition_by_kernels(scores, *how)
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
    log_z, found = sums_of(scores, *how)
    if scores is log_scores:  # views would cost a batch of short sentences a twentieth of its time
        return log_z, found
    return log_z.reshape(log_scores.shape[:-2]), found.reshape(log_scores.shape)


def prepared(
    log_scores: Tensor, lengths: Tensor | None, space: TreeSpace, precision: str | None
) -> tuple[Tensor, Tensor, str, str]:
    """Return scores (B, N, N), lengths (B,), the space's name and the precision, as sums take them."""
    words, precision = checked_lengths(log_scores, lengths), precision_of(log_scores, precision)
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


def _is_differentiated(log_scores: Tensor) -> bool:
    """Whether a derivative is asked for, backward or forward."""
    if torch.is_grad_enabled() and log_scores.requires_grad:
        return True
    return not torch.compiler.is_compiling() and (
        torch._C._are_functorch_transforms_active() or unpack_dual(log_scores).tangent is not None  # type: ignore[no-untyped-call]
    )
