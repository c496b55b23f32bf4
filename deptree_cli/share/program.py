"""The command line as plain data: what the man page and the shells need to know of it."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

import click

from deptree_cli.version import __version__

TRY = "Try: "

# What help and usage call the name of a file.
FILE_NAMES = {"SCORES", "DRAWS", "OTHER", "INPUT", "FILE", "NPZ", "GOLD"}


@dataclass(frozen=True)
class Values:
    """What can stand for a value: one of these words, the name of a file, or (neither) nobody knows."""

    words: tuple[str, ...] = ()
    files: bool = False


@dataclass(frozen=True)
class Argument:
    """SCORES and its like.

    Attributes:
        metavar: as usage shows it, in brackets where it may be left out.
    """

    metavar: str
    values: Values


@dataclass(frozen=True)
class Option:
    """An option; `metavar` is empty where it takes no value.

    Attributes:
        names: the short ones first, those that say no last: ``-o``, ``--output``; ``--header``, ``--no-header``.
    """

    names: tuple[str, ...]
    metavar: str
    help: str
    values: Values
    repeats: bool

    @property
    def long(self) -> tuple[str, ...]:
        """The names of more than a letter."""
        return tuple(name for name in self.names if name.startswith("--"))


@dataclass(frozen=True)
class Command:
    """A command, or `deptree` itself.

    Attributes:
        summary: one line, a sentence.
        paragraphs: the help; one whose lines must stay apart has several, any other a single one.
        example: a line for a shell.
    """

    name: str
    summary: str
    paragraphs: tuple[tuple[str, ...], ...]
    example: str
    arguments: tuple[Argument, ...]
    options: tuple[Option, ...]


@dataclass(frozen=True)
class Program:
    """`deptree`: its own help and options, and its commands."""

    version: str
    top: Command
    commands: tuple[Command, ...]


def program(group: click.Group, summaries: dict[str, str]) -> Program:
    """Everything about the commands of a group; summaries: name -> one line of help."""
    context = _context(group, str(group.name), None)
    commands = []
    for name, summary in summaries.items():
        found = group.get_command(context, name)
        assert found is not None  # the names are the group's own
        commands.append(_command(found, name, summary, context))
    top = _command(group, str(group.name), _paragraphs(group)[0][0], None)
    return Program(__version__, top, tuple(commands))


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return click.Context(command, info_name=name, parent=parent, **command.context_settings)


def _command(command: click.Command, name: str, summary: str, parent: click.Context | None) -> Command:
    context = _context(command, name, parent)
    parameters = command.get_params(context)
    return Command(
        name,
        summary,
        _paragraphs(command),
        inspect.cleandoc(command.epilog or "").removeprefix("\b\n").removeprefix(TRY),
        tuple(_argument(each, context) for each in parameters if isinstance(each, click.Argument)),
        tuple(_option(each, context) for each in parameters if isinstance(each, click.Option) and not each.hidden),
    )


def _paragraphs(command: click.Command) -> tuple[tuple[str, ...], ...]:
    """The help without its marks: paragraphs that begin with a line ``\\b`` keep their lines, the others are joined."""
    blocks = inspect.cleandoc(command.help or "").split("\n\n")
    kept = [(block.removeprefix("\b\n"), block.startswith("\b\n")) for block in blocks if block.strip()]
    return tuple(tuple(block.splitlines()) if as_is else (" ".join(block.split()),) for block, as_is in kept)


def _argument(argument: click.Argument, context: click.Context) -> Argument:
    name = str(argument.name).upper()
    metavar = argument.metavar or (name if argument.required else f"[{name}]")
    return Argument(metavar, _values(argument, metavar.strip("[]"), context))


def _option(option: click.Option, context: click.Context) -> Option:
    names = (*sorted(option.opts, key=len), *option.secondary_opts)
    metavar = "" if option.is_flag or option.count else _metavar(option)
    values = _values(option, metavar, context)
    return Option(names, metavar, " ".join((option.help or "").split()), values, option.multiple)


def _metavar(option: click.Option) -> str:
    """Worked out here because click's own differs from version to version."""
    if option.metavar:
        return option.metavar
    if isinstance(option.type, click.Choice):
        return "|".join(map(str, option.type.choices))
    numbers = (type(click.INT), type(click.FLOAT))
    return "NUMBER" if isinstance(option.type, numbers) else str(option.name).upper()


def _values(parameter: click.Parameter, metavar: str, context: click.Context) -> Values:
    """A file where the metavar says so, else the words that click would offer."""
    if metavar in FILE_NAMES:
        return Values(files=True)
    return Values(tuple(str(item.value) for item in parameter.shell_complete(context, "") if item.type == "plain"))
