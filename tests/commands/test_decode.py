"""`deptree decode`: trees and how sure they are, the k best, those that are enough, fixed heads, no arcs that cross."""

from __future__ import annotations

import json
from math import exp

import numpy as np
import pytest

from deptree_cli import read
from deptree_cli.core.spaces import PROJECTIVE
from tests.sample import DATA


def test_k_best(done):
    ran = done("decode $SCORES -k 5 --header")
    assert "|method:k-best|" in ran.signature
    first = [row for row in ran.rows[1:] if row["sent_id"] == "en-1"]
    assert [row["sample"] for row in first] == [1, 2, 3, 4, 5]
    log_probs = [row["log_prob"] for row in first]
    assert log_probs == sorted(log_probs, reverse=True)
    assert b"# sent_id = en-1/sample_2\n" in done("decode $SCORES $SENTENCES -k 2").out
    assert "|method:mst|" in done("decode $SCORES --header").signature
    assert "|method:mbr|" in done("decode $SCORES --method mbr --header").signature


@pytest.mark.parametrize("projective", [False, True])
def test_trees_that_cover_a_mass(done, projective):
    rows = done(f"decode $SCORES --mass 0.99 {'--projective' * projective}").rows
    for sentence in read(str(DATA / "scores.npz"), preset="natasha", projective=projective):
        found = [row for row in rows if row["sent_id"] == sentence.id]
        assert np.array_equal([row["heads"] for row in found], sentence.distribution.top_mass(0.99).heads)
        assert [row["sample"] for row in found] == [*range(1, len(found) + 1)]
        assert found[-1]["mass"] == pytest.approx(sum(exp(row["log_prob"]) for row in found))
        assert found[-1]["complete"] is True
        assert all("mass" not in row for row in found[:-1])


def test_too_few_are_said_to_be(done):
    ran = done("decode $SCORES $SENTENCES --mass 1 -k 2")
    assert ran.out.count(b"# trees_complete = no\n") == ran.out.count(b"# trees_mass = ") == 8
    assert "8 sentences (en-1, en-2, en-3, ...): the best 2 trees are not all that --mass 1 takes: raise -k" in ran.err


def test_within_nats_with_labels(done):
    """Arcs with their labels together, as -k has them: gaps are those of labelled trees."""
    rows, every = (done(f"decode $SCORES $LABELS {more}").rows for more in ("--within 3", "-k 100"))
    sums = {(row["sent_id"], *row["heads"]): row["log_prob"] + row["label_log_prob"] for row in every}
    best = {name: max(total for key, total in sums.items() if key[0] == name) for name, *_ in sums}
    near = {key for key, total in sums.items() if best[key[0]] - total <= 3}
    assert {(row["sent_id"], *row["heads"]) for row in rows} == near
    assert len(near) > 8


def test_mass_with_labels_is_of_trees(done):
    rows = done("decode $SCORES $LABELS --mass 0.9").rows
    assert [row["heads"] for row in rows] == [row["heads"] for row in done("decode $SCORES --mass 0.9").rows]
    assert all(len(row["deprels"]) == len(row["heads"]) for row in rows)


FIXED = "scores.npy --from head-dep --conllu fixed.conllu --fix-heads"


def test_fixed_heads_condition_the_distribution(done, put):
    """log Z given the heads, marginals and what is drawn: against the trees that have them."""
    scores = np.random.default_rng(1).random((4, 4))
    put("scores.npy", scores)
    words = "".join(f"{word}\tf\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate("2__", 1))
    put("fixed.conllu", f"# sent_id = 1\n{words}\n")
    trees = [[2, 0, 1], [2, 0, 2], [2, 3, 0]]
    weights = np.array([np.prod([scores[h, d] for d, h in enumerate(tree, 1)]) for tree in trees])
    probs = weights / weights.sum()
    (row,) = done(f"partition {FIXED}").rows
    assert row["log_z"] == pytest.approx(np.log(weights.sum()))
    (row,) = done(f"marginals {FIXED} --format jsonl").rows
    assert (row["marginals"][3][2], row["marginals"][2][1]) == (pytest.approx(probs[2]), pytest.approx(1.0))
    (row,) = done(f"expect entropy {FIXED}").rows
    assert row["entropy"] == pytest.approx(-(probs @ np.log(probs)))
    for line in ("sample -k 9 --seed 1", "swor -k 9 --seed 1", "decode"):
        for row in done(f"{line} {FIXED} --format jsonl").rows:
            assert exp(row["log_prob"]) == pytest.approx(probs[trees.index(row["heads"])])


# Word 2 under word 4, which crosses 0 -> 3 and 3 -> 1.
CROSSED = {"sent_id": "x", "scores": [[0, 0, 0, 1, 0], [0] * 5, [0] * 5, [0, 1, 0, 0, 1], [0, 0, 1, 0, 0]]}


@pytest.mark.parametrize("line", ["sample -k 20 --temperature 5 --seed 7", "decode -k 5", "swor -k 5 --seed 7"])
def test_no_arcs_cross_in_what_is_written(done, line):
    rows = done(f"{line} $SCORES --projective").rows
    assert PROJECTIVE.contains(np.array([row["heads"] for row in rows if row["sent_id"] == "cs-1"])).all()


def test_sentences_without_a_projective_tree_are_skipped_by_name(deptree, done, put):
    four = {"sent_id": "four", "scores": np.ones((5, 5)).tolist()}
    put("s.jsonl", "".join(json.dumps(each) + "\n" for each in (four, CROSSED, {**four, "sent_id": "last"})))
    line = "decode s.jsonl --from head-dep"
    ran = deptree(f"{line} --projective")
    assert ran.code == 2
    assert ran.said[-1].startswith("deptree: s.jsonl:2 (x): no projective tree is possible: the arcs ")
    assert ran.said[-1].endswith("Allow more arcs, or leave out --projective.")
    ran = deptree(f"{line} --projective --on-error skip")
    assert (ran.code, [row["sent_id"] for row in ran.rows]) == (1, ["four", "last"])
    assert "deptree: 1 sentence skipped" in ran.said
    assert [row["sent_id"] for row in done(line).rows] == ["four", "x", "last"]
