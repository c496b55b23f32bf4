"""The register of methods by which expectations are worked out, and the one function that uses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.pruning.estimate import Estimate, Settings
from deptree_cli.core.pruning.program import AnyProgram, CellProgram
from deptree_cli.core.pruning.randomized import randomized
from deptree_cli.core.pruning.randomized_states import randomized_states
from deptree_cli.core.pruning.single_masks import exact, fixed, tic_tac_toe
from deptree_cli.core.register import Register


@dataclass(frozen=True, slots=True)
class Method:
    """A way to expectations.

    Attributes:
        name: how it is called.
        summary: what it does, in a few words.
        estimate: program, random numbers and settings -> expectations.
        is_random: whether its result depends on random numbers, and has errors that more iterations make smaller.
        by_merits: whether it needs the merits of states, and so a `CellProgram`.
    """

    name: str
    summary: str
    estimate: Callable[[Any, np.random.Generator, Settings], Estimate]
    is_random: bool = False
    by_merits: bool = False


METHODS = Register(
    "method",
    [
        Method("exact", "nothing is pruned", exact),
        Method("randomized", "an average over masks that change; right in the limit, with errors", randomized, True),
        Method("fixed", "one mask, of all links or arcs that a simpler model is sure of; biased", fixed, True),
        Method("tic-tac-toe", "one mask, of what a simpler model finds worth it; biased", tic_tac_toe, False, True),
        Method("rdp", "runs that keep the best and draw some of the rest; with errors", randomized_states, True, True),
    ],
)


def expectations(
    program: AnyProgram, method: str = "randomized", rng: int | np.random.Generator = 0, **settings: Any
) -> Estimate:
    """Work out the expectations of a program's features.

    Args:
        method: a name in `METHODS`.
        rng: a seed, or a Generator.
        settings: see `Settings`: iterations, seconds, chains, burn_in, counts, threshold, kept, stop.

    Raises:
        DeptreeError: there is no such method, it needs merits that the program does not have, the settings make no
            sense, or there is no structure.
    """
    found = METHODS.get(method)
    if found.by_merits and not isinstance(program, CellProgram):
        raise DeptreeError(f"{method} needs the merits of states", "Make the program a CellProgram")
    stream = rng if isinstance(rng, np.random.Generator) else np.random.Generator(np.random.PCG64(rng))
    return found.estimate(program, stream, Settings(**settings))
