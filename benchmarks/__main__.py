"""``python -m benchmarks [NAME ...]``: print the tables of all benchmarks, or of those named."""

from __future__ import annotations

import sys
from collections.abc import Callable

from benchmarks import inference, samplers

BENCHMARKS: dict[str, Callable[[], None]] = {
    "samplers": samplers.run,
    "inference": inference.run,
}

if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - set(BENCHMARKS)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; choose from {', '.join(BENCHMARKS)}")
    for name in sys.argv[1:] or BENCHMARKS:
        BENCHMARKS[name]()
