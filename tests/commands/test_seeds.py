"""One random stream per sentence: the same bytes for the same seed, whatever else is different."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.sample import DATA, SCORES, SENTENCES

LINES = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)
HOT = ("-k", 20, "--temperature", 5, "--seed", 7)


def trees(ran, sent_id: str) -> list[list[int]]:
    return [row["heads"] for row in ran.rows if row["sent_id"] == sent_id]


@pytest.mark.slow("process")
def test_a_local_dask_cluster(done, real):
    pytest.importorskip("distributed", reason="dask is not installed")
    ran = real("sample", *SCORES, *HOT, "--scheduler", "local", "--jobs", 2, "-q")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == done("sample", *SCORES, *HOT).out


@pytest.mark.parametrize("shards", [1, 3, 8, 9])
def test_shards_are_the_whole(done, shards):
    """Sentence i is in shard i modulo N, with the trees that it has in the whole."""
    stdin = b"".join([*LINES, LINES[0]])
    options = ("sample", "-", "--from", "natasha", "-k", 5, "--temperature", 5, "--seed", 7)
    whole = done(*options, stdin=stdin).rows
    parts = [done(*options, "--shard", f"{i}/{shards}", stdin=stdin).rows for i in range(1, shards + 1)]
    sentences = [whole[start : start + 5] for start in range(0, len(whole), 5)]
    for i, part in enumerate(parts):
        assert part == [row for number, rows in enumerate(sentences) if number % shards == i for row in rows]


def test_the_signature_names_the_shard(done):
    assert "|shard:2/3|" in done("sample", *SCORES, "--shard", "2/3", "--header").signature


@pytest.mark.parametrize("command", ["sample", "swor"])
def test_another_seed_another_tree(done, command):
    options = (*SCORES, "-k", 20, "--temperature", 5)
    assert done(command, *options, "--seed", 8).out != done(command, *options, "--seed", 7).out


@pytest.mark.parametrize("command", ["sample", "swor"])
def test_a_subset_of_json_lines(done, command):
    whole = done(command, *SCORES, *HOT)
    part = done(command, "-", "--from", "natasha", *HOT, stdin=b"".join(LINES[5:] + LINES[2:3]))
    assert list(dict.fromkeys(row["sent_id"] for row in part.rows)) == ["cs-2", "ru-1", "ru-2", "en-3"]
    for sent_id in ("cs-2", "ru-1", "ru-2", "en-3"):
        assert trees(part, sent_id) == trees(whole, sent_id)


def test_a_subset_of_an_archive(done, put):
    with np.load(DATA / "scores.npz") as scores:
        put("part.npz", {key: scores[key] for key in ("ru-2", "cs-1")})
    whole, part = done("sample", *SCORES, *HOT), done("sample", "part.npz", "--from", "natasha", *HOT)
    assert len(part.rows) == 40
    assert trees(part, "ru-2") == trees(whole, "ru-2")
    assert trees(part, "cs-1") == trees(whole, "cs-1")


def test_a_subset_of_the_sentences(done, put):
    blocks = SENTENCES[1].read_text(encoding="utf-8").split("\n\n")
    put("part.conllu", "\n\n".join(blocks[4:]))
    whole = done("sample", *SCORES, *HOT, *SENTENCES, "--no-header").out
    part = done("sample", *SCORES, *HOT, "--conllu", "part.conllu", "--no-header").out
    assert part == whole[whole.index(b"# sent_id = cs-1") :]


def test_sentences_share_no_stream(done, put):
    """The same scores under other names get other trees."""
    put("two.npz", {"a": np.ones((7, 7)), "b": np.ones((7, 7))})
    ran = done("sample", "two.npz", "-k", 10, "--seed", 7)
    assert trees(ran, "a") != trees(ran, "b")


@pytest.mark.parametrize("command", ["sample", "swor"])
def test_duplicates_of_a_name_get_streams_of_their_own(done, command):
    options = ("-", "--from", "natasha", *HOT)
    once, twice = (done(command, *options, stdin=LINES[0] * times) for times in (1, 2))
    first, second = trees(twice, "en-1")[:20], trees(twice, "en-1")[20:]
    assert first == trees(once, "en-1")
    assert len(second) == 20
    assert first != second
    assert done(command, *options, "--jobs", 4, stdin=LINES[0] * 2).out == twice.out


@pytest.mark.parametrize("command", ["sample", "swor", "check-bias"])
def test_a_fresh_seed_is_shown_and_can_be_repeated(done, command):
    options = (command, *SCORES, "-k", 500, "--temperature", 5)
    first, second = done(*options), done(*options)
    assert first.out != second.out
    (seed,) = re.findall(r"\|seed:(\d+)\|", first.err)
    assert done(*options, "--seed", seed).out == first.out
    assert done(*options, "--seed", seed, "--header").signature == first.signature


@pytest.mark.parametrize("seed", [0, 2**32, 2**64, 10**40])
def test_any_seed(done, seed):
    assert done("sample", *SCORES, "--seed", seed).out == done("sample", *SCORES, "--seed", seed).out
