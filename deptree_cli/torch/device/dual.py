"""Batches of dual numbers: a value, and its derivative in a direction.

The sweeps of `elimination.py` are written once, for tensors and for these. They do without PyTorch's forward-mode
differentiation, which is switched off inside an operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
from torch import Size, Tensor


@dataclass(frozen=True)
class Dual:
    """Numbers and their tangents, two tensors of one shape; methods are named after those of tensors."""

    value: Tensor
    tangent: Tensor

    def each(self, action: Callable[[Tensor], Tensor]) -> Dual:
        """Return what a linear map makes of both."""
        return Dual(action(self.value), action(self.tangent))

    @property
    def shape(self) -> Size:
        """The shape of both."""
        return self.value.shape

    def new_zeros(self, size: Size) -> Dual:
        """Return constants 0."""
        return self.each(lambda part: part.new_zeros(size))

    def __getitem__(self, at: Any) -> Dual:
        """Return a view of both."""
        return Dual(self.value[at], self.tangent[at])

    def copy_(self, other: Dual) -> Dual:
        """Overwrite both."""
        self.value.copy_(other.value)
        self.tangent.copy_(other.tangent)
        return self

    def __mul__(self, other: Dual | Tensor) -> Dual:
        """Return the product; a tensor is a constant."""
        if isinstance(other, Tensor):
            return Dual(self.value * other, self.tangent * other)
        return Dual(self.value * other.value, (self.tangent * other.value).addcmul_(self.value, other.tangent))

    def sub_(self, other: Dual) -> Dual:
        """Subtract in place."""
        self.value.sub_(other.value)
        self.tangent.sub_(other.tangent)
        return self

    def __truediv__(self, other: Dual) -> Dual:
        """Return the quotient."""
        value = self.value / other.value
        return Dual(value, (self.tangent - value * other.tangent) / other.value)

    def div_(self, other: Dual) -> Dual:
        """Divide in place."""
        return self.copy_(self / other)

    def addcmul_(self, first: Dual, second: Dual) -> Dual:
        """Add the product of two others in place."""
        self.value.addcmul_(first.value, second.value)
        self.tangent.addcmul_(first.tangent, second.value).addcmul_(first.value, second.tangent)
        return self

    def sum(self, dim: int, keepdim: bool = False) -> Dual:
        """Return sums over a dimension."""
        return self.each(lambda part: part.sum(dim, keepdim))

    def diagonal(self, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Dual:
        """Return a view of the diagonals."""
        return self.each(lambda part: part.diagonal(offset, dim1, dim2))

    def fill_(self, constant: float) -> Dual:
        """Overwrite all by a constant."""
        self.value.fill_(constant)
        self.tangent.zero_()
        return self

    def reciprocal(self) -> Dual:
        """Return one over each."""
        value = self.value.reciprocal()
        return Dual(value, -value * value * self.tangent)

    def neg(self) -> Dual:
        """Return the opposites."""
        return self.each(Tensor.neg)


Numbers = TypeVar("Numbers", Tensor, Dual)


def concatenate(parts: list[Numbers]) -> Numbers:
    """Return batches of rows, one below the other."""
    if isinstance(parts[0], Tensor):
        return torch.cat(parts, 1)
    return Dual(torch.cat([part.value for part in parts], 1), torch.cat([part.tangent for part in parts], 1))
