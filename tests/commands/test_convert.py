"""Scores as they come and go: `deptree convert` between layouts, `deptree dump` from text, and every transport."""

import gzip
import json
import os
import subprocess
import threading
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.io.parsers import adapter_of
from deptree_cli.io.scores.layout import PRESETS
from tests.bounded import bounded
from tests.sample import DATA


@pytest.mark.parametrize("preset", sorted(layout.name for layout in PRESETS if layout.labels is None))
@pytest.mark.parametrize("container", ["npz", "jsonl", "safetensors"])
def test_what_is_written_needs_no_options_to_be_read(done, preset, container):
    done(f"convert $SCORES --to {preset} -o scores.{container}")
    ran = done(f"partition scores.{container}")
    assert f"|from:{preset}|" in ran.signature
    for row, known in zip(ran.rows, done("partition $SCORES").rows, strict=True):
        assert (row["sent_id"], row["n"]) == (known["sent_id"], known["n"])
        for name in ("log_z", "single_root_mass"):
            assert row[name] == pytest.approx(known[name])
    if container == "npz":
        layout, rectangle = PRESETS.get(preset), preset in ("natasha", "udpipe2", "supar-probs")
        with np.load("scores.npz") as scores:
            assert scores["en-1"].shape == ((8, 8) if layout.root == "diagonal" else (9 - rectangle, 9))
            assert scores["en-1"].dtype == (np.float64 if layout.scale == "weight" else np.float32)


def test_the_usual_layout_single_answers_and_options_of_reading(done):
    done("convert $SCORES -o usual.npz")
    with np.load(DATA / "scores.npz") as scores, np.load("usual.npz") as usual:
        own = scores["en-1"].astype(float)
        np.testing.assert_array_equal(usual["en-1"][0, 1:], own[:, 0])
    ran = done("convert $SCORES --to weight,dep-head,last")
    np.testing.assert_allclose(np.array(ran.rows[1]["scores"])[:-1, -1], np.exp(own[:, 0]))
    assert "|from:dep-head,last,weight|" in ran.rows[0]["signature"]
    done("convert $SCORES --temperature 3 -o tempered.npz")
    found, expected = (done(f"partition {line}").rows for line in ("tempered.npz", "$SCORES --temperature 3"))
    assert [row["log_z"] for row in found] == pytest.approx([row["log_z"] for row in expected], rel=1e-5)


def test_weights_that_no_float_holds(done, put):
    """Columns are shifted where that helps; what is still too small is counted."""
    put("far.npy", np.array([[0, 800.0, 900], [0, 0, 100], [0, 790, 0]]))
    shifted = done("convert far.npy --from head-dep,log --to weight")
    assert "1 arc is forbidden now" in shifted.err
    (row,) = shifted.rows[1:]
    np.testing.assert_allclose(row["scores"], [[0, 1, 1], [0, 0, 0], [0, np.exp(-10), 0]])
    assert "forbidden" not in done("convert far.npy --from head-dep,log --to log").err


def test_forms_stay_and_make_conllu(done):
    lines = done("convert $DATA/scores.jsonl --from natasha").out
    assert json.loads(lines.splitlines()[1])["forms"][:3] == ["She", "saw", "the"]
    out = done("decode - --format conllu", stdin=lines).out.decode()
    assert "# text = She saw the man with the telescope ." in out
    assert "\n2\tsaw\t_\t_\t_\t_\t0\troot\t_\tHeadProb=0.9999" in out


@pytest.mark.quick
@pytest.mark.parametrize("forms", [["a\tb"], ["a\nb"], [""], [1], "a", ["a", "b"], ["\ud800"]], ids=ascii)
@pytest.mark.parametrize("line", ["partition", "sample --format conllu"])
def test_forms_that_cannot_stand_in_a_column_are_an_error(refused, line, forms):
    stdin = json.dumps({"scores": [[1, 1], [1, 1]], "forms": forms}).encode()
    err = refused(f"{line} - --from head-dep -q", "forms", stdin=stdin).err
    assert "--conllu" in err or "Repair" in err


@pytest.mark.parametrize("transport", ["x", "x.gz", "-", "gzip on -", "pipe", "gzip in pipe"])
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("sentences.conllu", "decode $SCORES --conllu"),
        ("labels.json", "decode $DATA/label_scores.npz --from natasha --labels"),
        ("lengths.txt", "decode $DATA/scores.npy --from supar --lengths"),
        ("scores.npz", "decode --from natasha"),
    ],
)
def test_every_transport(done, put, transport, name, line):
    data = (DATA / name).read_bytes()
    wanted = done(f"{line} $DATA/{name} -q --no-header").out
    packed = gzip.compress(data) if "gz" in transport else data
    path = transport.split()[-1]
    if path == "pipe":
        os.mkfifo("pipe")
        feeder = threading.Thread(target=Path("pipe").write_bytes, args=(packed,), daemon=True)
        feeder.start()
    elif path != "-":
        put(path, packed)
    assert done(f"{line} {path} -q --no-header", stdin=packed if path == "-" else b"").out == wanted
    if path == "pipe":
        feeder.join(20)
        assert not feeder.is_alive()


FILES = "--to-conllu s.conllu --to-label-scores l.npz --to-labels l.json"
needs_natasha = pytest.mark.skipif(find_spec("slovnet") is None, reason="natasha is not installed")


@pytest.fixture
def afresh():
    """Parsers are loaded anew, not taken from an earlier test of this process, nor left to a later one."""
    adapter_of.cache_clear()
    yield
    adapter_of.cache_clear()


@needs_natasha
def test_dumped_text_goes_through_the_pipe(done):
    dumped = done("dump natasha $DATA/paragraphs.txt")
    header, *rows = dumped.rows
    assert header == {"signature": dumped.signature}
    assert dumped.signature.startswith("deptree|dump|from:natasha|parser:")
    assert [row["sent_id"] for row in rows] == [str(number) for number in range(1, 11)]
    text = "".join((DATA / "paragraphs.txt").read_text(encoding="utf-8").split())
    assert "".join(form for row in rows for form in row["forms"]) == text
    for row in rows:
        assert list(row) == ["sent_id", "scores", "forms"]
        assert np.array(row["scores"]).shape == (len(row["forms"]), len(row["forms"]) + 1)
    scores = dumped.out.partition(b"\n")[2]
    samples = done("sample - --from natasha -k 5 --seed 7", stdin=scores).rows
    assert [row["sent_id"] for row in samples] == [row["sent_id"] for row in rows for _ in range(5)]
    assert rows[0]["forms"] == ["Ранним", "утром", "над", "рекой", "поднялся", "туман", "."]
    assert done("decode - --from natasha", stdin=scores).rows[0]["heads"] == [2, 5, 4, 5, 0, 5, 5]


@needs_natasha
def test_every_file_of_a_dump(done, udvalidate, tmp_path):
    assert done(f"dump natasha $DATA/paragraphs.txt -o s.npz {FILES} --batch 3").out == b""
    rows = done("dump natasha $DATA/paragraphs.txt --no-header").rows
    labels = json.loads(Path("l.json").read_bytes())
    assert "nsubj" in labels
    with np.load("s.npz") as scores, np.load("l.npz") as label_scores, zipfile.ZipFile("s.npz") as archive:
        assert archive.comment.decode().startswith("deptree|dump|from:natasha|")
        assert list(scores) == list(label_scores) == [row["sent_id"] for row in rows]
        for row in rows:
            assert scores[row["sent_id"]].tolist() == row["scores"]
            assert label_scores[row["sent_id"]].shape == (*np.shape(row["scores"]), len(labels))
    checked = udvalidate(tmp_path / "s.conllu", 1)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    decoded = done("decode s.npz --from natasha --conllu s.conllu").out.decode()
    assert "# text = «Сегодня будет жарко», — сказал он и посмотрел на восток." in decoded


@needs_natasha
def test_conllu_keeps_tokens_and_bytes(done):
    own = (DATA / "sentences.conllu").read_bytes()
    ran = done("dump natasha - --to-conllu s.conllu --no-header", stdin=own)
    with np.load(DATA / "scores.npz") as known:
        assert {row["sent_id"]: np.shape(row["scores"]) for row in ran.rows} == {key: known[key].shape for key in known}
    assert Path("s.conllu").read_bytes() == own


@needs_natasha
def test_what_the_input_is_can_be_said(done, refused):
    heading = "# Утро\n\nТуман над рекой.\n".encode()
    refused("dump natasha", "If this is text, pass --input text.", stdin=heading)
    rows = done("dump natasha --input text --no-header", stdin=heading).rows
    assert [row["forms"] for row in rows] == [["#", "Утро"], ["Туман", "над", "рекой", "."]]


@pytest.mark.slow("process")
@needs_natasha
def test_scores_come_before_the_text_ends(warm):
    command = [warm / "deptree", "dump", "natasha", "--batch", "1", "--no-header", "-q"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        # more than what a pipe's reader takes at once, so that it stands in the first read
        process.stdin.write(("Шёл дождь. " + " " * 160_000 + "\n\n").encode())
        process.stdin.flush()
        first = bounded(process.stdout.readline)
        process.stdin.write("Потом выглянуло солнце.\n".encode())
        process.stdin.close()
        last = process.stdout.read().splitlines()[-1]
    assert process.returncode == 0
    assert json.loads(first)["forms"] == ["Шёл", "дождь", "."]
    assert json.loads(last)["forms"] == ["Потом", "выглянуло", "солнце", "."]


@needs_natasha
@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "stdin", "says"),
    [
        ("", b" \n\n", "standard input: the file is empty"),
        ("", b"\xd0\xa2\xff", "standard input:1: this is not UTF-8"),
        ("--to-conllu -", b"x", "would write the same file"),
        ("--input conllu", b"Text.\n", "1 column where a word has 10"),
        # the second block is none: what was asked for does not appear
        (f"-o s.npz {FILES} --batch 1 -q", ("1\tДа" + "\t_" * 8 + "\n\n1\tДа\n\n").encode(), "standard input:3"),
    ],
)
def test_what_dump_refuses(refused, tmp_path, line, stdin, says):
    refused(f"dump natasha {line}", says, stdin=stdin)
    assert list(tmp_path.iterdir()) == []


def test_a_parser_that_cannot_split_text(refused):
    refused("dump supar $DATA/paragraphs.txt --model m", "paragraphs.txt: supar does not split text. Give it sentences")


def test_forbidden_arcs_and_no_labels(refused, done, monkeypatch, afresh):

    class Adapter:
        labels = None

        def scores(self, batch, labelled):
            size = len(batch[0]) + 1
            return [(np.where(np.eye(size, dtype=bool), -np.inf, 0.5), None)]

    monkeypatch.setattr("deptree_cli.io.parsers.adapters.load_supar", lambda model: Adapter())
    block = b"1\tNo\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
    ran = done("dump supar --model m", stdin=block)
    assert ran.rows[1:] == [{"sent_id": "1", "scores": [[None, 0.5], [0.5, None]], "forms": ["No"]}]
    assert "|model:m|" in ran.signature
    refused("dump supar --model m --to-labels l.json", "supar has no labels with this model", stdin=block)
