"""``deptree bitext expectations``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from deptree_cli.bitext.files import ScoredPair
from deptree_cli.bitext.options import GONE_OF_PAIRS, LISTING, BitextOptions, Estimate, Estimating, PruningOptions
from deptree_cli.cli.options import command, use
from deptree_cli.cli.run import Job, Run
from deptree_cli.cli.write import Out
from deptree_cli.core.dtypes import Float
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.io.encoders import ARRAYS
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.containers.npz import STANDARD_ERRORS


@command(listing=LISTING, gone=GONE_OF_PAIRS)
def expectations(
    bitext: BitextOptions = use(BitextOptions),
    pruning: PruningOptions = use(PruningOptions),
    out: Out = use(Out, formats=("jsonl", ARRAYS)),
    run: Run = use(Run),
) -> int:
    """Compute the probability of every link: that a source word is linked with a target word.

    Reads a matrix of link scores per sentence pair. Writes JSON Lines: sent_id, p and q (the numbers of words),
    expectations (a row of probabilities per source word) and, if exact, log_z (the log partition function). Estimates
    also have standard_errors, iterations (per chain), effective_size (the effective sample size) and, with several
    chains, r_hat (1 if they agree). -o FILE.npz (.npy, .safetensors) writes arrays instead.

    Arrays of expectations have the names read, and standard errors have NAME.standard_errors.

    Ctrl-C stops an estimate early and writes the results so far; the exit status is then 130.

    The exact method is best unless it takes too long: O(p^3 q^3), about 8 milliseconds for two sentences of 20 words.
    """
    estimating = Estimating(pruning.method, pruning.settings, run)
    chosen = bitext.announcing(estimating.until_stopped, run, 0 if pruning.is_asked else 2)
    job = Job("bitext expectations", bitext.source(run), run, out, last=pruning.signature_fields, select=chosen)
    return estimating.write(job, partial(link_expectations, estimating.estimate), pruning.stream_seed)


@dataclass(frozen=True)
class Expected:
    name: str
    key: str | None
    estimate: MonteCarloEstimate

    @property
    def r_hat(self) -> float:
        return self.estimate.r_hat or 0.0

    def to_jsonl(self) -> bytes:
        """One object, without the fields that the method does not estimate."""
        found, errors = self.estimate, self.estimate.standard_errors
        p, q = found.expectations.shape
        row: dict[str, Any] = {
            "sent_id": self.name,
            "p": p,
            "q": q,
            "log_z": found.log_partition,
            "expectations": found.expectations.tolist(),
            "standard_errors": None if errors is None else errors.tolist(),
            **{name: getattr(found, name) for name in ("iterations", "effective_size", "r_hat")},
            "interrupted": found.is_interrupted or None,
        }
        return dump({name: value for name, value in row.items() if value is not None})

    def arrays(self) -> list[tuple[str, Float, str]]:
        """The expectations, and their standard errors if there are some."""
        key, errors = self.key or self.name, self.estimate.standard_errors
        found = [(key, self.estimate.expectations, "")]
        return found if errors is None else [*found, (key, errors, STANDARD_ERRORS)]


def link_expectations(estimate: Estimate, pair: ScoredPair, rng: np.random.Generator) -> Expected:
    return Expected(pair.id, pair.record.key, estimate(pair.distribution.program(), rng))
