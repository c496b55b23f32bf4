"""``deptree eval``: which label stands for which, who is right of two systems, the scores of each sentence."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

GOLD = [[2, 0, 2, 3], [0, 1, 1], [2, 0]]
LABELS = [["det", "root", "obj", "punct"], ["root", "obj", "nsubj:pass"], ["nsubj", "root"]]
ONE = [["det", "root", "obl", "punct"], ["root", "obj", "nsubj"], ["dobj", "root"]]
HEADS = [[3, 0, 2, 3], [0, 1, 1], [2, 0]]


def conllu(heads, labels):
    text = ""
    for number, sentence in enumerate(zip(heads, labels, strict=True), 1):
        rows = enumerate(zip(*sentence, strict=True), 1)
        text += (
            f"# sent_id = {number}\n"
            + "".join(f"{i}\tw{i}\t_\t_\t_\t_\t{h}\t{label}\t_\t_\n" for i, (h, label) in rows)
            + "\n"
        )
    return text


@pytest.fixture
def files(put):
    put("gold.conllu", conllu(GOLD, LABELS))
    put("one.conllu", conllu(HEADS, ONE))
    put("two.conllu", conllu(GOLD, ONE))


def test_confusions_by_hand(done, files):
    """Labels without their subtypes; most frequent first."""
    found = done("eval gold.conllu one.conllu --by confusion --seed 1")
    rows = [tuple(row.values())[1:] for row in found.rows]
    assert rows[0] == ("root", "root", True, 3)
    assert sorted(rows[1:]) == [
        ("det", "det", False, 1),
        ("nsubj", "dobj", True, 1),
        ("nsubj", "nsubj", True, 1),
        ("obj", "obj", True, 1),
        ("obj", "obl", True, 1),
        ("punct", "punct", True, 1),
    ]
    assert (
        "one.conllu: 1 word whose label is not a relation of Universal Dependencies (dobj): left out of CLAS"
        in found.err
    )
    assert "gold.conllu: 1" not in found.err
    rows = done("eval gold.conllu one.conllu --by confusion --no-punct --seed 1").rows
    assert sum(row["words"] for row in rows) == 8


def test_words_that_one_file_lacks(done, put):
    """The second word is two in the system's file."""
    put("gold.conllu", "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tbc\t_\t_\t_\t_\t1\tobj\t_\t_\n\n")
    rows = ["1\ta\t_\t_\t_\t_\t0\troot\t_\t_", "2\tb\t_\t_\t_\t_\t1\tdet\t_\t_", "3\tc\t_\t_\t_\t_\t1\tobj\t_\t_"]
    put("cut.conllu", "\n".join(rows) + "\n\n")
    rows = [tuple(row.values())[1:] for row in done("eval gold.conllu cut.conllu --by confusion --seed 1").rows]
    assert Counter(rows) == Counter(
        [("root", "root", True, 1), ("obj", None, False, 1), (None, "det", False, 1), (None, "obj", False, 1)]
    )


def test_who_is_right_by_label(done, files):
    """The second file has the labels of the first on gold heads; a swap of one word of det is as far: p is 1."""
    rows = {
        row.pop("label"): tuple(row.values())
        for row in done("eval gold.conllu one.conllu two.conllu --by confusion --seed 1").rows
    }
    assert rows == {
        "root": (3, 3, 0, 0, 0, 1.0),
        "nsubj": (2, 1, 0, 0, 1, 1.0),
        "obj": (2, 1, 0, 0, 1, 1.0),
        "det": (1, 0, 0, 1, 0, 1.0),
        "punct": (1, 1, 0, 0, 0, 1.0),
    }


@pytest.mark.slow("statistics")
def test_p_of_a_label_is_that_of_all_swaps(done, put):
    """12 sentences of one nsubj: the first file has 2 right, the second 9 of the others: 11 signs, exactly.

    With 10,000 resamples p has a standard deviation of .0025 at most; 5 of them.
    """
    names = [["root", "nsubj"]] * 12
    first, second = (
        [["root", "nsubj" if right else "obj"] for right in each]
        for each in ([1, 1] + [0] * 10, [0, 0] + [1] * 9 + [0])
    )
    for name, labels in (("gold", names), ("first", first), ("second", second)):
        put(f"{name}.conllu", conllu([[0, 1]] * 12, labels))
    row = next(
        row
        for row in done("eval gold.conllu first.conllu second.conllu --by confusion --seed 3").rows
        if row["label"] == "nsubj"
    )
    assert tuple(row.values())[1:6] == (12, 0, 2, 9, 1)
    signs = (
        2 * np.unpackbits(np.arange(2**11, dtype=">u2").view(np.uint8).reshape(-1, 2), axis=1)[:, 5:].astype(int) - 1
    )
    exact = (abs(signs.sum(axis=1)) >= 7).mean()
    assert row["p"] == pytest.approx(exact, abs=0.0125)


def test_scores_of_each_sentence(done, files):
    rows = done("eval gold.conllu one.conllu two.conllu --per sentence --seed 1").rows
    assert [(row["system"][:3], row["sent_id"], row["words"]) for row in rows[:3]] == [
        ("one", "1", 4),
        ("two", "1", 4),
        ("one", "2", 3),
    ]
    assert [row["UAS"] for row in rows] == [0.75, 1, 1, 1, 1, 1]
    assert [row["LAS"] for row in rows] == [0.5, 0.75, 1, 1, 0.5, 0.5]
    total = {row["metric"]: row["value"] for row in done("eval gold.conllu one.conllu --seed 1").rows}
    assert sum(row["words"] * row["LAS"] for row in rows[::2]) / 9 == pytest.approx(total["LAS"])
    put_alone = done("eval gold.conllu one.conllu --per sentence --seed 1").rows
    assert put_alone == rows[::2]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("--by confusion --by label", "--by confusion has rows of its own"),
        ("--per sentence --by label", "--per"),
    ],
)
def test_what_does_not_go_together(refused, files, line, says):
    refused(f"eval gold.conllu one.conllu {line}", says)
