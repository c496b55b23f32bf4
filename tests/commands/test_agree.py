"""``deptree agree``: agreement by hand, sets of samples, files that do not fit, the test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from deptree_cli import read
from tests.sample import DATA, SCORES

GOLD = DATA / "gold.conllu"
TEST = ("--test", "--seed", 7, "--permutations", 99)


def lines(*trees: dict) -> str:
    return "".join(json.dumps(each) + "\n" for each in trees)


def conllu(sent_id: str, heads: list[int | str], labels: list[str]) -> str:
    words = zip(heads, labels, strict=True)
    rows = (f"{number}\tx\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n" for number, (head, label) in enumerate(words, 1))
    return f"# sent_id = {sent_id}\n" + "".join(rows) + "\n"


@pytest.fixture
def annotated(put) -> tuple[str, str]:
    """Two sentences of two annotators, the one in CoNLL-U, the other in JSON Lines and in another order."""
    put("a.conllu", conllu("x", [2, 0, 2], ["det", "root", "obj"]) + conllu("y", [0, 1], ["root", "obj"]))
    x = {"sent_id": "x", "heads": [2, 0, 1], "deprels": ["det", "root", "nmod"]}
    return "a.conllu", put("b.jsonl", lines({"sent_id": "y", "heads": [0, 1], "deprels": ["root", "nmod"]}, x))


def test_by_hand(done, annotated) -> None:
    """Four of five heads agree, three with their labels.

    Distances over both files: ROOT 4, +1 2, -1 3, -2 1 (of 10). Of three words the first has ROOT, +1 and +2 to choose
    from, the second ROOT, +1 and -1, the third ROOT, -1 and -2; of two words ROOT and +1, ROOT and -1.
    """
    (row,) = done("agree", *annotated).rows
    words = [(4, 2), (4, 2, 3), (4, 3, 1), (4, 2), (4, 3)]
    chance = sum(sum(each**2 for each in word) / sum(word) ** 2 for word in words) / 5
    labels = (4**2 + 2**2 + 2**2 + 2**2) / 10**2  # root 4, det, obj and nmod 2
    assert (row["sentences"], row["words"]) == (2, 5)
    assert row["attachment"] == pytest.approx(4 / 5)
    assert row["attachment_chance"] == pytest.approx(chance)
    assert row["attachment_kappa"] == pytest.approx((4 / 5 - chance) / (1 - chance))
    assert row["labelled"] == pytest.approx(3 / 5)
    assert row["labelled_chance"] == pytest.approx(chance * labels)
    assert row["labelled_kappa"] == pytest.approx((3 / 5 - chance * labels) / (1 - chance * labels))


def test_per_sentence_and_per_label(done, annotated) -> None:
    first, second = done("agree", *annotated, "--per", "sentence").rows
    assert first == {
        "sent_id": "x",
        "a": "a.conllu",
        "b": "b.jsonl",
        "words": 3,
        **dict.fromkeys(["attachment", "labelled"], 2 / 3),
    }
    assert (second["sent_id"], second["attachment"], second["labelled"]) == ("y", 1, 0.5)
    found = {
        row["label"]: (*(row[f"words_{each}"] for each in ("a", "b", "both")), row["dice"])
        for row in done("agree", *annotated, "--per", "label").rows
    }
    assert found == {"root": (2, 2, 2, 1), "det": (1, 1, 1, 1), "obj": (2, 0, 0, 0), "nmod": (0, 2, 0, 0)}


def test_sets_of_samples(done, put, annotated) -> None:
    """Times are weights, whether a tree is counted or repeated: 3 of 4 samples of x have the annotator's last head."""
    x, others = {"sent_id": "x", "heads": [2, 0, 2]}, {"sent_id": "x/sample_2", "heads": [2, 0, 1]}
    y = {"sent_id": "y", "heads": [0, 1]}
    counted = put("c.jsonl", lines({**x, "count": 3}, others, y))
    repeated = put("r.jsonl", lines(x, others, x, x, y))
    row, other = (done("agree", "a.conllu", each).rows[0] for each in (counted, repeated))
    assert row["attachment"] == pytest.approx((2 + 0.75 + 2) / 5)
    assert {**row, "b": ""} == {**other, "b": ""}
    assert "labelled" not in row
    (both,) = done("agree", counted, repeated).rows
    assert both["attachment"] == pytest.approx((2 + 0.75**2 + 0.25**2 + 2) / 5)


def test_three_files_are_three_pairs(done, annotated, put) -> None:
    third = put("c.jsonl", lines({"heads": [2, 0, 2]}, {"heads": [2, 0]}))  # without names: by order
    rows = done("agree", "a.conllu", "b.jsonl", third).rows
    assert [(row["a"], row["b"]) for row in rows] == [("a.conllu", "b.jsonl"), ("a.conllu", third), ("b.jsonl", third)]
    assert [row["attachment"] for row in rows] == pytest.approx([4 / 5, 3 / 5, 2 / 5])
    assert len({row["attachment_chance"] for row in rows}) == 1
    assert ["labelled" in row for row in rows] == [True, False, False]


def test_chance_by_scores(done, put) -> None:
    """Two heads drawn from a word's marginals."""
    (row,) = done("agree", GOLD, GOLD, "--scores", *SCORES).rows
    found = [(each.distribution.marginals() ** 2).sum() for each in read(str(SCORES[0]), preset="natasha")]
    assert row["attachment_chance"] == pytest.approx(sum(found) / 54, rel=1e-9)
    rows = done("agree", GOLD, GOLD, "--per", "sentence", "--scores", *SCORES).rows
    assert [each["attachment_chance"] * each["words"] for each in rows] == pytest.approx(found, rel=1e-9)
    assert {each["attachment_kappa"] for each in rows} == {1}


@pytest.fixture
def drawn(done) -> None:
    """300 trees of each sentence: by two seeds, and with half the certainty."""
    for name, options in {
        "a.jsonl": (1,),
        "b.conllu": (2, "--conllu", DATA / "sentences.conllu"),
        "hot.jsonl": (3, "--temperature", 2),
    }.items():
        done("sample", *SCORES, "-k", 300, "-q", "-o", name, "--seed", *options)


@pytest.mark.slow("process")
def test_the_test(done, deptree, drawn) -> None:
    """One distribution is not told from itself; another temperature is: exit status 1."""
    (row,) = done("agree", "a.jsonl", "b.conllu", *TEST).rows
    assert row["verdict"] == "no difference found"
    assert (row["trees_a"], row["trees_b"], row["sentences"]) == (2400, 2400, 8)
    assert row["p"] > 0.05
    ran = deptree("agree", "a.jsonl", "hot.jsonl", *TEST, "-q")
    assert ran.code == 1
    assert (ran.rows[0]["verdict"], ran.rows[0]["p"]) == ("different", 0.01)
    assert deptree("agree", "a.jsonl", "hot.jsonl", *TEST, "-q", "--alpha", "0.001").code == 0
    ran = deptree("agree", "a.jsonl", "hot.jsonl", *TEST, "--per", "sentence")
    assert (ran.code, len(ran.rows)) == (1, 8)
    assert "different: p = 0.01 over 8 sentences" in ran.err


X = {"sent_id": "x", "heads": [2, 0, 2]}
SWOR = {**X, "arrival": 0.1, "weight": 1.0}


@pytest.mark.parametrize(
    ("trees", "says"),
    [
        ([X, {"sent_id": "y", "heads": [0, 1, 1]}], "a.conllu:6 (y): 3 words at b.jsonl:2, but 2 here"),
        ([X], "(y): b.jsonl has no sentence with this id"),
        (
            [X, {"sent_id": "y", "heads": [0, 1]}, {"sent_id": "z", "heads": [0]}],
            "b.jsonl:3 (z): no sentences in a.conllu",
        ),
        ([SWOR, {"sent_id": "y", "heads": [0, 1]}], "b.jsonl:1 (x): these trees were sampled without replacement"),
    ],
)
def test_files_that_do_not_fit(deptree, put, annotated, trees, says) -> None:
    """One line that names file, sentence and both lengths."""
    put("b.jsonl", lines(*trees))
    ran = deptree("agree", *annotated)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert says in ran.err


def test_an_error_takes_its_whole_sentence_along(deptree, put, annotated) -> None:
    bad = {"sent_id": "x/sample_2", "heads": [7, 0, 2]}
    put("b.jsonl", lines(X, bad, X, {"sent_id": "y", "heads": [0, 1]}))
    ran = deptree("agree", *annotated, "--on-error", "skip")
    assert (ran.code, ran.rows[0]["sentences"]) == (1, 1)
    assert "skipped: b.jsonl:2 (x): the head of word 1 is 7, not 0 to 3" in ran.err


BAD_LINES = {
    "a HEAD that is no word": (".conllu", conllu("y", [77], ["root"])),
    "eleven columns": (".conllu", conllu("y", [0], ["root\t_"])),
    "not JSON": (".jsonl", "{\n"),
    "a line cut off": (".jsonl", '{"sent_id": "y", "heads": [0\n'),
}


@pytest.mark.parametrize("bad", BAD_LINES)
@pytest.mark.parametrize("leads", [True, False])
def test_the_bad_sentence_alone_is_left_out(deptree, put, bad, leads) -> None:
    """It is named; the one in front of it stays, in `agree` as in `combine`."""
    suffix, text = BAD_LINES[bad]
    good = (
        (lambda name: conllu(name, [0], ["root"]))
        if suffix == ".conllu"
        else lambda name: lines({"sent_id": name, "heads": [0]})
    )
    put(f"bad{suffix}", good("x") + text + good("z"))
    put("good.conllu", "".join(conllu(name, [0], ["root"]) for name in "xyz"))
    files = (f"bad{suffix}", "good.conllu")[:: 1 if leads else -1]
    for command in ("agree", "--per", "sentence"), ("combine", "--format", "jsonl"):
        ran = deptree(command[0], *files, *command[1:], "--on-error", "skip")
        assert [row["sent_id"] for row in ran.rows] == ["x", "z"]
        said = [line for line in ran.said if "skipped" in line]
        assert len(said) == 2
        assert said[0].startswith(f"deptree: skipped: bad{suffix}:{ {'.conllu': 5, '.jsonl': 2}[suffix] }")
        assert " (y): " in said[0] or (bad, leads) == ("not JSON", True)
        assert said[1] == "deptree: 1 sentence skipped"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((GOLD,), "Only one file of trees. Pass two or more"),
        ((GOLD, "no.conllu"), "no.conllu"),
        ((GOLD, GOLD, "--permutations", 9), "--permutations needs --test"),
        ((GOLD, GOLD, "--alpha", 0.1), "--alpha needs --test"),
        ((GOLD, GOLD, GOLD, "--test"), "--test compares two files of trees, but there are 3"),
        ((GOLD, GOLD, "--test", "--per", "label"), "--test does not look at labels"),
        ((GOLD, GOLD, "--test", "--scores", *SCORES), "--scores changes nothing in --test"),
        ((GOLD, GOLD, "--test", "--seed", 1), "nothing to permute"),
        ((GOLD, GOLD, "--from", "natasha"), "--from needs --scores FILE"),
        ((GOLD, DATA / "figure1.npy"), "figure1.npy"),
    ],
)
def test_what_cannot_be_asked(deptree, given, says) -> None:
    ran = deptree("agree", *given)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert says in ran.err


@pytest.mark.parametrize("labels", [None, ["_", "_", "_"], [None, None, None]])
def test_no_labels(deptree, put, labels) -> None:
    put("a.jsonl", lines({**X, "deprels": labels}))
    assert "labelled" not in deptree("agree", "a.jsonl", "a.jsonl").rows[0]
    ran = deptree("agree", "a.jsonl", "a.jsonl", "--per", "label")
    assert (ran.code, len(ran.said)) == (2, 1)
    assert "no two files have labels" in ran.err


@pytest.mark.parametrize("missing", ["_", None])
def test_a_missing_head_or_label_costs_its_word(done, put, missing) -> None:
    """It agrees with nothing, not even with itself, and stderr counts it."""
    put("a.jsonl", lines({"sent_id": "x", "heads": [2, 0, None], "deprels": [missing, "root", "obj"]}))
    ran = done("agree", "a.jsonl", "a.jsonl")
    assert (ran.rows[0]["attachment"], ran.rows[0]["labelled"]) == pytest.approx((2 / 3, 1 / 3))
    assert ran.said == [
        "deptree: 2 words without HEAD: counted as disagreement",
        "deptree: 2 words without DEPREL: counted as disagreement",
    ]


@pytest.mark.parametrize("options", [(), ("--per", "sentence"), ("--per", "label")])
def test_a_file_without_any_head_agrees_with_nothing(deptree, put, annotated, options) -> None:
    """If a sentence of it has heads, those of the others cost their words, as ever."""
    a, b = annotated
    open_heads = put("open.conllu", conllu("x", ["_"] * 3, ["_"] * 3) + conllu("y", ["_"] * 2, ["_"] * 2))
    for files in ([open_heads, a, b], [a, b, open_heads]):
        ran = deptree("agree", *files, *options)
        assert (ran.code, len(ran.said)) == (2, 1)
        assert "open.conllu: no word has a HEAD, so there is nothing to compare. Annotate the file, or" in ran.err
    some = put("some.conllu", conllu("x", ["_"] * 3, ["_"] * 3) + conllu("y", [0, 1], ["root", "obj"]))
    (row,) = deptree("agree", a, some).rows
    assert row["attachment"] == pytest.approx(2 / 5)


def sentence(name: str, *words: str) -> str:
    """A sentence of words with form, head and label: ``ewe 3 nsubj``."""
    rows = (line.split() for line in words)
    cells = (f"{at}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n" for at, (form, head, label) in enumerate(rows, 1))
    return f"# sent_id = {name}\n" * bool(name) + "".join(cells) + "\n"


SPLIT = ("maybe 3 advmod", "Jo 3 nsubj", "ran 0 root")


@pytest.fixture
def divided(put) -> tuple[str, str]:
    """The second annotator has split a word, left a head open, and named a subtype."""
    one = sentence("p", *SPLIT) + sentence("q", "she 2 nsubj", "slept 0 root", "well 2 advmod")
    other = sentence("p", "may 4 aux", "be 1 fixed", "Jo 4 nsubj:x", "ran 0 root")
    other += sentence("q", "she 2 nsubj", "slept 0 root", "well _ _")
    return put("one.conllu", one), put("other.conllu", other)


def test_a_split_word_and_an_open_head_cost_their_words(done, divided) -> None:
    """Of 6 and 7 words 4 agree: the same as `eval` counts, whose LAS and `labelled` are one number."""
    ran = done("agree", *divided)
    (row,) = ran.rows
    assert (row["sentences"], row["words"]) == (2, 6.5)
    assert row["attachment"] == row["labelled"] == 8 / 13
    scores = {each["metric"]: each["value"] for each in done("eval", *divided, "--seed", 1).rows}
    assert (scores["UAS"], scores["LAS"]) == (row["attachment"], row["labelled"])
    assert ran.said == [
        "deptree: 3 words that the other file divides otherwise: counted as disagreement",
        "deptree: 1 word without HEAD: counted as disagreement",
        "deptree: 1 word without DEPREL: counted as disagreement",
    ]
    first, second = done("agree", *divided, "--per", "sentence").rows
    assert (first["words"], first["attachment"], second["attachment"]) == (3.5, 4 / 7, 2 / 3)
    found = {each["label"]: [*each.values()][3:6] for each in done("agree", *divided, "--per", "label").rows}
    assert found["nsubj"] == [2, 2, 2]
    assert (found["advmod"], found["aux"]) == ([2, 0, 0], [0, 1, 0])


def test_two_that_split_alike_agree_although_the_first_does_not(done, divided, put) -> None:
    put("again.conllu", Path(divided[1]).read_text())
    rows = done("agree", *divided, "again.conllu").rows
    assert [row["attachment"] for row in rows] == [8 / 13, 8 / 13, 6 / 7]


def test_without_ids_a_sentence_of_other_words_is_skipped_alone(deptree, put) -> None:
    """In all commands that compare trees; `combine` too."""
    texts = [sentence("", f"w{at} 0 root") for at in range(4)]
    put("a.conllu", "".join(texts))
    put("b.conllu", "".join([texts[0], sentence("", "other 0 root"), *texts[2:]]))
    for command in ("agree", "diff", "combine", "eval"):
        ran = deptree(command, "a.conllu", "b.conllu")
        assert ran.code == 2
        differs = "a.conllu:3 (2): the text differs: it begins with 'w1', 'other' at b.conllu:3"
        assert differs in ran.err
        ran = deptree(command, "a.conllu", "b.conllu", "--on-error", "skip")
        assert ran.code == 1
        assert differs in ran.err
        assert "deptree: 1 sentence skipped" in ran.said
    assert deptree("agree", "a.conllu", "b.conllu", "--on-error", "skip").rows[0]["sentences"] == 3
    put("c.jsonl", lines(*[{"heads": [0]}] * 4))
    assert deptree("agree", "a.conllu", "c.jsonl").rows[0]["sentences"] == 4  # without words: by their number


def test_cycles_are_heads_like_others(done, put) -> None:
    put("a.jsonl", lines({"sent_id": "x", "heads": [2, 1, 2]}))
    assert done("agree", "a.jsonl", put("b.jsonl", lines(X))).rows[0]["attachment"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("heads", "says"), [([2, 0, None], "b.jsonl:1 (x): word 3 has no HEAD"), ([2, 0], "2 words at b.jsonl:1")]
)
def test_the_test_needs_the_same_words_and_all_heads(deptree, put, heads, says) -> None:
    put("a.jsonl", lines(X, X))
    put("b.jsonl", lines({"sent_id": "x", "heads": heads}))
    ran = deptree("agree", "a.jsonl", "b.jsonl", *TEST)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert says in ran.err
