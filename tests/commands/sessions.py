"""Sessions: lines and all that they write, in golden files as one would see them in a shell."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.lines import Run
from tests.sample import DATA


def hold_session(deptree: Run, golden: Callable[[str, bytes], None], name: str, lines: str) -> None:
    """Run rows `line | why` one after another: standard output, standard error behind `!`, and the exit status."""
    told = []
    for line, *why in (row.split(" | ") for row in map(str.strip, lines.splitlines()) if row):
        told += [*(f"# {each}" for each in why), f"$ {line}"]
        if line.startswith("cat "):
            told += [Path(line.removeprefix("cat ")).read_text(encoding="utf-8")]
            continue
        ran = deptree(line)
        said = [re.sub(r"deptree\|.*", "deptree|...", f"! {each}").rstrip() for each in ran.said]  # not the version
        told += [ran.out.decode(), *(each for each in said if each != "! deptree: deptree|...")]
        told += [f"[{ran.code}]", ""]
    golden(name, "\n".join(told).replace(str(DATA), "$DATA").encode())
