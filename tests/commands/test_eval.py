"""``deptree eval``: the CoNLL 2018 script's figures, intervals, classes, expected scores, what cannot be compared."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.evaluation import ENHANCED, METRICS
from deptree_cli.core.expectations import risk, risk_variance
from tests.commands.sessions import hold_session
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
    graphs = found["ELAS"].gold_total and found["ELAS"].system_total
    scores = {name: found[name] for name in METRICS if graphs or name not in ENHANCED}
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


def changed(old: str, new: str, text: str = TEXT) -> str:
    assert old in text
    return text.replace(old, new, 1)


def sentences(heads: str, first: int = 1) -> str:
    """Sentences of one word, with these heads."""
    row = "# sent_id = s{0}\n1\tw{0}\t_\t_\t_\t_\t{1}\troot\t_\t_\n\n"
    return "".join(row.format(number, head) for number, head in enumerate(heads, first))


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
LABELS = [line.split("\t")[7] for line in TEXT.splitlines() if line.split("\t")[0].isdigit()]
MANY = {
    "many": sentences("0" * 9),
    "few": sentences("0" * 3) + sentences("0", 9),
    "others": sentences("0" * 3) + sentences("0", 10) + sentences("0", 9),
}
JOINED = (
    CANT.replace("\t3\t", "\t6\t").replace("3\tgo", "6\tgo").replace("2\tcan't", "5\tcan't").replace("1\tWe", "4\tWe")
)

FILES = {
    "gold.conllu": TEXT,
    "xpos.conllu": edited((3, 4, "A")),
    "other_columns.conllu": edited((0, 3, "_"), (3, 4, "A"), (5, 5, "Case=Nom")),
    "punct.conllu": edited((LABELS.index("punct"), 7, "punct:x"), (LABELS.index("obj"), 7, "iobj")),
    "no_feats.conllu": edited(*((word, 5, "_") for word in range(54))),
    "lacking.conllu": edited((0, 6, "0"), (3, 4, "A"), (4, 3, "X")),
    "form.conllu": changed("4\tman\t", "4\tmen\t"),
    "token.conllu": changed("2-3\tdon't", "2-3\tdont"),
    "row.conllu": changed("\t2\tobl\t", "\t2\tobl\tmore\t"),
    "roots.conllu": changed("\t2\tnsubj\t_\t_\n", "\t0\troot\t_\t_\n"),
    "unlabelled.conllu": changed("\t2\tobl\t", "\t_\t_\t"),
    **{f"head_{head}.conllu": changed("\t2\tobl\t", f"\t{head}\tobl\t") for head in "79_x"},
    "zeros.conllu": sentences("0000"),
    "broken.conllu": sentences("001_"),
    **{f"{name}.conllu": text for name, text in MANY.items()},
    **{f"{name}_unnamed.conllu": text.replace("sent_id", "other") for name, text in MANY.items()},
    "split.conllu": CAN_T + CANT,
    "joined.conllu": CANT + CANT,
    "four.conllu": CANT * 4,
    "three.conllu": CANT.rstrip("\n") + "\n" + JOINED + CANT * 2,
    "one.conllu": TEXT.partition("\n\n")[0] + "\n\n",
    "one_form.conllu": edited((0, 6, "0")).partition("\n\n")[0] + "\n\n",
}


@pytest.fixture
def files(put) -> None:
    for name, text in FILES.items():
        put(name, text)


def test_a_session(deptree, golden, files) -> None:
    hold_session(deptree, golden, "eval.txt")


def test_other_tokens_have_the_figures_of_the_script(done, files) -> None:
    assert ours(done(f"eval split.conllu joined.conllu {FEW}").rows) == script("split.conllu", "joined.conllu")


@pytest.mark.parametrize("head", ["7", "9", "_", "x"])
def test_a_head_that_is_no_words_is_missing_from_the_expected_score(done, files, head: str) -> None:
    (scored, *_) = read(str(SCORES[0]), preset="natasha")
    names = "$GOLD", f"head_{head}.conllu"
    whole, less = (done(f"eval {name} --scores $SCORES").rows[0]["value"] for name in names)
    assert less == pytest.approx(whole - scored.distribution.marginals()[2, 7] / 54)
    assert done(f"eval $GOLD {names[1]} {FEW} --scores $SCORES").rows[0]["correct"] == 53


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
    scores, _, signature = done("eval $GOLD best.conllu drawn.conllu --seed 7").said[-1].partition(" | ")
    assert scores.startswith("deptree: best.conllu: UAS 98.15 [")
    assert [part for part in ("drawn.conllu: UAS", "LAS difference -", " p = 0.0") if part not in scores] == []
    assert signature.startswith("deptree|eval|")
    assert "|resamples:10000|seed:7|" in signature


def test_deep_trees_and_damaged_bytes(done, put) -> None:
    """A chain of 3,000 words, which is too deep for the script; a lemma that is not UTF-8 is another one."""
    heads = [*range(2, 3001), 0]  # each word below the next
    text = "".join(f"{word}\tx\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for word, head in enumerate(heads, 1))
    put("deep.conllu", text + "\n")
    assert done(f"eval deep.conllu deep.conllu {FEW} -q").rows[0]["correct"] == 3000
    put("bytes.conllu", GOLD.read_bytes().replace(b"\tman\tman\t", b"\tman\t\xff\t"))
    assert ours(done(f"eval $GOLD bytes.conllu {FEW} -q").rows)["Lemmas"][1] == 53


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
