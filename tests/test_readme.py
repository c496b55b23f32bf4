"""The console examples of the README and of docs/ print what these say they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
LINKED = ("CHANGELOG.md", "benchmarks/README.md", "sample_data/README.md")  # pages without examples
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)

NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
DIGITS = 4  # of a number that a page shows: further ones may differ between processors

# What only an extra can run or print, by what stands in an example.
NEEDS = {"dump natasha": "slovnet"}


def examples(page: Path) -> list[tuple[str, str]]:
    """The commands of a page after a `$`, each with the output shown below it; comments hold no examples.

    A command goes on behind a line that ends with a backslash.
    """
    text = re.sub(r"<!-- .*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command = re.match(r"(.*\\\n)*.*\n", part)
            assert command is not None
            found.append((command[0].rstrip("\n"), part[command.end() :]))
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
    (train,) = set(re.findall(r"^(deptree hpyp train sample_data/.* -o model.npz .*)$", TEXT, re.MULTILINE))
    trained = run(train, folder, warm)
    assert (trained.returncode, trained.stdout) == (0, ""), trained.stderr
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_examples_print_what_the_page_shows(page: Path, folder: Path, warm: Path, tmp_path: Path) -> None:
    """In order, in one folder: later ones may read what earlier ones wrote."""
    for text, module in NEEDS.items():
        if any(text in command + shown for command, shown in examples(page)):
            pytest.importorskip(module, reason=f"{module} is not installed")
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    for command, shown in examples(page):
        ran = run(command, tmp_path, warm)
        assert (ran.returncode, as_shown(ran.stdout, shown)) == (0, shown), f"{command}\n{ran.stderr}"


def as_shown(printed: str, shown: str) -> str:
    """What a command printed, with the numbers of the page for those that agree to the last digit that it shows."""
    if NUMBER.split(printed) != NUMBER.split(shown):
        return printed
    numbers = iter(NUMBER.findall(shown))
    return NUMBER.sub(lambda match: _nearly(match[0], next(numbers)), printed)


def _nearly(printed: str, shown: str) -> str:
    """The number that is shown if the printed one is less than a unit of its last digit away, else the printed one."""
    exact, rounded = Decimal(printed), Decimal(shown)
    unit = Decimal(1).scaleb(rounded.as_tuple().exponent)
    return shown if abs(exact - rounded) < unit else printed


@pytest.mark.parametrize(
    ("printed", "agrees"),
    [
        ("0.69331", True),
        ("0.693250001", True),
        ("0.6935", False),
        ("0.6931", False),
        ("-0.6933", False),
        ("0.6933 1", False),
    ],
)
def test_numbers_agree_to_the_last_digit_shown(printed: str, agrees: bool) -> None:
    assert (as_shown(printed, "0.6933") == "0.6933") == agrees


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_show_four_digits(page: Path) -> None:
    """What BLAS, a network or an interval decides is further behind."""
    for command, shown in examples(page):
        assert not list(filter(long_number, NUMBER.findall(shown))), command


def long_number(shown: str) -> bool:
    """Whether a number has more than four digits, and more than four behind the point."""
    parts = Decimal(shown).as_tuple()
    return min(len(parts.digits), -parts.exponent) > DIGITS


def test_examples_are_found() -> None:
    assert len(PAGES) >= 7
    assert sum(len(examples(page)) for page in PAGES) >= 15


def test_the_readme_is_short() -> None:
    assert len(PAGES[0].read_text(encoding="utf-8").split()) <= 700


def test_the_readme_names_the_commands_that_set_everything_up() -> None:
    """With the time that each takes; pip installs into a virtual environment, as Debian's does nowhere else."""
    readme = " ".join(PAGES[0].read_text(encoding="utf-8").split())
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for target in ("demo", "test"):
        assert target in targets
        assert re.search(rf"`make {target}` \(\d+ minutes( the first time)?\)", readme)
    assert readme.index("-m venv .venv") < readme.index(". .venv/bin/activate") < readme.index("pip install .")


HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)")


def anchors(page: Path) -> set[str]:
    """The names of a page's headings, as the code host and the site call them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in HEADING.findall(text)}


def test_anchors_are_found() -> None:
    assert {"which-trees", "hpyp-train", "sample"} <= anchors(ROOT / "docs" / "commands.md")


@pytest.mark.parametrize("page", [*PAGES, *(ROOT / name for name in LINKED)], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """To files that are there, and in a page to a heading of it."""
    for link, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = page.parent / link if link else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}#{anchor}"


# As the glossary says it, by what it replaces; pages that are not yet revised.
RETIRED = {
    "exit code": "exit status",
    "edge score": "arc score",
    "known heads": "gold heads",
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_retired_terms_do_not_come_back(page: Path) -> None:
    text = " ".join(page.read_text(encoding="utf-8").lower().split())
    assert not [f"{term}: say {better}" for term, better in RETIRED.items() if term in text]


def test_the_picture_is_what_its_command_draws(warm: Path) -> None:
    """Without `-o` it is written to standard output."""
    (command,) = re.findall(r"^(deptree show .*) -o show.svg$", TEXT, re.MULTILINE)
    drawn, shown = run(f"{command} --quiet", ROOT, warm).stdout, (ROOT / "docs/show.svg").read_text(encoding="utf-8")
    assert as_shown(drawn, shown) == shown
