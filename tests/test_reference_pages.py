"""The reference pages that the manual makes of help and docstrings leave nothing out. The site itself: `make docs`."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

import deptree_cli
from deptree_cli.cli.help import fields, fields_of
from docs.hooks import commands, python
from docs.hooks.fields import PLACE, filled
from tests.every_command import COMMANDS, GROUPS, NAMES, command

PAGES = commands.pages()


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_a_page_with_every_option(name: str) -> None:
    page = PAGES[f"reference/commands/{name.replace(' ', '-')}.md"].replace("\\", "")
    assert page.startswith(f"# deptree {name}\n")
    options = [each for each in command(name).params if isinstance(each, click.Option) and not each.hidden]
    for option in options:
        assert len(re.findall(rf"<code>[^<]*{max(option.opts, key=len)}(?![\w-])[^<]*</code>", page)) == 1
    assert (command(name).help or "").split("\n")[0] in page


@pytest.mark.parametrize("group", ["", *GROUPS])
def test_the_page_of_a_group_leads_to_its_commands(group: str) -> None:
    page = PAGES[f"reference/commands/{group or 'index'}.md"]
    links = re.findall(r"\]\((.*?\.md)\)", page)
    assert len(links) >= 3
    assert all(f"reference/commands/{link}" in PAGES for link in links)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_has_what_it_writes(name: str) -> None:
    page = PAGES[f"reference/commands/{name.replace(' ', '-')}.md"]
    for names, _ in fields_of(name):
        assert f"| `{names.replace(', ', '`, `')}` |" in page


def test_the_page_of_outputs_has_all_fields() -> None:
    page = (Path(__file__).parents[1] / "docs" / "output_fields.md").read_text(encoding="utf-8")
    assert page.count(PLACE) == 1
    assert {f"`{name}`" for each in fields() for name in each.names} <= {*re.findall(r"`\w[\w-]*`", filled(page))}


def test_every_public_name_is_described() -> None:
    page = python.page("deptree_cli")
    assert {*deptree_cli.__all__} - {"__version__"} == {*re.findall(r"^## (\w+)$", page, re.MULTILINE)}
    assert "### sample_without_replacement\n" in page
    assert "scale: str = 'log'" in page


def test_a_framework_that_is_missing_is_named() -> None:
    assert "No module named 'deptree_cli.not_there'" in python.page("deptree_cli.not_there")


def test_links_to_files_outside_lead_to_their_places() -> None:
    pytest.importorskip("mkdocs")
    from docs.hooks.site import relinked

    assert relinked("[a](docs/scores.md#labels)", "README.md") == "[a](scores.md#labels)"
    assert relinked("[a](../docs/speed.md)", "benchmarks/README.md") == "[a](../speed.md)"
    assert relinked("[a](../README.md) [b](#c)", "docs/bitext.md") == "[a](index.md) [b](#c)"
