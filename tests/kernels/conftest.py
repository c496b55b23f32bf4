"""Plain Python takes a hundred times as long as machine code: fewer examples, and fewer draws for the laws."""

from __future__ import annotations

from hypothesis import settings
from numba import config

if config.DISABLE_JIT:
    settings.register_profile("interpreted", settings.get_profile("deptree"), max_examples=15)
    settings.load_profile("interpreted")
