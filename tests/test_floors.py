"""The house stands: imports go down a floor and never in a circle, files stay short, light things stay light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

import deptree_cli

PACKAGE = Path(deptree_cli.__file__).parent
PROJECT = PACKAGE.parent


def name_of(path: Path) -> str:
    """The module in a file; a package by its own name."""
    parts = path.relative_to(PROJECT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted(PACKAGE.rglob("*.py"))}

# What the modules of a floor must not import, by prefix. `cli` stands at the top: the table of commands names them.
FORBIDDEN = {
    "kernels": ["deptree_cli.core", "deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "click", "rich"],
    "core": ["deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "click", "rich"],
    "io": ["deptree_cli.commands", "deptree_cli.cli", "click", "rich"],
    "torch": ["deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "deptree_cli.jax", "click", "rich", "jax"],
    "jax": ["deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "deptree_cli.torch", "click", "rich", "torch"],
    "commands": ["deptree_cli.cli.app"],
    "cli": [],
}

LONGEST_FILE = 300
LONGEST_FUNCTION = 40


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def imports_of(module: str) -> Iterator[str]:
    """Everything that is imported anywhere in a module, also inside functions and for types only."""
    for node in ast.walk(tree_of(FILES[module])):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: imports are absolute"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def is_within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def on_floor(floor: str) -> list[str]:
    return [module for module in FILES if is_within(module, f"deptree_cli.{floor}")]


def test_there_are_modules_on_every_floor() -> None:
    """Else the tests below would look at nothing."""
    assert all(len(on_floor(floor)) > 3 for floor in FORBIDDEN)
    assert {module.split(".")[1] for module in FILES if "." in module} == {*FORBIDDEN, "__main__", "hpyp", "version"}
    assert "deptree_cli.core.arc_factored.ArcFactored" in set(imports_of("deptree_cli.core.distribution"))


def test_imports_go_down() -> None:
    assert not [
        (module, name)
        for floor, prefixes in FORBIDDEN.items()
        for module in on_floor(floor)
        for name in imports_of(module)
        if any(is_within(name, prefix) for prefix in prefixes)
    ]


@pytest.mark.parametrize("floor", ["torch", "jax"])
def test_only_its_own_wing_imports_a_framework(floor: str) -> None:
    """Neither PyTorch nor JAX comes with the package."""
    others = [module for module in FILES if module not in on_floor(floor)]
    assert not [
        (module, name)
        for module in others
        for name in imports_of(module)
        if is_within(name, floor) or is_within(name, f"deptree_cli.{floor}")
    ]


def test_commands_do_not_import_each_other() -> None:
    """One file per subcommand; what they share stands in `cli`."""
    assert not [
        (module, name)
        for module in on_floor("commands")
        for name in imports_of(module)
        if is_within(name, "deptree_cli.commands")
    ]


Graph = Mapping[str, set[str]]


@cache
def import_graph() -> Graph:
    """Each module and the modules of ours that it names in imports; a name from a package is the package's."""

    def ours(name: str) -> str | None:
        return name if name in FILES else parent if (parent := name.rpartition(".")[0]) in FILES else None

    return {module: {found for name in imports_of(module) if (found := ours(name))} - {module} for module in FILES}


def folder_of(module: str) -> str:
    """The folder of a module, such as `core.spaces` or `commands`; the module itself where that is a whole floor.

    The entries of a folder's register are imported by its `__init__`, so a folder is one node.
    """
    folders = FILES[module].relative_to(PACKAGE).parent.parts
    is_node = len(folders) > 1 or folders in {("cli",), ("commands",)}
    return ".".join(("deptree_cli", *folders[:2])) if is_node else module


def folder_graph() -> Graph:
    """The same, folders taken for one node each."""
    graph: dict[str, set[str]] = {}
    for module, targets in import_graph().items():
        folder = folder_of(module)
        graph.setdefault(folder, set()).update(other for target in targets if (other := folder_of(target)) != folder)
    return graph


def circles(graph: Graph) -> list[tuple[str, ...]]:
    """The strongly connected components of more than one node."""
    above: dict[str, set[str]] = {}
    for start in graph:
        above[start], waiting = set(), list(graph[start])
        while waiting:
            node = waiting.pop()
            if node not in above[start]:
                above[start].add(node)
                waiting += graph[node]
    return sorted({tuple(sorted(b for b in above[a] if a in above[b])) for a in graph if a in above[a]})


def test_circles_are_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set()}) == [("a", "b", "c")]
    assert circles({"a": {"b", "c"}, "b": {"c"}, "c": set()}) == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    assert "deptree_cli.core.errors" in import_graph()["deptree_cli.core.scores"]
    assert "deptree_cli.core.spaces.elimination" in import_graph()["deptree_cli.core.spaces.nonprojective"]
    assert circles(import_graph()) == []


def test_no_folder_imports_itself_by_way_of_others() -> None:
    graph = folder_graph()
    assert {"deptree_cli.core.spaces", "deptree_cli.io.scores", "deptree_cli.cli", "deptree_cli.core.errors"} <= {
        *graph
    }
    assert "deptree_cli.core.spaces" in graph["deptree_cli.core.swor"]
    assert circles(graph) == []


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
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not path.is_relative_to(PACKAGE / "kernels")
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


def test_no_global_random_numbers() -> None:
    """Randomness comes from a Generator that was handed in: no np.random.seed, no np.random.rand, no `random`."""
    used = {
        (module, ast.unparse(node))
        for module, path in FILES.items()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
    }
    harmless = re.compile(r"(np|numpy)\.random\.(Generator|PCG64|SeedSequence|BitGenerator)\b")
    assert not [
        (module, name) for module, name in used if re.match(r"(np|numpy)\.random\.", name) and not harmless.match(name)
    ]
    imported = [(module, name) for module in FILES for name in imports_of(module)]
    assert not [each for each in imported if is_within(each[1], "random") or is_within(each[1], "numpy.random")]


def loaded_after(statement: str, candidates: tuple[str, ...]) -> list[str]:
    """Which of these a fresh interpreter has loaded after a statement."""
    program = f"{statement}\nimport sys\nprint(*[name for name in {candidates!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return result.stdout.split()


@pytest.mark.parametrize(
    ("statement", "too_heavy"),
    [
        ("import deptree_cli", ("numba", "scipy", "numpy", "click", "rich")),
        ("import deptree_cli.cli.app", ("numba", "scipy", "numpy")),
        ("import deptree_cli.hpyp", ("numba", "scipy", "click", "rich")),
        ("import deptree_cli.core.arc_factored, deptree_cli.core.spaces", ("numba", "scipy", "click", "rich")),
        ("import deptree_cli.core.samplers, deptree_cli.core.swor", ("numba", "scipy", "click", "rich")),
        ("import deptree_cli.core.expectations, deptree_cli.core.estimate", ("numba", "scipy", "click", "rich")),
        ("from deptree_cli import TreeDistribution as T; T([[0, 0], [0, 0]])", ("numba", "scipy", "click", "rich")),
        (
            "import deptree_cli.core.spaces.elimination, deptree_cli.core.audit, deptree_cli.core.corpus",
            ("click", "rich"),
        ),
    ],
)
def test_light_things_stay_light(statement: str, too_heavy: tuple[str, ...]) -> None:
    assert loaded_after(statement, too_heavy) == []


def test_commands_load_kernels_when_there_is_work() -> None:
    """`deptree COMMAND --help` must not wait for numba."""
    assert loaded_after(f"import {', '.join(on_floor('commands'))}", ("numba", "matplotlib", "torch", "jax")) == []


def test_the_public_api_is_there() -> None:
    for name in deptree_cli.__all__:
        assert getattr(deptree_cli, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = deptree_cli.nothing
