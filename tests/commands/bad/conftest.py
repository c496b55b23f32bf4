"""Bad input one by one: exit status 2, one line that says where, what and what to do, and nothing on stdout."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def bad(name: str, args: tuple[Any, ...], says: tuple[str, ...], files: dict[str, Any] | None = None) -> Any:
    """A case: a command line, what its one line must say, and the files that it meets."""
    return pytest.param(args, says, files or {}, id=name)


@pytest.fixture
def refused() -> Callable[..., None]:
    """Whether a run ended as it has to, its one line with all these parts."""

    def check(ran: Any, *says: str) -> None:
        assert ran.code == 2
        assert ran.out == b""
        assert len(ran.said) == 1, ran.err
        assert ran.said[0].startswith("deptree")
        assert [part for part in says if part not in ran.said[0]] == [], ran.said[0]

    return check


@pytest.fixture
def meet(put: Callable[..., str], deptree: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    """Run a bad command among these files, quietly and not, which must not change what its one line says."""

    def run(args: tuple[Any, ...], files: dict[str, Any]) -> Any:
        put("unrelated", b"")
        for name, content in files.items():
            put(name, content)
        before = sorted(path.name for path in tmp_path.iterdir())
        quiet = deptree(*args, "-q")
        loud = deptree(*args)
        assert loud.said[-1:] == quiet.said
        assert all(said.startswith("deptree: ") for said in loud.said[:-1]), loud.err
        assert sorted(path.name for path in tmp_path.iterdir()) == before
        return quiet

    return run
