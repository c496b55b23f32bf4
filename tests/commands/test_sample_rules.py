"""Rules that only whole trees decide: `sample` and `marginals` draw until they obey, `decode --relax` gives them up."""

import re
from collections import Counter

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.errors import DeptreeError
from tests.sample import DATA

OWN = "$SCORES $LABELS --temperature 2 --rules own.toml"  # hot, so that many trees break rules
TEXT = (DATA / "sentences.conllu").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def rules(put):
    """Two subjects of one head, and words below punctuation; subjects that stand left of their head; spans."""
    put("own.toml", 'at-most-one = ["nsubj"]\nleaf = ["punct"]\n')
    put("mask.toml", 'mask = [{ label = "nsubj", direction = "right" }]\n')
    put("spans.tsv", "en-1\t5\t7\nen-2\t2\t4\n")
    put("spans.conllu", TEXT.replace("Also=head=4", "Span=3-7", 1))


def obeys(row):
    subjects = Counter(head for head, label in zip(row["heads"], row["deprels"], strict=True) if label == "nsubj")
    return max(subjects.values(), default=0) <= 1 and not any(
        head and row["deprels"][head - 1] == "punct" for head in row["heads"]
    )


def hangs_together(tree, words):
    return sum(tree[word - 1] not in words for word in words) == 1


def test_all_trees_obey_and_tell_what_share_does(done):
    plain = done("sample $SCORES $LABELS --temperature 2 -k 200 --seed 7").rows
    found = done(f"sample {OWN} -k 200 --seed 7")
    assert (len(found.rows), found.said) == (8 * 200, [])
    assert all(map(obeys, found.rows))
    for name in {row["sent_id"] for row in plain}:
        share = np.mean([obeys(row) for row in plain if row["sent_id"] == name])
        (acceptance,) = {row["acceptance"] for row in found.rows if row["sent_id"] == name}
        assert acceptance == float(f"{acceptance:.4g}")
        assert abs(acceptance - share) < 0.2  # 4 standard errors of a difference of two shares of 200
    assert not all(map(obeys, plain))


def test_all_formats_hold_the_same_trees(done):
    line = f"sample {OWN} $SENTENCES -k 30 --seed 7"
    rows = done(f"{line} --format jsonl").rows
    text = done(f"{line} --no-header").out.decode()
    assert re.findall("# acceptance = (.*)", text) == [f"{row['acceptance']:g}" for row in rows]
    arcs = [arc for row in rows for arc in zip(map(str, row["heads"]), row["deprels"], strict=True)]
    assert re.findall(r"(?m)^\d+\t(?:.*?\t){5}(.*?)\t(.*?)\t", text) == arcs
    done(f"{line} -o heads.npz")
    with np.load("heads.npz") as heads:
        for name in heads:
            assert heads[name].tolist() == [row["heads"] for row in rows if row["sent_id"] == name]


def test_spans_need_no_labels_and_concern_their_sentences_only(done):
    found = done("sample $SCORES --temperature 4 --rules spans.tsv -k 50 --seed 7").rows
    assert "deprels" not in found[0]
    for sent_id, span in {"en-1": range(5, 8), "en-2": range(2, 5)}.items():
        assert all(hangs_together(row["heads"], span) for row in found if row["sent_id"] == sent_id)
    assert all((row["acceptance"] < 1) == (row["sent_id"] in ("en-1", "en-2")) for row in found)
    exact = {row["sent_id"]: row for row in done("marginals $SCORES").rows}
    for row in done("marginals $SCORES --rules spans.tsv --seed 7").rows:
        assert ("standard_errors" in row) == (row["sent_id"] in ("en-1", "en-2"))
        assert "standard_errors" in row or row == exact[row["sent_id"]]
    line = "sample $SCORES -k 20 --seed 7 --format jsonl --conllu spans.conllu"
    plain, ruled = (done(each).rows for each in (line, f"{line} --rules misc"))
    assert plain[20:] == ruled[20:]
    assert all(hangs_together(row["heads"], range(3, 8)) for row in ruled[:20])


def test_masks_alone_need_no_rejection(done):
    line = "$SCORES $LABELS --temperature 2 --rules mask.toml"
    assert "acceptance" not in done(f"sample {line} --seed 7").rows[0]
    ran = done(f"marginals {line}")
    assert "standard_errors" not in ran.rows[0]
    assert ran.said == []


def test_rules_that_no_tree_obeys_end_with_advice(deptree, refused, put):
    put("none.toml", '[[below]]\nlabel = "root"\nallow = []\n')  # nothing below the root
    says = "(en-1): 0 of 24,576 drawn trees obey the rules, fewer than 1 in 10,000."
    line = "sample $SCORES $LABELS --rules none.toml"
    refused(f"{line} --seed 7", says, "deptree decode", "--temperature", "--projective")
    few = deptree(f"{line} --on-error skip --shard 1/4")
    assert (few.code, few.out) == (1, b"")


def test_marginals_are_shares_with_standard_errors_and_say_so(done):
    ran = done(f"marginals {OWN} --seed 7 -k 400 --header")
    assert "deptree: where rules need whole trees, marginals are shares of 400 drawn trees (-k)" in ran.said
    assert "|rules:own" in ran.signature
    assert "|size:400|seed:7|" in ran.signature
    drawn = done(f"sample {OWN} --seed 7 -k 400").rows
    for row in ran.rows[1:]:
        found, errors = np.array(row["marginals"]), np.array(row["standard_errors"])
        assert found.shape == (row["n"], row["n"] + 1, len(row["labels"]))
        np.testing.assert_allclose(found.sum(axis=(1, 2)), 1)  # natasha: rows are dependents
        np.testing.assert_allclose(errors, np.sqrt(found * (1 - found) / 399), atol=1e-12)
        assert row["iterations"] == 400
        trees = [each for each in drawn if each["sent_id"] == row["sent_id"]]
        assert row["acceptance"] == trees[0]["acceptance"]
        arcs = [(tree["heads"][0], row["labels"].index(tree["deprels"][0])) for tree in trees]
        assert found[0][arcs[0]] == pytest.approx(np.mean([arc == arcs[0] for arc in arcs]))


def test_marginals_as_conllu(done):
    ran = done(f"marginals {OWN} --conllu $GOLD --seed 7 -q")
    assert ran.said == []
    assert all(part in ran.out for part in (b"|size:1000|seed:7|", b"HeadProb=", b"LabelProb="))
    assert b"# tree_logprob" not in ran.out  # which would be of trees that break rules too


def test_what_arcs_decide_reaches_other_commands_by_their_scores(done, put):
    put("heads.conllu", TEXT.replace("Also=head=4", "HeadIn=4", 1))
    done("convert $SCORES $LABELS -o out.npz --rules misc --conllu heads.conllu")
    given = "$SCORES $LABELS --rules mask.toml"
    done(f"convert {given} --to-labels labels.json -o masked.npz")
    direct = done(f"marginals {given}").rows
    for row, other in zip(done("marginals masked.npz --labels labels.json").rows, direct, strict=True):
        found, expected = (np.array(each["marginals"]) for each in (row, other))
        same = [other["labels"].index(label) for label in row["labels"]]
        np.testing.assert_allclose(found[:, 1:].swapaxes(0, 1), expected[..., same], atol=1e-5)
    for row in done("swor masked.npz --labels labels.json -k 5 --seed 7").rows:
        arcs = enumerate(zip(row["heads"], row["deprels"], strict=True), 1)
        assert not any(label == "nsubj" and head < word for word, (head, label) in arcs)


# s0 obeys; of s1 word 1 must and must not be below word 2; of s2 words 1 and 3 must be subjects of word 2, which only a
# whole tree breaks; of s3 a span is left by two words.
ASKED = {
    "s0": {},
    "s1": {1: "HeadIn=2|NotHead=2", 5: "HeadIn=2"},
    "s2": {1: "HeadIn=2|DeprelIn=nsubj", 3: "HeadIn=2|DeprelIn=nsubj"},
    "s3": {1: "HeadIn=4|Span=1-3", 2: "HeadIn=5"},
}
CONFLICTS = {
    "s1": "HeadIn of word 1 and NotHead of word 1 together",
    "s2": "one-subject, HeadIn of word 1, DeprelIn of word 1, HeadIn of word 3 and DeprelIn of word 3 together",
    "s3": "HeadIn of word 1, HeadIn of word 2 and the span of words 1 to 3 together",
}
READING = "s.npz --from head-dep,log --labels l.txt --conllu s.conllu"
ALL = f"decode {READING} --rules r.toml --rules misc"


@pytest.fixture
def given(put):
    rng = np.random.default_rng(1)
    scores = {name: rng.normal(size=(6, 6, 5)) for name in ASKED}
    put("l.txt", "root\nnsubj\nobj\ndet\npunct\n")
    put("r.toml", 'at-most-one = [{name = "one-subject", label = "nsubj"}]\n')

    def write(*names):
        put("s.npz", {name: scores[name] for name in names})
        text = ""
        for name in names:
            misc = (ASKED[name].get(i, "_") for i in range(1, 6))
            words = "".join(f"{i}\tw{i}\t_\tX\t_\t_\t_\t_\t_\t{each}\n" for i, each in enumerate(misc, 1))
            text += f"# sent_id = {name}\n{words}\n"
        put("s.conllu", text)
        return text

    write(*ASKED)
    return write


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "line"),
    [
        *(("s1", line) for line in ("sample -k 2", "marginals", "convert -o o.npz")),
        *((name, f"decode {how}") for name in CONFLICTS for how in ("", "-k 2", "--method mbr", "--jobs 2")),
    ],
)
def test_every_command_names_what_leaves_no_tree(name, line, given, deptree):
    """Only `decode` advises to relax: no other can."""
    given(name)
    line = f"{line} {READING} --rules misc {'--rules r.toml' * ('convert' not in line)}"
    advice = ", or pass --relax" * ("decode" in line)
    says = f"s.npz[{name}] ({name}): no tree obeys {CONFLICTS[name]}. Give one up{advice}."
    ran = deptree(line)
    assert (ran.code, ran.said[-1]) == (2, f"deptree: {says}")
    skipped = deptree(f"{line} --on-error skip")
    assert (skipped.code, skipped.out.count(b"sent_id")) == (1, 0)
    assert f"deptree: skipped: {says}" in skipped.said


def test_relaxed_sentences_are_named_and_counted(given, done):
    ran = done(f"{ALL} --relax")
    names = re.findall("# relaxed = (.*)\n# relaxed_fewest = yes\n", ran.out.decode())
    for name, conflict in zip(names, CONFLICTS.values(), strict=True):
        assert name in conflict
        assert ";" not in name
    told = [f"deptree: relaxed: s.npz[s{i}] (s{i}): {name}" for i, name in enumerate(names, 1)]
    assert ran.said[-4:] == [*told, "deptree: 3 sentences relaxed"]
    assert "|relax:yes|" in ran.signature
    quiet = done(f"{ALL} --relax --format jsonl -q")
    assert "relaxed" not in quiet.err
    assert quiet.rows[0]["relaxed"] is quiet.rows[0]["relaxed_fewest"] is None
    assert [(row["relaxed"], row["relaxed_fewest"]) for row in quiet.rows[1:]] == [([name], True) for name in names]
    given("s0")
    assert "relaxed" not in done(f"{ALL} --format jsonl").rows[0]


@pytest.mark.parametrize("method", ["mst", "mbr"])
def test_k_best_of_a_relaxed_sentence(method, given, done):
    """The first is the one that comes alone; distinct trees, the same bytes for any jobs."""
    line = f"{ALL} --relax --method {method} --format jsonl -q"
    alone, several, by_two = (done(f"{line} {more}") for more in ("", "-k 3", "-k 3 --jobs 2"))
    assert [row["heads"] for row in several.rows if row["sample"] == 1] == [row["heads"] for row in alone.rows]
    assert len({(row["sent_id"], *row["heads"]) for row in several.rows}) == len(several.rows) > 6
    assert by_two.out == several.out


def test_python_relaxes_as_the_command_does(given, done):
    asked = {"labels": "l.txt", "preset": "head-dep,log", "rules": ["r.toml", "misc"], "conllu": "s.conllu"}
    rows, found = done(f"{ALL} --relax --format jsonl").rows, list(read("s.npz", relax=True, **asked))
    assert [each.given_up and list(each.given_up.names) for each in found] == [row["relaxed"] for row in rows]
    assert [each.constrained.best_trees()[0].heads.tolist() for each in found] == [row["heads"] for row in rows]
    with pytest.raises(DeptreeError, match=r"no tree obeys HeadIn of word 1 and .* or pass `relax=True`\.$"):
        list(read("s.npz", **asked))


def test_fixed_heads_are_not_given_up(given, done, put):
    put("s.conllu", given("s1").replace("\t_\t_\t_\tHeadIn=2\n", "\t3\t_\t_\tHeadIn=2\n"))
    (row,) = done(f"{ALL} --fix-heads --relax --format jsonl").rows
    assert row["heads"][4] == 3
    assert len(row["relaxed"]) == 2
    assert "HeadIn of word 5" in row["relaxed"]


def test_a_budget_that_ends_says_that_fewer_may_be_enough(given, done):
    """With one maximum tree nobody knows whether the rule that its tree breaks is the fewest."""
    given("s2")
    ran = done(f"{ALL} --relax --budget 1 --format jsonl")
    assert ran.rows[0]["relaxed_fewest"] is False
    assert "(fewer may be enough: raise --budget)" in ran.err


def test_projective_trees_that_cannot_obey_advise_others(given, refused, put):
    """Words 1 and 2 below 3 and 4, and 3 and 4 below 5, cross; without --projective they obey."""
    given("s0")
    put("c.tsv", "s0\t1\tHeadIn\t3\ns0\t2\tHeadIn\t4\n")
    says = "no tree obeys HeadIn of word 1 and HeadIn of word 2 together. Give one up, or pass --relax, or leave out"
    refused(f"decode {READING} --rules c.tsv --projective -q", f"{says} --projective.")
