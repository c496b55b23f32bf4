"""Defaults of options from a file: `deptree.toml` in the working folder, or the one that DEPTREE_CONFIG names.

Keys are the long names of options, at the top for every command that has such an option, or in a table of one command's
own, which has precedence::

    from = "natasha"
    jobs = 4

    [sample]
    size = 100

What writes files, or has somebody else's code run, is not taken from a file that may have come with a folder.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from deptree_cli.cli.sections import RUNNING, Option
from deptree_cli.cli.unsaid import ANYTHING, mark_unsaid
from deptree_cli.core.errors import DeptreeError

FILE, VARIABLE = "deptree.toml", "DEPTREE_CONFIG"

# A scheduler is sent, and a model of a parser may be, code that is run.
_TRUSTED_ONLY = ("scheduler", "model")


def use_defaults(context: click.Context) -> None:
    """Let the command that is about to run have the defaults of the file, if there is one.

    Raises:
        DeptreeError: the file cannot be read, or names what there is not.
    """
    path = os.environ.get(VARIABLE) or FILE
    name, group = context.invoked_subcommand, context.command
    if name is None or not isinstance(group, click.Group) or (path == FILE and not Path(path).is_file()):
        return
    try:
        context.default_map = {name: _defaults(group, context, name, _read(path))}
    except DeptreeError as error:
        raise error.at(path) from None


def _read(path: str) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DeptreeError(f"cannot be read as TOML ({reason})", f"Repair it, or set {VARIABLE}") from None


def _defaults(group: click.Group, context: click.Context, name: str, found: Mapping[str, Any]) -> dict[str, Any]:
    """The values by the names of the command's parameters."""
    tables = {key: value for key, value in found.items() if isinstance(value, dict)}
    names = group.list_commands(context)
    for key in tables:
        if key not in names:
            raise DeptreeError(f"there is no command {key!r}", _did_you_mean(key, names))
    options = _options(group, context, name)
    general = {key: value for key, value in found.items() if key not in tables}
    for key in general.keys() - options.keys():
        if not any(key in _options(group, context, other) for other in names):
            known = {option for other in names for option in _options(group, context, other)}
            raise DeptreeError(f"there is no option {key!r}", _did_you_mean(key, known))
    own = tables.get(name, {})
    for key in own.keys() - options.keys():
        raise DeptreeError(f"deptree {name} has no option {key!r}", _did_you_mean(key, options))
    chosen = {key: value for key, value in general.items() if key in options} | own
    values = {options[key].name or "": _checked(options[key], key, value) for key, value in chosen.items()}
    if any(options[key].section != RUNNING for key in chosen):
        mark_unsaid(context, ANYTHING)
    return values


def _options(group: click.Group, context: click.Context, name: str) -> dict[str, Option]:
    """The options of a command by their long names."""
    command = group.get_command(context, name)
    found = [each for each in command.params if isinstance(each, Option)] if command else []
    return {opt[2:]: each for each in found for opt in each.opts if opt.startswith("--")}


def _checked(option: Option, key: str, value: Any) -> Any:
    """The value as click takes it: several where the option may be repeated.

    Raises:
        DeptreeError: it is not one for this option.
    """
    if option.writes or key in _TRUSTED_ONLY:
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
    near = difflib.get_close_matches(name, list(names), 1)
    return f"Did you mean {near[0]}?" if near else "Keys are long names of options, tables names of commands"
