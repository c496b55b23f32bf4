"""``check --known``: violations that are meant are left out, and told when they no longer occur."""

from __future__ import annotations

import pytest

from tests.lines import DATA

BROKEN = DATA / "broken.conllu"


@pytest.fixture
def listed(deptree, put):
    """All violations of the sample, and a file of them."""
    out = deptree("check", BROKEN, "--tsv", "-q").out
    put("known.tsv", out)
    return out.decode().splitlines()


@pytest.mark.parametrize("jobs", [1, 2])
def test_all_are_known(done, listed, jobs):
    ran = done("check", BROKEN, "--known", "known.tsv", "-j", jobs)
    assert ran.out == b""
    assert "deptree: 10 violations known: left out, see known.tsv" in ran.said
    assert ran.said[-1] == "deptree: no rule is broken in 12 sentences"


def test_others_are_found_and_those_that_are_gone_are_told(deptree, put, listed):
    """Comments, further columns and the order of columns are free; the file may have none."""
    _, first, *others = listed
    sent_id, rule, word, *_ = first.split("\t")
    put("some.tsv", f"# meant\nword\twhy\trule\tsent_id\n{word}\tso\t{rule}\t{sent_id}\n7\t\tleaf-det\traw-99\n")
    ran = deptree("check", BROKEN, "--known", "some.tsv", "--tsv")
    assert ran.code == 1
    assert ran.out.decode().splitlines()[1:] == others
    assert "deptree: some.tsv:4 (raw-99): leaf-det at word 7 no longer occurs" in ran.said
    assert "no longer" not in deptree("check", BROKEN, "--known", "some.tsv", "--shard", "1/2").err
    put("none.tsv", "")
    assert deptree("check", BROKEN, "--known", "none.tsv", "--tsv", "-q").out.decode().splitlines() == listed


@pytest.mark.parametrize("row", ["raw-01\tnon-tree", "raw-01\tnon-tree\tthree"])
def test_rows_that_name_no_word(refused, put, row):
    put("bad.tsv", f"{row}\n")
    refused(
        "check $DATA/broken.conllu --known bad.tsv", "bad.tsv:1", "is not a sent_id, a rule and the number of a word"
    )


def test_words_of_empty_nodes(deptree, put):
    """Their number is not a whole one; what check writes it reads."""
    put("a.conllu", "1\ta\t_\t_\t_\t_\t0\troot\t0:root\t_\n1.1\tb\t_\t_\t_\t_\t_\t_\t1.1:conj\t_\n\n")
    put("known.tsv", deptree("check a.conllu --tsv").out)
    ran = deptree("check a.conllu --known known.tsv")
    assert (ran.code, ran.out) == (0, b"")
    assert "deptree: 2 violations known: left out, see known.tsv" in ran.said
