"""Partition functions with and without the single-root constraint, and what follows from the two."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT

LOG_LARGEST = math.log(sys.float_info.max)


@dataclass(frozen=True)
class Partition:
    """The partition functions of one sentence.

    Attributes:
        log_z: log Z over single-root trees, None where there is none.
        log_z_multi_root: log Z over all spanning trees.
        log_single_root_mass: their difference, without what offsets of scores would cost it; at most 0.
    """

    log_z: float | None
    log_z_multi_root: float
    log_single_root_mass: float

    @property
    def single_root_mass(self) -> float:
        """Z_D / Z_T: the share of single-root trees."""
        return math.exp(self.log_single_root_mass)

    @property
    def log_trials(self) -> float:
        """The logarithm of Z_T / Z_D: how many spanning trees Wilson-Reject draws for one single-root tree."""
        return -self.log_single_root_mass

    @property
    def expected_trials(self) -> float | None:
        """Z_T / Z_D, at least 1; None beyond the range of float64."""
        return math.exp(self.log_trials) if self.log_trials < LOG_LARGEST else None


def partition(distribution: ArcFactored) -> Partition:
    """Compute both partition functions of a sentence, whichever of its tree spaces the distribution is over. O(n^3)."""
    multi = distribution.over(MULTI_ROOT).factorisation
    try:
        single = distribution.over(SINGLE_ROOT).factorisation
    except DeptreeError:  # spanning trees only
        return Partition(None, multi.log_z, -math.inf)
    (high, low), (other, rest) = single.log_z_pair, multi.log_z_pair
    # at most 0 also where rounding would lift it, and exactly 0 where both are one
    return Partition(single.log_z, multi.log_z, min(high - other + (low - rest), 0.0))


class Summary:
    """The partition functions of a file, from running sums: memory does not grow with the number of sentences."""

    def __init__(self) -> None:
        self._sentences = self._words = self._below_half = 0
        self._log_z = self._mass = 0.0
        self._least: tuple[float, str] | None = None

    def add(self, sent_id: str, n: int, found: Partition) -> None:
        """Count a sentence of n words."""
        mass = found.single_root_mass
        self._sentences += 1
        self._words += n
        self._log_z += found.log_z or 0.0
        self._mass += mass
        self._below_half += mass < 0.5
        if self._least is None or mass < self._least[0]:
            self._least = mass, sent_id

    def row(self) -> dict[str, Any]:
        """The sums by name."""
        least, sent_id = self._least or (None, None)
        return {
            "sentences": self._sentences,
            "words": self._words,
            "log_z_sum": self._log_z,
            "single_root_mass_mean": self._mass / self._sentences if self._sentences else None,
            "single_root_mass_min": least,
            "single_root_mass_min_sent_id": sent_id,
            "single_root_mass_below_half": self._below_half,
        }
