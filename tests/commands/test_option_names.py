"""An option that several commands take has one meaning: one metavar and one type, whichever command has it."""

from __future__ import annotations

from collections import defaultdict

import click
import pytest

from deptree_cli.cli.options import INPUT, NAME_OR_INPUT, OUTPUT, RESULTS
from tests.every_command import COMMANDS, command

# Which differ, and why.
DIFFERENT = {
    "--method": "combine has two, the others a register of them",
    "--output": "warm writes a folder",
    "-o": "as --output",
    "--temperature": "of sentence pairs there is none in a file: calibrate fits trees",
}


def census() -> dict[str, dict[str, list[str]]]:
    """By option: the commands by what help shows behind it and by what it takes."""
    found: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for name in COMMANDS:
        context = click.Context(command(name), info_name=name)
        for each in command(name).params:
            if isinstance(each, click.Option):
                for opt in each.opts:
                    found[opt][kind_of(each, context)].append(name)
    return found


def kind_of(option: click.Option, context: click.Context) -> str:
    if option.is_flag:
        return "flag"
    use = "read" if option.type in (INPUT, NAME_OR_INPUT) else "written" if option.type in (OUTPUT, RESULTS) else ""
    return f"{option.make_metavar(context)}: {type(option.type).__name__} {use}"


CENSUS = census()


@pytest.mark.parametrize("opt", sorted(CENSUS))
def test_one_name_means_one_thing(opt):
    kinds = CENSUS[opt]
    assert (len(kinds) > 1) == (opt in DIFFERENT), dict(kinds)
