"""``deptree swor``: distinct trees, and what stands on the last of them."""

from __future__ import annotations

import pytest

from deptree_cli.core.swor import ALGORITHMS
from tests.sample import DATA, SCORES, SENTENCES


def test_json_lines(done, golden):
    golden("swor.jsonl", done("swor", *SCORES, "-k", 3, "--seed", 7).out)


def test_conllu(done, golden):
    golden("swor.conllu", done("swor", *SCORES, *SENTENCES, "--no-header", "-k", 2, "--seed", 7).out)


def test_ten_trees_unless_told_otherwise(done):
    assert len(done("swor", DATA / "one.npy", "--seed", 7).rows) == 10


@pytest.mark.parametrize("name", ALGORITHMS.names)
def test_all_trees_of_a_sentence_that_has_few(done, name):
    ran = done("swor", DATA / "figure1.npy", "-k", 10, "--seed", 7, "--sampler", name)
    assert sorted(row["heads"] for row in ran.rows) == [[0, 1, 1], [0, 3, 1], [2, 3, 0]]
    assert ran.rows[-1]["mass"] == pytest.approx(1)
    assert ran.rows[-1]["exhausted"] is True
    assert ran.said[-1] == "deptree: 1 sentence (1) with fewer than 10 trees of positive weight: all were drawn"


def test_fewer_trees_are_no_news_when_quiet_or_exactly_asked_for(done):
    assert done("swor", DATA / "figure1.npy", "-k", 10, "-q").err == ""
    exactly = done("swor", DATA / "figure1.npy", "-k", 3)
    assert "positive weight" not in exactly.err
    assert exactly.rows[-1]["exhausted"] is True


def test_conllu_says_what_an_estimator_needs(done, put):
    put("abc.conllu", "# sent_id = abc\n" + "".join(f"{i}\tf\t_\t_\t_\t_\t_\t_\t_\t_\n" for i in (1, 2, 3)) + "\n")
    ran = done("swor", DATA / "figure1.npy", "--conllu", "abc.conllu", "-k", 2, "--no-header", "-q", "--seed", 1)
    keys = [line.split(" =")[0] for line in ran.out.decode().splitlines() if line.startswith(("# swor", "# tree"))]
    each = ["# tree_logprob", "# swor_rank", "# swor_weight", "# swor_weight_normalised"]
    assert keys == [*each, *each, "# swor_tau", "# swor_mass", "# swor_exhausted"]
    all_of_them = done("swor", DATA / "figure1.npy", "--conllu", "abc.conllu", "-k", 5, "-q").out.decode()
    assert "# swor_tau" not in all_of_them  # infinite
    assert "# swor_exhausted = yes" in all_of_them
    sent_ids = [line for line in all_of_them.splitlines() if "sent_id" in line]
    assert sent_ids == [f"# sent_id = abc/sample_{rank}" for rank in (1, 2, 3)]


def test_comments_of_trees_drawn_to_a_mass(done):
    out = done("swor", *SCORES, *SENTENCES, "--mass", 0.9, "--seed", 7, "--no-header").out.decode()
    rows = done("swor", *SCORES, "--mass", 0.9, "--seed", 7).rows
    for field in ("certain", "since", "tau"):
        noted = [float(line.split()[-1]) for line in out.splitlines() if line.startswith(f"# swor_{field} = ")]
        assert noted == [row[field] for row in rows if row.get(field) is not None]
        assert len(noted) > 5
    assert not any("certain" in row or "since" in row for row in done("swor", *SCORES, "--seed", 7).rows)


def test_where_the_number_comes_before_the_mass(done):
    ran = done("swor", DATA / "one.npy", "--mass", 0.999999, "-k", 2, "--seed", 1)
    assert ran.said[-1] == "deptree: 1 sentence (1) below --mass 0.999999 after 2 trees: raise -k"
    assert "less" not in done("swor", DATA / "one.npy", "--mass", 0.999999, "-k", 2, "-q").err
