"""Randomized pruning: averages over the masks of several chains, and what their batches tell of errors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Float
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.pruning.chain import Chain
from deptree_cli.pruning.program import AnyProgram
from deptree_cli.pruning.settings import Settings
from deptree_cli.pruning.single_masks import exact

# A chain is summed up in fewer batches than this, all of one length, which doubles when it has so many.
BATCHES = 40

# Features whose means differ by less than this between chains (a standard deviation) agree.
NEGLIGIBLE = 1e-4


def randomized(program: AnyProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """MonteCarloEstimate expectations by chains over masks (Bouchard-Cote et al. 2009); unbiased in the limit.

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
    return MonteCarloEstimate(
        averages.mean(),
        averages.standard_errors(),
        iterations=averages.count // len(chains),
        r_hat=averages.r_hat(),
        effective_size=averages.effective_size(),
        is_interrupted=settings.stop(),
    )


class Batches:
    """Sums of one chain's features and of their squares, in batches of equal length and in what is begun behind."""

    def __init__(self) -> None:
        self.length = 1
        self.sums: list[Float] = []
        self.squares: list[Float] = []
        self._begun: tuple[int, Float, Float] | None = None

    def add(self, features: Float) -> None:
        """Count one iteration."""
        count, total, square = self._begun or (0, np.zeros_like(features), np.zeros_like(features))
        self._begun = count + 1, total + features, square + features**2
        if count + 1 == self.length:
            self.sums.append(self._begun[1])
            self.squares.append(self._begun[2])
            self._begun = None
        if len(self.sums) == BATCHES:
            self.length *= 2
            for sums in (self.sums, self.squares):
                sums[:] = [first + second for first, second in zip(sums[::2], sums[1::2], strict=True)]

    @property
    def count(self) -> int:
        """The number of iterations."""
        return len(self.sums) * self.length + (self._begun[0] if self._begun else 0)

    @property
    def total(self) -> Float:
        """The sum over all iterations."""
        begun = [self._begun[1]] if self._begun else []
        return np.sum([*self.sums, *begun], axis=0)


class Half(NamedTuple):
    """Half of a chain: how many iterations it has, the mean of the features and their variance."""

    iterations: int
    mean: Float
    variance: Float


class Averages:
    """The averages of several chains."""

    def __init__(self, chains: int) -> None:
        self._chains = [Batches() for _ in range(chains)]

    def add(self, chain: int, features: Float) -> None:
        """Count one iteration of a chain."""
        self._chains[chain].add(features)

    @property
    def count(self) -> int:
        """The number of iterations of all chains."""
        return sum(chain.count for chain in self._chains)

    def mean(self) -> Float:
        """The mean over all iterations of all chains; there is one."""
        return np.sum([chain.total for chain in self._chains if chain.count], axis=0) / self.count

    def standard_errors(self) -> Float | None:
        """The standard errors of the mean, by the differences between batches; None for fewer than four of them."""
        means = [total / chain.length for chain in self._chains for total in chain.sums]
        if len(means) < 4:
            return None
        return np.std(means, axis=0, ddof=1) / np.sqrt(len(means))

    def effective_size(self) -> float | None:
        """As good as how many independent iterations they are: the variance of one over that of the mean."""
        errors = self.standard_errors()
        if errors is None:
            return None
        squares = np.sum([np.sum(chain.squares, axis=0) for chain in self._chains if chain.sums], axis=0)
        sums = np.sum([np.sum(chain.sums, axis=0) for chain in self._chains if chain.sums], axis=0)
        count = sum(len(chain.sums) * chain.length for chain in self._chains)
        variance = np.maximum(squares / count - (sums / count) ** 2, 0.0).sum()
        of_mean = (errors**2).sum()
        if variance < NEGLIGIBLE**2 or of_mean == 0.0:
            return float(count)  # what is left is rounding
        return float(min(variance / of_mean, count))

    def r_hat(self) -> float | None:
        """Gelman and Rubin's (1992) figure of the halves of all chains, of the feature that is worst.

        1 at best; infinite where halves differ and none moves. None where a chain has fewer than four batches.
        """
        halves = [half for chain in self._chains for half in _halves(chain)]
        if len(halves) < 2 * len(self._chains):
            return None
        count = np.mean([half.iterations for half in halves])
        within = np.mean([half.variance for half in halves], axis=0)
        between = np.var([half.mean for half in halves], axis=0, ddof=1)
        differ = between > NEGLIGIBLE**2
        with np.errstate(divide="ignore"):
            ratios = (count - 1) / count + between[differ] / within[differ]
        return float(np.sqrt(ratios.max(initial=1.0)))


def _halves(chain: Batches) -> list[Half]:
    """The two halves of a chain's batches, without the middle one where their number is odd."""
    size = len(chain.sums) // 2
    if size < 2:
        return []
    count = size * chain.length
    found = []
    for part in (slice(0, size), slice(len(chain.sums) - size, None)):
        mean = np.sum(chain.sums[part], axis=0) / count
        square = np.sum(chain.squares[part], axis=0) / count
        found.append(Half(count, mean, np.maximum(square - mean**2, 0.0) * count / (count - 1)))
    return found
