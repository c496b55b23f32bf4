"""Options of writing and of randomness that commands share; those of reading are in `inputs.py`."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import click

from deptree_cli.io.splicing import DEPS
from deptree_cli.io.trees import USUAL, Style

Command = TypeVar("Command", bound=Callable[..., Any])


def completes(names: Iterable[str]) -> Callable[[click.Context, click.Parameter, str], list[str]]:
    """What a shell offers for a value that is one of these names."""
    return lambda context, parameter, incomplete: [name for name in names if name.startswith(incomplete)]


def apply(options: list[Callable[[Any], Any]], function: Any) -> Any:
    """The function with all these options, the first on top."""
    for option in reversed(options):
        function = option(function)
    return function


def _fresh_seed(context: click.Context, parameter: click.Parameter, seed: int | None) -> int:
    """The seed given, or a fresh one; either way the signature shows it."""
    return secrets.randbits(32) if seed is None else seed


# What an int32 counts; no sentence's trees fit into memory before that.
MOST_TREES = 2**31 - 1

seed_option = click.option(
    "--seed",
    type=click.IntRange(0),
    callback=_fresh_seed,
    metavar="N",
    help="Same seed, same bytes, for any --jobs and any subset of the file.  [default: a fresh one, shown on stderr]",
)

output_option = click.option("--output", "-o", metavar="FILE", help="Where to write; renamed into place when whole.")


def size_option(default: int | None, text: str, said: str | None = None) -> Callable[[Command], Command]:
    """``-k N``; `said` is how help calls a default that the command works out."""
    help_text = f"{text}  [default: {said or default}]"
    return click.option(
        "-k", "--size", "size", type=click.IntRange(1, MOST_TREES), default=default, metavar="N", help=help_text
    )


def format_option(*names: str) -> Callable[[Command], Command]:
    """``--format``; without it the suffix of -o and --conllu decide."""
    return click.option("--format", "form", type=click.Choice(names), help="Output format; see above for the default.")


header_option = click.option(
    "--header/--no-header",
    default=None,
    help="The signature as first comment (CoNLL-U; default yes) or first line (JSON Lines; default no).",
)


def _sent_id_format(context: click.Context, parameter: click.Parameter, text: str) -> str:
    try:
        names = [text.format(id="a", k=rank) for rank in (1, 2)]
    except (KeyError, IndexError, ValueError, AttributeError):
        names = []
    if len({*names, text.format(id="b", k=1) if names else ""}) < 3 or not text.isprintable():
        raise click.BadParameter(f"{text!r} is not a name with {{id}} and {{k}}, such as '{{id}}-sample_{{k}}'.")
    return text


_STYLE_OPTIONS = [
    click.option(
        "--deps",
        type=click.Choice(DEPS),
        default=USUAL.deps,
        help="DEPS in CoNLL-U: underscores and no empty nodes, the tree's own arcs, or as they were.  [default: drop]",
    ),
    click.option(
        "--sent-id-format",
        callback=_sent_id_format,
        default=USUAL.sent_id_format,
        metavar="TEXT",
        help=f"The sent_id of a sentence's k-th tree in CoNLL-U.  [default: {USUAL.sent_id_format}]",
    ),
]


def style_options(command: Command) -> Command:
    """Give a command the options of writing trees as CoNLL-U; it receives them as one `style: Style`."""

    @wraps(command)
    def with_style(*, deps: str, sent_id_format: str, **others: Any) -> Any:
        return command(style=Style(deps, sent_id_format), **others)

    decorated: Command = apply(_STYLE_OPTIONS, with_style)
    return decorated


def style_fields(style: Style) -> dict[str, object]:
    """What of it a run must repeat to give the same result."""
    return {
        "deps": None if style.deps == USUAL.deps else style.deps,
        "sentid": None if style.sent_id_format == USUAL.sent_id_format else style.sent_id_format,
    }
