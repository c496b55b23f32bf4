"""Sums over the trees of batches: by our kernels on the host, or in plain JAX."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, core, lax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.typing import ArrayLike

from deptree_cli.core.batches import TreeBatch
from deptree_cli.core.corpus import cores
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.dtypes import MASK, Int
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.errors import DeptreeError, did_you_mean, located, name_in_batch, one_of
from deptree_cli.core.padded import constant_of, shift_batch
from deptree_cli.core.spaces import Short, SpaceLike, TreeSpace, tree_space

# How many words each sentence of a batch has; N - 1 by default.
Lengths = ArrayLike | None

# Padded batches of sentences as they come: looked at, and what counts of their scores.


@partial(jax.tree_util.register_dataclass, data_fields=("log_scores", "lengths"), meta_fields=("space",))
@dataclass(frozen=True)
class Sentences:
    """A padded batch.

    Attributes:
        log_scores: float32 or float64, (..., N, N), ``[head, dependent]``, of any numbers.
        lengths: (...,), how many words each has; none of 1 to N - 1 where it could not be looked at.
        space: which trees; what is compiled is of one kind.
    """

    log_scores: Array
    lengths: Array
    space: TreeSpace

    @property
    def words(self) -> Array:
        """Which nodes are words, (..., N)."""
        nodes = jnp.arange(self.log_scores.shape[-1])
        return (nodes > 0) & (nodes <= self.lengths[..., None])


def sentences_of(
    log_scores: ArrayLike, lengths: Lengths = None, name: SpaceLike = None, **short: Unpack[Short]
) -> Sentences:
    """Return the sentences of log-scores (..., N, N), ``[head, dependent]``, and lengths (...,), all N - 1 if None.

    float32 and float64 stay what they are, all else becomes float32.
    """
    for option, value in short.items():
        if isinstance(value, core.Tracer):
            raise DeptreeError(f"`{option}` is traced", "Pass True or False, static under jit")
    trees = tree_space(name if name is None or isinstance(name, TreeSpace) else str(name), **short)
    if not trees.has_short_name:
        raise DeptreeError(f"JAX has no sums over {trees.trees}", "Ask TreeDistribution of deptree_cli")
    try:
        scores = jnp.asarray(log_scores)
    except (TypeError, ValueError):
        raise DeptreeError("the log-scores are not an array of numbers", "Give real numbers, (..., N, N)") from None
    if jnp.issubdtype(scores.dtype, jnp.complexfloating) or jnp.issubdtype(scores.dtype, jax.dtypes.prng_key):
        raise DeptreeError(f"the log-scores are {scores.dtype}, not real numbers", "Give real numbers")
    if scores.dtype not in (jnp.float32, jnp.float64):
        scores = scores.astype(jnp.float32)
    if scores.ndim < 2 or scores.shape[-1] != scores.shape[-2] or scores.shape[-1] < 2:
        problem = f"the log-scores have shape {scores.shape}, not (..., N, N) with N of at least 2"
        raise DeptreeError(problem, "Give a square matrix per sentence, ROOT included")
    most, batch = scores.shape[-1] - 1, scores.shape[:-2]
    words = jnp.full(batch, most) if lengths is None else jnp.asarray(lengths)
    if words.shape != batch or not jnp.issubdtype(words.dtype, jnp.integer):
        problem = f"the lengths have shape {words.shape} and type {words.dtype}, not {batch} and integers"
        raise DeptreeError(problem, "Give the number of words of each sentence")
    if lengths is not None and (numbers := seen(words)) is not None:
        for b, length in enumerate(numbers.ravel().tolist()):
            _check_length(length, most, b)
    return Sentences(scores, words, trees)


def _check_length(length: int, most: int, b: int) -> None:
    if not 1 <= length <= most:
        problem = f"the length is {length}, not from 1 to {most}"
        raise DeptreeError(problem, "Give the number of words, ROOT not included", sent_id=name_in_batch(b))


@jax.jit
def shifted(sentences: Sentences) -> tuple[Sentences, Array]:
    """Return the sentences with each word's best score shifted to 0, and by how much all trees of each change, (...,).

    No distribution changes by it, and the digits of large scores are kept. Arcs that do not count become -inf. With a
    single root the best is over words as heads, and ROOT's row is shifted as a whole (`core/factorisation.py`). The
    shifts are constants to derivatives.
    """
    words = sentences.words
    nodes = words.at[..., 0].set(True)
    arcs = nodes[..., :, None] & words[..., None, :] & ~jnp.eye(words.shape[-1], dtype=bool)
    scores = jnp.where(arcs & ~(sentences.log_scores <= -MASK), sentences.log_scores, -jnp.inf)
    below, parts = shift_batch(jnp, lax.stop_gradient(scores), sentences.space.single_root)
    finite = jnp.where(below == -jnp.inf, 0, scores)
    own = Sentences(below + (finite - lax.stop_gradient(finite)), sentences.lengths, sentences.space)
    return own, constant_of(jnp, parts)


def require_trees(log_z: Array, sentences: Sentences) -> None:
    """Look at log Z (...,), where it is a number yet."""
    values = seen(log_z)
    if values is None or np.isfinite(values).all():
        return
    b = int(np.flatnonzero(~np.isfinite(values))[0])
    distribution_of(sentences, b)
    problem = f"its sums leave the range of {sentences.log_scores.dtype} in plain JAX"
    remedy = "Give float64 scores, or ask the kernels: `log_partition`, `sample_without_replacement`"
    raise DeptreeError(problem, remedy, sent_id=name_in_batch(b))


def distribution_of(sentences: Sentences, b: int) -> TreeDistribution:
    """Return core's distribution of sentence b of a batch whose numbers are there, counted through its shape."""
    scores: Numbers = np.asarray(sentences.log_scores)
    n = int(np.asarray(sentences.lengths).ravel()[b])
    _check_length(n, scores.shape[-1] - 1, b)
    with located(sent_id=name_in_batch(b)):
        matrix = scores.reshape(-1, *scores.shape[-2:])[b, : n + 1, : n + 1]
        return TreeDistribution(matrix, space=sentences.space, id=name_in_batch(b))


def seen(array: Array) -> Numbers | None:
    """Return an array as numbers, None where it stands for numbers that are not there yet: under jit, vmap or grad."""
    return None if isinstance(array, core.Tracer) else np.asarray(jax.device_get(array))


# Elimination of words one by one, and the sweep backwards for edge marginals, in plain JAX on any device.
#
# Arc matrices have shape (n+1, n): rows are heads, the words first and ROOT last; columns are dependents. Positive
# numbers are only added, multiplied and divided (Grassmann, Taksar, Heyman 1985), as in `kernels/elimination.py`. The
# word with the most ways out goes next. With a single root the ways do not include ROOT's arcs, and the word that is
# left hangs on ROOT: none of its arcs can be missing earlier.
#
# The sweep backwards works on flows: a flow is a weight times its adjoint, the probability that a tree takes an arc or
# one of the detours that were added to its weight.
#
# A float's range is the limit. Weights are at most 1, and what is below the smallest float is lost; while every pivot
# is above `floor_of` its digits, that costs none. Where one is not, the sums are unknown, NaN.


def floor_of(dtype: Any) -> float:
    """Return the smallest sum of which what is lost below the smallest float is less than a rounding."""
    limits = np.finfo(dtype)
    return 1000 * float(limits.smallest_normal) / float(limits.eps)


@jax.jit
def sums(sentences: Sentences) -> tuple[Array, Array]:
    """Return log Z, (...,), and the marginals of arcs, (..., N, N). O(n^3).

    -inf and 0 where there is no tree; NaN where scores or length are none, or sums leave the range of their type.
    """
    single_root = sentences.space.single_root
    own, constants = shifted(sentences)
    weights = jnp.roll(jnp.exp(own.log_scores), -1, -2)[..., 1:]
    is_length = (sentences.lengths >= 1) & (sentences.lengths < weights.shape[-2])
    is_known = (own.log_scores < jnp.inf).all((-2, -1)) & is_length
    given = weights, sentences.words[..., 1:]
    flat = [part.reshape(-1, *part.shape[constants.ndim :]) for part in given]
    log_z, found = jax.vmap(partial(_of_one, single_root=single_root))(*flat)
    log_z, found = log_z.reshape(constants.shape), found.reshape(weights.shape)
    has_tree = _has_tree(own.log_scores > -jnp.inf, sentences)
    known = jnp.where(is_known, 0, jnp.nan)
    log_z = jnp.where(has_tree, log_z, -jnp.inf) + known
    found = jnp.where(has_tree[..., None, None], found, 0) + known[..., None, None]
    padding = [(0, 0)] * (found.ndim - 1) + [(1, 0)]
    return log_z + constants, jnp.pad(jnp.roll(found, 1, -2), padding)


def _of_one(weights: Array, words: Array, *, single_root: bool) -> tuple[Array, Array]:
    """log Z of weights (n+1, n), of which `words` (n,) says which are words, and their marginals. O(n^3).

    Those of ROOT have all digits with a single root.
    """
    n, count = len(words), words.sum()

    # order: (n,), the words in the order of elimination, after them anything; pivots: (n,), the weight of all arcs into
    # a word when it was eliminated, 1 for what is not a word; shares: (n+1, n), the part of the pivot that was each
    # head's, of ROOT, where it does not count, beside it; arcs: (n+1, n), each weight as it was when the first of its
    # two ends was eliminated
    def eliminate(k: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
        order, pivots, shares, arcs, left = state
        root_counts = (left.sum() == 1) | (not single_root)
        others = left[:, None] & ~jnp.eye(n, dtype=bool)
        ways = jnp.where(others, arcs[:n], 0).sum(0) + jnp.where(root_counts, arcs[n], 0)
        m = jnp.where(left, ways, -1).argmax()
        is_word = left.any()
        heads = jnp.where(jnp.append(others[:, m], is_word), arcs[:, m], 0)
        share = heads / jnp.where(ways[m] > 0, ways[m], 1)
        arcs = arcs + share[:, None] * jnp.where(others[:, m], arcs[m], 0)
        pivots = pivots.at[m].set(jnp.where(is_word, ways[m], pivots[m]))
        shares = shares.at[:, m].set(jnp.where(is_word, share, shares[:, m]))
        return order.at[k].set(m), pivots, shares, arcs, left & (jnp.arange(n) != m)

    start = jnp.zeros(n, int), jnp.ones(n, weights.dtype), jnp.zeros_like(weights), weights, words
    order, pivots, shares, arcs, _ = lax.fori_loop(0, n, eliminate, start)

    def add_flow(i: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
        flow, back = state
        k = n - 1 - i
        m, is_word = order[k], k < count
        onward = jnp.where(back, arcs[m], 0)
        through = flow * shares[:, m, None] * onward * _inverse(arcs)
        out = through.sum(1)
        root_counts = (k == count - 1) | (not single_root)
        own = shares[:, m] * jnp.where(jnp.arange(n + 1) < n, 1, root_counts)
        into = out + own * (1 - out.sum())
        changed = flow.at[:, m].set(into).at[m].set(through.sum(0))
        return jnp.where(is_word, changed, flow), back | (is_word & (jnp.arange(n) == m))

    flow, _ = lax.fori_loop(0, n, add_flow, (jnp.zeros_like(arcs), jnp.zeros(n, bool)))
    in_range = ((pivots >= floor_of(weights.dtype)) & jnp.isfinite(pivots)).all()
    known = jnp.where(in_range, 0, jnp.nan)
    return jnp.log(pivots).sum() + known, flow * (weights * _inverse(arcs)) + known


def _has_tree(arcs: Array, sentences: Sentences) -> Array:
    """Whether arcs (..., N, N) make up a tree of every sentence, (...,): some node is above all words."""
    words, n = sentences.words, arcs.shape[-1] - 1
    single_root = sentences.space.single_root
    above = (arcs.at[..., 0, :].set(False) if single_root else arcs) | jnp.eye(n + 1, dtype=bool)
    for _ in range(max(1, math.ceil(math.log2(n + 1)))):
        steps = above.astype(jnp.float32)
        above = steps @ steps > 0
    is_above = (above | ~words[..., None, :]).all(-1)
    return (is_above & words & arcs[..., 0, :]).any(-1) if single_root else is_above[..., 0]


def _inverse(numbers: Array) -> Array:
    """Return 1 over each number, 0 over 0."""
    return jnp.where(numbers > 0, 1 / jnp.where(numbers > 0, numbers, 1), 0)


# Functions of NumPy arrays that compiled code calls back.


# From arrays with the axes of a batch in front to the results of a function of NumPy arrays, which go over all of these
# axes at once. JAX's own pure callback makes JAX arrays of NumPy's first, which takes longer than many sentences do.
CALL = Primitive("deptree_call")
CALL.multiple_results = True


def call(function: Callable[..., Sequence[Numbers]], results: Sequence[tuple[Any, Any]], *given: Array) -> list[Array]:
    """Return what a function of NumPy arrays says, arrays of these shapes and types.

    At once where the numbers are there; when compiled code runs otherwise, and under `vmap` of all at once. What is
    differentiated must be linear in the last of what is given, and its own transpose, as covariances are.
    """
    shapes = tuple((tuple(shape), np.dtype(dtype)) for shape, dtype in results)
    found: list[Array] = CALL.bind(*given, function=function, results=shapes)  # type: ignore[no-untyped-call]
    return found


def _at_once(*given: Array, function: Callable[..., Sequence[Numbers]], results: Any) -> list[Array]:
    return [jnp.asarray(each) for each in function(*map(np.asarray, given))]


def _compiled(context: Any, *operands: Any, function: Callable[..., Sequence[Numbers]], results: Any) -> Any:
    """Lowering: a call from compiled code, free to be left out or made once more."""
    types, called = (context.avals_in, context.avals_out), partial(_called, function)
    emit = partial(mlir.emit_python_callback, has_side_effect=False, returns_token=False)
    return emit(context, called, None, operands, *types)[0]


def _called(function: Callable[..., Sequence[Numbers]], *given: Numbers) -> tuple[Numbers, ...]:
    """Call back: a thread of JAX's own, which knows the settings of the whole program only."""
    found = tuple(function(*given))
    if any(jax.dtypes.canonicalize_dtype(each.dtype) != each.dtype for each in found):
        problem = "float64 is enabled for a part of the program, and compiled code calls back from outside of it"
        raise DeptreeError(problem, 'Call jax.config.update("jax_enable_x64", True)')
    return found


def _batched(given: Any, axes: Any, *, function: Callable[..., Any], results: Any) -> tuple[list[Array], list[int]]:
    size = next(each.shape[axis] for each, axis in zip(given, axes, strict=True) if axis is not None)
    moved = [
        jnp.broadcast_to(each, (size, *each.shape)) if axis is None else jnp.moveaxis(each, axis, 0)
        for each, axis in zip(given, axes, strict=True)
    ]
    return call(function, [((size, *shape), dtype) for shape, dtype in results], *moved), [0] * len(results)


def _jvp(primals: Any, tangents: Any, *, function: Callable[..., Any], results: Any) -> tuple[list[Array], Any]:
    if type(tangents[0]) is not ad.Zero:
        problem = "a third derivative of log Z is asked for, as the second one of an entropy is"
        raise DeptreeError(problem, "Differentiate once less")
    found, changes = call(function, results, *primals), tangents[-1]
    return found, [changes] if type(changes) is ad.Zero else call(function, results, *primals[:-1], changes)


def _transposed(adjoints: Any, *given: Any, function: Callable[..., Any], results: Any) -> list[Any]:
    held, (adjoint,) = given[:-1], adjoints
    of_last = adjoint if type(adjoint) is ad.Zero else call(function, results, *held, adjoint)[0]
    return [*(None for _ in held), of_last]


CALL.def_impl(_at_once)  # type: ignore[no-untyped-call]
CALL.def_abstract_eval(lambda *_, function, results: [ShapedArray(*each) for each in results])  # type: ignore[no-untyped-call]
mlir.register_lowering(CALL, _compiled)
batching.primitive_batchers[CALL] = _batched
ad.primitive_jvps[CALL] = _jvp
ad.primitive_transposes[CALL] = _transposed


# The log-partition function and its derivatives: edge marginals, and their covariance.
#
# The values come from the core's kernels on the CPU, called back, or from elimination in plain JAX; the second
# derivative always from the kernels. No error is raised about a sentence, which would stop the whole program: one
# without a tree has a log Z of -inf, one whose scores or length are none has NaN.


# Who computes: plain JAX, or the kernels in one of these precisions.
DEVICE = "device"


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def log_partition_of(sentences: Sentences, how: str) -> Array:
    """Return log Z, (...,): -inf where there is no tree, NaN where scores or length are none; its gradient is 0 there.

    how: "float32" or "float64", by kernels, or `DEVICE`.
    """
    if how == DEVICE:
        return sums(sentences)[0]
    return _ask(lambda batch: [batch.log_partitions()], sentences, how, [sentences.lengths])[0]


@log_partition_of.defjvp
def _log_partition_jvp(how: str, primals: Any, tangents: Any) -> tuple[Array, Array]:
    log_z, marginals = log_partition_and_marginals(primals[0], how)
    return log_z, (marginals * tangents[0].log_scores).sum((-2, -1))


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def log_partition_and_marginals(sentences: Sentences, how: str) -> tuple[Array, Array]:
    """Return log Z, (...,), and the probabilities of arcs, (..., N, N), 0 where there is no tree."""
    if how == DEVICE:
        return sums(sentences)
    shapes = sentences.lengths, sentences.log_scores
    log_z, found = _ask(lambda batch: batch.log_partitions_and_marginals(), sentences, how, shapes)
    return log_z, found


@log_partition_and_marginals.defjvp
def _marginals_jvp(how: str, primals: Any, tangents: Any) -> Any:
    own, changes = primals[0], tangents[0].log_scores
    log_z, marginals = log_partition_and_marginals(own, how)
    (changed,) = _ask(lambda batch, values: [batch.covariances(values)], own, "float64", [changes], changes)
    return (log_z, marginals), ((marginals * changes).sum((-2, -1)), changed)


def _ask(question: Any, sentences: Sentences, precision: str, shapes: Sequence[Array], *values: Array) -> list[Array]:
    """Return what a `TreeBatch` answers about sentences and values (..., N, N): arrays of these shapes, of their type.

    Where a length is none the answer is NaN.
    """
    space = sentences.space

    def answer(log_scores: Numbers, lengths: Int, *values: Numbers) -> list[Numbers]:
        words, square = lengths.reshape(-1).astype(np.int64, copy=False), (-1, *log_scores.shape[-2:])
        is_length = (words > 0) & (words < log_scores.shape[-1])
        if wrong := not is_length.all():
            words = np.where(is_length, words, 1)
        batch = TreeBatch(log_scores.reshape(square), words, space, precision, cores(), raises=False)
        found = list(question(batch, *(each.reshape(square) for each in values)))
        if wrong:
            for part in found:
                part[~is_length] = np.nan
        return [part.astype(log_scores.dtype, copy=False).reshape((*lengths.shape, *part.shape[1:])) for part in found]

    results = [(each.shape, sentences.log_scores.dtype) for each in shapes]
    return call(answer, results, sentences.log_scores, sentences.lengths, *values)


# The log-partition function and edge marginals, by the core's kernels or by elimination in plain JAX.


# Where log Z and marginals are computed: by our kernels on the CPU, which compiled code calls back; in plain JAX, where
# the scores are; or as the default backend of JAX suggests.
IMPLEMENTATIONS = ("auto", "kernels", "device")


def log_partition(
    log_scores: ArrayLike,
    lengths: Lengths = None,
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
    log_z = log_partition_of(sentences, _how(implementation, sentences))
    require_trees(log_z, sentences)
    return log_z


def marginals(
    log_scores: ArrayLike,
    lengths: Lengths = None,
    space: SpaceLike = None,
    implementation: str = "auto",
    **short: Unpack[Short],
) -> Array:
    """Return the probability of every arc, (..., N, N). O(n^3).

    Arguments and errors as in `log_partition`; all are 0 if that returns -inf.
    """
    sentences = sentences_of(log_scores, lengths, space, **short)
    log_z, found = log_partition_and_marginals(sentences, _how(implementation, sentences))
    require_trees(log_z, sentences)
    return found


def _how(implementation: str, sentences: Sentences) -> str:
    if implementation not in IMPLEMENTATIONS:
        remedy = did_you_mean(str(implementation), IMPLEMENTATIONS, one_of(IMPLEMENTATIONS))
        raise DeptreeError(f"unknown implementation {implementation!r}", remedy)
    projective = sentences.space.projective
    if implementation == "device" and projective:
        raise DeptreeError("projective trees are summed by kernels only", "Leave out the implementation")
    on_device = implementation == "device" or (implementation == "auto" and jax.default_backend() != "cpu")
    return DEVICE if on_device and not projective else str(sentences.log_scores.dtype)
