"""``deptree swor``: distinct trees, and what stands on the last of them."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.spaces import space
from deptree_cli.core.swor import ALGORITHMS
from tests.sample import DATA, SCORES, SENTENCES


def by_sentence(rows: list[dict]) -> dict[str, list[dict]]:
    return {name: [row for row in rows if row["sent_id"] == name] for name in dict.fromkeys(r["sent_id"] for r in rows)}


def test_json_lines(done, golden):
    golden("swor.jsonl", done("swor", *SCORES, "-k", 3, "--seed", 7).out)


def test_conllu(done, golden):
    golden("swor.conllu", done("swor", *SCORES, *SENTENCES, "--no-header", "-k", 2, "--seed", 7).out)


@pytest.mark.parametrize("multi", [False, True])
@pytest.mark.parametrize("name", ALGORITHMS.names)
def test_trees_are_distinct_and_sum_up(done, name, multi):
    ran = done("swor", *SCORES, "-k", 6, "--seed", 7, "--sampler", name, "--header", *["--multi-root"] * multi)
    assert f"sampler:{name}" in ran.signature
    for rows in by_sentence(ran.rows[1:]).values():
        heads = np.array([row["heads"] for row in rows])
        assert len({tuple(tree) for tree in heads.tolist()}) == len(rows) == 6
        assert space(not multi).contains(heads).all()
        assert [row["sample"] for row in rows] == list(range(1, 7))
        assert rows[-1]["mass"] == pytest.approx(sum(np.exp(row["log_prob"]) for row in rows))
        assert rows[-1]["exhausted"] is False
        assert not any("mass" in row or "exhausted" in row for row in rows[:-1])


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


def test_weights_and_times(done):
    rows = done("swor", DATA / "one.npy", "-k", 5, "--seed", 7).rows
    probs = np.exp([row["log_prob"] for row in rows])
    weights = [row["weight"] for row in rows]
    assert weights == pytest.approx(probs / (1 - np.exp(-probs * rows[-1]["tau"])))
    assert [row["weight_normalised"] for row in rows] == pytest.approx(np.array(weights) / sum(weights))
    times = [*(row["arrival"] for row in rows), rows[-1]["tau"]]
    assert times == sorted(times)
    everything = done("swor", DATA / "figure1.npy", "-k", 5, "-q").rows
    assert everything[-1]["tau"] is None
    assert [row["weight"] for row in everything] == pytest.approx([np.exp(row["log_prob"]) for row in everything])


@pytest.mark.parametrize("name", ALGORITHMS.names)
def test_mass_stops_the_draw(done, name):
    ran = done("swor", *SCORES, "--mass", 0.9, "--seed", 7, "--sampler", name, "-k", 40, "--header")
    assert "|size:40|mass:0.9|" in ran.signature
    for rows in by_sentence(ran.rows[1:]).values():
        probs, certain = np.exp([row["log_prob"] for row in rows]), rows[-1]["certain"]
        assert probs[: certain - 1].sum() < 0.9
        assert len(rows) == (certain + 5 if certain < 20 else 40) or rows[-1]["exhausted"]
        assert certain == 20 or probs[:certain].sum() >= 0.9
        assert rows[-1]["since"] == rows[certain - 1]["arrival"]
        window = (rows[-1]["tau"] or np.inf) - rows[-1]["since"]
        assert [row["weight"] for row in rows[:certain]] == pytest.approx(probs[:certain])
        assert [row["weight"] for row in rows[certain:]] == pytest.approx(
            probs[certain:] / -np.expm1(-probs[certain:] * window)
        )


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


@pytest.mark.parametrize("mass", ["0", "1.1", "x"])
def test_a_mass_is_a_probability(deptree, mass):
    ran = deptree("swor", DATA / "one.npy", "--mass", mass)
    assert ran.code == 2
    assert "--mass" in ran.err


def test_header(done):
    conllu = done("swor", *SCORES, *SENTENCES, "--seed", 7)
    assert conllu.out.startswith(b"# generator = deptree|swor|sampler:auto|")
    jsonl = done("swor", *SCORES, "--seed", 7, "--header")
    assert list(jsonl.rows[0]) == ["signature"]
    assert jsonl.signature.startswith("deptree|swor|sampler:auto|")


@pytest.mark.parametrize("name", ["a.jsonl", "a.conllu", "a.ndjson"])
def test_the_suffix_decides(done, put, tmp_path, name):
    put("unrelated", b"")
    assert done("swor", *SCORES, *SENTENCES, "--seed", 7, "-k", 2, "-o", name).out == b""
    form = "conllu" if name.endswith("conllu") else "jsonl"
    expected = done("swor", *SCORES, *SENTENCES, "--seed", 7, "-k", 2, "--format", form).out
    assert (tmp_path / name).read_bytes() == expected
