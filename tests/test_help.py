"""Every command and option is explained in its help, and what the help says to try works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from deptree_cli.cli import app as cli
from deptree_cli.cli.help import OUTPUT, fields_of
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.hpyp import Parser
from tests.every_command import COMMANDS, GROUPS, NAMES, command
from tests.house import PROJECT
from tests.sample import DATA

DEPTREE = Path(sys.executable).with_name("deptree")


def each(**names):
    """Parametrise by names of commands; all are quick."""
    ((argument, values),) = names.items()
    return lambda test: pytest.mark.quick(pytest.mark.parametrize(argument, values)(test))


def shown(*args, columns=80):
    """What is written on a terminal of so many columns."""
    ran = CliRunner().invoke(cli.deptree, args, terminal_width=columns)
    assert ran.exit_code == 0
    return ran.output


def help_of(name):
    """The whole help of a command, or the page of a group."""
    return shown(*name.split(), "--help" if name in ("", *GROUPS) else "--help-all")


@each(group=["", *GROUPS])
def test_every_command_has_a_module_and_a_line_in_the_help(group):
    package, table = command(group).package, command(group).table
    found = {path.stem for path in (PROJECT / package.replace(".", "/")).glob("*.py")} - {"__init__"}
    assert {name.replace("-", "_") for name in table if name not in GROUPS} <= found
    for module in found:
        inside = getattr(import_module(f"{package}.{module}"), module, None)
        assert not isinstance(inside, click.Command) or module.replace("_", "-") in table
    listed = re.findall(r"^  ([a-z-]+)  ", help_of(group).partition("Commands:")[2], re.MULTILINE)
    assert listed == list(table)
    assert all(entry.does.endswith(".") for entry in table.values())


ARGUMENTS = r"[A-Z]+(\|[A-Z]+| [A-Z]+| \[[A-Z]+2?\])*(\.\.\.)?"  # a new command needs no line here
OF_HPYP = r"(TREEBANK\.\.\.|MODEL( SENTENCES\.\.\.)?)"
HEADING = re.compile(r"^(\w+):\n", re.MULTILINE)


@each(name=["", *NAMES])
def test_every_command_has_help_that_ends_with_a_line_to_paste(name):
    text = help_of(name)
    if name:
        arguments = r"COMMAND \[ARGS\]\.\.\." if name in GROUPS else OF_HPYP if name.startswith("hpyp ") else ARGUMENTS
        assert re.match(rf"Usage: deptree {name} \[OPTIONS\] {arguments}\n", text)
        assert len(command(name).help.split()) > 10
        assert shown(*name.split(), "-h") == shown(*name.split(), "--help")
    prose = HEADING.split(text.partition("\n\n")[2])[0]  # a docstring that lost its indentation has gaps
    assert not re.search(r"\S   +\S", prose)
    assert {len(line) - len(line.lstrip()) for line in prose.splitlines() if line.strip()} <= {2, 4}
    assert last_line(name).startswith("Try: deptree ")
    assert f"deptree {name}" in last_line(name)


def last_line(name):
    return help_of(name).rstrip().splitlines()[-1].strip()


def options_of(name):
    return [option for option in command(name).params if isinstance(option, click.Option) and not option.hidden]


@each(name=COMMANDS)
def test_a_page_fits_a_screen_and_names_every_option(name):
    page = shown(*name.split(), "--help", columns=78)  # click leaves two of a terminal's 80 columns empty
    assert len(page.splitlines()) <= 40
    for option in options_of(name):
        assert re.search(rf"(?<![\w-]){max(option.opts, key=len)}(?![\w-])", page)


@each(name=[name for name in COMMANDS if getattr(command(name), "listing", None)])
def test_the_whole_help_explains_what_registers_hold(name):
    listing, text = command(name).listing, help_of(name)
    assert len(listing.register) >= 2
    assert f"  {listing.title.split()[0]}" in text
    for entry in listing.register:
        assert re.search(rf"^  {re.escape(entry.name)}( \(biased\))?:", text, re.MULTILINE)


@each(name=["sample", "check-bias"])
def test_help_says_what_samplers_cost_and_which_are_biased(name):
    for entry in SAMPLERS:
        biased = "" if entry.exact else " (biased)"
        assert f"{entry.name}{biased}: " in help_of(name)
        assert f"; {entry.cost}" in " ".join(help_of(name).split())
        assert f"{entry.name}{biased}" in " ".join(shown(name, "-h").split())


# What every command takes that works on sentences one by one, and which lack it: those that hardly do more than read,
# and those about a whole file.
EVERYWHERE = {"Writing": ["--output"], "Running": ["--jobs", "--shard", "--on-error", "--quiet", "--help"]}
ALL_AT_ONCE = ("hpyp train", "show", "bitext show", "warm")
LACKING = {
    **dict.fromkeys(("agree", "diff", "estimate", "eval"), ("--jobs", "--shard")),
    **dict.fromkeys(("calibrate", "inspect", "measure", "report", "hpyp perplexity"), ("--shard",)),
    "hpyp generate": ("--shard", "--on-error"),
}
NO_SCORES = ("dump", "estimate", "warm", *(name for name in COMMANDS if name.startswith("hpyp ")))


def parts_of(name):
    """The rows of each section of a command's help: what stands at the beginning of a line and what follows it."""
    prose, *parts = HEADING.split(help_of(name).rpartition("\n\n")[0])
    assert prose.startswith("Usage: ")
    rows = [re.split(r"\n(?=  \S)", part.strip("\n")) for part in parts[1::2]]
    return dict(zip(parts[::2], rows, strict=True))


def rows_with(option, rows):
    """The rows that explain an option, by its longest name."""
    return [row for row in rows if re.match(rf"  (-\w, )?{option}(?![\w-])", row)]


@each(name=COMMANDS)
def test_help_has_own_options_then_shared_ones_in_sections_then_what_is_written(name):
    parts, parameters = parts_of(name), options_of(name)
    sections = {title: rows for title, rows in parts.items() if title not in OUTPUT}
    assert list(sections) == [title for title in ("Options", "Reading", "Writing", "Running") if title in sections]
    assert ("Options" in sections) == any(not option.section for option in parameters)
    assert "Reading" in sections or name in NO_SCORES
    for option in parameters:
        explained = {title: len(rows_with(max(option.opts, key=len), rows)) for title, rows in sections.items()}
        assert explained == {title: title == (option.section or "Options") for title in sections}
    for title, options in EVERYWHERE.items() if name not in ALL_AT_ONCE else ():
        lacking = LACKING.get(name, ())
        assert all(len(rows_with(option, sections[title])) == (option not in lacking) for option in options)
    for row in (row for rows in sections.values() for row in rows):
        assert row.startswith("  -")
        assert re.search(r"\S  +\w|\n +\w", row)
    written = {title: len(fields_of(name, kind)) for title, kind in OUTPUT.items() if fields_of(name, kind)}
    assert [(title, len(rows)) for title, rows in parts.items()][len(sections) :] == list(written.items())


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A trained parser, model.npz, for commands that read one."""
    path = tmp_path_factory.mktemp("trained") / "model.npz"
    Parser.train(DATA / "treebank.conllu", iterations=2, seed=1).save(path)
    return path


# Lines whose commands other lines start anew; these are forked.
FORKED = ["", "swor", "hpyp train", "hpyp parse", "bitext"]


@pytest.mark.parametrize("name", ["", *NAMES])
def test_the_pasted_line_runs(name, tmp_path, model, warm):
    """In a folder with files of the names that it says; what check, check-bias and diff find is a result too.

    As users run it: little work is done as Python.
    """
    if name == "dump":
        pytest.importorskip("slovnet", reason="natasha is not installed")
    for path in (path for path in [*DATA.iterdir(), model] if path.is_file()):
        shutil.copy(path, tmp_path)
    line = last_line(name).removeprefix("Try: ")
    if shutil.which("jq") is None:
        line = re.sub(r"\| jq .*", "| cat", line)
    env = {**os.environ, "PATH": f"{warm if name in FORKED else DEPTREE.parent}:{os.environ['PATH']}"}
    env.pop("NUMBA_DISABLE_JIT", None)
    shell = ["bash", "-o", "pipefail", "-c", line]
    ran = subprocess.run(shell, capture_output=True, text=True, cwd=tmp_path, env=env, check=False)
    assert ran.returncode in ((0, 1) if name in ("check", "check-bias", "diff") else (0,)), ran.stderr
    assert "Traceback" not in ran.stderr
    wanted = re.findall(r"(?:-o|-m|--output) (\S+)", line)
    assert all((tmp_path / file).stat().st_size for file in wanted) if wanted else ran.stdout


@pytest.mark.parametrize("start", [[DEPTREE], [sys.executable, "-m", "deptree_cli"]], ids=["deptree", "-m"])
def test_version_and_help_of_the_real_command(start):
    said = subprocess.run([*start, "--version"], capture_output=True, text=True, check=True)
    assert version("deptree-cli") in said.stdout
    said = subprocess.run([*start, "--help"], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[0].endswith(" [OPTIONS] COMMAND [ARGS]...")
    assert said.stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    env = {**os.environ, "_DEPTREE_COMPLETE": f"{shell}_source"}
    ran = subprocess.run([DEPTREE], capture_output=True, text=True, env=env, check=False)
    assert "_DEPTREE_COMPLETE" in ran.stdout
    assert ran.returncode == 0
