"""What fuzzing found, each as small as it gets, through the whole command (readers: tests/io/scores/test_damage.py)."""

from __future__ import annotations

import io
import json
import time

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu import blocks
from deptree_cli.io.conllu.blocks import split_chunks
from deptree_cli.io.pictures.arcs import fitted
from deptree_cli.io.scores import reading
from tests.sample import DATA

SCORES = [[0, 1, 1], [0, 0, 1], [0, 1, 0]]


def named(sent_id: str) -> str:
    return json.dumps({"sent_id": sent_id, "scores": SCORES}) + "\n"


def refused(ran, *says: str) -> None:
    assert (ran.code, len(ran.said)) == (2, 1), ran.err
    assert all(part in ran.err for part in says), ran.err
    assert ran.said[0].isprintable()


@pytest.mark.parametrize("name", ["a\nb", "a\rb", "a\0b", "\x1b[31ma", "a\u2028b"])
@pytest.mark.parametrize("command", ["sample a.jsonl --conllu a.conllu", "marginals a.jsonl -o out.npz"])
def test_names_that_would_break_what_they_are_written_into(command, name, deptree, put) -> None:
    """A newline made lines of a comment, a zip cut its entry's name at the NUL."""
    put("a.jsonl", named(name))
    put("a.conllu", "".join(f"{word}\tf" + "\t_" * 8 + "\n" for word in (1, 2)) + "\n")
    refused(deptree(*command.split(), "--from", "head-dep"), "a.jsonl:1", "control character")


def test_a_name_too_long_for_a_zip(deptree, put) -> None:
    put("a.jsonl", named("x" * 70_000))
    refused(deptree("marginals", "a.jsonl", "-o", "out.npz", "-q"), "too long")


def test_an_error_does_not_speak_to_the_terminal(deptree, put) -> None:
    put("a.conllu", b"# sent_id = \x1b[31mred\n1\tf" + b"\t_" * 8 + b"\n\n")
    ran = deptree("partition", DATA / "one.npy", "--conllu", "a.conllu", "-q")
    refused(ran, r"\x1b[31mred")


@pytest.mark.parametrize("signature", ["deptree", "deptree|", "", None, 1])
def test_a_signature_that_is_none(signature, done, put) -> None:
    put("a.jsonl", json.dumps({"signature": signature}) + "\n" + named("x"))
    assert [row["sent_id"] for row in done("partition", "a.jsonl").rows] == ["x"]


@pytest.mark.parametrize("value", ['{"a": []}', '{"a": {}}', '{"a": null, "b": [1]}', '[["a"]]', "[" * 100_000])
def test_labels_of_no_kind(value, deptree, put) -> None:
    put("l.json", value)
    refused(deptree("sample", DATA / "scores.npz", "--from", "natasha", "--labels", "l.json"), "l.json", "labels")


def test_labels_without_end(deptree, put, monkeypatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 100)
    put("l.txt", "x" * 100)
    refused(deptree("sample", DATA / "scores.npz", "--from", "natasha", "--labels", "l.txt"), "l.txt", "labels")


def test_a_sentence_without_end(monkeypatch) -> None:
    monkeypatch.setattr(blocks, "LONGEST_SENTENCE", 100)
    assert len(list(split_chunks(io.BytesIO(b"1\n\n" * 100)))) == 100
    with pytest.raises(DeptreeError, match="the sentence from line 3 on has more than 100 bytes"):
        list(split_chunks(io.BytesIO(b"1\n\n" + b"2\n" * 100)))


def test_scores_in_json_without_end(deptree, put, monkeypatch) -> None:
    monkeypatch.setattr("deptree_cli.io.files.streams.LONGEST_LINE", 100)
    put("a.jsonl", named("x") + named("y" * 100))
    refused(deptree("partition", "a.jsonl", "-q"), "a.jsonl:2", "more than 100 bytes")


@pytest.mark.parametrize("container", ["out.jsonl", "out.npz", "out.npy"])
@pytest.mark.parametrize("type_", ["<f2", "<f4", ">f8", np.longdouble])
def test_what_the_type_read_cannot_hold(type_, container, done, put) -> None:
    """Larger by --temperature, in half precision infinite; and JSON has no long doubles."""
    put("a.npy", (900 * np.array(SCORES)).astype(type_))
    options = ("--from", "head-dep,log")
    before = done("partition", "a.npy", *options, "--temperature", 0.01).rows
    done("convert", "a.npy", *options, "--temperature", 0.01, "--to", "log", "-o", container)
    (row,) = done("partition", container, *options).rows
    assert row["log_z"] == pytest.approx(before[0]["log_z"])


def test_weights_that_the_type_read_cannot_hold(done, put) -> None:
    """1e-30 to the tenth power is 0 in single precision, which would forbid the arc."""
    put("a.npy", np.array([[0, 1, 1e-30], [0, 0, 1e-30], [0, 1e-30, 0]], dtype="<f4"))
    done("convert", "a.npy", "--from", "head-dep", "--temperature", 0.1, "-o", "out.npy")
    assert (np.load("out.npy")[0, 1:] > 0).all()


def test_a_long_relation_that_stays_and_goes_to_deps_too(real, tmp_path) -> None:
    """It was written behind the end of what had been reserved, which ends a process: hence one of its own."""
    relation = b"x" * 300_000
    rows = b"1\tf\t_\t_\t_\t_\t0\troot\t_\t_\n2\tf\t_\t_\t_\t_\t1\t" + relation + b"\t_\t_\n\n"
    (tmp_path / "a.conllu").write_bytes(rows)
    np.save(tmp_path / "a.npy", np.array(SCORES, dtype=float))
    ran = real("sample", "a.npy", "--from=head-dep", "--conllu=a.conllu", "--fix-heads", "--deps=basic", "-k", 40)
    assert (ran.code, ran.out.count(relation)) == (0, 80)


def test_fitting_a_long_text_takes_no_time() -> None:
    start = time.process_time()
    assert fitted("漢" * 20_000, 8) == "漢漢漢… "
    assert time.process_time() - start < 1
