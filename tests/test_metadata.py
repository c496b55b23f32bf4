"""What the project says of itself in several files agrees."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from deptree_cli.version import __version__

ROOT = Path(__file__).resolve().parents[1]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
CODEMETA = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
LICENSE = (ROOT / "LICENSE").read_text(encoding="utf-8")


def cited(field):
    """A field of CITATION.cff that stands on one line."""
    (value,) = re.findall(rf"^(?:  - )?{field}: (.*)$", CITATION, re.MULTILINE)
    return value


def listed(recipe, section):
    """What a section of the recipe requires, without spaces."""
    (lines,) = re.findall(rf"^  {section}:\n((?:    - .*\n)+)", recipe, re.MULTILINE)
    return {line.removeprefix("    - ").replace(" ", "") for line in lines.splitlines()}


def test_versions_agree():
    assert cited("version") == CODEMETA["version"] == __version__
    assert f"## [{__version__}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_licences_and_authors_agree():
    assert LICENSE.startswith(f"{PROJECT['license']} License")
    assert cited("license") == PROJECT["license"]
    assert CODEMETA["license"].endswith(f"/{PROJECT['license']}")
    (author,) = PROJECT["authors"]
    assert cited("name") == CODEMETA["author"][0]["name"] == author["name"]
    assert author["name"] in LICENSE


def test_descriptions_agree():
    assert CODEMETA["description"] == PROJECT["description"]
    assert CODEMETA["keywords"] == PROJECT["keywords"]
    assert CODEMETA["runtimePlatform"] == f"Python {PROJECT['requires-python']}"


def test_the_scripts_are_one_program():
    """`uvx deptree-cli` and `pipx run deptree-cli` look for a script of the distribution's name."""
    assert PROJECT["scripts"][PROJECT["name"]] == PROJECT["scripts"]["deptree"]


def test_the_oldest_versions_are_those_of_extras_that_exist():
    (extras,) = re.findall(r"^EXTRAS := (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*extras.split(",")} <= PROJECT["optional-dependencies"].keys()


def test_numba_stays_below_a_version_that_was_not_tested():
    (numba,) = (each for each in PROJECT["dependencies"] if each.startswith("numba"))
    assert re.fullmatch(r"numba>=\d+\.\d+,<\d+\.\d+", numba)


def test_the_conda_recipe_needs_what_the_wheel_needs():
    recipe = (ROOT / "conda/meta.yaml").read_text(encoding="utf-8")
    python = f"python{PROJECT['requires-python']}"
    assert listed(recipe, "run") == {python, *PROJECT["dependencies"]}
    assert listed(recipe, "host") == {python, "pip", *PYPROJECT["build-system"]["requires"]}
    assert f'version: "{__version__}"' in recipe
    assert {f"{name} = {target}" for name, target in PROJECT["scripts"].items()} == set(
        re.findall(r"- (.* = .*:main)", recipe)
    )
