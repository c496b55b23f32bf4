"""Empty names and values are refused by every command; numbers within bounds say in plain English what they take."""

from __future__ import annotations

import click
import pytest

from deptree_cli.cli.options import FileName, FloatRange, IntRange
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


def test_every_range_of_an_option_is_ours() -> None:
    options = [(name, each) for name in COMMANDS for each in command(name).params]
    ranges = [each for each in options if isinstance(each[1].type, click.IntRange | click.FloatRange)]
    assert ranges
    assert not [each for each in ranges if not isinstance(each[1].type, IntRange | FloatRange)]


@pytest.mark.parametrize(
    ("kind", "text", "said"),
    [
        (IntRange(1), "0", "a whole number, 1 or more, found '0'"),
        (IntRange(1, 2**31 - 1), "0", "a whole number, 1 or more, found '0'"),
        (IntRange(1, 2**31 - 1), "2147483648", "a whole number, at most 2147483647, found '2147483648'"),
        (IntRange(1, 2**31 - 1), "1.5", "a whole number, 1 or more, found '1.5'"),
        (IntRange(1, 1000), "1001", "a whole number, from 1 to 1000, found '1001'"),
        (FloatRange(0, 1), "1.5", "a number, from 0 to 1, found '1.5'"),
        (FloatRange(0, 1), "nan", "a number, from 0 to 1, found 'nan'"),
        (FloatRange(0, min_open=True), "0", "a number, above 0, found '0'"),
        (FloatRange(0, 1, min_open=True), "many", "a number, above 0 and at most 1, found 'many'"),
        (FloatRange(0, 1, True, True), "1", "a number, above 0 and below 1, found '1'"),
    ],
)
def test_what_it_says(kind: click.ParamType, text: str, said: str) -> None:
    with pytest.raises(click.BadParameter) as caught:
        kind.convert(text, None, None)
    assert caught.value.message == f"Expected {said}."


def test_what_is_within() -> None:
    assert IntRange(1, 10).convert("10", None, None) == 10
    assert FloatRange(0, 1).convert("0.5", None, None) == 0.5
