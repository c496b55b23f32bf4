"""``deptree convert``: every layout and container says the same sentences, and says itself how it is to be read."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from deptree_cli.io.scores.layout import PRESETS
from tests.sample import DATA, SCORES

UNLABELLED = sorted(layout.name for layout in PRESETS if layout.labels is None)
CONTAINERS = ("npz", "jsonl", "safetensors")


@pytest.fixture
def expected(done):
    return {row["sent_id"]: row for row in done("partition", *SCORES).rows}


@pytest.mark.parametrize(("preset", "container"), list(product(UNLABELLED, CONTAINERS)))
def test_what_is_written_needs_no_options_to_be_read(done, tmp_path, expected, preset, container):
    path = tmp_path / f"scores.{container}"
    done("convert", *SCORES, "--to", preset, "-o", path)
    ran = done("partition", path)
    assert f"|from:{preset}|" in ran.signature
    assert len(ran.rows) == 8
    for row in ran.rows:
        assert row["log_z"] == pytest.approx(expected[row["sent_id"]]["log_z"])
        assert row["single_root_mass"] == pytest.approx(expected[row["sent_id"]]["single_root_mass"])


@pytest.mark.parametrize("preset", UNLABELLED)
def test_arrays_have_the_shape_that_the_preset_has(done, tmp_path, preset):
    done("convert", *SCORES, "--to", preset, "-o", tmp_path / "scores.npz")
    n, layout = 8, PRESETS.get(preset)
    rectangle = preset in ("natasha", "udpipe2", "supar-probs")
    shape = (n, n) if layout.root == "diagonal" else (n, n + 1) if rectangle else (n + 1, n + 1)
    with np.load(tmp_path / "scores.npz") as scores:
        assert scores["en-1"].shape == shape
        assert scores["en-1"].dtype == (np.float64 if layout.scale == "weight" else np.float32)


def test_the_usual_layout_and_single_answers(done, tmp_path):
    done("convert", *SCORES, "-o", tmp_path / "usual.npz")
    with np.load(tmp_path / "usual.npz") as usual, np.load(DATA / "scores.npz") as scores:
        np.testing.assert_array_equal(usual["en-1"][0, 1:], scores["en-1"][:, 0])
    ran = done("convert", *SCORES, "--to", "weight,dep-head,last")
    first = np.array(ran.rows[1]["scores"])
    with np.load(DATA / "scores.npz") as scores:
        np.testing.assert_allclose(first[:-1, -1], np.exp(scores["en-1"][:, 0].astype(float)))
    assert "|from:dep-head,last,weight|" in ran.rows[0]["signature"]
    assert done("partition", "-", stdin=ran.out).rows[0]["log_z"] == pytest.approx(
        done("partition", *SCORES).rows[0]["log_z"]
    )


def test_options_of_reading_are_carried_out(done, tmp_path):
    done("convert", *SCORES, "--temperature", 3, "-o", tmp_path / "tempered.npz")
    expected = done("partition", *SCORES, "--temperature", 3).rows
    for row, known in zip(done("partition", tmp_path / "tempered.npz").rows, expected, strict=True):
        assert row["log_z"] == pytest.approx(known["log_z"], rel=1e-5)


def test_weights_that_no_float_holds(done, put):
    """Columns are shifted where that helps; what is still too small is counted."""
    put("far.npy", np.array([[0, 800.0, 900], [0, 0, 100], [0, 790, 0]]))
    far = ("far.npy", "--from", "head-dep,log")
    shifted = done("convert", *far, "--to", "weight")
    assert "1 arc is forbidden now" in shifted.err
    (row,) = shifted.rows[1:]
    np.testing.assert_allclose(row["scores"], [[0, 1, 1], [0, 0, 0], [0, np.exp(-10), 0]])
    assert "forbidden" not in done("convert", *far, "--to", "log").err


def test_a_layout_of_a_later_version_is_an_error(deptree):
    said = b'{"signature":"deptree|dump|from:parser3000|v:9"}'
    line = said + b'\n{"scores":[[1,1],[1,1]]}\n'
    ran = deptree("partition", "-", stdin=line)
    assert (ran.code, ran.out) == (2, b"")
    assert "standard input: there is no layout 'parser3000'" in ran.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--to", "stanz"), "Did you mean stanza?"),
        (("--to", "allennlp"), "whose names need a file. Add --to-labels"),
        (("--to-labels", "l.json"), "--to-labels needs --labels FILE"),
        (("-o", "scores.conllu"), "this command does not write .conllu"),
        (("-o", "missing/scores.npz"), "its folder does not exist"),
    ],
)
def test_what_is_said_of_mistakes(deptree, tmp_path, monkeypatch, arguments, part):
    monkeypatch.chdir(tmp_path)
    ran = deptree("convert", *SCORES, *arguments)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert part in ran.err
    assert list(tmp_path.iterdir()) == []


def test_forms_stay_and_make_conllu(done):
    """Words beside the scores are enough for CoNLL-U; without them there is an error, not a guess."""
    lines = done("convert", DATA / "scores.jsonl", "--from", "natasha").out
    assert json.loads(lines.splitlines()[1])["forms"][:3] == ["She", "saw", "the"]
    out = done("decode", "-", "--format", "conllu", stdin=lines).out.decode()
    assert "# text = She saw the man with the telescope ." in out
    assert "\n2\tsaw\t_\t_\t_\t_\t0\troot\t_\tHeadProb=0.9999" in out


def test_forms_that_cannot_stand_in_a_column_are_an_error(deptree):
    for forms in (["a\tb"], ["a\nb"], [""], [1], "a", ["a", "b"], ["\ud800"]):
        line = json.dumps({"scores": [[1, 1], [1, 1]], "forms": forms}).encode()
        for command in (("partition",), ("sample", "--format", "conllu")):
            ran = deptree(*command, "-", "--from", "head-dep", stdin=line)
            assert ran.code == 2
            assert "forms" in ran.err
            assert "--conllu" in ran.err or "Repair" in ran.err
