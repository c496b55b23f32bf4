"""Scores that a command writes, read without an option, have the trees and log Z that they had; or are not written.

For every container of the register, packed or not, with and without a header.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from deptree_cli import read
from deptree_cli.io.parsers.scoring import adapter_of
from deptree_cli.io.scores.containers import CONTAINERS
from tests.commands.test_transports import TARGETS
from tests.sample import DATA

SCORES = (DATA / "scores.npz", "--from", "natasha", "-q")
SUFFIXES = [suffix + packed for each in CONTAINERS if each.write for suffix in each.suffixes for packed in ("", ".gz")]

EACH = pytest.mark.parametrize("name", [f"out{suffix}" for suffix in SUFFIXES])


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def log_zs(done, *args: object) -> list[float]:
    return [row["log_z"] for row in done("partition", *args, "-q").rows]


def keeps_meta(name: str) -> bool:
    """Whether the container of a file keeps how its scores are read, with a header if need be."""
    return next(each for each in CONTAINERS if any(suffix in name for suffix in each.suffixes)).keeps_meta(True)


def refused(ran, name: str, *said: str) -> bool:
    """Whether it was refused: in a line that says what of, and leaves nothing."""
    if ran.code == 0:
        return False
    assert (ran.code, ran.out, len(ran.said), Path(name).exists()) == (2, b"", 1, False)
    for each in said:
        assert each in ran.err
    return True


@EACH
@pytest.mark.parametrize("header", ["--header", "--no-header"])
@pytest.mark.parametrize("space", [(), ("--projective",)])
def test_convert(deptree, done, name, space, header):
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    expected = log_zs(done, *SCORES, *space)
    ran = deptree("convert", *SCORES, *space, header, "-o", name)
    if refused(ran, name, "cannot say that these scores have to be read with", *space):
        assert not keeps_meta(name) or (space and header == "--no-header")
        return
    assert header == "--no-header" or keeps_meta(name)
    bare = header == "--no-header" and "json" in name  # the user's own word: the layout is told again
    how = ("--scale", "log") if bare else ()
    assert log_zs(done, name, *how) == pytest.approx(expected)
    if not bare:
        assert [each.distribution.log_partition for each in read(name)] == pytest.approx(expected)


@EACH
def test_weights_are_read_from_any_container(done, name):
    done("convert", *SCORES, "--to", "weight", "-o", name)
    assert log_zs(done, name) == pytest.approx(log_zs(done, *SCORES))


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
@pytest.mark.parametrize("space", [(), ("--projective",)])
def test_a_layout_that_is_asked_for_can_be_told(deptree, done, target, space):
    """By the same options; the tree space could not."""
    ran = deptree("convert", *SCORES, *space, *target, "-o", "out.npy")
    if space:
        assert refused(ran, "out.npy", "--projective", "Write .npz, .safetensors or .jsonl")
        return
    assert ran.code == 0, ran.err
    how = [str(word).replace("--to-", "--").replace("--to", "--from") for word in target]
    assert log_zs(done, "out.npy", *how) == pytest.approx(log_zs(done, *SCORES))


@pytest.mark.slow("process")
@EACH
def test_dump(deptree, done, name):
    pytest.importorskip("slovnet", reason="natasha is not installed")
    adapter_of.cache_clear()
    ran = deptree("dump", "natasha", DATA / "paragraphs.txt", "-o", name, "-q")
    if refused(ran, name, "--from natasha"):
        assert not keeps_meta(name)
        return
    dumped = done("dump", "natasha", DATA / "paragraphs.txt", "-q").out
    Path("lines.jsonl").write_bytes(dumped)
    assert log_zs(done, name) == pytest.approx(log_zs(done, "lines.jsonl"))
