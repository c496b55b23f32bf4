"""README and docs/ print what they say they print: console examples, programs, the notebook, links, reference pages."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import click
import pytest

import deptree_cli
from deptree_cli.cli.help import fields, fields_of
from docs.hooks import commands, python
from docs.hooks.fields import PLACE, filled
from tests.every_command import COMMANDS, GROUPS, NAMES, command
from tests.house import PROJECT

README, *DOCS = PROJECT / "README.md", *sorted((PROJECT / "docs").glob("*.md"))
PAGES = [README, PROJECT / "CONTRIBUTING.md", *DOCS]
LINKED = ("CHANGELOG.md", "benchmarks/README.md", "sample_data/README.md")  # pages without examples
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
EACH_PAGE = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)

NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
DIGITS = 4  # of a number that a page shows: further ones may differ between processors

# What only an extra can run or print, by what stands in an example.
NEEDS = {"dump natasha": "slovnet"}


def examples(page):
    """The commands of a page after a `$`, each with the output shown below it; comments hold no examples.

    A command goes on behind a line that ends with a backslash.
    """
    text = re.sub(r"<!-- .*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line = re.match(r"(.*\\\n)*.*\n", part)
            found.append((line[0].rstrip("\n"), part[line.end() :]))
    return found


def run(line, folder, warm):
    """A line of bash in a folder; `deptree` and `python` are forked."""
    path = f"{warm}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(PROJECT), "PYTHONIOENCODING": "utf-8"}
    options = {"capture_output": True, "text": True, "check": False, "encoding": "utf-8"}
    return subprocess.run(["bash", "-c", line], cwd=folder, env=environment, **options)


@pytest.fixture(scope="session")
def folder(tmp_path_factory, warm):
    """Where examples run: the sample data, and the model that all pages train by one and the same line."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "sample_data").symlink_to(PROJECT / "sample_data")
    (train,) = set(re.findall(r"^(deptree hpyp train sample_data/.* -o model.npz .*)$", TEXT, re.MULTILINE))
    trained = run(train, folder, warm)
    assert (trained.returncode, trained.stdout) == (0, ""), trained.stderr
    return folder


@pytest.mark.parametrize("page", [page for page in PAGES if examples(page)], ids=lambda page: page.name)
def test_examples_print_what_the_page_shows(page, folder, warm, tmp_path):
    """In order, in one folder: later ones may read what earlier ones wrote."""
    for text, module in NEEDS.items():
        if any(text in line + shown for line, shown in examples(page)):
            pytest.importorskip(module, reason=f"{module} is not installed")
    for path in folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    for line, shown in examples(page):
        ran = run(line, tmp_path, warm)
        assert (ran.returncode, as_shown(ran.stdout, shown)) == (0, shown), f"{line}\n{ran.stderr}"


def as_shown(printed, shown):
    """What a command printed, with the numbers of the page for those that agree to the last digit that it shows."""
    if NUMBER.split(printed) != NUMBER.split(shown):
        return printed
    numbers = iter(NUMBER.findall(shown))
    return NUMBER.sub(lambda match: _nearly(match[0], next(numbers)), printed)


def _nearly(printed, shown):
    exact, rounded = Decimal(printed), Decimal(shown)
    unit = Decimal(1).scaleb(rounded.as_tuple().exponent)
    return shown if abs(exact - rounded) < unit else printed


@pytest.mark.quick
@pytest.mark.parametrize("printed", ["0.69331", "0.693250001", "!0.6935", "!0.6931", "!-0.6933", "!0.6933 1"])
def test_numbers_agree_to_the_last_digit_shown(printed):
    assert (as_shown(printed.removeprefix("!"), "0.6933") == "0.6933") == (printed[0] != "!")


@EACH_PAGE
def test_examples_show_four_digits(page):
    """What BLAS, a network or an interval decides is further behind."""
    for line, shown in examples(page):
        parts = [Decimal(number).as_tuple() for number in NUMBER.findall(shown)]
        assert all(min(len(each.digits), -each.exponent) <= DIGITS for each in parts), line


def test_the_readme_is_short_and_names_the_commands_that_set_everything_up():
    """With the time that each takes; pip installs into a virtual environment, as Debian's does nowhere else."""
    readme = " ".join(README.read_text(encoding="utf-8").split())
    assert len(readme.split()) <= 700
    targets = re.findall(r"^([a-z-]+):", (PROJECT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    for target in ("demo", "test"):
        assert target in targets
        assert re.search(rf"`make {target}` \(\d+ minutes( the first time)?\)", readme)
    assert readme.index("-m venv .venv") < readme.index(". .venv/bin/activate") < readme.index("pip install .")
    assert sum(len(examples(page)) for page in PAGES) >= 15


def anchors(page):
    """The names of a page's headings, as the code host and the site call them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).strip().replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", [*PAGES, *(PROJECT / name for name in LINKED)], ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    """To files that are there, and in a page to a heading of it."""
    assert {"which-trees", "hpyp-train", "sample"} <= anchors(PROJECT / "docs" / "commands.md")
    for link, anchor in re.findall(r"\]\(([^)#:\s]*)(?:#([^)\s]+))?\)", page.read_text(encoding="utf-8")):
        target = page.parent / link if link else page
        assert target.exists(), f"{page.name}: {link}"
        assert not anchor or anchor in anchors(target), f"{page.name}: {link}#{anchor}"


@EACH_PAGE
def test_retired_terms_do_not_come_back(page):
    text = " ".join(page.read_text(encoding="utf-8").lower().split())
    assert not [term for term in ("exit code", "edge score", "known heads") if term in text]


def test_the_picture_is_what_its_command_draws(warm):
    (line,) = re.findall(r"^(deptree show .*) -o show.svg$", TEXT, re.MULTILINE)
    shown = (PROJECT / "docs/show.svg").read_text(encoding="utf-8")
    assert as_shown(run(f"{line} --quiet", PROJECT, warm).stdout, shown) == shown


# Python: the blocks that import us and run by themselves.
BLOCKS = re.findall(r"^```python\n(.*?)```", TEXT, re.DOTALL | re.MULTILINE)
PROGRAMS = [block for block in BLOCKS if re.search(r"^from deptree_cli[.\w]* import", block, re.MULTILINE)]
PROGRAMS = [block for block in PROGRAMS if block not in (PROJECT / "CONTRIBUTING.md").read_text(encoding="utf-8")]
LIGHT = [program for program in PROGRAMS if not re.search(r"^import (torch|jax)", program, re.MULTILINE)]
ONE_BY_ONE = "import runpy, sys; [runpy.run_path(name, run_name='__main__') for name in sys.argv[1:]]"


def the_one_with(text):
    (program,) = (program for program in PROGRAMS if text in program)
    return program


@pytest.mark.parametrize("number", range(len(LIGHT)))
def test_programs_run(number, tmp_path, warm):
    assert len(LIGHT) >= 4
    (tmp_path / "sample_data").symlink_to(PROJECT / "sample_data")
    (tmp_path / "program.py").write_text(LIGHT[number], encoding="utf-8")
    ran = run("python program.py", tmp_path, warm)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.parametrize(
    "framework", [pytest.param(name, marks=getattr(pytest.mark, name)) for name in ("torch", "jax")]
)
def test_programs_with_a_framework_run(framework, tmp_path):
    """Each by itself, in one process: to load the framework takes longer than all of them."""
    pytest.importorskip(framework)
    programs = [program for program in PROGRAMS if re.search(rf"^import {framework}", program, re.MULTILINE)]
    assert programs
    names = [f"program{number}.py" for number in range(len(programs))]
    for name, program in zip(names, programs, strict=True):
        (tmp_path / name).write_text(program, encoding="utf-8")
    ran = run(f'{sys.executable} -c "{ONE_BY_ONE}" {" ".join(names)}', tmp_path, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")


@pytest.mark.slow("process")
def test_a_program_of_ones_own(tmp_path, warm):
    """It has at most 40 lines, and what it prints by randomized pruning is near what it prints exactly."""
    program = the_one_with("class Segmentations(Program)")
    assert len([line for line in program.splitlines() if line]) <= 40
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    exact, found = (
        [float(number) for number in re.findall(r"[\d.]+", line)]
        for line in run("python program.py", tmp_path, warm).stdout.splitlines()
    )
    assert len(exact) == 7
    assert found == pytest.approx(exact, abs=0.03)
    assert found != exact


REVEAL = """
from deptree_cli import TreeDistribution

reveal_type(TreeDistribution([[0.0, 1.0], [0.0, 0.0]]).sample(3, 7))
"""


@pytest.mark.slow("process")
def test_the_long_program_runs_and_its_types_are_known(tmp_path, warm):
    pytest.importorskip("mypy", reason="mypy is not installed")
    (tmp_path / "sample_data").symlink_to(PROJECT / "sample_data")
    (tmp_path / "example.py").write_text(the_one_with("def main("), encoding="utf-8")
    (tmp_path / "reveal.py").write_text(REVEAL, encoding="utf-8")
    ran = run("python example.py", tmp_path, warm)
    assert (ran.returncode, ran.stderr) == (0, "")
    lines = ran.stdout.splitlines()
    assert sum(line.startswith("  expected depth ") for line in lines) == 8
    assert lines[0].startswith("en-1 [2, 0, 4, 2, 7, 7, 2, 2] -0.4349 0.6931")
    assert (tmp_path / "samples.conllu").read_text(encoding="utf-8").count("# sent_id = ") == 24
    checked = f"MYPYPATH={PROJECT} {sys.executable} -m mypy --strict --follow-imports=silent example.py reveal.py"
    ran = run(checked, tmp_path, tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert re.search(r'Revealed type is ".*ndarray.*signedinteger\[.*_32Bit|int32', ran.stdout)


CELLS = json.loads((PROJECT / "examples/distribution.ipynb").read_text(encoding="utf-8"))["cells"]
CODE = [cell for cell in CELLS if cell["cell_type"] == "code"]


@pytest.mark.torch
def test_the_notebook_runs(monkeypatch):
    """From its first cell to its last, without Jupyter; it is stored without outputs.

    The audit has 2,000 trees of a fixed seed at alpha 0.01: it finds the bias, and none where there is none.
    """
    assert len(CODE) >= 6
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in CODE)
    monkeypatch.chdir(PROJECT)
    names = {}
    for cell in CODE:
        exec("".join(cell["source"]), names)
    assert names["verdicts"] == {"wilson-rc": "biased", "auto": "no bias found"}
    assert names["fixed"].entropy() < names["trees"].entropy()
    assert names["losses_seen"] == sorted(names["losses_seen"], reverse=True)


# The reference pages that the manual makes of help and docstrings leave nothing out. The site itself: `make docs`.
REFERENCE = commands.pages()


@pytest.mark.quick
@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_a_page_with_every_option_and_field(name):
    page = REFERENCE[f"reference/commands/{name.replace(' ', '-')}.md"].replace("\\", "")
    assert page.startswith(f"# deptree {name}\n")
    for option in command(name).params:
        if isinstance(option, click.Option) and not option.hidden:
            assert len(re.findall(rf"<code>[^<]*{max(option.opts, key=len)}(?![\w-])[^<]*</code>", page)) == 1
    assert command(name).help.split("\n")[0] in page
    for names, _ in fields_of(name) if name in COMMANDS else ():
        assert f"| `{names.replace(', ', '`, `')}` |" in page
    assert f"deptree {name}" in TEXT


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_the_page_of_a_group_leads_to_its_commands(group):
    links = re.findall(r"\]\((.*?\.md)\)", REFERENCE[f"reference/commands/{group or 'index'}.md"])
    assert len(links) >= 3
    assert all(f"reference/commands/{link}" in REFERENCE for link in links)


def test_the_page_of_outputs_has_all_fields():
    page = (PROJECT / "docs" / "output_fields.md").read_text(encoding="utf-8")
    assert page.count(PLACE) == 1
    assert {f"`{name}`" for each in fields() for name in each.names} <= {*re.findall(r"`\w[\w-]*`", filled(page))}


def test_every_public_name_is_described():
    page = python.page("deptree_cli")
    assert {*deptree_cli.__all__} - {"__version__"} == {*re.findall(r"^## (\w+)$", page, re.MULTILINE)}
    assert "### sample_without_replacement\n" in page
    assert "scale: str = 'log'" in page
    assert "No module named 'deptree_cli.not_there'" in python.page("deptree_cli.not_there")


@pytest.mark.parametrize(
    ("link", "page", "leads"),
    [
        ("[a](docs/scores.md#labels)", "README.md", "[a](scores.md#labels)"),
        ("[a](../docs/speed.md)", "benchmarks/README.md", "[a](../speed.md)"),
        ("[a](../README.md) [b](#c)", "docs/bitext.md", "[a](index.md) [b](#c)"),
    ],
)
def test_links_to_files_outside_lead_to_their_places(link, page, leads):
    pytest.importorskip("mkdocs")
    from docs.hooks.site import relinked

    assert relinked(link, page) == leads
