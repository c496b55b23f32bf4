"""The elimination sampler: exact trees from the factors of `core/elimination.py`, with a worst-case bound."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.sentence import Sentence


def draw(sentence: Sentence, size: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """O(n^3) once, then O(n^2) per tree at worst, whatever the weights."""
    return sentence.elimination.sample(size, rng)
