"""`deptree warm`: what it compiles is found by the command afterwards; stopped, it leaves nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

DEPTREE = [sys.executable, "-m", "deptree_cli"]


def environment(folder: Path) -> dict[str, str]:
    """A home and a place for temporary files of one's own, and nobody's decision on what is compiled."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return kept | {"NUMBA_CACHE_DIR": str(folder / "cache"), "TMPDIR": str(folder)}


@pytest.mark.slow("compile")
def test_it_goes_on_where_it_was(tmp_path):
    """The second time nothing is compiled; and nothing is left but machine code."""
    line = [*DEPTREE, "warm", "convert"]
    first, second = (
        subprocess.run(line, env=environment(tmp_path), capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    )
    assert int(first.split()[0]) > 0
    assert second.startswith("0 kernels compiled, ")
    assert int(second.split()[3]) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


@pytest.mark.slow("compile")
def test_ctrl_c_leaves_no_folder(tmp_path):
    process = subprocess.Popen([*DEPTREE, "warm", "partition"], env=environment(tmp_path))
    until = time.monotonic() + 60
    while not list(tmp_path.glob("deptree-warm-*/scores.npz")) and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert not list(tmp_path.glob("deptree-warm-*"))


def test_a_typo_and_a_folder_that_nobody_can_make(deptree):
    assert "No such command 'partion'. Did you mean partition? See" in deptree("warm", "partion").err
    assert deptree("warm", "foo").err == "deptree warm: No such command 'foo'. See deptree warm --help.\n"
    assert "/proc/nowhere: this folder cannot be written" in deptree("warm", "-o", "/proc/nowhere", "partition").err


@pytest.mark.slow("compile")
def test_others_can_read_a_folder_of_ones_choice(tmp_path):
    """As they have to if it comes with the package: installed by root, used by everyone."""
    line = [*DEPTREE, "warm", "dump", "-o", str(tmp_path / "machine_code")]
    subprocess.run(line, env=environment(tmp_path), check=True, umask=0o022, stdout=subprocess.DEVNULL)
    assert (tmp_path / "machine_code").stat().st_mode & 0o777 == 0o755
