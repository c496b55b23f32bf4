"""Standard streams that are closed or full, with every command: data come through, or one line says why not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.every_command import COMMANDS as ALL
from tests.every_command import on_scores
from tests.sample import DATA

SCORES = f"{DATA}/scores.npz --from natasha"
CLOSED_OUT = "deptree: standard output is closed. Name a file with -o.\n"
CLOSED_IN = "deptree: standard input is closed. Name a file instead of -.\n"

COMMANDS = [*on_scores(str(DATA)), f"show {SCORES} --format text"]


# A fork for each command, which ends when it has warned, by Python and by NumPy.
WARNING = """
import os, sys, warnings
import click, numpy
from deptree_cli.__main__ import main
from tests.every_command import command
for name in sys.argv[1:]:
    command(name)
plain = click.Command.make_context
def make_context(self, *args, **kwargs):
    for kind in (UserWarning, DeprecationWarning, RuntimeWarning):
        warnings.warn("leaked", kind)
    numpy.float64(1) / numpy.float64(0)
    if not isinstance(self, click.Group):
        os._exit(0)
    return plain(self, *args, **kwargs)
click.Command.make_context = make_context
for name in sys.argv[1:]:
    if not os.fork():
        sys.argv = ["deptree", *name.split()]
        main()
    assert os.wait()[1] == 0
"""

Shell = Callable[[str], "subprocess.CompletedProcess[str]"]


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line of bash whose `deptree` is that of a folder."""
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, env=env, check=False, timeout=120)


@pytest.fixture
def shell(warm: Path) -> Shell:
    """A line of bash whose `deptree` is forked."""
    return lambda line: run(line, warm)


@pytest.mark.slow("process")
@pytest.mark.parametrize("ends", [">&-", "<&- 2>&-", ">/dev/full", "-v 2>/dev/full", "| head -n 1"])
def test_a_fork_ends_as_a_new_process_does(warm: Path, ends: str) -> None:
    """What the tests below rely on."""
    lines = [run(f"deptree partition {SCORES} {ends}", folder) for folder in (Path(sys.executable).parent, warm)]
    real, forked = ((ran.returncode, ran.stdout, ran.stderr) for ran in lines)
    assert forked == real


@pytest.mark.slow("process")
@pytest.mark.parametrize("asked", [False, True])
def test_no_warning_reaches_the_terminal_from_any_command(asked: bool) -> None:
    """They are for programmers, who see them where they ask for them."""
    line = [sys.executable, *["-Wdefault"] * asked, "-c", WARNING, *(ALL[:1] if asked else ALL)]
    env = {**os.environ, "PYTHONPATH": str(DATA.parent)}
    ran = subprocess.run(line, capture_output=True, text=True, env=env, check=False, timeout=120)
    assert ran.returncode == 0, ran.stderr
    assert [words in ran.stderr for words in ("leaked", "divide by zero")] == [asked, asked]
    assert asked or ran.stderr == ""


@pytest.mark.parametrize("command", [*(f"{command} -q" for command in COMMANDS), "--help", "--version", "show --help"])
def test_a_closed_standard_output_is_one_line(shell: Shell, command: str) -> None:
    ran = shell(f"deptree {command} >&-")
    assert (ran.returncode, ran.stderr) == (2, CLOSED_OUT)


@pytest.mark.parametrize(
    "command", [f"sample {SCORES} --seed 7 -k 2 --sampler wilson-rc", f"inspect {DATA}/figure1.npy --json"]
)
@pytest.mark.parametrize("stderr", ["2>&-", "2>/dev/full"])
def test_data_do_not_depend_on_standard_error(shell: Shell, command: str, stderr: str) -> None:
    """Which has something to say in each."""
    expected = shell(f"deptree {command}")
    assert expected.stdout
    assert expected.stderr
    ran = shell(f"deptree {command} {stderr}")
    assert (ran.returncode, ran.stdout) == (expected.returncode, expected.stdout)


def test_an_error_that_nobody_can_read_is_one_still(shell: Shell) -> None:
    for stderr in ("2>&-", "2>/dev/full"):
        ran = shell(f"deptree partition nothing.npz {stderr}")
        assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", "")


@pytest.mark.parametrize("command", [f"partition {SCORES} -q", f"sample {DATA}/scores.jsonl --from natasha -q -k 1"])
def test_a_closed_standard_input_is_no_matter_for_a_file(shell: Shell, command: str) -> None:
    expected = shell(f"deptree {command} --shard 1/2 </dev/null").stdout.count("\n")
    assert expected == 4
    ran = shell(f"deptree {command} --shard 1/2 <&-")
    assert (ran.returncode, ran.stdout.count("\n"), ran.stderr) == (0, expected, "")


@pytest.mark.parametrize("command", ["partition - --from natasha", "sample -", f"decode {SCORES} --conllu -"])
def test_a_closed_standard_input_is_said(shell: Shell, command: str) -> None:
    ran = shell(f"deptree {command} -q <&-")
    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "", CLOSED_IN)


def test_all_three_closed(shell: Shell, tmp_path: Path) -> None:
    """What is opened first must not become one of them."""
    ran = shell(f"deptree partition {SCORES} -o {tmp_path}/out.jsonl <&- >&- 2>&-")
    assert ran.returncode == 0
    assert (tmp_path / "out.jsonl").read_text().count("\n") == 8


@pytest.mark.parametrize("line", ["--help", "sample --help", "--version", "sample --help-all"])
def test_a_full_disk_is_said_of_standard_output(shell: Shell, line: str) -> None:
    ran = shell(f"deptree {line} > /dev/full")
    assert (ran.returncode, ran.stderr) == (2, "deptree: standard output: No space left on device.\n")
