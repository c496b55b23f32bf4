"""Options of results and of randomness that commands share; those of reading and of running have rooms of their own."""

from __future__ import annotations

import re
import secrets
from collections.abc import Sequence
from math import inf
from string import Formatter
from typing import Any

import click

from deptree_cli.cli.binding import bound
from deptree_cli.cli.provenance import mark_provenance
from deptree_cli.cli.ranges import IntRange
from deptree_cli.cli.sections import Decorator, option, writing_option
from deptree_cli.core.register import Entry, Register
from deptree_cli.io.conllu.splicing import DEPS
from deptree_cli.io.conllu.trees import USUAL, Style

# What an int32 counts; no sentence's trees fit into memory before that.
MOST_TREES = 2**31 - 1


def _fresh_seed(context: click.Context, parameter: click.Parameter, seed: int | None) -> int:
    """The seed given, or a fresh one, which the signature shows on stderr."""
    if seed is not None:
        return seed
    mark_provenance(context, "seed")
    return secrets.randbits(32)


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
    help="Same seed, same bytes.  [default: a fresh one, shown on stderr]",
)


def size_option(
    default: int | None, text: str, shown: str | None = None, formerly: Sequence[str] = ()
) -> Decorator[Any]:
    """``-k N``; `shown` is how help calls a default that the command works out, `formerly` what it was called."""
    return option(
        "-k",
        "--size",
        "size",
        type=IntRange(1, MOST_TREES),
        default=default,
        metavar="N",
        help=f"{text}  [default: {shown or default}]",
        formerly=formerly,
    )


def entry_option(
    register: Register[Entry],
    *names: str,
    help: str = "See above.  [default: auto]",
    default: str | None = "auto",
    **attributes: Any,
) -> Decorator[Any]:
    """An option whose value is an entry of a register, by name; the command receives the entry.

    Args:
        names: of the option and, last, of the parameter.
        attributes: as of `option`.
    """

    def entry(context: click.Context, parameter: click.Parameter, name: str | None) -> Entry | None:
        return None if name is None else register.get(name)

    usual: dict[str, Any] = {"metavar": "NAME", "callback": entry, "shell_complete": register.complete}
    return option(*names, default=default, help=help, **usual, **attributes)


def format_option(*names: str) -> Decorator[Any]:
    """``--format``; without it the suffix of -o and --conllu decide."""
    return writing_option(
        "--format", "fmt", often=True, type=click.Choice(names), help="Output format; see above for the default."
    )


header_option = writing_option(
    "--header/--no-header",
    default=None,
    help="The signature as first comment (CoNLL-U; default yes) or first line (JSON Lines; default no).",
)


# What may stand behind the colon of {k}: up to 99 columns, filled with spaces or zeros.
_WIDTH_OF_K = re.compile(r"0?[1-9]?[0-9]?d?")


def _sent_id_format(context: click.Context, parameter: click.Parameter, text: str) -> str:
    """The template, if it names every tree differently and nothing but {id} and {k}: no attributes, no huge widths."""
    try:
        fields = [(name, spec, how) for _, name, spec, how in Formatter().parse(text) if name is not None]
    except ValueError:
        fields = []
    sound = all(
        how is None and (spec == "" if name == "id" else name == "k" and _WIDTH_OF_K.fullmatch(spec or ""))
        for name, spec, how in fields
    )
    if not sound or {name for name, *_ in fields} != {"id", "k"} or not text.isprintable():
        remedy = "such as '{id}-sample_{k}' or '{id}-{k:03}'"
        raise click.BadParameter(f"{text!r} is not a name with {{id}} and {{k}} and no other field, {remedy}.")
    return text


_STYLE_OPTIONS = [
    writing_option(
        "--deps",
        type=click.Choice(DEPS),
        default=USUAL.deps,
        help="DEPS in CoNLL-U: underscores and no empty nodes, the tree's own arcs, or as they were.  [default: drop]",
    ),
    writing_option(
        "--sent-id-format",
        callback=_sent_id_format,
        default=USUAL.sent_id_format,
        metavar="TEXT",
        help=f"The sent_id of a sentence's k-th tree in CoNLL-U.  [default: {USUAL.sent_id_format}]",
    ),
]


# Gives a command the options of writing trees as CoNLL-U, as one `style: Style`.
style_options = bound("style", _STYLE_OPTIONS, Style)


def style_fields(style: Style) -> dict[str, object]:
    """What of it a run must repeat to give the same result, for the signature."""
    return {
        "deps": None if style.deps == USUAL.deps else style.deps,
        "sentid": None if style.sent_id_format == USUAL.sent_id_format else style.sent_id_format,
    }
