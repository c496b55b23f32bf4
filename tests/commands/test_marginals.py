"""Numbers about sentences and trees: `deptree partition`, `marginals`, `expect` and `score`."""

import json
import re
from math import exp

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.quantities import EXPECTED
from tests.oracle import Oracle
from tests.sample import DATA


def test_numbers_are_finite_or_null_with_a_reason(done, put):
    """Two words attach to ROOT only; or every word prefers ROOT by e^1000: almost no spanning tree has one root."""
    put("two.npy", np.array([[0, 2, 3], [0, 0, 0], [0, 0, 0.0]]))
    put("roots.npy", np.where(np.arange(4)[:, None] == 0, 1000.0, np.zeros((4, 4))))
    for line, log_z, of_all, why in (
        ("two.npy --multi-root", None, np.log(6), "no single-root tree"),
        ("roots.npy --from log", pytest.approx(1000 + np.log(9)), 3000, "e^1997.8"),
    ):
        (row,) = done(f"partition {line}").rows
        assert (row["log_z"], row["log_z_multi_root"]) == (log_z, pytest.approx(of_all))
        assert row["samples_per_single_root_tree"] is None
        assert why in row["reason"]
    (summary,) = done("partition two.npy --multi-root --summary").rows
    assert row["single_root_mass"] == summary["single_root_mass_min"] == 0


def test_no_projective_tree(done, put):
    """Words 1 and 2 are governed across each other; or only under two roots, 1 and 4, does nothing cross 4 -> 2."""
    weights = np.zeros((5, 5))
    weights[[0, 3, 4, 0, 3], [1, 1, 2, 3, 4]] = 1
    put("crossing.npy", weights)
    (row,) = done("partition crossing.npy").rows
    assert (row["projective_mass"], row["single_root_mass"]) == (0, 0.5)
    assert "reason" not in row
    weights[0, 4] = weights[4, 3] = 1
    put("crossing.npy", weights)
    (row,) = done("partition crossing.npy --projective --multi-root").rows
    assert (row["log_z"], row["single_root_mass"], row["projective_mass"]) == (None, 0, pytest.approx(1 / 6))
    assert row["reason"] == "no projective single-root tree is possible"


def test_npz_keeps_keys_and_rectangles(done):
    done("marginals $SCORES -o m.npz")
    with np.load("m.npz") as found, np.load(DATA / "scores.npz") as scores:
        assert [(key, found[key].shape) for key in found] == [(key, scores[key].shape) for key in scores]
        for row in done("marginals $SCORES").rows:
            np.testing.assert_array_equal(found[row["sent_id"]], row["marginals"])


def test_sentences_without_heads_get_their_entropy_only(done):
    lines = done("marginals $SCORES $SENTENCES --no-header").out.splitlines(keepends=True)
    added = [line for line in lines if line.startswith(b"# entropy = ")]
    assert len(added) == 8
    assert b"".join(line for line in lines if line not in added) == (DATA / "sentences.conllu").read_bytes()


def test_a_tree_that_cannot_be_has_no_log_probability(done, put):
    """A cycle among the heads, an arc of weight 0: the words' probabilities still stand there."""
    words = "".join(f"{word}\tf\t_\t_\t_\t_\t{head}\tdep\t_\t_\n" for word, head in ((1, 2), (2, 1), (3, 0)))
    put("abc.conllu", f"{words}\n")
    out = done("marginals $FIGURE1 --conllu abc.conllu --no-header").out.decode()
    assert "tree_logprob" not in out
    assert [float(prob) for prob in re.findall("HeadProb=(.*)", out)] == pytest.approx([1 / 3, 1 / 3, 1 / 3], rel=1e-3)


@pytest.mark.quick
@pytest.mark.parametrize("above", [0, 0.5])
@pytest.mark.parametrize("words", ["", "--conllu $GOLD"])
def test_rows_are_the_cells_of_the_matrix_above_p(done, above, words):
    line = f"marginals $SCORES --projective {words}"
    rows = done(f"{line} --format jsonl --above {above}").rows
    assert {tuple(row) for row in rows} == {("sent_id", "word", "form", "head", "head_form", "prob")}
    assert [(row["sent_id"], row["word"], row["head"], row["prob"]) for row in rows] == [
        (each["sent_id"], word, head, prob)
        for each in done(f"{line} --format jsonl").rows
        for word, probs in enumerate(each["marginals"], 1)
        for head, prob in enumerate(probs)
        if prob > above
    ]
    if words:
        assert ("She", "saw") in {(row["form"], row["head_form"]) for row in rows}
        tsv = done(f"{line} --tsv --above {above}").out.decode().splitlines()
        assert tsv == ["\t".join(rows[0]), *("\t".join(map(str, row.values())) for row in rows)]


def test_labels_have_rows_of_their_own(done):
    (first, *_) = done("marginals $SCORES $LABELS").rows
    probs = np.array(first["marginals"])
    rows = [row for row in done("marginals $SCORES $LABELS --above 0.2").rows if row["sent_id"] == "en-1"]
    assert len(rows) == (probs > 0.2).sum() > 5
    for row in rows:
        assert row["prob"] == probs[row["word"] - 1, row["head"], first["labels"].index(row["label"])]


@pytest.mark.parametrize(
    ("preset", "axes"), [("natasha", ("dep-head", "first")), ("torch-struct", ("head-dep", "diagonal"))]
)
def test_json_says_what_the_axes_are(done, preset, axes):
    done(f"convert $SCORES --to {preset} -o own.npz")
    for line in ("marginals own.npz", "marginals own.npz --projective", "expect entropy own.npz --grad"):
        assert {(row["orient"], row["root"]) for row in done(line).rows} == {axes}
    assert {(row["orient"], row["root"]) for row in done("combine $GOLD $GOLD --json").rows} == {("head-dep", "first")}


@pytest.mark.parametrize("name", sorted({*EXPECTED.names} - {"features", "covariance", "ge"}))  # see test_features
def test_every_quantity_with_gradient(done, name):
    needs = {"order": "--order 2", "other": "--other $DATA/scores.npz", "gold": "--gold $GOLD"}
    given = " ".join(needs[each.name] for each in EXPECTED.get(name).inputs)
    ran = done(f"expect {name} $SCORES {given} --grad --header")
    assert f"|expect|quantity:{name}|" in ran.signature
    with np.load(DATA / "scores.npz") as file:
        shapes = {key: file[key].shape for key in file}
    for row in ran.rows[1:]:
        assert list(row)[:6] == ["sent_id", "n", name, "orient", "root", "gradient"]
        gradient = np.array(row["gradient"])
        assert gradient.shape == shapes[row["sent_id"]]
        assert np.isfinite(gradient).all()
        # adding a constant to a word's scores changes no distribution, and a cross-entropy's gradient sums to 0 too
        np.testing.assert_allclose(gradient.sum(axis=1), 0.0, atol=1e-9)


def test_divergence_between_two_files(done, put):
    rng = np.random.default_rng(3)
    for name in ("ours.npz", "theirs.npz"):
        put(name, {"a": rng.random((4, 4)), "b": rng.random((6, 6))})
    line = "ours.npz --from head-dep --other theirs.npz"
    lines = f"kl {line} --grad", f"cross-entropy {line}", "entropy ours.npz --from head-dep"
    for one, two, three in zip(*(done(f"expect {each}").rows for each in lines), strict=True):
        assert one["kl"] == pytest.approx(two["cross-entropy"] - three["entropy"])
        assert one["kl"] > 0.01
        assert np.array(one["gradient_other"]).shape == np.array(one["gradient"]).shape


def test_what_is_infinite_or_unknown_is_null_with_a_reason(done, put):
    scores = np.ones((4, 4))
    put("ours.npy", scores)
    scores[1, 2] = 0.0
    put("theirs.npy", scores)
    (row,) = done("expect kl ours.npy --from head-dep --other theirs.npy --grad").rows
    assert row["kl"] is None
    assert row["reason"].startswith("infinite")
    lines = "expect kl theirs.npy --other ours.npy", "partition theirs.npy", "partition ours.npy"
    (row,), (less,), (more,) = (done(line).rows for line in lines)
    assert row["kl"] > 0.1  # the same scores of fewer trees
    assert row["kl"] == pytest.approx(more["log_z"] - less["log_z"])
    first, second, *others = (DATA / "gold.conllu").read_text(encoding="utf-8").split("\n\n")
    bare = re.sub(r"(?m)^((?:[^\t\n]*\t){6})[^\t\n]*", r"\1_", second)
    put("gold.conllu", "\n\n".join([first, bare, *others]))
    for quantity in ("attachment", "risk"):
        rows = done(f"expect {quantity} $SCORES --gold gold.conllu --grad").rows
        assert rows[0][quantity] > 0
        reason = "no word of the sentence has a gold head"
        assert rows[1] == {"sent_id": "en-2", "n": 8, quantity: None, "reason": reason}


@pytest.fixture
def features(put):
    """Two features per arc, laid out as the scores: its head's number, and 1."""
    with np.load(DATA / "scores.npz") as scores:
        shapes = {key: each.shape for key, each in scores.items()}
    put("features.npz", {key: np.stack([np.indices(each)[1], np.ones(each)], -1) for key, each in shapes.items()})


@pytest.mark.usefixtures("features")
def test_features(done, put):
    """The second feature counts arcs: n whatever the tree, so that it varies with nothing."""
    put("target.txt", b"\xef\xbb\xbf3\r\n4\r\n\r\n")
    line = "$SCORES --features features.npz"
    means, spreads = done(f"expect features {line} --grad").rows, done(f"expect covariance {line}").rows
    for row, spread in zip(means, spreads, strict=True):
        assert row["features"][1] == pytest.approx(row["n"])
        assert np.array(row["gradient"]).shape[0] == 2
        covariance = np.array(spread["covariance"])
        assert covariance[0, 0] >= 0
        np.testing.assert_allclose(covariance[1], 0.0, atol=1e-9)
    for row, mean in zip(done(f"expect ge {line} --target target.txt --grad").rows, means, strict=True):
        assert row["ge"] == pytest.approx(-0.5 * sum((np.array(mean["features"]) - [3, 4]) ** 2))
        assert np.isfinite(row["gradient"]).all()


@pytest.mark.usefixtures("features")
def test_features_of_another_folder(done, tmp_path, monkeypatch):
    """The same name, in one process: the file counts, and not its name."""
    line = "expect features $SCORES --features features.npz"
    before = done(line).rows
    (tmp_path / "other").mkdir()
    with np.load("features.npz") as arrays:
        np.savez("other/features.npz", **{key: 2 * array for key, array in arrays.items()})
    monkeypatch.chdir(tmp_path / "other")
    for one, other in zip(before, done(line).rows, strict=True):
        np.testing.assert_allclose(other["features"], 2 * np.array(one["features"]))


@pytest.mark.parametrize("fmt", ["conllu", "jsonl"])
def test_the_probabilities_of_samples(done, put, fmt):
    """Several trees of a sentence, named X/sample_3 or by X; the gap is that to the best tree."""
    put("s", done(f"sample $SCORES $SENTENCES -k 5 --seed 7 --format {fmt}").out)
    rows = done("score $DATA/scores.npz s --from natasha").rows
    sentences = {each.id: each.distribution for each in read(str(DATA / "scores.npz"), preset="natasha")}
    for row, tree in zip(rows, done("sample $SCORES -k 5 --seed 7").rows, strict=True):
        assert row["sent_id"].startswith(tree["sent_id"])
        sentence = sentences[tree["sent_id"]]
        log_prob = sentence.log_prob(np.array(tree["heads"]))
        assert row["log_prob"] == pytest.approx(log_prob, abs=1e-12)
        assert row["prob"] == pytest.approx(exp(log_prob))
        assert row["gap"] == pytest.approx(sentence.log_prob(sentence.argmax()) - log_prob, abs=1e-12)


def test_trees_that_are_impossible_and_such_that_are_none(deptree, refused, put):
    put("s.jsonl", '{"sent_id": "a", "scores": [[0, 1, 1], [0, 0, 1], [0, 0, 0]]}\n')
    trees = ("a", [0, 1]), ("a", [2, 0]), ("a", [2, 1]), ("b", [0, 1])
    put("t.jsonl", "".join(json.dumps({"sent_id": name, "heads": heads}) + "\n" for name, heads in trees))
    ran = deptree("score s.jsonl t.jsonl --on-error skip")
    assert [(row["prob"], row["log_prob"], row["gap"]) for row in ran.rows] == [(1.0, 0.0, 0.0), (0.0, None, None)]
    assert ran.code == 1
    assert [line.split(": ")[2] for line in ran.said if "skipped: " in line] == ["t.jsonl:3 (a)", "t.jsonl:4 (b)"]
    put("few.jsonl", json.dumps({"sent_id": "en-4", "heads": [2, 0, 1], "deprels": ["root"]}) + "\n")
    refused("score $DATA/scores.npz few.jsonl --from natasha", "few.jsonl:1 (en-4): there are 3 heads and 1 label")


def test_labels_count_where_there_are_scores_of_them(done, put):
    """Against all labelled trees of the 3 words of en-4: its gold tree, one label unknown, one missing, none."""
    given = {"labels": str(DATA / "labels.json"), "label_scores": str(DATA / "label_scores.npz")}
    (sentence,) = (each for each in read(str(DATA / "scores.npz"), preset="natasha", **given) if each.id == "en-4")
    labels, trees = sentence.distribution.labels, Oracle(sentence.distribution)
    of_all = [labels.of(tree) for tree in trees.trees]
    best = max(log_prob + of.max(axis=1).sum() for log_prob, of in zip(trees.log_probs, of_all, strict=True))
    names = [labels.names[number] for number in labels.best(np.array([[2, 0, 1]]))[0]]
    cases = [names, ["no-such", *names[1:]], [names[0], names[1], None], None]
    lines = [{"sent_id": "en-4", "heads": [2, 0, 1]} | ({"deprels": each} if each else {}) for each in cases]
    put("t.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    rows = done("score $DATA/scores.npz t.jsonl --from natasha $LABELS").rows
    at = trees.trees.tolist().index([2, 0, 1])
    own = of_all[at].max(axis=1)
    assert [row["label_log_prob"] for row in rows] == pytest.approx([own.sum(), None, own[:2].sum(), 0.0], abs=1e-12)
    gap = best - trees.log_probs[at] - own.sum()
    assert [row["gap"] for row in rows] == pytest.approx([gap, None, gap, gap], abs=1e-12)
    assert gap > 0.1
