"""When the signature stands on stderr: where it says what the command line does not, on one line that is never torn."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.sample import DATA, SCORES


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("partition", *SCORES), False),
        (("sample", *SCORES), True),
        (("sample", *SCORES, "-q"), False),
        (("sample", *SCORES, "--seed", 1), False),
        (("show", *SCORES), False),
        (("show", *SCORES, "-k", 3), True),
        (("inspect", *SCORES), False),
        (("decode", *SCORES, "--conllu", DATA / "sentences.conllu"), False),
    ],
)
def test_it_says_what_is_news(done, args, said):
    ran = done(*args)
    assert len([line for line in ran.said if line.startswith("deptree: deptree|")]) == said
    assert said or ran.err == ""


def test_a_layout_found_in_the_file_is_news(done, put):
    put("unrelated", b"")
    done("convert", *SCORES, "--to", "spacy", "-o", "own.npz", "-q")
    assert "|from:spacy|" in done("partition", "own.npz").signature
    assert done("partition", "own.npz", "--from", "spacy").err == ""


def test_output_always_has_it(done, put):
    ran = done("decode", *SCORES, "--conllu", DATA / "sentences.conllu", "-q")
    assert ran.out.startswith(b"# generator = deptree|decode|")


def test_names_do_not_break_it(done, put):
    labels = put("a|b\nc.txt", (DATA / "labels.json").read_bytes())
    ran = done("decode", *SCORES, "--labels", labels, "--label-scores", DATA / "label_scores.npz", "--header")
    assert ran.err == ""
    assert r"|labels:a\x7cb\nc.txt|" in ran.signature


def test_it_is_not_wrapped_on_a_terminal(terminal, put):
    name = "long" * 40 + ".json"
    put(name, (DATA / "labels.json").read_bytes())
    code, shown = terminal("sample", *SCORES, "--labels", name, "--label-scores", DATA / "label_scores.npz")
    assert code == 0
    assert re.search(rf"deptree: deptree\|sample\|[^\n]*{name}\|[^\n]*v:[\d.]+\r?\n", shown)


def test_arrays_of_one_root_assumed_say_so_in_one_line(done, put):
    put("square.npy", np.ones((3, 3)))
    assert len(done("partition", "square.npy").said) == 1
