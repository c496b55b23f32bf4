"""One name for one thing, in every command."""

from __future__ import annotations

import re

import click
import numpy as np
import pytest

from tests.every_command import COMMANDS, command
from tests.sample import DATA, SCORES

GOLD = DATA / "gold.conllu"


def options(name: str) -> dict[str, click.Option]:
    return {opt: each for each in command(name).params if isinstance(each, click.Option) for opt in each.opts}


SHORT = {"-j": "--jobs", "-q": "--quiet", "-o": "--output"}

# A model is trained by one process; what it holds is looked up at once.
WITHOUT = {
    "hpyp train": {"-j"},
    "warm": {"-j"},
    **{name: {"-j"} for name in ("agree", "diff", "estimate", "eval")},  # reading is most of the work
    "show": {"-j"},  # one sentence
    "bitext show": {"-j"},
}


@pytest.mark.parametrize("name", COMMANDS)
def test_short_names_mean_the_same_everywhere(name):
    found = options(name)
    for short in SHORT.keys() - WITHOUT.get(name, set()):
        assert found[short] is found[SHORT[short]]
    assert ("-k" in found) == ("--size" in found)
    assert name in ("agree", "check-bias") or "--alpha" not in found
    written = found["--format"].type.choices if "--format" in found else []
    assert {fmt for fmt in ("json", "tsv") if f"--{fmt}" in found} == {
        "json" * ("jsonl" in written),
        "tsv" * ("tsv" in written),
    } - {""}
    assert all(found[each].hidden for each in ("--json", "--tsv") if each in found)


@pytest.mark.parametrize(("name", "given"), [("expect", ("risk", *SCORES)), ("inspect", SCORES)])
def test_sentences_with_heads_are_gold_too(done, name, given):
    assert done(name, *given, "--conllu", GOLD).out == done(name, *given, "--gold", GOLD).out


def test_the_version(deptree):
    assert deptree("-V").out == deptree("--version").out


def test_one_tree_has_no_rank(done):
    assert all("sample" not in row for row in done("decode", *SCORES).rows)
    assert [row["sample"] for row in done("decode", *SCORES, "-k", 2).rows][:2] == [1, 2]


@pytest.mark.parametrize("command", ["decode", "marginals"])
@pytest.mark.parametrize("odds", [1e3, 1e5, 1e9, 1e12])
def test_no_probability_is_rounded_to_a_certainty(done, put, command, odds):
    """Two words, two trees, one of them `odds` times as probable."""
    put("s.npy", np.array([[0, odds, 1], [0, 0, 1], [0, 1, 0]]))
    put("s.conllu", "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n2\tb\t_\t_\t_\t_\t1\tdep\t_\t_\n\n")
    out = done(command, "s.npy", "--from", "head-dep", "--conllu", "s.conllu").out.decode()
    found = re.findall(r"(?:HeadProb|LabelProb|tree_prob) ?= ?(\S+)", out)
    assert len(found) == 3
    assert all(0 < float(text) < 1 for text in found)
    assert all(float(text) == pytest.approx(odds / (odds + 1), abs=1e-4) for text in found)


def test_certainties_stay_certain(done, put):
    put("s.npy", np.array([[0, 1], [0, 0]]))
    put("s.conllu", "1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert "HeadProb=1\n" in done("decode", "s.npy", "--from", "head-dep", "--conllu", "s.conllu").out.decode()


def test_the_mass_of_some_trees_is_not_that_of_all(done, put):
    put("s.npy", np.array([[0, 1e9, 1], [0, 0, 1], [0, 1, 0]]))
    put("s.conllu", "1\ta\t_\t_\t_\t_\t_\t_\t_\t_\n2\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    out = done("swor", "s.npy", "--from", "head-dep", "--conllu", "s.conllu", "-k", 1, "--seed", 1).out.decode()
    assert "# swor_mass = 0.999999999\n" in out


@pytest.mark.parametrize("text", ["{id}-{k:03}", "{id}.{k:3d}", "{k}/{id}{{}}", "{id}{id} 1{k:99}"])
def test_names_of_trees(done, text):
    sentences = ("--conllu", DATA / "sentences.conllu")
    out = done("sample", *SCORES, *sentences, "-k", 2, "--seed", 1, "--sent-id-format", text).out.decode()
    assert f"# sent_id = {text.format(id='en-1', k=2)}\n" in out


NO_NAMES = (
    "{id:>10000000000}-{k} {id}-{k:10000000000} {id}-{k:100} {id}-{k:{k}} {id}-{k!r} {id.__class__}-{k} {id[0]}-{k}"
)


@pytest.mark.parametrize("text", [*NO_NAMES.split(), *["{id}", "{k}", "{}{k}", "{id}{k}{n}", "{id}{k"], "{id}\n{k}"])
def test_no_other_names_of_trees(deptree, text):
    ran = deptree("sample", *SCORES, "--conllu", DATA / "sentences.conllu", "--sent-id-format", text)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert "must have {id} and {k} and no other field" in ran.err


@pytest.mark.parametrize("text", ["{id}{k}", "{k}{id}", "{id}1{k:03}", "{id}-{k}{id}", "{k}0{id}-{k}"])
def test_names_that_two_trees_would_share(deptree, text):
    """The 11th tree of `a` and the first of `a1` are both `a11`: something else than a digit must stand between."""
    ran = deptree("sample", *SCORES, "--conllu", DATA / "sentences.conllu", "-k", 11, "--sent-id-format", text)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert f"{text!r} can give trees of two sentences the same name" in ran.err
    assert "such as '{id}-sample_{k}'" in ran.err
