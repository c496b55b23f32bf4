"""``deptree decode --mass`` and ``--within``: the library's trees, whatever the way they are asked for."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from deptree_cli import read
from tests.sample import DATA, LABELS, SCORES


@pytest.mark.parametrize("projective", [False, True])
def test_trees_that_cover_a_mass(done, projective: bool) -> None:
    rows = done("decode", *SCORES, "--mass", 0.99, *["--projective"] * projective).rows
    for sentence in read(str(SCORES[0]), preset="natasha", projective=projective):
        found = [row for row in rows if row["sent_id"] == sentence.id]
        assert np.array_equal([row["heads"] for row in found], sentence.distribution.top_mass(0.99).heads)
        assert [row["sample"] for row in found] == [*range(1, len(found) + 1)]
        assert found[-1]["mass"] == pytest.approx(sum(exp(row["log_prob"]) for row in found))
        assert found[-1]["complete"] is True
        assert all("mass" not in row for row in found[:-1])


def test_too_few_are_said_to_be(done) -> None:
    ran = done("decode", *SCORES, "--mass", 1, "-k", 2, "--conllu", DATA / "sentences.conllu")
    text = ran.out.decode()
    assert text.count("# trees_complete = no\n") == text.count("# trees_mass = ") == 8
    assert "8 sentences (en-1, en-2, en-3, ...): the best 2 trees are not all that --mass 1 takes: raise -k" in ran.err


def test_within_nats_with_labels(done) -> None:
    """Arcs with their labels together, as -k has them: gaps are those of labelled trees."""
    rows = done("decode", *SCORES, *LABELS, "--within", 3).rows
    every = done("decode", *SCORES, *LABELS, "-k", 100).rows
    sums = {(row["sent_id"], *row["heads"]): row["log_prob"] + row["label_log_prob"] for row in every}
    best = {name: max(total for key, total in sums.items() if key[0] == name) for name, *_ in sums}
    near = {key for key, total in sums.items() if best[key[0]] - total <= 3}
    assert {(row["sent_id"], *row["heads"]) for row in rows} == near
    assert len(near) > 8


def test_mass_with_labels_is_of_trees(done) -> None:
    """Of heads, whatever their labels; each has its best ones."""
    rows = done("decode", *SCORES, *LABELS, "--mass", 0.9).rows
    assert [row["heads"] for row in rows] == [row["heads"] for row in done("decode", *SCORES, "--mass", 0.9).rows]
    assert all(len(row["deprels"]) == len(row["heads"]) for row in rows)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--mass", 0.5, "--within", 1), "--mass cannot be combined with --within"),
        (("--mass", 0.5, "--method", "mbr"), "needs --method mst"),
        (("--within", 1, "--rules", "ud", *LABELS), "cannot be combined with rules"),
        (("--mass", 1.5), "at most 1"),
    ],
)
def test_what_does_not_go_together(deptree, options: tuple[object, ...], said: str) -> None:
    ran = deptree("decode", *SCORES, *options)
    assert ran.code == 2
    assert len(ran.said) == 1
    assert said in ran.err
