"""log Z and marginals by our kernels on the CPU: called back from compiled code, or at once where nothing is traced."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from deptree_cli.core.batches.tree_batch import TreeBatch
from deptree_cli.core.dtypes import Array as Numbers
from deptree_cli.core.dtypes import Int
from deptree_cli.core.spaces import TreeSpace, space
from deptree_cli.core.workers import cores
from deptree_cli.jax.batches import Padded, seen


def by_kernels(sentences: Padded, *, with_marginals: bool) -> list[Array]:
    """Return log Z, (...,), and the marginals of arcs, (..., N, N), if they are wanted; in the scores' precision.

    -inf and 0 of a sentence that has no tree, NaN of one whose scores or length are none.
    """
    scores, lengths = lax.stop_gradient(sentences.log_scores), sentences.lengths
    given = scores, lengths, jnp.broadcast_to(sentences.single_root, lengths.shape)
    answer = partial(_answers, sentences.projective, with_marginals)
    if all(seen(part) is not None for part in given):
        return [jnp.asarray(each) for each in answer(*map(np.asarray, given))]
    bits = lax.bitcast_convert_type(scores, jnp.uint32)
    shapes = [(*shape, *bits.shape[scores.ndim :]) for shape in (lengths.shape, scores.shape)[: 1 + with_marginals]]
    results = [jax.ShapeDtypeStruct(shape, jnp.uint32) for shape in shapes]  # type: ignore[no-untyped-call]
    of_bits = partial(_answers_in_bits, answer, np.dtype(scores.dtype))
    corner = (..., *(0,) * (bits.ndim - lengths.ndim))
    noted = bits.at[corner].set((2 * given[1] + given[2]).astype(jnp.uint32))
    found = jax.pure_callback(of_bits, results, noted, vmap_method="broadcast_all")
    return [lax.bitcast_convert_type(each, scores.dtype) for each in found]


def _answers_in_bits(answer: Any, dtype: np.dtype[Any], given: Any) -> list[Numbers]:
    """What is answered of the bits of scores, which have length and root mode in an entry that is ignored.

    As bits, for where float64 is enabled in a block of code only, the thread that is called back has none; and in one
    array, for each takes as long on its way as ten sentences of ten words.
    """
    bits = np.asarray(given)
    pair = bits.shape[bits.ndim - (dtype.itemsize // 4 - 1) :]
    scores = bits.reshape(-1).view(dtype).reshape(bits.shape[: bits.ndim - len(pair)])
    corner: Any = (..., *(0,) * (2 + len(pair)))
    notes = bits[corner].astype(np.int32)
    found = answer(scores, notes >> 1, notes & 1)
    return [each.reshape(-1).view(np.uint32).reshape((*each.shape, *pair)) for each in found]


def _answers(
    projective: bool, with_marginals: bool, log_scores: Numbers, lengths: Numbers, modes: Numbers
) -> list[Numbers]:
    """The two, of scores (..., N, N), lengths and root modes (...,), which differ where `vmap` is over them."""
    scores, words = log_scores.reshape(-1, *log_scores.shape[-2:]), lengths.reshape(-1)
    kinds = np.where((words > 0) & (words < scores.shape[-1]), modes.reshape(-1), -1)
    first = int(kinds[0]) if kinds.size else -1
    if first >= 0 and (kinds == first).all():
        found = _of_kind(scores, words, space(bool(first), projective), with_marginals)
    else:
        found = [np.full(shape, np.nan, scores.dtype) for shape in (words.shape, scores.shape)[: 1 + with_marginals]]
        for kind in set(kinds.tolist()) - {-1}:
            own = kinds == kind
            parts = _of_kind(scores[own], words[own], space(bool(kind), projective), with_marginals)
            for out, part in zip(found, parts, strict=True):
                out[own] = part
    return [out.reshape((*lengths.shape, *out.shape[1:])) for out in found]


def _of_kind(scores: Numbers, words: Int, trees: TreeSpace, with_marginals: bool) -> list[Numbers]:
    """The same of scores (B, N, N) and lengths (B,) over one kind of trees."""
    batch = TreeBatch(scores, words, trees, str(scores.dtype), cores())
    if not with_marginals:
        return [batch.log_partitions(raises=False).astype(scores.dtype)]
    log_z, marginals = batch.log_partitions_and_marginals(raises=False)
    return [log_z.astype(scores.dtype), marginals]
