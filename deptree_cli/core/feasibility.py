"""Whether there is a tree of allowed arcs at all, which words may be its root, and which arcs some tree contains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deptree_cli import kernels
from deptree_cli.core import errors
from deptree_cli.core.dtypes import Bool, read_only
from deptree_cli.core.errors import DeptreeError, words
from deptree_cli.core.factorisation import Rules, crossing_pairs

SEVERAL_ROOTS = f"or allow several roots ({errors.SEVERAL_ROOTS})"


def check_feasible(allowed: Bool, space: Rules) -> None:
    """Raise unless some tree uses allowed arcs only. allowed: (n+1, n+1), ``[head, dependent]``. O(n^2) per
    breadth-first step.

    A spanning tree exists iff ROOT reaches every word; a dependency tree iff some word that ROOT may govern reaches
    every other word without passing ROOT.
    """
    kind = "single-root tree" if space.single_root else "tree"
    headless = np.flatnonzero(~allowed[:, 1:].any(axis=0)) + 1
    if headless.size:
        have = "has" if headless.size == 1 else "have"
        raise DeptreeError(
            f"no {kind} is possible: {words(headless)} {have} no head with a finite score",
            "Allow at least one arc into each word",
        )
    candidates = np.flatnonzero(allowed[0])
    if not candidates.size:
        raise DeptreeError(f"no {kind} is possible: no word may attach to ROOT", "Allow at least one arc from ROOT")
    if not space.single_root:
        _check_reached(_reached(allowed, [0]), "ROOT", kind)
        return
    only_root = np.flatnonzero(~allowed[1:, 1:].any(axis=0)) + 1
    if only_root.size > 1:
        raise DeptreeError(
            f"no single-root tree is possible: {words(only_root)} can attach to ROOT only",
            f"Allow another head for all but one of them, {SEVERAL_ROOTS}",
            options=[errors.SEVERAL_ROOTS],
        )
    if not possible_roots(allowed).any():
        root = int(candidates[0])
        _check_reached(_reached(allowed, [root]), f"the possible root {root}", kind)


def crossing_is_needed(allowed: Bool, space: Rules) -> DeptreeError:
    """What to say where every tree of allowed arcs, (n+1, n+1), has some that cross; there is a tree. Names two."""
    kind = "single-root tree" if space.single_root else "tree"
    supported = supported_arcs(allowed, space)
    certain = supported & (supported.sum(axis=0) == 1)
    pair = next(crossing_pairs(certain), None)
    if pair is not None:
        (head, word), (other, below) = pair
        problem = f"no projective tree is possible: the arcs {head} -> {word} and {other} -> {below} cross, and words "
        problem += f"{min(word, below)} and {max(word, below)} have no other head"
    else:  # two arcs that cross in some tree; if possible one that is in every tree
        heads, tree = np.empty(len(allowed) - 1, dtype=np.int32), np.zeros_like(allowed)
        kernels.trees.best_tree(read_only(np.where(allowed, 0.0, -np.inf)), space.single_root, heads)
        tree[heads, np.arange(1, len(allowed))] = True
        pairs = crossing_pairs(tree)
        (head, word), (other, below) = max(pairs, key=lambda pair: sum(certain[arc] for arc in pair))
        problem = f"no projective {kind} is possible: in every {kind} of arcs with a finite score some cross, such as "
        problem += f"{head} -> {word} and {other} -> {below}"
    remedy = f"Allow more arcs, or leave out {errors.PROJECTIVE}"
    return DeptreeError(problem, remedy, options=[errors.PROJECTIVE])


def possible_roots(allowed: Bool) -> Bool:
    """Which words may be the one root of a single-root tree: shape (n+1,), entry 0 False.

    A word that reaches every other one belongs to the one strongly connected component from which all others are
    reached; if there is any, the word from which the last of successive searches started is one. So two sweeps suffice.
    """
    seen, last = np.zeros(len(allowed), dtype=bool), 0
    for word in range(1, len(allowed)):
        if not seen[word]:
            seen |= _reached(allowed, [word])
            last = word
    if not _reached(allowed, [last])[1:].all():
        return np.zeros(len(allowed), dtype=bool)
    return _reached(allowed.T, [last]) & allowed[0]


def supported_arcs(allowed: Bool, space: Rules) -> Bool:
    """The arcs that some tree of allowed arcs contains, (n+1, n+1), where there is a tree; no numbers, no rounding.

    A tree has h -> d iff h can be reached from ROOT (under the single-root constraint: from a possible root) on a way
    that does not pass d: that way and the arc grow into a tree, for every word can be reached. So an arc between words
    is in no tree iff its dependent dominates its head. O(n^2) a pass, few passes.
    """
    supported = allowed.copy()
    starts = possible_roots(allowed) if space.single_root else allowed[0].copy()
    supported[0] = starts
    n = len(allowed) - 1
    if starts.sum() > 1 and np.count_nonzero(allowed[1:, 1:]) == n * (n - 1):
        return supported  # no word stands in the way of another
    between = allowed.copy()
    between[0] = False
    kernels.trees.forbid_dominating(between, starts, supported)
    return supported


def _reached(allowed: Bool, start: Sequence[int]) -> Bool:
    reached = np.zeros(len(allowed), dtype=bool)
    reached[list(start)] = True
    while True:
        grown = reached | allowed[reached].any(axis=0)
        if (grown == reached).all():
            return reached
        reached = grown


def _check_reached(reached: Bool, start: str, kind: str) -> None:
    missing = np.flatnonzero(~reached[1:]) + 1
    if missing.size:
        remedy = "Allow more arcs" + (f", {SEVERAL_ROOTS}" if kind == "single-root tree" else "")
        problem = f"no {kind} is possible: {words(missing)} cannot be reached from {start}"
        raise DeptreeError(problem, remedy, options=[errors.SEVERAL_ROOTS])
