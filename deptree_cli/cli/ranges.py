"""Numbers within bounds, as values of options: click's types, but they say what is expected in plain English."""

from __future__ import annotations

from contextlib import suppress
from math import isnan
from typing import Any

import click

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
