"""What randomized pruning needs of a dynamic program: seven functions, and two more where states have merits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Integers
from deptree_cli.core.errors import DeptreeError

Mask = TypeVar("Mask")
Chart = TypeVar("Chart")
Structure = TypeVar("Structure")


class Program(ABC, Generic[Mask, Chart, Structure]):
    """A dynamic program that sums over structures, and can be run under a mask that prunes some of them.

    Every structure says of each of M binary variables whether it is positive: for trees, whether an arc is in the tree.
    Masks, charts and structures may be of any type; they only travel from one of these functions to another. A chart
    need not outlive the next call of `inside`, so that its memory can be used again.
    """

    @abstractmethod
    def variables(self) -> int:
        """Return M, the number of variables."""

    @abstractmethod
    def confident(self) -> Integers:
        """Return the numbers of variables that a simpler model takes for positive: M0, those that are pinned."""

    @abstractmethod
    def compile(self, selected: Bool, assigned: Bool) -> Mask:
        """Return the mask of the structures in which all selected variables are as assigned.

        Args:
            selected, assigned: (M,); what is assigned to variables that are not selected means nothing. Where none
                is selected nothing is pruned.
        """

    @abstractmethod
    def inside(self, mask: Mask) -> tuple[float, Chart]:
        """Run the program under a mask: the logarithm of Z, -inf where no structure is left, and what it leaves."""

    @abstractmethod
    def outside(self, chart: Chart) -> Float:
        """Return the expectations of the features under the mask; Z is positive."""

    @abstractmethod
    def sample(self, chart: Chart, rng: np.random.Generator) -> Structure:
        """Draw a structure under the mask, as probable as its weight; Z is positive."""

    @abstractmethod
    def assign(self, structure: Structure) -> Bool:
        """Return which variables are positive in a structure, (M,)."""

    def features(self, structure: Structure) -> Float:
        """Return the features of a structure, of which `outside` has the expectations; the variables if not said."""
        return self.assign(structure).astype(np.float64)

    def no_structure(self) -> DeptreeError:
        """Return the error of a program that has no structure at all."""
        return DeptreeError("there is no structure to sum over", "Allow more structures")

    def everything(self) -> Mask:
        """Return the mask that prunes nothing."""
        nothing = np.zeros(self.variables(), dtype=np.bool_)
        return self.compile(nothing, nothing)


class CellProgram(Program[Mask, Chart, Structure]):
    """A program whose chart has cells of states that can be kept one by one, by merits that a simpler model gives them.

    No structure has the same state twice.
    """

    @abstractmethod
    def merits(self) -> Float:
        """Return the logarithms of what states are worth, (cells, states).

        -inf stands for what is no state, +inf for one that is always kept.
        """

    @abstractmethod
    def keep(self, kept: Bool, log_weights: Float | None = None) -> Mask:
        """Return the mask that keeps some states.

        Args:
            kept: (cells, states).
            log_weights: of the same shape; every state's weight is multiplied by exp of it.
        """


AnyProgram = Program[Any, Any, Any]
AnyCellProgram = CellProgram[Any, Any, Any]
