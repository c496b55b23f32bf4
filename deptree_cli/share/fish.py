"""Completion for fish."""

from __future__ import annotations

from collections.abc import Iterator

from deptree_cli.share.program import Argument, Command, Option, Program, Values

_HEAD = """\
# Completion of deptree for fish. Written by python -m deptree_cli.share; a change here would be lost.

# Whether the command is this one; without a name: whether there is none yet.
function __deptree_command
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end

# Whether one of these words stands before the cursor, behind the command.
function __deptree_given
    set -l words (commandline -opc)
    for word in $words[3..-1]
        contains -- $word $argv; and return 0
    end
    return 1
end

complete -c deptree -f
"""

_ESCAPES = str.maketrans({"\\": r"\\", "'": r"\'"})


def fish(program: Program) -> str:
    """The script, for a folder ``fish/vendor_completions.d`` or ``fish/completions``."""
    nothing_yet = "__deptree_command"
    lines = [_line(nothing_yet, _option(option)) for option in program.top.options]
    lines += [_line(nothing_yet, f"-a {each.name} -d {_quoted(each.summary)}") for each in program.commands]
    for command in program.commands:
        lines += ["", *_command(command)]
    return _HEAD + "\n".join(lines) + "\n"


def _command(command: Command) -> Iterator[str]:
    here = f"__deptree_command {command.name}"
    for option in command.options:
        yield _line(here, _option(option))
    yield from _arguments(here, command.arguments)


def _arguments(here: str, arguments: tuple[Argument, ...]) -> Iterator[str]:
    """Words until one of them stands there, then what the arguments behind it want."""
    for argument in arguments:
        if argument.values.words:
            words = " ".join(argument.values.words)
            yield _line(f"{here}; and not __deptree_given {words}", f"-a {_quoted(words)}")
            here = f"{here}; and __deptree_given {words}"
    if any(argument.values.files for argument in arguments):
        yield _line(here, "-F")


def _line(condition: str, what: str) -> str:
    return f"complete -c deptree -n '{condition}' {what}"


def _option(option: Option) -> str:
    names = [f"-l {name[2:]}" if name in option.long else f"-s {name[1:]}" for name in option.names]
    value = [_value(option.values)] if option.metavar else []
    return " ".join([*names, *value, "-d", _quoted(option.help)])


def _value(values: Values) -> str:
    if values.files:
        return "-r -F"
    return f"-x -a {_quoted(' '.join(values.words))}" if values.words else "-x"


def _quoted(text: str) -> str:
    return f"'{text.translate(_ESCAPES)}'"
