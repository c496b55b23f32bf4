"""Whether machine code is kept is known without numba, under the names by which it is kept."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest

from tests.kernels.test_stored import PROGRAM, kept_in, run

# Whether machine code of any kernel is kept, of one, of one that only others call, and of what is no kernel.
ASK = """
import sys
from deptree_cli.kernels.budget import begin_with_python
begin_with_python()
from deptree_cli.kernels.kept import is_kept
from deptree_cli.kernels.xoshiro import rotate_left, uniform
others = rotate_left.function, lambda: None
print(is_kept(), is_kept(uniform.function.__code__), *(is_kept(each.__code__) for each in others))
assert "numba" not in sys.modules
"""


@pytest.mark.slow("compile")
@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled, so nothing is kept")
def test_what_was_compiled_is_kept(tmp_path: Path) -> None:
    assert run(tmp_path, ASK) == ["False False False False"]
    run(tmp_path, PROGRAM)
    assert run(tmp_path, ASK) == ["True True False False"]
    kept_in(tmp_path)[0].unlink()
    assert run(tmp_path, ASK) == ["False False False False"]
