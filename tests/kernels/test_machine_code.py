"""What machine code is made of and where it goes: flags, kernels within kernels, sources, folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numba
import numpy as np
import pytest

from deptree_cli.kernels import kept
from deptree_cli.kernels.flags import kernel
from tests.house import FILES

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")

# A host program with kernels of its own, defined before ours are imported and after.
HOST = """
from numba import njit

@njit(cache=True)
def before(x):
    return x + 1

import numpy as np
from deptree_cli.kernels.xoshiro import uniform

@njit(cache=True)
def after(x):
    return x + 2

assert before(1) == 2
assert after(1) == 3
assert 0 <= uniform(np.array([1, 2, 3, 4], dtype=np.uint64)) < 1
"""


def run_host(folder, **environment):
    """Run the host program as a module file, for functions of a string are not cached."""
    (folder / "host.py").write_text(HOST)
    own = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    subprocess.run([sys.executable, "-c", "import host"], cwd=folder, env=own | environment, check=True, timeout=100)


def functions_in(folder):
    """Those whose machine code is anywhere below a folder."""
    return {path.name.split("-")[0] for path in folder.rglob("*.nbc")}


@pytest.mark.slow("compile")
@compiled_only
def test_a_host_program_keeps_its_own_cache(tmp_path):
    """And the folder of numba goes before ours."""
    run_host(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert functions_in(tmp_path / "__pycache__") == {"host.before", "host.after"}
    (ours,) = (tmp_path / "cache" / "deptree").iterdir()
    assert functions_in(tmp_path / "cache") == functions_in(ours) == {"xoshiro.uniform"}  # not what it calls
    assert ours.name == kept.cache_folder().name
    shutil.rmtree(tmp_path / "cache")
    run_host(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"), NUMBA_CACHE_DIR=str(tmp_path / "numba"))
    assert functions_in(tmp_path / "numba") == {"host.before", "host.after", "xoshiro.uniform"}
    assert functions_in(tmp_path / "numba" / "deptree") == {"xoshiro.uniform"}
    assert not (tmp_path / "cache").exists()


@kernel
def unchecked(x, y, bits):
    return x / y, bits + bits


def test_arithmetic_is_silent():
    """Compiled or not: divisions by zero give inf, integers wrap around, and nobody is warned."""
    with np.errstate(all="raise"):
        assert unchecked(np.float64(1.0), np.float64(0.0), np.uint64(2**63)) == (np.inf, 0)


@compiled_only
def test_kernels_let_other_threads_run_and_keep_to_ieee_754():
    assert unchecked.targetoptions["nogil"]
    assert "fastmath" not in unchecked.targetoptions


# Kernels within kernels: compiled once for what differs only in being written as a literal, and not kept.


@kernel
def put_at(items, place, x):
    items[place] = x


@kernel
def put_three(items, place):
    put_at(items, 0, 5)
    put_at(items, 1, place)
    put_at(items, place, 7)


@compiled_only
def test_a_literal_is_a_number_like_any_other():
    """And what is called within another kernel can be called from Python."""
    items = np.zeros(3, dtype=np.int64)
    put_three(items, 2)
    assert items.tolist() == [5, 2, 7]
    assert len(put_at._twin.overloads) == 1
    put_at(items, 0, 9)
    assert items.tolist() == [9, 2, 7]


@kernel(allocates=True)
def pair():
    return np.zeros(2)


@kernel
def borrowed_pair(items):
    """Hand on what another one made, whose references it would not count."""
    return pair()


@kernel
def sum_of_pair(items):
    """Let go of what another one made, which nobody would free."""
    return pair()[0] + items[0]


@kernel
def last_row(table):
    row = table[table.shape[0] - 1]
    return row[0]


@compiled_only
@pytest.mark.parametrize("careless", [borrowed_pair, sum_of_pair])
def test_arrays_that_nobody_counts(careless):
    with pytest.raises(TypeError, match="pair returns arrays: say that it allocates"):
        careless(np.zeros(1))


@compiled_only
def test_a_view_is_not_counted():
    assert last_row(np.ones((3, 2))) == 1.0
    assert "NRT_incref" not in next(iter(last_row.inspect_llvm().values()))


def test_all_kernels_are_among_the_sources():
    """Whatever is made by the decorator."""
    decorated = {path for path in FILES.values() if "\n@kernel" in path.read_text(encoding="utf-8")}
    assert decorated <= set(kept.kernel_files())
    rooms = {path.relative_to(kept.PACKAGE).parts[0] for path in decorated}
    assert rooms >= {"kernels", "hpyp", "bitext", "second_order"}


def test_a_changed_kernel_makes_machine_code_stale(tmp_path, monkeypatch):
    """Each file of kernels is compiled for types of others, so all are stale; other files do not matter."""
    copy = tmp_path / "deptree_cli"
    shutil.copytree(kept.PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(kept, "PACKAGE", copy)
    kernels = ["kernels/xoshiro.py", "hpyp/kernels/search.py", "bitext/kernels.py", "second_order/kernels.py"]
    digests = [kept.digest.__wrapped__()]
    for changed in (*kernels, "hpyp/model/sentences.py", "core/labels.py"):
        with (copy / changed).open("a") as file:
            file.write("# something else\n")
        digests.append(kept.digest.__wrapped__())
    assert len(set(digests)) == 1 + len(kernels)
    assert len(set(digests[len(kernels) :])) == 1
