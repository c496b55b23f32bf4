"""`deptree hpyp parse --gold`: attachment scores, accuracy of tags and calibration."""

from __future__ import annotations

import re

import numpy as np
import pytest

from deptree_cli.hpyp import Parser
from deptree_cli.io.conllu.blocks import Block
from tests.hpyp.commands.texts import GOLD, blocks_of


def share_of(found: list[Block], gold: list[Block], punctuation: bool, labels: bool) -> float:
    """The share of words with the known head (and label)."""
    right = [
        head == own and (not labels or label == its)
        for block, known in zip(found, gold, strict=True)
        for head, own, label, its in zip(block.heads, known.heads, block.deprels, known.deprels, strict=True)
        if punctuation or its != "punct"
    ]
    return sum(right) / len(right)


def test_gold(parsed, tmp_path) -> None:
    found, gold = blocks_of(parsed("--tags", "predict").out), blocks_of(GOLD.read_bytes())
    ran = parsed("--gold", GOLD, "--json", "--tags", "predict", "-o", tmp_path / "out.conllu")
    (row,) = ran.rows
    assert (row["sentences"], row["words"]) == (12, sum(block.n for block in gold))
    assert row["uas"] == pytest.approx(share_of(found, gold, True, False))
    assert row["las"] == pytest.approx(share_of(found, gold, True, True))
    assert row["without_punctuation"]["uas"] == pytest.approx(share_of(found, gold, False, False))
    assert row["without_punctuation"]["las"] == pytest.approx(share_of(found, gold, False, True))
    tags, known = ([tag for block in blocks for tag in block.column("upos")] for blocks in (found, gold))
    assert row["tag_accuracy"] == pytest.approx(np.mean(np.array(tags) == np.array(known)))
    assert 0.3 < row["las"] < row["uas"] < 1
    assert "calibration" not in row
    assert (tmp_path / "out.conllu").read_bytes() == parsed("--tags", "predict").out


def test_gold_as_a_table(parsed) -> None:
    ran = parsed("--gold", GOLD)
    assert ran.out == parsed().out
    assert re.search(r"all words +\d+ +0\.\d{4} +0\.\d{4}", ran.err)
    assert re.search(r"without those of label punct +\d+ +0\.\d{4}", ran.err)
    assert re.search(r"12 sentences, [\d.e+]+ a second", ran.said[-1])
    assert "tag accuracy" not in ran.err
    assert parsed("--gold", GOLD, "--quiet").err == ""


def test_calibration_of_the_filter(parsed, parser: Parser, sentences, tmp_path) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / "calibration.svg"
    (row,) = parsed("--gold", GOLD, "--json", "--plot", picture, "--seed", 2).rows
    assert picture.read_bytes().startswith(b"<?xml")
    probs = []
    for sentence in sentences:
        mu = parser.filter(sentence, 2, 50).marginals
        heads = parser.parse(sentence, 50).heads
        probs += mu[heads, np.arange(1, sentence.n + 1)].tolist()
    assert row["calibration"]["expected_attachment"] == pytest.approx(np.mean(probs))
    assert row["calibration"]["attachment"] == row["uas"]
    beside = ("--scores", picture.with_name("s.jsonl"))  # what is written beside the trees has no picture of its own
    assert "expected calibration error" in parsed("--gold", GOLD, "--plot", picture, *beside, "--seed", 2).err
