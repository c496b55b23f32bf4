"""The register of containers: what is recognised, what is refused, and what a name asks for when scores are written."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.io.scores.arrays import RawScores
from deptree_cli.io.scores.containers import CONTAINERS, Container
from deptree_cli.io.scores.meta import NOTHING
from tests.io.scores.written import format_for

WRITTEN = [container for container in CONTAINERS if container.write]
USUAL = [container.suffixes[0] for container in WRITTEN]
MATRICES = [np.arange(6.0).reshape(2, 3) + 1, np.ones((1, 2))]


@pytest.mark.parametrize("container", WRITTEN, ids=lambda container: container.name)
@pytest.mark.parametrize(
    "name", ["scores", "scores.txt", "scores.npy", "scores.npz", "scores.jsonl.gz", "a.pt", "a.h5"]
)
def test_the_first_bytes_decide(container: Container, name: str, tmp_path, monkeypatch, contents) -> None:
    monkeypatch.chdir(tmp_path)
    assert container.write
    with container.write(name, NOTHING, False) as write:
        for number, matrix in enumerate(MATRICES):
            write(str(number), matrix)
    _, raws = contents(name)
    for raw, scores in zip(raws, MATRICES, strict=True):
        assert isinstance(raw, RawScores)
        np.testing.assert_array_equal(raw.scores, scores)


@pytest.mark.parametrize(
    ("name", "data", "parts"),
    [
        ("a.pkl", b"\x80\x04\x95abc", ["a pickle runs code", "pickle.load"]),
        ("a.pkl", b"(lp0\n.", ["a pickle runs code"]),
        ("a.npy", b"\x80\x04\x95abc", ["a pickle runs code"]),
        ("a.pt", b"\x00\x00", ["a torch file may run code", "torch.load"]),
        ("a.h5", b"\x00\x00", ["HDF5", "h5py"]),
        ("a", b"\x89HDF\r\n\x1a\n", ["HDF5", "h5py"]),
        pytest.param("a", (40).to_bytes(8, "little") + b'{"a"', ["the file is damaged or cut short"], id="safetensors"),
        ("a", b"# sent_id = 1\n1\ta", ["sentences (CoNLL-U)", "--conllu"]),
        ("a.conllu", b"\xef\xbb\xbf1\ta", ["sentences (CoNLL-U)", "--conllu"]),
        ("a.npy", b"1.5 2.5", ["not a .npy header"]),
        ("a.npz", b"1.5 2.5", ["damaged"]),
        (
            "a.txt",
            b"1.5 2.5",
            ["a.txt: neither the name nor the first bytes", f"{', '.join(USUAL[:-1])} or {USUAL[-1]}"],
        ),
        ("a", b"1", ["neither the name nor"]),
        ("a.npy", b"", ["the file is empty"]),
    ],
)
def test_what_is_refused(name: str, data: bytes, parts: list[str], scratch, says, contents) -> None:
    scratch(name, data)
    with says(name, *parts):
        contents(name)


@pytest.mark.parametrize("data", [b"\x80\x04\x95abc", b"\x89HDF\r\n\x1a\n", b"# sent_id = 1\n"])
def test_refused_by_every_transport(deliver, data: bytes, says, contents) -> None:
    path = deliver(data, ".x")
    with says("standard input: " if path == "-" else f"{path}: "):
        contents(path)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        (None, "jsonl"),
        ("-", "jsonl"),
        ("scores", "jsonl"),
        ("scores.jsonl", "jsonl"),
        ("scores.NDJSON", "jsonl"),
        ("a.npz/scores", "jsonl"),
        ("scores.npy", "npy"),
        ("scores.npys", "npy"),
        ("scores.json.npz", "npz"),
        ("scores.safetensors", "safetensors"),
    ],
)
def test_the_suffix_says_what_is_written(path: str | None, name: str) -> None:
    assert format_for(path).name == name


@pytest.mark.parametrize("suffix", [".csv", ".conllu", ".json", ".h5", ".txt"])
def test_what_is_not_written(suffix: str, says) -> None:
    suffixes = [suffix for each in CONTAINERS.known if each.write for suffix in each.suffixes]
    with says(f"scores{suffix}.gz: this command does not write {suffix}. Name a file with one of", *suffixes):
        format_for(f"scores{suffix}.gz")


def test_no_two_containers_claim_the_same_suffix() -> None:
    suffixes = [suffix for container in CONTAINERS for suffix in container.suffixes]
    assert len(set(suffixes)) == len(suffixes)
    assert all(suffix.startswith(".") and suffix == suffix.lower() for suffix in suffixes)


def test_what_is_refused_is_never_written() -> None:
    assert {container.name for container in CONTAINERS if container.refused} == {"torch", "pickle", "hdf5", "conllu"}
    assert not any(container.write for container in CONTAINERS if container.refused)
