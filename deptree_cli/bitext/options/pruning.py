"""How expectations are worked out: the options of a method and of its settings, and the object that they become."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import click

from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import IntRange, bound, check_effect, entry_option, option, positive, seed_option
from deptree_cli.pruning.methods import METHODS, Method
from deptree_cli.pruning.settings import COUNTS, ITERATIONS, Settings

_USUAL = Settings()

EXACT = METHODS.known[0].name


@dataclass(frozen=True)
class PruningOptions:
    """How expectations are worked out.

    Attributes:
        method, settings: what was asked for.
        seed: of all random numbers.
    """

    method: Method
    settings: Settings
    seed: int

    @property
    def is_asked(self) -> bool:
        """Whether another method was asked for than the exact one."""
        return self.method.name != EXACT

    @property
    def stream_seed(self) -> int | None:
        """The seed of the random streams, None for a method that draws nothing."""
        return self.seed if self.method.is_random else None

    @property
    def signature_fields(self) -> dict[str, object]:
        """What of these a run must repeat to give the same result."""
        own = {name.replace("_", ""): getattr(self.settings, name) for name in self.method.settings}
        return {"method": self.method.name, **own, "seed": self.stream_seed}


_METHOD = [
    entry_option(
        METHODS, "--method", default=EXACT, help=f"How to compute probabilities: {{names}}.  [default: {EXACT}]"
    ),
    option(
        "--iterations",
        type=IntRange(1),
        metavar="N",
        help=f"Iterations per chain, or runs of rdp.  [default: {ITERATIONS}; with --seconds, as many as fit]",
    ),
    option(
        "--seconds",
        type=float,
        callback=positive,
        metavar="S",
        help="Time limit per sentence; results then depend on the machine.",
    ),
    option(
        "--chains",
        often=False,
        type=IntRange(1),
        default=_USUAL.chains,
        metavar="N",
        help=f"Number of chains of randomized, which are compared with each other.  [default: {_USUAL.chains}]",
    ),
    option(
        "--burn-in",
        often=False,
        type=IntRange(0),
        default=_USUAL.burn_in,
        metavar="N",
        help=f"Iterations to discard at the start of each chain.  [default: {_USUAL.burn_in}]",
    ),
    option(
        "--counts",
        often=False,
        type=click.Choice(COUNTS),
        default=_USUAL.counts,
        help="Average the probabilities under the pruning masks (soft), or the sampled structures (hard)."
        f"  [default: {_USUAL.counts}]",
    ),
    option(
        "--margin",
        often=False,
        type=float,
        default=_USUAL.margin,
        callback=positive,
        metavar="X",
        help=f"With tic-tac-toe: keep parts at most X nats below the best.  [default: {_USUAL.margin:g}]",
    ),
    option(
        "--kept",
        often=False,
        type=IntRange(1),
        default=_USUAL.kept,
        metavar="N",
        help=f"With rdp: keep the N best target spans per source span, and N random others.  [default: {_USUAL.kept}]",
    ),
]

_SETTINGS = ("iterations", "seconds", "chains", "burn_in", "counts", "margin", "kept")


def _build(*, method: Method, seed: int, **given: Any) -> PruningOptions:
    for name in given:
        if name not in method.settings:
            check_effect([name], _one_of(each.name for each in METHODS if name in each.settings))
    if not method.is_random:
        check_effect(["seed"], _one_of(each.name for each in METHODS if each.is_random))
    if given["iterations"] is None and given["seconds"] is None:
        given["iterations"] = ITERATIONS
    return PruningOptions(method, Settings(**given), seed)


def _one_of(names: Iterable[str]) -> str:
    """The option that asks for one of some methods."""
    return "--method " + " or ".join(names)


# Gives a command --method and its settings; it receives them as one `pruning: PruningOptions`.
pruning_options = bound("pruning", [*_METHOD, seed_option], _build, ("method", "seed", *_SETTINGS))

# The methods for help texts.
LISTING = Listing("Methods to compute link probabilities", METHODS, lambda method: f"{method.name}: {method.summary}")
