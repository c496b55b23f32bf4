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
