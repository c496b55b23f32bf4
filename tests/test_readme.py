"""The console examples of the README and of docs/ print what these say they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
BLOCKS = re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL)

# A number's last digits may differ between machines.
FLOAT = re.compile(r"-?\d+\.\d+(e-?\d+)?")


def examples() -> list[tuple[str, str]]:
    """The commands after a `$`, each with the output shown below it."""
    found = []
    for block in BLOCKS:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def run(command: str, folder: Path, warm: Path) -> subprocess.CompletedProcess[str]:
    """A line of bash in a folder; `deptree` and `python` are forked."""
    environment = {**os.environ, "PATH": f"{warm}:{Path(sys.executable).parent}:{os.environ['PATH']}"}
    options = {"capture_output": True, "text": True, "check": False, "encoding": "utf-8"}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, **options)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, warm: Path) -> Path:
    """Where examples run: the sample data, and the model that all pages train by one and the same line."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "sample_data").symlink_to(ROOT / "sample_data")
    (train,) = set(re.findall(r"^(deptree hpyp train sample_data/.* -m model.npz .*)$", TEXT, re.MULTILINE))
    trained = run(train, folder, warm)
    assert (trained.returncode, trained.stdout) == (0, ""), trained.stderr
    return folder


@pytest.mark.parametrize(("command", "shown"), examples())
def test_example_prints_what_the_readme_shows(command: str, shown: str, folder: Path, warm: Path) -> None:
    assert rounded(run(command, folder, warm).stdout) == rounded(shown)


def rounded(text: str) -> str:
    """The text with its numbers to six digits."""
    return FLOAT.sub(lambda match: f"{float(match[0]):.6g}", text)


def test_examples_are_found() -> None:
    assert len(PAGES) >= 7
    assert len(examples()) >= 15


def test_the_readme_is_short() -> None:
    assert len(PAGES[0].read_text(encoding="utf-8").split()) <= 1000


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_picture_is_what_its_command_draws(warm: Path) -> None:
    """Without `-o` it is written to standard output."""
    (command,) = re.findall(r"^(deptree show .*) -o show.svg$", TEXT, re.MULTILINE)
    drawn = run(f"{command} --quiet", ROOT, warm).stdout
    assert rounded(drawn) == rounded((ROOT / "docs/show.svg").read_text(encoding="utf-8"))
