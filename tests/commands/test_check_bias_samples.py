"""``deptree check-bias --samples``: what is refused as a whole, and what is skipped and counted."""

from __future__ import annotations

import json

import pytest

from tests.sample import DATA, FIGURE1, SCORES


@pytest.mark.parametrize("errors", ["fail", "skip"])
@pytest.mark.parametrize("fmt", ["jsonl", "conllu"])
@pytest.mark.parametrize("mass", [(), ("--mass", 0.5)])
def test_distinct_trees_are_not_what_is_audited(deptree, done, put, fmt, mass, errors):
    """They are biased by design; one line says so and what is audited."""
    drawn = ("swor", *SCORES, "--conllu", DATA / "sentences.conllu", "-k", 20, *mass, "--format", fmt)
    put("s", done(*drawn).out)
    ran = deptree("check-bias", *SCORES, "--samples", "s", "--on-error", errors)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert "s:1 (en-1" in ran.err
    assert "without replacement (swor)" in ran.err
    assert "as `sample` draws them" in ran.err


UNUSABLE = {"a cycle": "[2, 1, 0]", "no number": '["x", 0, 1]', "too long": "[0, 1, 2, 3]", "cut off": "[0, 1"}


@pytest.mark.parametrize("heads", UNUSABLE.values(), ids=UNUSABLE)
def test_samples_that_are_none_are_skipped_and_counted(deptree, done, put, heads):
    """Each is named; the others of its sentence are audited, but that is no verdict of no bias."""
    drawn = done("sample", *FIGURE1, "-k", 2000, "--seed", 7).out.decode().splitlines(keepends=True)
    bad = f'{{"sent_id": "1", "heads": {heads}}}\n'
    put("s.jsonl", "".join([*drawn[:2], bad, *drawn[2:], bad]))
    put("good.jsonl", "".join(drawn))
    assert deptree("check-bias", *FIGURE1, "--samples", "s.jsonl").code == 2
    ran = deptree("check-bias", *FIGURE1, "--samples", "s.jsonl", "--on-error", "skip")
    assert ran.code == 3
    assert ran.out == done("check-bias", *FIGURE1, "--samples", "good.jsonl").out
    assert [f"s.jsonl:{number}" in line for number, line in zip((3, 2002), ran.said, strict=False)] == [True, True]
    assert "2 samples skipped" in ran.err


def test_thousands_of_bad_samples_are_a_few_lines(deptree, put):
    good = '{"sent_id": "1", "heads": [0, 1, 1]}\n'
    put("s.jsonl", good + "".join(f'{{"sent_id": "{name}", "heads": [0]}}\n' for name in range(2, 2000)))
    ran = deptree("check-bias", *FIGURE1, "--samples", "s.jsonl", "--on-error", "skip", "-q")
    assert len(ran.said) == 12
    assert ran.said[-2] == "deptree: skipped: 1,988 more: the scores do not have this sentence."
    assert ran.said[-1] == "deptree: 1998 samples skipped"


def test_samples_of_no_sentence_are_skipped_too(deptree, put):
    lines = [json.dumps({"sent_id": name, "heads": [0, 0, 1]}) + "\n" for name in ("nowhere", "1")]
    put("s.jsonl", "".join(lines))
    ran = deptree("check-bias", *FIGURE1, "--samples", "s.jsonl", "--on-error", "skip")
    assert (ran.code, ran.rows[0]["impossible"]) == (1, 1)
    assert "1 sample skipped" in ran.err


def test_trees_in_any_order_by_any_number_of_workers(deptree, done, put):
    """The same but for the last digits of sums; shards leave the trees of other shards' sentences alone."""
    drawn = done("sample", *SCORES, "-k", 200, "--seed", 7).out.splitlines(keepends=True)
    put("s.jsonl", b"".join(drawn))
    put("r.jsonl", b"".join(reversed(drawn)))

    def audit(name, *more):
        ran = deptree("check-bias", *SCORES, "--samples", name, *more)
        assert (ran.code, "skipped" in ran.err) == (0, False), ran.err
        return ran.rows

    whole, turned = audit("s.jsonl"), audit("r.jsonl", "-j", 2)
    assert [row["size"] for row in whole] == [200] * 8
    for one, other in zip(whole, turned, strict=True):
        assert one == {key: value if type(value) is not float else pytest.approx(value) for key, value in other.items()}
    for shard in (1, 2):
        for one, other in zip(audit("s.jsonl", "--shard", f"{shard}/2"), whole[shard - 1 :: 2], strict=True):
            assert (one["sent_id"], one["size"], one["tests"]) == (other["sent_id"], 200, other["tests"])
