"""Sessions: lines as one types them and all that they write, in golden files; a new line is a `$ line  # why` there.

DEPTREE_GOLDEN=write writes them anew.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lines import GOLDEN, Run
from tests.sample import DATA


def hold_session(deptree: Run, golden: Callable[[str, bytes], None], name: str, columns: int = 80) -> None:
    """Run the lines again: standard output, standard error behind `!`, and the exit status must be those there."""
    told = []
    for row in re.findall(r"^\$ .*", (GOLDEN / name).read_text(encoding="utf-8"), re.MULTILINE):
        line = row.partition("  # ")[0].removeprefix("$ ")
        if line.startswith("cat "):
            told += [row, Path(line.removeprefix("cat ")).read_text(encoding="utf-8")]
            continue
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("COLUMNS", str(columns))
            ran = deptree(line)
        said = [re.sub(r"deptree\|.*", "deptree|...", f"! {each}").rstrip() for each in ran.said]  # not the version
        said = [each for each in said if each != "! deptree: deptree|..."]
        told += [row, ran.out.decode(), *said, f"[{ran.code}]", ""]
    assert told
    golden(name, "\n".join(told).replace(str(DATA), "$DATA").encode())
