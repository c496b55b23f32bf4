"""Types of parameters that name files: their names are completed, and what is written takes no other file's place."""

from __future__ import annotations

import click
from click.shell_completion import CompletionItem


class FileName(click.ParamType):  # type: ignore[type-arg]  # click 8.2 has none
    """The path of a file, as text; `-` is a standard stream."""

    name = "file"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete the names of files."""
        return [CompletionItem(incomplete, type="file")]


# Of a file that is read, and of one that is written.
INPUT, OUTPUT = FileName(), FileName()
