"""Types of parameters that name files: their names are completed, and what is written takes no other file's place."""

from __future__ import annotations

from typing import Any

import click
from click.shell_completion import CompletionItem

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


# Of a file that is read, of one that is written, and of one that is read unless a name of ours stands there.
INPUT, OUTPUT, NAME_OR_INPUT = FileName(), FileName(), FileName()
