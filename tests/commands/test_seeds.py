"""One random stream per sentence: the same bytes for the same seed, whatever else is different."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.sample import DATA, SCORES

LINES = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)
HOT = ("-k", 20, "--temperature", 5, "--seed", 7)


def trees(ran, sent_id: str) -> list[list[int]]:
    return [row["heads"] for row in ran.rows if row["sent_id"] == sent_id]


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
