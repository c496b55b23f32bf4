"""``deptree expect``: quantities, gradients, and what each of them needs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.expectations import QUANTITIES

DATA = Path(__file__).parents[2] / "sample_data"
SCORES = (DATA / "scores.npz", "--from", "natasha")
GOLD = ("--conllu", DATA / "gold.conllu")
NEEDS = {"alpha": ("--alpha", 2), "other": ("--other", DATA / "scores.npz"), "gold": GOLD, None: ()}


@pytest.mark.parametrize("name", QUANTITIES)
def test_every_quantity_with_gradient(done, name):
    ran = done("expect", name, *SCORES, *NEEDS[QUANTITIES[name].needed], "--grad")
    assert f"|expect|quantity:{name}|" in ran.signature
    shapes = {key: np.array(value).shape for key, value in np.load(DATA / "scores.npz").items()}
    for row in ran.rows:
        assert list(row)[:4] == ["sent_id", "n", name, "gradient"]
        gradient = np.array(row["gradient"])
        assert gradient.shape == shapes[row["sent_id"]]
        assert np.isfinite(gradient).all()
        # adding a constant to a word's scores changes no distribution, and a cross-entropy's gradient sums to 0 too
        np.testing.assert_allclose(gradient.sum(axis=1), 0.0, atol=1e-9)


def test_entropy_is_the_trees(done, exact):
    rows = {row["sent_id"]: row["entropy"] for row in done("expect", "entropy", *SCORES).rows}
    oracle = exact("en-4")
    assert rows["en-4"] == pytest.approx(-(np.exp(oracle.log_probs) @ oracle.log_probs))


def test_divergence_between_two_files(done, put):
    rng = np.random.default_rng(3)
    ours, theirs = ({"a": rng.random((4, 4)), "b": rng.random((6, 6))} for _ in range(2))
    put("ours.npz", ours)
    put("theirs.npz", theirs)
    given = ("ours.npz", "--orient", "head-dep", "--other", "theirs.npz")
    kl, cross = done("expect", "kl", *given, "--grad").rows, done("expect", "cross-entropy", *given).rows
    entropies = done("expect", "entropy", "ours.npz", "--orient", "head-dep").rows
    for one, two, three in zip(kl, cross, entropies, strict=True):
        assert one["kl"] == pytest.approx(two["cross-entropy"] - three["entropy"])
        assert one["kl"] > 0.01
        assert np.array(one["gradient_other"]).shape == np.array(one["gradient"]).shape
    same = done("expect", "kl", "ours.npz", "--orient", "head-dep", "--other", "ours.npz").rows
    assert [row["kl"] for row in same] == [0.0, 0.0]


def test_an_infinite_divergence_says_why(done, put):
    scores = np.ones((4, 4))
    put("ours.npy", scores)
    scores[1, 2] = 0.0
    put("theirs.npy", scores)
    (row,) = done("expect", "kl", "ours.npy", "--orient", "head-dep", "--other", "theirs.npy", "--grad").rows
    assert row["kl"] is None
    assert row["reason"].startswith("infinite")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("kl",), "kl needs --other FILE"),
        (("renyi",), "renyi needs --alpha A"),
        (("risk",), "risk needs --conllu FILE"),
        (("entropy", "--alpha", 2), "entropy has no use for --alpha"),
        (("risk", *GOLD, "--other", "x"), "risk has no use for --other"),
        (("entropi",), "there is no quantity 'entropi'"),
        (("kl", "--other", DATA / "one.npy"), "out of step"),
        (("kl", "--other", "nowhere.npz"), "nowhere.npz"),
        (("renyi", "--alpha", 0), "--alpha"),
    ],
)
def test_what_is_missing_or_too_much(deptree, args, said):
    ran = deptree("expect", args[0], *SCORES, *args[1:])
    assert ran.code == 2
    assert said in ran.err
    assert len(ran.said) == 1


def test_files_out_of_step(deptree, put):
    put("ours.npz", {"a": np.ones((4, 4)), "b": np.ones((4, 4))})
    put("theirs.npz", {"a": np.ones((4, 4))})
    put("longer.npz", {"a": np.ones((4, 4)), "b": np.ones((5, 5))})
    for other, said in (("theirs.npz", "fewer sentences"), ("longer.npz", "out of step")):
        ran = deptree("expect", "kl", "ours.npz", "--orient", "head-dep", "--other", other)
        assert ran.code == 2
        assert said in ran.err


def test_bytes_do_not_depend_on_jobs(done):
    given = ("expect", "kl", *SCORES, "--other", DATA / "scores.npz", "--temperature", 2, "--grad")
    assert done(*given).out == done(*given, "--jobs", 2).out
