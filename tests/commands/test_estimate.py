"""``deptree estimate``: what swor's output, in either format, says about all trees."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pytest

from deptree_cli.core.quantities import OF_TREES
from deptree_cli.core.swor import ALGORITHMS
from deptree_cli.io.trees import SworNotes
from tests.sample import DATA, SCORES, SENTENCES

SCALARS = ["non_projective_arcs", "depth", "mean_length"]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_row_per_sentence(done):
    done("swor", *SCORES, "--seed", 7, "-k", 30, "-o", "draws.jsonl")
    ran = done("estimate", "draws.jsonl", "--header")
    assert [row["sent_id"] for row in ran.rows[1:]] == [row["sent_id"] for row in done("partition", *SCORES).rows]
    for row in ran.rows[1:]:
        assert list(row) == ["sent_id", "n", "trees", *SCALARS]
        for name in SCALARS:
            assert list(row[name]) == ["unbiased", "unbiased_error", "normalised", "normalised_error"]
    assert "|estimate|quantities:non_projective_arcs+depth+mean_length|" in ran.signature


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
        depths = OF_TREES.get("depth").of_sentence(np.array([row["heads"] for row in rows], dtype=np.int32))
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
    (exact,) = done("marginals", DATA / "figure1.npy", "--from", "head-dep").rows
    assert np.array(row["arcs"]["unbiased"]) == pytest.approx(np.array(exact["marginals"]))
    assert not np.array(row["arcs"]["unbiased_error"]).any()


@pytest.mark.parametrize("name", OF_TREES.names)
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
        (TREE.replace("-0.5", '-0.5,"tau":-1'), "tau is not a time"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"certain":2,"since":1'), "certain is not a number of trees, 0 to 1"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"certain":0.5,"since":1'), "certain is not a number of trees, 0 to 1"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"certain":1'), "and since when the last of them came"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"since":1'), "and since when the last of them came"),
        (TREE.replace("-0.5", '-0.5,"tau":2,"certain":1,"since":2'), "since is not a time before tau"),
        ('{"sent_id":"a","heads":[0,3]}\n', "the head of word 2 is 3"),
    ],
)
def test_what_is_not_from_swor(deptree, put, text, said):
    ran = deptree("estimate", put("draws.jsonl", text))
    assert ran.code == 2
    assert len(ran.said) == 1
    assert said in ran.err


def _without(*fields: str):
    return lambda rows: [{name: row[name] for name in row if name not in fields} for row in rows]


def _changed(number: int, **fields: object):
    return lambda rows: [row | fields if index == number else row for index, row in enumerate(rows)]


TAMPERED = [
    (lambda rows: rows[:1] + rows[2:], "draws.jsonl:2 (1): tree 2 of the sentence has rank 3: one is missing"),
    (lambda rows: [rows[1], rows[0], *rows[2:]], "draws.jsonl:1 (1): tree 1 of the sentence has rank 2"),
    (lambda rows: _without("sample")([rows[1], rows[0], *rows[2:]]), "the arrival times are not in order"),
    (lambda rows: [*rows[:2], rows[1] | {"sample": 3}, *rows[3:]], "draws.jsonl:3 (1): the same tree stands at"),
    (_changed(4, tau=0.5), "the tree came after tau"),
    (_changed(4, exhausted=True), "these are declared to be all trees, but their probability is 0."),
    (_changed(3, arrival=1e-3), "the arrival times are not in order"),
    (_changed(0, log_prob=-1e-3), "the probability of the trees is 1."),
]


@pytest.mark.parametrize(("change", "said"), TAMPERED)
def test_what_contradicts_itself_is_no_output_of_swor(deptree, done, put, change, said):
    """One line with the place; the sentence behind it is estimated if errors are skipped."""
    rows = done("swor", DATA / "one.npy", "-k", 5, "--seed", 7).rows
    other = [row | {"sent_id": "2"} for row in rows]
    put("draws.jsonl", "".join(json.dumps(row) + "\n" for row in [*change(rows), *other]))
    ran = deptree("estimate", "draws.jsonl")
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert said in ran.err
    skipping = deptree("estimate", "draws.jsonl", "--on-error", "skip")
    assert (skipping.code, [row["sent_id"] for row in skipping.rows]) == (1, ["2"])
    assert "1 sentence skipped" in skipping.err


# What stands beside trees, but for `tau` and `exhausted`, which are infinite and true where all trees were drawn.
NOTES = ["sample", *(name for name in SworNotes._fields if name not in ("rank", "tau"))]
ABSURD = {name: [*map(json.loads, ("NaN", "-Infinity", "true", "[]", "{}", '"x"', "-3", "1e300"))] for name in NOTES}
ABSURD |= {"tau": [*ABSURD["sample"][:-1], 1e-300], "exhausted": [np.nan, [], {}, "x", -3]}
ABSURD["log_prob"].remove(-3)


@pytest.mark.parametrize("name", ABSURD)
def test_no_note_is_absurd(deptree, done, put, name):
    """No numbers, infinite ones, truth values and other things beside a sentence's last tree, or beside all."""
    rows = done("swor", DATA / "one.npy", "-k", 5, "--seed", 7, "--mass", 0.3).rows
    assert name in rows[-1] | {"rank": 5}
    for value, at in product(ABSURD[name], {len(rows) - 1, 0 if name in rows[0] else len(rows) - 1}):
        changed = [row | {name: value} if number >= at else row for number, row in enumerate(rows)]
        put("draws.jsonl", "".join(json.dumps(row) + "\n" for row in changed))
        ran = deptree("estimate", "draws.jsonl")
        assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), (value, at)
        assert ran.err.startswith("deptree: draws.jsonl:")


@pytest.mark.parametrize("line", ["oops", '{"sent_id": "1", "heads": [2, 1]}', '{"sent_id": "1", "heads": [9]}'])
@pytest.mark.parametrize("number", range(6))
def test_a_line_that_is_no_tree_costs_its_sentence(deptree, done, put, line, number):
    """Wherever it stands: before, between or behind the trees of the sentence; the others are estimated."""
    rows = done("swor", DATA / "one.npy", "-k", 5, "--seed", 7).out.decode().splitlines()
    before, behind = ([row.replace('"sent_id":"1"', f'"sent_id":"{name}"') for row in rows] for name in "02")
    whole = [*before, *rows[:number], line, *rows[number + 1 :], *behind]
    put("draws.jsonl", "\n".join(whole) + "\n")
    ran = deptree("estimate", "draws.jsonl", "--on-error", "skip", "-q")
    assert ran.code == 1
    assert "0" in [row["sent_id"] for row in ran.rows]
    assert "1" not in [row["sent_id"] for row in ran.rows] or number == 5
    assert f"draws.jsonl:{number + 6}" in ran.said[0]


def test_comments_that_leave_a_gap(deptree, done, put):
    """In CoNLL-U, whose numbers are rounded."""
    text = done("swor", *SCORES, *SENTENCES, "--seed", 7, "-k", 30, "-q").out.decode()
    third = text.index("# sent_id = en-1/sample_3\n")
    put("gap.conllu", text[:third] + text[text.index("# sent_id = en-1/sample_4\n") :])
    ran = deptree("estimate", "gap.conllu")
    assert (ran.code, len(ran.said), "has rank 4" in ran.err) == (2, 1, True)
    assert len(deptree("estimate", "gap.conllu", "--on-error", "skip").rows) == 7


OPTIONS = [
    (),
    ("--multi-root",),
    ("--projective",),
    ("--temperature", 0.01),
    ("--temperature", 100),
    ("--mass", 0.6, "-k", 25),
    ("--labels", DATA / "labels.json", "--label-scores", DATA / "label_scores.npz"),
    ("--labels", DATA / "labels.json", "--label-scores", DATA / "label_scores.npz", "--labelled", "-k", 40),
]


@pytest.mark.slow("process")
@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "".join(map(str, options))[:14])
@pytest.mark.parametrize("algorithm", ALGORITHMS.names)
def test_whatever_swor_writes_is_taken(done, algorithm, options):
    draw = ("swor", *SCORES, *SENTENCES, "--sampler", algorithm, "--seed", 7, *options, "-q")
    for fmt in ("jsonl", "conllu"):
        drawn = done(*draw, "--format", fmt).out
        assert len(done("estimate", "-", stdin=drawn).rows) == 8
