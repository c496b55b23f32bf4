"""Every command by what one calls it, those of groups too: `sample`, `hpyp train`, ..."""

from __future__ import annotations

from collections.abc import Iterator

import click

from deptree_cli.cli.app import deptree
from deptree_cli.cli.groups import LazyGroup


def command(name: str) -> click.Command:
    """The command of that name; the whole program by the empty one."""
    found: click.Command = deptree
    for word in name.split():
        assert isinstance(found, LazyGroup)
        inner = found.get_command(click.Context(found), word)
        assert inner is not None
        found = inner
    return found


def _within(group: LazyGroup, prefix: str) -> Iterator[str]:
    for word in group.table:
        name = f"{prefix} {word}".strip()
        yield name
        found = command(name)
        if isinstance(found, LazyGroup):
            yield from _within(found, name)


NAMES = list(_within(deptree, ""))
GROUPS = [name for name in NAMES if isinstance(command(name), LazyGroup)]

# Those that do something.
COMMANDS = [name for name in NAMES if name not in GROUPS]
