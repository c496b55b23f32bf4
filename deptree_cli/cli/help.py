"""What every command writes: fields of JSON Lines and TSV, comments and MISC of CoNLL-U; for help and the manual."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from inspect import cleandoc
from textwrap import wrap
from typing import Any, NamedTuple

import click

from deptree_cli.core.register import Register

# All commands; and the names of all entries of the register that a command's help lists.
EVERY, QUANTITY = "*", "QUANTITY"

COMMENTS, MISC = "Comments", "MISC"  # the sections about CoNLL-U; all others are about JSON Lines and TSV


class Field(NamedTuple):
    """A row of the table ``fields.tsv``; each of `commands` is followed by the option that asks for it."""

    section: str
    names: tuple[str, ...]
    commands: tuple[str, ...]
    meaning: str

    def options(self, command: str) -> list[str] | None:
        """Return the options under which a command writes it, none if it always may; None if the command does not."""
        asked = [each.removeprefix(command).strip() for each in self.commands if each.partition(" -")[0] == command]
        return [each for each in asked if each] if asked else None


@cache
def fields() -> tuple[Field, ...]:
    _, *lines = files("deptree_cli.cli").joinpath("fields.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines)
    return tuple(Field(at, (*names.split(", "),), (*by.split(", "),), meaning) for at, names, by, meaning in rows)


def fields_of(command: str, section: str = "") -> list[tuple[str, str]]:
    """Return what a command writes beside what all do: names, and the meaning with the options that ask for it."""
    found = []
    for each in fields():
        options = each.options(command)
        if options is not None and section == (each.section if each.section in (COMMENTS, MISC) else ""):
            asked = f"  [{', '.join(options)}]" if options else ""
            found.append((", ".join(each.names), f"{each.meaning}{asked}"))
    return found


# The sections of shared options, in their order, behind the command's own.
READING, WRITING, RUNNING = "Reading", "Writing", "Running"
SECTIONS = ("", READING, WRITING, RUNNING)
OUTPUT = {"Fields": "", COMMENTS: COMMENTS, MISC: MISC}  # those of what a command writes, behind them in the whole help


class Listing(NamedTuple):
    """The entries of a register, as a command's whole help explains them.

    `of_argument`: they are values of an argument, so that the page has their names too.
    """

    title: str
    register: Register[Any]
    describe: Callable[[Any], str]
    of_argument: bool = False


def write_text(command: click.Command, listing: Listing | None, whole: bool, formatter: click.HelpFormatter) -> None:
    """Write what a command does: all of it and the listing, or the beginning and the names."""
    parts = cleandoc(command.help or "").split("\n\n")
    parts = parts if whole else parts[:2]  # what it does and what it writes
    if listing and whole:
        parts += [f"{listing.title}:", listing.register.listing(listing.describe)]
    elif listing and listing.of_argument:
        parts.append(f"{listing.title}: {', '.join(each.name for each in listing.register)}.")
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text("\n\n".join(parts))


def write_options(
    options: Sequence[click.Parameter], whole: bool, context: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the sections that have options: explained, or those that are seldom needed by their names."""
    for section in SECTIONS:
        here = [each for each in options if section_of(each) == section and not getattr(each, "hidden", False)]
        records = [each.get_help_record(context) for each in here if whole or getattr(each, "often", False)]
        seldom = [each for each in here if not (whole or getattr(each, "often", True))]
        names = " ".join(max(each.opts, key=len) for each in seldom)
        if section == RUNNING and not whole:
            names = f"{names} (--help-all explains all)".lstrip()
        _write(section or "Options", [record for record in records if record], names, formatter)
    for title, kind in OUTPUT.items() if whole else ():
        _write(title, fields_of(command_name(context), kind), "", formatter)


def command_name(context: click.Context) -> str:
    """A command as the table of fields calls it: `hpyp parse`."""
    return context.command_path.removeprefix(context.find_root().command_path).strip()


def _write(title: str, explained: Sequence[tuple[str, str]], others: str, formatter: click.HelpFormatter) -> None:
    """Write a section: options explained, others by their names."""
    if others and not explained:
        formatter.write_paragraph()
    with formatter.section(title) if explained else formatter.indentation():
        if explained:
            formatter.write_dl(explained)
        text, indent = f"also {others}" if explained else f"{title}: {others}", formatter.current_indent
        wrapped = wrap(text, formatter.width - indent, subsequent_indent="  ", break_on_hyphens=False)
        for line in wrapped if others else ():
            formatter.write(f"{'':>{indent}}{line}\n")


def section_of(option: click.Parameter) -> str | None:
    return getattr(option, "section", RUNNING) if isinstance(option, click.Option) else None
