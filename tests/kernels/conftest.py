"""Plain Python takes a hundred times as long as machine code: fewer examples, and fewer draws for the laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import settings
from numba import config

if config.DISABLE_JIT:
    settings.register_profile("interpreted", settings.get_profile("deptree"), max_examples=15)
    settings.load_profile("interpreted")


@pytest.fixture(scope="session")
def draws():
    """How many trees to draw for a law."""
    return 600 if config.DISABLE_JIT else 20_000


@pytest.fixture
def state():
    """The state of a generator, the same for every test."""
    return np.array([1, 2, 3, 4], dtype=np.uint64)
