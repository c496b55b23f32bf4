"""The register of containers: which reader is chosen, what is refused, and that all containers tell the same story."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.sentence import Sentence
from deptree_cli.io.formats import open_scores
from deptree_cli.io.labels import read_labels
from deptree_cli.io.layout import Layout, to_head_dep
from deptree_cli.io.pairing import Record, read_records
from deptree_cli.io.presets import layout
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
        ("a.pt", b"\x00\x00", ["a torch file may run code", "torch.load"]),
        ("a", b"\x89HDF\r\n\x1a\n", ["HDF5", "h5py"]),
        ("a", (40).to_bytes(8, "little") + b'{"a"', ["the file is damaged or cut short"]),
        ("a", b"# sent_id = 1\n1\ta", ["sentences (CoNLL-U)", "--conllu"]),
        ("a.conllu", b"\xef\xbb\xbf1\ta", ["sentences (CoNLL-U)", "--conllu"]),
        ("a.npy", b"1.5 2.5", ["not a .npy header"]),
        ("a.npz", b"1.5 2.5", ["damaged"]),
        ("a.txt", b"1.5 2.5", ["a.txt: neither the name nor the first bytes", ".npz, .npy, .safetensors or .jsonl"]),
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


def normalised(sentence: Sentence) -> np.ndarray:
    """Log-probabilities of heads, (n+1, n): logits and log-softmax, joint and conditional scores then agree."""
    arcs = sentence.log_scores[:, 1:]
    return arcs - np.logaddexp.reduce(arcs, axis=0)


def eight(name: str, chosen: Layout, shared: Path) -> Iterator[Sentence]:
    """The Russian sentences from one of their files."""
    folder = shared / "formats"
    labels = read_labels(str(folder / "labels.json")) if chosen.labels else None
    for record in read_records(str(folder / name), chosen, str(folder / "sentences.conllu")):
        assert isinstance(record, Record), record
        scores = to_head_dep(record.scores, chosen)
        yield Sentence.from_scores(scores, id=record.sent_id, scale=chosen.scale, labels=labels)


@pytest.mark.parametrize(
    ("name", "chosen"),
    [
        ("arr_i_square.npz", layout("supar")),
        ("stream.npys", layout("stanza")),
        ("padded_batch.npy", layout("hanlp")),
        ("padded_batch_lengths.npz", layout("diaparser")),
        ("logprobs.jsonl", layout("natasha")),
        ("scores.safetensors", layout("natasha")),
        ("spacy_diagonal_root.npz", layout("spacy")),
        ("allennlp_energy_label_head_dep.npz", layout("allennlp")),
    ],
)
def test_all_containers_hold_the_same_sentences(name: str, chosen: Layout, shared: Path) -> None:
    expected = list(eight("keys_dep_x_head_rect.npz", layout("udpipe2"), shared))
    found = list(eight(name, chosen, shared))
    assert len(found) == len(expected) == 8
    for one, other in zip(expected, found, strict=True):
        agree(one, other, chosen.scale)


def agree(one: Sentence, other: Sentence, scale: str) -> None:
    """Weights in float32 lose the arcs of the smallest probabilities, or their last digits."""
    wanted, seen = normalised(one), normalised(other)
    assert (one.id, one.n) == (other.id, other.n)
    assert (np.isfinite(wanted) >= np.isfinite(seen)).all()
    np.testing.assert_allclose(np.exp(seen), np.exp(wanted), atol=1e-5)
    kept = seen > -80 if scale == "weight" else np.ones_like(seen, dtype=bool)
    np.testing.assert_allclose(seen[kept], wanted[kept], atol=2e-4, rtol=1e-5)


def test_single_files_hold_a_sentence_each(shared: Path) -> None:
    expected = list(eight("keys_dep_x_head_rect.npz", layout("udpipe2"), shared))
    for number, one in enumerate(expected):
        (scores,) = read(str(shared / "formats" / f"one_{number}_depmajor_square.npy"))
        agree(one, Sentence.from_scores(to_head_dep(scores, layout("supar")), id=one.id, scale="log"), "log")
    (weights,) = read(str(shared / "formats" / "one_0_headmajor_weights.npy"))
    agree(expected[0], Sentence.from_scores(to_head_dep(weights, layout("treesample")), id=expected[0].id), "weight")


def test_a_stream_of_arrays_from_a_pipe(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write((shared / "formats" / "stream.npys").read_bytes())
    with os.fdopen(reading) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        assert len(read("-", layout("supar"))) == 8


def test_the_type_of_a_tensor_that_numpy_lacks_is_named(scratch, says) -> None:
    header = json.dumps({"a": {"dtype": "BF16", "shape": [2, 2], "data_offsets": [0, 8]}}).encode()
    scratch("a.safetensors", len(header).to_bytes(8, "little") + header + bytes(8))
    (error,) = open_scores("a.safetensors", Layout())
    assert "a.safetensors[a]: the tensor cannot be read" in str(error)
    assert "bfloat16" in str(error)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("supar_probs.pt", "torch"),
        ("batch_dict.pt", "torch"),
        ("object_array.npy", "object array"),
        ("scores.h5", "HDF5"),
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
