"""How an output was made, in one line from which the run can be repeated."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from deptree_cli.core.errors import readable
from deptree_cli.version import __version__

_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|([nrt\\]))")
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}


def signature(command: str, fields: Mapping[str, object]) -> str:
    r"""``deptree|sample|sampler:elimination|root:single|size:100|seed:7|v:0.1.0``; fields of value None are left out.

    It is always one line: what would end it, or a field, is escaped as Python does (``|`` is ``\x7c``).
    """
    parts = [f"{key}:{escaped(readable(str(value)))}" for key, value in fields.items() if value is not None]
    return "|".join(["deptree", command, *parts, f"v:{__version__}"])


class Signed(NamedTuple):
    """What a signature says; the fields with their values as they were before `escaped`."""

    program: str
    command: str
    fields: dict[str, str]


def parse(text: str) -> Signed:
    """Take a signature apart; other text is a program of that name without a command."""
    program, *parts = text.split("|")
    fields = dict(part.split(":", 1) for part in parts[1:] if ":" in part)
    return Signed(program, parts[0] if parts else "", {key: unescaped(value) for key, value in fields.items()})


def escaped(text: str) -> str:
    """Return the text without newlines, bars and other characters that a line of fields cannot hold."""
    return "".join(
        r"\x7c" if char == "|" else char if char.isprintable() and char != "\\" else repr(char)[1:-1] for char in text
    )


def unescaped(text: str) -> str:
    """Undo `escaped`."""

    def meant(match: re.Match[str]) -> str:
        *numbers, name = match.groups()
        return _NAMED[name] if name else chr(int(next(filter(None, numbers)), 16))

    return _ESCAPE.sub(meant, text)
