"""Annotation against probabilities: `deptree doubt` ranks it, `calibrate` fits what `--temperature FILE` takes."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from deptree_cli import read
from tests.lines import table
from tests.sample import DATA

GOLD = DATA / "gold.conllu"
TEXT = GOLD.read_text(encoding="utf-8")
LINE = "doubt $SCORES --conllu $GOLD"


def changed(change):
    rows = [line.split("\t") for line in TEXT.split("\n")]
    return "\n".join("\t".join(change(row) if len(row) == 10 else row) for row in rows)


@pytest.fixture(scope="module")
def sentences():
    return {each.id: each for each in read(str(DATA / "scores.npz"), str(GOLD), preset="natasha")}


def test_words_in_order_of_probability(done, sentences):
    """All 54 words with the marginals of the library, the least first."""
    ran = done(LINE)
    probs = [row["prob"] for row in ran.rows]
    assert probs == sorted(probs)
    assert [row["rank"] for row in ran.rows] == list(range(1, 55))
    for row in ran.rows:
        sentence = sentences[row["sent_id"]]
        marginals = sentence.distribution.marginals()
        assert row["prob"] == pytest.approx(marginals[row["head"], row["word"]])
        assert row["best_prob"] == pytest.approx(marginals[:, row["word"]].max())
        assert row["head"] == sentence.record.block.heads[row["word"] - 1]
        assert "file" not in row
    says = f"{sum(1 - prob for prob in probs):.1f} of 54 annotated words of 8 sentences are wrong"
    assert ran.said == [f"deptree: {says}, if the probabilities are right"]
    assert done(f"{LINE} --top 7").rows == ran.rows[:7]


@pytest.mark.quick
@pytest.mark.parametrize("by", ["expected-errors", "entropy", "margin", "tree-prob", "disagreement"])
def test_sentences_in_order(done, sentences, by):
    rows = done(f"{LINE} --rank {by}").rows
    field = {"margin": "least_margin"}.get(by, by.replace("-", "_"))
    values, words = [row[field] for row in rows], done(LINE).rows
    assert values == sorted(values, reverse=by not in ("margin", "tree-prob"))
    assert len(values) == 8
    for row in rows:
        sentence = sentences[row["sent_id"]]
        assert row["entropy"] == pytest.approx(sentence.distribution.entropy())
        assert row["tree_logprob"] == pytest.approx(sentence.distribution.log_prob(sentence.record.known_heads))
        own = [each["prob"] for each in words if each["sent_id"] == row["sent_id"]]
        assert row["expected_errors"] == pytest.approx(sum(1 - prob for prob in own))
        assert row["suspects"] == sum(prob < 0.5 for prob in own)


def test_labels_rank_words_with_their_heads(done, put):
    rows = done(f"{LINE} $LABELS").rows
    known = [row["prob"] if row["deprel_prob"] is None else row["deprel_prob"] for row in rows]
    assert known == sorted(known)
    assert all(row["deprel_prob"] is None or row["deprel_prob"] <= row["prob"] for row in rows)
    put("odd.conllu", TEXT.replace("\tobj\t", "\tobject\t"))
    ran = done("doubt $SCORES --conllu odd.conllu $LABELS")
    odd = [row["deprel_prob"] for row in ran.rows if row["deprel"] == "object"]
    assert set(odd) == {None}
    assert f"{len(odd)} words whose DEPREL is not in --labels" in ran.err


def test_equals_stay_in_the_order_of_the_file(done, put):
    scores = [[0, 3, 1], [0, 0, 2], [0, 1, 0]]
    put("s.jsonl", "".join(json.dumps({"sent_id": f"s{at}", "scores": scores}) + "\n" for at in range(6)))
    words = "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
    put("t.conllu", "".join(f"# sent_id = s{at}\n{words}" for at in range(6)))
    line = "doubt s.jsonl --conllu t.conllu --rank entropy"
    assert [row["sent_id"] for row in done(line).rows] == [f"s{at}" for at in range(6)]
    assert [row["sent_id"] for row in done(f"{line} --top 3").rows] == ["s0", "s1", "s2"]


def test_as_many_sentences_as_fit_into_a_number_of_words(done):
    left, found = 20, done(f"{LINE} --words 20").rows
    for row in done(f"{LINE} --per sentence").rows:
        assert (row in found) == (row["n"] <= left)
        left -= row["n"] * (row in found)


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        --words 1                                | nothing fits into --words 1: the shortest of 8 sentences has 3 words
        --words 2 --rank entropy --format conllu | --words 2: the shortest of 8 sentences has 3 words
        --words 3 --top 1 --rank tree-prob       | the shortest of 1 sentence has 9 words
        --shard 9/9                              | nothing to rank: there are no sentences
        --shard 9/9 --per sentence               | nothing to rank: there are no sentences
    """),
)
def test_what_leaves_nothing_to_write_is_named(done, line, says):
    ran = done(f"{LINE} {line}")
    assert all(text.startswith(b"#") for text in ran.out.splitlines())
    assert says[0] in ran.err


def test_sentences_stay_byte_for_byte(done, put):
    """A byte order mark, CRLF and no last newline: sorted, they are the same bytes but for marks."""
    put("odd.conllu", b"\xef\xbb\xbf" + GOLD.read_bytes().replace(b"\n", b"\r\n").rstrip(b"\r\n"))
    out = done("doubt $SCORES --conllu odd.conllu --format conllu --no-header --threshold 0.5").out
    assert not out.startswith(b"\xef\xbb\xbf")
    blocks = out.split(b"\r\n\r\n")
    assert blocks.pop() == b""
    ranked = done(f"{LINE} --per sentence").rows
    assert re.findall(r"# sent_id = (.*)\r\n", out.decode()) == [row["sent_id"] for row in ranked]
    bare = [b"\r\n".join(line for line in block.split(b"\r\n") if b"expected_errors" not in line) for block in blocks]
    assert sum(block.count(b"Doubt=") for block in bare) == sum(row["suspects"] for row in ranked) == 1
    plain = {block.replace(b"|Doubt=0.5929", b"") for block in bare}
    assert plain == set(GOLD.read_bytes().rstrip(b"\n").replace(b"\n", b"\r\n").split(b"\r\n\r\n"))
    line = "doubt $SCORES -q --format conllu --threshold 1 --conllu"
    once = done(f"{line} $GOLD").out
    put("out.conllu", once)
    assert done(f"{line} out.conllu").out == once


def test_unannotated_words_are_left_out(done, put):
    put("part.conllu", TEXT.replace("\t2\tnsubj\t", "\t_\t_\t"))
    assert 0 < len(done("doubt $SCORES --conllu part.conllu").rows) < 54
    partial = done("doubt $SCORES --conllu part.conllu --rank tree-prob")
    assert 0 < len(partial.rows) < 8
    assert "left out: they lack HEADs that --rank needs" in partial.err
    assert done("doubt $SCORES $SENTENCES --rank disagreement").rows[0]["expected_errors"] is None


def test_impossible_heads_and_such_that_make_no_tree(done, put):
    put("s.jsonl", '{"sent_id": "a", "scores": [[0, 1, 1], [0, 0, 1], [0, 0, 0]]}\n')
    put("t.conllu", "# sent_id = a\n1\ta\t_\t_\t_\t_\t2\tdep\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n")
    (row,) = done("doubt s.jsonl --conllu t.conllu --rank tree-prob").rows
    assert (row["tree_prob"], row["tree_logprob"], row["expected_errors"]) == (0.0, None, 1.0)
    assert np.isfinite(row["entropy"])


def test_what_a_report_has_marked_as_fine_is_left_out(done, put):
    """With a note behind it, too; other notes leave a word in, and all stay where sentences are written."""
    notes = {("Москвы", "3"): "fine: asked", ("Brna", "6"): "wrong: look again", ("sang", "1"): "finer"}

    def marked(row):
        note = notes.get((row[1], row[6]))
        return [*row[:9], "|".join([row[9]] * (row[9] != "_") + [f"DoubtNote={note}"])] if note else row

    put("marked.conllu", changed(marked))
    line = "doubt $SCORES --conllu marked.conllu"
    left = [row["prob"] for row in done(LINE).rows if (row["sent_id"], row["word"]) != ("ru-1", 6)]
    assert [row["prob"] for row in done(line).rows] == left
    assert len(left) == 53
    found, before = ({row["sent_id"]: row for row in done(f"{each} --per sentence").rows} for each in (line, LINE))
    assert found["ru-1"]["expected_errors"] < before["ru-1"]["expected_errors"] - 0.4
    assert found["cs-1"] | {"rank": 0} == before["cs-1"] | {"rank": 0}
    assert done(f"{line} --format conllu").out.count(b"DoubtNote=") == 3
    put("fine.conllu", changed(lambda row: [*row[:9], "DoubtNote=fine"]))
    ran = done("doubt $SCORES --conllu fine.conllu")
    assert (ran.out, ran.said[0]) == (b"", "deptree: nothing to rank: all words are marked as fine")


def test_scores_that_are_read_in_a_wrong_way_are_suspected(done):
    says = "deptree: more than half of the heads are doubted: is --from right? deptree inspect checks it"
    for preset, is_told in (("synjax", True), ("supar", False)):
        assert (says in done(f"doubt $DATA/scores.npy --conllu $GOLD --top 1 --from {preset}").said) == is_told


def test_rows_of_several_files_have_file_and_line(done, put):
    put("copy.conllu", GOLD.read_bytes())
    line = "doubt $DATA/scores.npz $SCORES --conllu $GOLD --conllu copy.conllu"
    words, sentences = done(line).rows, done(f"{line} --per sentence").rows
    assert len(words) == 108
    for row in words + sentences:
        stands = Path(row["file"]).read_text(encoding="utf-8").splitlines()[row["line"] - 1]
        start = f"{row['word']}\t{row['form']}\t" if "word" in row else f"# sent_id = {row['sent_id']}"
        assert stands.startswith(start)


HALF = '{"temperature":1.5,"head_sets":[{"coverage":0.9,"threshold":0.7},{"coverage":0.5,"threshold":0.1}]}'


def test_one_object(done):
    ran = done("calibrate $SCORES --gold $GOLD $LABELS --coverage 0.9 --coverage 0.8")
    (row,) = ran.rows
    assert "calibration of heads before" in ran.err
    assert f"deptree: attachment score {row['before']['arcs']['accuracy']:.4f}, expected by the parser" in ran.err
    counts = [row[name] for name in ("words", "sentences", "complete_trees", "labels")]
    assert counts == [54, 8, 8, 46]
    found = [(each["coverage"], each["covered"], each["heads"]) for each in row["head_sets"]]
    assert found == [(0.9, pytest.approx(53 / 54), 1), (0.8, pytest.approx(53 / 54), 1)]
    assert row["signature"].startswith("deptree|calibrate|from:natasha|")
    found, sentences = row["before"]["arcs"], list(read(str(DATA / "scores.npz"), str(GOLD), preset="natasha"))
    pairs = [(each.distribution, each.record.known_heads) for each in sentences]
    assert found["log_likelihood"] == pytest.approx(sum(one.log_prob(heads) for one, heads in pairs) / 54)
    trees = [(one, one.argmax(), heads) for one, heads in pairs]
    assert found["accuracy"] == sum((tree == heads).sum() for _, tree, heads in trees) / 54
    probs = [one.marginals()[tree, np.arange(1, one.n + 1)] for one, tree, _ in trees]
    assert found["confidence"] == pytest.approx(np.concatenate(probs).mean())
    assert sum(each["words"] for each in found["bins"]) == 54


def test_unknown_heads_are_told(done, put):
    put("part.conllu", TEXT.replace("\t2\tnsubj\t", "\t_\tnsubj\t", 1))
    ran = done("calibrate $SCORES --gold part.conllu")
    assert json.loads(ran.out)["complete_trees"] == 7
    assert "1 sentence without a complete, possible gold tree" in ran.err


@pytest.mark.quick
@pytest.mark.parametrize(
    "line",
    [
        *("decode $SCORES --conllu $GOLD", "marginals $SCORES --projective", "score $SCORES $GOLD"),
        *("sample $SCORES --conllu $GOLD -k 3 --seed 1", "partition $SCORES"),
    ],
)
def test_calibrated_is_a_temperature(done, put, line):
    put("c.json", HALF)
    found = done(f"{line} --temperature c.json").out
    assert found == done(f"{line} --temperature 1.5").out
    kept, plain = (re.sub(b"# generator.*", b"", out) for out in (found, done(line).out))
    assert kept != plain


def test_labels_have_a_temperature_of_their_own(done, put):
    """Of labels given the arc; without one in the file they stay as they are."""
    put("c.json", '{"temperature":1.5,"label_temperature":3}')
    put("arcs.json", '{"temperature":1.5}')
    put("one.json", '{"temperature":1}')
    both, arcs, plain = (
        [np.array(row["marginals"]) for row in done(f"marginals $SCORES $LABELS --temperature {name}").rows]
        for name in ("c.json", "arcs.json", "one.json")
    )
    for tempered, of_arcs, before in zip(both, arcs, plain, strict=True):
        sums = of_arcs.sum(axis=-1, keepdims=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            for found, power in ((of_arcs, 1), (tempered, 1 / 3)):
                given = (before / before.sum(axis=-1, keepdims=True)) ** power
                expected = np.nan_to_num(sums * given / given.sum(axis=-1, keepdims=True))
                assert found == pytest.approx(expected, abs=1e-9)
    decoded = done("decode $SCORES $LABELS --conllu $GOLD --temperature c.json").out
    assert b"temperature:1.5|labeltemperature:3.0|" in decoded


def test_head_sets(done, put):
    put("c.json", HALF)
    line = "marginals $SCORES --temperature c.json"
    rows, plain = done(f"{line} --head-sets").rows, done(line).rows
    for row, before, narrow in zip(rows, plain, done(f"{line} --head-sets --coverage 0.5").rows, strict=True):
        sets = row.pop("head_sets")
        assert row == before
        for heads, probs, fewer in zip(sets, row["marginals"], narrow["head_sets"], strict=True):
            inside = {head for head, prob in enumerate(probs) if 1 - prob <= 0.7}
            assert set(heads) == inside | {int(np.argmax(probs))}
            assert sorted(heads, key=lambda head: -probs[head]) == heads
            assert len(fewer) <= len(heads)
    text = done(f"{line} --head-sets --conllu $GOLD").out
    assert text.count(b"|HeadSet=") == 54
    put("sets.conllu", text)
    assert b"HeadSet" not in done("decode $SCORES --conllu sets.conllu").out  # those of an earlier run


@pytest.mark.quick
@pytest.mark.parametrize(
    "content",
    [
        *("", "[1]", "hello", "{}"),
        *('{"temperature":0}', '{"temperature":NaN}', '{"temperature":"1"}'),
        '{"temperature":1,"label_temperature":-1}',
        f'{{"temperature":1{"0" * 400}}}',
        '{"temperature":1,"head_sets":[{"coverage":0.9,"threshold":"x"}]}',
        '{"temperature":1,"head_sets":[{"coverage":"x","threshold":1}]}',
        '{"temperature":1,"head_sets":[{"coverage":0.9}]}',
        '{"temperature":1,"head_sets":[{"coverage":0.9,"threshold":2}]}',
        '{"temperature":1,"head_sets":[{"coverage":[],"threshold":1}]}',
    ],
)
def test_what_is_no_calibration(refused, put, content):
    put("c.json", content)
    refused("decode $SCORES --temperature c.json", "c.json")
