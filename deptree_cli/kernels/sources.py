"""The digest of the sources of all kernels, the wings' too: machine code of another digest is stale.

Kernels contain code of each other, also those of the main house that are compiled for a wing's types, and numba does
not track that. So all are compiled anew where one has changed.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def kernel_files() -> list[Path]:
    """Return the files of all kernels, in a fixed order."""
    return sorted(path for pattern in ("kernels/**/*.py", "*/kernels/*.py") for path in PACKAGE.glob(pattern))


@cache
def digest() -> str:
    """Return 16 hexadecimal digits of all sources of kernels."""
    found = blake2b(digest_size=8)
    for path in kernel_files():
        found.update(path.read_bytes())
    return found.hexdigest()
