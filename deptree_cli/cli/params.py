"""Types of parameters: names of files, of which none that is written takes the place of another, and numbers."""

from __future__ import annotations

from contextlib import suppress
from math import isnan
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


# A bound that is only there because memory ends somewhere is named to those who exceed it.
TECHNICAL = 10**6


class _Range:
    """What the two have in common; NaN is within no bounds."""

    expected: str
    min: Any
    max: Any
    min_open: bool
    max_open: bool

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number.

        Raises:
            click.BadParameter: it is none, or out of bounds.
        """
        with suppress(click.BadParameter):
            if not isnan(number := super().convert(value, param, ctx)):  # type: ignore[misc]  # click's
                return number
        expected = ", ".join(filter(None, [self.expected, self._described(value)]))
        raise click.BadParameter(f"Expected {expected}, found {value!r}.", ctx, param)

    def _describe_range(self) -> str:
        return self._described()

    def _described(self, value: object = None) -> str:
        """The bounds in words, such as ``1 or more``: those that matter, and the upper one to whoever exceeds it."""
        if self.min is None and self.max is None:
            return ""
        with suppress(ValueError, TypeError):
            if self.max is not None and float(str(value)) > self.max >= TECHNICAL:
                return f"at most {self.max}"
        if self.max is None or self.max >= TECHNICAL:
            return f"above {self.min}" if self.min_open else f"{self.min} or more"
        if not (self.min_open or self.max_open):
            return f"from {self.min} to {self.max}"
        least, most = "above" if self.min_open else "at least", "below" if self.max_open else "at most"
        return f"{least} {self.min} and {most} {self.max}"


class IntRange(_Range, click.IntRange):
    """A whole number from `min` to `max`."""

    expected = "a whole number"


class FloatRange(_Range, click.FloatRange):
    """A number from `min` to `max`."""

    expected = "a number"
