"""Model files: read as they were written, or refused with one line, however they are damaged."""

from __future__ import annotations

import json
import pickle
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.files.model_file import ABOUT, read_model, write_model
from deptree_cli.hpyp.model.parsing import filtered, parse
from deptree_cli.hpyp.model.sentences import LEXICALISED, UNLEXICALISED
from deptree_cli.hpyp.model.training import SAMPLED, STATIC, Trained
from tests.hpyp.model.small_treebank import TREEBANK, UNLABELLED, begun, run, same

SCORES = Path(__file__).parents[3] / "sample_data/scores.npz"
SIGNATURE = "deptree|hpyp train|seed:3|v:0"


@pytest.fixture(scope="module")
def trained() -> Trained:
    """With everything that a model can hold."""
    return run(begun(SAMPLED, text=UNLABELLED), 6, 2)


@pytest.fixture(scope="module")
def data(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of its file."""
    path = tmp_path_factory.mktemp("model") / "model.npz"
    write_model(str(path), trained, SIGNATURE)
    return path.read_bytes()


def same_symbols(one: Trained, other: Trained) -> bool:
    """Whether the names of two parsers are the same."""
    a, b = one.symbols, other.symbols
    names = (a.lexicon.vocabulary, a.tags, a.labels, a.contexts)
    return names == (b.lexicon.vocabulary, b.tags, b.labels, b.contexts)


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("text", [True, False], ids=["text", "no text"])
@pytest.mark.parametrize("oracle", [STATIC, SAMPLED])
def test_a_model_is_read_as_it_was_written(tmp_path: Path, oracle: str, text: bool, compressed: bool) -> None:
    path = str(tmp_path / "m.npz")
    for contexts in (LEXICALISED, *([] if text else [UNLEXICALISED])):
        model = run(begun(oracle, contexts, UNLABELLED if text else None), 3, int(text))
        write_model(path, model, SIGNATURE, compressed)
        found, signature = read_model(path)
        assert signature == SIGNATURE
        assert same(found, model)
        assert same_symbols(found, model)
        for sentence in TREEBANK:
            assert parse(found, sentence).log_prob == parse(model, sentence).log_prob


def test_the_same_model_is_the_same_bytes(trained: Trained, data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "again.npz"
    path.write_bytes(data)
    write_model(str(path), read_model(str(path))[0], SIGNATURE)
    assert path.read_bytes() == data


def refused(path: Path, content: bytes, *says: str) -> None:
    """One line that names the file."""
    path.write_bytes(content)
    with pytest.raises(DeptreeError) as caught:
        read_model(str(path))
    line = str(caught.value)
    assert line.startswith(str(path))
    assert line.isprintable()
    assert all(part in line for part in says), line


def test_what_is_no_model(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "m.npz"
    refused(path, SCORES.read_bytes(), "not a model of deptree hpyp")
    refused(path, pickle.dumps([1]), "")
    refused(path, b"1\tthe\t_\n", "")
    refused(path, b"", "empty")
    refused(path, data[: len(data) // 2], "")
    with pytest.raises(DeptreeError, match="no such file"):
        read_model(str(tmp_path / "nowhere.npz"))


def arrays_of(data: bytes, tmp_path: Path) -> dict[str, Any]:
    """The entries of a model's file."""
    path = tmp_path / "whole.npz"
    path.write_bytes(data)
    with np.load(path) as found:
        return dict(found)


def saved(path: Path, arrays: dict[str, Any]) -> bytes:
    """Entries as a file."""
    np.savez(path, **arrays)
    return path.read_bytes()


def with_about(arrays: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """The entries with something else said about them."""
    about = json.loads(arrays[ABOUT].tobytes()) | changes
    return arrays | {ABOUT: np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"version": 2}, "version 2, but this deptree reads deptree-hpyp version 1"),
        ({"format": "other"}, "the model is other"),
        ({"words": "abc"}, "damaged"),
        ({"words": ["a", "a"]}, "damaged"),
        ({"words": ["a"]}, "damaged"),
        ({"tags": []}, "damaged"),
        ({"labels": [1]}, "damaged"),
        ({"labels": None}, "damaged"),
        ({"contexts": {}}, "damaged"),
        ({"contexts": {"action": ["s1.t"], "tag": ["s1.t"], "word": ["b.t"]}}, "damaged"),
        ({"contexts": {"action": ["s9.t"], "tag": [], "word": []}}, "there is no element 's9.t'"),
        ({"progress": None}, "damaged"),
        ({"progress": {}}, "damaged"),
    ],
)
def test_what_a_file_says_of_itself(tmp_path: Path, data: bytes, changes: dict[str, Any], says: str) -> None:
    refused(tmp_path / "m.npz", saved(tmp_path / "x.npz", with_about(arrays_of(data, tmp_path), **changes)), says)


@pytest.mark.parametrize("name", ["words", "tags", "labels"])
@pytest.mark.parametrize("symbol", ["a\tb", "a\nb", "a\rb", "", "\0", "\x1b[2J", "\x85", "\u2028", "\ud800"], ids=repr)
def test_symbols_that_would_forge_lines(tmp_path: Path, data: bytes, name: str, symbol: str) -> None:
    """What is written into columns of CoNLL-U as it is; the entry is named."""
    arrays = arrays_of(data, tmp_path)
    symbols = json.loads(arrays[ABOUT].tobytes())[name]
    symbols[2] = symbol
    content = saved(tmp_path / "x.npz", with_about(arrays, **{name: symbols}))
    refused(tmp_path / "m.npz", content, f"{name}[2] is ", "no column of CoNLL-U can hold it")


def test_a_word_that_is_an_underscore_is_one(tmp_path: Path, data: bytes) -> None:
    arrays = arrays_of(data, tmp_path)
    words = json.loads(arrays[ABOUT].tobytes())["words"]
    path = tmp_path / "m.npz"
    path.write_bytes(saved(tmp_path / "x.npz", with_about(arrays, words=["_", *words[1:]])))
    assert read_model(str(path))[0].symbols.lexicon.vocabulary.symbols[0] == "_"


def test_a_signature_is_one_line(tmp_path: Path, data: bytes) -> None:
    """It is a comment that anybody can write."""
    path = tmp_path / "m.npz"
    path.write_bytes(data)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"deptree|x\n\x1b[2Jforged"
    assert read_model(str(path))[1] == "deptree|x\\n\\x1b[2Jforged"


@pytest.mark.parametrize(
    "change",
    [
        {"seed": -1},
        {"seed": "x"},
        {"seed": True},
        {"oracle": "other"},
        {"tagset": "feats"},
        {"log_likelihoods": [None]},
        {"log_likelihoods": 3},
        {"digest": 5},
        {"more": 1},
    ],
    ids=str,
)
def test_progress_that_makes_no_sense(tmp_path: Path, data: bytes, change: dict[str, Any]) -> None:
    arrays = arrays_of(data, tmp_path)
    progress = json.loads(arrays[ABOUT].tobytes())["progress"] | change
    refused(tmp_path / "m.npz", saved(tmp_path / "x.npz", with_about(arrays, progress=progress)), "damaged")


def test_missing_entries(tmp_path: Path, data: bytes) -> None:
    arrays = arrays_of(data, tmp_path)
    for key in arrays:
        left = {name: array for name, array in arrays.items() if name != key}
        refused(tmp_path / "m.npz", saved(tmp_path / "x.npz", left), "")


def test_damaged_bytes(tmp_path: Path, trained: Trained, data: bytes) -> None:
    """Of 300 damaged copies each is refused with one line, or is the same model (its signature is a comment)."""
    rng, path, lines = np.random.default_rng(1), tmp_path / "m.npz", []
    for _ in range(300):
        changed = bytearray(data)
        for at in rng.integers(len(data), size=rng.choice([1, 1, 3])):
            changed[at] ^= 1 << rng.integers(8)
        if rng.random() < 0.2:
            del changed[rng.integers(len(changed)) :]
        path.write_bytes(changed)
        try:
            found, _ = read_model(str(path))
        except DeptreeError as error:
            lines.append(str(error))
        else:
            assert same(found, trained)
            assert same_symbols(found, trained)
    assert len(lines) > 200
    assert all(line.isprintable() for line in lines)


def damaged(rng: np.random.Generator, array: Any) -> Any:
    """An array with one number changed, a number more or less, or of another type or shape."""
    changed, at = array.ravel().copy(), int(rng.integers(max(array.size, 1)))
    how = int(rng.integers(8))
    if how < 5 and array.size:
        if changed.dtype.kind != "f":
            changed = changed.astype(np.int64)
            changed[at] = rng.choice([changed[at] + 1, changed[at] - 1, -1, 0, 1, 2**31, -(2**40), 2**20, 10**6])
        else:
            changed[at] = rng.choice([np.nan, np.inf, -1.0, 0.0, 1.0, 1e300, 0.5])
        return changed.reshape(array.shape)
    if how == 5:
        return changed[:-1]
    return (
        np.append(changed, changed[-1:]) if how == 6 else changed.reshape(1, -1).astype(rng.choice(["f8", "u1", "i2"]))
    )


@pytest.mark.slow("size")
def test_damaged_numbers(tmp_path: Path, data: bytes) -> None:
    """Of 400 files with one array changed each is refused with one line, or parses; nothing crashes, nothing hangs.

    What can be parsed with may not do to go on from, but that is told too.
    """
    rng, path, arrays = np.random.default_rng(2), tmp_path / "m.npz", arrays_of(data, tmp_path)
    lines = []
    for _ in range(400):
        key = rng.choice([name for name in arrays if name != ABOUT])
        path.write_bytes(saved(tmp_path / "x.npz", arrays | {key: damaged(rng, arrays[key])}))
        try:
            found, _ = read_model(str(path))
            parse(found, TREEBANK[0], 10)
            filtered(found, TREEBANK[0], np.random.default_rng(0), 10, predicts_tags=True, draws=1)
            run(begun(SAMPLED, text=UNLABELLED, trained=found), 6, 4)
        except DeptreeError as error:
            lines.append(str(error))
    assert len(lines) > 300
    assert all(line.isprintable() for line in lines)


def test_a_chain_of_contexts_does_not_hang(trained: Trained) -> None:
    """A million nodes, each the child of the one before."""
    size = 1_000_000
    process = trained.processes[0]
    chain = np.arange(-1, size - 1, dtype=np.int32)
    assert not replace(process, parents=chain, symbols=np.zeros(size, dtype=np.int32)).is_sound(10)


def test_an_entry_too_many_is_ignored_and_two_of_a_name_are_not(tmp_path: Path, data: bytes, trained: Trained) -> None:
    path = tmp_path / "m.npz"
    path.write_bytes(saved(tmp_path / "x.npz", arrays_of(data, tmp_path) | {"other": np.zeros(3)}))
    assert same(read_model(str(path))[0], trained)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("about.npy", archive.read("about.npy"))
    with pytest.raises(DeptreeError, match="two entries of the same name"):
        read_model(str(path))
