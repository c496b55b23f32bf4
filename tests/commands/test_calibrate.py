"""``deptree calibrate``, and --temperature FILE of other commands."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deptree_cli import read
from tests.sample import DATA, LABELS, SCORES

GOLD = ("--gold", DATA / "gold.conllu")
WORDS = ("--conllu", DATA / "gold.conllu")

HALF = '{"temperature":1.5,"head_sets":[{"coverage":0.9,"threshold":0.7},{"coverage":0.5,"threshold":0.1}]}'


def unsigned(text: str) -> list[str]:
    return [line for line in text.splitlines() if not line.startswith("# generator")]


def test_one_object(done):
    row = json.loads(
        done("calibrate", *SCORES, *GOLD, *LABELS, "--coverage", 0.9, "--coverage", 0.8, "-q").out.decode()
    )
    assert row["words"] == 54
    assert row["sentences"] == row["complete_trees"] == 8
    assert row["labels"] == 46
    assert [each["coverage"] for each in row["head_sets"]] == [0.9, 0.8]
    assert row["signature"].startswith("deptree|calibrate|from:natasha|")
    of = {
        each.id: each.distribution
        for each in read(str(DATA / "scores.npz"), str(DATA / "gold.conllu"), preset="natasha")
    }
    heads = {
        each.id: each.record.known_heads for each in read(str(SCORES[0]), str(DATA / "gold.conllu"), preset="natasha")
    }
    mean = sum(of[name].log_prob(heads[name]) for name in of) / 54
    assert row["before"]["arcs"]["log_likelihood"] == pytest.approx(mean)
    trees = {name: one.argmax() for name, one in of.items()}
    probs = [one.marginals()[trees[name], np.arange(1, one.n + 1)] for name, one in of.items()]
    found = row["before"]["arcs"]
    assert found["accuracy"] == sum((trees[name] == heads[name]).sum() for name in of) / 54
    assert found["confidence"] == pytest.approx(np.concatenate(probs).mean())
    assert sum(each["words"] for each in found["bins"]) == 54
    gaps = (each["words"] * abs(each["accuracy"] - each["confidence"]) for each in found["bins"])
    assert found["calibration_error"] == pytest.approx(sum(gaps) / 54)


@pytest.mark.parametrize(
    "line",
    [
        ("decode", *SCORES, *WORDS),
        ("marginals", *SCORES),
        ("marginals", *SCORES, "--projective"),
        ("sample", *SCORES, *WORDS, "-k", 3, "--seed", 1),
        ("partition", *SCORES),
        ("score", SCORES[0], DATA / "gold.conllu", *SCORES[1:]),
    ],
    ids=lambda line: line[0],
)
def test_calibrated_is_a_temperature(done, put, line):
    put("c.json", HALF)
    found, plain = (done(*line, *more).out.decode() for more in (("--temperature", "c.json"), ()))
    assert found == done(*line, "--temperature", 1.5).out.decode()
    assert unsigned(found) != unsigned(plain)


def test_labels_have_a_temperature_of_their_own(done, put):
    """Of labels given the arc; without one in the file they stay as they are."""
    put("c.json", '{"temperature":1.5,"label_temperature":3}')
    put("arcs.json", '{"temperature":1.5}')
    put("one.json", '{"temperature":1}')
    line = ("marginals", *SCORES, *LABELS)
    both, arcs, plain = (
        [np.array(row["marginals"]) for row in done(*line, "--temperature", name).rows]
        for name in ("c.json", "arcs.json", "one.json")
    )
    of = list(
        read(
            str(SCORES[0]),
            preset="natasha",
            temperature="c.json",
            **{"labels": str(LABELS[1]), "label_scores": str(LABELS[3])},
        )
    )
    for tempered, of_arcs, before, sentence in zip(both, arcs, plain, of, strict=True):
        sums = of_arcs.sum(axis=-1, keepdims=True)
        assert tempered.sum(axis=-1) == pytest.approx(sums[..., 0])
        with np.errstate(invalid="ignore", divide="ignore"):
            given = before / before.sum(axis=-1, keepdims=True)
            cubed = given ** (1 / 3)
            expected = np.nan_to_num(sums * cubed / cubed.sum(axis=-1, keepdims=True))
            assert of_arcs == pytest.approx(np.nan_to_num(sums * given), abs=1e-9)
        assert tempered == pytest.approx(expected, abs=1e-9)
        assert sentence.distribution.labels is not None
    assert (
        "temperature:1.5|labeltemperature:3.0|"
        in done("decode", *SCORES, *LABELS, *WORDS, "--temperature", "c.json").out.decode()
    )


def test_head_sets(done, put):
    put("c.json", HALF)
    line = ("marginals", *SCORES, "--temperature", "c.json", "--head-sets")
    rows, plain = done(*line).rows, done(*line[:-1]).rows
    for row, before in zip(rows, plain, strict=True):
        sets = row.pop("head_sets")
        assert row == before
        for heads, probs in zip(sets, row["marginals"], strict=True):
            inside = {head for head, prob in enumerate(probs) if 1 - prob <= 0.7}
            assert set(heads) == inside | {int(np.argmax(probs))}
            assert sorted(heads, key=lambda head: -probs[head]) == heads
    narrow = done(*line, "--coverage", 0.5).rows
    assert all(
        len(a) <= len(b)
        for x, y in zip(narrow, done(*line).rows, strict=True)
        for a, b in zip(x["head_sets"], y["head_sets"], strict=True)
    )
    text = done(*line, *WORDS).out.decode()
    assert text.count("|HeadSet=") == 54


def test_sets_of_an_earlier_run_do_not_survive(done, put):
    put("c.json", HALF)
    put("sets.conllu", done("marginals", *SCORES, *WORDS, "--temperature", "c.json", "--head-sets").out.decode())
    assert "HeadSet" not in done("decode", *SCORES, "--conllu", "sets.conllu").out.decode()


def test_unknown_heads_are_told(done, put):
    text = (DATA / "gold.conllu").read_text(encoding="utf-8")
    put("part.conllu", text.replace("\t2\tnsubj\t", "\t_\tnsubj\t", 1))
    ran = done("calibrate", *SCORES, "--gold", "part.conllu")
    assert json.loads(ran.out)["complete_trees"] == 7
    assert "1 sentence without a complete, possible gold tree" in ran.err


def test_tables_of_the_probabilities_as_they_are(done):
    ran = done("calibrate", *SCORES, *GOLD)
    found = json.loads(ran.out)["before"]["arcs"]
    assert "calibration of heads before" in ran.err
    assert f"deptree: attachment score {found['accuracy']:.4f}, expected by the parser" in ran.err
    assert done("calibrate", *SCORES, *GOLD, "-q").err == ""
