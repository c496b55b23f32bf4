"""The door for masks: scores so far below others that, where every tree needs one, float64 has no digits left.

Masks that no tree needs do no harm, nor do those that a shift takes off: on all heads of a word, or on all of ROOT's
arcs under the single-root constraint (`core/factorisation.py`).
"""

from __future__ import annotations

import numpy as np

from deptree_cli.core.dtypes import Bool, Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.factorisation import words

# So far below 0 the best tree's shifted score may be: log-weights that add up to more are known to 1e-8 only.
MOST = 1e8


def may_be_masks(log_scores: Float, finite: Bool, n: int, most: float = MOST) -> bool:
    """Whether a tree's shifted scores may add up to less than -most: quickly; that they do not is certain."""
    least = log_scores.max() - most / (2 * n)
    return bool(np.count_nonzero(finite) > np.count_nonzero(log_scores >= least))


def need_of_masks(log_weights: Float, most: float = MOST, trees: str = "every tree") -> DeptreeError:
    """What to say of trees that need masks, from the shifted scores (n,) of the best one's words."""
    masked = np.flatnonzero(log_weights < -most / (2 * len(log_weights))) + 1
    below = f"scores far below the others, by up to {-log_weights.min():g}"
    problem = f"{trees} needs masks ({below}), the best one at {words(masked)}"
    return DeptreeError(problem, "Forbid arcs by -inf, and give those that trees need scores like the others")
