"""The register of containers: which reader is chosen, what is refused, and that all containers tell the same story."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.formats import open_scores
from deptree_cli.io.layout import Layout, layout, to_head_dep
from deptree_cli.io.raw import RawScores

MATRICES = [np.arange(6.0).reshape(2, 3) + 1, np.ones((1, 2))]


def npy() -> bytes:
    stream = io.BytesIO()
    for matrix in MATRICES:
        np.save(stream, matrix)
    return stream.getvalue()


def npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, *MATRICES)
    return stream.getvalue()


def jsonl() -> bytes:
    return b"".join(b'{"scores": %s}\n' % str(matrix.tolist()).encode() for matrix in MATRICES)


def read(path: str, chosen: Layout | None = None, lengths: str | None = None) -> list[np.ndarray]:
    raws = list(open_scores(path, chosen or Layout(), lengths))
    assert all(isinstance(raw, RawScores) for raw in raws), raws
    return [raw.scores for raw in raws if isinstance(raw, RawScores)]


@pytest.mark.parametrize("make", [npy, npz, jsonl])
@pytest.mark.parametrize("wrap", [bytes, gzip.compress])
@pytest.mark.parametrize("name", ["scores", "scores.txt", "scores.npy", "scores.npz", "scores.jsonl.gz", "-"])
def test_the_first_bytes_decide(
    make: Callable[[], bytes], wrap: Callable[[bytes], bytes], name: str, scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = wrap(make())
    if name == "-":
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    else:
        scratch(name, data)
    for scores, matrix in zip(read(name), MATRICES, strict=True):
        np.testing.assert_array_equal(scores, matrix)


@pytest.mark.parametrize(
    ("name", "data", "parts"),
    [
        ("a.pkl", b"\x80\x04\x95abc", ["a pickle runs code", "pickle.load"]),
        ("a.pkl", b"(lp0\n.", ["a pickle runs code"]),
        ("a.npy", b"\x80\x04\x95abc", ["a pickle runs code"]),
        ("a.pt", b"\x00\x00", ["a torch file runs code", "torch.load"]),
        ("a", b"\x89HDF\r\n\x1a\n", ["HDF5", "h5py"]),
        ("a", (40).to_bytes(8, "little") + b'{"a"', ["safetensors is not read yet", "np.savez"]),
        ("a", b"# sent_id = 1\n1\ta", ["sentences (CoNLL-U)", "--conllu"]),
        ("a.conllu", b"\xef\xbb\xbf1\ta", ["sentences (CoNLL-U)", "--conllu"]),
        ("a.npy", b"1.5 2.5", ["not a .npy header"]),
        ("a.npz", b"1.5 2.5", ["damaged"]),
        ("a.txt", b"1.5 2.5", ["a.txt: neither the name nor the first bytes", ".npz, .npy or .jsonl"]),
        ("a", b"1", ["neither the name nor"]),
    ],
)
def test_what_is_refused(name: str, data: bytes, parts: list[str], scratch, says) -> None:
    scratch(name, data)
    with says(name, *parts):
        read(name)


def test_lengths_are_for_a_batch(scratch, says) -> None:
    lengths = scratch("lengths", b"1\n2\n")
    stream = io.BytesIO()
    np.save(stream, np.ones((2, 4, 4)))
    assert [scores.shape for scores in read(scratch("a.npy", stream.getvalue()), lengths=lengths)] == [(2, 2), (3, 3)]
    with says("--lengths is for a padded .npy"):
        read(scratch("a.npz", npz()), lengths=lengths)


def normalised(log_scores: np.ndarray) -> np.ndarray:
    """Log-scores (n+1, n+1) of which every column sums to 1 as probabilities, so that logits and log-softmax agree."""
    arcs = log_scores[:, 1:]
    with np.errstate(under="ignore"):
        return arcs - np.log(np.exp(arcs - arcs.max(axis=0)).sum(axis=0)) - arcs.max(axis=0)


def agree(path: Path, chosen: Layout, shared: Path, count: int = 8) -> None:
    expected = read(str(shared / "formats" / "keys_dep_x_head_rect.npz"), layout("udpipe2"))[:count]
    found = read(str(path), chosen)
    assert len(expected) == len(found) == count
    for one, other in zip(expected, found, strict=True):
        n = len(one)
        rows, columns = (n + 1, n + 1) if other.shape[0] > n + 1 else other.shape
        mine = to_head_dep(other[:rows, :columns], chosen)
        if chosen.scale == "weight":
            with np.errstate(divide="ignore"):
                mine = np.log(mine)
        seen = normalised(mine)
        wanted = normalised(to_head_dep(one, layout("udpipe2")))
        # Weights in float32 lose the arcs of the smallest probabilities, or their last digits.
        kept = seen > -80 if chosen.scale == "weight" else np.ones_like(seen, dtype=bool)
        assert (np.isfinite(wanted) >= np.isfinite(seen)).all()
        np.testing.assert_allclose(np.exp(seen), np.exp(wanted), atol=1e-5)
        np.testing.assert_allclose(seen[kept], wanted[kept], atol=2e-4, rtol=1e-5)


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("arr_i_square.npz", layout("supar")),
        ("stream.npys", layout("stanza")),
        ("padded_batch.npy", layout("supar")),
        ("padded_batch_lengths.npz", layout("supar")),
        ("logprobs.jsonl", layout("natasha")),
        ("spacy_diagonal_root.npz", layout("spacy")),
    ],
)
def test_all_containers_hold_the_same_sentences(name: str, chosen: Layout, shared: Path) -> None:
    agree(shared / "formats" / name, chosen, shared)


def test_single_files_hold_the_first_sentence(shared: Path) -> None:
    agree(shared / "formats" / "one_0_depmajor_square.npy", layout("supar"), shared, count=1)
    agree(shared / "formats" / "one_0_headmajor_weights.npy", layout("treesample"), shared, count=1)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("supar_probs.pt", "torch"),
        ("batch_dict.pt", "torch"),
        ("object_array.npy", "object array"),
        ("scores.h5", "HDF5"),
        ("scores.safetensors", "safetensors"),
        ("sentences.conllu", "CoNLL-U"),
        ("labels.json", "list where an object"),
    ],
)
def test_other_people_s_files_are_refused(name: str, part: str, shared: Path) -> None:
    try:
        (error,) = open_scores(str(shared / "formats" / name), Layout())
    except DeptreeError as raised:
        error = raised
    assert part in str(error)
