"""Every command and option is explained, in its help and in the manual, and what the help says to try works."""

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
from click.testing import CliRunner, Result

from deptree_cli.cli import app as cli
from deptree_cli.cli.help import OUTPUT, fields_of
from deptree_cli.cli.table import LazyGroup
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.hpyp import Parser
from tests.every_command import COMMANDS, GROUPS, NAMES, command

ROOT = Path(__file__).parent.parent
DATA = ROOT / "sample_data"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def shown(*args: str, columns: int = 80) -> str:
    """What is written on a terminal of so many columns."""
    ran: Result = CliRunner().invoke(cli.deptree, args, terminal_width=columns)
    assert ran.exit_code == 0
    return ran.output


def help_of(*args: str) -> str:
    """The whole help of a command, or the page of a group."""
    return shown(*args, "--help" if " ".join(args) in ("", *GROUPS) else "--help-all")


SECTIONS = ["Options", "Reading", "Writing", "Running"]


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_every_command_has_a_module_and_every_module_a_command(group):
    package, table = group_of(group).package, group_of(group).table
    found = {path.stem for path in (ROOT / package.replace(".", "/")).glob("*.py")} - {"__init__"}
    assert {name.replace("-", "_") for name in table if name not in GROUPS} <= found
    for module in found:
        inside = getattr(import_module(f"{package}.{module}"), module, None)
        assert not isinstance(inside, click.Command) or module.replace("_", "-") in table


def group_of(name: str) -> LazyGroup:
    """A group by its name; the whole program by the empty one."""
    found = command(name)
    assert isinstance(found, LazyGroup)
    return found


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_the_help_lists_every_command(group):
    table = group_of(group).table
    listed = re.findall(r"^  ([a-z-]+)  ", help_of(*group.split()).partition("Commands:")[2], re.MULTILINE)
    assert listed == list(table)
    assert all(entry.does.endswith(".") for entry in table.values())


ARGUMENTS = r"[A-Z]+( [A-Z]+| \[[A-Z]+2?\])*(\.\.\.)?"  # words for files and names: a new command needs no line here
OF_HPYP = r"(TREEBANK\.\.\.|MODEL( SENTENCES\.\.\.)?)"


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help(name):
    text = help_of(*name.split())
    arguments = r"COMMAND \[ARGS\]\.\.\." if name in GROUPS else OF_HPYP if name.startswith("hpyp ") else ARGUMENTS
    assert re.match(rf"Usage: deptree {name} \[OPTIONS\] {arguments}\n", text)
    assert len(command(name).help.split()) > 10
    assert shown(*name.split(), "-h") == shown(*name.split(), "--help")


def shown_options(name: str) -> list[click.Option]:
    return [each for each in command(name).params if isinstance(each, click.Option) and not each.hidden]


@pytest.mark.parametrize("name", COMMANDS)
def test_a_page_fits_a_screen_and_names_every_option(name):
    page = shown(*name.split(), "--help", columns=78)  # click leaves two of a terminal's 80 columns empty
    assert len(page.splitlines()) <= 40
    for option in shown_options(name):
        assert len(re.findall(rf"(?<![\w-]){max(option.opts, key=len)}(?![\w-])", page)) >= 1


@pytest.mark.parametrize("name", [name for name in COMMANDS if getattr(command(name), "listing", None)])
def test_the_whole_help_explains_what_registers_hold(name):
    listing = command(name).listing
    text = help_of(*name.split())
    assert len(listing.register) >= 2
    assert f"  {listing.title.split()[0]}" in text
    for entry in listing.register:
        assert re.search(rf"^  {re.escape(entry.name)}( \(biased\))?:", text, re.MULTILINE)


@pytest.mark.parametrize("name", ["sample", "check-bias"])
def test_help_says_what_samplers_cost_and_which_are_biased(name):
    for entry in SAMPLERS:
        biased = "" if entry.exact else " (biased)"
        assert f"{entry.name}{biased}: " in help_of(name)
        assert f"; {entry.cost}" in " ".join(help_of(name).split())
        assert f"{entry.name}{biased}" in " ".join(shown(name, "-h").split())


HEADING = re.compile(r"^(\w+):\n", re.MULTILINE)

# What every command takes that works on sentences, one by one.
EVERYWHERE = {
    "Writing": ["--output"],
    "Running": ["--jobs", "--shard", "--on-error", "--quiet", "--help"],
}
ALL_AT_ONCE = ("hpyp train", "show", "bitext show", "warm")

# What those lack that hardly do more than read, and those about a whole file.
LACKING = {
    **dict.fromkeys(("agree", "diff", "estimate", "eval"), ("--jobs", "--shard")),
    **dict.fromkeys(("calibrate", "inspect", "measure", "report", "hpyp perplexity"), ("--shard",)),
    "hpyp generate": ("--shard", "--on-error"),
}
NO_SCORES = ("dump", "estimate", "warm", *(name for name in COMMANDS if name.startswith("hpyp ")))


def parts_of(name: str) -> dict[str, list[str]]:
    """The rows of each section of a command's help: what stands at the beginning of a line and what follows it."""
    prose, *parts = HEADING.split(help_of(*name.split()).rpartition("\n\n")[0])
    assert prose.startswith("Usage: ")
    return {
        title: re.split(r"\n(?=  \S)", rows.strip("\n")) for title, rows in zip(parts[::2], parts[1::2], strict=True)
    }


def sections_of(name: str) -> dict[str, list[str]]:
    """The sections that have options."""
    return {title: rows for title, rows in parts_of(name).items() if title not in OUTPUT}


def rows_with(option: str, rows: list[str]) -> list[str]:
    """The rows that explain an option, by its longest name."""
    return [row for row in rows if re.match(rf"  (-\w, )?{option}(?![\w-])", row)]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_its_own_options_first_and_then_the_shared_ones_in_sections(name):
    sections, parameters = sections_of(name), shown_options(name)
    own = [each for each in parameters if not each.section]
    assert list(sections) == [title for title in SECTIONS if title in sections]
    assert ("Options" in sections) == bool(own)
    assert "Reading" in sections or name in NO_SCORES
    for each in parameters:
        assert each.help
        explained = {title: len(rows_with(max(each.opts, key=len), rows)) for title, rows in sections.items()}
        assert explained == {title: title == (each.section or "Options") for title in sections}
    for title, options in EVERYWHERE.items() if name not in ALL_AT_ONCE else ():
        lacking = LACKING.get(name, ())
        assert all(len(rows_with(option, sections[title])) == (option not in lacking) for option in options)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_whole_help_has_what_the_command_writes_behind_its_options(name):
    sections = {title: len(rows) for title, rows in parts_of(name).items()}
    written = {title: len(fields_of(name, kind)) for title, kind in OUTPUT.items() if fields_of(name, kind)}
    assert list(sections.items())[len(sections_of(name)) :] == list(written.items())


@pytest.mark.parametrize("name", COMMANDS)
def test_sections_have_nothing_but_options_that_are_explained(name):
    for row in (row for rows in sections_of(name).values() for row in rows):
        assert row.startswith("  -")
        assert re.search(r"\S  +\w|\n +\w", row)


@pytest.mark.parametrize("name", ["", *NAMES])
def test_the_help_is_not_torn(name):
    """A docstring that lost its indentation shows as gaps inside lines and as paragraphs that stand apart."""
    prose = HEADING.split(help_of(*name.split()).partition("\n\n")[2])[0]
    assert not re.search(r"\S   +\S", prose)
    assert {len(line) - len(line.lstrip()) for line in prose.splitlines() if line.strip()} <= {2, 4}


def last_line(name: str) -> str:
    return help_of(*name.split()).rstrip().splitlines()[-1].strip()


@pytest.mark.parametrize("name", ["", *NAMES])
def test_the_help_ends_with_a_line_to_paste(name):
    assert last_line(name).startswith("Try: deptree ")
    assert f"deptree {name}" in last_line(name)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
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
    for path in (each for each in [*DATA.iterdir(), model] if each.is_file()):
        shutil.copy(path, tmp_path)
    line = last_line(name).removeprefix("Try: ")
    if shutil.which("jq") is None:
        line = re.sub(r"\| jq .*", "| cat", line)
    start = warm if name in FORKED else Path(sys.executable).parent
    kept = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    env = kept | {"PATH": f"{start}:{os.environ['PATH']}"}
    shell = ["bash", "-o", "pipefail", "-c", line]
    ran = subprocess.run(shell, capture_output=True, text=True, cwd=tmp_path, env=env, check=False)
    assert ran.returncode in ((0, 1) if name in ("check", "check-bias", "diff") else (0,)), ran.stderr
    assert "Traceback" not in ran.stderr
    wanted = re.findall(r"(?:-o|-m|--output) (\S+)", line)
    assert all((tmp_path / file).stat().st_size for file in wanted) if wanted else ran.stdout


@pytest.mark.parametrize("start", [[Path(sys.executable).with_name("deptree")], [sys.executable, "-m", "deptree_cli"]])
def test_version_and_help_of_the_real_command(start):
    said = subprocess.run([*start, "--version"], capture_output=True, text=True, check=True)
    assert version("deptree-cli") in said.stdout
    said = subprocess.run([*start, "--help"], capture_output=True, text=True, check=True)
    assert said.stdout.splitlines()[0].endswith(" [OPTIONS] COMMAND [ARGS]...")
    assert said.stderr == ""


def test_nothing_heavy_is_imported_for_help():
    script = (
        "import sys; from deptree_cli.cli.app import main; sys.argv[1:] = ['--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'numba', 'scipy', 'conllu'} & set(sys.modules)), file=sys.stderr)"
    )
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stderr.strip() == "[]"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    env = {**os.environ, "_DEPTREE_COMPLETE": f"{shell}_source"}
    deptree = Path(sys.executable).with_name("deptree")
    ran = subprocess.run([deptree], capture_output=True, text=True, env=env, check=False)
    assert "_DEPTREE_COMPLETE" in ran.stdout
    assert ran.returncode == 0


def test_the_manual_mentions_every_command():
    """Its pages of commands, which are made of their help, have the options: `test_reference_pages`."""
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert not [name for name in NAMES if f"deptree {name}" not in text]
