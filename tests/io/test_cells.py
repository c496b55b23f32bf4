"""Cells of TSV: a column of numbers at once is the same as one number after another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.io.encoders.base import cells, numbers_as_cells

FLOATS = st.lists(st.floats(allow_infinity=False), min_size=1, max_size=9)


@given(FLOATS)
def test_a_column_is_its_cells(values: list[float]) -> None:
    known = [None if value != value else value for value in values]
    assert numbers_as_cells(np.array(values)) == cells("x", known)


@pytest.mark.parametrize("values", [[1e-7, np.nan, 1e22, 0.00001, -0.0], [3, -(2**60)]])
def test_exponents_and_whole_numbers(values: list[float]) -> None:
    assert numbers_as_cells(np.array(values)) == cells("x", [None if value != value else value for value in values])


def test_what_is_infinite_is_never_written() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        numbers_as_cells(np.array([1.0, np.inf]))
