"""``deptree warm``."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from time import monotonic

import click

from deptree_cli.cli.groups import entries_of
from deptree_cli.cli.run_options import quiet_option
from deptree_cli.cli.sections import command, option
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.nearest import did_you_mean
from deptree_cli.kernels.cache import cache_folder, serves
from deptree_cli.kernels.portable import LEVEL, NATIVE


@command()
@click.argument("commands", nargs=-1, metavar="COMMAND...")
@option(
    "--cpu",
    type=click.Choice([LEVEL, NATIVE]),
    help=f"The processor to compile for: this one, or any of its level.  [default: {NATIVE}, with -o {LEVEL}]",
)
@option(
    "--output",
    "-o",
    "folder",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Where to keep the machine code.  [default: the user's cache]",
)
@quiet_option
def warm(commands: tuple[str, ...], cpu: str | None, folder: str | None, quiet: bool) -> int:
    """Compile the kernels of commands ahead of time, so that first runs are fast.

    Without COMMAND it compiles all commands, which takes some minutes. It does not compile anything twice,
    so an interrupted run continues where it ended.
    """
    from deptree_cli.cli.warming import warm_up  # it loads what runs processes: when there is work

    entries = entries_of(click.get_current_context())
    names = _chosen(commands, list(entries))
    place, began = Path(folder).absolute() if folder else cache_folder(), monotonic()
    if folder:
        _make_readable(Path(folder))
    if place is None or not serves(place):
        problem = "this folder cannot be written" if folder else "there is no folder to keep machine code in"
        raise DeptreeError(problem, "Set NUMBA_CACHE_DIR, or pass -o FOLDER", place=folder or "")
    is_portable = (cpu or (LEVEL if folder else NATIVE)) == LEVEL
    compiled, there = warm_up(names, entries, place if folder else None, is_portable)
    if not quiet:
        kernels = f"{counted(len(compiled), 'kernel')} compiled, {len(there)} were there"
        click.echo(f"{kernels}, in {place}; {monotonic() - began:.0f} s")
    return 0


def _make_readable(folder: Path) -> None:
    """Make a folder that other users can read, unlike a user's cache: it may be the package's."""
    with suppress(OSError):  # whether it serves is asked next
        folder.mkdir(mode=0o755, parents=True, exist_ok=True)


def _chosen(words: tuple[str, ...], names: list[str]) -> list[str]:
    """The commands that words name; a group's name stands for all of its commands, unless one of them follows.

    Raises:
        click.UsageError: there is no such command.
    """
    chosen: list[str] = []
    rest = list(words)
    while rest:
        pair, word = " ".join(rest[:2]), rest[0]
        found = [pair] if pair in names else [name for name in names if f"{name} ".startswith(f"{word} ")]
        if not found:
            raise click.UsageError(f"No such command {word!r}. {did_you_mean(word, names, '')}".rstrip())
        chosen += found
        del rest[: 2 if found == [pair] else 1]
    return [name for name in names if name in chosen or not words]
