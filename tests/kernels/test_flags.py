"""Where machine code goes: ours to a folder of our own, that of a host program where it always went."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from deptree_cli.kernels import kept
from deptree_cli.kernels.flags import kernel
from deptree_cli.kernels.xoshiro import uniform

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled, so nothing is cached")

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


def run_host(folder: Path, **environment: str) -> None:
    """Run the host program as a module file, for functions of a string are not cached."""
    (folder / "host.py").write_text(HOST)
    own = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    subprocess.run([sys.executable, "-c", "import host"], cwd=folder, env=own | environment, check=True, timeout=100)


def functions_in(folder: Path) -> set[str]:
    """The names of the functions whose machine code is anywhere below a folder."""
    return {path.name.split("-")[0] for path in folder.rglob("*.nbc")}


@pytest.mark.slow("compile")
@compiled_only
def test_a_host_program_keeps_its_own_cache(tmp_path: Path) -> None:
    run_host(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert functions_in(tmp_path / "__pycache__") == {"host.before", "host.after"}
    (ours,) = (tmp_path / "cache" / "deptree").iterdir()
    assert functions_in(tmp_path / "cache") == functions_in(ours) == {"xoshiro.uniform"}  # not what it calls
    assert ours.name == kept.cache_folder().name


@pytest.mark.slow("compile")
@compiled_only
def test_the_folder_of_numba_goes_before_ours(tmp_path: Path) -> None:
    run_host(tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"), NUMBA_CACHE_DIR=str(tmp_path / "numba"))
    assert functions_in(tmp_path / "numba") == {"host.before", "host.after", "xoshiro.uniform"}
    (ours,) = (tmp_path / "numba" / "deptree").iterdir()
    assert functions_in(ours) == {"xoshiro.uniform"}
    assert not (tmp_path / "cache").exists()


def test_a_folder_where_nobody_may_write(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert not kept.cache_folder().is_relative_to(tmp_path / "file")


@kernel
def unchecked(x, y, bits):
    """A division, and a sum of integers that may wrap around."""
    return x / y, bits + bits


def test_arithmetic_is_silent() -> None:
    """Compiled or not: divisions by zero give inf, integers wrap around, and nobody is warned."""
    with np.errstate(all="raise"):
        assert unchecked(np.float64(1.0), np.float64(0.0), np.uint64(2**63)) == (np.inf, 0)


def test_flags_are_those_of_the_decorator() -> None:
    """In Python there are none; `uniform` is then a Python function."""
    if numba.config.DISABLE_JIT:
        assert not hasattr(uniform, "targetoptions")
    else:
        assert uniform.targetoptions["error_model"] == "numpy"
        assert uniform.targetoptions["nogil"]
        assert "fastmath" not in uniform.targetoptions
