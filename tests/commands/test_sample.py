"""`deptree sample`: what it writes, where and in which form; one random stream per sentence, repeated by its seed."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.sample import DATA

SENT_IDS = ["en-1", "en-2", "en-3", "en-4", "cs-1", "cs-2", "ru-1", "ru-2"]
LINES = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)
HOT = "-k 20 --temperature 5 --seed 7"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("-k 2", "sample.jsonl"),
        ("$SENTENCES --no-header", "sample.conllu"),
        ("$SENTENCES --no-header -k 50 --unique", "sample_unique.conllu"),
    ],
)
def test_whole_outputs(done, golden, line, name):
    golden(name, done(f"sample $SCORES --seed 7 {line}").out)


def test_the_defaults_are_one_tree_and_conllu_only_where_there_are_sentences(done):
    plain = done("sample $SCORES --seed 7")
    assert [row["sent_id"] for row in plain.rows] == SENT_IDS
    assert all(list(row) == ["sent_id", "sample", "heads", "log_prob"] for row in plain.rows)
    assert done("sample $SCORES $SENTENCES --seed 7").out.count(b"/sample_1\n") == len(SENT_IDS)
    assert done("sample $SCORES $SENTENCES --seed 7 --format jsonl").out == plain.out


def test_unique_counts_the_same_trees(done):
    drawn, unique = (done(f"sample $SCORES -k 200 --seed 7 {more}").rows for more in ("", "--unique"))
    expected = Counter((row["sent_id"], tuple(row["heads"])) for row in drawn)
    assert {(row["sent_id"], tuple(row["heads"])): row["count"] for row in unique} == expected
    assert len(unique) == len(expected)
    for name in SENT_IDS:
        counts = [row["count"] for row in unique if row["sent_id"] == name]
        assert counts == sorted(counts, reverse=True)
        assert [row["sample"] for row in unique if row["sent_id"] == name] == list(range(1, len(counts) + 1))


def test_npz_holds_the_same_heads(done):
    rows = done("sample $SCORES -k 3 --seed 7").rows
    done("sample $SCORES -k 3 --seed 7 -o heads.npz")
    with np.load("heads.npz") as heads:
        assert list(heads) == SENT_IDS
        for name in heads:
            assert np.issubdtype(heads[name].dtype, np.integer)
            assert heads[name].tolist() == [row["heads"] for row in rows if row["sent_id"] == name]
    with zipfile.ZipFile("heads.npz") as archive:
        assert archive.comment.decode() == done("sample $SCORES -k 3 --seed 7 --header").signature


@pytest.mark.quick
@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("a.conllu", "--no-header $SENTENCES"),
        ("a.jsonl", ""),
        ("a.ndjson", ""),
        ("A.JSONL", ""),
        ("a.npz", "--format npz"),
    ],
)
def test_the_suffix_decides(done, name, same):
    header = "" if name == "a.npz" else "--no-header"  # where there is a choice
    assert done(f"sample $SCORES --seed 7 {header} $SENTENCES -o {name}").out == b""
    assert Path(name).read_bytes() == done(f"sample $SCORES --seed 7 {same}").out


def test_the_signature_says_how(done):
    fields = done("sample $SCORES -k 3 --seed 7 --sampler colbourn --header").signature.split("|")
    assert fields[:2] == ["deptree", "sample"]
    assert {"sampler:colbourn", "from:natasha", "root:single", "size:3", "seed:7"} < set(fields)
    assert "sampler:auto=" in done("sample $SCORES --seed 7 --header").signature
    projective = done("sample $SCORES --projective --seed 7 --header").signature
    assert "|sampler:auto=eisner|" in projective
    assert "|root:single|trees:projective|" in projective
    assert "|shard:2/3|" in done("sample $SCORES --shard 2/3 --header").signature


@pytest.mark.quick
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--from log", "--from weight"),
        ("", "--from dep-head"),
        ("", "--from last"),
        ("", "--multi-root"),
        ("", "--projective"),
        ("", "--temperature 2"),
        ("--temperature 1.0000001", "--temperature 1.0000002"),
        ("--from supar", "--from supar,weight"),
        ("--from supar", "--from supar,head-dep"),
        ("--from supar", "--from supar,last"),
        ("--from supar", "--from synjax"),
    ],
)
def test_what_changes_the_trees_changes_the_signature(done, put, one, other):
    put("ones.npy", np.ones((4, 4)))
    signatures = {done(f"sample ones.npy --seed 7 --header {options}").signature for options in (one, other)}
    assert len(signatures) == 2


def test_quiet_says_nothing_and_else_a_biased_sampler_is_called_so(done):
    assert done("sample $SCORES -q").err == ""
    assert done("sample $DATA/one.npy -q --sampler wilson-rc").err == ""
    assert "wilson-rc is biased" in done("sample $DATA/one.npy --sampler wilson-rc").err
    assert "biased" not in done("sample $DATA/one.npy").err


def trees(ran, sent_id):
    return [row["heads"] for row in ran.rows if row["sent_id"] == sent_id]


@pytest.mark.parametrize("command", ["sample", "swor"])
def test_trees_of_a_sentence_depend_on_its_name_and_the_seed_only(done, command):
    whole = done(f"{command} $SCORES {HOT}")
    assert done(f"{command} $SCORES -k 20 --temperature 5 --seed 8").out != whole.out
    part = done(f"{command} - --from natasha {HOT}", stdin=b"".join(LINES[5:] + LINES[2:3]))
    assert list(dict.fromkeys(row["sent_id"] for row in part.rows)) == ["cs-2", "ru-1", "ru-2", "en-3"]
    for sent_id in ("cs-2", "ru-1", "ru-2", "en-3"):
        assert trees(part, sent_id) == trees(whole, sent_id)


def test_the_same_scores_under_another_name_get_other_trees(done, put):
    put("two.npz", {"a": np.ones((7, 7)), "b": np.ones((7, 7))})
    ran = done("sample two.npz -k 10 --seed 7")
    assert trees(ran, "a") != trees(ran, "b")


@pytest.mark.parametrize("command", ["sample", "swor"])
def test_duplicates_of_a_name_get_streams_of_their_own(done, command):
    line = f"{command} - --from natasha {HOT}"
    once, twice = (done(line, stdin=LINES[0] * times) for times in (1, 2))
    first, second = trees(twice, "en-1")[:20], trees(twice, "en-1")[20:]
    assert first == trees(once, "en-1")
    assert len(second) == 20
    assert first != second
    assert done(f"{line} --jobs 4", stdin=LINES[0] * 2).out == twice.out


@pytest.mark.parametrize("command", ["sample", "swor", "check-bias"])
def test_a_fresh_seed_is_shown_and_can_be_repeated(done, command):
    line = f"{command} $SCORES -k 500 --temperature 5"
    first, second = done(line), done(line)
    assert first.out != second.out
    (seed,) = re.findall(r"\|seed:(\d+)\|", first.err)
    assert done(f"{line} --seed {seed}").out == first.out
    assert done(f"{line} --seed {seed} --header").signature == first.signature


def test_any_whole_number_is_a_seed(done):
    of_seeds = [
        [done(f"sample $SCORES {HOT}{more}").out for _ in range(2)] for more in ("0", "0" * 9, "0" * 19, "0" * 39)
    ]
    assert all(one == other for one, other in of_seeds)
    assert len({one for one, _ in of_seeds}) == 4
