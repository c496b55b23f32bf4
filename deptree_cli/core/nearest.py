"""What somebody may have meant who misspelt a name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of some names that is spelt most like another, None if none is much like it."""
    return next(iter(difflib.get_close_matches(name, list(names), 1)), None)


def one_of(names: Iterable[str]) -> str:
    """A remedy for whoever may choose among some names, which may be none."""
    listed = ", ".join(names)
    return f"Choose one of {listed}" if ", " in listed else f"Choose {listed}" * bool(listed)


def did_you_mean(name: str, names: Iterable[str], otherwise: str) -> str:
    """A remedy for a misspelt name: the nearest one, or what to say if none is near."""
    near = nearest(name, names)
    return f"Did you mean {near}?" if near else otherwise
