"""Modules that import their names when first used list them all the same."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import pytest

import deptree_cli

ROOT = Path(deptree_cli.__file__).parent


def lazy_modules() -> list[str]:
    """The modules that import their names when these are used (`deptree_cli/lazy.py`)."""
    found = []
    for path in sorted(ROOT.rglob("*.py")):
        if re.search("^__getattr__, __dir__ = ", path.read_text(encoding="utf-8"), re.MULTILINE):
            parts = path.relative_to(ROOT.parent).with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def test_there_are_some() -> None:
    assert "deptree_cli" in lazy_modules()


EXTRAS = [pytest.param(f"deptree_cli.{name}", marks=getattr(pytest.mark, name)) for name in ("jax", "torch")]


@pytest.mark.parametrize("name", [*lazy_modules(), *EXTRAS])
def test_public_names_are_listed(name: str) -> None:
    pytest.importorskip({"deptree_cli.jax": "jax", "deptree_cli.torch": "torch"}.get(name, "numpy"))
    module = import_module(name)
    assert set(module.__all__) <= set(dir(module))
    assert all(hasattr(module, each) for each in dir(module))


@pytest.mark.parametrize("name", lazy_modules())
def test_nothing_else_is_listed_of_lazy_ones(name: str) -> None:
    pytest.importorskip({"deptree_cli.jax": "jax"}.get(name, "numpy"))
    module = import_module(name)
    assert dir(module) == sorted(module.__all__)
