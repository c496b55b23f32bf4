"""Wilson's walk (1996) on packed alias tables: arborescences of a graph by loop-erased random walks.

A table has one row per word and 2^bits entries per row. An entry is a 48-bit threshold and a 16-bit alias head in one
uint64: one random draw gives the bucket (its first bits) and the number to compare with the threshold (the next 48),
and one load fetches both. Bucket b stands for head b itself; buckets beyond the last head have threshold 0. As the
number of buckets is a power of two, there is no modulo and no bias from one; thresholds of 32 bits or float32 would
bias saturated words or trap walks in them.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.kernels.categorical import draw_categorical
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import U64, step

ROOT = U64(0)
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
    (n+1, 2^bits), filled where a column has a positive weight. A head of weight 0 is never drawn, whatever rounding
    leaves over.
    """
    nodes = weights.shape[0]
    buckets = 1 << bits
    small = np.empty(buckets, np.int64)
    large = np.empty(buckets, np.int64)
    q = np.empty(buckets)
    for u in range(nodes):
        total = 0.0
        top = first_head
        for v in range(first_head, nodes):
            total += weights[v, u]
            if weights[v, u] > weights[top, u]:
                top = v
        if total > 0.0:
            fill_row(weights[:, u], first_head, buckets / total, top, tables[u], q, small, large)


@kernel
def fill_row(weights, first_head, factor, top, table, q, small, large):
    """Fill one word's table (2^bits,): pair buckets with less than their share of the weight with ones that have more.

    weights: (n+1,); factor: what scales them so that a bucket's share is 1; top: the heaviest head; q, small, large:
    (2^bits,) to compute in.
    """
    smalls = 0
    larges = 0
    for b in range(table.shape[0]):
        q[b] = weights[b] * factor if first_head <= b < weights.shape[0] else 0.0
        if q[b] < 1.0:
            small[smalls] = b
            smalls += 1
        else:
            large[larges] = b
            larges += 1
    while smalls > 0 and larges > 0:
        smalls -= 1
        a = small[smalls]
        b = large[larges - 1]
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
        own = first_head <= b < weights.shape[0] and weights[b] > 0.0
        table[b] = entry(ALWAYS, b) if own else entry(U64(0), top)


def walk_that(rejects):
    """Return the walk as a kernel, without or with the rejection of trees that have several ROOT arcs.

    A step is a serial chain (random bits, table load, select), written here as one loop with the generator's state in
    local variables: a call per word would double its time, and counting ROOT arcs that nobody needs would add a tenth.
    """

    @kernel(allocates=True)
    def walk(tables, bits, roots, state, budget, spare, heads, abandoned):
        """Fill heads (k, n), int32, with arborescences rooted at the nodes roots[i]; return the trials and steps taken.

        A word that is a root gets head 0. With rejection (all roots 0: Wilson-Reject, Stanojevic 2022, Alg. 4) a tree
        is drawn again until it has one ROOT arc, a trial ending at its second. A tree takes the mean hitting time.

        tables: flattened, from `build_tables`; state: of `xoshiro.py`; abandoned: bool (k,), set where `budget` steps,
        of all trials together, were not enough (the heads are then meaningless). spare: (1,) int64, the steps that all
        trees together may take beyond their budgets; what they take is subtracted.
        """
        n = heads.shape[1]
        stamp = np.zeros(n + 1, np.int64)  # stamp[u] == now: u is part of the tree
        s0, s1, s2, s3 = state
        shift = U64(64 - bits)
        width = U64(bits)
        now = 0
        steps = 0
        for i in range(heads.shape[0]):
            row = heads[i]
            budgeted = steps + budget
            limit = budgeted + spare[0]
            root = U64(roots[i])
            while True:
                now += 1
                stamp[root] = now
                root_arcs = 0
                for start in range(1, n + 1):
                    u = U64(start)
                    while stamp[u] != now:
                        z, s0, s1, s2, s3 = step(s0, s1, s2, s3)
                        b = z >> shift
                        e = tables[(u << width) | b]
                        v = b if ((z << width) >> ALIAS) < (e >> ALIAS) else e & ALIAS_MASK
                        row[u - ONE] = v  # the last exit from u is its head
                        u = v
                        steps += 1
                        if steps > limit:
                            break
                    if steps > limit:
                        break
                    u = U64(start)
                    while stamp[u] != now:
                        stamp[u] = now
                        u = U64(row[u - ONE])
                        if rejects:
                            root_arcs += u == ROOT
                    if rejects and root_arcs > 1:
                        break
                if not rejects or root_arcs == 1 or steps > limit:
                    break
            abandoned[i] = steps > limit
            spare[0] -= min(max(steps - budgeted, 0), spare[0])
            if root != ROOT:
                row[root - ONE] = 0
        state[0], state[1], state[2], state[3] = s0, s1, s2, s3
        return now, steps

    return walk


walk = walk_that(rejects=False)
walk_until_single_root = walk_that(rejects=True)


@kernel
def draw_roots(tables, bits, state, roots):
    """Fill roots (k,) with draws from row 0 of the flattened tables."""
    s0, s1, s2, s3 = state
    for i in range(roots.shape[0]):
        z, s0, s1, s2, s3 = step(s0, s1, s2, s3)
        b = z >> U64(64 - bits)
        e = tables[b]
        roots[i] = b if ((z << U64(bits)) >> ALIAS) < (e >> ALIAS) else e & ALIAS_MASK
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3


@kernel(allocates=True)
def walk_without_tables(weights, single_root, state, budget, spare, heads, roots, abandoned):
    """Fill roots (k,) if `single_root` (else with 0), heads (k, n) and abandoned (k,) as `draw_roots` and `walk` do.

    Returns how many steps were taken. Draws scan the columns of weights (n+1, n+1): for a few trees that is quicker
    than building tables.
    """
    n = heads.shape[1]
    first_head = 1 if single_root else 0
    totals = np.zeros(n + 1)
    for u in range(n + 1):
        for v in range(first_head, n + 1):
            totals[u] += weights[v, u]
    stamp = np.full(n + 1, -1, np.int64)
    steps = 0
    for i in range(heads.shape[0]):
        row = heads[i]
        left = budget + spare[0]
        roots[i] = draw_categorical(weights[:, 0], first_head, n + 1, totals[0], state) if single_root else 0
        stamp[roots[i]] = i
        for start in range(1, n + 1):
            u = start
            while stamp[u] != i and left >= 0:
                row[u - 1] = draw_categorical(weights[:, u], first_head, n + 1, totals[u], state)
                u = row[u - 1]
                left -= 1
            if left < 0:
                break
            u = start
            while stamp[u] != i:
                stamp[u] = i
                u = row[u - 1]
        abandoned[i] = left < 0
        steps += budget + spare[0] - left
        spare[0] = min(spare[0], max(left, 0))
        if roots[i] > 0:
            row[roots[i] - 1] = 0
    return steps


@kernel
def walk_with_fixed(tables, bits, root, fixed, state, budget, now, stamp, row):
    """Fill row (n,), int32, with an arborescence rooted at node `root` that has the given heads, by walking the rest.

    fixed: (n+1,) the heads by node, negative where not given; stamp: int64 (n+1,) that does not contain `now`. A root
    that is a word gets head 0. Returns how many of `budget` steps are left, a negative number if they were not enough.
    """
    s0, s1, s2, s3 = state
    left = budget
    stamp[root] = now
    for start in range(1, row.shape[0] + 1):
        u = start
        while stamp[u] != now and left >= 0:
            v = fixed[u]
            if v < 0:
                z, s0, s1, s2, s3 = step(s0, s1, s2, s3)
                b = z >> U64(64 - bits)
                e = tables[(U64(u) << U64(bits)) | b]
                v = np.int64(b if ((z << U64(bits)) >> ALIAS) < (e >> ALIAS) else e & ALIAS_MASK)
            row[u - 1] = v
            u = v
            left -= 1
        if left < 0:
            break
        u = start
        while stamp[u] != now:
            stamp[u] = now
            u = row[u - 1]
    if root > 0:
        row[root - 1] = 0
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return left
