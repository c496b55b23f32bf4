"""The output of `deptree swor`, read to estimate from: ranks and tau tell whether it is whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float, Heads
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.estimate import check_draws
from deptree_cli.core.swor.draws import window_of
from deptree_cli.io.trees import read_trees
from deptree_cli.io.trees.base import GivenTree, number_of, sentence_of

# Trees come at the rate 1, all together; the square of a weight, at most of 1 / tau, must be a number.
_SHORTEST = 1e-100

_REMEDY = "Give the whole output of deptree swor, JSON Lines or CoNLL-U"


class DrawnTrees(NamedTuple):
    """All distinct trees drawn of one sentence: heads (k, n), log_probs (k,), and what else `estimate` needs.

    tau: when the next would have come; certain: how many of the first reached the mass that was asked for; window: the
    time from the last of these to tau; arrivals: (k,), None in a file without them.
    """

    sent_id: str
    heads: Heads
    log_probs: Float
    tau: float
    place: str
    certain: int
    window: float
    arrivals: Float | None = None

    @property
    def weight(self) -> int:
        return 0


def read_draws(path: str) -> Iterator[DrawnTrees | DeptreeError]:
    """The output of `deptree swor`, sentence by sentence, or with ``file:line`` what is wrong with a sentence's trees.

    What is no tree makes the sentence useless that it stands in: nobody knows what it was.

    Raises:
        DeptreeError: reading cannot begin or go on.
    """
    trees: list[GivenTree | DeptreeError] = []
    for tree in read_trees(path):
        if trees and _apart(trees[-1], tree):
            yield _together(trees)
            trees = []
        trees.append(tree)
        if isinstance(tree, GivenTree) and tree.notes.tau is not None:
            yield _together(trees)
            trees = []
    if trees:
        yield _together(trees)


def _apart(one: GivenTree | DeptreeError, other: GivenTree | DeptreeError) -> bool:
    if isinstance(one, GivenTree) and isinstance(other, GivenTree):
        return (sentence_of(one), len(one.heads)) != (sentence_of(other), len(other.heads))
    return number_of(other) == 1 or (bool(one.sent_id and other.sent_id) and sentence_of(one) != sentence_of(other))


def _together(found: Sequence[GivenTree | DeptreeError]) -> DrawnTrees | DeptreeError:
    trees: list[GivenTree] = []
    for tree in found:
        if isinstance(tree, DeptreeError):
            return tree
        trees.append(tree)
    try:
        for tree in trees:
            _check_numbers(tree)
        if trees[-1].notes.tau is None:
            raise _refused("the sentence's last tree, which carries tau, is missing", trees[-1])
        _check_order(trees)
        return _checked(trees)
    except DeptreeError as error:
        error.remedy = _REMEDY
        return error.at(trees[0].place, trees[0].sent_id)


def _refused(problem: str, tree: GivenTree) -> DeptreeError:
    return DeptreeError(problem, place=tree.place, sent_id=tree.sent_id)


def _check_numbers(tree: GivenTree) -> None:
    log_prob, tau, since = tree.notes.log_prob, tree.notes.tau, tree.notes.since or 0.0
    if log_prob is None:
        raise _refused("log_prob is missing", tree)
    if not -math.inf < log_prob <= 0:
        raise _refused("log_prob is not the logarithm of a probability", tree)
    if tau is not None and not tau > _SHORTEST:
        raise _refused("tau is not a time", tree)
    if tau is not None and not 0 <= since < tau:
        raise _refused("since is not a time before tau", tree)
    for name, value in zip(tree.notes._fields, tree.notes, strict=True):
        if value is not None and math.isnan(value):
            raise _refused(f"{name} is not a number", tree)


def _check_order(trees: Sequence[GivenTree]) -> None:
    ranked = any(tree.notes.rank is not None for tree in trees)
    seen: dict[tuple[object, ...], str] = {}
    for number, tree in enumerate(trees, 1):
        if ranked and tree.notes.rank != number:
            rank = "none" if tree.notes.rank is None else f"{tree.notes.rank:g}"
            raise _refused(f"tree {number} of the sentence has rank {rank}: one is missing or out of order", tree)
        labels = tree.labels if tree.distinct and not tree.label_draws else ()
        before = seen.setdefault((tree.heads, labels), tree.place)
        if before != tree.place:
            raise _refused(f"the same tree stands at {before}", tree)


def _checked(trees: Sequence[GivenTree]) -> DrawnTrees:
    """The trees, if they are what the numbers beside them say."""
    heads = np.array([tree.heads for tree in trees], dtype=np.int32)
    log_probs, last = _noted("log_prob", trees), trees[-1].notes
    tau, certain, since = float(last.tau or 0.0), last.certain or 0.0, last.since or 0.0
    if not (certain.is_integer() and 0 <= certain <= len(trees) and (certain > 0) == (since > 0)):
        what = f"certain is not a number of trees, 0 to {len(trees)}, and since when the last of them came"
        raise _refused(what, trees[-1])
    times = _noted("arrival", trees)
    arrivals = None if np.isnan(times).all() else np.where(np.isnan(times), np.inf, times)  # null: beyond all numbers
    place, window = trees[0].place, window_of(since, tau)
    draws = DrawnTrees(trees[0].names[-1], heads, log_probs, tau, place, int(certain), window, arrivals)
    check_draws(draws)
    if arrivals is not None and arrivals[-1] > tau:
        raise _refused("the tree came after tau", trees[-1])
    return draws


def _noted(name: str, trees: Sequence[GivenTree]) -> Float:
    return np.array([getattr(tree.notes, name) for tree in trees], dtype=np.float64)
