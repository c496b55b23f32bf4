"""The house stands: imports go down a floor, what can be used is described, and light things stay light."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import deptree_cli

PACKAGE = Path(deptree_cli.__file__).parent
MODULES = sorted(".".join(("deptree_cli", *path.relative_to(PACKAGE).parts))[:-3] for path in PACKAGE.rglob("*.py"))

# What the modules of a floor must not import, by prefix.
FORBIDDEN = {
    "kernels": ["deptree_cli.core", "deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "click", "rich"],
    "core": ["deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "click", "rich"],
    "io": ["deptree_cli.commands", "deptree_cli.cli", "click"],
    "commands": ["deptree_cli.cli"],
}

# What commands share; any other module of that floor is a command.
SHARED_BY_COMMANDS = ("inputs", "options", "pipeline", "writing")


def tree_of(module: str) -> ast.Module:
    return ast.parse(PACKAGE.joinpath(*module.split(".")[1:]).with_suffix(".py").read_text(encoding="utf-8"))


def imports_of(module: str) -> Iterator[str]:
    """Every module that is imported anywhere in a module, also inside functions and for types only."""
    package = module.split(".")[:-1]
    for node in ast.walk(tree_of(module)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts = (node.module or "").split(".") if node.module else []
            base = ".".join([*package[: len(package) - node.level + 1], *parts] if node.level else parts)
            yield base
            yield from (f"{base}.{name.name}" for name in node.names)


def is_within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def on_floor(floor: str) -> list[str]:
    return [module for module in MODULES if is_within(module, f"deptree_cli.{floor}")]


def test_there_are_modules_on_every_floor() -> None:
    """Else the tests below would look at nothing."""
    assert all(len(on_floor(floor)) > 3 for floor in FORBIDDEN)
    assert "deptree_cli.core.errors" in set(imports_of("deptree_cli.core.sentence"))


@pytest.mark.parametrize("module", [module for floor in FORBIDDEN for module in on_floor(floor)])
def test_imports_go_down(module: str) -> None:
    floor = module.split(".")[1]
    up = [name for name in imports_of(module) for prefix in FORBIDDEN[floor] if is_within(name, prefix)]
    assert not up


@pytest.mark.parametrize("module", on_floor("commands"))
def test_commands_do_not_import_each_other(module: str) -> None:
    allowed = {"deptree_cli.commands", *(f"deptree_cli.commands.{name}" for name in SHARED_BY_COMMANDS)}
    others = {".".join(name.split(".")[:3]) for name in imports_of(module) if is_within(name, "deptree_cli.commands")}
    assert others <= allowed


def undescribed(node: ast.Module | ast.ClassDef, name: str) -> Iterator[str]:
    """Public functions, methods and classes without a docstring; what is nested in functions is not public."""
    if not ast.get_docstring(node):
        yield name
    for child in node.body:
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not child.name.startswith("_"):
            if isinstance(child, ast.ClassDef):
                yield from undescribed(child, f"{name}.{child.name}")
            elif not ast.get_docstring(child):
                yield f"{name}.{child.name}"


@pytest.mark.parametrize("module", MODULES)
def test_what_is_public_is_described(module: str) -> None:
    assert not list(undescribed(tree_of(module), module))


@pytest.mark.parametrize("module", MODULES)
def test_no_global_random_numbers(module: str) -> None:
    """Randomness comes from a Generator that was handed in: no np.random.seed, no np.random.rand, no `random`."""
    used = {ast.unparse(node) for node in ast.walk(tree_of(module)) if isinstance(node, ast.Attribute)}
    functions = {name.split(".")[2] for name in used if name.startswith(("np.random.", "numpy.random."))}
    assert functions <= {"Generator", "PCG64", "SeedSequence", "BitGenerator"}
    assert "random" not in set(imports_of(module))


def loaded_after(statement: str, candidates: tuple[str, ...]) -> list[str]:
    """Which of these a fresh interpreter has loaded after a statement."""
    program = f"{statement}\nimport sys\nprint(*[name for name in {candidates!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return result.stdout.split()


@pytest.mark.parametrize(
    ("statement", "too_heavy"),
    [
        ("import deptree_cli", ("numba", "scipy", "numpy", "click", "rich")),
        ("import deptree_cli.cli", ("numba", "scipy", "numpy")),
        ("import deptree_cli.core.sentence", ("numba", "scipy", "click", "rich")),
        ("import deptree_cli.core.samplers, deptree_cli.core.swor", ("numba", "scipy", "click", "rich")),
        ("import deptree_cli.core.elimination, deptree_cli.core.audit, deptree_cli.core.corpus", ("click", "rich")),
    ],
)
def test_light_things_stay_light(statement: str, too_heavy: tuple[str, ...]) -> None:
    assert loaded_after(statement, too_heavy) == []


def test_the_public_api_is_there() -> None:
    for name in deptree_cli.__all__:
        assert getattr(deptree_cli, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = deptree_cli.nothing
