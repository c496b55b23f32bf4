"""Whether machine code is kept, found without importing numba; and the names under which it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from deptree_cli.kernels.cache import cache_folder, packaged_folder
from deptree_cli.kernels.sources import PACKAGE, digest


def names(code: Any) -> tuple[str, str] | None:
    """Return what names of folders of a kernel's code begin with, and those of its files; None if it is none of ours.

    There is a folder for each file of kernels and each version of all; nothing tells when and where these are, so that
    copies of a package share it.
    """
    source = Path(code.co_filename)
    if PACKAGE not in source.parents:
        return None
    module = ".".join(source.with_suffix("").relative_to(PACKAGE).parts)
    python = f"{code.co_firstlineno}.py{sys.version_info.major}{sys.version_info.minor}{sys.abiflags}"
    return f"{module}-{digest()}", f"{source.stem}.{code.co_name}-{python}"


def is_kept(code: Any = None) -> bool:
    """Whether machine code of a kernel, or of any, is kept: for whatever types, made by whatever version of numba."""
    folder, file = (f"*-{digest()}", "*") if code is None else names(code) or ("", "")
    places = filter(None, (packaged_folder(), cache_folder()))
    return any(any(place.glob(f"{folder}-*/{file}.*.nbc")) for place in places)
