"""Sessions: lines and all that they write, in golden files as one would see them in a shell."""

from __future__ import annotations

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
        told += [
            ran.out.decode(),
            *(f"! {each}".rstrip() for each in ran.said if "deptree|" not in each),
        ]  # not the version
        told += [f"[{ran.code}]", ""]
    golden(name, "\n".join(told).replace(str(DATA), "$DATA").encode())
