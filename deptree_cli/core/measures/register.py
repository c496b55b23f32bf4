"""The quantities of trees that the register has, each with its baselines: other orders of the words of a tree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from deptree_cli.core.dtypes import Array, Int
from deptree_cli.core.kinds import ARCS, FIRST_ROOT, Baseline, OfTree, OfTrees, OverArcs
from deptree_cli.core.measures import arcs, orders, quantities, shapes

RANDOM_ORDER, RANDOM_PROJECTIVE_ORDER = "random_order", "random_projective_order"
SMALLEST_PROJECTIVE, SMALLEST_PLANAR, SMALLEST = "smallest_projective", "smallest_planar", "smallest"


def _per_arc(of_trees: OfTrees, power: int, heads: Int, starts: Int) -> Array:
    """A number of each tree, divided by a power of the number of its arcs."""
    return quantities.ratio(of_trees(heads, starts), orders.arcs(heads, starts) ** power)


def _half_of_arcs(heads: Int, starts: Int) -> Array:
    return orders.arcs(heads, starts) / 2.0


def _first_root(heads: Int, starts: Int) -> Array:
    """The mean of the least of so many places."""
    return (quantities.length(heads, starts) + 1.0) / (quantities.roots(heads, starts) + 1.0)


def _averaged(baselines: Mapping[str, Baseline]) -> dict[str, Baseline]:
    """The baselines of a mean over arcs, from those of the sum."""
    return {
        name: Baseline(partial(_per_arc, each.mean, 1), each.variance and partial(_per_arc, each.variance, 2))
        for name, each in baselines.items()
    }


_OF_LENGTH = {
    RANDOM_ORDER: Baseline(orders.expected_sum_length, orders.variance_sum_length),
    RANDOM_PROJECTIVE_ORDER: Baseline(orders.expected_sum_length_projective),
    SMALLEST_PROJECTIVE: Baseline(orders.smallest_sum_length_projective),
    SMALLEST_PLANAR: Baseline(orders.smallest_sum_length_planar),
    SMALLEST: Baseline(orders.smallest_sum_length),
}
_OF_CROSSINGS = {RANDOM_ORDER: Baseline(orders.expected_crossings, orders.variance_crossings)}
_OF_DIRECTION = {RANDOM_ORDER: Baseline(_half_of_arcs)}

MEASURES: tuple[OfTree, ...] = (
    OfTree("length", quantities.length, whole=True),
    OverArcs("sum_length", arcs.sum_length, baselines=_OF_LENGTH, whole=True),
    OverArcs("mean_length", arcs.mean_length, over=ARCS, baselines=_averaged(_OF_LENGTH)),
    OfTree("longest", quantities.longest, whole=True),
    OfTree("optimality", orders.optimality),
    OverArcs("root_place", arcs.root_place, over=FIRST_ROOT, baselines={RANDOM_ORDER: Baseline(_first_root)}),
    OverArcs("left_arcs", arcs.left_arcs, baselines=_OF_DIRECTION, whole=True),
    OverArcs("right_arcs", arcs.right_arcs, baselines=_OF_DIRECTION, whole=True),
    OverArcs("head_final", arcs.head_final, over=ARCS, baselines=_averaged(_OF_DIRECTION)),
    OfTree("depth", quantities.depth, whole=True),
    OfTree("mean_depth", quantities.mean_depth),
    OfTree("arity", quantities.arity, whole=True),
    OfTree("mean_arity", quantities.mean_arity),
    OfTree("crossings", quantities.crossings, baselines=_OF_CROSSINGS, whole=True),
    OfTree("crossed_arcs", quantities.crossed_arcs, whole=True),
    OfTree("non_projective_arcs", shapes.non_projective_arcs, whole=True),
    OfTree("flux_size", quantities.flux_size, whole=True),
    OfTree("flux_weight", quantities.flux_weight, whole=True),
    OfTree("mean_flux_weight", quantities.mean_flux_weight),
    OfTree("arcs", shapes.arcs, scalar=False),
)
