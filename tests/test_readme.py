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


@pytest.mark.parametrize(("command", "shown"), examples())
def test_example_prints_what_the_readme_shows(command: str, shown: str) -> None:
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    result = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        check=False,
        encoding="utf-8",
    )
    assert rounded(result.stdout) == rounded(shown)


def rounded(text: str) -> str:
    """The text with its numbers to six digits."""
    return FLOAT.sub(lambda match: f"{float(match[0]):.6g}", text)


def test_examples_are_found() -> None:
    assert len(PAGES) == 2
    assert len(examples()) >= 15
