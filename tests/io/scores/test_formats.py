"""The same sentences in the containers and layouts that people dump, ours and others'."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.companion import in_order
from deptree_cli.io.scores.containers import open_scores
from deptree_cli.io.scores.layout import Layout, cut, to_head_dep
from deptree_cli.io.scores.meta import NOTHING
from deptree_cli.io.scores.presets import layout
from deptree_cli.io.scores.raw import Raw, RawScores, ReadSpec


def read(path: str, chosen: Layout | None = None) -> list[Raw]:
    """What is in a file, of matrices laid out so."""
    chosen = chosen or Layout()
    with open_scores(path) as file:
        assert replace(file.meta, ordered=True) == NOTHING
        return list(in_order(file.read(ReadSpec(chosen.dimensions, chosen.forbidden))))


@pytest.fixture(scope="module")
def expected(formats: Path) -> dict[str, Float]:
    """The log-probabilities of heads by sent_id, read by NumPy alone."""
    with np.load(formats / "keys_dep_x_head_rect.npz") as archive:
        return {name: normalised(to_head_dep(scores, layout("udpipe2")), "log") for name, scores in archive.items()}


def normalised(scores: Float, scale: str) -> Float:
    """Log-probabilities of heads, (n+1, n): logits and log-softmax, joint and conditional scores then agree."""
    with np.errstate(divide="ignore"):
        arcs = np.log(scores[:, 1:]) if scale == "weight" else scores[:, 1:]
    return arcs - np.logaddexp.reduce(arcs, axis=0)


def agree(seen: Float, wanted: Float, scale: str) -> None:
    """Weights in float32 lose the arcs of the smallest probabilities, or their last digits."""
    assert seen.shape == wanted.shape
    assert (np.isfinite(wanted) >= np.isfinite(seen)).all()
    np.testing.assert_allclose(np.exp(seen), np.exp(wanted), atol=1e-5)
    kept = seen > -80 if scale == "weight" else np.ones_like(seen, dtype=bool)
    np.testing.assert_allclose(seen[kept], wanted[kept], atol=2e-4, rtol=1e-5)


def arcs_of(raw: Raw, chosen: Layout, n: int) -> Float:
    """The normalised scores of a sentence of n words; weights of labels are summed up."""
    assert isinstance(raw, RawScores), raw
    assert raw.length in (None, n)
    scores = cut(raw.scores, n, chosen) if raw.padded or raw.length else raw.scores
    matrix = to_head_dep(scores, chosen)
    return normalised(matrix.sum(axis=2) if chosen.labels else matrix, chosen.scale)


@pytest.mark.parametrize(
    ("name", "chosen", "named"),
    [
        ("keys_dep_x_head_rect.npz", layout("udpipe2"), True),
        ("arr_i_square.npz", layout("supar"), False),
        ("stream.npys", layout("stanza"), False),
        ("padded_batch.npy", layout("hanlp"), False),
        ("padded_batch_lengths.npz", layout("diaparser"), False),
        ("logprobs.jsonl", layout("natasha"), True),
        ("scores.safetensors", layout("natasha"), True),
        ("spacy_diagonal_root.npz", layout("spacy"), False),
        ("allennlp_energy_label_head_dep.npz", layout("allennlp"), False),
    ],
)
def test_all_containers_hold_the_same_sentences(
    name: str, chosen: Layout, named: bool, formats: Path, expected: dict[str, Float]
) -> None:
    raws = read(str(formats / name), chosen)
    assert len(raws) == len(expected) == 8
    keys = [raw.key for raw in raws if isinstance(raw, RawScores)]
    # The library of .safetensors writes tensors by name.
    order = sorted(expected) if name == "scores.safetensors" else list(expected)
    assert (keys == order) is named
    for raw, key in zip(raws, order, strict=True):
        agree(arcs_of(raw, chosen, expected[key].shape[1]), expected[key], chosen.scale)


def test_single_files_hold_a_sentence_each(formats: Path, expected: dict[str, Float]) -> None:
    for number, wanted in enumerate(expected.values()):
        (raw,) = read(str(formats / f"one_{number}_depmajor_square.npy"))
        agree(arcs_of(raw, layout("supar"), wanted.shape[1]), wanted, "log")
    (raw,) = read(str(formats / "one_0_headmajor_weights.npy"))
    wanted = next(iter(expected.values()))
    agree(arcs_of(raw, layout("treesample"), wanted.shape[1]), wanted, "weight")


def test_a_stream_of_arrays_from_a_pipe(formats: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()

    def feed() -> None:
        with os.fdopen(writing, "wb") as pipe:
            pipe.write((formats / "stream.npys").read_bytes())

    feeder = threading.Thread(target=feed)
    feeder.start()
    with os.fdopen(reading) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        assert len(read("-", layout("supar"))) == 8
    feeder.join()


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
def test_what_is_refused(name: str, part: str, formats: Path) -> None:
    try:
        (error,) = read(str(formats / name))
    except DeptreeError as raised:
        error = raised
    assert isinstance(error, DeptreeError)
    assert part in str(error)
