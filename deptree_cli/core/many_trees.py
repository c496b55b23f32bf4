"""The heads of many trees in the smallest integers that hold them: a quarter of the memory, mostly.

Kernels know int32 only, to be compiled once. So large arrays are filled, and read, block by block.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from deptree_cli.core.dtypes import Heads, Integers, smallest_type

# So many heads are int32 all the same: what that costs is not worth a copy.
FEW = 1 << 20

# Trees that are filled or read at once.
BLOCK = 4096


def empty_heads(size: int, n: int) -> Integers:
    """Memory for the heads of trees, (size, n)."""
    return np.empty((size, n), dtype=np.int32 if size * n <= FEW else smallest_type(n))


def blocks_to_fill(heads: Integers) -> Iterator[tuple[slice, Heads]]:
    """Yield which trees, and int32 memory for them that is theirs, or copied there once it is filled."""
    if heads.dtype == np.int32:
        yield slice(0, len(heads)), heads.view(np.int32)
        return
    memory = np.empty((min(BLOCK, len(heads)), heads.shape[1]), dtype=np.int32)
    for trees in _blocks(heads):
        block = memory[: trees.stop - trees.start]
        yield trees, block
        heads[trees] = block


def blocks_to_read(heads: Integers) -> Iterator[tuple[slice, Heads]]:
    """Yield which trees, and their heads as int32, one row behind the other."""
    for trees in [slice(0, len(heads))] if heads.dtype == np.int32 else _blocks(heads):
        yield trees, np.ascontiguousarray(heads[trees], dtype=np.int32)


def _blocks(heads: Integers) -> Iterator[slice]:
    return (slice(start, min(start + BLOCK, len(heads))) for start in range(0, len(heads), BLOCK))
