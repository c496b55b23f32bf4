"""Second-order scores beside those of arcs: under which keys they stand, and how they are laid out.

The parts of the sentence `KEY` stand under `KEY.grandparent` and `KEY.sibling`, each (n+1, n+1, n+1) with ROOT among
the nodes, on the scale of the scores of arcs:

    grandparent[grandparent, head, dependent]     the head of the head; an arc from ROOT has no such part
    sibling[head, sibling, dependent]             the next dependent of the head between it and this one; for the first
                                                  one on its side the head itself: sibling[head, head, dependent]

Where the scores of arcs are ``[dependent, head]``, the axes of these are reversed too: ``[dependent, head,
grandparent]`` and ``[dependent, sibling, head]``; and ROOT is the last of all three where it is the last there.
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Array, Float
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.scores.layout import Layout, orientation
from deptree_cli.io.scores.raw import SecondOrderParts, numeric
from deptree_cli.second_order.parts import PARTS


def by_name(parts: SecondOrderParts) -> dict[str, Array]:
    """The arrays that there are, by their names in `PARTS`."""
    arrays = {name: getattr(parts, name) for name in PARTS}
    return {name: array for name, array in arrays.items() if array is not None}


def check_parts(parts: SecondOrderParts, n: int) -> None:
    """Raise unless all second-order scores are those of a sentence of n words.

    Raises:
        DeptreeError: names the array that is not.
    """
    for name, array in by_name(parts).items():
        if array.shape != (n + 1,) * 3:
            problem = f"the {name} scores have shape {array.shape}, those of arcs are of {counted(n, 'word')}"
            raise DeptreeError(problem, f"Give an array {(n + 1,) * 3}, ROOT included")


def parts_to_head_dep(parts: SecondOrderParts, arcs: tuple[int, ...], layout: Layout) -> dict[str, Float]:
    """Second-order scores by name, each (n+1, n+1, n+1), from the head to the dependent and with ROOT first.

    Args:
        parts: as read.
        arcs: the shape of the scores of arcs as read, for a rectangle decides its own orientation.
        layout: that of the scores of arcs.

    Raises:
        DeptreeError: ROOT stands on the diagonal of the scores of arcs, and so has no place here.
    """
    if layout.root == "diagonal":
        problem = "second-order scores have a place of their own for ROOT, but it is to be on the diagonal"
        raise DeptreeError(problem, "Give the scores of arcs with ROOT too: --root first or --root last")
    rows, columns = layout.arcs(arcs)
    turned = orientation(rows, columns, layout) == "dep-head"
    found = {}
    for name, array in by_name(parts).items():
        if not numeric(array.dtype):
            problem = f"the {name} scores are of type {array.dtype}, not real numbers"
            raise DeptreeError(problem, "Save them as float32 or float64")
        # What becomes NaN or infinite here is judged, with its place, where the sentence is made.
        with np.errstate(invalid="ignore", over="ignore"):
            scores = (array.T if turned else array).astype(np.float64)
        found[name] = np.roll(scores, 1, axis=(0, 1, 2)) if layout.root == "last" else scores
    return found


USE_THEM = "use partition, marginals, sample or decode with --projective and without labels"


def refusal(parts: SecondOrderParts, place: str, sent_id: str = "", instead: str = USE_THEM) -> DeptreeError:
    """The error of what works on the scores of arcs alone, and would drop the others; `instead`: what does not."""
    names = " and ".join(by_name(parts))
    problem = f"there are second-order scores ({names}), which are not taken into account here"
    return DeptreeError(problem, f"Leave them out, or {instead}", place=place, sent_id=sent_id)
