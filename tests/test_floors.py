"""The house stands: imports go down a floor, never in a circle and never into a wing; light things stay light."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from functools import cache

import pytest

import deptree_cli
from tests.house import FILES, PACKAGE, imports_of, is_within

# What the modules of a floor must not import, by prefix. `cli` stands at the top: the table of commands names them.
FORBIDDEN = {
    "kernels": ["deptree_cli.core", "deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "click"],
    "core": ["deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "click"],
    "io": ["deptree_cli.commands", "deptree_cli.cli", "click"],
    "commands": ["deptree_cli.cli.app"],
    "cli": [],
}

# The wings, and the other wings that each may import.
WINGS: dict[str, list[str]] = {
    "hpyp": [],
    "pruning": [],
    "bitext": ["pruning"],
    "second_order": ["pruning"],
    "torch": [],
    "jax": [],
}

# The rooms of a wing: each keeps to what the floor of the main house keeps to.
ROOMS = {"kernels": "kernels", "model": "core", "files": "io", "options": "cli", "commands": "commands"}
ROOMS |= {"distribution": "core", "scores": "core", "picture": "io"}

# Wings of one room.
LIBRARIES = ("pruning", "torch", "jax")


def on_floor(floor: str) -> list[str]:
    return [module for module in FILES if is_within(module, f"deptree_cli.{floor}")]


def imported_from(floor: str, prefixes: Iterable[str]) -> list[tuple[str, str]]:
    """What the modules of a floor or a room import that stands under one of these prefixes."""
    return [
        (module, name)
        for module in on_floor(floor)
        for name in imports_of(module)
        if any(is_within(name, prefix) for prefix in prefixes)
    ]


def test_there_are_modules_on_every_floor() -> None:
    """Else the tests below would look at nothing."""
    assert all(len(on_floor(floor)) > 2 for floor in (*FORBIDDEN, *WINGS))
    assert {each.split(".")[1] for each in FILES if "." in each} == {*FORBIDDEN, *WINGS, "__main__", "lazy", "version"}
    assert "deptree_cli.core.arc_factored.ArcFactored" in set(imports_of("deptree_cli.core.distribution"))


def test_imports_go_down() -> None:
    rooms = {f"{wing}.{room}": FORBIDDEN[floor] for wing in WINGS for room, floor in ROOMS.items()}
    libraries = dict.fromkeys(LIBRARIES, FORBIDDEN["core"])
    floors = FORBIDDEN | rooms | libraries
    assert not [each for floor, prefixes in floors.items() for each in imported_from(floor, prefixes)]


def test_a_wing_imports_the_main_house_and_the_wings_that_it_may() -> None:
    for wing, others in WINGS.items():
        forbidden = [f"deptree_cli.{each}" for each in WINGS if each not in (wing, *others)]
        assert not imported_from(wing, forbidden)


def test_the_main_house_imports_no_wing() -> None:
    """The table of commands names those of the wings as strings."""
    wings = [f"deptree_cli.{wing}" for wing in WINGS]
    assert not [each for floor in FORBIDDEN for each in imported_from(floor, wings)]


def test_names_of_numbas_inner_life_are_imported_in_one_module() -> None:
    """Each of numba's releases may move them."""
    inside = {each for each in FILES for name in imports_of(each) if is_within(name, "numba.core")}
    assert inside == {"deptree_cli.kernels.machine_code"}


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


@pytest.mark.parametrize("floor", ["commands", "hpyp.commands", "bitext.commands"])
def test_commands_do_not_import_each_other(floor: str) -> None:
    """One file per subcommand; what they share stands in `cli`, or in the options of a wing."""
    assert not imported_from(
        floor, [f"deptree_cli.{each}" for each in ("commands", "hpyp.commands", "bitext.commands")]
    )


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
    assert "deptree_cli.core.lawler" in import_graph()["deptree_cli.core.spaces"]
    assert circles(import_graph()) == []


def test_no_folder_imports_itself_by_way_of_others() -> None:
    graph = folder_graph()
    assert {"deptree_cli.core.walks", "deptree_cli.io.scores", "deptree_cli.cli", "deptree_cli.core.errors"} <= {*graph}
    assert "deptree_cli.core.spaces" in graph["deptree_cli.core.walks"]
    assert circles(graph) == []


def loaded_after(statement: str, candidates: tuple[str, ...]) -> list[str]:
    """Which of these a fresh interpreter has loaded after a statement."""
    program = f"{statement}\nimport sys\nprint(*[name for name in {candidates!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return result.stdout.split()


@pytest.mark.parametrize(
    ("statement", "too_heavy"),
    [
        ("import deptree_cli", ("numba", "scipy", "numpy", "click")),
        ("import deptree_cli.cli.app", ("numba", "scipy", "numpy")),
        ("import deptree_cli.hpyp", ("numba", "scipy", "click")),
        ("import deptree_cli.core.arc_factored, deptree_cli.core.spaces", ("numba", "scipy", "click")),
        ("import deptree_cli.core.samplers, deptree_cli.core.swor", ("numba", "scipy", "click")),
        ("import deptree_cli.core.expectations, deptree_cli.core.estimate", ("numba", "scipy", "click")),
        ("from deptree_cli import TreeDistribution as T; T([[0, 0], [0, 0]])", ("numba", "scipy", "click")),
        ("import deptree_cli.core.cells, deptree_cli.core.audit, deptree_cli.core.corpus", ("click")),
    ],
)
def test_light_things_stay_light(statement: str, too_heavy: tuple[str, ...]) -> None:
    assert loaded_after(statement, too_heavy) == []


def test_commands_load_kernels_when_there_is_work() -> None:
    """`deptree COMMAND --help` must not wait for numba."""
    modules = [module for floor in ("commands", "hpyp.commands", "bitext.commands") for module in on_floor(floor)]
    assert loaded_after(f"import {', '.join(modules)}", ("numba", "matplotlib", "torch", "jax")) == []


def test_the_public_api_is_there() -> None:
    for name in deptree_cli.__all__:
        assert getattr(deptree_cli, name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = deptree_cli.nothing
