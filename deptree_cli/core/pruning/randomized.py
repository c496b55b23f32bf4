"""Randomized pruning: the average over the masks of several auxiliary-variable chains."""

from __future__ import annotations

import numpy as np

from deptree_cli.core.pruning.averages import Averages
from deptree_cli.core.pruning.chain import Chain
from deptree_cli.core.pruning.estimate import Estimate, Settings
from deptree_cli.core.pruning.program import AnyProgram
from deptree_cli.core.pruning.single_masks import exact


def randomized(program: AnyProgram, rng: np.random.Generator, settings: Settings) -> Estimate:
    """Estimate expectations by chains over masks (Bouchard-Cote et al. 2009); unbiased in the limit.

    Chains take turns, so that whenever they are stopped all have come equally far. Where no variable is confident
    nothing can be pinned, and the sums are exact.

    Raises:
        DeptreeError: there is no structure.
    """
    confident = program.confident()
    if not len(confident) and settings.counts == "soft":
        return exact(program, rng, settings)  # as every iteration would be
    streams = rng.spawn(settings.chains)
    chains = [Chain(program, confident, stream, dispersed=number > 0) for number, stream in enumerate(streams)]
    averages = Averages(len(chains))
    for counts in settings.rounds(settings.burn_in):
        for which, chain in enumerate(chains):
            features = chain.step(settings.counts == "soft")
            if counts:
                averages.add(which, features)
    return Estimate(
        averages.mean(),
        averages.standard_errors(),
        iterations=averages.count // len(chains),
        r_hat=averages.r_hat(),
        effective_size=averages.effective_size(),
        is_interrupted=settings.stop(),
    )
