"""Every command by what one calls it, those of groups too: `sample`, `hpyp train`, ...; and its line of the table."""

from __future__ import annotations

import shlex

import click

from deptree_cli.cli.app import deptree
from deptree_cli.cli.table import LazyGroup


def command(name):
    """The command of that name; the whole program by the empty one."""
    found: click.Command = deptree
    for word in name.split():
        assert isinstance(found, LazyGroup)
        inner = found.get_command(click.Context(found), word)
        assert inner is not None
        found = inner
    return found


ENTRIES = deptree.entries()

# Those that do something.
COMMANDS = list(ENTRIES)
GROUPS = list(dict.fromkeys(name.split()[0] for name in COMMANDS if " " in name))
NAMES = [*GROUPS, *COMMANDS]


def options(name):
    """The options of a command by each of their names."""
    return {opt: each for each in command(name).params for opt in each.opts}


def example(name):
    """The words of a command in its line of the table, its name among them."""
    (stage,) = (each for each in ENTRIES[name].line.split(" | ") if each.startswith(f"deptree {name} "))
    return shlex.split(stage)[1:]


def reading(name, path):
    """A command as its line calls it, of scores in a file of another name: with gold.conllu if it has that, no more."""
    return list(_kept(example(name), path))


def on_scores(folder):
    """The lines of all commands that read the sample's scores, as text and as arrays; combine names layouts by file."""
    lines = []
    for name, entry in ENTRIES.items():
        if entry.reads == "scores" and name != "combine":
            words = reading(name, f"{folder}/scores.npz")
            line = " ".join(f"{folder}/{each}" if each == "gold.conllu" else each for each in words)
            lines.append(f"{line} --from natasha")
            if entry.writes in ("arrays", "scores"):
                lines.append(f"{lines[-1]} --format npz")
    return lines


def _kept(words, path):
    """The words of a line up to its first option, and --conllu or --gold with gold.conllu."""
    for before, word in zip(["", *words], words, strict=False):
        if word in ("scores.npz", "bitext.npz"):
            yield path
        elif word == "gold.conllu":
            yield from (before, word) if before.startswith("-") else (word,)
        elif not (word.startswith("-") or before.startswith("-")):
            yield word
