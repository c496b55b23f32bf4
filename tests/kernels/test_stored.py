"""The cache of machine code: never read where others could write, and never more than a cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from deptree_cli.kernels import kept, machine_code
from tests.sample import DATA

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled, so nothing is cached")
slow = pytest.mark.slow("compile")

OURS = ".cache/deptree/machine-code"

# One kernel, and what the hook hears of the cache.
PROGRAM = """
from deptree_cli.kernels import kept
kept.tell_if_not_kept(lambda reason: print("not kept:", reason))
import numpy as np
from deptree_cli.kernels.xoshiro import uniform
assert 0 <= uniform(np.array([1, 2, 3, 4], dtype=np.uint64)) < 1
print(sum(uniform.stats.cache_hits.values()), "from", kept.cache_folder())
"""


def run(folder, program=PROGRAM, **environment):
    """The lines that a program prints; nothing may stand on stderr."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_"))}
    env.setdefault("PYTHONPATH", str(Path(kept.__file__).parents[2]))
    env |= {"HOME": folder, "TMPDIR": folder / "tmp"} | environment
    (folder / "tmp").mkdir(exist_ok=True)
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=100)
    assert (ended.returncode, ended.stderr) == (0, "")
    return ended.stdout.splitlines()


def kept_in(folder):
    return list(folder.rglob("xoshiro.uniform-*.nbc"))


def make(*versions, at):
    """Folders of versions that were used at some time."""
    for version in versions:
        version.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.utime(version, (at, at))


@slow
def test_versions_of_long_ago_are_removed(tmp_path):
    """Eight of a file of kernels stay; other files do not count, whatever their names begin with."""
    make(folder := tmp_path / OURS, at=10**9)
    folder.chmod(0o700)
    for age in range(10):
        make(folder / f"kernels.xoshiro-{age}", folder / f"kernels.xoshiro_more-{age}", at=10**9 - age)
    run(tmp_path)
    names = {path.name for path in folder.iterdir()}
    assert {f"kernels.xoshiro-{age}" for age in range(7)} < names
    assert len([name for name in names if name.startswith("kernels.xoshiro-")]) == 8
    assert len([name for name in names if name.startswith("kernels.xoshiro_more-")]) == 10


@slow
def test_versions_in_use_are_not_of_long_ago(tmp_path):
    """Whoever makes more than eight new ones does not take from others what they run."""
    run(tmp_path)
    folder = tmp_path / OURS
    (used,) = folder.glob("kernels.xoshiro-*")
    make(used, at=10**9)
    for age in range(9):
        make(folder / f"kernels.xoshiro-{age}", at=10**9 + age)
    assert run(tmp_path)[0].startswith("1 from ")
    kept.remove_oldest(folder.glob("kernels.xoshiro-*"))
    assert used.exists()
    assert len(list(folder.glob("kernels.xoshiro-*"))) == 8


def test_versions_that_another_process_removes_meanwhile(tmp_path):
    """They are gone between the listing of a folder and the look at their age."""
    folders = [tmp_path / str(age) for age in range(12)]
    for age in {*range(12)} - {0, 4, 8}:
        make(folders[age], at=10**9 - age)
    kept.remove_oldest(folders)
    assert sorted(int(path.name) for path in tmp_path.iterdir()) == [1, 2, 3, 5, 6, 7, 9, 10]


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


@slow
def test_it_is_filled_and_used_and_what_is_kept_is_known_without_numba(tmp_path):
    assert run(tmp_path, ASK) == ["False False False False"]
    assert run(tmp_path) + run(tmp_path) == [f"0 from {tmp_path}/{OURS}", f"1 from {tmp_path}/{OURS}"]
    assert (tmp_path / OURS).stat().st_mode & 0o777 == 0o700
    assert run(tmp_path, ASK) == ["True True False False"]
    kept_in(tmp_path)[0].unlink()
    assert run(tmp_path, ASK) == ["False False False False"]


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    run(home := tmp_path_factory.mktemp("filled"))
    return home


@pytest.fixture
def ours(filled, tmp_path):
    """The folder of machine code in a home in which the program has run."""
    shutil.copytree(filled, tmp_path, dirs_exist_ok=True)
    return tmp_path / OURS


# Many kernels, some of which are closures.
MANY = """
from deptree_cli.kernels import kept
heard = []
kept.watch_compiling(heard.append)
import deptree_cli
from deptree_cli import TreeDistribution
distribution = TreeDistribution([[0, 0, 1], [0, 0, 2], [0, 1, 0]], scale="log")
print(distribution.sample(3, 7).tolist(), distribution.marginals().tolist())
print(deptree_cli.__file__, sum(heard))
"""


@slow
def test_copies_of_the_package_share_it(tmp_path):
    """Wherever they are."""
    package, results = Path(kept.__file__).parents[1], []
    for name in ("one", "another/place"):
        shutil.copytree(package, tmp_path / name / "deptree_cli", ignore=shutil.ignore_patterns("__pycache__"))
        found, told = run(tmp_path, MANY, PYTHONPATH=str(tmp_path / name))
        file, compiled = told.split()
        assert file == str(tmp_path / name / "deptree_cli/__init__.py")
        results.append((found, int(compiled)))
    (first, many), second = results
    assert many > 3
    assert second == (first, 0)


def test_overloads_kept_at_the_same_time_are_not_mixed_up(tmp_path):
    """As by two processes that have both found nothing; and what is for another processor is not found."""
    keys = [((kind,), ("x86_64-linux", "this", "+that")) for kind in ("float64", "int64")]
    assert [machine_code.load(tmp_path, "f", key) for key in keys] == [None, None]
    for key, code in zip(keys, ("real", "whole"), strict=True):
        machine_code.save(tmp_path, "f", key, code)
    assert [machine_code.load(tmp_path, "f", key) for key in keys] == ["real", "whole"]
    assert machine_code.load(tmp_path, "f", (("int64",), ("x86_64-linux", "another", "+that"))) is None
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".nbc", ".nbc"]


@slow
@pytest.mark.parametrize("part", [0, 0.5, 1])
def test_a_damaged_file_is_replaced(tmp_path, ours, part):
    """Nothing or half is left; and zeros, as a crash of the system leaves it."""
    (path,) = kept_in(ours)
    size = path.stat().st_size
    path.write_bytes(path.read_bytes()[: int(part * size)] if part < 1 else bytes(size))
    assert run(tmp_path)[0].startswith("0 from ")
    assert run(tmp_path)[0].startswith("1 from ")


@slow
@pytest.mark.parametrize("mode", [0o777, 0o720])
def test_a_folder_that_others_can_write_to_is_not_read(tmp_path, ours, mode):
    ours.chmod(mode)
    assert run(tmp_path) == [f"0 from {tmp_path}/tmp/deptree-{os.getuid()}-{ours.name}"]
    ours.chmod(0o700)
    (tmp_path / ".cache/deptree").chmod(0o777)  # others could put another folder in its place
    assert run(tmp_path)[0].startswith(f"1 from {tmp_path}/tmp")
    (tmp_path / ".cache/deptree").chmod(0o700)
    ours.rename(tmp_path / "elsewhere")
    ours.symlink_to(tmp_path / "elsewhere")  # nor is a link followed
    assert run(tmp_path)[0].startswith(f"1 from {tmp_path}/tmp")


@slow
@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give files away")
def test_a_folder_of_somebody_else_is_not_read(tmp_path, ours):
    """Neither the user's own nor the one among temporary files, whose name everybody can guess."""
    os.chown(ours, 12345, 12345)
    assert run(tmp_path)[0].startswith(f"0 from {tmp_path}/tmp")
    (other,) = (tmp_path / "tmp").iterdir()
    os.chown(other, 12345, 12345)
    assert run(tmp_path) == ["not kept: no folder for it can be written, or is safe from others", "0 from None"]


@slow
def test_no_folder_can_be_made(tmp_path):
    """Files where folders would have to be."""
    (nowhere := tmp_path / "file").touch()
    assert run(tmp_path, NUMBA_CACHE_DIR=nowhere)[0].startswith(f"0 from {tmp_path}/.cache/deptree/")
    assert run(tmp_path, NUMBA_CACHE_DIR=nowhere, HOME=nowhere)[0].startswith(f"0 from {tmp_path}/tmp/deptree-")


# What is heard of compiling: what `uniform` is made of counts as part of it, functions of others are not ours.
WATCHED = """
from deptree_cli.kernels import kept
heard = []
kept.watch_compiling(heard.append)
import numba
assert numba.njit(lambda x: x + 1)(1) == 2
import numpy as np
from deptree_cli.kernels.xoshiro import uniform
uniform(np.array([1, 2, 3, 4], dtype=np.uint64))
print(*map(int, heard))
kept.watch_compiling(None)
"""


@slow
def test_a_watcher_hears_of_what_is_compiled_and_of_nothing_else(tmp_path):
    """Also if there is machine code of other kernels."""
    assert run(tmp_path, WATCHED) == ["1 0"]
    (path,) = tmp_path.rglob("*.nbc")
    assert run(tmp_path, WATCHED) == [""]
    path.unlink()
    assert run(tmp_path, WATCHED) == ["1 0"]


@slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_says_once_that_nothing_is_kept(tmp_path, jobs):
    """Whichever worker notices."""
    script = 'ulimit -f 1; trap "" XFSZ; exec "$0" -m deptree_cli decode "$1" --from natasha --format npz --jobs "$2"'
    command = ["bash", "-c", script, sys.executable, str(DATA / "scores.npz"), jobs]
    env = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    ended = subprocess.run(command, env=env, capture_output=True, check=True, timeout=200)
    assert ended.stdout.startswith(b"PK")
    told = [line for line in ended.stderr.decode().splitlines() if "cannot be kept" in line]
    assert told == [
        "deptree: the machine code of kernels cannot be kept (File too large): every run compiles anew."
        " Set NUMBA_CACHE_DIR."
    ]


def test_without_a_home(monkeypatch, tmp_path):
    """As for a user that the system knows nothing of, in a container."""

    def homeless(_):
        raise RuntimeError("Could not determine home directory.")

    for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    monkeypatch.setattr(kept.tempfile, "gettempdir", lambda: str(tmp_path))
    assert kept.cache_folder().parent == tmp_path
