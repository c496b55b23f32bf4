"""What `deptree COMMAND --help`, `--help-all` and `deptree help TOPIC` show.

A page has a command's own options and the shared ones that most people need; what all commands share is explained once,
by topic, from the same options that the commands have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from inspect import cleandoc
from textwrap import wrap
from typing import Any

import click

from deptree_cli.core.nearest import nearest
from deptree_cli.core.register import Register

# The sections of shared options, in their order; each is a topic under its name.
READING, WRITING, RUNNING = "Reading", "Writing", "Running"
SECTIONS = (READING, WRITING, RUNNING)

# Of a command's text a page has what it does and what it writes.
PARAGRAPHS = 2


@dataclass(frozen=True)
class Listing:
    """The entries of a register, as a command's help explains them.

    Attributes:
        topic: under which they are explained; its name stands before theirs.
        describe: an entry, in lines.
    """

    topic: str
    register: Register[Any]
    describe: Callable[[Any], str]

    def __call__(self) -> str:
        """Return a paragraph for each entry."""
        return self.register.listing(self.describe)

    def line(self) -> str:
        """Return the names alone."""
        names = ", ".join(each.name for each in self.register)
        return f"{self.topic.capitalize()} (deptree help {self.topic}): {names}."


# topic -> the command that has what it explains: the options of a section, or a listing.
TOPICS = {
    "reading": "sample",
    "writing": "sample",
    "running": "sample",
    "samplers": "sample",
    "algorithms": "swor",
    "quantities": "expect",
    "functionals": "estimate",
    "methods": "bitext align",
    "parsers": "dump",
    "score-kinds": "hpyp parse",
}


def write_text(command: click.Command, listing: Listing | None, whole: bool, formatter: click.HelpFormatter) -> None:
    """Write what a command does: all of it and the listing, or the beginning and the listing's names."""
    *text, heading = cleandoc(command.help or "").split("\n\n")
    if listing is None:
        text.append(heading)
    parts = [*text, heading, listing()] if whole and listing else text if whole else text[:PARAGRAPHS]
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text("\n\n".join(parts))
        if listing and not whole:
            formatter.write_paragraph()
            formatter.write_text(listing.line())


def write_options(options: Iterable[click.Parameter], context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the sections that have options, all of these explained."""
    for section in ("", *SECTIONS):
        _write(section or "Options", [each for each in options if _section(each) == section], context, formatter)


def write_options_briefly(
    options: Iterable[click.Parameter], context: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the options that are needed often, a command's own before those that it shares, the others by name."""
    known = [each for each in options if hasattr(each, "often")]
    own = [each for each in known if not _section(each) or (_section(each) == WRITING and each.often)]
    reading = [each for each in known if _section(each) == READING]
    shared = [each for each in known if each not in own and each not in reading]
    for title, here in (("Options", own), (READING, reading)):
        often, seldom = ([each for each in here if each.often == asked] for asked in (True, False))
        more = f" (deptree help {READING.lower()})" if here is reading and seldom else ""
        _write(title + more, often, context, formatter, seldom)
    _write("Shared (deptree help writing, deptree help running)", [], context, formatter, shared)
    formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_text("-h shows this page, --help-all explains every option.")


def _write(
    title: str,
    options: Sequence[click.Parameter],
    context: click.Context,
    formatter: click.HelpFormatter,
    others: Sequence[click.Parameter] = (),
) -> None:
    """Write a section: options explained, others by their names."""
    records = [record for each in options if (record := each.get_help_record(context))]
    if not records and not others:
        return
    with formatter.section(title):
        if records:
            formatter.write_dl(records)
        names = " ".join(max(each.opts, key=len) for each in others)
        indent = formatter.current_indent
        for line in wrap("also " * bool(records and names) + names, formatter.width - indent, break_on_hyphens=False):
            formatter.write(f"{'':>{indent}}{line}\n")


def _section(option: click.Parameter) -> str | None:
    """Where an option stands; None for what is no option."""
    return getattr(option, "section", RUNNING) if isinstance(option, click.Option) else None


def _topic(name: str, command: click.Command, context: click.Context) -> str:
    """What a topic says: its own text, if it has one, and the options or entries that it is about."""
    formatter = context.make_formatter()
    own = files("deptree_cli.cli").joinpath("topics", f"{name}.txt")
    if own.is_file():
        formatter.write_text(own.read_text(encoding="utf-8"))
        write_options([each for each in command.params if _section(each) == name.capitalize()], context, formatter)
    else:
        heading = cleandoc(command.help or "").rpartition("\n\n")[2]
        formatter.write_text(f"{heading}\n\n{command.listing()}")  # type: ignore[attr-defined]
    return formatter.getvalue().rstrip()


def _names(group: click.Command, context: click.Context) -> list[str]:
    """The commands of a group."""
    return group.list_commands(context) if isinstance(group, click.Group) else []


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    root = context.find_root()
    return [name for name in (*_names(root.command, root), *TOPICS) if name.startswith(incomplete)]


@click.command(name="help", help="Explain a command, or what commands share.")
@click.argument("words", nargs=-1, metavar="[COMMAND | TOPIC]", shell_complete=_complete)
@click.pass_context
def help_command(context: click.Context, words: tuple[str, ...]) -> None:
    """Show the page of a command, or what a topic explains."""
    context = context.find_root()
    topic = words[0] if words and words[0] in TOPICS else ""
    if topic and len(words) > 1:
        raise click.UsageError("Name one topic at a time.", context)
    command = context.command
    for word in TOPICS[topic].split() if topic else words:
        context = click.Context(_inner(command, word, context), info_name=word, parent=context)
        command = context.command
    click.echo(_topic(topic, command, context) if topic else command.get_help(context), color=context.color)


def _inner(group: click.Command, word: str, context: click.Context) -> click.Command:
    """The command of a group by its name; the error for another word names what may have been meant."""
    found = group.get_command(context, word) if isinstance(group, click.Group) else None
    if found is None:
        topics = TOPICS if context.parent is None else ()
        near = nearest(word, [*_names(group, context), *topics])
        raise click.UsageError(f"No such command or topic '{word}'.{f' Did you mean {near}?' if near else ''}", context)
    return found
