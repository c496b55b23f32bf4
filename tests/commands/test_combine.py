"""``deptree combine``: products and mixtures of score files in any layouts, and of trees, beside the library's own."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deptree_cli import read
from tests.commands.sessions import hold_session
from tests.sample import DATA

A = "$DATA/scores.npz:natasha"


@pytest.fixture
def hot(done) -> None:
    """The scores at another temperature, in another layout and order, in hot.npz."""
    done("convert $SCORES --temperature 3 --to torch-struct -o hot.npz")


@pytest.fixture
def doubter(put) -> None:
    """Scores, doubter.npz:synjax, that like gold heads least, but allow every second word no others."""
    arrays = {}
    for name, heads in gold_heads().items():
        scores = np.zeros((len(heads) + 1, len(heads) + 1))
        scores[heads, np.arange(1, len(heads) + 1)] = -3
        for word in range(2, len(heads) + 1, 2):
            scores[np.arange(len(heads) + 1) != heads[word - 1], word] = -np.inf
        arrays[name] = scores
    put("doubter.npz", arrays)


def gold_heads() -> dict[str, list[int]]:
    found = read(str(DATA / "scores.npz"), str(DATA / "gold.conllu"), preset="natasha")
    return {each.id: each.record.known_heads for each in found}


def distributions(path: object = DATA / "scores.npz"):
    preset = {"preset": "natasha"} if path == DATA / "scores.npz" else {}
    return {each.id: each.distribution for each in read(str(path), **preset)}


def test_a_product_is_read_by_other_commands(done, hot) -> None:
    """Log-scores add up; the file says its layout; the sentences of a CoNLL-U file give names and words."""
    done(f"combine {A} hot.npz --weights 0.5,2 $SENTENCES -o both.npz")
    ours, theirs, both = distributions(), distributions("hot.npz"), distributions("both.npz")
    assert list(both) == list(ours)
    for name, found in both.items():
        expected = type(found)(0.5 * ours[name].log_scores + 2 * theirs[name].log_scores)
        np.testing.assert_allclose(found.marginals(), expected.marginals(), atol=1e-9)
    lines = done(f"combine {A} hot.npz $SENTENCES").out
    assert json.loads(lines.splitlines()[1])["conllu"].split("\t")[1] == "She"
    assert done("decode -", stdin=lines).rows[0]["heads"] == [2, 0, 4, 2, 7, 7, 2, 2]


def test_a_mixture_has_the_means_of_marginals_in_every_format(done, hot) -> None:
    more = "hot.npz --method mixture --weights 3,1"
    ours, theirs = distributions(), distributions("hot.npz")
    rows = done(f"combine {A} {more}").rows
    assert done(f"combine $DATA/scores.npz:dep-head,first,log {more}").rows == rows
    assert [row["sent_id"] for row in rows] == list(ours)
    done(f"combine {A} {more} -o m.npz")
    arrays = np.load("m.npz")
    for row in rows:
        name = row["sent_id"]
        expected = 0.75 * ours[name].marginals() + 0.25 * theirs[name].marginals()
        np.testing.assert_allclose(row["marginals"], expected, atol=1e-12)
        np.testing.assert_array_equal(arrays[name], row["marginals"])
        np.testing.assert_array_equal(arrays[f"{name}.standard_errors"], row["standard_errors"])
        assert row["support"] == [row["marginals"][head][word] for word, head in enumerate(row["heads"], 1)]
        assert row["expected_attachment"] == pytest.approx(np.mean(row["support"]))
    text = done(f"combine {A} {more} $SENTENCES").out.decode()
    assert text.startswith("# generator = deptree|combine|method:mixture|files:")
    first = text.splitlines()[4].split("\t")
    assert first[6:8] == ["2", "dep"]
    assert float(first[9].partition("HeadProb=")[2]) == pytest.approx(rows[0]["support"][0], abs=1e-4)


def test_trees_beside_scores(done) -> None:
    ours, gold = distributions(), gold_heads()
    for row in done(f"combine {A} $GOLD $SENTENCES --format jsonl").rows:
        expected = ours[row["sent_id"]].marginals() / 2
        expected[gold[row["sent_id"]], np.arange(1, len(expected))] += 0.5
        np.testing.assert_allclose(row["marginals"], expected, atol=1e-12)


CONLLU = """\
# sent_id = x
# text = cats purr
1\tcats\t_\tNOUN\t_\t_\t{0}\t{1}\t_\tA=b
2\tpurr\t_\tVERB\t_\t_\t{2}\t{3}\t_\t_

"""
SPLIT = CONLLU.format(3, "x", 0, "y").replace(
    "2\tpurr\t_\tVERB\t_\t_\t0", "2\tpu\t_\tX\t_\t_\t3\tz\t_\t_\n3\trr\t_\tX\t_\t_\t0"
)

TREES = {
    "a.conllu": CONLLU.format(2, "nsubj:x", 0, "root"),
    "b.conllu": CONLLU.format(2, "nsubj:x", 1, "root"),
    "split.conllu": SPLIT,
    "sampled.jsonl": '{"sent_id":"x/sample_1","heads":[2,0],"deprels":["nsubj","root"]}\n'
    '{"sent_id":"x/sample_2","heads":[2,0],"deprels":["obj","root"],"count":2}\n',
    "other.jsonl": '{"sent_id":"x","heads":[0,1],"deprels":["root","xcomp"]}\n',
    "label.jsonl": '{"sent_id":"x","heads":[2,0],"deprels":["csubj","root"]}\n',
    "bare.jsonl": '{"sent_id":"x","heads":[2,0]}\n',
    "cycle.jsonl": '{"sent_id":"x","heads":[2,1,2]}\n{"sent_id":"y","heads":[2,0]}\n',
    "open.jsonl": '{"sent_id":"x","heads":[2,0,null]}\n{"sent_id":"y","heads":[2,0]}\n',
    "none.jsonl": '{"sent_id":"x","heads":[null,null]}\n{"sent_id":"y","heads":[2,0]}\n',
}


def test_a_session_of_votes(deptree, golden, put) -> None:
    for name, text in TREES.items():
        put(name, text)
    hold_session(deptree, golden, "combine.txt")


def test_a_fit_finds_weights_for_gold_trees(done, hot, put) -> None:
    """Words without a gold head are not fitted to; --weights of the line gives the same scores."""
    put("some.conllu", (DATA / "gold.conllu").read_text(encoding="utf-8").replace("\t0\troot\t", "\t_\t_\t", 1))
    fit = f"combine {A} hot.npz --fit --gold some.conllu"
    first, second, *_ = done(f"{fit} -o fit.npz").said
    assert first.startswith("deptree: --weights ")
    assert "of 7 gold trees" in first
    assert "1 sentence without a whole gold tree" in second
    done(f"combine {A} hot.npz --weights {first.split()[2].rstrip(':')} -o given.npz")
    theirs = distributions("given.npz")
    for name, found in distributions("fit.npz").items():
        np.testing.assert_allclose(found.marginals(), theirs[name].marginals(), atol=1e-3)
    mixed = done(f"{fit} --method mixture").said[0].split()[2]
    assert sum(map(float, mixed.rstrip(":").split(","))) == pytest.approx(1, abs=1e-3)


def test_what_a_fit_prints_is_what_score_says_of_the_product(done, hot, doubter) -> None:
    """Also of a file whose scores are of no use: it has the lowest weight, and all that it forbids is forbidden."""
    for other in ("hot.npz", "doubter.npz:synjax"):
        lines = done(f"combine {A} {other} --fit --gold $GOLD -o fit.npz").said
        weights, _, printed = (
            lines[0].removeprefix("deptree: --weights ").partition(": mean log-probability of 8 gold trees ")
        )
        likelihood = np.mean([row["log_prob"] for row in done("score fit.npz $GOLD").rows])
        assert likelihood == pytest.approx(float(printed.partition(",")[0]), abs=6e-5)
        done(f"combine {A} {other} --weights {weights} -o given.npz")
        ours, theirs = np.load("fit.npz"), np.load("given.npz")
        assert all((ours[name] == theirs[name]).all() for name in ours.files)
    assert weights.endswith(",1e-09")
    line = "deptree: doubter.npz: lowest weight, 1e-09. Only its forbidden arcs count; 0 in --weights leaves it out."
    assert line in lines


def test_a_fit_without_a_best_weight_ends_at_the_bound(done) -> None:
    """The gold trees are the parser's own best ones: the more weight the better."""
    done("decode $SCORES $SENTENCES -o best.conllu")
    lines = done(f"combine {A} --fit --gold best.conllu -o fit.npz").said
    assert lines[0].startswith("deptree: --weights 16: ")
    assert lines[1].endswith("highest weight, 16. Was this parser trained on these gold trees? Then fit to others.")


@pytest.mark.parametrize("method", ["product", "mixture"])
def test_a_file_of_weight_0_is_left_out(done, put, doubter, method: str) -> None:
    """A sentence in which it has no tree, and one that it lacks, do not end the run."""
    arrays = dict(np.load("doubter.npz"))
    arrays["en-1"][:] = -np.inf
    del arrays["en-2"]
    put("doubter.npz", arrays)
    skipped = slice(method == "product", None)  # the signature
    alone = done(f"combine {A} --method {method} --weights 1").out.splitlines()[skipped]
    for line in (f"{A} doubter.npz:synjax --weights 1,0", f"doubter.npz:synjax {A} --weights 0,1"):
        assert done(f"combine {line} --method {method}").out.splitlines()[skipped] == alone


B = "$DATA/scores_stream.npy:supar"
