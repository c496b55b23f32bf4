"""The one register of quantities: of a distribution, of a tree, and of a tree as a sum over its arcs.

To add one, write a function whose docstring begins with a line for users and has the formula, and give it an entry in
`core/measures.py` or `core/expectations.py`; another package names its own by an entry point (`deptree.quantities`), an
object of one of the classes there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.expectations import OF_DISTRIBUTIONS, OfDistribution, expected
from deptree_cli.core.measures import MEASURES, OfTree, OverArcs, Quantity
from deptree_cli.core.register import Named, Register

QUANTITIES: Register[Quantity] = Register(
    "quantity", (*OF_DISTRIBUTIONS, *MEASURES), "deptree.quantities", kind=OverArcs
)

Usable = TypeVar("Usable", bound=Named)


class Selection(Register[Usable]):
    """Those entries of `QUANTITIES` that a question can be asked of, each as it is asked.

    Args:
        usable: what an entry is there; None if it is none of them.
        instead: what to do with an entry that is none of them, for the message.
    """

    def __init__(self, noun: str, usable: Callable[[Quantity], Usable | None], instead: str) -> None:
        super().__init__(noun, ())
        self._usable, self._instead = usable, instead

    def get(self, name: str, others: Iterable[str] = ()) -> Usable:
        entry = QUANTITIES.get(name, others)
        if (found := self._usable(entry)) is None:
            raise DeptreeError(f"{name} is a quantity of {entry.kind}", self._instead.format(name))
        return found

    def __iter__(self) -> Iterator[Usable]:
        return (found for each in QUANTITIES if (found := self._usable(each)) is not None)


def _expected(entry: Quantity) -> OfDistribution | None:
    return expected(entry) if isinstance(entry, OverArcs) else entry if isinstance(entry, OfDistribution) else None


def _of_tree(entry: Quantity) -> OfTree | None:
    return entry if isinstance(entry, OfTree) else None


def _number(entry: Quantity) -> OfTree | None:
    return entry if isinstance(entry, OfTree) and entry.scalar else None


# What a distribution has exactly; what a tree has; and what of that is a number.
EXPECTED = Selection("quantity of a distribution", _expected, "Estimate it from trees: deptree swor, deptree estimate")
OF_TREES = Selection("quantity of a tree", _of_tree, "Compute it: deptree expect {}")
NUMBERS = Selection("number of a tree", _number, "It is not a number of a tree: deptree expect, deptree estimate")
