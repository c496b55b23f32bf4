"""Model files: read as they were written, or refused with one line, however they are damaged."""

import io
import json
import pickle
import zipfile

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.files.model_file import ABOUT, read_model, write_model
from deptree_cli.hpyp.model.parsing import filtered, parse
from deptree_cli.hpyp.model.sentences import LEXICALISED, UNLEXICALISED
from deptree_cli.hpyp.model.training import SAMPLED, STATIC
from tests.hpyp.toys import TREEBANK, UNLABELLED, begun, run, same
from tests.sample import DATA

SIGNATURE = "deptree|hpyp train|seed:3|v:0"


@pytest.fixture(scope="module")
def trained():
    """With everything that a model can hold."""
    return run(begun(SAMPLED, text=UNLABELLED), 6, 2)


@pytest.fixture(scope="module")
def data(trained, tmp_path_factory):
    """The bytes of its file."""
    path = tmp_path_factory.mktemp("model") / "model.npz"
    write_model(str(path), trained, SIGNATURE)
    return path.read_bytes()


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("oracle", [STATIC, SAMPLED])
@pytest.mark.parametrize(("contexts", "text"), [(LEXICALISED, UNLABELLED), (LEXICALISED, []), (UNLEXICALISED, [])])
def test_a_model_is_read_as_it_was_written(tmp_path, contexts, text, oracle, compressed):
    path, model = str(tmp_path / "m.npz"), run(begun(oracle, contexts, text), 3, bool(text))
    write_model(path, model, SIGNATURE, compressed)
    found, signature = read_model(path)
    assert signature == SIGNATURE
    assert same(found, model)
    for sentence in TREEBANK:
        assert parse(found, sentence).log_prob == parse(model, sentence).log_prob


@pytest.fixture
def refused(tmp_path):
    """Call with bytes: reading them is an error of one line with all these parts, which names the file."""

    def check(content, *says):
        path = tmp_path / "m.npz"
        path.write_bytes(content)
        with pytest.raises(DeptreeError) as caught:
            read_model(str(path))
        line = str(caught.value)
        assert line.startswith(str(path))
        assert line.isprintable()
        assert all(part in line for part in says), line

    return check


def test_what_is_no_model(refused, data):
    refused((DATA / "scores.npz").read_bytes(), "not a model of deptree hpyp")
    refused(pickle.dumps([1]), "not a model of deptree hpyp")
    refused(b"1\tthe\t_\n", "not a model of deptree hpyp")
    refused(b"", "empty")
    refused(data[: len(data) // 2])
    with pytest.raises(DeptreeError, match="no such file"):
        read_model("nowhere.npz")


@pytest.fixture
def arrays(data):
    """The entries of the file."""
    with np.load(io.BytesIO(data)) as found:
        return dict(found)


@pytest.fixture
def saved(arrays, tmp_path):
    """Call with entries to be changed: the bytes of such a file; or with what it says of itself, as `words.2`."""

    def save(path="", value=None, /, **changes):
        if path:
            about = json.loads(arrays[ABOUT].tobytes())
            *outer, key = (int(part) if part.isdigit() else part for part in path.split("."))
            (about[outer[0]] if outer else about)[key] = value
            changes[ABOUT] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
        np.savez(tmp_path / "x.npz", **arrays | changes)
        return (tmp_path / "x.npz").read_bytes()

    return save


DAMAGED = {
    "words": ["abc", ["a", "a"], ["a"]],
    "tags": [[]],
    "labels": [[1], None],
    "contexts": [{}, {"action": ["s1.t"], "tag": ["s1.t"], "word": ["b.t"]}],
    "progress": [None, {}],
    "progress.seed": [-1, "x", True],
    "progress.oracle": ["other"],
    "progress.tagset": ["feats"],
    "progress.log_likelihoods": [[None], 3],
    "progress.digest": [5],
    "progress.more": [1],
}
OTHERS = [
    ("version", 2, "version 2, but this deptree reads deptree-hpyp version 1"),
    ("format", "other", "the model is other"),
    ("contexts", {"action": ["s9.t"], "tag": [], "word": []}, "there is no element 's9.t'"),
    ("states", ["a"], "states are not a list of numbers"),
    ("states", [2, 2], "states are out of order"),
    ("tags.2", "_", "m.npz: tags[2] is _, the sign of a missing value"),  # as models of old have it
    ("labels.2", "_", "m.npz: labels[2] is _, the sign of a missing value"),
]
ABOUTS = OTHERS + [(path, value, "damaged") for path, values in DAMAGED.items() for value in values]


@pytest.mark.quick
@pytest.mark.parametrize(("path", "value", "says"), ABOUTS)
def test_what_a_file_says_of_itself(refused, saved, path, value, says):
    refused(saved(path, value), says)


@pytest.mark.quick
@pytest.mark.parametrize("name", ["words", "tags", "labels"])
@pytest.mark.parametrize("symbol", ["a\tb", "a\nb", "a\rb", "", "\0", "\x1b[2J", "\x85", "\u2028", "\ud800"], ids=repr)
def test_symbols_that_would_forge_lines(refused, saved, name, symbol):
    """What is written into columns of CoNLL-U as it is; the entry is named."""
    refused(saved(f"{name}.2", symbol), f"{name}[2] is ", "no column of CoNLL-U can hold it")


def test_a_word_that_is_an_underscore_is_one(saved, tmp_path):
    (tmp_path / "m.npz").write_bytes(saved("words.0", "_"))
    assert read_model(str(tmp_path / "m.npz"))[0].symbols.lexicon.vocabulary.symbols[0] == "_"


def test_a_signature_is_one_line(tmp_path, data):
    """It is a comment that anybody can write."""
    path = tmp_path / "m.npz"
    path.write_bytes(data)
    with zipfile.ZipFile(path, "a") as archive:
        archive.comment = b"deptree|x\n\x1b[2Jforged"
    assert read_model(str(path))[1] == "deptree|x\\n\\x1b[2Jforged"


def test_entries_that_are_missing_or_too_many(refused, saved, arrays, tmp_path, trained):
    """One too many is ignored; two of a name are not."""
    path = tmp_path / "m.npz"
    path.write_bytes(saved(other=np.zeros(3)))
    assert same(read_model(str(path))[0], trained)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("about.npy", archive.read("about.npy"))
    refused(path.read_bytes(), "two entries of the same name")
    for key in [*arrays]:
        array = arrays.pop(key)
        refused(saved())
        arrays[key] = array


def test_damaged_bytes(tmp_path, trained, data):
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
            assert same(read_model(str(path))[0], trained)
        except DeptreeError as error:
            lines.append(str(error))
    assert len(lines) > 200
    assert all(line.isprintable() for line in lines)


def damaged(rng, array):
    """An array with one number changed, a number more or less, or of another type or shape."""
    changed, at = array.ravel().copy(), int(rng.integers(max(array.size, 1)))
    how = int(rng.integers(8))
    if how < 5 and array.size:
        if changed.dtype.kind == "f":
            values = [np.nan, np.inf, -1.0, 0.0, 1.0, 1e300, 0.5]
        else:
            changed = changed.astype(np.int64)
            values = [changed[at] + 1, changed[at] - 1, -1, 0, 1, 2**31, -(2**40), 2**20, 10**6]
        changed[at] = rng.choice(values)
        return changed.reshape(array.shape)
    if how == 5:
        return changed[:-1]
    return np.append(changed, changed[-1:]) if how == 6 else changed[None].astype(rng.choice(["f8", "u1", "i2"]))


@pytest.mark.slow("size")
def test_damaged_numbers(tmp_path, arrays, saved):
    """Of 400 files with one array changed each is refused with one line, or parses; nothing crashes, nothing hangs.

    What can be parsed with may not do to go on from, but that is told too.
    """
    rng, path, lines = np.random.default_rng(2), tmp_path / "m.npz", []
    for _ in range(400):
        key = rng.choice([name for name in arrays if name != ABOUT])
        path.write_bytes(saved(**{key: damaged(rng, arrays[key])}))
        try:
            found, _ = read_model(str(path))
            parse(found, TREEBANK[0], 10)
            filtered(found, TREEBANK[0], np.random.default_rng(0), 10, predicts_tags=True, draws=1)
            run(begun(SAMPLED, text=UNLABELLED, trained=found), 6, 4)
        except DeptreeError as error:
            lines.append(str(error))
    assert len(lines) > 300
    assert all(line.isprintable() for line in lines)
