"""Options of randomness that commands share, and what options of any kind are made with."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection
from math import inf
from operator import attrgetter
from typing import Any

import click
from click.core import ParameterSource

from deptree_cli.cli.params import IntRange
from deptree_cli.cli.sections import Decorator, option
from deptree_cli.core.register import Entry, Register

_KEY = "deptree_cli.provenance"


def mark_provenance(context: click.Context | None, *fields: str) -> None:
    """Note that these fields of the signature were chosen by the program or a file of scores."""
    if context is not None:
        context.meta.setdefault(_KEY, set()).update(fields)


def chosen_for_user(signature: str) -> bool:
    """Whether a signature says what the command line of this run does not."""
    context = click.get_current_context(silent=True)
    chosen = context.meta.get(_KEY, set()) if context else set()
    return any(f"|{field}:" in signature for field in chosen)


# What an int32 counts; no sentence's trees fit into memory before that.
MOST_TREES = 2**31 - 1


def _fresh_seed(context: click.Context, parameter: click.Parameter, seed: int | None) -> int:
    """The seed given, or a fresh one, which the signature shows on stderr."""
    if seed is not None:
        return seed
    mark_provenance(context, "seed")
    return secrets.randbits(32)


def check_effect(names: Collection[str], needs: str) -> None:
    """Raise for the first of these options on the command line, which has no effect there.

    Args:
        names: of the options' parameters.
        needs: what an effect needs, for the message.
    """
    context = click.get_current_context()
    for each in context.command.params:
        if each.name in names and context.get_parameter_source(each.name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{each.opts[0]} needs {needs}.")


def positive(context: click.Context, parameter: click.Parameter, number: float | None) -> float | None:
    """A click callback: the number, if it is positive and finite or not given."""
    if number is not None and not 0 < number < inf:
        raise click.BadParameter(f"{number:g} is not a positive number.")
    return number


seed_option = option(
    "--seed",
    type=IntRange(0),
    callback=_fresh_seed,
    metavar="N",
    help="Make the run repeatable.  [default: fresh, shown on stderr]",
)


def size_option(default: int | None, text: str, shown: str | None = None, often: bool | None = None) -> Decorator[Any]:
    """``-k N``; `shown` is how help calls a default that the command works out; `often`: as of `option`."""
    return option(
        "-k",
        "--size",
        "size",
        type=IntRange(1, MOST_TREES),
        default=default,
        metavar="N",
        help=f"{text}  [default: {shown or default}]",
        often=often,
    )


def entry_option(
    register: Register[Entry],
    *names: str,
    help: str = "{names}  [default: auto]",
    default: str | None = "auto",
    name: Callable[[Entry], str] = attrgetter("name"),
    **attributes: Any,
) -> Decorator[Any]:
    """An option whose value is an entry of a register, by name; the command receives the entry.

    Args:
        names: of the option and, last, of the parameter.
        name: how help lists an entry.
        attributes: as of `option`.
    """

    def entry(context: click.Context, parameter: click.Parameter, asked: str | None) -> Entry | None:
        return None if asked is None else register.get(asked)

    usual: dict[str, Any] = {"metavar": "NAME", "callback": entry, "shell_complete": register.complete}
    usual["names"] = lambda: map(name, register)
    return option(*names, default=default, help=help, **usual, **attributes)
