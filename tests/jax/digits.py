"""JAX with float64 for a while: the lowest version that is allowed, 0.6, has no `jax.enable_x64`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import jax


@contextmanager
def float64(wanted: bool = True) -> Iterator[None]:
    """Let arrays be float64 within the block, or not."""
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", wanted)
    try:
        yield
    finally:
        jax.config.update("jax_enable_x64", before)
