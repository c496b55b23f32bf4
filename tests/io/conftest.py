"""What the tests of this room share: scratch files, the message of an error, and pictures in a line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.pictures.arcs import OTHER, Arc, Picture


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


@pytest.fixture(scope="session")
def picture() -> Callable[..., Picture]:
    """A picture of forms and heads, all arcs certain but for `others`: (head, dependent, probability)."""

    def draw(
        forms: str, heads: Sequence[int], others: Sequence[tuple[int, int, float]] = (), labels: str = ""
    ) -> Picture:
        lost = {dependent: sum(p for _, other, p in others if other == dependent) for _, dependent, _ in others}
        named = labels.split() or [""] * len(heads)
        arcs = [Arc(head, word, 1 - lost.get(word, 0.0), named[word - 1]) for word, head in enumerate(heads, 1)]
        arcs += [Arc(head, word, p, "", OTHER) for head, word, p in others]
        return Picture("s-1", forms.split(), arcs, "most probable tree, probability 0.5")

    return draw
