"""``deptree estimate``: what swor's output, in either format, says about all trees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.estimate import FUNCTIONALS

DATA = Path(__file__).parents[2] / "sample_data"
SCORES = (DATA / "scores.npz", "--from", "natasha")
SENTENCES = ("--conllu", DATA / "sentences.conllu")
SCALARS = ["non_projective_arcs", "depth", "dependency_length"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_row_per_sentence(done):
    done("swor", *SCORES, "--seed", 7, "-k", 30, "-o", "draws.jsonl")
    ran = done("estimate", "draws.jsonl", "-v")
    assert [row["sent_id"] for row in ran.rows] == [row["sent_id"] for row in done("partition", *SCORES).rows]
    for row in ran.rows:
        assert list(row) == ["sent_id", "n", "trees", *SCALARS]
        for name in SCALARS:
            assert list(row[name]) == ["unbiased", "unbiased_error", "normalised", "normalised_error"]
    assert "|estimate|quantities:non_projective_arcs+depth+dependency_length|" in ran.signature


def test_both_formats_say_the_same(done):
    done("swor", *SCORES, "--seed", 7, "-k", 30, "-o", "draws.jsonl")
    done("swor", *SCORES, *SENTENCES, "--seed", 7, "-k", 30, "-o", "draws.conllu")
    ours, theirs = done("estimate", "draws.jsonl").rows, done("estimate", "draws.conllu").rows
    assert len(ours) == len(theirs) > 5
    for one, other in zip(ours, theirs, strict=True):
        assert (one["sent_id"], one["trees"]) == (other["sent_id"], other["trees"])
        for name in SCALARS:
            assert other[name] == pytest.approx(one[name], rel=1e-4, abs=1e-6)  # comments have six decimals


@pytest.mark.parametrize("options", [(), ("--labelled", "--label-scores", DATA / "label_scores.npz")])
def test_trees_drawn_to_a_mass(done, options):
    """Weighted as swor weighs them, from either format."""
    labels = (*options, "--labels", DATA / "labels.json") if options else ()
    draw = ("swor", *SCORES, *labels, "--seed", 7, "--mass", 0.9, "-k", 60)
    done(*draw, "-o", "draws.jsonl")
    done(*draw, *SENTENCES, "-o", "draws.conllu")
    ours, theirs = done("estimate", "draws.jsonl").rows, done("estimate", "draws.conllu").rows
    drawn = done(*draw).rows
    for one, other in zip(ours, theirs, strict=True):
        rows = [row for row in drawn if row["sent_id"] == one["sent_id"]]
        depths = FUNCTIONALS.get("depth").function(np.array([row["heads"] for row in rows], dtype=np.int32))
        assert one["depth"]["unbiased"] == pytest.approx(np.array([row["weight"] for row in rows]) @ depths)
        for name in SCALARS:
            assert known(other[name]) == pytest.approx(known(one[name]), rel=1e-4, abs=1e-6)


def known(estimates: dict) -> dict:
    """Those that are not null."""
    return {of: value for of, value in estimates.items() if value is not None}


def test_errors_that_are_unknown(done, terminal):
    """null in JSON, nothing in TSV, a dash in a table; among arcs one by one."""
    done("swor", DATA / "one.npy", "-k", 1, "--seed", 7, "-o", "one.jsonl")
    (row,) = done("estimate", "one.jsonl", "--quantity", "depth").rows
    assert row["depth"]["unbiased_error"] is row["depth"]["normalised_error"] is None
    cells = done("estimate", "one.jsonl", "--quantity", "depth", "--tsv").out.decode().splitlines()[1].split("\t")
    assert (cells[4], cells[6]) == ("", "")
    assert terminal("estimate", "one.jsonl", "--quantity", "depth")[1].count(" -") == 2
    done("swor", DATA / "one.npy", "-k", 4, "--seed", 7, "-o", "four.jsonl")
    (row,) = done("estimate", "four.jsonl", "--quantity", "arcs").rows
    errors = row["arcs"]["normalised_error"]
    assert errors[0][0] is None
    assert any(isinstance(error, float) for line in errors for error in line)


def test_arcs_are_marginals(done):
    done("swor", DATA / "figure1.npy", "-k", 5, "-o", "all.jsonl")
    (row,) = done("estimate", "all.jsonl", "--quantity", "arcs").rows
    (exact,) = done("marginals", DATA / "figure1.npy", "--orient", "head-dep").rows
    assert np.array(row["arcs"]["unbiased"]) == pytest.approx(np.array(exact["marginals"]))
    assert not np.array(row["arcs"]["unbiased_error"]).any()


def test_standard_input_and_header(done, tmp_path):
    done("swor", *SCORES, "--seed", 7, "-k", 3, "--header", "-o", "draws.jsonl")
    piped = done(
        "estimate", "-", "-v", "--header", "--quantity", "depth", stdin=(tmp_path / "draws.jsonl").read_bytes()
    )
    assert piped.rows[0] == {"signature": piped.signature}
    assert list(piped.rows[1]) == ["sent_id", "n", "trees", "depth"]


@pytest.mark.parametrize("name", FUNCTIONALS.names)
def test_every_quantity(done, name):
    done("swor", DATA / "one.npy", "-k", 4, "-o", "draws.jsonl")
    (row,) = done("estimate", "draws.jsonl", "--quantity", name).rows
    assert row["trees"] == 4
    assert name in row


TREE = '{"sent_id":"a","heads":[0,1],"log_prob":-0.5}\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TREE, "draws.jsonl:1 (a): the sentence's last tree, which carries tau, is missing"),
        (TREE.replace("a", "b", 1) + TREE, "the sentence's last tree, which carries tau, is missing"),
        (TREE.replace("-0.5", "null"), "log_prob is missing"),
        (TREE.replace("-0.5", "0.5"), "log_prob is not the logarithm"),
        (TREE.replace("-0.5", '"x"'), "log_prob is not the logarithm"),
        (TREE.replace("-0.5", '-0.5,"tau":-1'), "tau is not a time"),
        (TREE.replace("-0.5", '-0.5,"tau":[]'), "tau is not a time"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"certain":2,"since":1'), "certain is not a number of trees, 0 to 1"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"certain":0.5,"since":1'), "certain is not a number of trees, 0 to 1"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"certain":1'), "and since when the last of them came"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"since":1'), "and since when the last of them came"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"certain":1,"since":2'), "since is not a time before tau"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"certain":1,"since":"x"'), "since is not a time before tau"),
        ('{"sent_id":"a","heads":[0,3]}\n', "the head of word 2 is 3"),
    ],
)
def test_what_is_not_from_swor(deptree, put, text, said):
    ran = deptree("estimate", put("draws.jsonl", text))
    assert ran.code == 2
    assert len(ran.said) == 1
    assert said in ran.err


def test_no_such_file(deptree):
    ran = deptree("estimate", "nowhere.jsonl")
    assert ran.code == 2
    assert "nowhere.jsonl" in ran.err


def test_a_table_on_a_terminal(done, terminal):
    done("swor", DATA / "one.npy", "-k", 4, "-o", "draws.jsonl")
    code, shown = terminal("estimate", "draws.jsonl")
    assert code == 0
    assert [word in shown for word in ("quantity", "normalised", "non_projective_arcs", "depth")] == [True] * 4
