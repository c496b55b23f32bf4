"""Counts of drawn trees, and their audit."""

from __future__ import annotations

import numpy as np
from scipy import special

from deptree_cli.core.arc_factored import ArcFactored
from deptree_cli.core.audit.enumerated import Enumerated
from deptree_cli.core.audit.findings import Detector, Tests, combine
from deptree_cli.core.audit.summed import Summed
from deptree_cli.core.audit.verdicts import Audit
from deptree_cli.core.dtypes import Integers
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.swor.draws import Draws

# Up to 7^5 = 16,807 trees are enumerated, a fraction of a second; one word more would be sixteen times as many.
ENUMERATED_N = 6

# Trees that come one by one are counted this many at a time.
BATCH = 4096

# The tests are of independent trees; distinct ones are biased towards the improbable by design.
WITHOUT_REPLACEMENT = "these trees were drawn without replacement (swor), which makes them look biased"
INDEPENDENT = "Audit independent trees, as `sample` draws them"

# Where a z-score would leave the range of float64's normal distribution.
SMALLEST_P = 1e-300


class Tally:
    """Counts of drawn trees, as far as an audit needs them: all trees of a small sentence, else arcs and their pairs.

    Attributes:
        distribution: whose trees they should be.
        size: number of trees counted.
        impossible: how many of them have probability 0 or are no trees of the distribution's space.
    """

    def __init__(self, distribution: ArcFactored) -> None:
        self.distribution = distribution
        self._tests: Tests = (Enumerated if distribution.n <= ENUMERATED_N else Summed)(distribution)
        self._counts = self._tests.empty()
        self._waiting: list[tuple[Integers, Integers]] = []
        self._waiting_trees = 0
        self.size = 0
        self.impossible = 0

    def add(self, heads: Integers, times: Integers | None = None) -> None:
        """Count trees (k, n), each once or times (k,) times.

        Raises:
            DeptreeError: they were drawn without replacement.
        """
        if isinstance(heads, Draws):
            raise DeptreeError(WITHOUT_REPLACEMENT, INDEPENDENT)
        times = np.ones(len(heads), dtype=np.int64) if times is None else times
        self.size += int(times.sum())
        possible = self.distribution.space.contains(heads)
        possible[possible] = self.distribution.log_weights(heads[possible]) > -np.inf
        self.impossible += int(times[~possible].sum())
        self._waiting.append((heads[possible], times[possible]))
        self._waiting_trees += len(heads)
        if self._waiting_trees >= BATCH:
            self._count()

    def audit(self) -> Audit:
        """Test the counts against the exact distribution."""
        self._count()
        size, tests = self.size, self._tests
        family = combine(tests.findings(self._counts, size) if size else [])
        observed, by_chance = tests.distances(self._counts, size, self.impossible) if size else (None, None)
        return Audit(
            method=tests.method,
            size=size,
            evidence="impossible trees" if self.impossible else family.evidence,
            statistic=0.0 - float(special.ndtri(max(family.smallest, SMALLEST_P) / 2)),
            tests=family.tests,
            p_value=0.0 if self.impossible else family.p_value,
            tv_distance=observed,
            tv_expected_by_chance=by_chance,
            log_prob_z=tests.log_prob_z(self._counts, size) if size and not self.impossible else None,
            impossible=self.impossible,
            slack=tests.slack,
            rival_prob=tests.rival_prob or 0.0,
            detectors=(Detector(0.0, 1.0),) if tests.rival_prob is None else family.detectors,
        )

    def _count(self) -> None:
        if self._waiting:
            heads, times = zip(*self._waiting, strict=True)
            self._tests.add(self._counts, np.concatenate(heads), np.concatenate(times))
        self._waiting, self._waiting_trees = [], 0
