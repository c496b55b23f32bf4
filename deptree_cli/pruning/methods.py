"""Methods of randomized pruning, how they are run, and the one function that uses them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import monotonic
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Integers
from deptree_cli.core.errors import DeptreeError, one_of
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.core.register import Register
from deptree_cli.core.streams import Randomness, offshoot, stream_of
from deptree_cli.pruning.program import AnyCellProgram, AnyProgram, CellProgram, Mask

# How methods are run: for how long, with how many chains, and what counts.

COUNTS = ("soft", "hard")

# How many iterations there are where nothing else says when to end.
ITERATIONS = 1000

# The least value of every number among the settings.
LEAST = {"iterations": 1, "seconds": 0, "chains": 1, "burn_in": 0, "margin": 0, "kept": 1}


def never() -> bool:
    return False


def no_progress(iterations: int) -> None:
    pass


@dataclass(frozen=True)
class Settings:
    """How expectations are worked out; every method looks at what concerns it.

    Attributes:
        iterations: of each chain, or runs; None for `ITERATIONS`, with seconds for as many as there is time for.
        seconds: how long to go on for, None for as long as the iterations take.
        chains: how many chains are run and compared.
        burn_in: how many of a chain's first iterations do not count.
        counts: ``soft`` to average the expectations under masks, ``hard`` to average the structures drawn.
        margin: how much less, in nats, a state's merit may be than the best of its cell (tic-tac-toe).
        kept: how many of a cell's states are kept for their merits, and how many others, on average, by chance (rdp).
        stop: called after every iteration; the estimate ends if it returns True.
        tell: called after every iteration with the number of iterations that count.

    Raises:
        DeptreeError: they do not make sense.
    """

    iterations: int | None = None
    seconds: float | None = None
    chains: int = 4
    burn_in: int = 10
    counts: str = "soft"
    margin: float = 10.0
    kept: int = 10
    stop: Callable[[], bool] = never
    tell: Callable[[int], object] = no_progress

    def __post_init__(self) -> None:
        if self.counts not in COUNTS:
            raise DeptreeError(f"unknown counts {self.counts!r}", one_of(COUNTS))
        for name, least in LEAST.items():
            number = getattr(self, name)
            if number is not None and not number >= least:  # NaN is not
                raise DeptreeError(f"{name} is {number}", f"Give {least} or more")

    def rounds(self, beforehand: int = 0) -> Iterator[bool]:
        """Iterate for as long as it is to go on; whether each iteration counts, which at least one does.

        `beforehand`: how many do not count, unless it is to end before.
        """
        end = math.inf if self.seconds is None else monotonic() + self.seconds
        enough = self.iterations or (ITERATIONS if self.seconds is None else math.inf)
        number = counted = 0
        while not counted or not (counted >= enough or monotonic() >= end or self.stop()):
            counts = number >= beforehand or monotonic() >= end or self.stop()
            yield counts
            number += 1
            counted += counts
            self.tell(counted)


# One Markov chain of randomized pruning: a selection, a mask, the sums under it, a structure, its assignment.


# How much of the confident variables is pinned at a time.
SHARE = 2 / 3


class Chain:
    """The auxiliary-variable chain (Bouchard-Cote et al. 2009, algorithm 1) over the structures of a program.

    `confident` variables are pinned at times. It starts with all of them positive, or `dispersed`: with a random
    assignment, so that several chains that agree in the end did not begin in the same place.
    """

    def __init__(self, program: AnyProgram, confident: Integers, rng: np.random.Generator, dispersed: bool) -> None:
        self._program = program
        self._rng = rng
        self._assigned = start(program, confident, rng, dispersed)
        self._selections = selections(confident, program.variables(), rng)

    def step(self, soft: bool = True) -> Float:
        """Draw a selection and a structure under its mask; return its features, if `soft` their expectation."""
        program = self._program
        log_z, chart = program.inside(program.compile(next(self._selections), self._assigned))
        if log_z == -np.inf:
            problem = "the program's pruning mask removes the structure that it was made from"
            raise DeptreeError(problem, "Check that its compile and assign agree")
        expected = program.outside(chart) if soft else None
        structure = program.sample(chart, self._rng)
        self._assigned = program.assign(structure)
        return program.features(structure) if expected is None else expected


def selections(confident: Integers, variables: int, rng: np.random.Generator) -> Iterator[Bool]:
    """Selections of the confident variables, (variables,), one after another (Bouchard-Cote et al. 2009, section 3.2).

    From one to the next all that were not pinned are, and a random half of those that were stay so, which never depends
    on what is assigned: an adaptive choice would lose convergence.

    One step is added to the paper's: with probability 2^-m, m being the number of confident variables, nothing is
    pinned. Without it variables that determine each other may never change, because some of them are always pinned: of
    two words with the trees 0 -> 1 -> 2 and 0 -> 2 -> 1 the chain would see one only. A step that pins nothing costs as
    much as the exact sums do, but is the rarer the more a pinned variable can save. `confident` are variables by
    number.
    """

    def random(among: Bool, size: int) -> Bool:
        chosen = np.zeros(len(among), dtype=np.bool_)
        chosen[rng.permutation(np.flatnonzero(among))[:size]] = True
        return chosen

    pinned = random(np.ones(len(confident), dtype=np.bool_), round(SHARE * len(confident)))
    while True:
        selected = np.zeros(variables, dtype=np.bool_)
        if rng.random() >= 0.5 ** len(confident):
            pinned = ~pinned | random(pinned, int(pinned.sum()) // 2)
            selected[confident[pinned]] = True
        yield selected


def start(program: AnyProgram, confident: Integers, rng: np.random.Generator, dispersed: bool = False) -> Bool:
    """The assignment of a structure with as many confident variables positive as go together, (variables,).

    All of them are pinned (`dispersed`: to random values), and taken back at random one by one until there is a
    structure.
    """
    selected = np.zeros(program.variables(), dtype=np.bool_)
    selected[confident] = True
    assigned = selected & (rng.random(len(selected)) < 0.5) if dispersed else selected.copy()
    for variable in (*rng.permutation(confident), None):
        log_z, chart = program.inside(program.compile(selected, assigned))
        if log_z > -np.inf:
            return program.assign(program.sample(chart, rng))
        if variable is not None:
            selected[variable] = False
    raise program.no_structure()


# Expectations by one run of a program: under no mask, or under a fixed one, which is biased by what it prunes.


def exact(program: AnyProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """Work out expectations with nothing pruned."""
    log_z, chart = program.inside(program.everything())
    if log_z == -np.inf:
        raise program.no_structure()
    return MonteCarloEstimate(program.outside(chart), log_partition=log_z)


def fixed(program: AnyProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """Work out expectations with as many of the confident variables pinned as go together."""
    confident = program.confident()
    selected = np.zeros(program.variables(), dtype=np.bool_)
    selected[confident] = True
    return _under(program, program.compile(selected, start(program, confident, rng)))


def tic_tac_toe(program: AnyCellProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """Work out expectations over states whose merit is near that of the best in their cell (Zhang and Gildea 2005)."""
    merits = program.merits()
    best = np.where(np.isfinite(merits), merits, -np.inf).max(axis=1, keepdims=True)
    best = np.where(np.isfinite(best), best, np.finfo(float).max)
    return _under(program, program.keep(merits >= best - settings.margin))


def _under(program: AnyProgram, mask: Mask) -> MonteCarloEstimate:
    log_z, chart = program.inside(mask)
    if log_z == -np.inf:
        raise DeptreeError("the pruning mask removes every structure", "Use a larger margin")
    return MonteCarloEstimate(program.outside(chart))


# Randomized pruning: averages over the masks of several chains, and what their batches tell of errors.


# Chains are summed up in fewer batches than this, all of one length, which doubles when there are this many.
BATCHES = 40

# Features whose means differ by less than this between chains (a standard deviation) agree.
NEGLIGIBLE = 1e-4


def randomized(program: AnyProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """Estimate expectations by chains over masks (Bouchard-Cote et al. 2009); unbiased in the limit.

    Chains take turns, so that all have the same length whenever they are stopped. If no variable is confident
    nothing can be pinned, and the sums are exact.
    """
    confident = program.confident()
    if not len(confident) and settings.counts == "soft":
        return exact(program, rng, settings)  # as every iteration would be
    streams = rng.spawn(settings.chains)
    chains = [Chain(program, confident, stream, dispersed=number > 0) for number, stream in enumerate(streams)]
    averages = Averages()
    for counts in settings.rounds(settings.burn_in):
        # Copied at once: a program may hand out the same array every time.
        features = np.array([chain.step(settings.counts == "soft").copy() for chain in chains])
        if counts:
            averages.add(features)
    return MonteCarloEstimate(
        averages.mean(),
        averages.standard_errors(),
        iterations=averages.iterations,
        r_hat=averages.r_hat(),
        effective_size=averages.effective_size(),
        is_interrupted=settings.stop(),
    )


class Averages:
    """Sums of the features of chains and of their squares, in batches of equal length and in what is begun behind.

    All are (chains, ...).
    """

    def __init__(self) -> None:
        self.length = 1
        self.sums: list[Float] = []
        self.squares: list[Float] = []
        self._begun: tuple[int, Any, Any] = 0, 0.0, 0.0

    def add(self, features: Float) -> None:
        """Add an iteration of every chain."""
        count, total, square = self._begun
        self._begun = count + 1, total + features, square + features**2
        if count + 1 == self.length:
            self.sums.append(self._begun[1])
            self.squares.append(self._begun[2])
            self._begun = 0, 0.0, 0.0
        if len(self.sums) == BATCHES:
            self.length *= 2
            for sums in (self.sums, self.squares):
                sums[:] = [first + second for first, second in zip(sums[::2], sums[1::2], strict=True)]

    @property
    def iterations(self) -> int:
        return len(self.sums) * self.length + self._begun[0]

    def mean(self) -> Float:
        total = np.sum([*self.sums, self._begun[1]] if self._begun[0] else self.sums, axis=0)
        return np.asarray(total.sum(axis=0) / (len(total) * self.iterations))

    def standard_errors(self) -> Float | None:
        """The standard errors of the mean, by the differences between batches; None for fewer than four of them."""
        means = _chain_by_chain(self.sums) / self.length
        return None if len(means) < 4 else np.std(means, axis=0, ddof=1) / np.sqrt(len(means))

    def effective_size(self) -> float | None:
        """As good as how many independent iterations they are: the variance of one over that of the mean."""
        errors = self.standard_errors()
        if errors is None:
            return None
        sums, squares = (np.sum(each, axis=0) for each in (self.sums, self.squares))
        count = len(sums) * len(self.sums) * self.length
        variance = np.maximum(squares.sum(axis=0) / count - (sums.sum(axis=0) / count) ** 2, 0.0).sum()
        of_mean = (errors**2).sum()
        if variance < NEGLIGIBLE**2 or of_mean == 0.0:
            return float(count)  # what is left is rounding
        return float(min(variance / of_mean, count))

    def r_hat(self) -> float | None:
        """Gelman and Rubin's (1992) figure of the halves of all chains, of the feature that is worst.

        1 at best; infinite where halves differ and none moves. None for fewer than four batches. The middle one of an
        odd number is in no half.
        """
        size = len(self.sums) // 2
        if size < 2:
            return None
        count = size * self.length
        means, squares = (
            _chain_by_chain([np.sum(each[:size], axis=0), np.sum(each[-size:], axis=0)]) / count
            for each in (self.sums, self.squares)
        )
        within = (np.maximum(squares - means**2, 0.0) * count / (count - 1)).mean(axis=0)
        between = np.var(means, axis=0, ddof=1)
        differ = between > NEGLIGIBLE**2
        with np.errstate(divide="ignore"):
            ratios = (count - 1) / count + between[differ] / within[differ]
        return float(np.sqrt(ratios.max(initial=1.0)))


def _chain_by_chain(parts: list[Float]) -> Float:
    """Return parts (chains, ...) as (chains * parts, ...)."""
    found = np.swapaxes(parts, 0, 1)
    return found.reshape(-1, *found.shape[2:])


# Randomized dynamic programming (Fu, Cunningham and Lapata 2022): the best states of a cell, and others by chance.


def randomized_states(program: AnyCellProgram, rng: np.random.Generator, settings: Settings) -> MonteCarloEstimate:
    """Estimate expectations by runs that keep the best states of each cell and draw some of the others.

    States are drawn independently of each other, and what is drawn weighs one over its probability. No structure has a
    state twice, so every structure's weight is right on average: Z, and the sums of features, are unbiased, their
    ratio over all runs is so in the limit.
    """
    chances = inclusion_probabilities(program.merits(), settings.kept)
    with np.errstate(divide="ignore"):
        log_weights = np.where(chances > 0, -np.log(chances), 0.0)
    ratio, done = Ratio(), 0
    for _ in settings.rounds():
        log_z, chart = program.inside(program.keep(rng.random(chances.shape) < chances, log_weights))
        if log_z > -np.inf:
            ratio.add(log_z, program.outside(chart))
        done += 1
    if not ratio.runs:
        raise DeptreeError("no run kept a structure", "Keep more states (kept)")
    return MonteCarloEstimate(
        ratio.mean(),
        ratio.standard_errors(),
        iterations=done,
        effective_size=ratio.effective_size,
        is_interrupted=settings.stop(),
    )


def inclusion_probabilities(merits: Float, kept: int) -> Float:
    """With which probability each state is kept, (cells, states): certainly the best ones, by merits of +inf or rank.

    Of the others of a cell `kept` are drawn on average, half of them by their merits, half by chance alone, so that
    none that matters after all weighs too much.
    """
    chances = np.where(merits == np.inf, 1.0, 0.0)
    for cell, row in zip(chances, np.where(np.isfinite(merits), merits, -np.inf), strict=True):
        ranked = np.argsort(-row, kind="stable")[: int(np.isfinite(row).sum())]
        others = ranked[kept:]
        cell[ranked[:kept]] = 1.0
        if len(others):
            shares = np.exp(row[others] - row[others[0]])
            cell[others] = np.minimum(1.0, kept * (shares / shares.sum() + 1.0 / len(others)) / 2)
    return chances


class Ratio:
    """The ratio of two averages over runs: features times Z over Z, with the weights of runs known by logarithms.

    It sums w, w^2, w f, w^2 f and (w f)^2, relative to the highest weight.
    """

    def __init__(self) -> None:
        self.runs = 0
        self._highest = -math.inf
        self._sums: list[Any] = [0.0] * 5

    def add(self, log_weight: float, features: Float) -> None:
        if log_weight > self._highest:
            factor = math.exp(self._highest - log_weight)
            self._sums = [total * factor**power for total, power in zip(self._sums, (1, 2, 1, 2, 2), strict=True)]
            self._highest = log_weight
        weight = math.exp(log_weight - self._highest)
        self.runs += 1
        terms = weight, weight**2, weight * features, weight**2 * features, (weight * features) ** 2
        self._sums = [total + term for total, term in zip(self._sums, terms, strict=True)]

    def mean(self) -> Float:
        return np.asarray(self._sums[2] / self._sums[0])

    def standard_errors(self) -> Float | None:
        """The standard errors of the ratio, by the delta method; None for fewer than two runs."""
        if self.runs < 2:
            return None
        mean, (weight, weights_squared, _, second, third) = self.mean(), self._sums
        squares = np.asarray(third - 2 * mean * second + mean**2 * weights_squared)
        return np.sqrt(np.maximum(squares, 0.0)) / weight

    @property
    def effective_size(self) -> float:
        """As good as how many runs of equal weight they are (Kish)."""
        return float(self._sums[0] ** 2 / self._sums[1])


# The register of methods by which expectations are worked out, and the one function that uses it.


@dataclass(frozen=True, slots=True)
class Method:
    """A method that computes or estimates expectations of a program; `settings` names those that concern it.

    `by_merits`: it needs the merits of states, and so a `CellProgram`.
    """

    name: str
    summary: str
    estimate: Callable[[Any, np.random.Generator, Settings], MonteCarloEstimate]
    settings: tuple[str, ...] = ()
    is_random: bool = False
    by_merits: bool = False

    @property
    def goes_on(self) -> bool:
        return "iterations" in self.settings


_TIME = ("iterations", "seconds")

METHODS = Register(
    "method",
    [
        Method("exact", "sums over everything; nothing is pruned, nothing is random", exact),
        Method(
            "randomized",
            "averages over random pruning masks (Bouchard-Cote, Petrov and Klein 2009); exact in the limit",
            randomized,
            (*_TIME, "chains", "burn_in", "counts"),
            is_random=True,
        ),
        Method("fixed", "one pruning mask: keeps what a simpler model is confident of; biased", fixed, is_random=True),
        Method(
            "tic-tac-toe",
            "one pruning mask: keeps the best parts by a simpler model (Zhang and Gildea 2005); biased",
            tic_tac_toe,
            ("margin",),
            by_merits=True,
        ),
        Method(
            "rdp",
            "keeps the best parts and samples others (Fu, Cunningham and Lapata 2022); exact in the limit",
            randomized_states,
            (*_TIME, "kept"),
            is_random=True,
            by_merits=True,
        ),
    ],
)


def expectations(
    program: AnyProgram,
    method: str = "randomized",
    rng: Randomness | None = None,
    *,
    seed: int | None = None,
    **settings: Any,
) -> MonteCarloEstimate:
    """Compute the expectations of a program's features.

    Args:
        method: a name in `METHODS`.
        rng, seed: a seed, or a Generator; a fresh seed if neither is given.
        settings: see `Settings`: iterations, seconds, chains, burn_in, counts, margin, kept, stop, tell.

    Returns:
        the `expectations` of features with `standard_errors`, and `r_hat` of chains.

    Raises:
        DeptreeError: the method is unknown or needs merits that the program lacks, a setting is invalid, or there is no
            structure.
    """
    found = METHODS.get(method)
    if found.by_merits and not isinstance(program, CellProgram):
        raise DeptreeError(f"{method} needs the merits of states", "Derive the program from CellProgram")
    stream = stream_of(rng, seed)
    return found.estimate(program, offshoot(stream) if stream is rng else stream, Settings(**settings))
