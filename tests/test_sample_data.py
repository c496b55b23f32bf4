"""The sample data are what their README says, and are written again with the same bytes."""

import importlib.util
import itertools
import json
import math
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from benchmarks.sums import matrix_tree

FOLDER = Path(__file__).parent.parent / "sample_data"
NOT_DATA = {
    "README.md",
    "cosines.py",
    "make_sample_data.py",
    "bitext_sentences.py",
    "sample_sentences.py",
    "paragraphs.txt",
    "treebank.conllu",
    "raw.conllu",
    "raw_gold.conllu",
    "broken.conllu",
}


@pytest.fixture(scope="module")
def maker() -> Iterator[ModuleType]:
    sys.path.insert(0, str(FOLDER))  # as for a script that is run there
    spec = importlib.util.spec_from_file_location("make_sample_data", FOLDER / "make_sample_data.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(FOLDER))


def conllu_blocks(name: str) -> list[list[str]]:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [block.splitlines() for block in text.strip("\n").split("\n\n")]


def sent_id(block: list[str]) -> str:
    return next(line.removeprefix("# sent_id = ") for line in block if line.startswith("# sent_id = "))


def word_columns(block: list[str]) -> list[list[str]]:
    rows = [line.split("\t") for line in block if not line.startswith("#")]
    return [row for row in rows if row[0].isdigit()]


def is_tree(heads: tuple[int, ...]) -> bool:
    """Does every word reach ROOT?"""
    for node in range(1, len(heads) + 1):
        for _ in heads:
            node = heads[node - 1] if node else 0
        if node:
            return False
    return True


def single_root_trees(n: int) -> list[tuple[int, ...]]:
    candidates = [[head for head in range(n + 1) if head != dep] for dep in range(1, n + 1)]
    return [heads for heads in itertools.product(*candidates) if heads.count(0) == 1 and is_tree(heads)]


def exact_marginals(weights: np.ndarray, trees: list[tuple[int, ...]]) -> np.ndarray:
    """Arc marginals `(n+1, n+1)`, head-dep, by enumeration in fractions: rounded once, at the end."""
    exact = [[Fraction(w) for w in row] for row in weights.tolist()]
    mass = [[Fraction(0)] * len(exact) for _ in exact]
    for heads in trees:
        weight = math.prod(exact[head][dep] for dep, head in enumerate(heads, start=1))
        for dep, head in enumerate(heads, start=1):
            mass[head][dep] += weight
    log_z_exp = sum(mass[0])
    return np.array([[float(m / log_z_exp) for m in row] for row in mass])


def koo_marginals(weights: np.ndarray) -> np.ndarray:
    """Arc marginals `(n+1, n+1)` from the inverse of the Laplacian (Koo et al. 2007, section 3.2)."""
    with np.errstate(divide="ignore"):
        return matrix_tree.marginals(np.log(weights))


def test_written_again_with_the_same_bytes(maker, tmp_path):
    maker.main(tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    maker.main(tmp_path)
    assert first == {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert first == {path.name: path.read_bytes() for path in FOLDER.iterdir() if path.name in first}


def test_folder_holds_nothing_else(maker, tmp_path):
    maker.main(tmp_path)
    made = {path.name for path in tmp_path.iterdir()}
    assert {path.name for path in FOLDER.iterdir() if path.is_file()} == made | NOT_DATA


def test_readme_names_every_file():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    files = [path.name for path in FOLDER.iterdir() if path.is_file() and path.name != "README.md"]
    assert [name for name in files if f"`{name}`" not in readme] == []


@pytest.mark.parametrize(("name", "level"), [("gold.conllu", 2), ("sentences.conllu", 1)])
def test_passes_the_ud_validator(udvalidate, name, level):
    run = udvalidate(FOLDER / name, level)
    assert run.returncode == 0, run.stdout + run.stderr


def test_gold_differs_in_heads_and_deprels_only():
    gold, plain = conllu_blocks("gold.conllu"), conllu_blocks("sentences.conllu")
    for filled, blank in zip(gold, plain, strict=True):
        for a, b in zip(filled, blank, strict=True):
            kept_a, kept_b = a.split("\t"), b.split("\t")
            assert kept_a[:6] + kept_a[8:] == kept_b[:6] + kept_b[8:]
            assert len(kept_b) == 1 or kept_b[6:9] == ["_", "_", "_"]


def test_text_comment_is_the_forms_joined():
    for block in conllu_blocks("gold.conllu"):
        rows = [line.split("\t") for line in block if not line.startswith("#")]
        covered = {str(i) for row in rows if "-" in row[0] for i in range(*map(int, row[0].split("-")))}
        covered |= {row[0].split("-")[1] for row in rows if "-" in row[0]}
        surface = [row for row in rows if row[0] not in covered]
        text = "".join(row[1] + ("" if "SpaceAfter=No" in row[9] else " ") for row in surface).strip()
        assert f"# text = {text}" in block


def test_every_container_holds_the_same_numbers():
    plain = conllu_blocks("sentences.conllu")
    lengths = [int(line) for line in (FOLDER / "lengths.txt").read_text().split()]
    records = [json.loads(line) for line in (FOLDER / "scores.jsonl").read_text(encoding="utf-8").splitlines()]
    batch = np.load(FOLDER / "scores.npy")
    with np.load(FOLDER / "scores.npz") as npz, (FOLDER / "scores_stream.npy").open("rb") as stream:
        assert list(npz) == [sent_id(block) for block in plain]
        for block, length, record, square in zip(plain, lengths, records, batch, strict=True):
            words = word_columns(block)
            rectangle = npz[sent_id(block)].astype(np.float64)
            assert rectangle.shape == (length, length + 1) == (len(words), len(words) + 1)
            assert (record["sent_id"], record["forms"]) == (sent_id(block), [row[1] for row in words])
            np.testing.assert_array_equal(rectangle, np.array(record["scores"]))
            np.testing.assert_array_equal(rectangle, np.load(stream)[1:])
            np.testing.assert_array_equal(rectangle, square[1 : length + 1, : length + 1])
            assert np.isneginf(square[length + 1 :]).all()
            assert np.isneginf(square[:, length + 1 :]).all()
        assert stream.read() == b""


def test_logits_are_plausible():
    with np.load(FOLDER / "scores.npz") as npz:
        for block in conllu_blocks("gold.conllu"):
            logits = npz[sent_id(block)].astype(np.float64)
            np.fill_diagonal(logits[:, 1:], -np.inf)
            gold = np.array([int(row[6]) for row in word_columns(block)])
            gap = logits.max(axis=1) - logits[np.arange(len(gold)), gold]
            assert logits[np.isfinite(logits)].min() >= -15
            assert logits.max() <= 10
            assert (gap > 0).sum() <= 1
            assert gap.max() < 1


def test_one_is_the_first_sentence_as_head_probabilities():
    weights = np.load(FOLDER / "one.npy")
    with np.load(FOLDER / "scores.npz") as npz:
        logits = npz["en-1"].astype(np.float64)
    np.fill_diagonal(logits[:, 1:], -np.inf)
    expected = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(weights[:, 1:].T, expected, rtol=1e-5)
    assert not weights[:, 0].any()


def test_figure1_has_three_equally_likely_trees():
    weights = np.load(FOLDER / "figure1.npy")
    scored = {
        heads: math.prod(weights[head, dep] for dep, head in enumerate(heads, 1)) for heads in single_root_trees(3)
    }
    # heads of A, B, C: two trees hang from A, one from C
    assert {heads: w for heads, w in scored.items() if w} == {(0, 1, 1): 1 / 8, (0, 3, 1): 1 / 8, (2, 3, 0): 1 / 8}


def test_saturated_weights_break_the_laplacian_inverse():
    weights = np.load(FOLDER / "saturated.npy")
    trees = single_root_trees(6)
    assert len(trees) == 6**5
    np.testing.assert_allclose(weights[:, 1:].sum(axis=0), 1, rtol=1e-15)
    marginals = exact_marginals(weights, trees)
    np.testing.assert_allclose(marginals.sum(axis=0)[1:], 1, rtol=1e-12)
    # the floats of the Laplacian are already wrong, so this holds whatever library inverts it
    try:
        error = np.abs(koo_marginals(weights) - marginals).max()
    except np.linalg.LinAlgError:
        return
    # not `error > 1e-3`: the error may be NaN
    assert not error <= 1e-3


def test_the_laplacian_inverse_is_right_where_it_is_tame():
    """The control of the test before: the same code agrees with enumeration on the same graph without saturation."""
    weights = np.sqrt(np.sqrt(np.load(FOLDER / "saturated.npy")))
    marginals = exact_marginals(weights, single_root_trees(6))
    np.testing.assert_allclose(koo_marginals(weights), marginals, atol=1e-7)
