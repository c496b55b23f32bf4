"""``python -m benchmarks [NAME ...]``: print the tables of all benchmarks, or of those named."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Callable

# Before NumPy and PyTorch start as many threads as there are cores: what all of them spend would be counted.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks import (
    beam_figures,
    claims,
    conllu,
    decoding,
    few,
    growth,
    hpyp,
    inference,
    power,
    projective,
    pruning,
    samplers,
    saturated,
    swor,
    training,
    whole,
)

BENCHMARKS: dict[str, Callable[[], None]] = {
    "samplers": samplers.run,
    "few": few.run,
    "inference": inference.run,
    "whole": whole.run,
    "growth": growth.run,
    "swor": swor.run,
    "decoding": decoding.run,
    "conllu": conllu.run,
    "projective": projective.run,
    "training": training.run,
    "beam": beam_figures.run,
    "pruning": pruning.run,
    "hpyp": hpyp.run,
    "claims": claims.run,
    "power": power.run,
    "saturated": saturated.run,
}

if __name__ == "__main__":
    unknown = set(sys.argv[1:]) - set(BENCHMARKS)
    if unknown:
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; choose from {', '.join(BENCHMARKS)}")
    print(f"{platform.machine()}, Python {platform.python_version()}, one core unless jobs are named")
    for name in sys.argv[1:] or BENCHMARKS:
        BENCHMARKS[name]()
