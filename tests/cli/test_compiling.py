"""Compiling is told on a terminal whenever it happens, by whichever process, and nowhere else."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from tests.on_terminal import as_it_reads, on_terminal
from tests.sample import DATA

SAID = "deptree: compiling kernels, which may take a minute; later runs find them compiled\n"
LINE = re.compile(r"\rcompiling kernels: (\d+) done, \d+ s\x1b\[K")

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled, so nothing is told")

IMPATIENT = "import deptree_cli.cli.terminal as told; told.COMPILING_PATIENCE = 0.0; told.LONG = 1e9"
MAIN = f"from deptree_cli.cli.app import main; {IMPATIENT}; main()"
OTHER = "import numpy as np; from deptree_cli.kernels.xoshiro import uniform; uniform(np.ones(4, dtype=np.uint64))"

# Sentences are scanned by few kernels: some two seconds.
CONVERT = ("convert", DATA / "scores.npz", "--from", "natasha", "--conllu", DATA / "sentences.conllu")


@pytest.fixture(scope="module")
def other_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that has machine code, but not of the kernels that are wanted."""
    folder = tmp_path_factory.mktemp("code")
    subprocess.run([sys.executable, "-c", OTHER], env={**os.environ, "NUMBA_CACHE_DIR": str(folder)}, check=True)
    assert list(folder.rglob("*.nbc"))
    return folder


@pytest.fixture
def cache(tmp_path: Path, other_code: Path) -> dict[str, str]:
    """The environment for such a folder of one's own."""
    shutil.copytree(other_code, tmp_path / "cache")
    return {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}


@pytest.mark.slow("compile")
def test_a_cold_kernel_is_told_though_others_are_there(tmp_path: Path, cache: dict[str, str]) -> None:
    """The count grows, the line is gone in the end, and what has been compiled is told no more."""
    command = [sys.executable, "-c", MAIN, *CONVERT, "-o", "x.jsonl"]
    code, shown = on_terminal(command, tmp_path, **cache)
    counts = [int(count) for count in LINE.findall(shown)]
    assert code == 0
    assert counts == sorted(counts)
    assert counts[-1] > 0
    rest = LINE.sub("", shown)
    assert rest.startswith("\r\x1b[K")
    assert as_it_reads(rest).strip("\r") == ""
    assert not LINE.search(on_terminal(command, tmp_path, **cache)[1])


@pytest.mark.slow("compile")
def test_it_is_gone_before_data(tmp_path: Path, cache: dict[str, str]) -> None:
    _, shown = on_terminal([sys.executable, "-c", MAIN, *CONVERT], tmp_path, **cache)
    before, brace, after = shown.partition("{")
    assert LINE.search(before)
    assert brace
    assert before.endswith("\r\x1b[K")
    assert "compiling" not in after


@pytest.mark.slow("compile")
@pytest.mark.parametrize("how", ["-q", "2>err"])
def test_not_with_quiet_nor_where_nobody_sees_it(tmp_path: Path, cache: dict[str, str], how: str) -> None:
    line = f'exec "$0" -c "$@" -o x.jsonl {how}'
    code, shown = on_terminal(["bash", "-c", line, sys.executable, MAIN, *CONVERT], tmp_path, **cache)
    assert (code, as_it_reads(shown)) == (0, "")
    assert not (tmp_path / "err").exists() or not (tmp_path / "err").read_bytes()


@pytest.mark.slow("compile")
def test_what_takes_long_is_said_once_where_no_line_can_be_drawn(tmp_path: Path, cache: dict[str, str]) -> None:
    main = MAIN.replace("1e9", "0.0")
    for quiet, said in ((["-q"], ""), ([], SAID), ([], "")):  # the third run finds the kernels compiled
        command = [sys.executable, "-c", main, *CONVERT, "-o", "x.jsonl", *quiet]
        folder = {"NUMBA_CACHE_DIR": str(tmp_path / "other")} if quiet else cache
        ran = subprocess.run(command, cwd=tmp_path, env={**os.environ, **folder}, capture_output=True, check=True)
        assert (ran.stdout, ran.stderr.decode()) == (b"", said)


# Two workers, each with a kernel within another.
FORKED = f"""
import os, time
{IMPATIENT}
from deptree_cli.kernels.kept import compiling
from deptree_cli.cli.terminal import status_shown
with status_shown("file", quiet=False), told.kernels_told(quiet=False):
    for _ in range(2):
        if not os.fork():
            for begins, seconds in ((True, 0.3), (True, 0.3), (False, 0.3), (False, 0)):
                compiling(begins)
                time.sleep(seconds)
            os._exit(0)
    for _ in range(2):
        os.wait()
    time.sleep(0.5)
    print("done")
"""


@pytest.mark.slow("compile")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are not forked here")
def test_workers_tell_too(tmp_path: Path) -> None:
    shown = on_terminal([sys.executable, "-W", "ignore", "-c", FORKED], tmp_path)[1]  # of forks beside threads
    counts = [int(count) for count in LINE.findall(shown)]
    assert counts[0] == 0
    assert 2 <= counts[-1] <= 3
    assert LINE.sub("", shown) == "\r\x1b[Kdone\r\n"


def test_a_moment_is_not_told() -> None:
    from deptree_cli.cli import terminal

    assert terminal.COMPILING_PATIENCE >= 0.5
