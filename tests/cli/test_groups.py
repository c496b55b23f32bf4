"""Groups within groups, each with its own table: loaded when called, near names suggested, all of it completed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.shell_completion import BashComplete
from click.testing import CliRunner, Result

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
def group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[click.Group]:
    """A group of a command and a group, in a package of its own."""
    for name, text in FILES.items():
        (tmp_path / PACKAGE / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / PACKAGE / name).write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    yield click.group(cls=LazyGroup, name="scratch", package=PACKAGE, table=TABLE)(lambda: None)
    for name in loaded():
        del sys.modules[name]


def loaded() -> set[str]:
    """The modules of the package that have been imported."""
    return {name for name in sys.modules if name.partition(".")[0] == PACKAGE}


def run(group: click.Group, *args: str) -> Result:
    return CliRunner().invoke(group, list(args))


def test_a_command_is_loaded_when_it_is_called(group) -> None:
    assert run(group, "--help").exit_code == 0
    assert loaded() == set()
    assert run(group, "plain").output == "plain\n"
    assert loaded() == {PACKAGE, f"{PACKAGE}.plain"}


def test_commands_of_an_inner_group_are_loaded_alone(group) -> None:
    ran = run(group, "hpyp", "--model", "m", "train", "a.txt", "--order", "two")
    assert (ran.exit_code, ran.output) == (0, "model m\ntrain a.txt two\n")
    assert loaded() == {PACKAGE, f"{PACKAGE}.hpyp", f"{PACKAGE}.hpyp.train"}
    assert run(group, "hpyp", "log-loss").output == "model none\nloss\n"
    assert f"{PACKAGE}.hpyp.broken" not in loaded()


def test_help_of_each_group_is_its_table_in_order(group) -> None:
    outer, inner = run(group, "--help").output, run(group, "hpyp", "--help").output
    assert [line.split()[0] for line in outer.partition("Commands:\n")[2].splitlines()] == list(TABLE)
    assert "  hpyp   Generate, with a model of its own.\n" in outer
    assert "Usage: scratch hpyp [OPTIONS] COMMAND [ARGS]..." in inner
    rows = inner.partition("Commands:\n")[2].splitlines()
    assert [row.split(maxsplit=1) for row in rows] == [
        ["train", "Train a model."],
        ["log-loss", "Say how bad it is."],
        ["broken", "Fail when loaded."],
        [],
        ["Try:", "scratch hpyp train a.txt"],
    ]
    assert loaded() == {PACKAGE, f"{PACKAGE}.hpyp"}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("hpip",), "No such command 'hpip'. Did you mean hpyp?"),
        (("hpyp", "trian"), "No such command 'trian'. Did you mean train?"),
        (("hpyp", "log_loss"), "No such command 'log_loss'. Did you mean log-loss?"),
        (("hpyp", "xyz"), "No such command 'xyz'."),
        (("zzz",), "No such command 'zzz'."),
    ],
)
def test_names_that_are_near_are_suggested(group, args, said) -> None:
    ran = run(group, *args)
    assert ran.exit_code == 2
    assert said in ran.output
    assert ("Did you mean" in ran.output) == ("Did you mean" in said)
    assert f"Usage: {' '.join(('scratch', *args[:-1]))} [OPTIONS]" in ran.output


def completed(group: click.Group, *words: str) -> list[str]:
    """What may stand in place of the last word."""
    found = BashComplete(group, {}, "scratch", "_SCRATCH_COMPLETE").get_completions(list(words[:-1]), words[-1])
    return [item.value for item in found]


def test_inner_groups_are_completed_without_loading_their_commands(group) -> None:
    assert completed(group, "") == ["plain", "hpyp"]
    assert completed(group, "h") == ["hpyp"]
    assert loaded() == set()
    assert completed(group, "hpyp", "") == ["train", "log-loss", "broken"]
    assert completed(group, "hpyp", "--model", "m", "l") == ["log-loss"]
    assert completed(group, "hpyp", "--mo") == ["--model"]
    assert loaded() == {PACKAGE, f"{PACKAGE}.hpyp"}
    assert completed(group, "hpyp", "train", "--order", "t") == ["two", "three"]
    help_of = {item.value: item.help for item in group.shell_complete(click.Context(group), "")}
    assert help_of == {name: entry.does for name, entry in TABLE.items()}


@pytest.fixture
def complete(warm: Path) -> Callable[..., list[str]]:
    """What a process offers bash in place of the last of some words: ``kind,value`` a line."""

    def run(*words: str) -> list[str]:
        env = {**os.environ, "_DEPTREE_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(("deptree", *words))}
        env["COMP_CWORD"] = str(len(words))
        ran = subprocess.run([warm / "deptree"], capture_output=True, text=True, env=env, check=False)
        assert (ran.returncode, ran.stderr) == (0, "")
        return [line for line in ran.stdout.splitlines() if line]

    return run


def plain(*names: str) -> list[str]:
    return [f"plain,{name}" for name in names]


def test_bash_completes_commands(complete: Callable[..., list[str]]) -> None:
    assert complete("") == plain(*COMMANDS)
    assert complete("sam") == plain("sample")
    assert complete("d") == plain("decode", "doubt", "diff", "dump")
    assert complete("x") == []


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (("sample", "--sampler", "wil"), [name for name in SAMPLERS.names if name.startswith("wil")]),
        (("sample", "--sampler", ""), SAMPLERS.names),
        (("sample", "--from", "na"), ["natasha"]),
        (("check-bias", "x.npz", "--from", ""), [*PRESETS.names, *QUESTIONS]),
        (("convert", "x.npz", "--to", "tor"), ["torch-struct"]),
        (("swor", "--sampler", "be"), ["beam"]),
        (("expect", "ren"), ["renyi"]),
        (("dump", "n"), ["natasha"]),
        (("dump", ""), PARSERS.names),
        (("estimate", "--quantity", "d"), ["depth"]),
        (("sample", "--from", "supar,dep"), ["supar,dep-head"]),
        (("sample", "--fix"), ["--fix-heads"]),
        (("marginals", "--no-h"), ["--no-header"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_bash_completes_options_and_what_registers_hold(complete, words, names) -> None:
    assert complete(*words) == plain(*names)


@pytest.mark.slow("process")
@pytest.mark.parametrize(
    "words",
    [
        ("sample", "sco"),
        ("sample", "x.npz", "--conllu", "sen"),
        ("diff", "x.npz", "oth"),
        ("expect", "kl", "sco"),
        ("estimate", "dra"),
        ("dump", "natasha", "par"),
        ("sample", "x.npz", "-o", "ou"),
    ],
    ids=" ".join,
)
def test_bash_completes_names_of_files_itself(complete, words) -> None:
    assert complete(*words) == [f"file,{words[-1]}"]
