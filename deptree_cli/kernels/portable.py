"""Machine code for any processor of a level, which a package can bring along; found without importing numba."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from functools import cache
from pathlib import Path

NATIVE, GENERIC = "native", "generic"

LINE = 64  # bytes of a line of the cache, and of a vector of ours

# By architecture: the level as LLVM calls it, and its features beyond the architecture's own, by LLVM's name the
# kernel's (https://gitlab.com/x86-psABIs/x86-64-ABI, table 3.1).
X86_64_V3 = {
    "avx": "avx",
    "avx2": "avx2",
    "bmi": "bmi1",
    "bmi2": "bmi2",
    "f16c": "f16c",
    "fma": "fma",
    "lzcnt": "abm",
    "movbe": "movbe",
    "xsave": "xsave",
}
LEVELS = {"x86_64": ("x86-64-v3", X86_64_V3)}

LEVEL, FEATURES = LEVELS.get(platform.machine(), (GENERIC, {}))

# What numba is told of the processor: its name and its features.
TARGET = LEVEL, ",".join(f"+{name}" for name in FEATURES)


def compile_portably() -> None:
    """Have numba, which must not have been imported, compile for the level instead of this machine's processor."""
    os.environ["NUMBA_CPU_NAME"], os.environ["NUMBA_CPU_FEATURES"] = TARGET


@cache
def is_of_level() -> bool:
    """Whether this machine's processor has the features of the level, as far as the system says so."""
    if not FEATURES:
        return True
    with suppress(OSError), Path("/proc/cpuinfo").open(encoding="utf-8") as processors:
        for line in processors:
            if line.startswith("flags"):
                return set(FEATURES.values()) <= set(line.split())
    return False
