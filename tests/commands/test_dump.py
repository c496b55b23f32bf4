"""``deptree dump``: from text to scores, and on through the pipe; skipped where natasha is missing."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.spaces import SINGLE_ROOT
from deptree_cli.io.parsers import adapter_of
from tests.sample import DATA

TEXT = DATA / "paragraphs.txt"
CONLLU = DATA / "sentences.conllu"

natasha = pytest.mark.usefixtures("_installed")


@pytest.fixture
def _installed():
    pytest.importorskip("slovnet", reason="natasha is not installed")


@pytest.fixture
def afresh():
    """Parsers are loaded anew, not taken from an earlier test of this process, nor left to a later one."""
    adapter_of.cache_clear()
    yield
    adapter_of.cache_clear()


def scores_of(ran):
    """JSON Lines without the header, which the other commands are given by --from."""
    return b"".join(ran.out.splitlines(keepends=True)[1:])


@pytest.mark.slow("process")
@natasha
def test_lines_of_scores(done):
    ran = done("dump", "natasha", TEXT)
    header, *rows = ran.rows
    assert header == {"signature": ran.signature}
    assert ran.signature.startswith("deptree|dump|from:natasha|parser:")
    assert [row["sent_id"] for row in rows] == [str(number) for number in range(1, len(rows) + 1)]
    text = " ".join(TEXT.read_text(encoding="utf-8").split())
    assert "".join(form for row in rows for form in row["forms"]) == text.replace(" ", "")
    for row in rows:
        assert list(row) == ["sent_id", "scores", "forms"]
        assert np.array(row["scores"]).shape == (len(row["forms"]), len(row["forms"]) + 1)
    assert done("dump", "natasha", TEXT, "--no-header", "-q").rows == rows


@natasha
def test_through_the_pipe(done):
    """Three paragraphs to samples, best trees and marginals."""
    dumped = done("dump", "natasha", TEXT)
    _, *rows = dumped.rows
    assert len(rows) == 10
    read = ("-", "--from", "natasha")
    samples = done("sample", *read, "-k", 5, "--seed", 7, stdin=scores_of(dumped)).rows
    assert [row["sent_id"] for row in samples] == [row["sent_id"] for row in rows for _ in range(5)]
    for row in samples:
        assert SINGLE_ROOT.contains(np.array([row["heads"]])).all()
    best = {row["sent_id"]: row["heads"] for row in done("decode", *read, stdin=scores_of(dumped)).rows}
    forms = rows[0]["forms"]
    assert forms == ["Ранним", "утром", "над", "рекой", "поднялся", "туман", "."]
    assert best["1"] == [2, 5, 4, 5, 0, 5, 5]
    for row in done("marginals", *read, stdin=scores_of(dumped)).rows:
        np.testing.assert_allclose(np.array(row["marginals"]).sum(axis=1), 1)


@natasha
def test_every_file(done, udvalidate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = ("--to-conllu", "s.conllu", "--to-label-scores", "l.npz", "--to-labels", "l.json")
    ran = done("dump", "natasha", TEXT, "-o", "s.npz", *files, "--batch", 3)
    rows = done("dump", "natasha", TEXT, "--no-header").rows
    labels = json.loads(Path("l.json").read_bytes())
    assert "nsubj" in labels
    with np.load("s.npz") as scores, np.load("l.npz") as label_scores, zipfile.ZipFile("s.npz") as archive:
        assert archive.comment.decode().startswith("deptree|dump|from:natasha|")
        assert list(scores) == list(label_scores) == [row["sent_id"] for row in rows]
        for row in rows:
            assert scores[row["sent_id"]].tolist() == row["scores"]
            assert label_scores[row["sent_id"]].shape == (*np.shape(row["scores"]), len(labels))
    checked = udvalidate("s.conllu", 1)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    decoded = done("decode", "s.npz", "--from", "natasha", "--conllu", "s.conllu").out.decode()
    assert "# text = «Сегодня будет жарко», — сказал он и посмотрел на восток." in decoded
    assert ran.out == b""


@natasha
def test_conllu_keeps_tokens_and_bytes(done, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = done("dump", "natasha", "-", "--to-conllu", "s.conllu", "--no-header", stdin=CONLLU.read_bytes())
    with np.load(DATA / "scores.npz") as known:
        assert {row["sent_id"]: np.shape(row["scores"]) for row in ran.rows} == {key: known[key].shape for key in known}
    assert Path("s.conllu").read_bytes() == CONLLU.read_bytes()


@natasha
def test_what_the_input_is_can_be_said(done, deptree):
    heading = "# Утро\n\nТуман над рекой.\n".encode()
    ran = deptree("dump", "natasha", stdin=heading)
    assert ran.code == 2
    assert len(ran.said) == 1
    assert "If this is text, pass --input text." in ran.err
    rows = done("dump", "natasha", "--input", "text", "--no-header", stdin=heading).rows
    assert [row["forms"] for row in rows] == [["#", "Утро"], ["Туман", "над", "рекой", "."]]


@pytest.mark.slow("process")
@natasha
def test_bytes_do_not_depend_on_the_batch(done):
    one, many = (done("dump", "natasha", TEXT, "--batch", size, "-q").out for size in (1, 50))
    assert one == many


@pytest.mark.slow("process")
@natasha
def test_scores_come_before_the_text_ends(warm):
    command = [warm / "deptree", "dump", "natasha", "--batch", "1", "--no-header", "-q"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    lines = []
    came = threading.Event()

    def read():
        lines.append(process.stdout.readline())
        came.set()
        lines.append(process.stdout.read())

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    # more than what a pipe's reader takes at once, so that it stands in the first read
    process.stdin.write(("Шёл дождь. " + " " * 160_000 + "\n\n").encode())
    process.stdin.flush()
    found = came.wait(60)
    process.stdin.write("Потом выглянуло солнце.\n".encode())
    process.stdin.close()
    reader.join(60)
    assert found
    assert process.wait(60) == 0
    assert json.loads(lines[0])["forms"] == ["Шёл", "дождь", "."]
    assert json.loads(lines[1].splitlines()[-1])["forms"] == ["Потом", "выглянуло", "солнце", "."]


@natasha
@pytest.mark.parametrize(
    ("args", "stdin", "said"),
    [
        ((), b"", "standard input: the file is empty"),
        ((), b" \n\n", "standard input: the file is empty"),
        ((), b"\xd0\xa2\xff", "standard input:1: this is not UTF-8"),
        (("--model", "big"), b"x", "natasha has one model only"),
        (("-o", "s.conllu"), b"x", "this command does not write .conllu. Name a file with one of the suffixes .jsonl"),
        (("-o", "missing/s.npz"), b"x", "its folder does not exist"),
        (("--to-conllu", "-"), b"x", "would write the same file"),
        (("--input", "conllu"), b"Text.\n", "1 column where a word has 10"),
    ],
)
def test_bad_requests(deptree, tmp_path, monkeypatch, args, stdin, said):
    monkeypatch.chdir(tmp_path)
    ran = deptree("dump", "natasha", *args, stdin=stdin)
    assert (ran.code, ran.out) == (2, b"")
    assert len(ran.said) == 1
    assert said in ran.err
    assert list(tmp_path.iterdir()) == []


@natasha
def test_no_half_files(deptree, tmp_path, monkeypatch):
    """The second block is none: what was asked for does not appear."""
    monkeypatch.chdir(tmp_path)
    broken = "1\tДа\t_\t_\t_\t_\t_\t_\t_\t_\n\n1\tДа\n\n".encode()
    files = ("--to-conllu", "s.conllu", "--to-label-scores", "l.npz", "--to-labels", "l.json")
    ran = deptree("dump", "natasha", "-o", "s.npz", *files, "--batch", 1, stdin=broken)
    assert ran.code == 2
    assert "standard input:3" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_parsers_that_take_sentences_only(deptree):
    ran = deptree("dump", "supar", TEXT, "--model", "m")
    assert ran.code == 2
    assert ran.said == [f"deptree: {TEXT}: supar does not split text. Give it sentences in CoNLL-U."]


def test_a_parser_that_is_not_installed(deptree, monkeypatch, afresh):
    for package in ("slovnet", "navec"):
        monkeypatch.setitem(sys.modules, package, None)
    ran = deptree("dump", "natasha", TEXT)
    assert ran.code == 2
    assert len(ran.said) == 1
    assert "natasha cannot be imported" in ran.err
    assert "pip install 'deptree-cli[natasha]'" in ran.err


def test_forbidden_arcs_and_no_labels(deptree, done, monkeypatch, afresh):
    """A parser with -inf on the diagonal and without labels."""

    class Adapter:
        """Like a real one."""

        labels = None

        def scores(self, batch, labelled):
            """-inf on the diagonal."""
            size = len(batch[0]) + 1
            return [(np.where(np.eye(size, dtype=bool), -np.inf, 0.5), None)]

    monkeypatch.setattr("deptree_cli.io.parsers.adapters.load_supar", lambda model: Adapter())
    block = b"1\tNo\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    ran = done("dump", "supar", "--model", "m", stdin=block)
    assert ran.rows[1:] == [{"sent_id": "1", "scores": [[None, 0.5], [0.5, None]], "forms": ["No"]}]
    assert "|model:m|" in ran.signature
    ran = deptree("dump", "supar", "--model", "m", "--to-labels", "l.json", stdin=block)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "supar has no labels with this model" in ran.err
