"""Completion for zsh."""

from __future__ import annotations

from collections.abc import Iterator

from deptree_cli.share.program import Command, Option, Program, Values

_SCRIPT = """\
#compdef deptree
# Completion of deptree for zsh. Written by python -m deptree_cli.share; a change here would be lost.

_deptree() {{
    local curcontext=$curcontext state line
    typeset -A opt_args
    _arguments -C -S \\
{top} \\
        '1:command:->command' \\
        '*:: :->arguments'
    case $state in
        command)
            local -a commands=(
{summaries}
            )
            _describe command commands
            ;;
        arguments)
            curcontext=${{curcontext%:*}}-$words[1]:
            case $words[1] in
{commands}
            esac
            ;;
    esac
}}

if [[ $funcstack[1] == _deptree ]]; then
    _deptree "$@"
else
    compdef _deptree deptree
fi
"""

_COMMAND = """\
                {name})
                    _arguments -S \\
{specs}
                    ;;"""

_ESCAPES = str.maketrans({"\\": r"\\", "[": r"\[", "]": r"\]", ":": r"\:", "'": r"'\''"})


def zsh(program: Program) -> str:
    """The script, a file ``_deptree`` for a folder of fpath, or to be sourced."""
    top = [spec for option in program.top.options for spec in _option(option)]
    summaries = [f"{' ' * 16}'{each.name}:{each.summary.translate(_ESCAPES)}'" for each in program.commands]
    return _SCRIPT.format(
        top=_lines(top, 8), summaries="\n".join(summaries), commands="\n".join(map(_command, program.commands))
    )


def _command(command: Command) -> str:
    options = [spec for option in command.options for spec in _option(option)]
    arguments = [f"'{number}{_action(each.metavar, each.values)}'" for number, each in enumerate(command.arguments, 1)]
    return _COMMAND.format(name=command.name, specs=_lines([*options, *arguments], 24))


def _lines(specs: list[str], indent: int) -> str:
    return " \\\n".join(" " * indent + spec for spec in specs)


def _option(option: Option) -> Iterator[str]:
    """A specification for each name; one that was used excludes the others unless the option may be repeated."""
    before = "*" if option.repeats else f"({' '.join(option.names)})"
    for name in option.names:
        joined = ("=" if name in option.long else "+") if option.metavar else ""
        action = _action(option.metavar, option.values) if option.metavar else ""
        yield f"'{before}{name}{joined}[{option.help.translate(_ESCAPES)}]{action}'"


def _action(metavar: str, values: Values) -> str:
    """Its message and where the words are from; nothing is offered for a blank."""
    source = "_files" if values.files else f"({' '.join(values.words)})" if values.words else " "
    return f":{metavar.translate(_ESCAPES)}:{source}"
