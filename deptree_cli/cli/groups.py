"""Groups of commands that know their commands' names and import a command's module when it is called."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from deptree_cli.cli.table import Entry
from deptree_cli.core.nearest import nearest


def entries_of(ctx: click.Context) -> dict[str, Entry]:
    """All commands of the program that runs, those of groups by two words."""
    program = ctx.find_root().command
    return program.entries() if isinstance(program, LazyGroup) else {}


class LazyGroup(click.Group):
    """A group by a table; groups within groups work alike, each with the table of its own folder.

    Args:
        package: where the commands' modules are: ``check-bias`` is the object `check_bias` of the module `check_bias`.
        table: the commands by their names, in order.
    """

    def __init__(self, *args: Any, package: str, table: Mapping[str, Entry], **options: Any) -> None:
        super().__init__(*args, **options)
        self.package = package
        self.table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in self.table:
            return None
        name, entry = cmd_name.replace("-", "_"), self.table[cmd_name]
        command: click.Command = getattr(import_module(entry.package or f"{self.package}.{name}"), name)
        command.epilog = f"\b\nTry: {entry.line}"
        return command

    def entries(self) -> dict[str, Entry]:
        """All commands, those of groups by two words."""
        found: dict[str, Entry] = {}
        for name, entry in self.table.items():
            group = self.get_command(click.Context(self), name) if entry.package else None
            within = group.entries() if isinstance(group, LazyGroup) else {}
            found |= {f"{name} {inner}": each for inner, each in within.items()} or {name: entry}
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command as click does, or say which one may have been meant."""
        if args[0] not in self.table and (near := nearest(args[0], self.table)):
            raise click.UsageError(f"No such command '{args[0]}'. Did you mean {near}?", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table as it stands, without importing anything."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.does) for name, entry in self.table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[click.shell_completion.CompletionItem]:
        """Offer commands from the table, without importing them, and the group's own options."""
        item = click.shell_completion.CompletionItem
        names = [item(name, help=entry.does) for name, entry in self.table.items() if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]
