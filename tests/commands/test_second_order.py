"""Second-order scores on the command line: what takes them agrees with the library, and nothing drops them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from deptree_cli.core.streams import sentence_stream
from deptree_cli.io.scores.reading import read
from deptree_cli.second_order.distribution import SecondOrder

N = 4
READING = ("--scale", "log", "--orient", "head-dep")
REFUSED = "there are second-order scores (grandparent and sibling), which are not taken into account here"


def gaussian(axes: int) -> np.ndarray:
    return np.random.default_rng(axes).normal(size=(N + 1,) * axes)


@pytest.fixture
def scores(put) -> str:
    """A file with a sentence that has second-order scores, and one that has none."""
    first = {"a": gaussian(2), "a.grandparent": gaussian(3), "a.sibling": gaussian(3)[::-1]}
    return put("second.npz", first | {"b": gaussian(2)[:4, :4]})


@pytest.fixture
def exact() -> SecondOrder:
    return SecondOrder(gaussian(2), gaussian(3), gaussian(3)[::-1], id="a")


@pytest.fixture
def sentences(put) -> str:
    blocks = []
    for name, heads in (("a", (2, 0, 2, 3)), ("b", (2, 0, 2))):
        words = [f"{word}\tw\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1)]
        blocks.append(f"# sent_id = {name}\n{''.join(words)}\n")
    return put("s.conllu", "".join(blocks))


@pytest.mark.parametrize("jobs", [1, 2])
def test_marginals(done, scores, exact, jobs) -> None:
    first, second = done("marginals", scores, *READING, "--projective", "--jobs", jobs).rows
    np.testing.assert_allclose(first["marginals"], exact.marginals(), rtol=0, atol=1e-12)
    assert (second["sent_id"], second["n"]) == ("b", 3)


def test_partition(done, scores, exact) -> None:
    sums = "log_z", "log_z_multi_root", "single_root_mass", "samples_per_single_root_tree", "projective_mass"
    first, second = done("partition", scores, *READING, "--projective").rows
    assert [first[name] for name in sums] == [pytest.approx(exact.log_partition), None, None, None, None]
    assert first["reason"] == "second-order scores: no other sum is worked out"
    assert None not in second.values()
    multi, _ = done("partition", scores, *READING, "--projective", "--multi-root").rows
    assert multi["log_z"] is None
    assert multi["log_z_multi_root"] > exact.log_partition


@pytest.mark.parametrize("sampler", ["auto", "eisner"])
def test_samples(done, scores, exact, sampler) -> None:
    rows = done("sample", scores, *READING, "--projective", "-k", 20, "--seed", 7, "--sampler", sampler).rows[:20]
    heads = exact.sample(20, sentence_stream(7, "a"))
    assert [row["heads"] for row in rows] == heads.tolist()
    assert [row["log_prob"] for row in rows] == pytest.approx(exact.log_probs(heads).tolist())


def test_arrays(done, scores, exact, tmp_path) -> None:
    done("marginals", scores, *READING, "--projective", "-o", tmp_path / "m.npz")
    done("sample", scores, *READING, "--projective", "--seed", 1, "-o", tmp_path / "s.npz")
    np.testing.assert_allclose(np.load(tmp_path / "m.npz")["a"], exact.marginals(), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(np.load(tmp_path / "s.npz")["a"], exact.sample(1, 1))


@pytest.mark.parametrize("method", ["mst", "mbr"])
def test_decode(done, scores, exact, method) -> None:
    row, other = done("decode", scores, *READING, "--projective", "--method", method).rows
    best = exact.argmax() if method == "mst" else exact.mbr()
    assert row == {"sent_id": "a", "heads": best.tolist(), "log_prob": exact.log_prob(best), "entropy": None}
    assert other["entropy"] > 0


def test_conllu(done, scores, sentences, exact) -> None:
    given = ("--projective", "--conllu", sentences)
    decoded = done("decode", scores, *READING, *given).out.decode().split("\n\n")[0]
    probs = [float(line.rpartition("HeadProb=")[2]) for line in decoded.splitlines() if "HeadProb" in line]
    assert probs == pytest.approx(exact.marginals()[exact.argmax(), np.arange(1, N + 1)].tolist(), abs=1e-4)
    assert "entropy" not in decoded
    noted = done("marginals", scores, *READING, *given).out.decode().split("\n\n")[0]
    assert f"# tree_logprob = {exact.log_prob([2, 0, 2, 3]):.6f}" in noted
    fixed = done("decode", scores, *READING, *given, "--fix-heads", "--format", "jsonl").rows[0]
    assert (fixed["heads"], fixed["log_prob"]) == ([2, 0, 2, 3], 0.0)


@pytest.mark.parametrize(
    "command",
    [
        ("swor", "-k", 2), ("expect", "entropy"), ("inspect",), ("show",), ("check-bias", "-k", 10),
        ("decode", "-k", 2), ("partition", "--summary"), ("convert", "-o", "out.npz"),
    ],
    ids=lambda command: " ".join(map(str, command)),
)  # fmt: skip
def test_nothing_drops_them(deptree, scores, command) -> None:
    ran = deptree(*command, scores, *READING, "--projective")
    assert ran.code > 0
    assert ran.said[-1].startswith(f"deptree: {scores}[a] (a): {REFUSED}")
    assert len(ran.said) == 1


def test_a_part_that_is_wrong_is_not_blamed_on_projective_trees(deptree, put) -> None:
    """Without --projective the same file would be refused all the same."""
    broken = put("broken.npz", {"a": gaussian(2), "a.sibling": np.full((N + 1,) * 3, np.nan)})
    message = deptree("sample", broken, *READING, "--projective").err
    assert "sibling score of head ROOT, sibling ROOT, dependent 1 is NaN" in message
    assert "leave out --projective" not in message


def test_they_are_over_projective_trees_only(deptree, scores) -> None:
    ran = deptree("sample", scores, *READING)
    assert ran.code > 0
    assert REFUSED in ran.err
    assert "with --projective" in ran.err
    skipped = deptree("sample", scores, *READING, "--on-error", "skip")
    assert [json.loads(line)["sent_id"] for line in skipped.out.splitlines()] == ["b"]


def test_the_library_reads_them(scores, exact) -> None:
    first, second = read(scores, scale="log", orient="head-dep", projective=True)
    np.testing.assert_allclose(first.scored.marginals(), exact.marginals(), rtol=0, atol=1e-12)
    assert first.entropy is None
    with pytest.raises(Exception, match="second-order scores"):
        _ = first.distribution
    assert second.scored is second.distribution
    assert second.entropy == second.distribution.entropy()


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (("decode", "-k", 3), "find the best tree alone, without -k, --mass and --within."),
        (("partition", "--summary"), "leave out --summary."),
        (("expect", "entropy"), "use partition, marginals, sample or decode."),
        (("swor", "--seed", 1), "use partition, marginals, sample or decode."),
    ],
)
def test_what_is_typed_is_not_advised(deptree, scores, command, remedy) -> None:
    ran = deptree(*command, scores, *READING, "--projective", "-q")
    assert (ran.code, ran.out) == (2, b"")
    assert ran.said == [f"deptree: {scores}[a] (a): {REFUSED}. Leave them out, or {remedy}"]
    without = deptree(*command, scores, *READING, "-q").said[-1]
    assert without.endswith("decode with --projective and without labels.")
