"""The progress bar: done of all, the rate and the time left, and never among data on a terminal."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.cli import terminal as module
from deptree_cli.cli.terminal import Counted, StatusLine, progress
from tests.on_terminal import on_terminal

MATRICES = {f"s{number}": np.random.default_rng(number).random((41, 41)) for number in range(60)}


AT_ONCE = "import deptree_cli.cli.terminal as bar; bar.PATIENCE = bar.INTERVAL = -1.0"


@pytest.fixture
def screen(tmp_path, warm):
    """A line of bash with a terminal for all streams, where a bar is drawn at once: all that came to the terminal."""
    np.savez(tmp_path / "s.npz", **MATRICES)
    rows = [json.dumps({"sent_id": key, "scores": each.tolist()}) for key, each in MATRICES.items()]
    (tmp_path / "s.jsonl").write_text("\n".join(rows) + "\n")

    def run(line: str) -> str:
        environment = {"DEPTREE_BEFORE": AT_ONCE, "PATH": f"{warm}:{os.environ['PATH']}"}
        code, shown = on_terminal(["bash", "-c", line], tmp_path, 120, **environment)
        assert code == 0
        return shown.replace("\x1b[0m", "")  # colorama's, at exit, where it is installed

    return run


OPTIONS = "--from treesample --seed 1"


@pytest.mark.slow("process")
@pytest.mark.parametrize("jobs", ["", "--jobs 2"])
def test_a_container_with_names_knows_the_total(screen, jobs):
    shown = screen(f"deptree sample s.npz {OPTIONS} {jobs} -o out.jsonl")
    assert re.search(r"\r\[=+ +\] \d+ of 60 sentences, [\d,.e+]+/s, 0:00:\d\d left\x1b\[K", shown)
    assert shown.endswith("\r\x1b[K")
    assert "s59" not in shown


def test_a_file_of_lines_tells_by_its_bytes(screen):
    shown = screen(f"deptree sample s.jsonl {OPTIONS} -o out.jsonl")
    totals = [int(total) for total in re.findall(r"of about (\d+) sentences", shown)]
    assert totals
    assert 50 <= np.median(totals) <= 70


def test_a_shard_counts_its_own(screen):
    assert " of 20 sentences" in screen(f"deptree sample s.npz {OPTIONS} --shard 2/3 -o out.jsonl")


@pytest.mark.parametrize("reader", ["| head -n 1", "| cat", ""])
def test_it_is_gone_before_data(screen, reader):
    """What follows the first data is data alone."""
    shown = screen(f"deptree sample s.npz {OPTIONS} {reader}")
    before, brace, after = shown.partition('{"sent_id"')
    assert brace
    assert before.endswith("\x1b[K") or not before
    assert "\x1b" not in after
    assert "sentences" not in after


@pytest.mark.parametrize("options", ["-q", "2>/dev/null"])
def test_it_can_be_left_out(screen, options):
    assert screen(f"deptree sample s.npz {OPTIONS} -o out.jsonl {options}") == ""


def test_what_is_short_has_none(tmp_path):
    assert module.PATIENCE >= 1
    items = list(progress(iter(range(10)), Counted(range(10))))
    assert items == list(range(10))


def test_talk_makes_way(screen):
    shown = screen(
        "printf '[' > bad.jsonl; cat bad.jsonl s.jsonl > t.jsonl; tail -n 59 s.jsonl >> t.jsonl;"
        f" deptree sample t.jsonl {OPTIONS} --on-error skip -o out.jsonl; true"
    )
    lines = [line for line in shown.split("\n") if "skipped" in line]
    assert lines
    assert all(line.split("\r\x1b[K")[-1].startswith("deptree: ") for line in lines)


@pytest.mark.parametrize(
    ("total", "share", "shown"),
    [
        (lambda: 40, lambda: None, "] 11 of 40 sentences, 5/s, 0:00:06 left"),
        (lambda: None, lambda: 0.25, "] 11 of about 44 sentences, 5/s, 0:00:07 left"),
        (lambda: None, lambda: None, "11 sentences, 5/s"),
        (lambda: 4, lambda: None, "] 11 of 11 sentences, 5/s, 0:00:00 left"),
        (lambda: 40_000, lambda: None, "] 11 of 40,000 sentences, 5/s, 2:13:18 left"),
    ],
)
def test_what_it_says(total, share, shown):
    source = Counted(range(40), total, share)
    for _, _ in zip(range(11), source, strict=False):
        pass
    line = StatusLine()
    line.begin(source)
    line.done = 11
    assert line.text(2.0).endswith(shown)


def test_training_shows_its_log_likelihood(screen):
    treebank = Path(__file__).parents[2] / "sample_data" / "treebank.conllu"
    shown = screen(f"deptree hpyp train {treebank} -o model.npz --seed 1 --iterations 4")
    assert re.search(r"\r\[=+ +\] 2 of 4 iterations, [\d.]+/s, 0:00:\d\d left, log p -[\d,]+\x1b\[K", shown)


def test_a_long_item_tells_how_far_it_is(screen):
    pairs = Path(__file__).parents[2] / "sample_data/bitext.npz"
    shown = screen(f"deptree bitext expectations {pairs} --method randomized --iterations 3 --seed 1 -o out.npz")
    assert "0 of 5 pairs; 1 iteration\x1b[K" in shown
    assert re.search(r"1 of 5 pairs; 2 iterations\x1b\[K", shown)
