"""Completion for bash, with or without the package bash-completion."""

from __future__ import annotations

from deptree_cli.share.program import Command, Option, Program, Values

# Readline itself completes file names (it knows about blanks, quotes and ~) wherever the function finds no word;
# where a file makes no sense it is told not to, which bash before 4 cannot be.
_SCRIPT = """\
# Completion of deptree for bash. Written by python -m deptree_cli.share; a change here would be lost.

# options: all of a command's; taking: those with a value; arguments: the words for each argument (- is a file);
# words: what may stand for the value of the option $1.
_deptree_command() {{
    options='' taking='' arguments=() words=''
    case $2 in
{commands}
    esac
}}

# How many arguments stand before the word at the cursor, what follows an option being its value.
_deptree_arguments_before() {{
    local index word
    count=0
    for ((index = 2; index < COMP_CWORD; index++)); do
        word=${{COMP_WORDS[index]}}
        if [[ $word == -?* ]]; then
            [[ ${{COMP_WORDS[index + 1]}} == '=' ]] && ((index += 2)) && continue
            [[ " $taking " == *" $word "* ]] && ((index++))
        else
            ((count++))
        fi
    done
}}

_deptree() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    local options taking arguments words count
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        words='{names}'
    else
        # bash takes --option=word for three words
        if [[ $before == '=' ]]; then before=${{COMP_WORDS[COMP_CWORD - 2]}}; fi
        if [[ $word == '=' ]]; then word=''; fi
        _deptree_command "$before" "${{COMP_WORDS[1]}}"
        if [[ " $taking " == *" $before "* ]]; then
            :
        elif [[ $word == -* ]]; then
            words=$options
        else
            _deptree_arguments_before
            words=${{arguments[count]:-}}
        fi
    fi
    [[ $words == '-' ]] && return
    compopt +o default +o bashdefault 2> /dev/null
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}

complete -o bashdefault -o default -F _deptree deptree
"""

_COMMAND = """\
        {name})
            options='{options}'
            taking='{taking}'
            arguments=({arguments})
            case $1 in
{values}
            esac
            ;;"""


def bash(program: Program) -> str:
    """The script, for a folder ``bash-completion/completions`` or to be sourced."""
    names = [*(command.name for command in program.commands), *_names(program.top.options)]
    return _SCRIPT.format(commands="\n".join(map(_command, program.commands)), names=" ".join(names))


def _command(command: Command) -> str:
    taking = [option for option in command.options if option.metavar]
    return _COMMAND.format(
        name=command.name,
        options=" ".join(_names(command.options)),
        taking=" ".join(_names(taking)),
        arguments=" ".join(f"'{_words(argument.values)}'" for argument in command.arguments),
        values="\n".join(_case(option) for option in taking if _words(option.values)),
    )


def _case(option: Option) -> str:
    return f"                {' | '.join(option.names)}) words='{_words(option.values)}' ;;"


def _words(values: Values) -> str:
    return "-" if values.files else " ".join(values.words)


def _names(options: tuple[Option, ...] | list[Option]) -> list[str]:
    return [name for option in options for name in option.names]
