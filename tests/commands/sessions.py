"""Sessions: lines as one types them and all that they write, in golden files; a new line is a `$ line  # why` there."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.lines import GOLDEN, Run
from tests.sample import DATA


def hold_session(deptree: Run, golden: Callable[[str, bytes], None], name: str) -> None:
    """Run the lines again: standard output, standard error behind `!`, and the exit status must be those there."""
    told = []
    for row in re.findall(r"^\$ .*", (GOLDEN / name).read_text(encoding="utf-8"), re.MULTILINE):
        line = row.partition("  # ")[0].removeprefix("$ ")
        if line.startswith("cat "):
            told += [row, Path(line.removeprefix("cat ")).read_text(encoding="utf-8")]
            continue
        ran = deptree(line)
        said = [re.sub(r"deptree\|.*", "deptree|...", f"! {each}").rstrip() for each in ran.said]  # not the version
        told += [
            row,
            ran.out.decode(),
            *(each for each in said if each != "! deptree: deptree|..."),
            f"[{ran.code}]",
            "",
        ]
    assert told
    golden(name, "\n".join(told).replace(str(DATA), "$DATA").encode())
