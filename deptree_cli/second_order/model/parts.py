"""Scores of parts of trees beyond arcs (grandparents, adjacent siblings), from how they come to checked log-scores."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.dtypes import Bool, Float, Heads, read_only
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.scores import check_numbers, checked_temperature, real_numbers, to_log


@lru_cache(1)
def _grandparents(nodes: int) -> Bool:
    above, head, dependent = np.ogrid[:nodes, :nodes, :nodes]
    outside = (above < np.minimum(head, dependent)) | (above > np.maximum(head, dependent))
    return read_only(outside & (head > 0) & (dependent > 0) & (head != dependent))


@lru_cache(1)
def _siblings(nodes: int) -> Bool:
    head, sibling, dependent = np.ogrid[:nodes, :nodes, :nodes]
    between = (np.minimum(head, dependent) < sibling) & (sibling < np.maximum(head, dependent))
    return read_only((between | (sibling == head)) & (dependent > 0) & (head != dependent))


# The kinds of parts: a number of nodes (n+1) -> the parts that some projective tree has, (n+1, n+1, n+1).
PARTS: dict[str, Callable[[int], Bool]] = {"grandparent": _grandparents, "sibling": _siblings}

# What the axes of their arrays are, in this order.
AXES = {"grandparent": ("grandparent", "head", "dependent"), "sibling": ("head", "sibling", "dependent")}


def checked_part(name: str, scores: ArrayLike, nodes: int, scale: str, temperature: float = 1.0) -> Float:
    """Natural logarithms of the weights of parts, (n+1, n+1, n+1); ``-inf`` forbids, also what no projective tree has.

    Args:
        name: of the kind of parts, in `PARTS`.
        scores: of that shape, by `AXES`; those of parts that no projective tree has are ignored.
        nodes: n+1.
        scale, temperature: as for `TreeDistribution`.

    Raises:
        DeptreeError: says which array is wrong, and how.
    """
    array, possible = _cube(name, scores, nodes), PARTS[name](nodes)
    array[~possible] = 0.0
    check_numbers(array, scale, partial(_place, name), "parts")
    log_scores = checked_temperature(to_log(array, scale), temperature)
    log_scores[~possible] = -np.inf
    return log_scores


def forbids_some(name: str, log_scores: Float) -> bool:
    """Whether checked log-scores forbid a part that some projective tree has."""
    return bool(np.isneginf(log_scores[PARTS[name](len(log_scores))]).any())


def _cube(name: str, scores: ArrayLike, nodes: int) -> Float:
    array = real_numbers(scores, f"{name} scores")
    if array.shape != (nodes,) * 3:
        problem = f"the {name} scores have shape {array.shape}, those of arcs {(nodes,) * 2}"
        raise DeptreeError(problem, f"Give an array {(nodes,) * 3}: {', '.join(AXES[name])}")
    return array


def _place(name: str, at: tuple[int, ...], what: str) -> str:
    """A part of a tree, for a message."""
    places = ", ".join(f"{axis} {node or 'ROOT'}" for axis, node in zip(AXES[name], at, strict=True))
    return f"{name} score of {places}"


def of_words(heads: Heads, grandparent: Float | None, sibling: Float | None) -> Float:
    """What a projective tree's words, (n,), get from their grandparents and siblings."""
    found = np.zeros(len(heads))
    for d, h in enumerate(heads.tolist(), 1):
        step = 1 if h > d else -1
        s = next(s for s in range(d + step, h + step, step) if s == h or heads[s - 1] == h)
        found[d - 1] = 0.0 if sibling is None else sibling[h, s, d]
        found[d - 1] += 0.0 if grandparent is None or h == 0 else grandparent[heads[h - 1], h, d]
    return found
