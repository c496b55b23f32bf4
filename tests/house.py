"""The modules of the package, as the tests of the house read them: their syntax trees and imports."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import deptree_cli

PACKAGE = Path(deptree_cli.__file__).parent
PROJECT = PACKAGE.parent


def name_of(path):
    """The module in a file; a package by its own name."""
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}


@cache
def tree_of(path):
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(module):
    """Everything that is imported anywhere in a module, also inside functions and for types only."""
    for node in ast.walk(tree_of(FILES[module])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_within(name, prefix):
    return name == prefix or name.startswith(prefix + ".")
