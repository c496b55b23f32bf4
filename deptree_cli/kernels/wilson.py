"""Wilson's walk (1996) on packed alias tables: arborescences of a graph by loop-erased random walks.

A walk may take arbitrarily long: words that choose each other with probability 1 - 1e-12 keep it for 1e11 steps. So
all that is drawn by walking here has a limit of steps. The steps are as many as the cycles that a walk pops have
arcs, and one for each word; the cycles are independent of the tree given the graph and the root (Wilson 1996). So a
walk that was given up says nothing about its tree, which may be drawn anew, for the same root, by another exact
sampler.

A table has one row per word and 2^bits entries per row. An entry is a 48-bit threshold and a 16-bit alias head in one
uint64: one random draw gives the bucket (its first bits) and the number to compare with the threshold (the next 48),
and one load fetches both. Bucket b stands for head b itself; buckets beyond the last head have threshold 0. As the
number of buckets is a power of two, there is no modulo and no bias from one; thresholds of 32 bits or float32 would
bias saturated words or trap walks in them.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.head_path import FREE
from deptree_cli.kernels.xoshiro import U64, step

ONE = U64(1)
ALIAS = U64(16)
ALIAS_MASK = U64(0xFFFF)
ALWAYS = U64(0xFFFFFFFFFFFF)


@kernel
def entry(threshold, alias):
    """Return a table entry, uint64."""
    return (threshold << ALIAS) | U64(alias)


@kernel(allocates=True)
def build_tables(weights, first_head, bits, tables):
    """Fill alias tables (Walker 1974, Vose 1991): row u draws word u's head from first_head..n, row 0 the root.

    weights: (n+1, n+1), ``[head, dependent]``, at most about 1 each; column 0 has the weights of roots. tables: uint64
    (n+1, 2^bits), filled where a column has a positive weight: buckets with less than their share of it are paired with
    ones that have more. A head of weight 0 is never drawn, whatever rounding leaves over.
    """
    nodes, buckets = weights.shape[0], 1 << bits
    small, large, q = np.empty(buckets, np.int64), np.empty(buckets, np.int64), np.empty(buckets)
    for u in range(nodes):
        total, top, table, smalls, larges = 0.0, first_head, tables[u], 0, 0  # top: the heaviest head
        for v in range(first_head, nodes):
            total += weights[v, u]
            if weights[v, u] > weights[top, u]:
                top = v
        if not total > 0.0:
            continue
        factor = buckets / total  # so that a bucket's share is 1
        for b in range(buckets):
            q[b] = weights[b, u] * factor if first_head <= b < nodes else 0.0
            if q[b] < 1.0:
                small[smalls] = b
                smalls += 1
            else:
                large[larges] = b
                larges += 1
        while smalls > 0 and larges > 0:
            smalls -= 1
            a, b = small[smalls], large[larges - 1]
            table[a] = entry(U64(q[a] * 281474976710656.0), b)
            q[b] = (q[b] + q[a]) - 1.0
            if q[b] < 1.0:
                larges -= 1
                small[smalls] = b
                smalls += 1
        for i in range(larges):
            table[large[i]] = entry(ALWAYS, large[i])
        for i in range(smalls):  # rounding left these a little below their share
            b = small[i]
            own = first_head <= b < nodes and weights[b, u] > 0.0
            table[b] = entry(ALWAYS, b) if own else entry(U64(0), top)


@kernel(forceinline=True)
def head_by(tables, bits, u, z):
    """Return the head of node u that 64 random bits choose from the flattened tables."""
    bucket = z >> U64(64 - bits)
    found = tables[(u << U64(bits)) | bucket]
    return bucket if ((z << U64(bits)) >> ALIAS) < (found >> ALIAS) else found & ALIAS_MASK


@kernel(allocates=True)
def draw_roots(tables, bits, state, roots):
    """Fill roots (k,) with draws from row 0 of the flattened tables."""
    s0, s1, s2, s3 = state
    for i in range(roots.shape[0]):
        z, s0, s1, s2, s3 = step(s0, s1, s2, s3)
        roots[i] = head_by(tables, bits, U64(0), z)
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@kernel
def walk(tables, bits, root, fixed, state, limit, now, stamp, row):
    """Fill row (n,), int32, with an arborescence rooted at a node, by Wilson's algorithm (1996).

    From each word in turn walk from head to head until the tree is met; the last exit from a word is its head. That is
    as long as the mean hitting time. A root that is a word gets head 0.

    tables: flattened, from `build_tables`; fixed: (n+1,) the heads given, by node, negative where none is; state: of
    `xoshiro.py`; stamp: int64 (n+1,) that does not contain `now`, which marks the tree. Returns how many of `limit`
    steps are left, a negative number if they were not enough: the row is then meaningless.
    """
    s0, s1, s2, s3 = state
    stamp[root] = now
    for start in range(1, row.shape[0] + 1):
        u = U64(start)
        while stamp[u] != now and limit >= 0:
            head = U64(fixed[u])
            if fixed[u] < 0:
                z, s0, s1, s2, s3 = step(s0, s1, s2, s3)
                head = head_by(tables, bits, u, z)
            row[u - ONE] = head
            u = head
            limit -= 1
        if limit < 0:
            break
        u = U64(start)
        while stamp[u] != now:
            stamp[u] = now
            u = U64(row[u - ONE])
    if root > 0:
        row[root - 1] = 0
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return limit


@kernel(allocates=True)
def walk_trees(tables, bits, roots, state, limit, until_single_root, heads):
    """Fill heads (k, n), int32, with arborescences rooted at the nodes roots (k,), one after another.

    until_single_root: each again until it has one ROOT arc (Wilson-Reject: Stanojevic 2022, Alg. 4). Returns how many
    there are before the first walk that did not end, and how many of `limit` steps are left.
    """
    free, stamp = np.full(heads.shape[1] + 1, FREE), np.zeros(heads.shape[1] + 1, np.int64)
    walks = 0
    for i in range(heads.shape[0]):
        is_wanted = False
        while not is_wanted:
            walks += 1
            limit = walk(tables, bits, roots[i], free, state, limit, walks, stamp, heads[i])
            if limit < 0:
                return i, limit
            root_arcs = 0
            for head in heads[i]:
                root_arcs += head == 0
            is_wanted = not until_single_root or root_arcs == 1
    return heads.shape[0], limit
