"""``deptree decode``: valid trees, their confidence, the k best."""

from __future__ import annotations

import numpy as np
import pytest

from tests.sample import SCORES, SENTENCES


def test_conllu_says_how_sure(done):
    ran = done("decode", *SCORES, *SENTENCES)
    lines = ran.out.decode().splitlines()
    assert lines[0].startswith("# generator = deptree|decode|method:mst|")
    assert "# sent_id = en-1" in lines
    for key in ("tree_logprob", "tree_prob", "entropy"):
        assert sum(line.startswith(f"# {key} = ") for line in lines) == len(done("partition", *SCORES).rows)
    words = [line.split("\t") for line in lines if line[:1].isdigit() and "-" not in line.split("\t")[0]]
    assert all("HeadProb=" in word[9] for word in words)
    marginals = {row["sent_id"]: np.array(row["marginals"]) for row in done("marginals", *SCORES).rows}
    shown = float(words[1][9].split("HeadProb=")[1])
    assert shown == pytest.approx(marginals["en-1"][1, int(words[1][6])], rel=1e-3)


def test_k_best(done):
    ran = done("decode", *SCORES, "-k", 5, "--header")
    assert "|method:k-best|" in ran.signature
    first = [row for row in ran.rows[1:] if row["sent_id"] == "en-1"]
    assert [row["sample"] for row in first] == [1, 2, 3, 4, 5]
    log_probs = [row["log_prob"] for row in first]
    assert log_probs == sorted(log_probs, reverse=True)
    named = done("decode", *SCORES, *SENTENCES, "-k", 2).out.decode()
    assert "# sent_id = en-1/sample_2" in named


def test_minimum_risk_by_name(done, deptree):
    assert "|method:mbr|" in done("decode", *SCORES, "--method", "mbr", "--header").signature
    assert deptree("decode", *SCORES, "--method", "mbr", "-k", 2).code == 2


FIXED = """\
# sent_id = 1
1\ta\t_\t_\t_\t_\t2\tdet\t_\t_
2\tb\t_\t_\t_\t_\t_\t_\t_\t_
3\tc\t_\t_\t_\t_\t_\t_\t_\t_

"""


@pytest.mark.parametrize("command", ["sample", "swor", "decode"])
def test_fixed_heads_are_kept(done, put, command):
    put("fixed.conllu", FIXED)
    put("scores.npy", np.random.default_rng(1).random((4, 4)))
    given = ("scores.npy", "--from", "head-dep", "--conllu", "fixed.conllu", "--fix-heads", "--format", "jsonl")
    rows = done(command, *given, *(["--seed", 1, "-k", 4] if command != "decode" else [])).rows
    assert {row["heads"][0] for row in rows} == {2}
    assert sum(np.exp(row["log_prob"]) for row in rows) <= 4.0000001


def test_fixed_heads_condition_the_distribution(done, put):
    """log Z given the heads, and marginals: against the trees that have them."""
    put("fixed.conllu", FIXED)
    scores = np.random.default_rng(1).random((4, 4))
    put("scores.npy", scores)
    given = ("scores.npy", "--from", "head-dep", "--conllu", "fixed.conllu", "--fix-heads")
    trees = [(2, 0, 1), (2, 0, 2), (2, 3, 0)]
    weights = np.array([np.prod([scores[h, d] for d, h in enumerate(tree, 1)]) for tree in trees])
    (row,) = done("partition", *given).rows
    assert row["log_z"] == pytest.approx(np.log(weights.sum()))
    (row,) = done("marginals", *given, "--format", "jsonl").rows
    assert row["marginals"][3][2] == pytest.approx(weights[2] / weights.sum())
    assert row["marginals"][2][1] == pytest.approx(1.0)
    (row,) = done("expect", "entropy", *given).rows
    probs = weights / weights.sum()
    assert row["entropy"] == pytest.approx(-(probs @ np.log(probs)))


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        (("3", "_", "1"), "no single-root tree is possible: words 1 and 3 cannot be reached from"),
        (("0", "0", "_"), "words 1 and 2 can attach to ROOT only"),
        (("3", "_", "_"), "the head of word 1 is fixed to 3, an arc that the scores forbid"),
    ],
)
def test_fixed_heads_that_no_tree_has(deptree, put, heads, said):
    rows = [f"{word}\tf\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1)]
    put("fixed.conllu", "".join(rows) + "\n")
    scores = np.ones((4, 4))
    if "forbid" in said:
        scores[3, 1] = 0
    put("scores.npy", scores)
    ran = deptree("sample", "scores.npy", "--from", "head-dep", "--conllu", "fixed.conllu", "--fix-heads")
    assert ran.code == 2
    assert len(ran.said) == 1
    assert said in ran.err
