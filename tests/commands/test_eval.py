"""``deptree eval``: the CoNLL 2018 script's figures, intervals, tests, classes, expected scores, a line to quote."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.evaluation import METRICS
from deptree_cli.core.expectations import risk, risk_variance
from tests.sample import DATA, LABELS, SCORES

GOLD = DATA / "gold.conllu"
FEW = ("--seed", 7, "--resamples", 50)


@pytest.fixture
def systems(done, put) -> tuple[str, str]:
    """The best trees with their labels, and drawn ones without."""
    sentences = ("--conllu", DATA / "sentences.conllu", "-q")
    put("best.conllu", done("decode", *SCORES, *LABELS, *sentences).out)
    drawn = done("sample", *SCORES, *sentences, "--seed", 7, "--temperature", 3).out
    return "best.conllu", put("drawn.conllu", drawn)


def script(gold: Path | str, system: Path | str) -> dict[str, tuple[float, int, int, int]]:
    udeval = pytest.importorskip("udtools.udeval", reason="udtools, the oracle of eval, is not installed")
    found = udeval.evaluate(udeval.load_conllu_file(str(gold)), udeval.load_conllu_file(str(system)))
    scores = {name: found[name] for name in METRICS}
    return {name: (each.f1, each.correct, each.gold_total, each.system_total) for name, each in scores.items()}


def ours(rows: list[dict]) -> dict[str, tuple[float, int, int, int]]:
    return {row["metric"]: (row["value"], row["correct"], row["gold"], row["predicted"]) for row in rows}


def test_the_figures_of_the_script(done, systems) -> None:
    """To all digits: labelled trees, trees without labels, the gold trees themselves."""
    for system in (*systems, GOLD):
        assert ours(done("eval", GOLD, system, *FEW).rows) == script(GOLD, system)


@pytest.mark.slow("process")
def test_the_figures_of_the_script_on_real_data(done, treebank, tmp_path, put) -> None:
    put("here", "")
    scores = (treebank / "scores.npz", "--from", "natasha", "--conllu", treebank / "sentences.conllu")
    done("decode", *scores, "-q", "-o", "system.conllu")
    found = done("eval", treebank / "gold.conllu", "system.conllu", *FEW)
    expected = script(treebank / "gold.conllu", "system.conllu")
    assert ours(found.rows) == expected
    for name, (f1, *_) in expected.items():
        others = name in METRICS[5:]  # those of the gold trees
        assert (f" {name} {100 * f1:.2f} [" not in found.err) == others


@pytest.mark.slow("process")
def test_intervals_and_differences(done, systems) -> None:
    """Narrower with less confidence; the difference is that of the values, its p-value of a paired test."""
    rows = done("eval", GOLD, *systems, "--seed", 7).rows
    first, second, less = rows[:13], rows[13:26], rows[26:]
    for one, other, difference in zip(first, second, less, strict=True):
        assert difference["metric"] == f"{one['metric']} difference"
        assert difference["system"] == other["system"] == systems[1]
        assert difference["value"] == pytest.approx(other["value"] - one["value"], abs=1e-12)
        assert difference["low"] <= difference["value"] <= difference["high"]
        assert one["low"] <= one["value"] <= one["high"]
        assert one["precision_low"] <= one["precision"] <= one["precision_high"]
        assert difference["recall"] == pytest.approx(other["recall"] - one["recall"], abs=1e-12)
        assert 0 < difference["p"] <= 1
    assert less[1]["p"] < 0.05  # one of 128 swaps of eight sentences is as far apart, and its mirror image
    narrow = done("eval", GOLD, *systems, "--seed", 7, "--confidence", 0.5).rows
    assert narrow[1]["high"] - narrow[1]["low"] <= rows[1]["high"] - rows[1]["low"]
    assert done("eval", GOLD, *systems, "--seed", 7).rows == rows
    assert done("eval", GOLD, *systems, "--seed", 8).rows != rows


def test_one_sentence_has_no_interval(done, put, systems) -> None:
    texts = [Path(each).read_text(encoding="utf-8") for each in (GOLD, *systems)]
    one = [put(f"{number}.conllu", text.partition("\n\n")[0] + "\n\n") for number, text in enumerate(texts)]
    rows = done("eval", *one, *FEW).rows
    assert {(row["low"], row["high"]) for row in rows} == {(None, None)}
    assert rows[-1]["p"] == 1.0


def edited(put, name: str, *columns: tuple[int, int, str]) -> str:
    """The gold trees with other cells: (word of the file, column, text)."""
    lines = GOLD.read_text(encoding="utf-8").split("\n")
    words = [at for at, line in enumerate(lines) if line.split("\t")[0].isdigit()]
    for word, column, text in columns:
        cells = lines[words[word]].split("\t")
        cells[column] = text
        lines[words[word]] = "\t".join(cells)
    return put(name, "\n".join(lines))


def test_columns_that_gold_trees_do_not_have(done, put) -> None:
    """They are counted as the script does, and named: a system that has none either is right throughout."""
    ran = done("eval", GOLD, edited(put, "s.conllu", (3, 4, "A")), *FEW)
    rows = ours(ran.rows)
    assert rows["XPOS"] == (pytest.approx(53 / 54), 53, 54, 54)
    assert "deptree: XPOS" in ran.err
    assert "has none of these in any word" in ran.err
    gold = edited(put, "g.conllu", (0, 3, "_"), (3, 4, "A"), (5, 5, "Case=Nom"))
    ran = done("eval", gold, GOLD, *FEW)
    assert "none of these" not in ran.err
    assert ours(ran.rows)["UPOS"][1:] == (53, 54, 54)


def test_without_punctuation(done, put) -> None:
    """UAS, LAS and classes lose the words that gold trees call punct; what has none of these in any case stays."""
    words = [line.split("\t") for line in GOLD.read_text(encoding="utf-8").splitlines() if line[:1].isdigit()]
    labels = [cells[7] for cells in words if cells[0].isdigit()]
    stop, other = labels.index("punct"), next(at for at, label in enumerate(labels) if label == "obj")
    system = edited(put, "s.conllu", (stop, 7, "punct:x"), (other, 7, "iobj"))
    every, some = (ours(done("eval", GOLD, system, *FEW, *more).rows) for more in ((), ("--no-punct",)))
    left = len(labels) - labels.count("punct")
    assert every["LAS"][1:] == (len(labels) - 1, len(labels), len(labels))
    assert some["UAS"][1:] == (left, left, left)
    assert some["LAS"][1:] == (left - 1, left, left)
    assert {name: some[name] for name in ("CLAS", "UPOS")} == {name: every[name] for name in ("CLAS", "UPOS")}
    by_label = done("eval", GOLD, system, *FEW, "--no-punct", "--by", "label").rows
    assert "punct" not in {row["class"] for row in by_label}
    assert sum(row["gold"] for row in by_label) == left


def test_classes(done, systems) -> None:
    """A row for each class and metric; the words of all classes are those of the file."""
    kinds = ("label", "arc-length", "sentence-length", "projectivity")
    rows = done("eval", GOLD, systems[0], *FEW, *(part for kind in kinds for part in ("--by", kind))).rows
    total = ours(done("eval", GOLD, systems[0], *FEW).rows)
    assert [row["by"] for row in rows] == sorted((row["by"] for row in rows), key=kinds.index)
    for kind in kinds:
        those = [row for row in rows if (row["by"], row["metric"]) == (kind, "LAS")]
        assert [sum(row[name] for row in those) for name in ("correct", "gold", "predicted")] == [*total["LAS"][1:]]
    (det,) = (row for row in rows if row["class"] == "det")
    assert det["precision"] == det["correct"] / det["predicted"]
    assert det["recall"] == det["correct"] / det["gold"]


def test_the_expected_score(done, systems) -> None:
    """Beside the real one, and the same before there are gold trees; from each sentence's mean and variance."""
    beside = done("eval", GOLD, systems[0], *FEW, "--scores", *SCORES).rows
    (alone,) = done("eval", systems[0], "--scores", *SCORES).rows
    assert beside[-1] == alone
    assert [row["metric"] for row in beside][:2] == ["UAS", "LAS"]
    best = [(each.distribution, each.distribution.argmax()) for each in read(str(SCORES[0]), preset="natasha")]
    words = sum(one.n for one, _ in best)
    mean = sum(one.n - risk(one, heads) for one, heads in best) / words
    width = 1.959963984540054 * np.sqrt(sum(risk_variance(*each) for each in best)) / words
    assert (alone["metric"], alone["value"]) == ("expected UAS", pytest.approx(mean))
    assert (alone["low"], alone["high"]) == (pytest.approx(mean - width), pytest.approx(min(mean + width, 1)))
    hot = done("eval", systems[0], "--scores", *SCORES, "--temperature", 3).rows[0]
    assert hot["value"] < alone["value"]


def test_the_expected_score_beside_gold_trees_of_other_tokens(done, put, systems) -> None:
    """Scores belong to the system's words, whatever gold words are."""
    gold = put("g.conllu", GOLD.read_text(encoding="utf-8").replace("2-3\tdon't" + "\t_" * 8 + "\n", "", 1))
    rows = done("eval", gold, systems[0], *FEW, "--scores", *SCORES).rows
    assert {row["metric"]: row["correct"] for row in rows[:-1]}["Tokens"] == 51  # of 52 without `don't`
    assert rows[-1] == done("eval", systems[0], "--scores", *SCORES).rows[0]


def test_a_line_to_quote(done, systems) -> None:
    """The last on stderr; the signature repeats it."""
    line = ("eval", GOLD, systems[0], "--seed", 7)
    scores, _, signature = done(*line).said[-1].partition(" | ")
    assert scores.startswith("deptree: UAS 98.15 [")
    assert scores.endswith("(n = 8 sentences, 54 words)")
    assert signature.startswith("deptree|eval|")
    assert "|resamples:10000|seed:7|" in signature
    assert done(*line, "-q").err == ""
    two = done("eval", GOLD, *systems, "--seed", 7).said[-1]
    assert "drawn.conllu: UAS" in two
    assert "LAS difference -" in two
    assert " p = 0.0" in two


def test_several_roots_are_counted(done, put) -> None:
    """The script refuses them; a word's head is right or wrong all the same."""
    text = GOLD.read_text(encoding="utf-8").replace("\t2\tnsubj\t_\t_\n", "\t0\troot\t_\t_\n", 1)
    ran = done("eval", GOLD, put("two.conllu", text), *FEW)
    assert ran.rows[0]["correct"] == 53
    assert "deptree: 1 tree with several roots: compared word by word; the script of the CoNLL 2018" in ran.err


def test_deep_trees_and_damaged_bytes(done, put) -> None:
    """A chain of 3,000 words, which is too deep for the script; a lemma that is not UTF-8 is another one."""
    heads = [*range(2, 3001), 0]  # each word below the next
    text = "".join(f"{word}\tx\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for word, head in enumerate(heads, 1))
    put("deep.conllu", text + "\n")
    assert done("eval", "deep.conllu", "deep.conllu", *FEW, "-q").rows[0]["correct"] == 3000
    put("bytes.conllu", GOLD.read_bytes().replace(b"\tman\tman\t", b"\tman\t\xff\t"))
    assert ours(done("eval", GOLD, "bytes.conllu", *FEW, "-q").rows)["Lemmas"][1] == 53


def changed(put, old: str, new: str) -> str:
    text = GOLD.read_text(encoding="utf-8")
    assert old in text
    return put("changed.conllu", text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("4\tman\t", "4\tmen\t", "gold.conllu:7 (en-1): the text differs: after 'Shesawthem' it has 'anwith"),
        ("2-3\tdon't", "2-3\tdont", "(en-2): the text differs: after 'Idon' it has \"'t"),
        ("\t2\tobl\t", "\t2\tobl\tmore\t", "changed.conllu:10 (en-1): 11 columns where a word has 10"),
    ],
    ids=["a form", "a token", "a row"],
)
def test_trees_that_cannot_be_compared(deptree, put, old, new, says) -> None:
    """One line that names the sentence; with --on-error skip the others are evaluated."""
    system = changed(put, old, new)
    ran = deptree("eval", GOLD, system, *FEW, "-q")
    assert ran.code == 2
    assert len(ran.said) == 1
    assert says in ran.err
    ran = deptree("eval", GOLD, system, *FEW, "--on-error", "skip")
    assert ran.code == 1
    assert "(n = 7 of 8 sentences, 46 of 54 gold words)" in ran.err
    assert "deptree: 1 sentence skipped" in ran.err


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((GOLD,), "give GOLD and SYSTEM, or add --scores FILE"),
        ((GOLD, "a", "b", "c"), "4 files of trees"),
        ((GOLD, GOLD, "--from", "natasha"), "--from needs --scores FILE"),
        ((GOLD, "a", "b", "--scores", *SCORES), "--scores belong to one SYSTEM"),
        ((GOLD, "--scores", *SCORES, "--by", "label"), "--by needs gold trees"),
        ((GOLD, GOLD, "--scores", *SCORES, "--no-punct"), "--no-punct cannot be combined with --scores"),
        ((GOLD, DATA / "raw_gold.conllu", "--confidence", "1"), "--confidence"),
    ],
)
def test_what_cannot_be_asked(deptree, given, says) -> None:
    ran = deptree("eval", *given)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert says in ran.err


def test_a_pipe_from_the_parser(shell) -> None:
    """`-` is standard input."""
    line = "deptree decode $DATA/scores.npz --from natasha --conllu $DATA/sentences.conllu -q"
    found = shell(f"{line} | deptree eval $DATA/gold.conllu - --seed 7 -q | head -n 1").out
    assert json.loads(found)["correct"] == 53


@pytest.mark.parametrize(
    ("words", "wrong", "label", "told"),
    [(120, 20, "x", True), (119, 20, "x", False), (120, 0, "x", False), (120, 20, "y", False)],
)
def test_labels_that_may_be_copied_are_told(done, put, words, wrong, label, told) -> None:
    """A hundred right heads with right labels, while heads are wrong; a single wrong label ends the suspicion."""
    rows = [
        f"{word}\tw\t_\t_\t_\t_\t{word - 1}\t{'root' if word == 1 else 'x'}\t_\t_\n" for word in range(1, words + 1)
    ]
    put("gold.conllu", "".join(rows))
    rows[words - wrong :] = [row.replace(f"\t{word - 1}\t", "\t1\t") for word, row in enumerate(rows, 1)][
        words - wrong :
    ]
    rows[1] = rows[1].replace("x", label)
    put("system.conllu", "".join(rows))
    ran = done("eval", "gold.conllu", "system.conllu", *FEW)
    line = (
        "deptree: system.conllu: LAS equals UAS: all 100 words with the right head have the right label, as if labels"
    )
    assert any(said.startswith(line) for said in ran.said) == told
    assert not done("eval", "gold.conllu", "system.conllu", *FEW, "-q").err.count("LAS equals UAS")
