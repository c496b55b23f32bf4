"""How expectations are worked out: the options of a method and of its settings, and the object that they become."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import click

from deptree_cli.cli.binding import bound
from deptree_cli.cli.help import Listing
from deptree_cli.cli.options import check_effect, entry_option, positive, seed_option
from deptree_cli.cli.ranges import IntRange
from deptree_cli.cli.sections import Decorator, option
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
        METHODS, "--method", default=EXACT, help=f"How to compute probabilities; see above.  [default: {EXACT}]"
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
]

_BY_MERITS = [
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


def pruning_options(by_merits: bool) -> Decorator[Any]:
    """Give a command --method and its settings; it receives them as one `pruning: PruningOptions`.

    Args:
        by_merits: whether there are merits of states, for methods that need them.
    """
    options = [*_METHOD, *(_BY_MERITS if by_merits else ()), seed_option]

    def build(*, method: Method, seed: int, **given: Any) -> PruningOptions:
        if method.by_merits and not by_merits:
            raise click.UsageError(f"--method {method.name} works on sentence pairs only. Choose another method.")
        _check(method, given)
        if by_merits and not method.is_random:
            check_effect(["seed"], random_methods(by_merits))
        if given["iterations"] is None and given["seconds"] is None:
            given["iterations"] = ITERATIONS
        return PruningOptions(method, Settings(**given), seed)

    return bound("pruning", options, build, ("method", "seed", *_SETTINGS))


def random_methods(by_merits: bool) -> str:
    """Return the options of the methods that draw random numbers, those that need merits where there are some."""
    return "--method " + " or ".join(each.name for each in METHODS if each.is_random and by_merits >= each.by_merits)


def _check(method: Method, given: dict[str, Any]) -> None:
    """Raise for a setting on the command line that does not concern the method."""
    for name in given:
        if name not in method.settings:
            check_effect([name], "--method " + " or ".join(each.name for each in METHODS if name in each.settings))


def methods(by_merits: bool) -> Listing:
    """The methods for help texts, those that need merits where there are some."""
    return Listing(
        "methods",
        METHODS,
        lambda method: f"{method.name}: {method.summary}",
        lambda method: by_merits or not method.by_merits,
    )
