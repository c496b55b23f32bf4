"""``deptree expect``: quantities, gradients, and what each of them needs."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.quantities import EXPECTED
from tests.sample import DATA, SCORES

GOLD = ("--gold", DATA / "gold.conllu")
NEEDS = {"order": ("--order", 2), "other": ("--other", DATA / "scores.npz"), "gold": GOLD}
SIMPLE = [entry for entry in EXPECTED if {each.name for each in entry.inputs} <= set(NEEDS)]


def test_quantities_with_other_needs_have_tests_of_their_own():
    assert {entry.name for entry in EXPECTED if entry not in SIMPLE} == {"features", "covariance", "ge"}


@pytest.mark.parametrize("entry", SIMPLE, ids=lambda entry: entry.name)
def test_every_quantity_with_gradient(done, entry):
    name = entry.name
    given = (option for needed in entry.inputs for option in NEEDS[needed.name])
    ran = done("expect", name, *SCORES, *given, "--grad", "--header")
    assert f"|expect|quantity:{name}|" in ran.signature
    shapes = {key: np.array(value).shape for key, value in np.load(DATA / "scores.npz").items()}
    for row in ran.rows[1:]:
        assert list(row)[:6] == ["sent_id", "n", name, "orient", "root", "gradient"]
        gradient = np.array(row["gradient"])
        assert gradient.shape == shapes[row["sent_id"]]
        assert np.isfinite(gradient).all()
        # adding a constant to a word's scores changes no distribution, and a cross-entropy's gradient sums to 0 too
        np.testing.assert_allclose(gradient.sum(axis=1), 0.0, atol=1e-9)


def test_divergence_between_two_files(done, put):
    rng = np.random.default_rng(3)
    ours, theirs = ({"a": rng.random((4, 4)), "b": rng.random((6, 6))} for _ in range(2))
    put("ours.npz", ours)
    put("theirs.npz", theirs)
    given = ("ours.npz", "--from", "head-dep", "--other", "theirs.npz")
    kl, cross = done("expect", "kl", *given, "--grad").rows, done("expect", "cross-entropy", *given).rows
    entropies = done("expect", "entropy", "ours.npz", "--from", "head-dep").rows
    for one, two, three in zip(kl, cross, entropies, strict=True):
        assert one["kl"] == pytest.approx(two["cross-entropy"] - three["entropy"])
        assert one["kl"] > 0.01
        assert np.array(one["gradient_other"]).shape == np.array(one["gradient"]).shape
    same = done("expect", "kl", "ours.npz", "--from", "head-dep", "--other", "ours.npz").rows
    assert [row["kl"] for row in same] == [0.0, 0.0]


def test_an_infinite_divergence_says_why(done, put):
    scores = np.ones((4, 4))
    put("ours.npy", scores)
    scores[1, 2] = 0.0
    put("theirs.npy", scores)
    (row,) = done("expect", "kl", "ours.npy", "--from", "head-dep", "--other", "theirs.npy", "--grad").rows
    assert row["kl"] is None
    assert row["reason"].startswith("infinite")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("kl",), "kl needs --other FILE"),
        (("renyi",), "renyi needs --order NUMBER"),
        (("risk",), "risk needs --gold FILE"),
        (("entropy", "--order", 2), "entropy does not use --order"),
        (("risk", *GOLD, "--other", "x"), "risk does not use --other"),
        (("entropi",), "there is no quantity 'entropi'"),
        (("kl", "--other", DATA / "one.npy"), "the scores have shape (9, 9), those at"),
        (("kl", "--other", "nowhere.npz"), "nowhere.npz"),
        (("renyi", "--order", 0), "--order"),
    ],
)
def test_what_is_missing_or_too_much(deptree, args, said):
    ran = deptree("expect", args[0], *SCORES, *args[1:])
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.said) == 1


@pytest.fixture
def features(put):
    """Two features per arc, laid out as the scores: its head's number, and 1."""
    with np.load(DATA / "scores.npz") as scores:
        arrays = {
            key: np.stack([np.tile(np.arange(s.shape[1]), (len(s), 1)), np.ones(s.shape)], -1)
            for key, s in scores.items()
        }
    return put("features.npz", arrays)


def test_features(done, features, put):
    """The second feature counts arcs: n whatever the tree, so that it varies with nothing."""
    put("target.txt", b"\xef\xbb\xbf3\r\n4\r\n\r\n")
    given = (*SCORES, "--features", features)
    means = done("expect", "features", *given, "--grad").rows
    for row, spread in zip(means, done("expect", "covariance", *given).rows, strict=True):
        assert row["features"][1] == pytest.approx(row["n"])
        assert np.array(row["gradient"]).shape[0] == 2
        covariance = np.array(spread["covariance"])
        assert covariance[0, 0] >= 0
        np.testing.assert_allclose(covariance[1], 0.0, atol=1e-9)
    for row, mean in zip(done("expect", "ge", *given, "--target", "target.txt", "--grad").rows, means, strict=True):
        assert row["ge"] == pytest.approx(-0.5 * sum((np.array(mean["features"]) - [3, 4]) ** 2))
        assert np.isfinite(row["gradient"]).all()


def test_features_of_another_folder(done, features, put, tmp_path, monkeypatch):
    """The same name, in one process: the file counts, and not its name."""
    before = done("expect", "features", *SCORES, "--features", "features.npz").rows
    with np.load(features) as arrays:
        doubled = {key: 2 * array for key, array in arrays.items()}
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    np.savez("features.npz", **doubled)
    for one, other in zip(before, done("expect", "features", *SCORES, "--features", "features.npz").rows, strict=True):
        np.testing.assert_allclose(other["features"], 2 * np.array(one["features"]))


def test_features_that_do_not_fit(deptree, put, features):
    put("small.npz", {"en-1": np.ones((2, 3, 1))})
    put("nan.npz", {"en-1": np.full((8, 9, 1), np.nan)})
    put("one.npy", np.ones(3))
    put("words.txt", "a\n")
    put("three.txt", "1\n2\n3\n")
    put("blank.txt", "1\n\n2\n")
    for args, said in [
        (("features", "--features", "nowhere.npz"), "nowhere.npz"),
        (("features", "--features", "one.npy"), "is a single array"),
        (("features", "--features", "small.npz"), "the features have shape (2, 3, 1), the scores of arcs (8, 9)"),
        (("features", "--features", "nan.npz"), "not a finite number"),
        (("covariance", "--features", features, "--grad"), "covariance has no --grad"),
        (("ge", "--features", features), "ge needs --target"),
        (("ge", "--features", features, "--target", "words.txt"), "is not a number"),
        (("ge", "--features", features, "--target", "blank.txt"), "blank.txt:2: '' is not a number"),
        (("ge", "--features", features, "--target", "three.txt"), "the numbers differ: 2 features, 3 targets"),
    ]:
        ran = deptree("expect", args[0], *SCORES, *args[1:])
        assert ran.code == 2, args
        assert said in ran.err
        assert len(ran.said) == 1
