"""The same sentences in the containers and layouts that people dump: made of the sample data, and others' files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.dtypes import Float
from tests.sample import DATA


@pytest.fixture(scope="session", params=["sample_data", "shared"])
def formats(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the files; they have the same names, whosever they are."""
    if request.param == "shared":
        return request.getfixturevalue("shared") / "formats"
    folder = tmp_path_factory.mktemp("formats")
    with np.load(DATA / "scores.npz") as archive:
        names = list(archive)
    with (DATA / "scores_stream.npy").open("rb") as stream:
        squares = [np.load(stream) for _ in names]
    copy_ours(folder)
    write_logits(folder, squares, names)
    write_probabilities(folder, squares, names)
    return folder


def copy_ours(folder: Path) -> None:
    """What the sample data have as it is."""
    for ours, theirs in {
        "scores.npz": "keys_dep_x_head_rect.npz",
        "scores_stream.npy": "stream.npys",
        "scores.npy": "padded_batch.npy",
        "sentences.conllu": "sentences.conllu",
        "labels.json": "labels.json",
    }.items():
        shutil.copy(DATA / ours, folder / theirs)


def write_logits(folder: Path, squares: list[Float], names: list[str]) -> None:
    """The logits, row = dependent, column = head, node 0 = ROOT, in the other containers and with ROOT elsewhere."""
    np.savez(folder / "arr_i_square.npz", *squares)
    batch, lengths = np.load(folder / "padded_batch.npy"), np.loadtxt(DATA / "lengths.txt", dtype=np.int64)
    np.savez(folder / "padded_batch_lengths.npz", scores=batch, lengths=lengths)
    for number, square in enumerate(squares):
        np.save(folder / f"one_{number}_depmajor_square.npy", square)
    diagonal = [square[1:, 1:].copy() for square in squares]
    for words, square in zip(diagonal, squares, strict=True):
        np.fill_diagonal(words, square[1:, 0])
    np.savez(folder / "spacy_diagonal_root.npz", *diagonal)
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    rectangles = {name: square[1:].copy() for name, square in zip(names, squares, strict=True)}
    library.save_file(rectangles, folder / "scores.safetensors")


def write_probabilities(folder: Path, squares: list[Float], names: list[str]) -> None:
    """The probabilities of heads: their logarithms, as weights the other way round, and together with labels."""
    probs = [head_probabilities(square) for square in squares]
    with (folder / "logprobs.jsonl").open("w", encoding="utf-8") as lines:
        for name, each in zip(names, probs, strict=True):
            rows = [[float(np.log(p)) if p else None for p in row] for row in each[1:].tolist()]
            lines.write(json.dumps({"sent_id": name, "scores": rows}) + "\n")
    np.save(folder / "one_0_headmajor_weights.npy", probs[0].T)
    with np.load(DATA / "label_scores.npz") as labels:
        joint = [joint_probabilities(each, labels[name]) for name, each in zip(names, probs, strict=True)]
    np.savez(folder / "allennlp_energy_label_head_dep.npz", *joint)


def head_probabilities(square: Float) -> Float:
    """P(head) of every dependent, (n+1, n+1), row = dependent; those of ROOT and of a word under itself are 0."""
    weights = np.exp(square.astype(float))
    np.fill_diagonal(weights, 0)
    weights[0] = 0
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)


def joint_probabilities(heads: Float, logits: Float) -> Float:
    """P(head, label), (L, n+1, n+1), head by dependent: `root` under ROOT, and there only; never the first, <pad>."""
    names = json.loads((DATA / "labels.json").read_text(encoding="utf-8"))
    weights = np.exp(logits.astype(float))
    weights[:, :, [0, names.index("root")]] = 0
    weights[:, 0] = np.array(names) == "root"
    labels = weights / weights.sum(axis=2, keepdims=True)  # dependent, head, label
    joint = np.zeros((len(names), *heads.shape))
    joint[:, :, 1:] = (labels * heads[1:, :, None]).transpose(2, 1, 0)
    return joint
