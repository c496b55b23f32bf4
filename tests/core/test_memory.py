"""Memory is refused before it is used up, in a sentence."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from deptree_cli.core import memory
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.memory import available, memory_for


def test_what_is_there_is_given() -> None:
    with memory_for(1.0, "a number", "Go on"):
        pass


def test_too_much_is_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2.5e8)
    message = r"^there is not enough memory for a chart: it takes 3\.0 GB, 0\.2 GB are free\. Take less\.$"
    with pytest.raises(DeptreeError, match=message), memory_for(3e9, "a chart", "Take less"):
        pytest.fail("the block has begun")


def test_a_system_that_says_no_is_believed() -> None:
    message = r"not enough memory for a chart\. Take less"
    with pytest.raises(DeptreeError, match=message), memory_for(1.0, "a chart", "Take less"):
        raise MemoryError


def test_what_the_system_tells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The machine's memory or that of a container, whichever is less; no limit where nothing is told."""
    machine, group = tmp_path / "meminfo", tmp_path / "group"
    group.mkdir()
    monkeypatch.setattr(memory, "_MACHINE", machine)
    monkeypatch.setattr(memory, "_GROUP", group)
    assert available() == math.inf
    for text in (
        "",
        "\n\n",
        "MemAvailable:\n",
        "MemAvailable:\n2000 kB\n",
        "MemAvailable: many kB\n",
        "NotMemAvailable: 2 kB",
    ):
        machine.write_text(text)
        assert available() == math.inf
    machine.write_text("\nMemTotal: 9000 kB\n\nMemFree: 100 kB\nMemAvailable: 2000 kB\n")
    assert available() == 2_048_000
    (group / "memory.stat").write_text("anon 500000\nfile 3000000\n")
    for limit, expected in (("max", 2_048_000), ("1500000", 1_000_000), ("1e12", 2_048_000)):
        (group / "memory.max").write_text(limit + "\n")
        assert available() == expected
