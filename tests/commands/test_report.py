"""``deptree report``: which sentences the page has, and what it says of them."""

from __future__ import annotations

import json
import re
from base64 import b64decode

import numpy as np
import pytest

from tests.sample import DATA, SCORES

GOLD = ("--conllu", DATA / "gold.conllu")


def data_of(page: bytes) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.decode(), re.S)[1])


def array(data: dict, name: str, dtype: str) -> np.ndarray:
    return np.frombuffer(b64decode(data["arrays"][name]), dtype)


def test_what_sentences_are_sorted_by_are_the_numbers_of_other_commands(done):
    data = data_of(done("report", *SCORES, *GOLD).out)
    entropy, log_prob, projective, doubt, _ = array(data, "facts", "<f8").reshape(-1, 5).T
    assert entropy == pytest.approx([row["entropy"] for row in done("expect", "entropy", *SCORES).rows])
    assert log_prob == pytest.approx(
        [row["log_prob"] for row in done("score", DATA / "scores.npz", DATA / "gold.conllu", *SCORES[1:]).rows]
    )
    assert len(projective) == len(data["ids"]) == 8
    probs = array(data, "treeProbs", "<u2") / 0xFFFF
    ends = np.cumsum(array(data, "lengths", "<u2"))
    assert doubt == pytest.approx([(1 - part).sum() for part in np.split(probs, ends)[:-1]], abs=1e-3)
    assert "".join(data["conllu"]) == (DATA / "gold.conllu").read_text(encoding="utf-8")


def test_the_most_doubtful_in_the_order_of_the_file(deptree):
    whole = data_of(deptree("report", *SCORES, *GOLD).out)
    ran = deptree("report", *SCORES, *GOLD, "--top", 3)
    assert "the page has the 3 most doubtful of 8 sentences: --top N for more or fewer" in ran.said[-1]
    doubt = array(whole, "facts", "<f8").reshape(-1, 5)[:, 3]
    kept = sorted(np.argsort(-doubt)[:3])
    assert data_of(ran.out)["ids"] == [whole["ids"][place] for place in kept]
    assert data_of(ran.out)["total"] == 8
    assert "most doubtful" not in deptree("report", *SCORES, *GOLD, "--top", 3, "-q").err


def test_rules_are_counted_and_change_no_probability(deptree, done, put):
    text = (DATA / "gold.conllu").read_text(encoding="utf-8").replace("\tobj\t", "\tnsubj\t", 1)
    put("broken.conllu", text)
    plain, ruled = (
        data_of(done("report", *SCORES, "--conllu", "broken.conllu", *more).out) for more in ((), ("--rules", "ud"))
    )
    assert plain["arrays"] == ruled["arrays"]
    assert not plain["hasRules"]
    assert not plain["broken"]
    places = [(name, *place) for name, places in zip(ruled["ids"], ruled["broken"], strict=True) for place in places]
    rows = [(row["sent_id"], row["rule"], row["word"]) for row in deptree("check", "broken.conllu").rows]
    assert places == rows
    assert rows


def test_samples_and_labels_and_gold(done):
    samples = done("sample", *SCORES, *GOLD, "-k", 3, "--seed", 7).out
    labels = ("--labels", DATA / "labels.json", "--label-scores", DATA / "label_scores.npz")
    ran = done("report", *SCORES, *GOLD, *labels, "--gold", DATA / "gold.conllu", "--samples", "-", stdin=samples)
    data = data_of(ran.out)
    assert array(data, "sampleCounts", "<u4").tolist() == [3] * 8
    assert len(array(data, "samples", "<u2")) == 3 * array(data, "lengths", "<u2").sum()
    assert len(array(data, "labels", "<u2"))
    assert data["labels"]
    assert (array(data, "gold", "<u2") == array(data, "trees", "<u2")).all()


def test_bad_samples_end_the_run_or_are_left_out(deptree, done):
    samples = done("sample", *SCORES, "-k", 3, "--seed", 7, "-q").out + b'{"sent_id": "xx", "heads": [0]}\n'
    given = ("report", *SCORES, *GOLD, "--samples", "-")
    assert deptree(*given, stdin=samples).code == 2
    ran = deptree(*given, "--on-error", "skip", stdin=samples)
    assert ran.code == 1
    assert "deptree: 1 sample skipped" in ran.said
    assert array(data_of(ran.out), "sampleCounts", "<u4").tolist() == [3] * 8


def test_a_terminal_gets_no_page(terminal):
    code, shown = terminal("report", *SCORES, *GOLD)
    assert code == 2
    assert "a terminal cannot show a page. Name a file with -o" in shown


def test_a_wrong_layout_is_suspected(done):
    line = ("report", DATA / "scores.npy", *GOLD, "-o", "page.html", "--from")
    assert any("is --from right?" in said for said in done(*line, "synjax").said)
    assert not any("is --from right?" in said for said in done(*line, "supar").said)


@pytest.mark.parametrize(
    ("args", "problem"),
    [
        ((*GOLD, "-o", "x.pdf"), "x.pdf: this command does not write .pdf. Name a file with one of the suffixes .html"),
        ((*GOLD, "--top", "0"), "Expected a whole number, 1 or more, found '0'"),
        (("--conllu", "none.conllu"), "none.conllu"),
        ((*GOLD, "--samples", DATA / "scores.npz"), "these are not trees in CoNLL-U or JSON Lines"),
    ],
)
def test_what_cannot_be_reported(args, problem, deptree):
    ran = deptree("report", *SCORES, *args)
    assert ran.code == 2
    assert problem in ran.err
    assert len(ran.said) == 1
