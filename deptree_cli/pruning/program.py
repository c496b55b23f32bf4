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
    """A dynamic program that sums over structures, and can run under a pruning mask that leaves some of them out.

    A structure has M binary variables: for trees, whether an arc is in the tree. Pruning masks, charts and structures
    may have any type; they are only passed between these methods. A chart is used until the next call of `inside`, so
    that its memory can be reused.
    """

    @abstractmethod
    def variables(self) -> int:
        """Return M, the number of variables."""

    @abstractmethod
    def confident(self) -> Integers:
        """Return the numbers of the variables, (M0,), that a simpler model is confident are positive."""

    @abstractmethod
    def compile(self, selected: Bool, assigned: Bool) -> Mask:
        """Return the pruning mask of structures in which all selected variables are as assigned.

        Args:
            selected, assigned: (M,). The values of variables that are not selected are ignored. If none is selected,
                nothing is pruned.
        """

    @abstractmethod
    def inside(self, mask: Mask) -> tuple[float, Chart]:
        """Run the program under a pruning mask: log Z (-inf if no structure is left) and the chart."""

    @abstractmethod
    def outside(self, chart: Chart) -> Float:
        """Return the expectations of the features under the pruning mask. Called only if Z is positive."""

    @abstractmethod
    def sample(self, chart: Chart, rng: np.random.Generator) -> Structure:
        """Sample a structure under the pruning mask in proportion to its weight. Called only if Z is positive."""

    @abstractmethod
    def assign(self, structure: Structure) -> Bool:
        """Return which variables are positive in a structure, (M,)."""

    def features(self, structure: Structure) -> Float:
        """Return the features of a structure, whose expectations `outside` returns; its variables by default."""
        return self.assign(structure).astype(np.float64)

    def no_structure(self) -> DeptreeError:
        """Return the error to raise if the program has no structure."""
        return DeptreeError("there is no structure to sum over", "Allow more structures")

    def everything(self) -> Mask:
        """Return the pruning mask that prunes nothing."""
        nothing = np.zeros(self.variables(), dtype=np.bool_)
        return self.compile(nothing, nothing)


class CellProgram(Program[Mask, Chart, Structure]):
    """A program whose chart has cells of states, which are kept or pruned one by one, by merits from a simpler model.

    No structure has the same state twice.
    """

    @abstractmethod
    def merits(self) -> Float:
        """Return the merits of states, (cells, states): logarithms.

        -inf marks what is not a state, +inf states that are always kept.
        """

    @abstractmethod
    def keep(self, kept: Bool, log_weights: Float | None = None) -> Mask:
        """Return the pruning mask that keeps some states.

        Args:
            kept: (cells, states).
            log_weights: of the same shape; the weight of every state is multiplied by its exp.
        """


AnyProgram = Program[Any, Any, Any]
AnyCellProgram = CellProgram[Any, Any, Any]
