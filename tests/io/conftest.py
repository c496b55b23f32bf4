"""What the tests of this room share: scratch files and the message of an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deptree_cli.core.errors import DeptreeError


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], str]:
    """Work in an empty folder; call with a name and bytes to put a file there."""
    monkeypatch.chdir(tmp_path)

    def put(name: str, data: bytes) -> str:
        (tmp_path / name).write_bytes(data)
        return name

    return put


@pytest.fixture
def says() -> Callable[..., object]:
    """A context in which a DeptreeError with all these parts in its one line must be raised."""

    @contextmanager
    def expect(*parts: str) -> Iterator[None]:
        with pytest.raises(DeptreeError) as caught:
            yield
        line = str(caught.value)
        assert all(part in line for part in parts), line
        assert "\n" not in line

    return expect
