"""``deptree eval``: the CoNLL 2018 script's figures, intervals, classes, expected scores, what cannot be compared."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.evaluation import METRICS
from deptree_cli.core.expectations import risk, risk_variance
from tests.lines import table
from tests.sample import DATA, SCORES

GOLD = DATA / "gold.conllu"
TEXT = GOLD.read_text(encoding="utf-8")
FEW = "--seed 7 --resamples 50"
KINDS = ("label", "arc-length", "sentence-length", "projectivity")
BY = " ".join(f"--by {kind}" for kind in KINDS)


@pytest.fixture
def systems(done) -> None:
    """The best trees with their labels in best.conllu, and drawn ones without in drawn.conllu."""
    done("decode $SCORES $LABELS $SENTENCES -q -o best.conllu")
    done("sample $SCORES $SENTENCES -q --seed 7 --temperature 3 -o drawn.conllu")


def script(gold: object, system: object) -> dict[str, tuple[float, int, int, int]]:
    udeval = pytest.importorskip("udtools.udeval", reason="udtools, the oracle of eval, is not installed")
    found = udeval.evaluate(udeval.load_conllu_file(str(gold)), udeval.load_conllu_file(str(system)))
    scores = {name: found[name] for name in METRICS}
    return {name: (each.f1, each.correct, each.gold_total, each.system_total) for name, each in scores.items()}


def ours(rows: list[dict]) -> dict[str, tuple[float, int, int, int]]:
    return {row["metric"]: (row["value"], row["correct"], row["gold"], row["predicted"]) for row in rows}


def edited(*columns: tuple[int, int, str]) -> str:
    """The gold trees with other cells: (word of the file, column, text)."""
    lines = TEXT.split("\n")
    words = [at for at, line in enumerate(lines) if line.split("\t")[0].isdigit()]
    for word, column, text in columns:
        cells = lines[words[word]].split("\t")
        lines[words[word]] = "\t".join([*cells[:column], text, *cells[column + 1 :]])
    return "\n".join(lines)


@pytest.fixture
def changed(put):
    """A file of the gold trees in which the first of a text is another."""

    def change(old: str, new: str) -> str:
        assert old in TEXT
        return put("changed.conllu", TEXT.replace(old, new, 1))

    return change


@pytest.mark.parametrize("system", ["best.conllu", "drawn.conllu", GOLD], ids=["labels", "no labels", "gold"])
def test_the_figures_of_the_script(done, systems, system) -> None:
    """To all digits."""
    assert ours(done(f"eval $GOLD {system} {FEW}").rows) == script(GOLD, system)


@pytest.mark.slow("process")
def test_the_figures_of_the_script_on_real_data(done, treebank) -> None:
    done(
        "decode", treebank / "scores.npz", "--from=natasha", "--conllu", treebank / "sentences.conllu", "-o", "s.conllu"
    )
    found = done(f"eval {treebank}/gold.conllu s.conllu {FEW}")
    expected = script(treebank / "gold.conllu", "s.conllu")
    assert ours(found.rows) == expected
    for name, (f1, *_) in expected.items():
        others = name in METRICS[5:]  # those of the gold trees
        assert (f" {name} {100 * f1:.2f} [" not in found.err) == others


@pytest.mark.slow("process")
def test_intervals_and_differences(done, systems) -> None:
    """Narrower with less confidence; the difference is that of the values, its p-value of a paired test."""
    line = "eval $GOLD best.conllu drawn.conllu --seed"
    rows = done(line, 7).rows
    for one, other, less in zip(rows[:13], rows[13:26], rows[26:], strict=True):
        assert (less["metric"], less["system"]) == (f"{one['metric']} difference", "drawn.conllu")
        for name in ("value", "recall"):
            assert less[name] == pytest.approx(other[name] - one[name], abs=1e-12)
        assert less["low"] <= less["value"] <= less["high"]
        assert one["low"] <= one["value"] <= one["high"]
        assert one["precision_low"] <= one["precision"] <= one["precision_high"]
        assert other["system"] == "drawn.conllu"
        assert 0 < less["p"] <= 1
    assert rows[27]["p"] < 0.05  # one of 128 swaps of eight sentences is as far apart, and its mirror image
    narrow = done(line, 7, "--confidence", 0.5).rows
    assert narrow[1]["high"] - narrow[1]["low"] <= rows[1]["high"] - rows[1]["low"]
    assert done(line, 7).rows == rows
    assert done(line, 8).rows != rows


def test_one_sentence_has_no_interval(done, put, systems) -> None:
    for name in (GOLD, "best.conllu", "drawn.conllu"):
        put(f"one_{Path(name).name}", Path(name).read_text(encoding="utf-8").partition("\n\n")[0] + "\n\n")
    rows = done(f"eval one_gold.conllu one_best.conllu one_drawn.conllu {FEW}").rows
    assert {(row["low"], row["high"]) for row in rows} == {(None, None)}
    assert rows[-1]["p"] == 1.0


def test_columns_that_gold_trees_do_not_have(done, put) -> None:
    """They are counted as the script does, and named: a system that has none either is right throughout."""
    put("s.conllu", edited((3, 4, "A")))
    ran = done(f"eval $GOLD s.conllu {FEW}")
    assert ours(ran.rows)["XPOS"] == (pytest.approx(53 / 54), 53, 54, 54)
    assert "deptree: XPOS" in ran.err
    assert "has none of these in any word" in ran.err
    put("g.conllu", edited((0, 3, "_"), (3, 4, "A"), (5, 5, "Case=Nom")))
    ran = done(f"eval g.conllu $GOLD {FEW}")
    assert "none of these" not in ran.err
    assert ours(ran.rows)["UPOS"][1:] == (53, 54, 54)


def test_without_punctuation(done, put) -> None:
    """UAS, LAS and classes lose the words that gold trees call punct; what has none of these in any case stays."""
    labels = [line.split("\t")[7] for line in TEXT.splitlines() if line.split("\t")[0].isdigit()]
    put("s.conllu", edited((labels.index("punct"), 7, "punct:x"), (labels.index("obj"), 7, "iobj")))
    line = f"eval $GOLD s.conllu {FEW}"
    every, some = (ours(done(line, *more).rows) for more in ((), ("--no-punct",)))
    left = len(labels) - labels.count("punct")
    assert every["LAS"][1:] == (len(labels) - 1, len(labels), len(labels))
    assert (some["UAS"][1:], some["LAS"][1:]) == ((left, left, left), (left - 1, left, left))
    assert (some["CLAS"], some["UPOS"]) == (every["CLAS"], every["UPOS"])
    by_label = done(f"{line} --no-punct --by label").rows
    assert "punct" not in {row["class"] for row in by_label}
    assert sum(row["gold"] for row in by_label) == left


def test_classes(done, systems) -> None:
    """A row for each class and metric; the words of all classes are those of the file."""
    rows = done(f"eval $GOLD best.conllu {FEW} {BY}").rows
    total = ours(done(f"eval $GOLD best.conllu {FEW}").rows)
    assert [row["by"] for row in rows] == sorted((row["by"] for row in rows), key=KINDS.index)
    for kind in KINDS:
        those = [row for row in rows if (row["by"], row["metric"]) == (kind, "LAS")]
        assert [sum(row[name] for row in those) for name in ("correct", "gold", "predicted")] == [*total["LAS"][1:]]
    (det,) = (row for row in rows if row["class"] == "det")
    assert (det["precision"], det["recall"]) == (det["correct"] / det["predicted"], det["correct"] / det["gold"])


def test_the_expected_score(done, put, systems) -> None:
    """Beside the real one, and the same before there are gold trees; from each sentence's mean and variance."""
    beside = done(f"eval $GOLD best.conllu {FEW} --scores $SCORES").rows
    (alone,) = done("eval best.conllu --scores $SCORES").rows
    assert beside[-1] == alone
    assert [row["metric"] for row in beside][:2] == ["UAS", "LAS"]
    best = [(each.distribution, each.distribution.argmax()) for each in read(str(SCORES[0]), preset="natasha")]
    words = sum(one.n for one, _ in best)
    mean = sum(one.n - risk(one, heads) for one, heads in best) / words
    width = 1.959963984540054 * np.sqrt(sum(risk_variance(*each) for each in best)) / words
    assert (alone["metric"], alone["value"]) == ("expected UAS", pytest.approx(mean))
    assert (alone["low"], alone["high"]) == (pytest.approx(mean - width), pytest.approx(min(mean + width, 1)))
    hot = done("eval best.conllu --scores $SCORES --temperature 3").rows[0]
    assert hot["value"] < alone["value"]
    put("g.conllu", TEXT.replace("2-3\tdon't" + "\t_" * 8 + "\n", "", 1))  # gold trees of other tokens change nothing
    rows = done(f"eval g.conllu best.conllu {FEW} --scores $SCORES").rows
    assert ours(rows[:-1])["Tokens"][1] == 51  # of 52 without `don't`
    assert rows[-1] == alone


def test_a_line_to_quote(done, systems) -> None:
    """The last on stderr; the signature repeats it."""
    line = "eval $GOLD best.conllu --seed 7"
    scores, _, signature = done(line).said[-1].partition(" | ")
    assert scores.startswith("deptree: UAS 98.15 [")
    assert scores.endswith("(n = 8 sentences, 54 words)")
    assert signature.startswith("deptree|eval|")
    assert "|resamples:10000|seed:7|" in signature
    assert done(f"{line} -q").err == ""
    two = done("eval $GOLD best.conllu drawn.conllu --seed 7").said[-1]
    assert [part for part in ("drawn.conllu: UAS", "LAS difference -", " p = 0.0") if part not in two] == []


def test_deep_trees_and_damaged_bytes(done, put) -> None:
    """A chain of 3,000 words, which is too deep for the script; a lemma that is not UTF-8 is another one."""
    heads = [*range(2, 3001), 0]  # each word below the next
    text = "".join(f"{word}\tx\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for word, head in enumerate(heads, 1))
    put("deep.conllu", text + "\n")
    assert done(f"eval deep.conllu deep.conllu {FEW} -q").rows[0]["correct"] == 3000
    put("bytes.conllu", GOLD.read_bytes().replace(b"\tman\tman\t", b"\tman\t\xff\t"))
    assert ours(done(f"eval $GOLD bytes.conllu {FEW} -q").rows)["Lemmas"][1] == 53


@pytest.mark.quick
@pytest.mark.parametrize(
    ("old", "new", "is_gold", "says"),
    [
        ("4\tman\t", "4\tmen\t", False, "gold.conllu:7 (en-1): the text differs: after 'Shesawthem' it has 'anwith"),
        ("2-3\tdon't", "2-3\tdont", False, "(en-2): the text differs: after 'Idon' it has \"'t"),
        ("\t2\tobl\t", "\t2\tobl\tmore\t", False, "changed.conllu:10 (en-1): 11 columns where a word has 10"),
        ("\t2\tobl\t", "\t7\tobl\t", True, "changed.conllu:1 (en-1): not a tree: word 7 is its own ancestor"),
        ("\t2\tobl\t", "\t9\tobl\t", True, "changed.conllu:10 (en-1): HEAD is '9', not _ or 0"),
    ],
    ids=["a form", "a token", "a row", "a gold cycle", "a gold head"],
)
def test_trees_that_cannot_be_compared(deptree, refused, changed, old, new, is_gold, says) -> None:
    """One line that names the sentence; with --on-error skip the others are evaluated."""
    changed(old, new)
    line = f"eval {'changed.conllu $GOLD' if is_gold else '$GOLD changed.conllu'} {FEW}"
    refused(f"{line} -q", says)
    ran = deptree(f"{line} --on-error skip")
    assert ran.code == 1
    assert f"(n = 7 of 8 sentences, 46 of {'at least 46' if '9' in new else '54'} gold words)" in ran.err
    assert "deptree: 1 sentence skipped" in ran.err


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        eval $GOLD | give GOLD and SYSTEM, or add --scores FILE
        eval $GOLD a b c | 4 files of trees
        eval $GOLD $GOLD --from natasha | --from needs --scores FILE
        eval $GOLD a b --scores $SCORES | --scores belong to one SYSTEM
        eval $GOLD --scores $SCORES --by label | --by needs gold trees
        eval $GOLD $GOLD --scores $SCORES --no-punct | --no-punct cannot be combined with --scores
        eval $GOLD $DATA/raw_gold.conllu --confidence 1 | --confidence
    """),
)
def test_what_is_refused(refused, line: str, says: tuple[str, ...]) -> None:
    refused(line, *says)


def test_a_pipe_from_the_parser(shell) -> None:
    """`-` is standard input."""
    line = "deptree decode $DATA/scores.npz --from natasha --conllu $DATA/sentences.conllu -q"
    found = shell(f"{line} | deptree eval $DATA/gold.conllu - --seed 7 -q | head -n 1").out
    assert json.loads(found)["correct"] == 53


@pytest.mark.quick
@pytest.mark.parametrize(
    ("words", "wrong", "label", "told"),
    [(120, 20, "x", True), (119, 20, "x", False), (120, 0, "x", False), (120, 20, "y", False)],
)
def test_labels_that_may_be_copied_are_told(done, put, words, wrong, label, told) -> None:
    """A hundred right heads with right labels, while heads are wrong; a single wrong label ends the suspicion."""
    row = "{}\tw\t_\t_\t_\t_\t{}\t{}\t_\t_\n"
    rows = [row.format(word, word - 1, "x" if word > 1 else "root") for word in range(1, words + 1)]
    put("gold.conllu", "".join(rows))
    rows[words - wrong :] = [row.format(word, 1, "x") for word in range(words - wrong + 1, words + 1)]
    rows[1] = row.format(2, 1, label)
    put("system.conllu", "".join(rows))
    told_as = "deptree: system.conllu: LAS equals UAS: all 100 words with the right head have the right label, as if"
    ran = done(f"eval gold.conllu system.conllu {FEW}")
    assert any(said.startswith(told_as) for said in ran.said) == told
    assert "LAS equals UAS" not in done(f"eval gold.conllu system.conllu {FEW} -q").err


def test_a_gold_word_without_head_is_left_out_alone(done, changed) -> None:
    """Of the metrics that compare heads; the sentence stays, and stderr counts the word, on either side."""
    changed("\t2\tobl\t", "\t_\t_\t")
    ran = done(f"eval changed.conllu $GOLD {FEW}")
    cells = {name: counts for name, (_, *counts) in ours(ran.rows).items()}
    assert cells["UAS"] == cells["LAS"] == [53, 53, 53]
    assert cells["CLAS"] == cells["BLEX"] == [34, 34, 34]
    assert cells["UPOS"] == cells["Words"] == [54, 54, 54]
    without = "deptree: changed.conllu: 1 word without HEAD:"
    assert f"{without} left out of UAS, LAS, CLAS, MLAS and BLEX" in ran.said
    assert f"{without} counted as wrong" in done(f"eval $GOLD changed.conllu {FEW}").said


# What the seventh word's HEAD may be, and what stderr says of its tree.
HEADS = {"7": "with cycles", "9": "with missing heads", "_": "with missing heads", "x": "with missing heads"}


@pytest.mark.parametrize("head", HEADS)
def test_heads_of_systems_are_compared_word_by_word(done, changed, head) -> None:
    """Tree or no tree: a head that is no word's, or the word itself, is a wrong one; beside scores and by class too.

    Its probability is missing from the expected score.
    """
    changed("\t2\tobl\t", f"\t{head}\tobl\t")
    ran = done(f"eval $GOLD $GOLD changed.conllu {FEW}")
    whole, less = ours(ran.rows[:13]), ours(ran.rows[13:26])
    expected = dict.fromkeys(("UAS", "LAS"), (53, 54, 54)) | dict.fromkeys(("CLAS", "BLEX"), (34, 35, 35))
    for metric, (right, words, _) in (expected | {"UPOS": (54, 54, 54)}).items():
        assert (less[metric][1:], whole[metric][1]) == ((right, words, words), words)
    assert f"deptree: 1 tree {HEADS[head]}: compared word by word; the script of the CoNLL 2018" in ran.err
    line = f"eval $GOLD changed.conllu {FEW}"
    assert done(f"{line} --on-error skip").rows[0]["correct"] == 53
    assert done(f"{line} --scores $SCORES").rows[0]["correct"] == 53
    by = done(f"{line} {BY}").rows
    for kind in KINDS[1:]:
        those = [row for row in by if (row["by"], row["metric"]) == (kind, "UAS")]
        assert [sum(row[name] for row in those) for name in ("correct", "gold", "predicted")] == [53, 54, 54]
    assert [row["predicted"] for row in by if row["class"] == "none"] == [1] * 4
    (scored, *_) = read(str(SCORES[0]), preset="natasha")
    whole, less = (done(f"eval {name} --scores $SCORES").rows[0]["value"] for name in ("$GOLD", "changed.conllu"))
    assert less == pytest.approx(whole - scored.distribution.marginals()[2, 7] / 54)


def test_several_roots_are_counted(done, changed) -> None:
    """The script refuses them; a word's head is right or wrong all the same."""
    changed("\t2\tnsubj\t_\t_\n", "\t0\troot\t_\t_\n")
    ran = done(f"eval $GOLD changed.conllu {FEW}")
    assert ran.rows[0]["correct"] == 53
    assert "deptree: 1 tree with several roots: compared word by word; the script of the CoNLL 2018" in ran.err


def sentences(heads: str, first: int = 1) -> str:
    """Sentences of one word, with these heads."""
    row = "# sent_id = s{0}\n1\tw{0}\t_\t_\t_\t_\t{1}\troot\t_\t_\n\n"
    return "".join(row.format(number, head) for number, head in enumerate(heads, first))


def test_half_of_the_system_broken(done, put) -> None:
    """It is wrong, not absent."""
    put("g", sentences("0000"))
    put("s", sentences("001_"))
    ran = done(f"eval g s {FEW} --on-error skip")
    assert ours(ran.rows)["UAS"][:3] == (0.5, 2, 4)
    assert "deptree: 1 tree with cycles, 1 tree with missing heads: compared" in ran.err
    assert "(n = 4 sentences, 4 words)" in ran.err


@pytest.mark.quick
@pytest.mark.parametrize("names", ["sent_id", "other"])
@pytest.mark.parametrize(
    ("line", "skipped", "part"),
    [("few many", 5, ""), ("many few", 5, "4 of 9"), ("other many", 5, "4 of 5"), ("many other", 5, "4 of 9")],
)
def test_sentences_of_one_file_only_are_counted(deptree, put, names, line, skipped, part) -> None:
    """With ids and without them: five that only one file has, and five where the other has one."""
    put("many", sentences("0" * 9).replace("sent_id", names))
    put("few", (sentences("0" * 3) + sentences("0", 9)).replace("sent_id", names))
    put("other", (sentences("0" * 3) + sentences("0", 10) + sentences("0", 9)).replace("sent_id", names))
    ran = deptree(f"eval {line} {FEW} --on-error skip")
    assert f"deptree: {skipped} sentences skipped" in ran.said
    assert (f"(n = {part} sentences, {part} gold words)" if part else "(n = 4 sentences, 4 words)") in ran.err


@pytest.mark.parametrize("systems", ["s.conllu", "$GOLD s.conllu"])
def test_metrics_without_information_are_in_rows_only(done, put, systems: str) -> None:
    """What the system has from GOLD, and what GOLD lacks, is told once; the line and the table go without it."""
    put("s.conllu", edited((0, 6, "0"), (3, 4, "A"), (4, 3, "X")))
    put("g.conllu", edited(*((word, 5, "_") for word in range(54))))
    ran = done(f"eval g.conllu {systems} {FEW}")
    shown = done(f"eval g.conllu {systems} {FEW} --format table").out.decode()
    assert len(ran.rows) == 13 * (1 if systems == "s.conllu" else 3)
    left = "XPOS, UFeats, Lemmas, Words, Tokens, Sentences"
    assert [each for each in METRICS if f" {each} " not in ran.said[-1]] == left.split(", ")
    assert f"deptree: {left}: right everywhere, or not in the gold trees; left out of tables" in ran.err
    assert [each for each in left.split(", ") if f" {each} " in shown] == []
    assert " UPOS " in shown


CAN_T = """\
1\tWe\twe\tPRON\t_\t_\t4\tnsubj\t_\t_
2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_
2\tca\tcan\tAUX\t_\t_\t4\taux\t_\t_
3\tn't\tnot\tPART\t_\t_\t4\tadvmod\t_\t_
4\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_

"""
CANT = """\
1\tWe\twe\tPRON\t_\t_\t3\tnsubj\t_\t_
2\tcan't\tcan\tAUX\t_\t_\t3\taux\t_\t_
3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_

"""


def test_other_tokens(done, put) -> None:
    """Words are aligned by their characters; gold words are right, of its own and of the system's words."""
    put("g.conllu", CAN_T + CANT)
    put("s.conllu", CANT + CANT)
    ran = done(f"eval g.conllu s.conllu {FEW}")
    assert ours(ran.rows) == script("g.conllu", "s.conllu")
    row = ran.rows[0]
    assert (row["correct"], row["gold"], row["predicted"], row["aligned"]) == (5, 7, 6, 5)
    assert (row["precision"], row["recall"], row["aligned_accuracy"]) == (5 / 6, 5 / 7, 1.0)
    assert "(n = 2 sentences, 7 words)" in ran.err
    by = done(f"eval g.conllu s.conllu {FEW} --by label").rows
    found = {row["class"]: (row["correct"], row["gold"], row["predicted"]) for row in by}
    assert found == {"nsubj": (2, 2, 2), "aux": (1, 2, 2), "root": (2, 2, 2), "advmod": (0, 1, 0)}


def test_other_sentences(done, put) -> None:
    """What both cut alike is resampled together, and said."""
    more = (
        CANT.replace("\t3\t", "\t6\t")
        .replace("3\tgo", "6\tgo")
        .replace("2\tcan't", "5\tcan't")
        .replace("1\tWe", "4\tWe")
    )
    put("g.conllu", CANT * 4)
    put("s.conllu", CANT.rstrip("\n") + "\n" + more + CANT * 2)
    ran = done(f"eval g.conllu s.conllu {FEW}")
    assert "(n = 4 sentences in 3 groups with the same ends, 12 words)" in ran.err
    assert ours(ran.rows)["Sentences"][1:] == (2, 4, 3)
    assert "1 tree with several roots" in ran.err
