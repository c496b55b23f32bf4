"""``deptree diff``: two score files of the same sentences."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

DATA = Path(__file__).parents[2] / "sample_data"
SCORES = (DATA / "scores.npz", "--from", "natasha")


@pytest.fixture
def other(put):
    """The sample's scores with noise."""
    rng = np.random.default_rng(0)
    with np.load(DATA / "scores.npz") as scores:
        return put("other.npz", {key: scores[key] + rng.normal(size=scores[key].shape) for key in scores.files})


def test_both_ways(done, other):
    rows = done("diff", SCORES[0], other, *SCORES[1:], "--seed", 1).rows
    forth = done("expect", "kl", *SCORES, "--other", other).rows
    back = done("expect", "kl", other, *SCORES[1:], "--other", SCORES[0]).rows
    for row, one, two in zip(rows, forth, back, strict=True):
        assert list(row) == ["sent_id", "n", "kl", "kl_reverse", "jensen_shannon", "jensen_shannon_error", "arcs"]
        assert (row["kl"], row["kl_reverse"]) == pytest.approx((one["kl"], two["kl"]))
        assert 0 < row["jensen_shannon"] < min(np.log(2), (row["kl"] + row["kl_reverse"]) / 4 + 0.05)
        assert len(row["arcs"]) <= 5
    assert len(done("diff", SCORES[0], other, *SCORES[1:], "--arcs", 2).rows[0]["arcs"]) == 2


def test_seeds_and_jobs(done, other):
    given = ("diff", SCORES[0], other, *SCORES[1:], "--seed", 5, "-k", 50)
    assert done(*given).out == done(*given, "--jobs", 2).out
    assert done(*given[:-4], "--seed", 6, "-k", 50).out != done(*given).out


def test_with_itself(done):
    for row in done("diff", SCORES[0], *SCORES, "-k", 5).rows:
        assert (row["kl"], row["kl_reverse"], row["arcs"]) == (0.0, 0.0, [])
        assert row["jensen_shannon"] == pytest.approx(0.0, abs=1e-9)


def test_what_the_other_forbids_is_null(done, put):
    scores = np.ones((4, 4))
    put("ours.npy", scores)
    scores[1, 2] = 0.0
    put("theirs.npy", scores)
    (row,) = done("diff", "ours.npy", "theirs.npy", "--orient", "head-dep").rows
    assert row["kl"] is None
    assert row["kl_reverse"] > 0
    assert 0 < row["jensen_shannon"] < np.log(2)


def test_not_the_same_sentences(deptree):
    ran = deptree("diff", SCORES[0], DATA / "one.npy", *SCORES[1:])
    assert ran.code == 2
    assert len(ran.said) == 1


def test_calibration_of_decoded_heads(done):
    ran = done("decode", *SCORES, "--gold", DATA / "gold.conllu")
    assert "calibration of heads" in ran.err
    assert any(line.startswith("deptree: attachment score 0.") for line in ran.said)
    words = sum(row["n"] for row in done("partition", *SCORES).rows)
    assert any(f"over {words} words" in line for line in ran.said)
    assert ran.out == done("decode", *SCORES).out


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ("one.conllu", "one.conllu has nothing of this name"),
        ("long.conllu", "2 words at long.conllu:1, but 8 here"),
    ],
)
def test_calibration_against_other_sentences(deptree, put, gold, said):
    word = "{0}\tf\t_\t_\t_\t_\t0\t_\t_\t_\n"
    put("one.conllu", "# sent_id = en-1\n" + "".join(word.format(i) for i in range(1, 9)) + "\n")
    put("long.conllu", "".join(word.format(i) for i in range(1, 3)) + "\n")
    ran = deptree("decode", *SCORES, "--gold", gold)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.slow("process")
@pytest.mark.parametrize("name", ["a.svg", "a.png"])
def test_calibration_as_a_picture(done, put, tmp_path, name):
    pytest.importorskip("matplotlib")
    put("unrelated", b"")
    done("decode", *SCORES, "--gold", DATA / "gold.conllu", "--plot", name)
    start = (tmp_path / name).read_bytes()[:200]
    assert b"<svg" in start or b"<?xml" in start or start.startswith(b"\x89PNG")


def test_pictures_that_cannot_be(deptree):
    pytest.importorskip("matplotlib")
    gold = ("--gold", DATA / "gold.conllu")
    for options, said in [
        (("--plot", "a.svg"), "--plot needs something to compare with"),
        ((*gold, "--plot", "a.xyz"), "as 'xyz'"),
    ]:
        ran = deptree("decode", *SCORES, *options)
        assert ran.code == 2
        assert said in ran.err
        assert ran.out == b""


def test_calibration_against_sentences_of_other_names(deptree, put):
    gold = (DATA / "gold.conllu").read_text(encoding="utf-8")
    ran = deptree("decode", *SCORES, "--gold", put("gold.conllu", gold.replace("= en-2", "= en-9")))
    assert ran.code == 2
    assert "(en-2): gold.conllu has nothing of this name" in ran.err


def test_calibration_is_of_one_tree(deptree):
    assert deptree("decode", *SCORES, "--gold", DATA / "gold.conllu", "-k", 2).code == 2
