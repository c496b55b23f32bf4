"""`deptree calibrate`, and `--temperature FILE` of other commands."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deptree_cli import read
from tests.sample import DATA

SCORES, GOLD = str(DATA / "scores.npz"), DATA / "gold.conllu"
HALF = '{"temperature":1.5,"head_sets":[{"coverage":0.9,"threshold":0.7},{"coverage":0.5,"threshold":0.1}]}'


def test_one_object(done):
    ran = done("calibrate $SCORES --gold $GOLD $LABELS --coverage 0.9 --coverage 0.8")
    (row,) = ran.rows
    assert "calibration of heads before" in ran.err
    assert f"deptree: attachment score {row['before']['arcs']['accuracy']:.4f}, expected by the parser" in ran.err
    assert row["words"] == 54
    assert row["sentences"] == row["complete_trees"] == 8
    assert row["labels"] == 46
    assert [each["coverage"] for each in row["head_sets"]] == [0.9, 0.8]
    assert row["signature"].startswith("deptree|calibrate|from:natasha|")
    found, sentences = row["before"]["arcs"], list(read(SCORES, str(GOLD), preset="natasha"))
    pairs = [(each.distribution, each.record.known_heads) for each in sentences]
    assert found["log_likelihood"] == pytest.approx(sum(one.log_prob(heads) for one, heads in pairs) / 54)
    trees = [(one, one.argmax(), heads) for one, heads in pairs]
    assert found["accuracy"] == sum((tree == heads).sum() for _, tree, heads in trees) / 54
    probs = [one.marginals()[tree, np.arange(1, one.n + 1)] for one, tree, _ in trees]
    assert found["confidence"] == pytest.approx(np.concatenate(probs).mean())
    assert sum(each["words"] for each in found["bins"]) == 54


def test_unknown_heads_are_told(done, put):
    put("part.conllu", GOLD.read_text(encoding="utf-8").replace("\t2\tnsubj\t", "\t_\tnsubj\t", 1))
    ran = done("calibrate $SCORES --gold part.conllu")
    assert json.loads(ran.out)["complete_trees"] == 7
    assert "1 sentence without a complete, possible gold tree" in ran.err


@pytest.mark.quick
@pytest.mark.parametrize(
    "line",
    [
        "decode $SCORES --conllu $GOLD",
        "marginals $SCORES --projective",
        "sample $SCORES --conllu $GOLD -k 3 --seed 1",
        "partition $SCORES",
        "score $DATA/scores.npz $GOLD --from natasha",
    ],
)
def test_calibrated_is_a_temperature(done, put, line):
    put("c.json", HALF)
    found = done(f"{line} --temperature c.json").out
    assert found == done(f"{line} --temperature 1.5").out
    assert [each for each in found.splitlines() if not each.startswith(b"# generator")] != [
        each for each in done(line).out.splitlines() if not each.startswith(b"# generator")
    ]


def test_labels_have_a_temperature_of_their_own(done, put):
    """Of labels given the arc; without one in the file they stay as they are."""
    put("c.json", '{"temperature":1.5,"label_temperature":3}')
    put("arcs.json", '{"temperature":1.5}')
    put("one.json", '{"temperature":1}')
    both, arcs, plain = (
        [np.array(row["marginals"]) for row in done(f"marginals $SCORES $LABELS --temperature {name}").rows]
        for name in ("c.json", "arcs.json", "one.json")
    )
    for tempered, of_arcs, before in zip(both, arcs, plain, strict=True):
        sums = of_arcs.sum(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            for found, power in ((of_arcs, 1), (tempered, 1 / 3)):
                given = (before / before.sum(axis=-1, keepdims=True)) ** power
                expected = np.nan_to_num(sums * given / given.sum(axis=-1, keepdims=True))
                assert found == pytest.approx(expected, abs=1e-9)
    decoded = done("decode $SCORES $LABELS --conllu $GOLD --temperature c.json").out
    assert b"temperature:1.5|labeltemperature:3.0|" in decoded
    options = {"labels": str(DATA / "labels.json"), "label_scores": str(DATA / "label_scores.npz")}
    for each in read(SCORES, preset="natasha", temperature="c.json", **options):
        assert each.distribution.labels is not None


def test_head_sets(done, put):
    put("c.json", HALF)
    line = "marginals $SCORES --temperature c.json"
    rows, plain = done(f"{line} --head-sets").rows, done(line).rows
    for row, before, narrow in zip(rows, plain, done(f"{line} --head-sets --coverage 0.5").rows, strict=True):
        sets = row.pop("head_sets")
        assert row == before
        for heads, probs, fewer in zip(sets, row["marginals"], narrow["head_sets"], strict=True):
            inside = {head for head, prob in enumerate(probs) if 1 - prob <= 0.7}
            assert set(heads) == inside | {int(np.argmax(probs))}
            assert sorted(heads, key=lambda head: -probs[head]) == heads
            assert len(fewer) <= len(heads)
    text = done(f"{line} --head-sets --conllu $GOLD").out
    assert text.count(b"|HeadSet=") == 54
    put("sets.conllu", text)
    assert b"HeadSet" not in done("decode $SCORES --conllu sets.conllu").out  # those of an earlier run


@pytest.mark.quick
@pytest.mark.parametrize(
    "content",
    [
        "",
        "[1]",
        "hello",
        "{}",
        '{"temperature":0}',
        '{"temperature":NaN}',
        f'{{"temperature":1{"0" * 400}}}',
        '{"temperature":"1"}',
        '{"temperature":1,"label_temperature":-1}',
        '{"temperature":1,"head_sets":[{"coverage":0.9,"threshold":"x"}]}',
        '{"temperature":1,"head_sets":[{"coverage":"x","threshold":1}]}',
        '{"temperature":1,"head_sets":[{"coverage":0.9}]}',
        '{"temperature":1,"head_sets":[{"coverage":0.9,"threshold":2}]}',
        '{"temperature":1,"head_sets":[{"coverage":[],"threshold":1}]}',
    ],
)
def test_what_is_no_calibration(refused, put, content):
    put("c.json", content)
    refused("decode $SCORES --temperature c.json", "c.json")
