"""What machine code stands on: a change of any of that makes it stale, a change of anything else does not."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from deptree_cli.kernels import sources

CACHED = (sources.digest_of, sources._imports, sources._bodies, sources._modules, sources._tuples, sources._text)


def forget() -> None:
    for function in CACHED:
        function.cache_clear()


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The sources of all kernels, to be changed."""
    folder = tmp_path / "deptree_cli"
    shutil.copytree(sources.PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(sources, "PACKAGE", folder)
    forget()
    yield folder / "kernels"
    forget()


def digests(folder: Path) -> dict[str, str]:
    forget()
    return {path.relative_to(folder).as_posix(): sources.digest_of(path) for path in folder.rglob("*.py")}


def test_nothing_that_is_imported_is_left_out() -> None:
    """By the syntax tree, of every file."""
    files = {
        path: ast.parse(path.read_text(encoding="utf-8"))
        for folder in sources.PACKAGE.rglob("kernels")
        for path in folder.rglob("*.py")
    }
    modules = sources._modules()
    for path, tree in files.items():
        assert not [node for node in ast.walk(tree) if isinstance(node, ast.Import) and "deptree" in ast.unparse(node)]
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        names = {f"{node.module}.{alias.name}" for node in imports for alias in node.names}
        names |= {str(node.module) for node in imports}
        expected = {modules[name] for name in names & modules.keys() if modules[name].name != "__init__.py"}
        assert expected <= sources.sources_of(path)


@pytest.mark.parametrize(
    ("changed", "stale", "fresh"),
    [
        ("xoshiro.py", {"xoshiro.py", "walks/wilson.py"}, {"text/scanning.py", "numbers/wide.py"}),
        ("numbers/wide.py", {"elimination/sweeps.py", "batches/elimination.py"}, {"text/scanning.py", "xoshiro.py"}),
        ("../second_order/kernels/grammar.py", {"charts/projective_trees.py"}, {"walks/wilson.py"}),
        ("walks/wilson.py", {"walks/wilson.py"}, {"charts/eisner.py"}),
    ],
)
def test_what_stands_on_a_file_changes_with_it(copy: Path, changed: str, stale: set[str], fresh: set[str]) -> None:
    before = digests(copy)
    with (copy / changed).open("a") as file:
        file.write("# something else\n")
    after = digests(copy)
    different = {name for name in before if before[name] != after[name]}
    assert stale <= different
    assert not fresh & different


def test_a_kernel_of_a_wing_is_compiled_anew(copy: Path) -> None:
    """With those that it is part of: a step of a search with the loop that takes it."""
    wing = copy.parent / "hpyp/kernels"
    before = digests(wing)
    with (wing / "search.py").open("a") as file:
        file.write("# something else\n")
    different = {name for name, digest in digests(wing).items() if digest != before[name]}
    assert {"search.py", "beam.py", "word_loop.py", "filter.py"} <= different
    assert not {"seating.py", "oracle.py", "generation.py"} & different


def test_fields_of_named_tuples_concern_every_kernel(copy: Path) -> None:
    """A kernel may be compiled for a tuple that it does not import."""
    before = digests(copy)
    with (copy / "new.py").open("w") as file:
        file.write("class Work(NamedTuple):\n    first: int\n")
    after = digests(copy)
    assert not [name for name in before if before[name] == after[name]]
    with (copy / "new.py").open("a") as file:
        file.write("\n\nSIZE = 3\n")
    assert {name for name, digest in digests(copy).items() if digest != after[name]} == {"new.py"}
