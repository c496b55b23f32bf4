"""``deptree agree``: agreement by hand, sets of samples, files that do not fit, the test."""

from __future__ import annotations

import json

import pytest

from deptree_cli import read
from tests.commands.sessions import hold_session
from tests.sample import SCORES

TEST = "--test --seed 7 --permutations 99"


def lines(*trees: dict) -> str:
    return "".join(json.dumps(each) + "\n" for each in trees)


def conllu(sent_id: str, words: str) -> str:
    """A sentence of words with form, head and label: `ewe 3 nsubj, ...`."""
    rows = (
        f"{at}\t{{}}\t_\t_\t_\t_\t{{}}\t{{}}\t_\t_\n".format(*row.split())
        for at, row in enumerate(words.split(", "), 1)
    )
    return f"# sent_id = {sent_id}\n" * bool(sent_id) + "".join(rows) + "\n"


X, Y = {"sent_id": "x", "heads": [2, 0, 2]}, {"sent_id": "y", "heads": [0, 1]}
SAMPLE = {"sent_id": "x/sample_2", "heads": [2, 0, 1]}
OPEN = conllu("x", "x _ _, x _ _, x _ _")
ONE = conllu("p", "maybe 3 advmod, Jo 3 nsubj, ran 0 root") + conllu("q", "she 2 nsubj, slept 0 root, well 2 advmod")
# Another annotator has split a word, left a head open, and named a subtype.
OTHER = conllu("p", "may 4 aux, be 1 fixed, Jo 4 nsubj:x, ran 0 root") + conllu(
    "q", "she 2 nsubj, slept 0 root, well _ _"
)
PLAIN = [conllu("", f"w{at} 0 root") for at in range(4)]

FILES = {
    # two sentences of two annotators, the one in CoNLL-U, the other in JSON Lines and in another order
    "a.conllu": conllu("x", "x 2 det, x 0 root, x 2 obj") + conllu("y", "x 0 root, x 1 obj"),
    "b.jsonl": lines(
        {**Y, "deprels": ["root", "nmod"]}, {"sent_id": "x", "heads": [2, 0, 1], "deprels": ["det", "root", "nmod"]}
    ),
    "unnamed.jsonl": lines({"heads": [2, 0, 2]}, {"heads": [2, 0]}),
    "counted.jsonl": lines({**X, "count": 3}, SAMPLE, Y),
    "repeated.jsonl": lines(X, SAMPLE, X, X, Y),
    "longer.jsonl": lines(X, {"sent_id": "y", "heads": [0, 1, 1]}),
    "fewer.jsonl": lines(X),
    "more.jsonl": lines(X, Y, {"sent_id": "z", "heads": [0]}),
    "swor.jsonl": lines({**X, "arrival": 0.1, "weight": 1.0}, Y),
    "sampled.jsonl": lines(X, {"sent_id": "x/sample_2", "heads": [7, 0, 2]}, X, Y),
    "no_labels.jsonl": lines(X),
    "blank_labels.jsonl": lines({**X, "deprels": ["_", "_", "_"]}),
    "null_labels.jsonl": lines({**X, "deprels": [None, None, None]}),
    "gaps.jsonl": lines({"sent_id": "x", "heads": [2, 0, None], "deprels": ["_", "root", "obj"]}),
    "nulls.jsonl": lines({"sent_id": "x", "heads": [2, 0, None], "deprels": [None, "root", "obj"]}),
    "cycle.jsonl": lines({"sent_id": "x", "heads": [2, 1, 2]}),
    "open.conllu": OPEN + conllu("y", "x _ _, x _ _"),
    "some.conllu": OPEN + conllu("y", "x 0 root, x 1 obj"),
    "one.conllu": ONE,
    "other.conllu": OTHER,
    "again.conllu": OTHER,
    "plain.conllu": "".join(PLAIN),
    "differs.conllu": "".join([PLAIN[0], conllu("", "other 0 root"), *PLAIN[2:]]),
    "half.conllu": conllu("x", "x 2 det, _ 0 root, x 2 obj") + conllu("y", "x 0 root, x 1 obj"),
    "plain_fewer.conllu": "".join(PLAIN[:3]),
    "plain.jsonl": lines(*[{"heads": [0]}] * 4),
    "twice.jsonl": lines(X, X),
    "short.jsonl": lines({"sent_id": "x", "heads": [2, 0]}),
    "gap.jsonl": lines({"sent_id": "x", "heads": [2, 0, None]}),
}


@pytest.fixture
def files(put) -> None:
    for name, text in FILES.items():
        put(name, text)


def test_by_hand(done, files) -> None:
    """Four of five heads agree, three with their labels.

    Distances over both files: ROOT 4, +1 2, -1 3, -2 1 (of 10). Of three words the first has ROOT, +1 and +2 to choose
    from, the second ROOT, +1 and -1, the third ROOT, -1 and -2; of two words ROOT and +1, ROOT and -1.
    """
    (row,) = done("agree a.conllu b.jsonl").rows
    words = [(4, 2), (4, 2, 3), (4, 3, 1), (4, 2), (4, 3)]
    chance = sum(sum(each**2 for each in word) / sum(word) ** 2 for word in words) / 5
    labels = (4**2 + 2**2 + 2**2 + 2**2) / 10**2  # root 4, det, obj and nmod 2
    assert (row["sentences"], row["words"]) == (2, 5)
    for name, share, by_chance in (("attachment", 4 / 5, chance), ("labelled", 3 / 5, chance * labels)):
        assert row[name] == pytest.approx(share)
        assert row[f"{name}_chance"] == pytest.approx(by_chance)
        assert row[f"{name}_kappa"] == pytest.approx((share - by_chance) / (1 - by_chance))


def test_sets_of_samples(done, files) -> None:
    """Times are weights, whether a tree is counted or repeated: 3 of 4 samples of x have the annotator's last head."""
    for name in ("counted.jsonl", "repeated.jsonl"):
        (row,) = done(f"agree a.conllu {name}").rows
        assert row["attachment"] == pytest.approx((2 + 0.75 + 2) / 5)
        assert "labelled" not in row
    (both,) = done("agree counted.jsonl repeated.jsonl").rows
    assert both["attachment"] == pytest.approx((2 + 0.75**2 + 0.25**2 + 2) / 5)


def test_a_split_word_and_an_open_head_cost_their_words(done, files) -> None:
    """Of 6 and 7 words 4 agree: the same as `eval` counts, whose LAS and `labelled` are one number."""
    (row,) = done("agree one.conllu other.conllu").rows
    assert (row["words"], row["attachment"], row["labelled"]) == (6.5, 8 / 13, 8 / 13)
    scores = {each["metric"]: each["value"] for each in done("eval one.conllu other.conllu --seed 1").rows}
    assert (scores["UAS"], scores["LAS"]) == (8 / 13, 8 / 13)


def test_a_session(deptree, golden, files) -> None:
    hold_session(deptree, golden, "agree.txt")


BAD = {
    "a HEAD that is no word": (".conllu", conllu("y", "x 77 root")),
    "eleven columns": (".conllu", conllu("y", "x 0 root").replace("root", "root\t_")),
    "not JSON": (".jsonl", "{\n"),
    "a line cut off": (".jsonl", '{"sent_id": "y", "heads": [0\n'),
}


@pytest.mark.quick
@pytest.mark.parametrize("line", ["agree {} {} --per sentence", "combine {} {} --format jsonl"])
@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("leads", [True, False])
def test_the_bad_sentence_alone_is_left_out(deptree, put, line, bad, leads) -> None:
    """It is named; the one in front of it stays."""
    suffix, text = BAD[bad]
    good = {name: conllu(name, "x 0 root") for name in "xyz"}
    first, last = (good[name] if suffix == ".conllu" else lines({"sent_id": name, "heads": [0]}) for name in "xz")
    put(f"bad{suffix}", first + text + last)
    put("good.conllu", "".join(good.values()))
    ran = deptree(line.format(*[f"bad{suffix}", "good.conllu"][:: 1 if leads else -1]), "--on-error", "skip")
    assert [row["sent_id"] for row in ran.rows] == ["x", "z"]
    one, all_ = (said for said in ran.said if "skipped" in said)
    assert one.startswith(f"deptree: skipped: bad{suffix}:{5 if suffix == '.conllu' else 2}")
    assert " (y): " in one or (bad, leads) == ("not JSON", True)
    assert all_ == "deptree: 1 sentence skipped"


def test_chance_by_scores(done) -> None:
    """Two heads drawn from a word's marginals."""
    (row,) = done("agree $GOLD $GOLD --scores $SCORES").rows
    found = [(each.distribution.marginals() ** 2).sum() for each in read(str(SCORES[0]), preset="natasha")]
    assert row["attachment_chance"] == pytest.approx(sum(found) / 54, rel=1e-9)
    rows = done("agree $GOLD $GOLD --per sentence --scores $SCORES").rows
    assert [each["attachment_chance"] * each["words"] for each in rows] == pytest.approx(found, rel=1e-9)
    assert {each["attachment_kappa"] for each in rows} == {1}


@pytest.mark.slow("process")
def test_the_test(done, deptree) -> None:
    """Of 300 trees of each sentence: one distribution is not told from itself; another temperature is, by status 1."""
    for options in ("-o a.jsonl --seed 1", "-o b.conllu --seed 2 $SENTENCES", "-o hot.jsonl --seed 3 --temperature 2"):
        done(f"sample $SCORES -k 300 -q {options}")
    (row,) = done(f"agree a.jsonl b.conllu {TEST}").rows
    assert row["verdict"] == "no difference found"
    assert (row["trees_a"], row["trees_b"], row["sentences"]) == (2400, 2400, 8)
    assert row["p"] > 0.05
    ran = deptree(f"agree a.jsonl hot.jsonl {TEST} -q")
    assert (ran.code, ran.rows[0]["verdict"], ran.rows[0]["p"]) == (1, "different", 0.01)
    done(f"agree a.jsonl hot.jsonl {TEST} -q --alpha 0.001")
    ran = deptree(f"agree a.jsonl hot.jsonl {TEST} --per sentence")
    assert (ran.code, len(ran.rows)) == (1, 8)
    assert "different: p = 0.01 over 8 sentences" in ran.err


def test_three_trees_of_a_sentence_are_enough_to_permute(done, put) -> None:
    put("one.jsonl", lines(Y))
    put("two.jsonl", lines(Y, {**Y, "heads": [2, 0]}))
    (row,) = done(f"agree one.jsonl two.jsonl {TEST}").rows
    assert (row["trees_a"], row["trees_b"], row["verdict"]) == (1, 2, "no difference found")
