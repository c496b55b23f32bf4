"""Is a sampler biased? Its trees tested against the exact distribution.

Null hypothesis: the trees are independent draws from the sentence's distribution. Every p-value is valid: whatever the
distribution and the number of trees, P(p-value <= u) <= u for every u, by exact binomial tails and finite bounds,
never by an approximation. `docs/auditing.md` says what is tested, and what a bias must be to be found.

Count trees with a `Tally`, whose `audit()` tests them; `judge` turns the audits of a file into verdicts.
"""

from deptree_cli.core.audit.tally import ENUMERATED_N, Tally
from deptree_cli.core.audit.verdicts import BIASED, UNBIASED, UNDECIDED, Audit, Verdict, judge

__all__ = ["BIASED", "ENUMERATED_N", "UNBIASED", "UNDECIDED", "Audit", "Tally", "Verdict", "judge"]
