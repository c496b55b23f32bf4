"""``deptree check-bias``: it catches what is biased, passes what is exact, and says when it cannot tell."""

from __future__ import annotations

import json

import pytest

from tests.sample import DATA, FIGURE1, SCORES

EN_4 = [[2, 0, 2]] * 150 + [[2, 0, 1]] * 72 + [[0, 1, 2]] * 53 + [[0, 1, 1]] * 25  # as probable as they are frequent


def samples(*trees: list[int], sent_id: str = "1") -> str:
    return "".join(json.dumps({"sent_id": sent_id, "heads": heads}) + "\n" for heads in trees)


def test_json_lines(deptree, golden):
    ran = deptree("check-bias", *FIGURE1, "--sampler", "wilson-rc", "-k", 2000, "--seed", 7)
    golden("check_bias.jsonl", ran.out)


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_the_biased_sampler_is_caught(deptree, seed):
    """On Figure 1 Wilson-RC gives root A 1/2 instead of 2/3: a distance of 1/6 in closed form."""
    ran = deptree("check-bias", *FIGURE1, "--sampler", "wilson-rc", "-k", 2000, "--seed", seed)
    assert ran.code == 1
    (row,) = ran.rows
    assert row["verdict"] == "biased"
    assert row["size"] == 2000
    assert row["p_value"] < 1e-10
    assert row["tv_closed_form"] == pytest.approx(1 / 6)
    assert row["tv_distance"] == pytest.approx(1 / 6, abs=0.04)
    assert "1 of 1 sentence biased" in ran.err


def test_auto_is_the_default(done):
    ran = done("check-bias", *FIGURE1, "--seed", 7)
    assert ran.rows[0]["size"] == 2000
    assert done("check-bias", *FIGURE1, "--seed", 7, "--sampler", "auto").out == ran.out


def test_every_form_of_the_same_samples_gives_the_same_audit(done, put):
    recipe = ("sample", *SCORES, "--conllu", DATA / "sentences.conllu", "-k", 300, "--seed", 7)
    put("0", done(*recipe).out)
    put("1", done(*recipe, "--unique").out)
    put("2", done(*recipe, "--format", "jsonl").out)
    put("3", b"".join(reversed(done(*recipe, "--format", "jsonl", "--unique").out.splitlines(keepends=True))))
    audits = [done("check-bias", *SCORES, "--samples", name).out for name in "0123"]
    assert len(set(audits)) == 1


def test_samples_of_a_biased_sampler(deptree, done, put):
    put("rc.jsonl", done("sample", *FIGURE1, "--sampler", "wilson-rc", "-k", 2000, "--seed", 7).out)
    ran = deptree("check-bias", *FIGURE1, "--samples", "rc.jsonl")
    assert ran.code == 1
    assert ran.rows[0]["verdict"] == "biased"


WRONG = {
    "two roots": [0, 0, 1],
    "an arc of weight 0": [0, 1, 2],
}


@pytest.mark.parametrize("heads", WRONG.values(), ids=WRONG)
def test_one_impossible_tree_is_bias(deptree, put, heads):
    put("s.jsonl", samples(*[[0, 1, 1], [0, 3, 1], [2, 3, 0]] * 20, heads))
    ran = deptree("check-bias", *FIGURE1, "--samples", "s.jsonl")
    assert ran.code == 1
    assert ran.rows[0]["verdict"] == "biased"
    assert (ran.rows[0]["impossible"], ran.rows[0]["size"]) == (1, 61)
    assert ran.rows[0]["p_value"] == 0


def test_two_roots_are_fine_where_they_are_allowed(deptree, put):
    put("s.jsonl", samples([0, 1, 0], [0, 1, 1], [0, 3, 1], [2, 3, 0]))
    (row,) = deptree("check-bias", *FIGURE1, "--samples", "s.jsonl", "--multi-root").rows
    assert (row["impossible"], row["verdict"]) == (0, "undecided")


def test_an_impossible_tree_of_a_long_sentence(deptree, put):
    drawn = samples([2, 0, 4, 2, 7, 7, 2, 2], [0, 0, 4, 2, 7, 7, 2, 2], sent_id="en-1")
    put("one.jsonl", (DATA / "scores.jsonl").read_bytes().split(b"\n")[0] + b"\n")
    put("s.jsonl", drawn)
    ran = deptree("check-bias", "one.jsonl", "--from", "natasha", "--samples", "s.jsonl")
    assert ran.code == 1
    assert ran.rows[0]["method"] == "marginals"
    assert ran.rows[0]["impossible"] == 1


@pytest.mark.parametrize("name", ["doc/1", "doc/1/sample_1", "doc/1/jane", "doc/1-sample_12"])
def test_a_name_may_have_a_slash_of_its_own(deptree, put, name):
    """Only what follows the sentence's name marks the sample."""
    put("scores.jsonl", json.dumps({"sent_id": "doc/1", "scores": [[0, 1], [0, 0]]}))
    put("samples.conllu", f"# sent_id = {name}\n1\tone\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert deptree("check-bias", "scores.jsonl", "--samples", "samples.conllu").rows[0]["size"] == 1


@pytest.mark.parametrize("size", [1, 10, 2000])
def test_a_few_trees_leave_it_undecided(deptree, size):
    """A single tree of each sentence is no sign that nothing is wrong; 2,000 are, up to what `detectable_tv` says."""
    ran = deptree("check-bias", *SCORES, "-k", size, "--seed", 7)
    assert ran.code == (0 if size == 2000 else 3)
    assert {row["verdict"] for row in ran.rows} == {"no bias found" if size == 2000 else "undecided"}
    for row in ran.rows:
        assert (row["detectable_tv"] is None or row["detectable_tv"] > 0.25) == (size < 2000)


def test_sentences_without_samples_are_undecided(deptree, put):
    put("s.jsonl", samples(*EN_4 * 2, sent_id="en-4"))
    ran = deptree("check-bias", *SCORES, "--samples", "s.jsonl")
    assert ran.code == 3
    verdicts = {row["sent_id"]: row["verdict"] for row in ran.rows}
    assert verdicts.pop("en-4") == "no bias found"
    assert set(verdicts.values()) == {"undecided"}
    assert "7 undecided" in ran.err
    assert "Traceback" not in ran.err


def test_bias_outweighs_indecision(deptree, put):
    put("s.jsonl", samples([0, 0, 1], sent_id="en-4"))
    assert deptree("check-bias", *SCORES, "--samples", "s.jsonl").code == 1


@pytest.mark.parametrize("argument", ["--sampler", "--samples"])
def test_skipped_sentences_are_no_success(deptree, done, put, argument):
    """Nobody may read exit status 0 as a verdict on the sentences that were skipped."""
    lines = (DATA / "scores.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    put("mixed.jsonl", lines[0] + '{"sent_id": "bad", "scores": [[1]]}\n' + lines[1])
    put("s.jsonl", done("sample", *SCORES, "-k", 100, "--seed", 7).out.split(b'{"sent_id":"en-3"', 1)[0])
    audited = ("--seed", 7, "-k", 100) if argument == "--sampler" else ("--samples", "s.jsonl")
    ran = deptree("check-bias", "mixed.jsonl", "--from", "natasha", "--on-error", "skip", *audited)
    assert [row["sent_id"] for row in ran.rows] == ["en-1", "en-2"]
    assert "skipped" in ran.err
    assert ran.code == 3


def test_samples_of_a_skipped_sentence_are_no_error(deptree, done, put):
    lines = (DATA / "scores.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    put("s.jsonl", done("sample", *SCORES, "-k", 10, "--seed", 7).out)
    put("mixed.jsonl", '{"sent_id": "en-1", "scores": [[1]]}\n' + "".join(lines[1:]))
    ran = deptree("check-bias", "mixed.jsonl", "--from", "natasha", "--on-error", "skip", "--samples", "s.jsonl")
    assert len(ran.rows) == 7


def test_two_sentences_of_one_name_are_not_mixed_up(deptree, done, put):
    """Samples are found by name: where two sentences share one, this has to be said, not guessed."""
    sure, unsure = [[0, 1, 1], [0, 0, 1], [0, 0, 0]], [[0, 1, 1], [0, 0, 1], [0, 1, 0]]
    put("d.jsonl", "".join(json.dumps({"sent_id": "a", "scores": scores}) + "\n" for scores in (unsure, sure)))
    put("s.jsonl", done("sample", "d.jsonl", "-k", 500, "--seed", 7).out)
    ran = deptree("check-bias", "d.jsonl", "--samples", "s.jsonl", "-q")
    assert ran.code == 2
    assert "a" in ran.err


@pytest.mark.slow("process")
def test_exit_statuses_of_the_real_command(real):
    assert real("check-bias", *FIGURE1, "--seed", 7).code == 0
    assert real("check-bias", *FIGURE1, "--seed", 7, "--sampler", "wilson-rc").code == 1
    assert real("check-bias", *FIGURE1, "--seed", 7, "-k", 1).code == 3
    assert real("check-bias", "missing.npy").code == 2
