"""`.safetensors`: keys, types, damage."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.arrays import Raw, RawScores, ReadSpec
from deptree_cli.io.scores.containers import CONTAINERS, safetensors
from deptree_cli.io.scores.containers.safetensors import open_safetensors

CONTAINER = CONTAINERS.get("safetensors")

library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")

Read = Callable[..., list[Raw]]


@pytest.fixture
def read(read_all) -> Read:
    return lambda data: read_all(CONTAINER, data, "a.safetensors")


def laid_out(**arrays: tuple[str, tuple[int, ...], bytes]) -> bytes:
    """A file with these tensors one after another, by hand: the library writes neither all types nor any order."""
    header: dict[str, object] = {}
    data = b""
    for name, (kind, shape, own) in arrays.items():
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + len(own)]}
        data += own
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def test_keys_keep_their_order_and_load_when_asked(as_input) -> None:
    ones = np.ones((1, 2), "<f4").tobytes()
    data = laid_out(b=("F32", (1, 2), ones), a=("F32", (2, 1), ones), c=("F32", (1, 2), ones))
    with open_safetensors(as_input(data, "a.safetensors")) as file:
        assert file.meta.signature == ""
        source = file.read(ReadSpec())
        assert isinstance(source, Mapping)
        assert list(source) == ["b", "a", "c"]
        assert len(source) == 3
        assert "a" in source
        assert "d" not in source
        with pytest.raises(KeyError):
            source["d"]
        assert source["a"].scores.shape == (2, 1)
        assert (source["b"].key, source["b"].place, source["b"].padded) == ("b", "a.safetensors[b]", False)


def test_what_it_says_of_itself_is_among_the_metadata(as_input) -> None:
    sayings = {None: "", "x": "", "[1]": "", '["x|y", [1]]': "", '["x|y", []]': "x|y"}
    for said, signature in sayings.items():
        data = library.save({"a": np.ones((2, 2))}, {"by": "me"} | ({} if said is None else {"deptree": said}))
        with open_safetensors(as_input(data, "a.safetensors")) as file:
            assert file.meta.signature == signature


@pytest.mark.parametrize("dtype", ["bool", "u1", "i1", "u2", "i2", "f2", "u4", "i4", "f4", "u8", "i8", "f8"])
def test_all_real_types_of_numpy(dtype: str, read: Read) -> None:
    matrix = np.arange(6).reshape(2, 3).astype(dtype)
    (raw,) = read(library.save({"a": matrix}))
    assert isinstance(raw, RawScores)
    assert raw.scores.dtype == matrix.dtype
    np.testing.assert_array_equal(raw.scores, matrix)


@pytest.mark.parametrize(
    ("kind", "size"),
    [("BF16", 8), ("F8_E4M3", 4), ("F8_E5M2", 4), ("F8_E8M0", 4), ("F4", 2), ("C64", 32), ("F8_E4M3FNUZ", 4)],
)
def test_types_that_are_not_read(kind: str, size: int, read: Read) -> None:
    """The library fails over them with errors of several classes."""
    if kind in {"C64", "F8_E4M3FNUZ"}:
        pytest.importorskip("safetensors", minversion="0.8", reason="an older safetensors does not know the type")
    error, good = read(laid_out(a=(kind, (2, 2), bytes(size)), b=("F64", (1, 1), bytes(8))))
    assert str(error) == f"a.safetensors[a] (a): the tensor cannot be read (its type is {kind}). Save it as float32."
    assert isinstance(good, RawScores)


def test_a_type_that_nobody_knows(read: Read, says) -> None:
    with says("a.safetensors: the file is damaged or cut short"):
        read(laid_out(a=("F99", (2, 2), bytes(4))))


def test_damage_is_named(read: Read, says) -> None:
    whole = library.save({"a": np.random.default_rng(0).random((3, 3)), "b": np.ones((2, 2))})
    for end in (3, 9, 40, len(whole) - 1):
        with says("a.safetensors: the file is damaged or cut short"):
            read(whole[:end])
    with says("a.safetensors: the file is damaged or cut short"):
        read(whole + b"x")
    with says("a.safetensors: the file holds no tensors"):
        read(library.save({}))


def test_every_byte_of_the_header_in_turn(read: Read) -> None:
    """Nothing but a DeptreeError or a sound array may come of it."""
    sound = laid_out(a=("F16", (2, 3), bytes(range(12))), b=("F32", (1, 3), bytes(12)))
    outcomes = set()
    for place in range(len(sound) - 24):
        for bit in range(8):
            data = bytearray(sound)
            data[place] ^= 1 << bit
            try:
                outcomes |= {type(raw) for raw in read(bytes(data))}
            except DeptreeError as error:
                outcomes.add(error.problem[:20])
    assert len(outcomes) > 1
    assert RawScores in outcomes


def test_what_no_sentence_has_is_refused(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safetensors, "MOST_SCORES", 8)
    (error,) = read(library.save({"x": np.ones((3, 3))}))
    assert "a.safetensors[x] (x): the array has shape (3, 3), which no sentence has" in str(error)


def test_no_name_twice(tmp_path, says) -> None:
    assert CONTAINER.write
    with says("x: safetensors cannot hold two sentences of one name"):  # noqa: SIM117
        with CONTAINER.write(str(tmp_path / "a"), "", False) as write:
            write("x", np.ones((2, 2)))
            write("x", np.ones((2, 2)))
    assert not (tmp_path / "a").exists()


def test_without_the_library(tmp_path, read: Read, says, monkeypatch: pytest.MonkeyPatch) -> None:
    data = library.save({"a": np.ones((2, 2))})
    monkeypatch.setitem(sys.modules, "safetensors", None)
    monkeypatch.setitem(sys.modules, "safetensors.numpy", None)
    with says("a.safetensors: safetensors is not installed", "pip install"):
        read(data)
    assert CONTAINER.write
    with says("safetensors is not installed", "pip install"), CONTAINER.write(str(tmp_path / "a"), "", False):
        pass
