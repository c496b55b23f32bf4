"""The default: Wilson's walk while it is quick, elimination where it is not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.samplers.wilson import draw_marginal, draw_spanning
from deptree_cli.core.sentence import Sentence


def draw(sentence: Sentence, size: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Exact trees at no more than about twice the cost of the better method.

    A walk of 1000 + n^3/10 steps costs about what one tree costs by elimination, so that is where it is interrupted.
    """
    budget = 1000 + sentence.n**3 // 10
    walk = draw_marginal if sentence.single_root else draw_spanning
    return walk(sentence, size, rng, budget)
