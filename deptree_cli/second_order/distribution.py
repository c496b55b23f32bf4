"""Distributions over projective trees by scores of arcs, grandparents and adjacent siblings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike

from deptree_cli.core.arc_factored import GivenHeads, GivenLabels, OverTrees
from deptree_cli.core.counts import how_many, room_for_trees
from deptree_cli.core.dtypes import Bool, Float, Heads, Integers, read_only
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.factorisation import shift as shift_arcs
from deptree_cli.core.masks import MOST, may_be_masks, need_of_masks
from deptree_cli.core.scores import check_numbers, checked_log_scores, checked_temperature, real_numbers, to_log
from deptree_cli.core.spaces import space
from deptree_cli.core.streams import Randomness, stream_of

if TYPE_CHECKING:
    from deptree_cli.second_order.chart import SecondOrderChart, Shifted


# Scores of parts of trees beyond arcs (grandparents, adjacent siblings), from how they come to checked log-scores.


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

    Scores are of that shape, by `AXES`; `name` is that of the kind of parts, in `PARTS`.
    """
    array, possible = _cube(name, scores, nodes), PARTS[name](nodes)
    array[~possible] = 0.0
    check_numbers(array, scale, partial(_place, name), "parts")
    log_scores = checked_temperature(to_log(array, scale), temperature)
    log_scores[~possible] = -np.inf
    return log_scores


def forbids_some(name: str, log_scores: Float) -> bool:
    return bool(np.isneginf(log_scores[PARTS[name](len(log_scores))]).any())


def _cube(name: str, scores: ArrayLike, nodes: int) -> Float:
    array = real_numbers(scores, f"{name} scores")
    if array.shape != (nodes,) * 3:
        problem = f"the {name} scores have shape {array.shape}, those of arcs {(nodes,) * 2}"
        raise DeptreeError(problem, f"Give an array {(nodes,) * 3}: {', '.join(AXES[name])}")
    return array


def _place(name: str, at: tuple[int, ...], what: str) -> str:
    places = ", ".join(f"{axis} {node or 'ROOT'}" for axis, node in zip(AXES[name], at, strict=True))
    return f"{name} score of {places}"


# A distribution over projective trees by scores of arcs, of grandparents and of adjacent siblings.


class SecondOrder(OverTrees):
    """A distribution over the projective trees of one sentence, with scores of grandparents and siblings.

    A tree's log-weight is the sum over its arcs ``head -> dependent`` of

        scores[head, dependent] + grandparent[grandparent, head, dependent] + sibling[head, sibling, dependent]

    where the grandparent is the head's head (an arc from ROOT has none, and nothing is added), and the sibling is the
    next dependent of the same head between it and the dependent, or the head itself if the dependent is the first one
    on its side. McDonald and Pereira 2006 (siblings), Carreras 2007, Koo and Collins 2010 (model 1: both).

    Other methods of `TreeDistribution` are not defined for it.

    Args:
        scores: (n+1, n+1), ``[head, dependent]``, node 0 is ROOT; column 0 and the diagonal are ignored.
        grandparent: (n+1, n+1, n+1), ``[grandparent, head, dependent]``, or None; sums then cost O(n^3), else O(n^4).
        sibling: (n+1, n+1, n+1), ``[head, sibling, dependent]``, or None. Parts of either that no projective tree has
            are ignored.
        scale, single_root, id, temperature: as in `TreeDistribution`; scale and temperature apply to all three.

    Attributes:
        log_scores: float64, (n+1, n+1), read-only, as in `TreeDistribution`.
        grandparent, sibling: log-scores, float64, read-only, ``-inf`` for parts that no projective tree has; or None.
        space: its tree space.

    Raises:
        DeptreeError: says what is wrong with which scores and what to do.
    """

    FIELDS = ("log_scores", *PARTS, "space", "id")

    grandparent: Float | None
    sibling: Float | None
    labels = None

    def __init__(
        self,
        scores: ArrayLike,
        grandparent: ArrayLike | None = None,
        sibling: ArrayLike | None = None,
        scale: str = "log",
        single_root: bool = True,
        id: str = "1",
        *,
        temperature: float = 1.0,
    ) -> None:
        try:
            log_scores = checked_log_scores(scores, scale, temperature)
            parts = [
                None if part is None else checked_part(name, part, len(log_scores), scale, temperature)
                for name, part in zip(PARTS, (grandparent, sibling), strict=True)
            ]
            trees = space(single_root, projective=True)
        except DeptreeError as error:
            raise error.at(sent_id=id) from None
        self._set(log_scores=log_scores, grandparent=parts[0], sibling=parts[1], space=trees, id=id)
        self._feasible()._without_need_of_masks(temperature)

    def _without_need_of_masks(self, temperature: float = 1.0) -> Self:
        """See `ArcFactored.without_need_of_masks`; a mask may also stand on a part."""
        most = MOST / temperature
        arrays = [self.log_scores, *(np.append(part, 0.0) for part in self.parts.values())]
        if any(may_be_masks(array, self.n, most / len(arrays)) for array in arrays):
            from deptree_cli.second_order.chart import laid_out, part_scores

            best = self.argmax()
            sibling = None if self.sibling is None else self.sibling - self.sibling.max()  # every word has one
            log_weights = shift_arcs(self.log_scores, self.space).log_weights[best, np.arange(1, self.n + 1)]
            log_weights += part_scores(laid_out(self.n + 1, self.grandparent, sibling), best[None])[1]
            if log_weights.sum() < -most:
                raise need_of_masks(log_weights, most).at(sent_id=self.id)
        return self

    def _check_feasible(self) -> None:
        super()._check_feasible()
        if any(map(forbids_some, self.parts, self.parts.values())) and self.log_partition == -np.inf:
            kind = self.space.trees.removesuffix("s") if self.single_root else "projective tree"
            problem = f"no {kind} is possible: every one has a forbidden part (by the {self._named_parts})"
            raise DeptreeError(problem, "Allow more parts")

    def __repr__(self) -> str:
        arcs = int(np.isfinite(self.log_scores).sum())
        parts = f", {self._named_parts}" if self.parts else ""
        size = f"{counted(self.n, 'word')}, {counted(arcs, 'arc')}"
        return f"<{type(self).__name__} {self.id!r}: {size}, {self.space.trees}{parts}>"

    @property
    def parts(self) -> dict[str, Float]:
        """The scores of parts that were given, by their names in `PARTS`."""
        found = {name: getattr(self, name) for name in PARTS}
        return {name: array for name, array in found.items() if array is not None}

    @property
    def _named_parts(self) -> str:
        return f"{' and '.join(self.parts)} scores"

    @cached_property
    def shifted(self) -> Shifted:
        """The scores that sums and the search for the best tree compute with."""
        from deptree_cli.second_order.chart import shift  # loads kernels: when there is work

        return shift(self.log_scores, self.grandparent, self.sibling, self.space)

    @cached_property
    def factorisation(self) -> SecondOrderChart:
        """The chart behind the partition function, marginals and samples: O(n^4), or O(n^3) without grandparents."""
        from deptree_cli.second_order.chart import SecondOrderChart

        return SecondOrderChart(self.shifted, self.shifted.everything).or_wide()

    def tree_log_probs(self, trees: Integers) -> Float:
        return self.factorisation.tree_log_probs(trees)

    def sample(self, k: int, rng: Randomness | None = None, *, seed: int | None = None) -> Heads:
        """Sample k independent trees exactly, (k, n); rng and seed as in `TreeDistribution.sample`.

        Raises:
            DeptreeError: k or the seed is invalid.
        """
        stream = stream_of(rng, seed, self.id)
        with room_for_trees(how_many(k)) as size:
            return self.factorisation.sample(size, stream)

    def argmax(self) -> Heads:
        """The most probable tree, (n,)."""
        return self.shifted.maximum_tree()

    def given(self, heads: GivenHeads | None = None, labels: GivenLabels | None = None) -> Self:
        """The distribution given the heads and labels of some words: n of each, None for words that may have any.

        Args:
            labels: names. There are no label scores, so only `root` matters: it marks the words below ROOT.

        Raises:
            DeptreeError: they are not n nodes or n names, or no tree of positive weight has them.
        """
        return self._with(log_scores=self._conditioned(heads, labels)[0])._feasible()._without_need_of_masks()

    def tempered(self, temperature: float) -> Self:
        """The distribution with all log-scores divided by a temperature; 1 changes nothing.

        Raises:
            DeptreeError: it is not a positive number, or takes scores out of range.
        """
        arrays = {"log_scores": self.log_scores, **self.parts}
        return self._with(**{name: checked_temperature(array, temperature) for name, array in arrays.items()})
