"""Reference pages of the commands, from their help and the registers and fields that it lists."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from inspect import cleandoc

import click

from deptree_cli.cli.app import deptree
from deptree_cli.cli.help import SECTIONS, section_of
from deptree_cli.cli.table import LazyGroup
from docs.hooks import fields
from docs.hooks.fields import cell

FOLDER = "reference/commands"


def pages() -> dict[str, str]:
    """Return the page of the program, of every command and of every group, by its place in the site."""
    contexts = _within(click.Context(deptree, info_name="deptree", **deptree.context_settings))
    return {_place(context): _page(context) for context in contexts}


def _within(context: click.Context) -> Iterator[click.Context]:
    """A command and, of a group, all commands in it."""
    yield context
    group = context.command
    if isinstance(group, LazyGroup):
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            assert command is not None
            yield from _within(click.Context(command, info_name=name, parent=context, **command.context_settings))


def _words(context: click.Context) -> list[str]:
    return context.command_path.split()[1:]


def _place(context: click.Context) -> str:
    return f"{FOLDER}/{'-'.join(_words(context)) or 'index'}.md"


def _page(context: click.Context) -> str:
    """The usage, the text, the entries of a register or the commands of a group, options, the line to paste, fields."""
    command = context.command
    text = cleandoc(command.help or "").replace("\b\n", "").split("\n\n")
    ending = (command.epilog or "").replace("\b\n", "").strip()
    parts = [
        f"# {context.command_path}",
        _block(" ".join(command.get_usage(context).removeprefix("Usage: ").split())),
        *map(_prose, text),
        _listing(context),
        *_options(context),
        _block(ending.removeprefix("Try: ")) if ending else "",
        *fields.of_command(" ".join(_words(context))),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _prose(paragraph: str) -> str:
    """A paragraph of help; lines that are indented stay as they are."""
    return _block(paragraph) if paragraph.startswith("  ") else escape(paragraph, quote=False).replace("*", r"\*")


def _listing(context: click.Context) -> str:
    """The commands of a group in a table, or the entries that a command's help explains."""
    command = context.command
    if isinstance(command, LazyGroup):
        rows = [f"| [`{name}`]({_link(context, name)}) | {entry.does} |" for name, entry in command.table.items()]
        return "\n".join(["| command | |", "|---|---|", *rows])
    listing = getattr(command, "listing", None)
    if listing is None:
        return ""
    entries = listing.register.listing(listing.describe).replace("\b\n", "")
    return f"{listing.title}:\n\n{_block(entries)}"


def _link(context: click.Context, name: str) -> str:
    return f"{'-'.join([*_words(context), name])}.md"


def _options(context: click.Context) -> Iterator[str]:
    """A table of options for each section of the help."""
    options = [each for each in context.command.get_params(context) if isinstance(each, click.Option)]
    for section in SECTIONS:
        here = [each for each in options if section_of(each) == section]
        rows = [_row(*record) for each in here if (record := each.get_help_record(context))]
        if rows:
            yield "\n".join([f"## {section or 'Options'}\n", "| option | |", "|---|---|", *rows])


def _row(names: str, text: str) -> str:
    return f"| {_code(names)} | {cell(text)} |"


def _code(text: str) -> str:
    return f"<code>{cell(text)}</code>"


def _block(text: str) -> str:
    return f"```text\n{text}\n```"
