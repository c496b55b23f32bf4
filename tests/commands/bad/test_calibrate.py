"""Calibrations that are none, and options of calibrate that do not go together."""

from __future__ import annotations

import pytest

from tests.sample import DATA, SCORES

GOLD = ("--gold", DATA / "gold.conllu")
WORDS = ("--conllu", DATA / "gold.conllu")

HALF = '{"temperature":1.5,"head_sets":[{"coverage":0.9,"threshold":0.7},{"coverage":0.5,"threshold":0.1}]}'


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
        '{"temperature":1,"head_sets":[{"coverage":0.9,"threshold":"x"}]}',
        '{"temperature":1,"head_sets":[{"coverage":"x","threshold":1}]}',
        '{"temperature":"1"}',
        '{"temperature":1,"label_temperature":-1}',
        '{"temperature":1,"head_sets":[{"coverage":0.9}]}',
        '{"temperature":1,"head_sets":[{"coverage":0.9,"threshold":2}]}',
        '{"temperature":1,"head_sets":[{"coverage":[],"threshold":1}]}',
    ],
)
def test_what_is_no_calibration(deptree, refused, put, content):
    put("c.json", content)
    refused(deptree("decode", *SCORES, "--temperature", "c.json"), "c.json")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (("decode", *SCORES, "--temperature", "0"), "--temperature': 0 is not a positive number"),
        (("decode", *SCORES, "--temperature", "d.json"), "d.json"),
        (("marginals", *SCORES, "--head-sets"), "--temperature FILE"),
        (("marginals", *SCORES, "--coverage", 0.9), "--coverage needs --head-sets"),
        (("marginals", *SCORES, "--temperature", "c.json", "--head-sets", "--coverage", 0.7), "Choose from 0.9, 0.5"),
        (("marginals", *SCORES, "--temperature", "c.json", "--head-sets", "-o", "m.npz"), "not to arrays"),
        (("calibrate", *SCORES), "--gold FILE"),
        (("calibrate", *SCORES, *GOLD, "--coverage", 1), "--coverage"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together(deptree, refused, put, line, says):
    put("c.json", HALF)
    refused(deptree(*line), says)


def test_nothing_to_fit(deptree, refused, put):
    text = (DATA / "gold.conllu").read_text(encoding="utf-8")
    refused(deptree("calibrate", *SCORES, "--conllu", DATA / "sentences.conllu"), "no word of --gold")
    put("none.conllu", text)
    refused(deptree("calibrate", DATA / "one.npy", "--from", "treesample", "--gold", "none.conllu"), "none.conllu")
