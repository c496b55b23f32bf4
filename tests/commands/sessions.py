"""Sessions: lines and all that they write, in golden files as one would see them in a shell."""

from __future__ import annotations

from collections.abc import Callable

from tests.lines import Run
from tests.sample import DATA


def hold_session(deptree: Run, golden: Callable[[str, bytes], None], name: str, lines: str) -> None:
    """Run rows `line | why` one after another: standard output, standard error behind `!`, and the exit status."""
    told = []
    for line, *why in (row.split(" | ") for row in map(str.strip, lines.splitlines()) if row):
        ran = deptree(line)
        told += [*(f"# {each}" for each in why), f"$ {line}", ran.out.decode()]
        told += [f"! {each}" for each in ran.said if "deptree|" not in each]  # signatures have a version
        told += [f"[{ran.code}]", ""]
    golden(name, "\n".join(told).replace(str(DATA), "$DATA").encode())
