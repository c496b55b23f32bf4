"""Defaults of options from a file: `deptree.toml` in the working folder, or the one that DEPTREE_CONFIG names.

Keys are the long names of options, at the top for every command that has such an option, or in a table of one command's
own, which has precedence; `[hpyp]` is for all commands of `deptree hpyp`::

    from = "natasha"
    jobs = 4

    [sample]
    size = 100

    [hpyp.train]
    iterations = 20

What writes files, or has somebody else's code run, is not taken from a file that may have come with a folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from deptree_cli.cli.help import RUNNING
from deptree_cli.cli.params import OUTPUT
from deptree_cli.cli.provenance import ANYTHING, FILE_OF_DEFAULTS, mark_provenance
from deptree_cli.cli.sections import Option
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.nearest import did_you_mean

Table = dict[str, Any]

FILE, VARIABLE = "deptree.toml", "DEPTREE_CONFIG"

# A scheduler is sent, and a model of a parser may be, code that is run.
_TRUSTED_ONLY = ("scheduler", "model")


def use_defaults(context: click.Context) -> None:
    """Let the command that is about to run have the defaults of the file, if there is one.

    Raises:
        DeptreeError: the file cannot be read.
    """
    path = os.environ.get(VARIABLE) or FILE
    group = context.command
    if (
        context.invoked_subcommand is None
        or not isinstance(group, click.Group)
        or (path == FILE and not Path(path).is_file())
    ):
        return
    context.meta[FILE_OF_DEFAULTS] = path
    try:
        context.default_map = Defaults(context, [(group, _read(path))], path)  # type: ignore[assignment]  # click only reads
    except DeptreeError as error:
        raise error.at(path) from None


class Defaults(Mapping[str, Any]):
    """The defaults of a group's commands, by name: those of a command by its parameters, worked out when it is called.

    Args:
        levels: the groups from the outermost to this one, each with the table of the file that is for all its commands.
        place: the file.
    """

    def __init__(self, context: click.Context, levels: list[tuple[click.Group, Table]], place: str) -> None:
        self._context, self._levels, self._place = context, levels, place
        self._group, self._table = levels[-1]

    def __getitem__(self, name: str) -> Mapping[str, Any]:
        """Work out the defaults of a command, or of the commands of a group.

        Raises:
            DeptreeError: a table that concerns it names what there is not.
            KeyError: there is no such command.
        """
        command = self._group.get_command(self._context, name)
        if command is None:
            raise KeyError(name)
        own = self._table.get(name, {})
        try:
            self._check_tables()
            if not isinstance(own, dict):
                table = ".".join([*(group.name or "" for group, _ in self._levels[1:]), name])
                raise DeptreeError(f"{name!r} is a command, not an option", f"Write a table, [{table}]")
            if isinstance(command, click.Group):
                return Defaults(self._context, [*self._levels, (command, own)], self._place)
            return self._of_command(command, name, own)
        except DeptreeError as error:
            raise error.at(self._place) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._group.list_commands(self._context))

    def __len__(self) -> int:
        return len(self._group.list_commands(self._context))

    def _check_tables(self) -> None:
        names = list(self)
        for key, value in self._table.items():
            if isinstance(value, dict) and key not in names:
                raise DeptreeError(f"there is no command {key!r}", _did_you_mean(key, names))

    def _of_command(self, command: click.Command, name: str, own: Table) -> dict[str, Any]:
        options = _options(command)
        chosen: dict[str, Any] = {}
        for group, table in self._levels:
            general = {key: value for key, value in table.items() if not isinstance(value, dict)}
            self._check_general(group, general.keys() - options.keys())
            chosen |= {key: value for key, value in general.items() if key in options}
        for key in own.keys() - options.keys():
            path = " ".join([*(group.name or "" for group, _ in self._levels), name])
            raise DeptreeError(f"{path} has no option {key!r}", _did_you_mean(key, options))
        chosen |= own
        if any(options[key].section != RUNNING for key in chosen):
            mark_provenance(self._context, ANYTHING)
        return {options[key].name or "": _checked(options[key], key, value) for key, value in chosen.items()}

    def _check_general(self, group: click.Group, keys: Iterable[str]) -> None:
        """Make sure that keys for all commands of a group are options of some, if not of this one."""
        for key in keys:
            known = set(_all_options(group, self._context))
            if key not in known:
                raise DeptreeError(f"there is no option {key!r}", _did_you_mean(key, known))


def _read(path: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DeptreeError(f"cannot be read as TOML ({reason})", f"Repair it, or set {VARIABLE}") from None


def _options(command: click.Command) -> dict[str, Option]:
    """The options of a command by their long names."""
    found = [each for each in command.params if isinstance(each, Option)]
    return {opt[2:]: each for each in found for opt in each.opts if opt.startswith("--")}


def _all_options(command: click.Command | None, context: click.Context) -> Iterator[str]:
    """The long names of the options of a command, or of all commands of a group."""
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            yield from _all_options(command.get_command(context, name), context)
    elif command:
        yield from _options(command)


def _checked(option: Option, key: str, value: Any) -> Any:
    """The value as click takes it: several where the option may be repeated.

    Raises:
        DeptreeError: it is not one for this option.
    """
    if option.type is OUTPUT or key in _TRUSTED_ONLY:
        raise DeptreeError(f"{key!r} cannot have a default here", f"Say --{key} on the command line")
    kinds: tuple[type, ...] = (bool,) if option.is_flag else (str, int, float)
    values = value if option.multiple and isinstance(value, list) else [value]
    if not all(isinstance(each, kinds) and isinstance(each, bool) == option.is_flag for each in values):
        wanted = "true or false" if option.is_flag else "text or a number"
        raise DeptreeError(f"{key} = {value!r} is not {wanted}", f"See deptree help for --{key}")
    try:
        with click.Context(click.Command(key)) as context:
            for each in values:
                option.type.convert(each if option.is_flag else str(each), option, context)
    except click.BadParameter as error:
        raise DeptreeError(f"{key} = {value!r}: {error.message}") from None
    return [str(each) for each in values] if option.multiple else value if option.is_flag else str(value)


def _did_you_mean(name: str, names: Iterable[str]) -> str:
    return did_you_mean(name, names, "Keys are long names of options, tables names of commands")
