"""The extra `jax`: what there is with it, and the line that there is without."""

from __future__ import annotations

import subprocess
import sys

import pytest


def test_without_jax_there_is_a_line() -> None:
    program = "import sys; sys.modules['jax'] = None; import deptree_cli.jax"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    line = "ImportError: deptree_cli.jax needs JAX: pip install 'deptree-cli[jax]'"
    assert result.stderr.splitlines()[-1] == line
    assert result.stderr.count("Traceback") == 1


def test_all_names_are_there() -> None:
    pytest.importorskip("jax")
    import deptree_cli.jax

    for name in deptree_cli.jax.__all__:
        assert getattr(deptree_cli.jax, name)
        assert name in (deptree_cli.jax.__doc__ or "")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = deptree_cli.jax.nothing
