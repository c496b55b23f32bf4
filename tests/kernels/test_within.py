"""Kernels within kernels: compiled once for what differs only in being written as a literal, and not kept."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from deptree_cli.kernels.flags import kernel

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@kernel
def put_at(items, place, x):
    """Store an integer."""
    items[place] = x


@kernel
def put_three(items, place):
    """Store three integers, of which two are written here."""
    put_at(items, 0, 5)
    put_at(items, 1, place)
    put_at(items, place, 7)


def test_a_literal_is_a_number_like_any_other() -> None:
    items = np.zeros(3, dtype=np.int64)
    put_three(items, 2)
    assert items.tolist() == [5, 2, 7]
    assert len(put_at._twin.overloads) == 1


def test_a_kernel_within_another_can_be_called_from_python() -> None:
    items = np.zeros(3, dtype=np.int64)
    put_three(items, 2)
    put_at(items, 0, 9)
    assert items.tolist() == [9, 2, 7]


@kernel(allocates=True)
def pair():
    """Make an array."""
    return np.zeros(2)


@kernel
def borrowed_pair(items):
    """Hand on what another one made, whose references it would not count."""
    return pair()


@kernel
def sum_of_pair(items):
    """Let go of what another one made, which nobody would free."""
    return pair()[0] + items[0]


@kernel
def last_row(table):
    """Read a view."""
    row = table[table.shape[0] - 1]
    return row[0]


@pytest.mark.parametrize("careless", [borrowed_pair, sum_of_pair])
def test_arrays_that_nobody_counts(careless) -> None:
    with pytest.raises(TypeError, match="pair returns arrays: say that it allocates"):
        careless(np.zeros(1))


def test_a_view_is_not_counted() -> None:
    table = np.ones((3, 2))
    assert last_row(table) == 1.0
    assert "NRT_incref" not in next(iter(last_row.inspect_llvm().values()))
