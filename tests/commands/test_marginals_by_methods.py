"""`deptree marginals --method`: second-order scores and others by randomized pruning, against the exact marginals."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli import SecondOrder, read
from deptree_cli.core.pruning.arcs import arc_program
from deptree_cli.core.streams import sentence_stream
from deptree_cli.pruning.methods import METHODS
from deptree_cli.pruning.settings import Settings
from tests.commands.conftest import DATA

SECOND_ORDER = (str(DATA / "second_order.npz"), "--scale", "log", "--orient", "head-dep", "--projective")
FIRST_ORDER = (str(DATA / "scores.npz"), "--from", "natasha")
RANDOMIZED = ("--method", "randomized", "--iterations", "50", "--chains", "2", "--seed", "7")


def peaked(n: int) -> dict[str, np.ndarray]:
    """Second-order scores around a chain of arcs, with confident arcs and some that are not."""
    rng = np.random.default_rng(n)
    arcs = rng.normal(size=(n + 1, n + 1))
    arcs[range(n), range(1, n + 1)] += rng.uniform(1, 6, size=n)
    parts = {f"s.{name}": rng.normal(size=(n + 1,) * 3) for name in ("grandparent", "sibling")}
    return {"s": arcs, **parts}


def test_numbers_are_the_librarys(done) -> None:
    (row,) = done("marginals", *SECOND_ORDER, *RANDOMIZED).rows
    (sentence,) = read(SECOND_ORDER[0], scale="log", orient="head-dep", projective=True)
    program = arc_program(sentence.scored)
    settings = Settings(iterations=50, chains=2)
    found = METHODS.get("randomized").estimate(program, sentence_stream(7, sentence.id), settings)
    np.testing.assert_array_equal(row["marginals"], found.expectations)
    np.testing.assert_array_equal(row["standard_errors"], found.standard_errors)
    assert (row["iterations"], row["r_hat"]) == (50, found.r_hat)


def test_second_order_converges(done, put) -> None:
    """The worst marginal of 1,000 iterations of 4 chains is within 0.05 of the exact one."""
    arrays = peaked(10)
    scores = put("s.npz", arrays)
    options = ("--scale", "log", "--orient", "head-dep", "--projective", "--method", "randomized", "--seed", 7)
    (row,) = done("marginals", scores, *options).rows
    exact = SecondOrder(arrays["s"], arrays["s.grandparent"], arrays["s.sibling"]).marginals()
    np.testing.assert_allclose(row["marginals"], exact, atol=0.05)
    assert 0 < np.max(row["standard_errors"]) < 0.05
    assert row["r_hat"] < 1.1


@pytest.mark.slow("process")
@pytest.mark.parametrize("space", [(), ("--projective",), ("--multi-root",)])
def test_first_order_too(done, space: tuple[str, ...]) -> None:
    """In every space of trees, in the orientation read; within 0.06 of the exact marginals after 4 x 200 iterations."""
    exact = done("marginals", *FIRST_ORDER, *space).rows
    rows = done("marginals", *FIRST_ORDER, *space, "--method", "randomized", "--iterations", 200, "--seed", 7).rows
    for row, right in zip(rows, exact, strict=True):
        assert np.shape(row["marginals"]) == np.shape(right["marginals"])
        np.testing.assert_allclose(row["marginals"], right["marginals"], atol=0.06)


def test_conllu_has_probabilities_but_no_exact_comments(done) -> None:
    conllu = ("--conllu", str(DATA / "gold.conllu"))
    text = done("marginals", *FIRST_ORDER, *conllu, *RANDOMIZED).out.decode()
    assert text.count("HeadProb=") == done("marginals", *FIRST_ORDER, *conllu).out.decode().count("HeadProb=") > 0
    assert "# tree_logprob" not in text
    assert "# entropy" not in text


def test_npz(done, tmp_path) -> None:
    done("marginals", *FIRST_ORDER, *RANDOMIZED, "-o", tmp_path / "m.npz")
    rows = done("marginals", *FIRST_ORDER, *RANDOMIZED).rows
    with np.load(tmp_path / "m.npz") as found:
        assert [*found] == [row["sent_id"] for row in rows]
        for row in rows:
            np.testing.assert_array_equal(found[row["sent_id"]], row["marginals"])


def test_same_bytes_for_any_number_of_workers(done) -> None:
    one = done("marginals", *FIRST_ORDER, *RANDOMIZED).out
    assert done("marginals", *FIRST_ORDER, *RANDOMIZED, "--jobs", 2).out == one


def test_without_a_method_nothing_has_changed(done) -> None:
    """No new fields, no seed in the signature."""
    ran = done("marginals", *FIRST_ORDER, "-v")
    assert {*ran.rows[0]} == {"sent_id", "n", "orient", "root", "marginals"}
    assert "method" not in ran.signature
    assert "seed" not in ran.signature


@pytest.mark.parametrize("method", ["tic-tac-toe", "rdp"])
def test_methods_that_need_merits_are_for_pairs(deptree, method: str) -> None:
    ran = deptree("marginals", *FIRST_ORDER, "--method", method)
    assert (ran.code, len(ran.said)) == (2, 1)
    assert f"--method {method} works on sentence pairs only." in ran.err
