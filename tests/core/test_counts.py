"""How many trees: what numbers are refused, all trees there are, small integers for many, memory refused beforehand."""

import math

import numpy as np
import pytest

from deptree_cli import ALGORITHMS, SAMPLERS, DeptreeError, TreeDistribution
from deptree_cli.bitext import AlignmentDistribution
from deptree_cli.core import many_trees, memory
from deptree_cli.core.arc_factored import FEW
from deptree_cli.core.many_trees import blocks_to_fill, blocks_to_read, empty_heads
from deptree_cli.core.memory import available, memory_for
from deptree_cli.core.spaces import SPACES
from deptree_cli.second_order import SecondOrder
from tests.oracle import Oracle

SCORES = np.random.default_rng(1).normal(size=(4, 4))
TREES = TreeDistribution(SCORES, id="x")
LABELLED = TREES.labelled(("root", "a"), np.zeros((4, 4, 2)))
BY_NUMBER = {
    "sample": TREES.sample,
    "sample_without_replacement": TREES.sample_without_replacement,
    "labelled trees": lambda k: LABELLED.sample_without_replacement(k, labelled=True),
    "top_k": TREES.top_k,
    "second order": SecondOrder(SCORES).sample,
    "alignments": AlignmentDistribution(SCORES).sample,
}


@pytest.mark.quick
@pytest.mark.parametrize("kind", BY_NUMBER)
def test_everything_that_takes_a_number_checks_it(kind):
    """None at all are fine, and as many as a number of NumPy says."""
    what, draw = "alignments" if kind == "alignments" else "trees", BY_NUMBER[kind]
    for k in (-1, 1.5, None, "3", True, np.True_, [2]):
        with pytest.raises(DeptreeError) as caught:
            draw(k)
        problem = f"-1 {what} are asked for" if k == -1 else f"{k!r} is not a number of {what}"
        assert str(caught.value) == f"{problem}. Ask for 1 or more."
    for k in (0, 2):
        found = draw(np.int64(k))
        assert len(getattr(found, "heads", found)) == k


@pytest.mark.quick
@pytest.mark.parametrize("k", [10**12, 10**30])
@pytest.mark.parametrize("kind", ["sample", "distinct ones of many", "second order", "alignments"])
def test_more_than_memory_holds(kind, k):
    draw = BY_NUMBER.get(kind) or TreeDistribution(np.zeros((30, 30))).sample_without_replacement
    says = rf"^there is not enough memory for {k:,} (trees|alignments)\. Ask for fewer\.$"
    with pytest.raises(DeptreeError, match=says):
        draw(k)


@pytest.mark.parametrize("k", [10**9, 10**30])
@pytest.mark.parametrize("trees", SPACES, ids=lambda trees: trees.name)
def test_no_more_than_there_are(trees, k, graphs):
    distribution = graphs.over(graphs.holes(4, 3, trees.single_root, projective=trees.projective), trees)
    every = Oracle(distribution).trees.tolist()
    assert sorted(distribution.top_k(k).tolist()) == every
    for algorithm in ALGORITHMS.names:
        draws = distribution.sample_without_replacement(k, 1, algorithm)
        assert draws.exhausted
        assert sorted(draws.heads.tolist()) == every


def test_few_arcs_of_a_long_sentence():
    """2^12 trees of 200 words: counted, not guessed from the number of words; the draws are those of fewer."""
    weights = np.diag(np.ones(200), 1)
    weights[0, 3:15] = 0.0
    weights[1, 3:15] = 0.5
    distribution = TreeDistribution(weights, "weight")
    assert distribution.log_count == pytest.approx(12 * np.log(2), abs=1e-9)
    assert distribution.room_for(FEW) == FEW
    assert 2**12 <= distribution.room_for(10**9) <= 2**12 + 2
    draws = distribution.sample_without_replacement(10**9, 3)
    assert len(draws.heads) == 2**12
    assert draws.exhausted
    np.testing.assert_array_equal(draws.heads[:20], distribution.sample_without_replacement(20, 3).heads)


@pytest.mark.parametrize(
    ("sampler", "space"),
    [(each, space.name) for each in SAMPLERS for space in SPACES if each.serves(space)],
    ids=lambda value: getattr(value, "name", value),
)
def test_small_integers_change_no_tree(sampler, space, monkeypatch):
    scores = np.random.default_rng(0).normal(size=(7, 7)) * 3

    def drawn(draw=sampler.draw_small):
        return draw(TreeDistribution(scores, space=space), 150, np.random.default_rng(1))

    usual = drawn()
    monkeypatch.setattr(many_trees, "FEW", 0)
    monkeypatch.setattr(many_trees, "BLOCK", 40)  # smaller than the parts in which trees are walked
    np.testing.assert_array_equal(drawn(), usual)
    distribution = TreeDistribution(scores, space=space)
    small = usual.astype(np.int8)
    np.testing.assert_array_equal(distribution.tree_log_probs(small), distribution.tree_log_probs(usual))
    whole = drawn(sampler.draw)
    assert whole.dtype == np.int32  # for whoever does not ask for small ones
    np.testing.assert_array_equal(whole, usual)


@pytest.mark.parametrize(("n", "dtype"), [(40, np.int8), (127, np.int8), (128, np.int16), (40_000, np.int32)])
def test_many_heads_are_as_small_as_their_numbers(n, dtype, monkeypatch):
    assert empty_heads(3, n).dtype == np.int32
    monkeypatch.setattr(many_trees, "FEW", 3 * n - 1)
    heads = empty_heads(3, n)
    assert heads.dtype == dtype
    trees = np.random.default_rng(0).integers(0, n, size=heads.shape, endpoint=True).astype(np.int32)
    trees[:, 0] = n
    for rows, block in blocks_to_fill(heads):
        assert block.dtype == np.int32
        block[:] = trees[rows]
    np.testing.assert_array_equal(heads, trees)
    read = [block for _, block in blocks_to_read(heads)]
    assert {block.dtype for block in read} == {np.dtype(np.int32)}
    np.testing.assert_array_equal(np.concatenate(read), trees)


def test_too_little_memory_is_one_sentence(monkeypatch):
    """Before it is used up; and a system that says no is believed."""
    monkeypatch.setattr(memory, "available", lambda: 2.5e8)
    message = r"^there is not enough memory for a chart: it takes 3\.0 GB, 0\.2 GB are free\. Take less\.$"
    with pytest.raises(DeptreeError, match=message), memory_for(3e9, "a chart", "Take less"):
        pytest.fail("the block has begun")
    message = r"not enough memory for a chart\. Take less"
    with pytest.raises(DeptreeError, match=message), memory_for(1.0, "a chart", "Take less"):
        raise MemoryError


def test_how_much_memory_there_is(tmp_path, monkeypatch):
    """The machine's memory or that of a container, whichever is less; no limit where nothing is told."""
    machine, group = tmp_path / "meminfo", tmp_path / "group"
    group.mkdir()
    monkeypatch.setattr(memory, "_MACHINE", machine)
    monkeypatch.setattr(memory, "_GROUP", group)
    assert available() == math.inf
    cut = "", "\n\n", "MemAvailable:\n", "MemAvailable:\n2000 kB\n"
    for text in (*cut, "MemAvailable: many kB\n", "NotMemAvailable: 2 kB"):
        machine.write_text(text)
        assert available() == math.inf
    machine.write_text("\nMemTotal: 9000 kB\n\nMemFree: 100 kB\nMemAvailable: 2000 kB\n")
    assert available() == 2_048_000
    (group / "memory.stat").write_text("anon 500000\nfile 3000000\n")
    for limit, expected in (("max", 2_048_000), ("1500000", 1_000_000), ("1e12", 2_048_000)):
        (group / "memory.max").write_text(limit + "\n")
        assert available() == expected
