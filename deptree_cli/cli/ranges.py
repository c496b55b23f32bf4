"""Numbers within bounds, as values of options: click's types, but they say what is expected in plain English."""

from __future__ import annotations

from contextlib import suppress
from math import isnan
from typing import Any

import click

# A bound that is only there because memory ends somewhere is named to those who exceed it.
TECHNICAL = 10**6


class IntRange(click.IntRange):
    """A whole number from `min` to `max`."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number.

        Raises:
            click.BadParameter: it is none, or out of bounds.
        """
        return _converted(self, super().convert, "a whole number", value, param, ctx)

    def _describe_range(self) -> str:
        return _described(self)


class FloatRange(click.FloatRange):
    """A number from `min` to `max`, which NaN is not."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number.

        Raises:
            click.BadParameter: it is none, or out of bounds.
        """
        return _converted(self, super().convert, "a number", value, param, ctx)

    def _describe_range(self) -> str:
        return _described(self)


def _converted(kind: Any, convert: Any, noun: str, value: Any, param: Any, ctx: Any) -> Any:
    try:
        number = convert(value, param, ctx)
        if not isnan(number):
            return number
    except click.BadParameter:
        pass
    expected = ", ".join(filter(None, [noun, _described(kind, value)]))
    kind.fail(f"Expected {expected}, found {value!r}.", param, ctx)


def _described(kind: Any, value: object = None) -> str:
    """The bounds in words, such as ``1 or more``: those that matter, and the upper one to whoever exceeds it.

    Nothing where there are none.
    """
    if kind.min is None and kind.max is None:
        return ""
    with suppress(ValueError, TypeError):
        if kind.max is not None and float(str(value)) > kind.max >= TECHNICAL:
            return f"at most {kind.max}"
    if kind.max is None or kind.max >= TECHNICAL:
        return f"above {kind.min}" if kind.min_open else f"{kind.min} or more"
    if not (kind.min_open or kind.max_open):
        return f"from {kind.min} to {kind.max}"
    least, most = "above" if kind.min_open else "at least", "below" if kind.max_open else "at most"
    return f"{least} {kind.min} and {most} {kind.max}"
