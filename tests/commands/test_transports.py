"""Every container by every transport, with its own layout or a preset, gives the same marginals or a known error."""

from __future__ import annotations

import gzip
import io
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from tests.sample import DATA

GOLD = DATA / "gold.conllu"

# container -> its suffix, and the options that it needs with a preset
CONTAINERS = {
    "npz": (".npz", ()),
    "npy stream": (".npy", ()),
    "npy batch": (".npy", ("--lengths", "lengths.txt")),
    "npy single": (".npy", ()),
    "safetensors": (".safetensors", ()),
    "jsonl": (".jsonl", ()),
}
TRANSPORTS = ["file", "nameless", "gzip", "standard input", "gzip on standard input", "FIFO", "gzip in a FIFO"]

# What is written: a layout as unlike the default as there is, so that reading it as the default is wrong or fails.
TARGETS = {
    "own dep-head": ("--to", "dep-head,log"),
    "own diagonal weights": ("--to", "head-dep,diagonal,weight"),
    "own root last": ("--to", "dep-head,last,log"),
    "preset torch-struct": ("--to", "torch-struct"),
    "preset udpipe2": ("--to", "udpipe2"),
    "preset supar": ("--to", "supar"),
}


@pytest.fixture
def deliver(deptree, tmp_path, monkeypatch) -> Callable[..., object]:
    """Run a command that reads bytes by a transport; `{}` stands for the path."""
    monkeypatch.chdir(tmp_path)

    def run(data: bytes, suffix: str, transport: str, *args: object):
        packed = gzip.compress(data) if "gzip" in transport else data
        name = {"file": f"x{suffix}", "nameless": "x", "gzip": f"x{suffix}.gz"}.get(transport, "-")
        if "FIFO" in transport:
            Path("pipe").unlink(missing_ok=True)
            os.mkfifo("pipe")
            feeder = threading.Thread(target=_feed, args=(packed,))
            feeder.start()
            ran = deptree(*(arg if arg != "{}" else "pipe" for arg in args))
            feeder.join(20)
            assert not feeder.is_alive()
            return ran
        if name != "-":
            Path(name).write_bytes(packed)
        return deptree(*(arg if arg != "{}" else name for arg in args), stdin=packed if name == "-" else b"")

    return run


def _feed(data: bytes) -> None:
    with suppress(BrokenPipeError):  # the command ended with an error
        Path("pipe").write_bytes(data)


@pytest.fixture(scope="module")
def expected() -> dict[str, np.ndarray]:
    """The marginals of the sample data, worked out from the plain file as a library."""
    from deptree_cli.io.scores.reading import read

    return {each.id: each.distribution.marginals() for each in read(str(DATA / "scores.npz"), preset="natasha")}


def batch(stream: bytes) -> bytes:
    """Arrays saved one after another as one padded batch."""
    file, arrays = io.BytesIO(stream), []
    while file.tell() < len(stream):
        arrays.append(np.load(file))
    shape = np.max([array.shape for array in arrays], axis=0)
    padded = np.zeros((len(arrays), *shape), arrays[0].dtype)
    for slice_, array in zip(padded, arrays, strict=True):
        slice_[tuple(map(slice, array.shape))] = array
    out = io.BytesIO()
    np.save(out, padded)
    return out.getvalue()


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_the_same_marginals(container, target, deliver, done, expected) -> None:
    suffix, options = CONTAINERS[container]
    if container == "safetensors":
        pytest.importorskip("safetensors", reason="safetensors is not installed")
    source = (DATA / "scores.npz", "--from", "natasha", "-q")
    if container == "npy single":
        source = ("one.jsonl", "--from", "natasha", "-q")
        Path("one.jsonl").write_bytes((DATA / "scores.jsonl").read_bytes().split(b"\n")[0])
    done("convert", *source, *TARGETS[target], "-o", f"converted{suffix}")
    data = Path(f"converted{suffix}").read_bytes()
    data = batch(data) if container == "npy batch" else data
    Path("lengths.txt").write_bytes((DATA / "lengths.txt").read_bytes())
    reading = () if target.startswith("own") else ("--from", target.split()[1])
    nameless = container.startswith("npy")
    if nameless and target.startswith("own"):  # .npy has no place for a layout: what was written must be told
        reading = ("--from", TARGETS[target][1])
    padded_behind = container == "npy batch" and "root last" in target
    for transport in TRANSPORTS:
        # A safetensors file that nothing but its name tells is still known by its first bytes.
        ran = deliver(data, suffix, transport, "marginals", "{}", *reading, *options, "-q")
        if padded_behind:
            assert (ran.code, "with ROOT last nobody can tell" in ran.err) == (2, True)
            continue
        assert ran.code == 0, (transport, ran.err)
        compare(ran.rows, expected, reading, target)


def compare(rows, expected, reading, target) -> None:
    """Marginals as they come, brought back to [head, dependent]."""
    from deptree_cli.io.scores.layout import Layout, to_head_dep
    from deptree_cli.io.scores.presets import layout

    laid_out = layout(TARGETS[target][1])
    assert len(rows) in (1, len(expected))
    for row, wanted in zip(rows, expected.values(), strict=False):
        got = to_head_dep(np.array(row["marginals"]), Layout(laid_out.orient, laid_out.root, "weight"))
        np.testing.assert_allclose(got, wanted, atol=1e-9)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("container", ["npz", "safetensors", "jsonl"])
def test_the_same_trees_of_sentences(container, transport, deliver, done) -> None:
    """Together with their sentences: paired the same way whatever the transport."""
    suffix = CONTAINERS[container][0]
    if container == "safetensors":
        pytest.importorskip("safetensors", reason="safetensors is not installed")
    done("convert", DATA / "scores.npz", "--from", "natasha", "--to", "spacy", "-o", f"c{suffix}", "-q")
    options = ("--conllu", GOLD, "--no-header", "-q")
    ran = deliver(Path(f"c{suffix}").read_bytes(), suffix, transport, "decode", "{}", *options)
    assert ran.code == 0, ran.err
    wanted = done("decode", DATA / "scores.npz", "--from", "natasha", *options).out
    assert [line.split(b"\t")[:9] for line in ran.out.splitlines()] == [
        line.split(b"\t")[:9] for line in wanted.splitlines()
    ]


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", ["sentences.conllu", "labels.json", "lengths.txt"])
def test_other_inputs(name, transport, deliver, done) -> None:
    """Sentences, labels and lengths come by every transport too."""
    commands = {
        "sentences.conllu": ("decode", DATA / "scores.npz", "--from", "natasha", "--conllu"),
        "labels.json": ("decode", DATA / "label_scores.npz", "--from", "natasha", "--labels"),
        "lengths.txt": ("decode", DATA / "scores.npy", "--from", "supar", "--lengths"),
    }
    wanted = done(*commands[name], DATA / name, "-q", "--no-header").out
    data, suffix = (DATA / name).read_bytes(), Path(name).suffix
    ran = deliver(data, suffix, transport, *commands[name], "{}", "-q", "--no-header")
    assert (ran.code, ran.out) == (0, wanted), ran.err
