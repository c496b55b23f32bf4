"""Trees that are drawn, `sample` and `swor`: whole outputs, streams and seeds; and what `estimate` makes of them."""

import json
import re
import zipfile
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.quantities import OF_TREES
from deptree_cli.core.swor import ALGORITHMS
from deptree_cli.io.trees import SworNotes
from tests.lines import table
from tests.sample import DATA


@pytest.mark.parametrize(
    ("line", "name"),
    table("""
        sample $SCORES --seed 7 -k 2                                       | sample.jsonl
        sample $SCORES $SENTENCES --seed 7 --no-header                     | sample.conllu
        sample $SCORES $SENTENCES --seed 7 --no-header -k 50 --unique      | sample_unique.conllu
        swor $SCORES --seed 7 -k 3                                         | swor.jsonl
        swor $SCORES $SENTENCES --seed 7 --no-header -k 2                  | swor.conllu
        decode $SCORES $LABELS --projective --conllu $GOLD --no-header     | projective.conllu
        marginals $SCORES --conllu $GOLD --no-header                       | marginals.conllu
        partition $SCORES                                                  | partition.jsonl
        partition $SCORES --summary                                        | partition_summary.json
        inspect $SCORES --conllu $GOLD --json                              | inspect.json
    """),
)
def test_whole_outputs(done, golden, line, name):
    golden(name[0], done(line).out)


def test_unique_counts_the_same_trees(done):
    drawn, unique = (done(f"sample $SCORES -k 200 --seed 7 {more}").rows for more in ("", "--unique"))
    expected = Counter((row["sent_id"], tuple(row["heads"])) for row in drawn)
    assert {(row["sent_id"], tuple(row["heads"])): row["count"] for row in unique} == expected
    assert len(unique) == len(expected)
    for name in {row["sent_id"] for row in unique}:
        counts = [row["count"] for row in unique if row["sent_id"] == name]
        assert counts == sorted(counts, reverse=True)
        assert [row["sample"] for row in unique if row["sent_id"] == name] == list(range(1, len(counts) + 1))


def test_the_suffix_decides_and_npz_holds_the_same_heads(done):
    plain = done("sample $SCORES -k 3 --seed 7")
    done("sample $SCORES $SENTENCES -k 3 --seed 7 --no-header -o A.NDJSON")
    assert Path("A.NDJSON").read_bytes() == plain.out
    done("sample $SCORES -k 3 --seed 7 -o heads.npz")
    with np.load("heads.npz") as heads:
        assert list(heads) == list(dict.fromkeys(row["sent_id"] for row in plain.rows))
        for name in heads:
            assert np.issubdtype(heads[name].dtype, np.integer)
            assert heads[name].tolist() == [row["heads"] for row in plain.rows if row["sent_id"] == name]
    with zipfile.ZipFile("heads.npz") as archive:
        assert archive.comment.decode() == done("sample $SCORES -k 3 --seed 7 --header").signature


def test_the_signature_says_how(done):
    fields = done("sample $SCORES -k 3 --seed 7 --sampler colbourn --header").signature.split("|")
    assert {"sampler:colbourn", "from:natasha", "root:single", "size:3", "seed:7"} < set(fields)
    assert "sampler:auto=" in done("sample $SCORES --seed 7 --header").signature
    biased = "sample $DATA/one.npy --sampler wilson-rc"
    assert "wilson-rc is biased" in done(biased).err
    assert done(f"{biased} -q").err == ""
    assert "biased" not in done("sample $DATA/one.npy").err
    fields = done("sample $SCORES --projective --seed 7 --header").signature.split("|")
    assert {"sampler:auto=eisner", "root:single", "trees:projective"} < set(fields)
    assert "|shard:2/3|" in done("sample $SCORES --shard 2/3 --header").signature


def test_what_changes_the_trees_changes_the_signature(done, put):
    put("ones.npy", np.ones((4, 4)))
    presets = [f"--from {name}" for name in ("supar", "supar,weight", "supar,head-dep", "supar,last", "synjax")]
    other = ["", "--from log", "--from dep-head", "--from last", "--multi-root", "--projective", "--temperature 2"]
    lines = [*presets, *other, "--temperature 1.0000001", "--temperature 1.0000002"]
    assert len({done(f"sample ones.npy --seed 7 --header {line}").signature for line in lines}) == len(lines)


def trees(ran, sent_id):
    return [row["heads"] for row in ran.rows if row["sent_id"] == sent_id]


def test_distinct_trees_depend_on_the_seed_and_on_name_and_place_among_those_of_that_name_only(done, put):
    """Those of `sample`: tests/commands/test_running.py."""
    put("two.npz", {"a": np.ones((7, 7)), "b": np.ones((7, 7))})
    ran = done(f"swor two.npz -k 10 --seed {10**40}")
    assert trees(ran, "a") != trees(ran, "b")
    how = "-k 20 --temperature 5 --seed 7"
    lines, whole = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True), done(f"swor $SCORES {how}")
    part = done(f"swor - --from natasha {how}", stdin=b"".join([*lines[5:], lines[2], lines[5]]))
    assert list(dict.fromkeys(row["sent_id"] for row in part.rows)) == ["cs-2", "ru-1", "ru-2", "en-3"]
    for sent_id in ("cs-2", "ru-1", "ru-2", "en-3"):
        assert trees(part, sent_id)[:20] == trees(whole, sent_id)
    again = trees(part, "cs-2")[20:]
    assert len(again) == 20
    assert again != trees(whole, "cs-2")


@pytest.mark.parametrize("command", ["sample", "swor", "check-bias"])
def test_a_fresh_seed_is_shown_and_can_be_repeated(done, command):
    line = f"{command} $SCORES -k 500 --temperature 5"
    first, second = done(line), done(line)
    assert first.out != second.out
    (seed,) = re.findall(r"\|seed:(\d+)\|", first.err)
    assert done(f"{line} --seed {seed}").out == first.out
    assert done(f"{line} --seed {seed} --header").signature == first.signature


@pytest.mark.parametrize("name", ALGORITHMS.names)
def test_all_trees_of_a_sentence_that_has_few(done, name):
    ran = done(f"swor $FIGURE1 -k 10 --seed 7 --sampler {name}")
    assert sorted(row["heads"] for row in ran.rows) == [[0, 1, 1], [0, 3, 1], [2, 3, 0]]
    assert ran.rows[-1]["mass"] == pytest.approx(1)
    assert ran.rows[-1]["exhausted"] is True
    assert ran.said[-1] == "deptree: 1 sentence (1) with fewer than 10 trees of positive weight: all were drawn"
    assert done(f"swor $FIGURE1 -k 10 -q --sampler {name}").err == ""
    exactly = done(f"swor $FIGURE1 -k 3 --sampler {name}")
    assert ("positive weight" in exactly.err, exactly.rows[-1]["exhausted"]) == (False, True)
    assert len(done(f"swor $DATA/one.npy --sampler {name}").rows) == 10


def test_comments_of_all_trees_that_there_are(done, put):
    put("abc.conllu", "# sent_id = abc\n" + "".join(f"{i}\tf\t_\t_\t_\t_\t_\t_\t_\t_\n" for i in (1, 2, 3)) + "\n")
    text = done("swor $FIGURE1 --conllu abc.conllu -k 5 -q").out.decode()
    assert "# swor_tau" not in text  # infinite
    assert "# swor_exhausted = yes" in text
    assert re.findall("# sent_id = (.*)", text) == [f"abc/sample_{rank}" for rank in (1, 2, 3)]


def test_comments_of_trees_drawn_to_a_mass(done):
    out = done("swor $SCORES $SENTENCES --mass 0.9 --seed 7 --no-header").out.decode()
    rows = done("swor $SCORES --mass 0.9 --seed 7").rows
    for field in ("certain", "since", "tau"):
        noted = [*map(float, re.findall(f"# swor_{field} = (.*)", out))]
        assert noted == [row[field] for row in rows if row.get(field) is not None]
        assert len(noted) > 5
    assert not any("certain" in row or "since" in row for row in done("swor $SCORES --seed 7").rows)
    few = "swor $DATA/one.npy --mass 0.999999 -k 2"
    assert done(few).said[-1] == "deptree: 1 sentence (1) below --mass 0.999999 after 2 trees: raise -k"
    assert done(f"{few} -q").err == ""


@pytest.mark.parametrize("options", ["-k 30", "--mass 0.9 -k 60", "--mass 0.9 -k 60 $LABELS --labelled"])
def test_estimates_of_a_sentence_from_either_format(done, options):
    done(f"swor $SCORES --seed 7 {options} -o draws.jsonl")
    done(f"swor $SCORES --seed 7 {options} $SENTENCES -o draws.conllu")
    ran, theirs = done("estimate draws.jsonl --header"), done("estimate draws.conllu").rows
    assert "|estimate|quantities:non_projective_arcs+depth+mean_length|" in ran.signature
    drawn = done(f"swor $SCORES --seed 7 {options}").rows
    assert [row["sent_id"] for row in ran.rows[1:]] == list(dict.fromkeys(row["sent_id"] for row in drawn))
    for one, other in zip(ran.rows[1:], theirs, strict=True):
        assert list(one) == ["sent_id", "n", "trees", "non_projective_arcs", "depth", "mean_length"]
        assert (one["sent_id"], one["trees"]) == (other["sent_id"], other["trees"])
        for name in ("non_projective_arcs", "depth", "mean_length"):
            assert list(one[name]) == ["unbiased", "unbiased_error", "normalised", "normalised_error"]
            found, exact = (np.array([*each[name].values()], dtype=float) for each in (other, one))
            np.testing.assert_allclose(found, exact, rtol=1e-4, atol=1e-6)  # comments have six decimals
        rows = [row for row in drawn if row["sent_id"] == one["sent_id"]]
        depths = OF_TREES.get("depth").of_sentence(np.array([row["heads"] for row in rows], dtype=np.int32))
        assert one["depth"]["unbiased"] == pytest.approx(np.array([row["weight"] for row in rows]) @ depths)


def test_errors_that_are_unknown(done, terminal):
    """null in JSON, nothing in TSV, a dash in a table; among arcs one by one."""
    done("swor $DATA/one.npy -k 1 --seed 7 -o one.jsonl")
    (row,) = done("estimate one.jsonl --quantity depth").rows
    assert row["depth"]["unbiased_error"] is row["depth"]["normalised_error"] is None
    cells = done("estimate one.jsonl --quantity depth --tsv").out.decode().splitlines()[1].split("\t")
    assert (cells[4], cells[6]) == ("", "")
    assert terminal("estimate", "one.jsonl", "--quantity", "depth")[1].count(" -") == 2
    done("swor $DATA/one.npy -k 4 --seed 7 -o four.jsonl")
    errors = done("estimate four.jsonl --quantity arcs").rows[0]["arcs"]["normalised_error"]
    assert {type(error) for line in errors for error in line} == {float, type(None)}


def test_every_quantity_and_arcs_are_marginals(done):
    done("swor $FIGURE1 -k 5 -o all.jsonl")
    rows = {name: done(f"estimate all.jsonl --quantity {name}").rows[0] for name in OF_TREES.names}
    assert all(list(row) == ["sent_id", "n", "trees", name] for name, row in rows.items())
    (exact,) = done("marginals $FIGURE1").rows
    assert np.array(rows["arcs"]["arcs"]["unbiased"]) == pytest.approx(np.array(exact["marginals"]))
    assert not np.array(rows["arcs"]["arcs"]["unbiased_error"]).any()


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        -0.5                                 | x.jsonl:1 (a): the sentence's last tree, which carries tau, is missing
        null                                 | log_prob is missing
        0.5                                  | log_prob is not the logarithm
        -0.5,"tau":-1                        | tau is not a time
        -0.5,"tau":2,"certain":2,"since":1   | certain is not a number of trees, 0 to 1
        -0.5,"tau":2,"certain":0.5,"since":1 | certain is not a number of trees, 0 to 1
        -0.5,"tau":2,"certain":1             | and since when the last of them came
        -0.5,"tau":2,"since":1               | and since when the last of them came
        -0.5,"tau":2,"certain":1,"since":2   | since is not a time before tau
    """),
)
def test_what_is_not_from_swor(refused, put, line, says):
    put("x.jsonl", f'{{"sent_id":"a","heads":[0,1],"log_prob":{line}}}\n')
    refused("estimate x.jsonl", *says)


def dumped(rows):
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda rows: rows[:1] + rows[2:], "draws.jsonl:2 (1): tree 2 of the sentence has rank 3: one is missing"),
        (lambda rows: [rows[1], rows[0], *rows[2:]], "draws.jsonl:1 (1): tree 1 of the sentence has rank 2"),
        (lambda rows: [*rows[:2], rows[1] | {"sample": 3}, *rows[3:]], "draws.jsonl:3 (1): the same tree stands at"),
        (lambda rows: [*rows[:4], rows[4] | {"tau": 0.5}], "the tree came after tau"),
        (lambda rows: [*rows[:4], rows[4] | {"exhausted": True}], "to be all trees, but their probability is 0."),
        (lambda rows: [*rows[:3], rows[3] | {"arrival": 1e-3}, rows[4]], "the arrival times are not in order"),
        (lambda rows: [rows[0] | {"log_prob": -1e-3}, *rows[1:]], "the probability of the trees is 1."),
    ],
)
def test_what_contradicts_itself_is_no_output_of_swor(deptree, done, refused, put, change, said):
    rows = done("swor $DATA/one.npy -k 5 --seed 7").rows
    put("draws.jsonl", dumped([*change(rows), *(row | {"sent_id": "2"} for row in rows)]))
    refused("estimate draws.jsonl", said)
    skipping = deptree("estimate draws.jsonl --on-error skip")
    assert (skipping.code, [row["sent_id"] for row in skipping.rows]) == (1, ["2"])
    assert "1 sentence skipped" in skipping.err


# What stands beside trees, but for `tau` and `exhausted`, which are infinite and true where all trees were drawn.
NOTES = ["sample", *(name for name in SworNotes._fields if name not in ("rank", "tau"))]
ABSURD = {name: [*map(json.loads, ("NaN", "-Infinity", "true", "[]", "{}", '"x"', "-3", "1e300"))] for name in NOTES}
ABSURD |= {"tau": [*ABSURD["sample"][:-1], 1e-300], "exhausted": [np.nan, [], {}, "x", -3]}
ABSURD["log_prob"].remove(-3)


@pytest.mark.parametrize("name", ABSURD)
def test_no_note_is_absurd(done, refused, put, name):
    rows = done("swor $DATA/one.npy -k 5 --seed 7 --mass 0.3").rows
    assert name in rows[-1] | {"rank": 5}
    for value, at in product(ABSURD[name], {len(rows) - 1, 0 if name in rows[0] else len(rows) - 1}):
        put("draws.jsonl", dumped(row | {name: value} if number >= at else row for number, row in enumerate(rows)))
        refused("estimate draws.jsonl", "deptree: draws.jsonl:")


@pytest.mark.parametrize("line", ["oops", '{"sent_id": "1", "heads": [2, 1]}', '{"sent_id": "1", "heads": [9]}'])
@pytest.mark.parametrize("number", range(6))
def test_a_line_that_is_no_tree_costs_its_sentence(deptree, done, put, line, number):
    """Wherever it stands: before, between or behind the trees of the sentence; the others are estimated."""
    rows = done("swor $DATA/one.npy -k 5 --seed 7").out.decode().splitlines()
    before, behind = ([row.replace('"sent_id":"1"', f'"sent_id":"{name}"') for row in rows] for name in "02")
    put("draws.jsonl", "\n".join([*before, *rows[:number], line, *rows[number + 1 :], *behind]) + "\n")
    ran = deptree("estimate draws.jsonl --on-error skip -q")
    assert ran.code == 1
    assert "0" in [row["sent_id"] for row in ran.rows]
    assert "1" not in [row["sent_id"] for row in ran.rows] or number == 5
    assert f"draws.jsonl:{number + 6}" in ran.said[0]


def test_comments_that_leave_a_gap(deptree, done, refused, put):
    text = done("swor $SCORES $SENTENCES --seed 7 -k 30 -q").out.decode()
    third, fourth = (text.index(f"# sent_id = en-1/sample_{number}\n") for number in (3, 4))
    put("gap.conllu", text[:third] + text[fourth:])
    refused("estimate gap.conllu", "has rank 4")
    assert len(deptree("estimate gap.conllu --on-error skip").rows) == 7


@pytest.mark.slow("process")
@pytest.mark.parametrize(
    "options",
    [
        *("", "--multi-root", "--projective", "--temperature 0.01", "--temperature 100", "--mass 0.6 -k 25"),
        *("$LABELS", "$LABELS --labelled -k 40"),
    ],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS.names)
def test_whatever_swor_writes_is_taken(done, algorithm, options):
    for fmt in ("jsonl", "conllu"):
        drawn = done(f"swor $SCORES $SENTENCES --sampler {algorithm} --seed 7 {options} -q --format {fmt}").out
        assert len(done("estimate -", stdin=drawn).rows) == 8
