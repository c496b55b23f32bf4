"""What every command writes: fields of JSON Lines and TSV, comments and MISC of CoNLL-U; for help and the manual."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import NamedTuple

# All commands; and the names of all entries of the register that a command's help lists.
EVERY, QUANTITY = "*", "QUANTITY"

# The sections about CoNLL-U; all others are about JSON Lines and TSV.
COMMENTS, MISC = "Comments", "MISC"


class Field(NamedTuple):
    """A row of the table ``fields.tsv``.

    Attributes:
        section: where the manual has it.
        names: one, or several that are explained together.
        commands: those that write it, each with the option that asks for it.
        meaning: what it is, in a phrase.
    """

    section: str
    names: tuple[str, ...]
    commands: tuple[str, ...]
    meaning: str

    def options(self, command: str) -> list[str] | None:
        """Return the options under which a command writes it, none if it always may; None if the command does not."""
        asked = [each.removeprefix(command).strip() for each in self.commands if _command(each) == command]
        return [each for each in asked if each] if asked else None


def _command(text: str) -> str:
    """The command of `decode --mass`."""
    return text.partition(" -")[0]


@cache
def fields() -> tuple[Field, ...]:
    """Return the table."""
    _, *lines = files("deptree_cli.cli").joinpath("fields.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    return tuple(Field(at, _listed(names), _listed(commands), meaning) for at, names, commands, meaning in rows)


def _listed(text: str) -> tuple[str, ...]:
    return tuple(text.split(", "))


def fields_of(command: str, section: str = "") -> list[tuple[str, str]]:
    """Return what a command writes beside what all do: names, and the meaning with the options that ask for it.

    Args:
        section: `COMMENTS` or `MISC`; by default fields of JSON Lines and TSV.
    """
    found = []
    for each in fields():
        options = each.options(command)
        if options is not None and section == (each.section if each.section in (COMMENTS, MISC) else ""):
            asked = f"  [{', '.join(options)}]" if options else ""
            found.append((", ".join(each.names), f"{each.meaning}{asked}"))
    return found
