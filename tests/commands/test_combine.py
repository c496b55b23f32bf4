"""``deptree combine``: products and mixtures of score files in any layouts, and of trees, beside the library's own."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deptree_cli import read
from tests.sample import DATA, SENTENCES

A = f"{DATA / 'scores.npz'}:natasha"
GOLD = DATA / "gold.conllu"


@pytest.fixture
def hot(done, put) -> str:
    """The scores at another temperature, in another layout and order."""
    done(
        "convert", DATA / "scores.npz", "--from", "natasha", "--temperature", 3, "--to", "torch-struct", "-o", "hot.npz"
    )
    return "hot.npz"


def distributions(path, **how):
    return {each.id: each.distribution for each in read(str(path), **how)}


def test_a_product_is_read_by_other_commands(done, hot) -> None:
    """Log-scores add up; the file says its layout; the sentences of a CoNLL-U file give names and words."""
    done("combine", A, hot, "--weights", "0.5,2", *SENTENCES, "-o", "both.npz")
    ours, theirs, both = (
        distributions(DATA / "scores.npz", preset="natasha"),
        distributions(hot),
        distributions("both.npz"),
    )
    assert list(both) == list(ours)
    for name, found in both.items():
        expected = type(found)(0.5 * ours[name].log_scores + 2 * theirs[name].log_scores)
        np.testing.assert_allclose(found.marginals(), expected.marginals(), atol=1e-9)
    lines = done("combine", A, hot, *SENTENCES).out
    assert json.loads(lines.splitlines()[1])["forms"][0] == "She"
    assert done("decode", "-", stdin=lines).rows[0]["heads"] == [2, 0, 4, 2, 7, 7, 2, 2]


def test_a_mixture_has_the_means_of_marginals_in_every_format(done, hot) -> None:
    line = ("combine", A, hot, "--method", "mixture", "--weights", "3,1")
    ours, theirs = distributions(DATA / "scores.npz", preset="natasha"), distributions(hot)
    rows = done(*line).rows
    assert done(line[0], A.replace(":natasha", ":dep-head,first,log"), *line[2:]).rows == rows
    assert [row["sent_id"] for row in rows] == list(ours)
    done(*line, "-o", "m.npz")
    arrays = np.load("m.npz")
    for row in rows:
        name = row["sent_id"]
        expected = 0.75 * ours[name].marginals() + 0.25 * theirs[name].marginals()
        np.testing.assert_allclose(row["marginals"], expected, atol=1e-12)
        np.testing.assert_array_equal(arrays[name], row["marginals"])
        np.testing.assert_array_equal(arrays[f"{name}.standard_errors"], row["standard_errors"])
        assert row["support"] == [row["marginals"][head][word] for word, head in enumerate(row["heads"], 1)]
        assert row["expected_attachment"] == pytest.approx(np.mean(row["support"]))
    text = done(*line, *SENTENCES).out.decode()
    assert text.startswith("# generator = deptree|combine|method:mixture|files:")
    first = text.splitlines()[4].split("\t")
    assert first[6:8] == ["2", "dep"]
    assert float(first[9].partition("HeadProb=")[2]) == pytest.approx(rows[0]["support"][0], abs=1e-4)


def test_trees_are_votes_with_labels(done, put) -> None:
    """Samples of a sentence stand together; a single file of trees needs no scores at all."""
    put(
        "a.jsonl",
        '{"sent_id":"x/sample_1","heads":[2,0],"deprels":["nsubj","root"]}\n'
        '{"sent_id":"x/sample_2","heads":[2,0],"deprels":["obj","root"],"count":2}\n',
    )
    put("b.jsonl", '{"sent_id":"x","heads":[0,1],"deprels":["root","xcomp"]}\n')
    (row,) = done("combine", "a.jsonl", "b.jsonl", "--weights", "0.75,0.25").rows
    assert (row["heads"], row["deprels"], row["support"]) == ([2, 0], ["obj", "root"], [0.75, 0.75])
    (alone,) = done("combine", "a.jsonl").rows
    assert alone["support"] == [1.0, 1.0]
    put("c.jsonl", '{"sent_id":"x","heads":[2,0],"deprels":["csubj","root"]}\n')
    for weights, label in (("0.3,0.7", "csubj"), ("0.7,0.3", "obj")):
        assert done("combine", "a.jsonl", "c.jsonl", "--weights", weights).rows[0]["deprels"] == [label, "root"]
    (more,) = done("combine", "b.jsonl", "a.jsonl", "--weights", "0.6,0.4").rows
    assert (more["heads"], more["deprels"], more["support"]) == ([0, 1], ["root", "xcomp"], [0.6, 0.6])


def test_trees_beside_scores(done) -> None:
    rows = done("combine", A, GOLD, *SENTENCES, "--format", "jsonl").rows
    ours = distributions(DATA / "scores.npz", preset="natasha")
    gold = {each.id: each.record.known_heads for each in read(str(DATA / "scores.npz"), str(GOLD), preset="natasha")}
    for row in rows:
        expected = ours[row["sent_id"]].marginals() / 2
        expected[gold[row["sent_id"]], np.arange(1, len(expected))] += 0.5
        np.testing.assert_allclose(row["marginals"], expected, atol=1e-12)


def test_a_fit_finds_weights_for_gold_trees(done, hot, put) -> None:
    """Words without a gold head are not fitted to; --weights of the line gives the same scores."""
    text = GOLD.read_text(encoding="utf-8").replace("\t0\troot\t", "\t_\t_\t", 1)
    put("some.conllu", text)
    fitted = done("combine", A, hot, "--fit", "--gold", "some.conllu", "-o", "fit.npz")
    weights = fitted.said[0].split()[2].rstrip(":")
    assert fitted.said[0].startswith("deptree: --weights ")
    assert "of 7 gold trees" in fitted.said[0]
    assert "1 sentence without a whole gold tree" in fitted.said[1]
    done("combine", A, hot, "--weights", weights, "-o", "given.npz")
    ours, theirs = distributions("fit.npz"), distributions("given.npz")
    for name in ours:
        np.testing.assert_allclose(ours[name].marginals(), theirs[name].marginals(), atol=1e-3)
    mixed = done("combine", A, hot, "--fit", "--gold", "some.conllu", "--method", "mixture")
    assert sum(map(float, mixed.said[0].split()[2].rstrip(":").split(","))) == pytest.approx(1, abs=1e-3)


@pytest.fixture
def doubter(put) -> str:
    """Scores that like gold heads least, but allow every second word no others."""
    gold = {each.id: each.record.known_heads for each in read(str(DATA / "scores.npz"), str(GOLD), preset="natasha")}
    arrays = {}
    for name, heads in gold.items():
        scores = np.zeros((len(heads) + 1, len(heads) + 1))
        scores[heads, np.arange(1, len(heads) + 1)] = -3
        for word in range(2, len(heads) + 1, 2):
            scores[np.arange(len(heads) + 1) != heads[word - 1], word] = -np.inf
        arrays[name] = scores
    np.savez("doubter.npz", **arrays)
    return "doubter.npz:synjax"


def mean_log_prob(rows) -> float:
    return float(np.mean([row["log_prob"] for row in rows]))


def test_what_a_fit_prints_is_what_score_says_of_the_product(done, hot, doubter) -> None:
    """Also of a file whose scores are of no use: it has the lowest weight, and all that it forbids is forbidden."""
    for other in (hot, doubter):
        lines = done("combine", A, other, "--fit", "--gold", GOLD, "-o", "fit.npz").said
        weights, _, printed = lines[0].partition(": mean log-probability of 8 gold trees ")
        likelihood = float(printed.partition(",")[0])
        assert mean_log_prob(done("score", "fit.npz", GOLD).rows) == pytest.approx(likelihood, abs=6e-5)
        weights = weights.removeprefix("deptree: --weights ")
        assert done("combine", A, other, "--weights", weights, "-o", "given.npz").code == 0
        ours, theirs = np.load("fit.npz"), np.load("given.npz")
        assert all((ours[name] == theirs[name]).all() for name in ours.files)
    assert weights.endswith(",1e-09")
    line = "deptree: doubter.npz: lowest weight, 1e-09. Only its forbidden arcs count; 0 in --weights leaves it out."
    assert line in lines


def test_a_fit_without_a_best_weight_ends_at_the_bound(done) -> None:
    """The gold trees are the parser's own best ones: the more weight the better."""
    done("decode", A.partition(":")[0], "--from", "natasha", *SENTENCES, "-o", "best.conllu")
    lines = done("combine", A, "--fit", "--gold", "best.conllu", "-o", "fit.npz").said
    assert lines[0].startswith("deptree: --weights 16: ")
    assert lines[1].endswith("highest weight, 16. Was this parser trained on these gold trees? Then fit to others.")


@pytest.mark.parametrize("method", ["product", "mixture"])
def test_a_file_of_weight_0_is_left_out(done, doubter, method: str) -> None:
    """A sentence in which it has no tree, and one that it lacks, do not end the run."""
    arrays = dict(np.load("doubter.npz"))
    arrays["en-1"][:] = -np.inf
    del arrays["en-2"]
    np.savez("doubter.npz", **arrays)
    for weights, files in (("1,0", (A, doubter)), ("0,1", (doubter, A))):
        found = done("combine", *files, "--method", method, "--weights", weights).out
        alone = done("combine", A, "--method", method, "--weights", "1").out
        lines = slice(method == "product", None)  # after the signature
        assert found.splitlines()[lines] == alone.splitlines()[lines]


CONLLU = """\
# sent_id = x
# text = cats purr
1\tcats\t_\tNOUN\t_\t_\t{0}\t{1}\t_\tA=b
2\tpurr\t_\tVERB\t_\t_\t{2}\t{3}\t_\t_

"""


def test_votes_in_conllu_are_combined_as_conllu(done, put) -> None:
    """As the first file has the sentences; its own bytes stay."""
    first = put("a.conllu", CONLLU.format(2, "nsubj:x", 0, "root"))
    others = [put(f"{at}.conllu", CONLLU.format(2, "nsubj:x", head, "root")) for at, head in enumerate((0, 1))]
    text = done("combine", first, *others, "--no-header").out.decode()
    expected = CONLLU.format(2, "nsubj:x", 0, "root").replace("A=b", "A=b|HeadProb=1")
    assert text == expected.replace("root\t_\t_", "root\t_\tHeadProb=0.6667")
    assert done("combine", first, *others, "--format", "jsonl").rows[0]["heads"] == [2, 0]
    put("b.jsonl", '{"sent_id":"x","heads":[2,0]}\n')
    assert done("combine", first, "b.jsonl").rows[0]["support"] == [1, 1]


def test_votes_need_be_no_trees(done, put) -> None:
    """A cycle is two votes, an open head none; a word that a file divides otherwise has none from there."""
    put("a.jsonl", '{"sent_id":"x","heads":[2,1,2]}\n{"sent_id":"y","heads":[2,0]}\n')
    put("b.jsonl", '{"sent_id":"x","heads":[2,0,null]}\n{"sent_id":"y","heads":[2,0]}\n')
    ran = done("combine", "a.jsonl", "b.jsonl")
    assert (ran.rows[0]["heads"], ran.rows[0]["support"]) == ([2, 0, 2], [1, 0.5, 0.5])
    assert "deptree: 1 head missing: no vote" in ran.said
    split = CONLLU.format(3, "x", 0, "y").replace(
        "2\tpurr\t_\tVERB\t_\t_\t0\ty", "2\tpu\t_\tX\t_\t_\t3\tz\t_\t_\n3\trr\t_\tX\t_\t_\t0\ty"
    )
    files = put("a.conllu", CONLLU.format(2, "nsubj", 0, "root")), put("b.conllu", split)
    ran = done("combine", *files, "--format", "jsonl")
    assert (ran.rows[0]["heads"], ran.rows[0]["deprels"]) == ([2, 0], ["nsubj", "root"])
    assert ran.rows[0]["support"] == [0.5, 0.5]
    assert "deptree: 2 heads in words that files divide otherwise: no vote" in ran.said


def test_a_sentence_without_a_vote_has_no_tree(deptree, put) -> None:
    """None is made up: it is an error, and may be left out."""
    put("a.jsonl", '{"sent_id":"x","heads":[null,null]}\n{"sent_id":"y","heads":[2,0]}\n')
    ran = deptree("combine", "a.jsonl", "a.jsonl")
    assert (ran.code, ran.out) == (2, b"")
    assert "(x): no file has a HEAD for any of its words. " in ran.said[-1]
    ran = deptree("combine", "a.jsonl", "a.jsonl", "--on-error", "skip")
    assert [row["sent_id"] for row in ran.rows] == ["y"]
