"""The same sentences in every container and layout are the same distributions, ours and others' files alike."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.io.scores.reading import read

# Logits are the same numbers wherever they stand.
LOGITS = [
    ("keys_dep_x_head_rect.npz", {"preset": "natasha"}),
    ("keys_dep_x_head_rect.npz", {"preset": "log"}),  # a rectangle decides its own orientation
    ("arr_i_square.npz", {"preset": "supar"}),
    ("arr_i_square.npz", {"preset": "dep-head,log"}),
    ("stream.npys", {"preset": "stanza"}),
    ("padded_batch.npy", {"preset": "hanlp", "lengths": "lengths.txt"}),
    ("padded_batch.npy", {"preset": "hanlp", "conllu": "sentences.conllu"}),
    ("padded_batch_lengths.npz", {"preset": "diaparser"}),
    ("scores.safetensors", {"preset": "udpipe2"}),
    ("spacy_diagonal_root.npz", {"preset": "spacy"}),
]

# Probabilities lack what is common to a word's heads, and digits.
PROBABILITIES = [("logprobs.jsonl", {"preset": "natasha"})]


def distributions(folder: Path, name: str, options: dict[str, Any]) -> dict[str, TreeDistribution]:
    """Those in a file, by the names that the file or its sentences have, else by number."""
    given = {key: str(folder / value) if key in ("lengths", "conllu") else value for key, value in options.items()}
    return {each.id: each.distribution for each in read(str(folder / name), **given)}


@pytest.fixture(scope="module")
def known(formats: Path) -> dict[str, TreeDistribution]:
    """The distributions by the logits as NumPy reads them, in the order of the sentences."""
    found = {}
    with np.load(formats / "keys_dep_x_head_rect.npz") as archive:
        for name, rectangle in archive.items():
            square = np.zeros((len(rectangle) + 1, len(rectangle) + 1))
            square[:, 1:] = rectangle.astype(float).T
            found[name] = TreeDistribution(square, id=name)
    return found


@pytest.fixture(scope="module")
def folder(formats: Path, known: dict[str, TreeDistribution], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files, and the lengths of their sentences."""
    everything = tmp_path_factory.mktemp("files")
    for path in formats.iterdir():
        (everything / path.name).symlink_to(path)
    (everything / "lengths.txt").write_text("".join(f"{each.n}\n" for each in known.values()))
    return everything


def paired(
    found: dict[str, TreeDistribution], known: dict[str, TreeDistribution]
) -> list[tuple[TreeDistribution, TreeDistribution]]:
    """By name where the file has names, else by order."""
    if set(found) == set(known):
        return [(found[name], known[name]) for name in known]
    assert list(found) == [str(number) for number in range(1, len(known) + 1)] or set(found) == {
        f"arr_{number}" for number in range(len(known))
    }
    return list(zip(found.values(), known.values(), strict=True))


@pytest.mark.parametrize(("name", "options"), LOGITS, ids=str)
def test_logits_are_the_same_distributions_to_the_last_bit(folder, known, name, options) -> None:
    for ours, theirs in paired(distributions(folder, name, options), known):
        possible = np.isfinite(ours.log_scores)
        np.testing.assert_array_equal(possible, np.isfinite(theirs.log_scores))
        np.testing.assert_array_equal(ours.log_scores[possible], theirs.log_scores[possible])
        assert ours.log_partition == theirs.log_partition
        np.testing.assert_array_equal(ours.marginals(), theirs.marginals())
        np.testing.assert_array_equal(
            ours.sample(3, np.random.default_rng(7)), theirs.sample(3, np.random.default_rng(7))
        )


@pytest.mark.parametrize(("name", "options"), PROBABILITIES, ids=str)
def test_probabilities_are_the_same_distributions(folder, known, name, options) -> None:
    for ours, theirs in paired(distributions(folder, name, options), known):
        agree(ours, theirs)


def test_a_file_for_each_sentence(folder, known) -> None:
    for number, theirs in enumerate(known.values()):
        (ours,) = distributions(folder, f"one_{number}_depmajor_square.npy", {"preset": "supar"}).values()
        np.testing.assert_array_equal(ours.log_scores[:, 1:], theirs.log_scores[:, 1:])
    (ours,) = distributions(folder, "one_0_headmajor_weights.npy", {"preset": "treesample"}).values()
    agree(ours, next(iter(known.values())))


def agree(ours: TreeDistribution, theirs: TreeDistribution) -> None:
    """The same marginals, trees and entropy but for the digits that a float32 or six decimals lack."""
    np.testing.assert_allclose(ours.marginals(), theirs.marginals(), atol=1e-4)
    assert ours.argmax().tolist() == theirs.argmax().tolist()
    assert ours.entropy() == pytest.approx(theirs.entropy(), abs=1e-3)
    trees = theirs.top_k(5)
    np.testing.assert_allclose(ours.log_probs(trees), theirs.log_probs(trees), atol=1e-3)


def test_energies_of_arcs_and_labels_together(folder, known) -> None:
    """What is left of an arc when its labels are summed up; labels that no arc may have do not count."""
    options = {"preset": "allennlp", "labels": str(folder / "labels.json")}
    names = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    for ours, theirs in paired(distributions(folder, "allennlp_energy_label_head_dep.npz", options), known):
        assert ours.labels.names == tuple(names)
        agree(ours, theirs)
