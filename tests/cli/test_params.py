"""Empty names and values, as those of variables of a shell that are not set, are refused by every command."""

from __future__ import annotations

import click
import pytest

from deptree_cli.cli.params import FileName
from tests.every_command import COMMANDS, command


def refusal(name: str, parameter: click.Parameter) -> str:
    """What a command answers to an empty value; nothing if it takes it."""
    several = parameter.multiple or parameter.nargs == -1
    try:
        parameter.process_value(click.Context(command(name)), ("",) if several else "")
    except click.BadParameter as error:
        return error.message
    return ""


@pytest.mark.parametrize("name", COMMANDS)
def test_an_empty_value_is_refused(name: str) -> None:
    for parameter in command(name).params:
        if isinstance(parameter.type, FileName | click.Path):
            assert refusal(name, parameter) == "The name is empty."
        elif isinstance(parameter, click.Option) and not parameter.is_flag:
            assert refusal(name, parameter), parameter.name
