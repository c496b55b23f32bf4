"""Groups within groups, each with its own table: loaded when called, near names suggested, all of it completed."""

from __future__ import annotations

import os
import subprocess
import sys

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner

from deptree_cli.cli.app import COMMANDS
from deptree_cli.cli.table import Entry, LazyGroup
from deptree_cli.core.samplers import SAMPLERS
from deptree_cli.io.parsers import PARSERS
from deptree_cli.io.scores.layout import PRESETS, QUESTIONS

PACKAGE = "deptree_scratch"
TABLE = {
    "plain": Entry("Do the plain thing.", "scratch plain"),
    "hpyp": Entry("Generate, with a model of its own.", "scratch hpyp train a.txt", package=f"{PACKAGE}.hpyp"),
}
FILES = {
    "__init__.py": "",
    "plain.py": "import click\n\n@click.command()\ndef plain():\n    click.echo('plain')\n",
    "hpyp/__init__.py": f"""
import click
from deptree_cli.cli.table import LazyGroup
from deptree_cli.cli.table import Entry

DOES = {{"train": "Train a model.", "log-loss": "Say how bad it is.", "broken": "Fail when loaded."}}
TABLE = {{name: Entry(does, "scratch hpyp") for name, does in DOES.items()}}

@click.group(cls=LazyGroup, package="{PACKAGE}.hpyp", table=TABLE)
@click.option("--model", default="none", help="Where it is.")
def hpyp(model):
    click.echo(f"model {{model}}")
""",
    "hpyp/train.py": """
import click

@click.command()
@click.option("--order", type=click.Choice(["two", "three"]))
@click.argument("text")
def train(text, order):
    click.echo(f"train {text} {order}")
""",
    "hpyp/log_loss.py": "import click\n\n@click.command()\ndef log_loss():\n    click.echo('loss')\n",
    "hpyp/broken.py": "raise RuntimeError('nobody called me')\n",
}


@pytest.fixture
def group(tmp_path, monkeypatch):
    """A group of a command and a group, in a package of its own."""
    for name, text in FILES.items():
        (tmp_path / PACKAGE / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / PACKAGE / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield click.group(cls=LazyGroup, name="scratch", package=PACKAGE, table=TABLE)(lambda: None)
    for name in [name for name in sys.modules if name.partition(".")[0] == PACKAGE]:
        del sys.modules[name]


def loaded() -> set[str]:
    """The modules of the package that have been imported, without its name."""
    return {name.removeprefix(f"{PACKAGE}.") for name in sys.modules if name.startswith(f"{PACKAGE}.")}


def said(group: click.Group, line: str) -> str:
    ran = CliRunner().invoke(group, line.split())
    assert ran.exit_code == 0
    return ran.output


def test_a_command_is_loaded_when_it_is_called(group):
    said(group, "--help")
    assert loaded() == set()
    assert said(group, "plain") == "plain\n"
    assert loaded() == {"plain"}
    assert said(group, "hpyp --model m train a.txt --order two") == "model m\ntrain a.txt two\n"
    assert loaded() == {"plain", "hpyp", "hpyp.train"}
    assert said(group, "hpyp log-loss") == "model none\nloss\n"
    assert "hpyp.broken" not in loaded()


def test_help_of_each_group_is_its_table_in_order(group):
    outer, inner = said(group, "--help"), said(group, "hpyp --help")
    assert [line.split()[0] for line in outer.partition("Commands:\n")[2].splitlines()] == list(TABLE)
    assert "  hpyp   Generate, with a model of its own.\n" in outer
    assert "Usage: scratch hpyp [OPTIONS] COMMAND [ARGS]..." in inner
    assert [row.split(maxsplit=1) for row in inner.partition("Commands:\n")[2].splitlines()] == [
        ["train", "Train a model."],
        ["log-loss", "Say how bad it is."],
        ["broken", "Fail when loaded."],
        [],
        ["Try:", "scratch hpyp train a.txt"],
    ]
    assert loaded() == {"hpyp"}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "suggestion"),
    [
        ("hpip", " Did you mean hpyp?"),
        ("hpyp trian", " Did you mean train?"),
        ("hpyp log_loss", " Did you mean log-loss?"),
        ("hpyp xyz", ""),
        ("zzz", ""),
    ],
)
def test_names_that_are_near_are_suggested(group, line, suggestion):
    ran = CliRunner().invoke(group, line.split())
    assert ran.exit_code == 2
    assert f"Error: No such command '{line.split()[-1]}'.{suggestion}\n" in ran.output
    assert f"Usage: {' '.join(('scratch', *line.split()[:-1]))} [OPTIONS]" in ran.output


def test_inner_groups_are_completed_without_loading_their_commands(group):
    def completed(*words: str) -> list[str]:
        found = BashComplete(group, {}, "scratch", "_SCRATCH_COMPLETE").get_completions(list(words[:-1]), words[-1])
        return [item.value for item in found]

    assert completed("") == ["plain", "hpyp"]
    assert completed("h") == ["hpyp"]
    assert loaded() == set()
    assert completed("hpyp", "") == ["train", "log-loss", "broken"]
    assert completed("hpyp", "--model", "m", "l") == ["log-loss"]
    assert completed("hpyp", "--mo") == ["--model"]
    assert loaded() == {"hpyp"}
    assert completed("hpyp", "train", "--order", "t") == ["two", "three"]
    help_of = {item.value: item.help for item in group.shell_complete(click.Context(group), "")}
    assert help_of == {name: entry.does for name, entry in TABLE.items()}


COMPLETED = {
    "": COMMANDS,
    "sam": ["sample"],
    "d": ["decode", "doubt", "diff", "dump"],
    "x": [],
    "sample --sampler wil": [name for name in SAMPLERS.names if name.startswith("wil")],
    "sample --sampler ": SAMPLERS.names,
    "sample --from na": ["natasha"],
    "check-bias x.npz --from ": [*PRESETS.names, *QUESTIONS],
    "convert x.npz --to tor": ["torch-struct"],
    "swor --sampler be": ["beam"],
    "expect ren": ["renyi"],
    "dump n": ["natasha"],
    "dump ": PARSERS.names,
    "estimate --quantity d": ["depth"],
    "sample --from supar,dep": ["supar,dep-head"],
    "sample --fix": ["--fix-heads"],
    "marginals --no-h": ["--no-header"],
}
OF_FILES = ["sample sco", "sample x.npz --conllu sen", "diff x.npz oth", "expect kl sco", "estimate dra"]


@pytest.mark.parametrize("line", [*COMPLETED, *OF_FILES, "dump natasha par", "sample x.npz -o ou"])
def test_bash_completes_commands_options_and_registers_and_names_of_files_itself(warm, line):
    env = {**os.environ, "_DEPTREE_COMPLETE": "bash_complete", "COMP_WORDS": f"deptree {line}"}
    env["COMP_CWORD"] = str(line.count(" ") + 1)
    ran = subprocess.run([warm / "deptree"], capture_output=True, text=True, env=env, check=False)
    found = [f"plain,{name}" for name in COMPLETED[line]] if line in COMPLETED else [f"file,{line.split()[-1]}"]
    assert (ran.returncode, ran.stderr, [each for each in ran.stdout.splitlines() if each]) == (0, "", found)
