"""Files and functions stay short, what is public is described, and randomness is handed in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.house import FILES, PROJECT, imports_of, is_within, tree_of

LONGEST_FILE = 300
LONGEST_FUNCTION = 40


FOLDERS = ("deptree_cli", "tests", "benchmarks", "docs")
PYTHON = [path for folder in FOLDERS for path in sorted((PROJECT / folder).rglob("*.py"))]


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in PYTHON}
    assert not {path: length for path, length in lengths.items() if length > LONGEST_FILE}


def test_functions_are_short() -> None:
    """But for kernels: a scalar loop is compiled as one."""
    functions = [
        (path, node)
        for path in PYTHON
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and "kernels" not in path.relative_to(PROJECT).parts
    ]
    assert not [
        (path, node.name) for path, node in functions if (node.end_lineno or 0) - node.lineno >= LONGEST_FUNCTION
    ]


def undescribed(node: ast.Module | ast.ClassDef, name: str) -> Iterator[str]:
    """Public functions, methods and classes without a docstring; what is nested in functions is not public.

    A method may leave its description to the class that it comes from, as `help()` does.
    """
    above = described_above(node)
    if not ast.get_docstring(node):
        yield name
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            if isinstance(child, ast.ClassDef):
                yield from undescribed(child, f"{name}.{child.name}")
            elif not ast.get_docstring(child) and not is_overload(child) and child.name not in above:
                yield f"{name}.{child.name}"


@cache
def classes() -> list[ast.ClassDef]:
    """The classes of the package."""
    return [node for path in FILES.values() for node in ast.walk(tree_of(path)) if isinstance(node, ast.ClassDef)]


def described_above(node: ast.AST) -> set[str]:
    """The methods with docstrings of the classes that a class is derived from, by their names, directly or not."""
    names, found = bases_of(node), set[str]()
    for name in names:
        above = [each for each in classes() if each.name == name]
        names += [base for each in above for base in bases_of(each) if base not in names]
        functions = [each for base in above for each in base.body if isinstance(each, ast.FunctionDef)]
        found |= {each.name for each in functions if ast.get_docstring(each)}
    return found


def bases_of(node: ast.AST) -> list[str]:
    """The names of a class's bases, without modules before and types behind."""
    return [ast.unparse(base).partition("[")[0].rpartition(".")[2] for base in getattr(node, "bases", ())]


def is_overload(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """A signature for type checkers: its implementation has the docstring."""
    return "overload" in map(ast.unparse, function.decorator_list)


def test_what_is_public_is_described() -> None:
    assert not [name for module, path in FILES.items() for name in undescribed(tree_of(path), module)]


# What a seed of our own is to NumPy: an interface.
SEEDS = "numpy.random.bit_generator.ISpawnableSeedSequence"


def test_no_global_random_numbers() -> None:
    """Randomness comes from a Generator that was handed in: no np.random.seed, no np.random.rand, no `random`."""
    used = {
        (module, ast.unparse(node))
        for module, path in FILES.items()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
    }
    harmless = re.compile(r"(np|numpy)\.random\.(Generator|PCG64|SFC64|SeedSequence|BitGenerator)\b")
    assert not [
        (module, name) for module, name in used if re.match(r"(np|numpy)\.random\.", name) and not harmless.match(name)
    ]
    imported = [(module, name) for module in FILES for name in imports_of(module)]
    assert not [
        each
        for each in imported
        if is_within(each[1], "random") or (is_within(each[1], "numpy.random") and each[1] != SEEDS)
    ]
