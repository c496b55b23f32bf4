"""The house stands: imports go down a floor, never in a circle and never into a wing; light things stay light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import deptree_cli
from tests.every_command import NAMES
from tests.house import FILES, PACKAGE, PROJECT, imports_of, is_within, tree_of

# What the modules of a floor must not import, by prefix. `cli` stands at the top: the table of commands names them.
FORBIDDEN = {
    "kernels": ["deptree_cli.core", "deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "click"],
    "core": ["deptree_cli.io", "deptree_cli.commands", "deptree_cli.cli", "click"],
    "io": ["deptree_cli.commands", "deptree_cli.cli", "click"],
    "commands": ["deptree_cli.cli.app"],
    "cli": [],
}

# The wings, and the other wings that each may import.
WINGS = {"hpyp": [], "pruning": [], "bitext": ["pruning"], "second_order": ["pruning"], "torch": [], "jax": []}

# The rooms of a wing: each keeps to what the floor of the main house keeps to. Some wings are one room.
ROOMS = {"kernels": "kernels", "model": "core", "files": "io", "options": "cli", "commands": "commands"}
ROOMS |= {"distribution": "core", "scores": "core", "picture": "io"}
LIBRARIES = ("pruning", "torch", "jax")
COMMANDS = ("commands", "hpyp.commands", "bitext.commands")


def on_floor(floor):
    return [module for module in FILES if is_within(module, f"deptree_cli.{floor}")]


def imported(modules, *prefixes):
    """What these modules import that stands under one of these prefixes."""
    return [
        (module, name)
        for module in modules
        for name in imports_of(module)
        if any(is_within(name, prefix) for prefix in prefixes)
    ]


def test_there_are_modules_on_every_floor():
    """Else the tests below would look at nothing."""
    assert all(len(on_floor(floor)) > 2 for floor in (*FORBIDDEN, *WINGS))
    assert {each.split(".")[1] for each in FILES if "." in each} == {*FORBIDDEN, *WINGS, "__main__", "lazy", "version"}
    assert "deptree_cli.core.arc_factored.ArcFactored" in set(imports_of("deptree_cli.core.distribution"))


def test_imports_go_down():
    rooms = {f"{wing}.{room}": FORBIDDEN[floor] for wing in WINGS for room, floor in ROOMS.items()}
    floors = FORBIDDEN | rooms | dict.fromkeys(LIBRARIES, FORBIDDEN["core"])
    assert not [each for floor, prefixes in floors.items() for each in imported(on_floor(floor), *prefixes)]


def test_wings_are_imported_only_where_they_may_be():
    """The main house imports none: the table of commands names those of the wings as strings."""
    for room in (*FORBIDDEN, *WINGS):
        others = [f"deptree_cli.{wing}" for wing in WINGS if wing not in (room, *WINGS.get(room, ()))]
        assert not imported(on_floor(room), *others)


@pytest.mark.parametrize(
    ("name", "only"),
    [
        ("numba.core", {"deptree_cli.kernels.machine_code"}),  # each of numba's releases may move what is there
        *((name, set(on_floor(wing))) for wing in ("torch", "jax") for name in (wing, f"deptree_cli.{wing}")),
        ("random", set()),
    ],
)
def test_who_imports_what(name, only):
    assert {module for module, _ in imported(FILES, name)} <= only


def test_no_global_random_numbers():
    """No `np.random.seed`, no `np.random.rand`: randomness comes from a Generator that was handed in."""
    used = {
        (module, ast.unparse(node))
        for module, path in FILES.items()
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
    }
    seeds = {name for _, name in imported(FILES, "numpy.random")}  # what a seed of our own is to NumPy: an interface
    assert seeds == {"numpy.random.bit_generator.ISpawnableSeedSequence"}
    harmless = re.compile(r"(np|numpy)\.random(\.(Generator|PCG64|SFC64|SeedSequence|BitGenerator)\b|$)")
    assert not [each for each in used if re.match(r"(np|numpy)\.random\b", each[1]) and not harmless.match(each[1])]


@pytest.mark.parametrize("floor", COMMANDS)
def test_commands_do_not_import_each_other(floor):
    """One file per subcommand; what they share stands in `cli`, or in the options of a wing."""
    assert not imported(on_floor(floor), *(f"deptree_cli.{each}" for each in COMMANDS))


@cache
def import_graph():
    """Each module and the modules of ours that it names in imports; a name from a package is the package's."""

    def ours(name):
        return name if name in FILES else parent if (parent := name.rpartition(".")[0]) in FILES else None

    return {module: {found for name in imports_of(module) if (found := ours(name))} - {module} for module in FILES}


def folder_of(module):
    """The folder of a module, such as `io.scores` or `commands`; the module itself where that is a whole floor.

    The entries of a folder's register are imported by its `__init__`, so a folder is one node.
    """
    folders = FILES[module].relative_to(PACKAGE).parent.parts
    is_node = len(folders) > 1 or folders in {("cli",), ("commands",)}
    return ".".join(("deptree_cli", *folders[:2])) if is_node else module


def folder_graph():
    graph = {}
    for module, targets in import_graph().items():
        folder = folder_of(module)
        graph.setdefault(folder, set()).update(other for target in targets if (other := folder_of(target)) != folder)
    return graph


def circles(graph):
    """The strongly connected components of more than one node."""
    above = {}
    for start in graph:
        above[start], waiting = set(), list(graph[start])
        while waiting:
            node = waiting.pop()
            if node not in above[start]:
                above[start].add(node)
                waiting += graph[node]
    return sorted({tuple(sorted(b for b in above[a] if a in above[b])) for a in graph if a in above[a]})


def test_nothing_imports_itself_by_way_of_others():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a", "e"}, "e": set()}) == [("a", "b", "c")]
    assert "deptree_cli.core.lawler" in import_graph()["deptree_cli.core.spaces"]
    assert circles(import_graph()) == []
    assert "deptree_cli.core.spaces" in folder_graph()["deptree_cli.io.scores"]
    assert circles(folder_graph()) == []


RUNNER = "from click.testing import CliRunner; from deptree_cli.cli.app import deptree; run = CliRunner().invoke"
COMMAND_MODULES = ", ".join(module for floor in COMMANDS for module in on_floor(floor))


@pytest.mark.parametrize(
    ("statement", "too_heavy"),
    [
        ("import deptree_cli", "numba scipy numpy click"),
        ("import deptree_cli.cli.app", "numba scipy numpy"),
        ("import deptree_cli.hpyp", "numba scipy click"),
        ("import deptree_cli.core.arc_factored, deptree_cli.core.spaces", "numba scipy click"),
        ("import deptree_cli.core.samplers, deptree_cli.core.swor", "numba scipy click"),
        ("import deptree_cli.core.expectations, deptree_cli.core.estimate", "numba scipy click"),
        ("from deptree_cli import TreeDistribution as T; T([[0, 0], [0, 0]])", "numba scipy click"),
        ("import deptree_cli.core.cells, deptree_cli.core.audit, deptree_cli.core.corpus", "click"),
        (f"{RUNNER}; run(deptree, ['--help'])", "numba scipy numpy conllu"),
        pytest.param(f"{RUNNER}; [run(deptree, [*each.split(), '-h']) for each in {NAMES}]", "numba jax", id="helps"),
        pytest.param(f"import {COMMAND_MODULES}", "numba matplotlib torch jax", id="commands"),
    ],
)
def test_light_things_stay_light(statement, too_heavy):
    program = f"{statement}\nimport sys\nprint(*{set(too_heavy.split())} & sys.modules.keys())"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []


@pytest.mark.parametrize(("framework", "name"), [("torch", "PyTorch"), ("jax", "JAX")])
def test_without_an_extra_the_error_is_one_line(framework, name):
    program = f"import sys; sys.modules[{framework!r}] = None; import deptree_cli.{framework}"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    message = f"ImportError: deptree_cli.{framework} needs {name}: pip install 'deptree-cli[{framework}]'"
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (1, message)
    assert "another exception" not in ran.stderr


# The most modules and lines that a run of each command loads, kernels apart.
MOST = {
    "partition sample_data/scores.npz --from log": (51, 8_430),
    "sample sample_data/scores.npz --from log --seed 1": (54, 8_880),
    "check sample_data/sentences.conllu": (46, 8_380),
    "eval sample_data/gold.conllu sample_data/gold.conllu": (43, 8_600),
}

LOADED = """
import sys
from contextlib import redirect_stdout, suppress
from io import StringIO, TextIOWrapper, BytesIO

from deptree_cli.cli.app import main

with redirect_stdout(TextIOWrapper(BytesIO())), suppress(SystemExit):
    main()
assert not {"torch", "jax"} & sys.modules.keys()
files = [module.__file__ for name, module in list(sys.modules.items()) if name.startswith("deptree_cli")]
print(*(file for file in files if file and "kernels" not in file), sep="\\n")
"""


@pytest.mark.slow("process")
@pytest.mark.parametrize("line", MOST)
def test_a_command_loads_few_modules_and_lines(line):
    command = [sys.executable, "-c", LOADED, *line.split()]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=PROJECT)
    files = ran.stdout.split()
    modules, lines = MOST[line]
    assert 20 < len(files) <= modules, ran.stderr
    assert sum(len(Path(file).read_bytes().splitlines()) for file in files) <= lines


# Modules that import their names when these are used (`deptree_cli/lazy.py`) list them all the same.
LAZY = [name for name, path in FILES.items() if re.search("^__getattr__, __dir__ = ", path.read_text("utf-8"), re.M)]
EXTRAS = [pytest.param(f"deptree_cli.{name}", marks=getattr(pytest.mark, name)) for name in ("jax", "torch")]


@pytest.mark.parametrize("name", [*LAZY, *EXTRAS])
def test_public_names_are_listed(name):
    assert "deptree_cli" in LAZY
    pytest.importorskip({"deptree_cli.jax": "jax", "deptree_cli.torch": "torch"}.get(name, "numpy"))
    module = import_module(name)
    assert set(module.__all__) <= set(dir(module))
    assert all(hasattr(module, each) for each in dir(module))
    if name in LAZY:
        assert dir(module) == sorted(module.__all__)
    if name == "deptree_cli":
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = deptree_cli.nothing
