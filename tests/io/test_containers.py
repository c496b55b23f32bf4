"""The register of containers of scores: what holds for every one of them, and for one that another package adds."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.register import Register
from deptree_cli.io.files.output import Output
from deptree_cli.io.files.streams import Input
from deptree_cli.io.scores import containers
from deptree_cli.io.scores.arrays import Extras, Raw, RawScores, ReadSpec, Source
from deptree_cli.io.scores.containers import CONTAINERS, Container, Write, open_scores, starting
from deptree_cli.io.scores.containers.npz import BESIDE
from deptree_cli.io.scores.layout import layout
from deptree_cli.io.scores.meta import NOTHING, Meta
from deptree_cli.io.sentence import in_order
from tests.io.written import format_for, write_scores

WRITTEN = [container for container in CONTAINERS if container.write]
every_container = pytest.mark.parametrize("container", WRITTEN, ids=lambda container: container.name)
every_named_one = pytest.mark.parametrize("container", [each for each in WRITTEN if each.named], ids=lambda it: it.name)

META = Meta("deptree|dump|from:natasha|trees:projective|v:0", layout("natasha"), "projective")

# Under names in the order in which every container keeps them.
MATRICES = {
    "cs/ž": np.array([[0.5, -np.inf, 1e-300], [-1e15, 3.0, 1 / 3]]),
    "en-1": np.arange(2.0).reshape(1, 2),
    "en-2": np.random.default_rng(0).normal(size=(40, 41)),
}


def contents(path: str, dimensions: int = 2) -> tuple[Meta, list[Raw]]:
    with open_scores(path) as file:
        return file.meta, list(in_order(file.read(ReadSpec(dimensions))))


def written(container: Container, arrays: dict, forms: Sequence[str] = (), meta: Meta = META) -> bytes:
    with container.write("written", meta, True) as write:
        for name, scores in arrays.items():
            write(name, scores, Extras(forms))
    return Path("written").read_bytes()


pytestmark = pytest.mark.usefixtures("scratch")

KINDS = ["file", "nameless", "stdin", "redirected", "piped", "fifo"]


@pytest.fixture(params=[(kind, packed) for kind in KINDS for packed in (False, True)], ids=str)
def deliver(request, scratch, monkeypatch):
    """Put bytes where a path leads to them, by each transport in turn, gzipped or not; a suffix names a file."""
    kind, packed = request.param
    feeders = []

    def feed(pipe: int | str, data: bytes) -> None:
        def write() -> None:
            with open(pipe, "wb") as stream:  # noqa: PTH123 (a descriptor has no Path)
                stream.write(data)

        feeders.append(threading.Thread(target=write))
        feeders[-1].start()

    def put(data: bytes, suffix: str) -> str:
        data = gzip.compress(data) if packed else data
        name = "a" if kind == "nameless" else f"a{suffix}{'.gz' * packed}"
        if kind == "fifo":
            os.mkfifo("pipe")
            feed("pipe", data)
            return "pipe"
        if kind == "stdin":
            stdin = io.TextIOWrapper(io.BytesIO(data))
        elif kind == "piped":
            reading, writing = os.pipe()
            feed(writing, data)
            stdin = os.fdopen(reading)
        else:
            scratch(name, data)
            if kind != "redirected":
                return name
            stdin = Path(name).open()  # noqa: SIM115
        monkeypatch.setattr(sys, "stdin", stdin)
        return "-"

    yield put
    for feeder in feeders:
        feeder.join(20)
        assert not feeder.is_alive()


@every_container
@pytest.mark.parametrize("dimensions", [2, 3])
def test_what_is_written_is_read_again(container: Container, deliver, dimensions: int) -> None:
    """The same bytes every time; of these the same arrays, names, words and how to read them."""
    arrays = {name: np.stack([scores] * 2, axis=-1) if dimensions == 3 else scores for name, scores in MATRICES.items()}
    data = written(container, arrays, ["a", "č"])
    assert written(container, arrays, ["a", "č"]) == data
    path = deliver(data, container.suffixes[0])
    meta, raws = contents(path, dimensions)
    assert meta == (META if container.keeps_meta(True) else NOTHING)
    for raw, (name, scores) in zip(raws, arrays.items(), strict=True):
        assert (raw.key, raw.padded, raw.length) == (name if container.named else None, False, None)
        assert raw.extras.forms == (("a", "č") if container.name == "jsonl" else ())
        assert raw.place.startswith("standard input" if path == "-" else path)
        np.testing.assert_array_equal(raw.scores, scores)


@every_container
@pytest.mark.parametrize("dtype", ["bool", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"])
@pytest.mark.quick
def test_every_real_type_of_numpy(container: Container, dtype: str) -> None:
    matrix = np.arange(6).reshape(2, 3).astype(dtype)
    written(container, {"x": matrix})
    (raw,) = contents("written")[1]
    assert raw.scores.dtype == (matrix.dtype if container.holds_arrays else np.float64)
    np.testing.assert_array_equal(raw.scores, matrix)


@every_container
@pytest.mark.parametrize(
    "name", ["scores", "scores.txt", "scores.npy", "scores.npz", "scores.jsonl.gz", "a.pt", "a.h5"]
)
def test_the_first_bytes_decide(container: Container, name: str, scratch) -> None:
    for raw, scores in zip(contents(scratch(name, written(container, MATRICES)))[1], MATRICES.values(), strict=True):
        np.testing.assert_array_equal(raw.scores, scores)


@every_container
def test_every_byte_in_turn(container: Container) -> None:
    """Of zlib, zipfile, NumPy, JSON and the library of safetensors no error comes through that is not one of ours."""
    sound = written(container, {"x": np.random.default_rng(7).normal(size=(2, 3)).astype("f2")}, meta=NOTHING)
    masks, problems = [0xFF] if container.name == "npz" else [1 << bit for bit in range(8)], set()
    for place, mask in product(range(len(sound)), masks):
        data = bytearray(sound)
        data[place] ^= mask
        try:
            with container.open(Input(io.BytesIO(data), data[:64], "a")) as file:
                raws = list(in_order(file.read(ReadSpec())))
        except DeptreeError as error:
            raws = [error]
        problems |= {raw.problem for raw in raws if isinstance(raw, DeptreeError)}
    assert len(problems) > 9


HOSTILE = [
    *(f"a.{part}" for part in BESIDE),
    *(f".{part}" for part in BESIDE),
    *("a.npy", "a.npy.npy", ".npy", "data.pkl", "__metadata__", "signature", "sent_id", "order"),
    *("", " ", " a ", "/a", "../a", "a/b", "a/", "a\\b", "C:a", ".", "..", "a.", "a:b|c", "é\u0301", "e\u0301", "A"),
    *("a\x00b", "\x00", "x" * 70_000, "scores", "lengths"),
]
USUAL = ["weblog-blogspot.com_nominations_20041117172713_ENG_20041117_172713-0001", "doc/1", "a.b.c", "siblings"]
USUAL += ["sibling", "scores", "lengths", "1"]


@every_named_one
@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: repr(name[:20]))
@pytest.mark.quick
def test_every_name_comes_back_or_is_refused(container: Container, name: str) -> None:
    """What is refused leaves no file; what is written NumPy reads too."""
    others = {"lengths": "scores", "scores": "lengths"}
    for names in ([name], [name, "a"], ["a", name], ["a", name, "b"], [name, others.get(name, "a.npy")], USUAL):
        arrays = {each: np.full((2, 3), number + 1.0) for number, each in enumerate(names)}
        if len(arrays) < len(names):
            continue
        Path("written").unlink(missing_ok=True)
        try:
            written(container, arrays, meta=NOTHING)
        except DeptreeError:
            assert names is not USUAL
            assert not Path("written").exists()
            continue
        raws = contents("written")[1]
        assert [(raw.key, raw.scores[0, 0]) for raw in raws] == [(each, arrays[each][0, 0]) for each in names]
        if container.name == "npz":
            with np.load("written") as loaded:
                assert [loaded[each][0, 0] for each in names] == list(range(1, len(names) + 1))


@pytest.mark.parametrize("name", ["npz", "safetensors"])
def test_no_name_is_written_twice(name: str, tmp_path, says) -> None:
    with says("x: ", "two sentences of one name", "JSON Lines"):  # noqa: SIM117
        with CONTAINERS.get(name).write(str(tmp_path / "a"), NOTHING, False) as write:
            write("x", np.ones((2, 2)))
            write("x", np.ones((2, 2)))
    assert list(tmp_path.iterdir()) == []


def test_the_suffix_says_what_is_written(says) -> None:
    for path in (None, "-", "scores", "scores.jsonl", "scores.NDJSON", "a.npz/scores"):
        assert format_for(path).name == "jsonl"
    names = {"a.npy": "npy", "a.npys": "npy", "a.json.npz": "npz", "a.safetensors": "safetensors"}
    assert {path: format_for(path).name for path in names} == names
    suffixes = [suffix for each in CONTAINERS.known if each.write for suffix in each.suffixes]
    for suffix in (".csv", ".conllu", ".json", ".h5", ".txt"):
        with says(f"scores{suffix}.gz: this command does not write {suffix}. Name a file with one of", *suffixes):
            format_for(f"scores{suffix}.gz")


class Text:
    """A container of others: a line with a signature, then a matrix of one row on each."""

    def __init__(self, file: Input) -> None:
        self._file = file
        self.meta = Meta(file.stream.readline().decode().split()[1])

    def read(self, matrices: ReadSpec) -> Source:
        for number, line in enumerate(self._file.stream, 1):
            yield RawScores(str(number), np.array([line.split()], np.float64), f"{self._file.place}:{number}")


@contextmanager
def open_text(file: Input) -> Iterator[Text]:
    yield Text(file)


@contextmanager
def write_text(path: str | None, meta: Meta, header: bool) -> Iterator[Write]:
    with Output(path) as out:
        out.write(f"TREES {meta.signature}\n".encode())
        yield lambda sent_id, scores, extras=None: out.write(b"%s\n" % " ".join(map(str, scores[0].tolist())).encode())


TEXT = Container("text", (".trees",), starting(b"TREES"), open_text, write_text)


@pytest.fixture
def register(monkeypatch) -> Register[Container]:
    copy = Register("container", list(CONTAINERS), group="deptree.containers")
    monkeypatch.setattr(containers, "CONTAINERS", copy)
    return copy


def test_a_container_that_is_added(deliver, register, scratch, says) -> None:
    register.add(TEXT)
    assert format_for("out.trees").name == "text"
    with write_scores("out.trees", Meta("me")) as write:
        write("a", np.array([[1.5, -np.inf]]))
        write("b", np.array([[2.0, 3.0]]))
    meta, raws = contents(deliver(Path("out.trees").read_bytes(), ".trees"))
    assert meta == Meta("me")
    assert [(raw.key, raw.scores.tolist()) for raw in raws] == [("1", [[1.5, -np.inf]]), ("2", [[2.0, 3.0]])]
    with says("Save the scores as .npz, .npy", " or .trees"):
        contents(scratch("a.txt", b"1.5"))
    with says("does not write .txt", ".npz", ", .trees"):
        format_for("a.txt")


def test_its_suffix_decides_without_first_bytes_and_where_these_are_ours(scratch, register, says) -> None:
    """Many formats are zips, or begin like JSON."""
    register.add(Container("bare", (".bare",), starting(), open_text))
    register.add(Container("other", (".other",), starting(b"{"), open_text))
    for name, data in {"a.bare": b"x y\n1 2\n", "a.bare.gz": gzip.compress(b"x y\n1 2\n")}.items():
        assert contents(scratch(name, data))[0] == Meta("y")
    with says("does not write .bare"):
        format_for("a.bare")
    for name, signature in {"a.other": '"me"}', "a.jsonl": "me", "a": "me"}.items():
        assert contents(scratch(name, b'{"signature": "me"}\n'))[0] == Meta(signature)


def test_an_entry_point_may_read_what_we_refuse(scratch, says, monkeypatch) -> None:
    magic = b"\x89HDF\r\n\x1a\n"
    path = scratch("a.h5", magic + b"HDF x\n1 2\n")
    with says("HDF5 is not read"):
        contents(path)

    @contextmanager
    def open_behind_magic(file: Input) -> Iterator[Text]:
        file.stream.read(len(magic))
        yield Text(file)

    hdf = Container("h5py", (".h5", ".hdf"), starting(magic), open_behind_magic, write_text)
    offer, ours = EntryPoint("h5py", "stranger:CONTAINER", "deptree.containers"), list(CONTAINERS)
    monkeypatch.setattr(EntryPoint, "load", lambda self: hdf)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [offer] if group == offer.group else [])
    monkeypatch.setattr(containers, "CONTAINERS", Register("container", ours, CONTAINERS.group))
    assert contents(path)[0] == Meta("x")
    assert contents(scratch("a", Path(path).read_bytes()))[0] == Meta("x")
    assert format_for("a.h5").name == "h5py"
