"""Names that a container could read as something else: each comes back as it was written, or is refused at writing."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest

import deptree_cli
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.arrays import RawScores
from deptree_cli.io.scores.containers import CONTAINERS, Container
from deptree_cli.io.scores.containers.npz import BESIDE
from deptree_cli.io.scores.meta import NOTHING

NAMED = [container for container in CONTAINERS if container.write and container.named]

HOSTILE = [
    *(f"a.{part}" for part in BESIDE),
    *(f".{part}" for part in BESIDE),
    *("a.npy", "a.npy.npy", ".npy", "data.pkl", "__metadata__", "signature", "sent_id", "order"),
    *("", " ", " a ", "/a", "../a", "a/b", "a/", "a\\b", "C:a", ".", "..", "a.", "a:b|c", "é\u0301", "e\u0301", "A"),
    *("a\x00b", "\x00", "x" * 70_000, "scores", "lengths"),
]


def written(container: Container, names: list[str]) -> bool:
    """Whether arrays are written under these names, into `scores` and a suffix; what is refused
    leaves no file."""
    path = Path(f"scores{container.suffixes[0]}")
    assert container.write
    try:
        with container.write(str(path), NOTHING, False) as write:
            for number, name in enumerate(names):
                write(name, np.full((2, 3), number + 1.0))
    except DeptreeError:
        return path.exists()
    return True


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name[:20]))
@pytest.mark.parametrize("container", NAMED, ids=lambda container: container.name)
def test_every_name_comes_back_or_is_refused(container: Container, name: str, tmp_path, monkeypatch, contents) -> None:
    monkeypatch.chdir(tmp_path)
    path = f"scores{container.suffixes[0]}"
    others = {"lengths": "scores", "scores": "lengths"}
    for names in ([name], [name, "a"], ["a", name], ["a", name, "b"], [name, others.get(name, "a.npy")]):
        if len(set(names)) < len(names) or not written(container, names):
            continue
        _, raws = contents(path)
        assert [raw.key for raw in raws if isinstance(raw, RawScores)] == names
        assert [raw.scores[0, 0] for raw in raws] == list(range(1, len(names) + 1))
        if container.name == "npz":
            with np.load(path) as arrays:
                assert [arrays[each][0, 0] for each in names] == list(range(1, len(names) + 1))
        Path(path).unlink()


@pytest.mark.parametrize("container", NAMED, ids=lambda container: container.name)
def test_usual_names_are_written(container: Container, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    usual = ["weblog-blogspot.com_nominations_20041117172713_ENG_20041117_172713-0001", "doc/1", "a.b.c", "siblings"]
    assert written(container, [*usual, "sibling", "scores", "lengths", "1"])


@pytest.mark.slow("size")
def test_sentences_are_written_by_the_one_writer_that_knows_the_names() -> None:
    """A model's file has keys of its own; whatever else writes a .npz writes arrays of sentences."""
    package = Path(deptree_cli.__file__).parent
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Name | ast.alias) and getattr(node, "id", getattr(node, "name", "")) == "NpzOutput"
    }
    assert found == {"hpyp/files/model_file.py", "io/scores/containers/npz.py"}
