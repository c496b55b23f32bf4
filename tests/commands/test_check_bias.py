"""`deptree check-bias`: it catches what is biased, passes what is exact, and says when it cannot tell or skips."""

import json
from pathlib import Path

import pytest

from tests.sample import DATA

EN_4 = [[2, 0, 2]] * 150 + [[2, 0, 1]] * 72 + [[0, 1, 2]] * 53 + [[0, 1, 1]] * 25  # as probable as they are frequent


def samples(*trees, sent_id="1", **notes):
    return "".join(json.dumps({"sent_id": sent_id, "heads": heads} | notes) + "\n" for heads in trees)


def test_json_lines_of_a_biased_sampler_and_the_default(deptree, done, golden):
    ran = deptree("check-bias $FIGURE1 --sampler wilson-rc -k 2000 --seed 7")
    golden("check_bias.jsonl", ran.out)
    assert ran.code == 1
    assert "1 of 1 sentence biased" in ran.err
    assert ran.rows[0]["tv_closed_form"] == pytest.approx(1 / 6)  # Wilson-RC gives root A 1/2 instead of 2/3
    auto = done("check-bias $FIGURE1 --seed 7")
    assert auto.rows[0]["size"] == 2000
    assert done("check-bias $FIGURE1 --seed 7 --sampler auto").out == auto.out


def test_every_form_of_the_same_samples_gives_the_same_audit(done, put):
    line = "sample $SCORES $SENTENCES -k 300 --seed 7"
    forms = [done(f"{line} {more}").out for more in ("", "--unique", "--format jsonl", "--format jsonl --unique")]
    forms.append(b"".join(reversed(forms.pop().splitlines(keepends=True))))
    assert len({done("check-bias $SCORES --samples -", stdin=form).out for form in forms}) == 1


@pytest.mark.parametrize("heads", [[0, 1, 0], [0, 1, 2]], ids=["two roots", "an arc of weight 0"])
def test_one_impossible_tree_is_bias(deptree, put, heads):
    """Two roots are fine where they are allowed."""
    put("s.jsonl", samples(*[[0, 1, 1], [0, 3, 1], [2, 3, 0]] * 20, heads))
    ran = deptree("check-bias $FIGURE1 --samples s.jsonl")
    (row,) = ran.rows
    assert (ran.code, row["verdict"], row["p_value"]) == (1, "biased", 0)
    assert (row["impossible"], row["size"]) == (1, 61)
    (row,) = deptree("check-bias $FIGURE1 --samples s.jsonl --multi-root").rows
    assert row["impossible"] == (heads == [0, 1, 2])


def test_a_name_may_have_a_slash_of_its_own(deptree, put):
    """Only what follows the sentence's name marks the sample."""
    put("scores.jsonl", json.dumps({"sent_id": "doc/1", "scores": [[0, 1], [0, 0]]}))
    names, word = ("doc/1", "doc/1/sample_1", "doc/1/jane", "doc/1-sample_12"), "1\tone\t_\t_\t_\t_\t0\troot\t_\t_\n"
    put("samples.conllu", "".join(f"# sent_id = {name}\n{word}\n" for name in names))
    assert deptree("check-bias scores.jsonl --samples samples.conllu").rows[0]["size"] == 4


@pytest.mark.parametrize("size", [1, 10, 2000])
def test_a_few_trees_leave_it_undecided(deptree, size):
    """A single tree of each sentence is no sign that nothing is wrong; 2,000 are, up to what `detectable_tv` says."""
    ran = deptree(f"check-bias $SCORES -k {size} --seed 7")
    assert ran.code == (0 if size == 2000 else 3)
    assert {row["verdict"] for row in ran.rows} == {"no bias found" if size == 2000 else "undecided"}
    for row in ran.rows:
        assert (row["detectable_tv"] is None or row["detectable_tv"] > 0.25) == (size < 2000)


def test_sentences_without_samples_are_undecided_and_bias_outweighs_that(deptree, put):
    put("s.jsonl", samples(*EN_4 * 2, sent_id="en-4"))
    ran = deptree("check-bias $SCORES --samples s.jsonl")
    assert ran.code == 3
    verdicts = {row["sent_id"]: row["verdict"] for row in ran.rows}
    assert verdicts.pop("en-4") == "no bias found"
    assert set(verdicts.values()) == {"undecided"}
    assert "7 undecided" in ran.err
    put("s.jsonl", samples([0, 0, 1], sent_id="en-4"))
    assert deptree("check-bias $SCORES --samples s.jsonl").code == 1


@pytest.mark.parametrize("audited", ["--seed 7 -k 100", "--samples s.jsonl"])
def test_skipped_sentences_are_no_success_and_their_samples_no_error(deptree, done, put, audited):
    """Nobody may read exit status 0 as a verdict on the sentences that were skipped."""
    first, second, *_ = (DATA / "scores.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    put("mixed.jsonl", first + '{"sent_id": "en-3", "scores": [[1]]}\n' + second)
    put("s.jsonl", done("sample $SCORES -k 100 --seed 7").out.split(b'{"sent_id":"en-4"', 1)[0])
    ran = deptree(f"check-bias mixed.jsonl --from natasha --on-error skip {audited}")
    assert [row["sent_id"] for row in ran.rows] == ["en-1", "en-2"]
    assert "skipped" in ran.err
    assert "sample skipped" not in ran.err
    assert ran.code == 3


def test_samples_whose_arcs_cross_are_bias(deptree, done, put):
    """One among 300 is caught, and the 72 of 300 that cross among all trees of a short sentence."""
    drawn = done("sample $SCORES -k 300 --seed 7 --projective").out.decode()
    put("s.jsonl", drawn)
    line = "check-bias $SCORES --samples s.jsonl --projective"
    done(line)
    put("s.jsonl", drawn + samples([6, 3, 1, 5, 7, 0, 6, 6], sent_id="en-3"))  # 7 -> 5 crosses 0 -> 6
    ran = deptree(line)
    assert ran.code == 1
    assert [(row["sent_id"], row["method"]) for row in ran.rows if row["impossible"]] == [("en-3", "marginals")]
    assert [row["sent_id"] for row in ran.rows if row["verdict"] == "biased"] == ["en-3"]
    put("s.jsonl", samples(*EN_4, sent_id="en-4"))
    (row,) = (row for row in deptree(line).rows if row["size"])
    assert (row["verdict"], row["evidence"], row["impossible"]) == ("biased", "impossible trees", 72)


@pytest.mark.parametrize("line", ["--format jsonl", "--format conllu --mass 0.5"])
@pytest.mark.parametrize("errors", ["fail", "skip"])
def test_distinct_trees_are_not_what_is_audited(refused, done, put, line, errors):
    put("s", done(f"swor $SCORES $SENTENCES -k 20 {line}").out)
    says = "s:1 (en-1", "without replacement (swor)", "as `sample` draws them"
    refused(f"check-bias $SCORES --samples s --on-error {errors}", *says)


@pytest.mark.quick
@pytest.mark.parametrize(
    "heads", ["[2, 1, 0]", '["x", 0, 1]', "[0, 1, 2, 3]", "[0, 1", "[0, 1, 4]", "[0, 1, -1]", "[0, 1, null]"]
)
def test_samples_that_are_none_are_skipped_and_counted(deptree, done, put, heads):
    drawn = done("sample $FIGURE1 -k 2000 --seed 7").out.decode().splitlines(keepends=True)
    bad = f'{{"sent_id": "1", "heads": {heads}}}\n'
    put("s.jsonl", "".join([*drawn[:2], bad, *drawn[2:], bad]))
    put("good.jsonl", "".join(drawn))
    assert deptree("check-bias $FIGURE1 --samples s.jsonl").code == 2
    ran = deptree("check-bias $FIGURE1 --samples s.jsonl --on-error skip")
    assert ran.code == 3
    assert ran.out == done("check-bias $FIGURE1 --samples good.jsonl").out
    assert "s.jsonl:3" in ran.said[0]
    assert "s.jsonl:2002" in ran.said[1]
    assert "2 samples skipped" in ran.err


def test_samples_of_no_sentence_are_skipped_and_hide_no_bias(deptree, put):
    put("s.jsonl", samples([0, 0, 1]) + "".join(samples([0], sent_id=str(name)) for name in range(2, 2000)))
    ran = deptree("check-bias $FIGURE1 --samples s.jsonl --on-error skip -q")
    assert (ran.code, ran.rows[0]["impossible"], len(ran.said)) == (1, 1, 12)
    assert ran.said[-2] == "deptree: skipped: 1,988 more: the scores do not have this sentence."
    assert ran.said[-1] == "deptree: 1998 samples skipped"


def test_trees_in_any_order_by_any_number_of_workers(deptree, done, put):
    """The same but for the last digits of sums; shards leave the trees of other shards' sentences alone."""
    drawn = done("sample $SCORES -k 200 --seed 7").out.splitlines(keepends=True)
    put("s.jsonl", b"".join(drawn))
    put("r.jsonl", b"".join(reversed(drawn)))
    lines = "s.jsonl", "r.jsonl -j 2", "s.jsonl --shard 1/2", "s.jsonl --shard 2/2"
    audits = [done(f"check-bias $SCORES --samples {line}") for line in lines]
    assert "skipped" not in "".join(ran.err for ran in audits)
    whole, turned, *shards = (ran.rows for ran in audits)
    assert [row["size"] for row in whole] == [200] * 8
    for one, other in zip(whole, turned, strict=True):
        assert one == {key: value if type(value) is not float else pytest.approx(value) for key, value in other.items()}
    for shard, of_shard in enumerate(shards):
        found, expected = ([(row["sent_id"], row["size"], row["tests"]) for row in rows] for rows in (of_shard, whole))
        assert found == expected[shard::2]


@pytest.mark.quick
@pytest.mark.parametrize("heads", [[2, 1, 0], [1, 1, 0], [3, 1, 2], [2, 3, 2]])
def test_heads_that_are_no_tree_are_an_error_with_their_line(heads, refused, put):
    put("x.jsonl", samples([0, 1, 1], heads, log_prob=-1.5))
    with Path("x.conllu").open("w") as file:
        for number, tree in enumerate(([0, 1, 1], heads), 1):
            words = "".join(f"{word}\tw\t_\t_\t_\t_\t{head}\tx\t_\t_\n" for word, head in enumerate(tree, 1))
            file.write(f"# sent_id = 1/sample_{number}\n# tree_logprob = -1.5\n{words}\n")
    for name, place in {"x.jsonl": "x.jsonl:2", "x.conllu": "x.conllu:7"}.items():
        for line in ("estimate", "check-bias $FIGURE1 --samples", "check-bias $FIGURE1 --multi-root --samples"):
            refused(f"{line} {name} -q", place, "not a tree")
