"""The register of methods by which expectations are worked out, and the one function that uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.monte_carlo import MonteCarloEstimate
from deptree_cli.core.register import Register
from deptree_cli.core.streams import Randomness, offshoot, stream_of
from deptree_cli.pruning.program import AnyProgram, CellProgram
from deptree_cli.pruning.randomized import randomized
from deptree_cli.pruning.randomized_states import randomized_states
from deptree_cli.pruning.settings import Settings
from deptree_cli.pruning.single_masks import exact, fixed, tic_tac_toe


@dataclass(frozen=True, slots=True)
class Method:
    """A method that computes or estimates expectations of a program.

    Attributes:
        name: its name on the command line.
        summary: what it does, in a few words.
        estimate: program, random numbers and settings -> expectations.
        settings: which of the `Settings` concern it.
        is_random: whether its result depends on random numbers.
        by_merits: whether it needs the merits of states, and so a `CellProgram`.
    """

    name: str
    summary: str
    estimate: Callable[[Any, np.random.Generator, Settings], MonteCarloEstimate]
    settings: tuple[str, ...] = ()
    is_random: bool = False
    by_merits: bool = False

    @property
    def goes_on(self) -> bool:
        """Whether more time makes it better."""
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
