"""A tree space that a stranger adds (`tests/heads_first.py`) is found everywhere, and right: by enumeration, n <= 4.

One file and one entry point; nothing of ours knows its name. All that it has no algorithm for goes by general routes.
"""

import numpy as np
import pytest

from deptree_cli.core.batches import TreeBatch
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.partition import partition
from deptree_cli.core.spaces import MULTI_ROOT, SINGLE_ROOT, SPACES
from deptree_cli.core.swor import ALGORITHMS
from tests.heads_first import HEADS_FIRST
from tests.lines import table
from tests.oracle import Oracle
from tests.pearson import chi_square

NAME = HEADS_FIRST.name


@pytest.fixture(autouse=True)
def _installed(tmp_path, monkeypatch):
    info = tmp_path / "strange_space-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strange-space\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[deptree.spaces]\n{NAME} = tests.heads_first:HEADS_FIRST\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(SPACES, "_entries", dict(SPACES._entries))
    monkeypatch.setattr(SPACES, "_joined", False)


def distribution(graphs, n):
    """Some heads are forbidden, though never the one before."""
    scores = graphs.gaussian(n, 2, seed=n)
    scores[0, 3:] = -np.inf
    return TreeDistribution(scores, space=NAME)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_sums_best_trees_and_distinct_trees(n, graphs):
    found = distribution(graphs, n)
    oracle, words = Oracle(found), np.arange(1, n + 1)
    assert found.space == HEADS_FIRST
    assert (oracle.trees < words).all()
    assert found.log_partition == pytest.approx(oracle.log_z, rel=1e-13)
    np.testing.assert_allclose(found.marginals(), oracle.marginals(), rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.root_marginals, oracle.marginals()[0], rtol=0, atol=1e-13)
    assert (found.support == (oracle.marginals() > 0)).all()
    probs = np.exp(oracle.log_probs)
    assert found.entropy() == pytest.approx(-probs @ oracle.log_probs, abs=1e-13)
    every = found.over(MULTI_ROOT)
    kl = probs @ (oracle.log_probs - every.log_probs(oracle.trees))
    assert (found.kl(every), every.kl(found)) == (pytest.approx(kl, abs=1e-12), np.inf if n > 1 else 0)
    values = np.random.default_rng(1).normal(size=(n + 1, n + 1))
    of_trees = values[oracle.trees, words].sum(axis=1)
    expected, weights = np.zeros_like(values), probs * (of_trees - probs @ of_trees)
    np.add.at(expected, (oracle.trees, words), weights[:, None])
    np.testing.assert_allclose(found.factorisation.arc_covariance(values), expected, rtol=0, atol=1e-13)
    ranked = oracle.trees[np.argsort(-oracle.log_probs)]
    assert found.argmax().tolist() == ranked[0].tolist()
    assert found.top_k(100).tolist() == ranked.tolist()
    for algorithm in ALGORITHMS:
        draws = algorithm.draw(found, 100, np.random.default_rng(1))
        order = np.lexsort(draws.heads.T[::-1])
        assert draws.exhausted
        assert draws.heads[order].tolist() == oracle.trees.tolist()
        np.testing.assert_allclose(draws.log_probs[order], oracle.log_probs, rtol=0, atol=1e-12)


def test_laws(graphs):
    """H0: 5,000 samples, and 1,000 first trees of `auto`, follow the distribution; chi-square at 1e-4 each."""
    found, rng = distribution(graphs, 3), np.random.default_rng(2)
    oracle = Oracle(found)
    firsts = np.concatenate([found.sample_without_replacement(1, rng).heads for _ in range(1000)])
    for drawn in (found.sample(5000, rng), firsts):
        counts = (drawn[:, None] == oracle.trees).all(axis=2).sum(axis=0)
        assert chi_square(counts, np.exp(oracle.log_probs))[2] > 1e-4


@pytest.mark.torch
def test_batches_and_torch(graphs):
    torch = pytest.importorskip("torch")
    from deptree_cli.torch import TreeDistribution as Batched
    from deptree_cli.torch import log_partition, losses

    scores, lengths = np.zeros((3, 5, 5)), [4, 2, 3]
    each = [distribution(graphs, n) for n in lengths]
    for b, one in enumerate(each):
        scores[b, : one.n + 1, : one.n + 1] = one.log_scores
    scores[:, :, 0] = 0.0
    expected, lengths = [one.log_partition for one in each], torch.tensor(lengths)
    log_z, marginals = TreeBatch(scores, lengths.numpy(), SPACES.get(NAME)).log_partitions_and_marginals()
    tensor = torch.tensor(scores, requires_grad=True)
    found = log_partition(tensor, lengths, space=NAME)
    (gradient,) = torch.autograd.grad(found.sum(), tensor)
    for sums in (log_z, found.detach()):
        np.testing.assert_allclose(sums, expected, rtol=1e-13)
    for b, one in enumerate(each):
        for dense in (marginals, gradient):
            np.testing.assert_allclose(dense[b, : one.n + 1, : one.n + 1], one.marginals(), rtol=0, atol=1e-13)
    batched = Batched(tensor, lengths, NAME)
    best, loss = batched.argmax, losses.negative_log_likelihood
    assert batched.support.check(best).all()
    assert not batched.support.check(torch.tensor([[-1, 2, 0, 1, 1], [-1, 2, 0, -1, -1], [-1, 3, 0, 2, -1]])).any()
    expected = [-one.log_prob(one.argmax()) for one in each]
    assert loss(tensor, best, lengths, NAME, reduction="none").tolist() == pytest.approx(expected)


def test_commands(done, put, graphs):
    found = distribution(graphs, 4)
    put("s.npy", found.log_scores)
    given = f"s.npy --from log --space {NAME}"
    assert NAME in done("sample --help-all").out.decode()
    drawn = done(f"sample {given} -k 20 --seed 1 --header")
    assert f"|trees:{NAME}|" in drawn.signature
    assert found.space.contains(np.array([row["heads"] for row in drawn.rows[1:]])).all()
    distinct = done(f"swor {given} -k 99 --seed 1 -q").rows
    assert sorted(row["heads"] for row in distinct) == Oracle(found).trees.tolist()
    assert done(f"check-bias {given} -k 2000 --seed 1").rows[0]["verdict"] == "no bias found"
    (row,) = done(f"partition {given}").rows
    assert (row["log_z_multi_root"], row["log_z"]) == (pytest.approx(found.log_partition), None)
    done(f"convert {given} -o own.npz")
    for line in (given, "own.npz"):
        assert done(f"decode {line}").rows[0]["heads"] == found.argmax().tolist()


@pytest.mark.parametrize(
    ("line", "says"),
    table(f"""
        partition s.npy --from log --space {NAME} --summary      | there is one space of {HEADS_FIRST.trees}
        sample s.npy --from log --space {NAME} --sampler wilson  | or pass --space multi-root
        sample s.npy --from log --space {NAME} --projective      | --space {NAME} contradicts --projective
        sample s.npy --from log --space heads-last | no tree space 'heads-last'. Did you mean {NAME}?
    """),
)
def test_what_is_missing_is_one_line(refused, put, graphs, line, says):
    put("s.npy", distribution(graphs, 4).log_scores)
    refused(f"{line} -q", *says)


def test_trees_of_another_space_are_impossible(deptree, done, put, graphs):
    found = distribution(graphs, 4)
    put("s.npy", found.log_scores)
    put("others.jsonl", done("sample s.npy --from log -k 200 --seed 1").out)
    assert deptree(f"check-bias s.npy --from log --space {NAME} --samples others.jsonl").code == 1
    with pytest.raises(DeptreeError, match="there is one space"):
        partition(found)
    with pytest.raises(DeptreeError, match=r'`space="heads-first"` contradicts `single_root=True`'):
        TreeDistribution(found.log_scores, space=NAME, single_root=True)
    backwards = np.full((3, 3), -np.inf)
    backwards[0, 2] = backwards[2, 1] = 0.0
    with pytest.raises(DeptreeError, match="no tree is possible: of trees whose heads all precede"):
        TreeDistribution(backwards, space=NAME)
    assert TreeDistribution(backwards).space is SINGLE_ROOT
