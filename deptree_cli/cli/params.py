"""Types of parameters that name files: their names are completed, and what is written takes no other file's place."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

from deptree_cli.io.files.overwrites import Named
from deptree_cli.io.files.streams import STDIN

EMPTY_NAME = "The name is empty."


class FileName(click.ParamType):  # type: ignore[type-arg]  # click 8.2 has none
    """The path of a file, as text; `-` is a standard stream."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path.

        Raises:
            click.BadParameter: it is empty, as that of a variable that is not set.
        """
        return str(value) or self.fail(EMPTY_NAME, param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the names of files."""
        return [CompletionItem(incomplete, type="file")]


# A file that is read, one that is read unless a name of ours stands there, and one that is written.
INPUT, NAME_OR_INPUT, OUTPUT = FileName(), FileName(), FileName()

# The results, which go to standard output without a name.
RESULTS = FileName()


def inputs_of(ctx: click.Context) -> list[Named]:
    """Return the files that the command line has read."""
    return [each for each in _named(ctx, INPUT) if each.path]


def outputs_of(ctx: click.Context) -> list[Named]:
    """Return the files that the command line has written; `-` is standard output."""
    results = [each._replace(path=each.path or STDIN) for each in _named(ctx, RESULTS)]
    return [*results, *(each for each in _named(ctx, OUTPUT) if each.path)]


def results_of(ctx: click.Context) -> str | None:
    """Return where results go, None for standard output."""
    return next((each.path for each in _named(ctx, RESULTS)), None) or None


def _named(ctx: click.Context, kind: FileName) -> list[Named]:
    """The paths that are values of this type, with the options and arguments; empty where one has no value."""
    return [
        Named(parameter.opts[0] if isinstance(parameter, click.Option) else _shown(parameter), path)
        for parameter in ctx.command.params
        if parameter.type is kind
        for path in _paths(ctx.params.get(parameter.name or ""))
    ]


def _shown(argument: click.Parameter) -> str:
    return argument.human_readable_name.strip("[].")


def _paths(value: Any) -> list[str]:
    """The paths among the values of a parameter, which may also be numbers; an empty one for what is none."""
    given = value if isinstance(value, tuple | list) else [value]
    return [each if isinstance(each, str) else "" for each in given]
