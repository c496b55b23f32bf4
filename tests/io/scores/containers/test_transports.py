"""A container comes as a file, gzipped, on standard input or through a named pipe, and is the same every time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.dtypes import Array
from deptree_cli.io.scores.arrays import RawScores, ReadSpec
from deptree_cli.io.scores.containers import CONTAINERS, Container
from deptree_cli.io.scores.layout import layout
from deptree_cli.io.scores.meta import NOTHING, Meta

WRITTEN = [container for container in CONTAINERS if container.write]
SIGNATURE = "deptree|dump|from:natasha|trees:projective|v:0"
META = Meta(SIGNATURE, layout("natasha"), "projective")

# Under names in the order in which every container keeps them.
MATRICES: dict[str, Array] = {
    "cs/ž": np.array([[0.5, -np.inf, 1e-300], [-1e15, 3.0, 1 / 3]]),
    "en-1": np.arange(2.0).reshape(1, 2),
    "en-2": np.random.default_rng(0).normal(size=(40, 41)),
}


def written(container: Container, arrays: dict[str, Array], forms: Sequence[str] | None = None) -> bytes:
    assert container.write
    with container.write("written", META, True) as write:
        for name, scores in arrays.items():
            write(name, scores, forms)
    return Path("written").read_bytes()


@pytest.mark.parametrize("container", WRITTEN, ids=lambda container: container.name)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_what_is_written_is_read_again(container: Container, deliver, dimensions: int, contents) -> None:
    """The same arrays, names, and how to read them."""
    arrays = {name: np.stack([scores] * 2, axis=-1) if dimensions == 3 else scores for name, scores in MATRICES.items()}
    path = deliver(written(container, arrays), container.suffixes[0])
    meta, raws = contents(path, ReadSpec(dimensions))
    named = container.named
    assert meta == (META if container.keeps_meta(True) else NOTHING)
    for raw, (name, scores) in zip(raws, arrays.items(), strict=True):
        assert isinstance(raw, RawScores)
        assert (raw.key, raw.padded, raw.length) == (name if named else None, False, None)
        assert raw.place.startswith("standard input" if path == "-" else path)
        np.testing.assert_array_equal(raw.scores, scores)


@pytest.mark.parametrize("container", WRITTEN, ids=lambda container: container.name)
def test_the_same_scores_are_the_same_bytes(container: Container, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert written(container, MATRICES) == written(container, MATRICES)


@pytest.mark.parametrize("container", WRITTEN, ids=lambda container: container.name)
def test_words_disturb_no_container(container: Container, scratch, contents) -> None:
    path = scratch("a", b"")
    Path(path).write_bytes(written(container, {"x": np.ones((2, 3))}, ["a", "č"]))
    (raw,) = contents(path)[1]
    assert raw.forms == (("a", "č") if container.name == "jsonl" else ())
