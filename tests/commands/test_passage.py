"""The way of a sentence through the house is short: few files have a function that every sentence passes."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import deptree_cli

PACKAGE = Path(deptree_cli.__file__).parent

# Files, without those of kernels.
MOST = 40

ROW = "{0}\tw{0}\t_\t_\t_\t_\t_\t_\t_\t_\n"
BLOCK = "# sent_id = s{}\n" + "".join(map(ROW.format, range(1, 4))) + "\n"


def calls(done, sentences: int) -> Counter[str]:
    """How often functions of each file are called by a run on so many sentences."""
    rng = np.random.default_rng(1)
    np.savez("s.npz", **{f"s{number}": rng.random((4, 4)) for number in range(sentences)})
    Path("s.conllu").write_text("".join(map(BLOCK.format, range(sentences))))
    found = Counter[str]()

    def count(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            found[frame.f_code.co_filename] += 1

    usual = sys.getprofile()
    threading.setprofile(count)
    sys.setprofile(count)
    try:
        done("decode", "s.npz", "--from", "treesample", "--conllu", "s.conllu", "-o", "out.conllu")
    finally:
        sys.setprofile(usual)
        threading.setprofile(usual)
    return found


@pytest.mark.slow("size")
def test_few_files_are_passed_by_every_sentence(done) -> None:
    """Those that are called more often the more sentences there are: what begins and ends a run is called once."""
    calls(done, 3)  # imports
    more = calls(done, 600) - calls(done, 300)
    paths = [Path(file) for file in more]
    passed = sorted(str(path.relative_to(PACKAGE)) for path in paths if path.is_relative_to(PACKAGE))
    assert "io/conllu/splicing.py" in passed
    without_kernels = [path for path in passed if not path.startswith("kernels/")]
    assert len(without_kernels) <= MOST, without_kernels
