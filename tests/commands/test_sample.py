"""What `sample` and its kin write; trees that are counted; a random stream for each sentence, repeated by its seed."""

from __future__ import annotations

import re
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.lines import table
from tests.sample import DATA

SENT_IDS = ["en-1", "en-2", "en-3", "en-4", "cs-1", "cs-2", "ru-1", "ru-2"]
LINES = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)
HOT = "-k 20 --temperature 5 --seed 7"


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
    for name in SENT_IDS:
        counts = [row["count"] for row in unique if row["sent_id"] == name]
        assert counts == sorted(counts, reverse=True)
        assert [row["sample"] for row in unique if row["sent_id"] == name] == list(range(1, len(counts) + 1))


def test_the_suffix_decides_and_npz_holds_the_same_heads(done):
    plain = done("sample $SCORES -k 3 --seed 7")
    rows = plain.rows
    done("sample $SCORES $SENTENCES -k 3 --seed 7 --no-header -o A.NDJSON")
    assert Path("A.NDJSON").read_bytes() == plain.out
    done("sample $SCORES -k 3 --seed 7 -o heads.npz")
    with np.load("heads.npz") as heads:
        assert list(heads) == SENT_IDS
        for name in heads:
            assert np.issubdtype(heads[name].dtype, np.integer)
            assert heads[name].tolist() == [row["heads"] for row in rows if row["sent_id"] == name]
    with zipfile.ZipFile("heads.npz") as archive:
        assert archive.comment.decode() == done("sample $SCORES -k 3 --seed 7 --header").signature


def test_the_signature_says_how(done):
    fields = done("sample $SCORES -k 3 --seed 7 --sampler colbourn --header").signature.split("|")
    assert fields[:2] == ["deptree", "sample"]
    assert {"sampler:colbourn", "from:natasha", "root:single", "size:3", "seed:7"} < set(fields)
    assert "sampler:auto=" in done("sample $SCORES --seed 7 --header").signature
    biased = "sample $DATA/one.npy --sampler wilson-rc"
    assert "wilson-rc is biased" in done(biased).err
    assert done(f"{biased} -q").err == ""
    assert "biased" not in done("sample $DATA/one.npy").err
    projective = done("sample $SCORES --projective --seed 7 --header").signature
    assert "|sampler:auto=eisner|" in projective
    assert "|root:single|trees:projective|" in projective
    assert "|shard:2/3|" in done("sample $SCORES --shard 2/3 --header").signature


def test_what_changes_the_trees_changes_the_signature(done, put):
    put("ones.npy", np.ones((4, 4)))
    presets = [f"--from {name}" for name in ("supar", "supar,weight", "supar,head-dep", "supar,last", "synjax")]
    other = ["", "--from log", "--from dep-head", "--from last", "--multi-root", "--projective", "--temperature 2"]
    lines = [*presets, *other, "--temperature 1.0000001", "--temperature 1.0000002"]
    assert len({done(f"sample ones.npy --seed 7 --header {line}").signature for line in lines}) == len(lines)


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


@pytest.mark.parametrize("command", ["sample", "swor"])
def test_every_sentence_has_a_stream_of_its_own(done, put, command):
    """By its name; of the same name, by its place among those."""
    put("two.npz", {"a": np.ones((7, 7)), "b": np.ones((7, 7))})
    ran = done(f"{command} two.npz -k 10 --seed {10**40}")
    assert trees(ran, "a") != trees(ran, "b")
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
