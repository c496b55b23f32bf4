"""What all tests share: hypothesis without clocks or luck, and the graphs that samplers and sums are tested on."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from numba import config
from numpy.typing import NDArray

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import space
from tests.lines import deptree, done, exact, golden, put, real, refused, shell, terminal, treebank  # noqa: F401
from tests.tiers import pytest_addoption, pytest_collection_modifyitems, pytest_ignore_collect  # noqa: F401
from tests.warm import stand_ins

Float = NDArray[np.float64]

settings.register_profile("deptree", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("deptree")

# Commands run kernels as Python if there is little to do; what is tested is their machine code, unless a test says so.
os.environ.setdefault("NUMBA_DISABLE_JIT", "0")

# What JAX compiles is kept, as the kernels' machine code is: it is most of its tests' time. `make clean` removes it.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache/jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")


def pytest_runtest_setup(item):
    """Skip what is tried with a container whose library is not there."""
    if "safetensors" in item.name:
        pytest.importorskip("safetensors", reason="safetensors is not installed")


def pytest_collection_finish():
    """Leave what collecting made to itself: the garbage collector would look through it again and again."""
    gc.freeze()


class Graphs:
    """Log-scores, (n+1, n+1) ``[head, dependent]``, by what is difficult about them; another seed, another graph."""

    @staticmethod
    def distribution(log_scores, single_root=True):
        """A checked distribution."""
        return TreeDistribution(log_scores, single_root=single_root)

    @staticmethod
    def over(log_scores, trees):
        """A checked distribution over the trees of a space of the register."""
        return TreeDistribution(log_scores, single_root=trees.single_root).over(trees)

    @staticmethod
    def close(log_scores):
        """Forbid the diagonal and arcs into ROOT."""
        np.fill_diagonal(log_scores, -np.inf)
        log_scores[:, 0] = -np.inf
        return log_scores

    def uniform(self, n):
        """Every tree alike."""
        return self.close(np.zeros((n + 1, n + 1)))

    def gaussian(self, n, scale=1.0, seed=0):
        """Normal logits times a scale; trained parsers look like scales from 10 on."""
        return self.close(np.random.default_rng(seed).normal(size=(n + 1, n + 1)) * scale)

    def saturated(self, n, left=1e-12):
        """Words 1 and 2, 3 and 4, ... choose each other with probability 1 - left."""
        log_scores = np.full((n + 1, n + 1), np.log(left / max(n - 1, 1)))
        for word in range(1, n, 2):
            log_scores[word, word + 1] = log_scores[word + 1, word] = np.log1p(-left)
        return self.close(log_scores)

    def disconnected(self, n, log_gap, seed=0):
        """Two halves of the words, joined to each other and to ROOT by arcs log_gap below the others."""
        log_scores = np.round(self.gaussian(n, seed=seed) * 1024) / 1024  # sums of these are exact in float64
        side = np.arange(n + 1) > (n + 1) // 2
        apart = side[:, None] != side[None, :]
        apart[0] = True
        log_scores[apart] -= log_gap
        return self.close(log_scores)

    def holes(self, n, seed, single_root=True, scale=1.0, projective=False):
        """About every second arc forbidden, by the first pattern that leaves a tree, or a projective one."""
        rng = np.random.default_rng(seed)
        while True:
            log_scores = self.gaussian(n, scale, seed)
            log_scores[rng.random(log_scores.shape) < 0.5] = -np.inf
            try:
                space(single_root, projective).check_feasible(np.isfinite(log_scores))
            except DeptreeError:
                continue
            return log_scores

    def one_way(self, n, seed=0):
        """No word is governed from its right: as far from strongly connected as a sentence can be."""
        return np.where(np.tri(n + 1, dtype=bool), -np.inf, self.gaussian(n, seed=seed))

    def figure1(self):
        """Stanojevic 2022, Figure 1: A <- R, B; B <- A, C; C <- R, A, all of weight 0.5; A is root with chance 2/3."""
        log_scores = np.full((4, 4), -np.inf)
        for head, dependent in [(0, 1), (2, 1), (1, 2), (3, 2), (0, 3), (1, 3)]:
            log_scores[head, dependent] = np.log(0.5)
        return log_scores


@pytest.fixture(scope="session")
def draws():
    """How many draws a law of kernels is checked with; plain Python takes a hundred times as long as machine code."""
    return 600 if config.DISABLE_JIT else 20_000


@pytest.fixture
def state():
    """The state of a generator, the same for every test."""
    return np.array([1, 2, 3, 4], dtype=np.uint64)


@pytest.fixture(scope="session")
def graphs():
    """The builders of graphs."""
    return Graphs()


@pytest.fixture(scope="session")
def warm(tmp_path_factory):
    """A folder for the PATH whose `deptree` is forked from a process that has everything imported and compiled."""
    if Path("/proc/self/fd").exists():
        with stand_ins(tmp_path_factory.mktemp("warm")) as folder:
            yield folder
    else:
        yield Path(sys.executable).parent


@pytest.fixture(scope="session")
def shared():
    """The folder of test data that is not part of the project."""
    folder = Path(os.environ.get("DEPTREE_DATA", Path(__file__).parents[1] / "../shared/data"))
    if not folder.is_dir():
        pytest.skip("the shared data folder is missing: ../shared/data or $DEPTREE_DATA")
    return folder


@pytest.fixture
def udvalidate():
    """The validator of Universal Dependencies, for a file and a level; by status 0 it finds nothing."""
    program = Path(sys.executable).with_name("udvalidate")
    if not program.exists():
        pytest.skip("udtools is not installed")

    def run(path, level):
        command = [program, "--level", str(level), "--lang", "ud", "--max-err", "0", path]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run
