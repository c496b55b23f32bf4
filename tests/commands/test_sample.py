"""``deptree sample``: what it writes, where and in which form; that its options do what they say."""

from __future__ import annotations

import zipfile
from collections import Counter

import numpy as np
import pytest

from tests.sample import DATA, SCORES, SENTENCES

SENT_IDS = ["en-1", "en-2", "en-3", "en-4", "cs-1", "cs-2", "ru-1", "ru-2"]
RECIPE = {"conllu": ("--no-header", *SENTENCES), "jsonl": (), "npz": ("--format", "npz")}


def test_json_lines(done, golden):
    golden("sample.jsonl", done("sample", *SCORES, "-k", 2, "--seed", 7).out)


def test_conllu(done, golden):
    golden("sample.conllu", done("sample", *SCORES, *SENTENCES, "--no-header", "--seed", 7).out)


def test_conllu_unique(done, golden):
    out = done("sample", *SCORES, *SENTENCES, "--no-header", "-k", 50, "--unique", "--seed", 7).out
    golden("sample_unique.conllu", out)


def test_the_defaults_are_one_tree_and_conllu_only_where_there_are_sentences(done):
    plain = done("sample", *SCORES, "--seed", 7)
    assert [row["sent_id"] for row in plain.rows] == SENT_IDS
    assert all(list(row) == ["sent_id", "sample", "heads", "log_prob"] for row in plain.rows)
    assert done("sample", *SCORES, *SENTENCES, "--seed", 7).out.count(b"/sample_1\n") == len(SENT_IDS)
    assert done("sample", *SCORES, *SENTENCES, "--seed", 7, "--format", "jsonl").out == plain.out


def test_unique_counts_the_same_trees(done):
    drawn = done("sample", *SCORES, "-k", 200, "--seed", 7).rows
    unique = done("sample", *SCORES, "-k", 200, "--seed", 7, "--unique").rows
    expected = Counter((row["sent_id"], tuple(row["heads"])) for row in drawn)
    assert {(row["sent_id"], tuple(row["heads"])): row["count"] for row in unique} == expected
    assert len(unique) == len(expected)
    for name in SENT_IDS:
        counts = [row["count"] for row in unique if row["sent_id"] == name]
        assert counts == sorted(counts, reverse=True)
        assert [row["sample"] for row in unique if row["sent_id"] == name] == list(range(1, len(counts) + 1))


def test_npz_holds_the_same_heads(done, put, tmp_path):
    put("unrelated", b"")
    rows = done("sample", *SCORES, "-k", 3, "--seed", 7).rows
    done("sample", *SCORES, "-k", 3, "--seed", 7, "-o", "heads.npz")
    with np.load(tmp_path / "heads.npz") as heads:
        assert list(heads) == SENT_IDS
        assert all(np.issubdtype(heads[name].dtype, np.integer) for name in heads)
        assert {name: heads[name].tolist() for name in heads} == {
            name: [row["heads"] for row in rows if row["sent_id"] == name] for name in SENT_IDS
        }
    with zipfile.ZipFile(tmp_path / "heads.npz") as archive:
        assert archive.comment.decode() == done("sample", *SCORES, "-k", 3, "--seed", 7, "--header").signature


@pytest.mark.parametrize(
    ("name", "form"),
    [("a.conllu", "conllu"), ("a.jsonl", "jsonl"), ("a.ndjson", "jsonl"), ("a.npz", "npz"), ("A.JSONL", "jsonl")],
)
def test_the_suffix_decides(done, put, tmp_path, name, form):
    put("unrelated", b"")
    header = () if form == "npz" else ("--no-header",)  # where there is a choice
    written = done("sample", *SCORES, "--seed", 7, *header, *SENTENCES, "-o", name)
    assert written.out == b""
    assert (tmp_path / name).read_bytes() == done("sample", *SCORES, "--seed", 7, *RECIPE[form]).out


def test_the_signature_says_how(done):
    fields = done("sample", *SCORES, "-k", 3, "--seed", 7, "--sampler", "colbourn", "--header").signature.split("|")
    assert fields[:2] == ["deptree", "sample"]
    assert {"sampler:colbourn", "from:natasha", "root:single", "size:3", "seed:7"} < set(fields)
    auto = done("sample", *SCORES, "--seed", 7, "--header").signature
    assert "sampler:auto=" in auto


DIFFERENCES = [
    ((), ("--from", "weight")),
    ((), ("--from", "dep-head")),
    ((), ("--from", "last")),
    ((), ("--multi-root",)),
    ((), ("--projective",)),
    ((), ("--temperature", "2")),
    (("--temperature", "1.0000001"), ("--temperature", "1.0000002")),
    (("--from", "supar"), ("--from", "supar,weight")),
    (("--from", "supar"), ("--from", "supar,head-dep")),
    (("--from", "supar"), ("--from", "supar,last")),
    (("--from", "supar"), ("--from", "synjax")),
]


@pytest.mark.parametrize(("one", "other"), DIFFERENCES, ids=lambda options: " ".join(options) or "default")
def test_what_changes_the_trees_changes_the_signature(done, put, one, other):
    if other == ("--from", "weight"):
        one = ("--from", "log")
    put("ones.npy", np.ones((4, 4)))
    ran = [done("sample", "ones.npy", "--seed", 7, "--header", *options).signature for options in (one, other)]
    assert ran[0] != ran[1]


def test_quiet_says_nothing(done):
    assert done("sample", *SCORES, "-q").err == ""
    assert done("sample", DATA / "one.npy", "-q").err == ""
    assert done("sample", DATA / "one.npy", "-q", "--sampler", "wilson-rc").err == ""


def test_a_biased_sampler_is_called_so(done):
    assert "wilson-rc is biased" in done("sample", DATA / "one.npy", "--sampler", "wilson-rc").err
    assert "biased" not in done("sample", DATA / "one.npy").err
