"""Python runs kernels until their work is worth a compiler; what it began it does anew, with the same bytes."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from deptree_cli.core.factorisation import crossings
from deptree_cli.kernels import budget, kept
from deptree_cli.kernels.budget import TREE, WORTH, Budget, PythonKernel, compile_kernels, foresee, once_more
from tests.sample import DATA


@pytest.fixture
def left(monkeypatch):
    """Python at work, with so many steps left, and so many more."""

    def start(steps, more=0):
        found = Budget()
        found.steps, found.more = steps, more
        monkeypatch.setattr(budget, "BUDGET", found)
        return found

    return start


def machine(*args):
    return "machine code"


def looking():
    return "Python"


def deep(calls):
    for _ in range(calls):
        LOOKING()
    return "Python"


LOOKING, DEEP = (PythonKernel(function, lambda: machine) for function in (looking, deep))


@pytest.mark.parametrize(("steps", "answer"), [(9, "Python"), (10, "machine code")])
def test_what_is_foreseen_decides(left, steps, answer):
    left(10)
    foresee(steps)
    assert LOOKING() == answer


def test_words_below_long_arcs_are_foreseen(left):
    """Those between the ends of each arc are looked at: in a star of 1,000 words half a million."""
    asked = left(WORTH)
    crossings(np.array([range(1000)]))
    assert asked.steps is not None
    assert not crossings(np.array([[0] + [1] * 999])).any()
    assert asked.steps is None


def test_what_python_has_begun_it_ends(left):
    """Unless somebody does it once more: a kernel is not left to machine code half-way."""
    left(3)
    assert DEEP(9) == "Python"
    assert DEEP(9) == "machine code"


@pytest.mark.parametrize(("is_kept", "calls"), [(True, 3), (False, 5)])
def test_python_does_more_while_a_kernel_is_not_kept(left, monkeypatch, is_kept, calls):
    monkeypatch.setattr(kept, "is_kept", lambda code: is_kept and code is looking.__code__)
    left(3, more=2)
    assert [LOOKING() for _ in range(6)] == ["Python"] * calls + ["machine code"] * (6 - calls)


def test_the_outermost_kernel_decides(left, monkeypatch):
    """Of the kernels within it no machine code is made."""
    monkeypatch.setattr(kept, "is_kept", lambda code: code is looking.__code__)
    left(3, more=9)
    assert once_more(lambda: DEEP(9)) == "Python"
    assert once_more(lambda: DEEP(9)) == "machine code"


@pytest.mark.parametrize("is_kept", [True, False])
def test_python_does_more_of_what_is_foreseen_while_no_machine_code_is_kept(left, monkeypatch, is_kept):
    monkeypatch.setattr(kept, "is_kept", lambda code: is_kept and code is None)
    found = left(3, more=2)
    foresee(4)
    assert (found.steps is None) == is_kept
    foresee(2)
    assert found.steps is None


def test_who_does_it_once_more_begins_anew(left):
    found, begun = left(3), []

    def work():
        begun.append(found.steps)
        return DEEP(9)

    assert once_more(work) == "machine code"
    assert begun == [3, None]


def test_an_error_leaves_nothing_behind(left):
    left(100)
    failing = PythonKernel(lambda: 1 / 0, lambda: machine)
    for run in (failing, lambda: once_more(failing)):
        with pytest.raises(ZeroDivisionError):
            run()
        assert (budget.RUNNING.inside, budget.RUNNING.again) == (None, False)


def test_what_waits_is_done_before_the_first_kernel_is_compiled(left):
    left(1)
    done = []
    for number in (1, 2):
        budget.when_compiled(lambda number=number: done.append(number))
    assert done == []
    compile_kernels()
    assert done == [1, 2]
    budget.when_compiled(lambda: done.append(3))
    assert done == [1, 2, 3]


def test_who_forbids_to_compile_is_obeyed(left):
    left(float("inf"))
    foresee(1e300)
    compile_kernels()
    assert LOOKING() == "Python"


# What a command did with kernels: how many it compiled. `WORTH` steps are so many.
PROGRAM = """
import atexit, sys
from deptree_cli.kernels import budget
from deptree_cli.kernels import kept as cache
budget.WORTH = float(sys.argv.pop(1))
heard = []
watched = cache.watch_compiling
cache.watch_compiling = lambda watcher: None
watched(heard.append)
atexit.register(lambda: print("numba" in sys.modules, sum(heard), file=sys.stderr))
from deptree_cli.cli.app import main
main()
"""


def run(folder, worth, line, **environment):
    """What a command writes, and whether numba was loaded, and how many kernels were compiled."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    env = kept | {"NUMBA_CACHE_DIR": str(folder)} | environment
    command = [sys.executable, "-c", PROGRAM, str(worth), *line.split(), "-q"]
    ended = subprocess.run(command, env=env, capture_output=True, check=False, timeout=300)
    assert ended.returncode in (0, 1), ended.stderr
    return ended.stdout, ended.stderr.decode().split()


def test_small_work_loads_no_compiler(tmp_path):
    """A newcomer's first lines."""
    for line in (f"sample {DATA}/one.npy --seed 7", f"check-bias {DATA}/figure1.npy --sampler wilson-rc --seed 7"):
        assert run(tmp_path, WORTH, line)[1] == ["False", "0"]


@pytest.mark.slow("compile")
def test_the_bytes_are_the_same_whenever_python_hands_over(tmp_path):
    """Never, nor in the midst of a walk while no machine code is kept; then at once; then in the midst of a walk."""
    line = f"sample {DATA}/scores.npz --from natasha --sampler wilson-rc -k 30 --seed 7"
    python, told = run(tmp_path, 1e12, line)
    assert told == ["False", "0"]
    midst = 2 * 9**3 + 2 * TREE * 30 * 9 + 2000
    assert run(tmp_path, midst, line) == (python, ["False", "0"])
    for worth in (0, midst):
        found, told = run(tmp_path, worth, line)
        assert (found, told[0]) == (python, "True")
    assert run(tmp_path, 0, line, NUMBA_DISABLE_JIT="1") == (python, ["False", "0"])
