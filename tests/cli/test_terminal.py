"""What stands on a terminal: a bar that is never among data, tables that fit, and that kernels are compiled."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.cli import terminal as module
from deptree_cli.cli.terminal import Counted, StatusLine, progress, shortened
from deptree_cli.io.files.streams import cells
from tests.lines import words
from tests.on_terminal import as_it_reads, on_terminal
from tests.sample import DATA

MATRICES = {f"s{number}": np.random.default_rng(number).random((41, 41)) for number in range(60)}
AT_ONCE = "import deptree_cli.cli.terminal as bar; bar.PATIENCE = bar.INTERVAL = -1.0"
OPTIONS = "--from treesample --seed 1"


@pytest.fixture
def screen(tmp_path, warm):
    """A line of bash with a terminal for all streams, where a bar is drawn at once: all that came to the terminal."""
    np.savez(tmp_path / "s.npz", **MATRICES)
    rows = [json.dumps({"sent_id": key, "scores": each.tolist()}) for key, each in MATRICES.items()]
    (tmp_path / "s.jsonl").write_text("\n".join(rows) + "\n")

    def run(line: str) -> str:
        environment = {"DEPTREE_BEFORE": AT_ONCE, "PATH": f"{warm}:{os.environ['PATH']}"}
        code, shown = on_terminal(["bash", "-c", line.replace("$DATA", str(DATA))], tmp_path, 120, **environment)
        assert code == 0
        return shown.replace("\x1b[0m", "")  # colorama's, at exit, where it is installed

    return run


@pytest.mark.slow("process")
@pytest.mark.parametrize("jobs", ["", "--jobs 2"])
def test_a_container_with_names_knows_the_total(screen, jobs):
    shown = screen(f"deptree sample s.npz {OPTIONS} {jobs} -o out.jsonl")
    assert re.search(r"\r\[=+ +\] \d+ of 60 sentences, [\d,.e+]+/s, 0:00:\d\d left\x1b\[K", shown)
    assert shown.endswith("\r\x1b[K")
    assert "s59" not in shown


def test_a_file_of_lines_tells_by_its_bytes_and_a_shard_counts_its_own(screen):
    shown = screen(f"deptree sample s.jsonl {OPTIONS} -o out.jsonl")
    assert 50 <= np.median([int(total) for total in re.findall(r"of about (\d+) sentences", shown)]) <= 70
    assert " of 20 sentences" in screen(f"deptree sample s.npz {OPTIONS} --shard 2/3 -o out.jsonl")


@pytest.mark.parametrize("reader", ["| head -n 1", "| cat", ""])
def test_the_bar_is_gone_before_data_and_can_be_left_out(screen, reader):
    shown = screen(f"deptree sample s.npz {OPTIONS} {reader}")
    before, brace, after = shown.partition('{"sent_id"')
    assert brace
    assert before.endswith("\x1b[K") or not before
    assert not re.search("\x1b|sentences", after)
    for quiet in ("-q", "2>/dev/null"):
        assert screen(f"deptree sample s.npz {OPTIONS} -o out.jsonl {quiet}") == ""


def test_what_is_short_has_none(capsys):
    assert (module.PATIENCE >= 1, module.COMPILING_PATIENCE >= 0.5) == (True, True)
    assert list(progress(iter(range(10)), Counted(range(10)))) == list(range(10))
    assert capsys.readouterr().err == ""


def test_talk_makes_way(screen):
    shown = screen(
        "printf '[' > bad.jsonl; cat bad.jsonl s.jsonl > t.jsonl; tail -n 59 s.jsonl >> t.jsonl;"
        f" deptree sample t.jsonl {OPTIONS} --on-error skip -o out.jsonl; true"
    )
    lines = [line for line in shown.split("\n") if "skipped" in line]
    assert lines
    assert all(line.split("\r\x1b[K")[-1].startswith("deptree: ") for line in lines)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("total", "share", "shown"),
    [
        (40, None, "] 11 of 40 sentences, 5/s, 0:00:06 left"),
        (None, 0.25, "] 11 of about 44 sentences, 5/s, 0:00:07 left"),
        (None, None, "11 sentences, 5/s"),
        (4, None, "] 11 of 11 sentences, 5/s, 0:00:00 left"),
        (40_000, None, "] 11 of 40,000 sentences, 5/s, 2:13:18 left"),
    ],
)
def test_what_the_bar_says(total, share, shown):
    source = Counted(range(40), lambda: total, lambda: share)
    for _, _ in zip(range(11), source, strict=False):
        pass
    line = StatusLine()
    line.begin(source)
    line.done = 11
    assert line.text(2.0).endswith(shown)


def test_a_long_item_tells_how_far_it_is(screen):
    shown = screen("deptree hpyp train $DATA/treebank.conllu -o model.npz --seed 1 --iterations 4")
    assert re.search(r"\r\[=+ +\] 2 of 4 iterations, [\d.]+/s, 0:00:\d\d left, log p -[\d,]+\x1b\[K", shown)
    how = "--method randomized --iterations 3 --seed 1 -o out.npz"
    shown = screen(f"deptree bitext expectations $DATA/bitext.npz {how}")
    assert "0 of 5 pairs; 1 iteration\x1b[K" in shown
    assert re.search(r"1 of 5 pairs; 2 iterations\x1b\[K", shown)


NAMES = st.text(st.sampled_from("abcXYZ0189-._中文ий"), min_size=1, max_size=90)


@given(NAMES, st.integers(1, 100))
def test_a_short_name_is_as_long_as_it_can_be_and_even(name, width):
    short = shortened(name, width)
    assert short == name if cells(name) <= width else width - 3 < cells(short) <= width
    ahead, ellipsis, behind = short.partition("…")
    assert not ellipsis or abs(cells(ahead) - cells(behind)) <= 2


SAID = "deptree: compiling kernels, which may take a minute; later runs find them compiled\n"
LINE = re.compile(r"\rcompiling kernels: (\d+) done, \d+ s\x1b\[K")
IMPATIENT = "import deptree_cli.cli.terminal as told; told.COMPILING_PATIENCE = 0.0; told.LONG = 1e9"
MAIN = f"from deptree_cli.cli.app import main; {IMPATIENT}; main()"
OTHER = "import numpy as np; from deptree_cli.kernels.xoshiro import uniform; uniform(np.ones(4, dtype=np.uint64))"

# Sentences are scanned by few kernels: some two seconds.
CONVERT = words("convert $SCORES $SENTENCES")


@pytest.fixture
def cache(tmp_path):
    """The environment for a folder that has machine code, but not of the kernels that are wanted."""
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled, so nothing is told")
    folder = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    subprocess.run([sys.executable, "-c", OTHER], env=os.environ | folder, check=True)
    assert list(tmp_path.rglob("*.nbc"))
    return folder


@pytest.mark.slow("compile")
def test_a_cold_kernel_is_told_though_others_are_there(tmp_path, cache):
    command = [sys.executable, "-c", MAIN, *CONVERT]
    code, shown = on_terminal(command, tmp_path, **cache)
    before, brace, after = shown.partition("{")
    counts = [int(count) for count in LINE.findall(before)]
    assert (code, brace) == (0, "{")
    assert counts == sorted(counts)
    assert counts[-1] > 0
    assert LINE.sub("", before).strip("\r").replace("\x1b[K", "").strip("\r") == ""
    assert before.endswith("\r\x1b[K")
    assert "compiling" not in after
    assert not LINE.search(on_terminal(command, tmp_path, **cache)[1])


@pytest.mark.slow("compile")
@pytest.mark.parametrize("how", ["-q", "2>err"])
def test_compiling_is_not_told_where_nobody_sees_it(tmp_path, cache, how):
    line = f'exec "$0" -c "$@" -o x.jsonl {how}'
    code, shown = on_terminal(["bash", "-c", line, sys.executable, MAIN, *CONVERT], tmp_path, **cache)
    assert (code, as_it_reads(shown)) == (0, "")
    assert not (tmp_path / "err").exists() or not (tmp_path / "err").read_bytes()


@pytest.mark.slow("compile")
def test_what_takes_long_is_said_once_where_no_line_can_be_drawn(tmp_path, cache):
    for quiet, said in ((["-q"], ""), ([], SAID), ([], "")):  # the third run finds the kernels compiled
        command = [sys.executable, "-c", MAIN.replace("1e9", "0.0"), *CONVERT, "-o", "x.jsonl", *quiet]
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
def test_workers_tell_too(tmp_path):
    shown = on_terminal([sys.executable, "-W", "ignore", "-c", FORKED], tmp_path)[1]  # of forks beside threads
    counts = [int(count) for count in LINE.findall(shown)]
    assert counts[0] == 0
    assert 2 <= counts[-1] <= 3
    assert LINE.sub("", shown) == "\r\x1b[Kdone\r\n"


WARM = [sys.executable, "-m", "deptree_cli", "warm"]


@pytest.fixture
def alone(tmp_path):
    """The environment of `deptree warm`: an empty cache, a place for temporary files, nobody's choice of compiling."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return kept | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}


@pytest.mark.slow("compile")
@pytest.mark.parametrize("output", [[], ["-o", "cache"]])
def test_warm_goes_on_where_it_was(tmp_path, alone, output):
    """The second time nothing is compiled, and nothing is left but machine code, which others can read where a folder
    is named: it may come with the package, installed by root, used by everyone."""
    how = {"cwd": tmp_path, "env": alone, "umask": 0o022, "capture_output": True, "text": True, "check": True}
    first, second = (subprocess.run([*WARM, "convert", *output], **how).stdout for _ in range(2))
    assert int(first.split()[0]) > 0
    assert second.startswith("0 kernels compiled, ")
    assert int(second.split()[3]) > 0
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]
    assert not output or (tmp_path / "cache").stat().st_mode & 0o777 == 0o755


@pytest.mark.slow("compile")
def test_ctrl_c_leaves_no_folder_of_warm(tmp_path, alone):
    process = subprocess.Popen([*WARM, "partition"], env=alone)
    until = time.monotonic() + 60
    while not list(tmp_path.glob("deptree-warm-*/scores.npz")) and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert not list(tmp_path.glob("deptree-warm-*"))


def test_warm_refuses_a_typo_and_a_folder_that_nobody_can_make(deptree):
    assert "No such command 'partion'. Did you mean partition? See" in deptree("warm partion").err
    assert deptree("warm foo").err == "deptree warm: No such command 'foo'. See deptree warm --help.\n"
    assert "/proc/nowhere: this folder cannot be written" in deptree("warm -o /proc/nowhere partition").err
