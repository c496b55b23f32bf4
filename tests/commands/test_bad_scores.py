"""Scores that cannot be used, each with its line: the matrix and the file; containers: tests/io."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.commands.readers import READ
from tests.every_command import ENTRIES, options
from tests.lines import table
from tests.sample import DATA

SENTENCES = (DATA / "sentences.conllu").read_text(encoding="utf-8")


def matrix(*cells):
    """Three words, all arcs of weight 1 but for some cells."""
    weights = np.ones((4, 4))
    for head, dependent, weight in cells:
        weights[head, dependent] = weight
    return weights


def jsonl(*objects):
    return "".join(json.dumps(each) + "\n" for each in objects)


TWO_ISLANDS = np.zeros((5, 5))
TWO_ISLANDS[[0, 1, 3, 4], [1, 2, 4, 3]] = 1
CROSSING = np.zeros((5, 5))
CROSSING[[3, 4, 0, 3], [1, 2, 3, 4]] = 1
MATRICES = {
    "nan": matrix((1, 2, np.nan)),
    "nan-of-root": matrix((0, 2, np.nan)),
    "inf": matrix((1, 2, np.inf)),
    "negative": matrix((1, 2, -0.25)),
    "not-square": np.ones((3, 6)),
    "one-dimension": np.ones(4),
    "a-label-axis": np.ones((2, 4, 4, 3)),
    "no-words": np.ones((1, 1)),
    "no-numbers": np.ones((0, 0)),
    "no-head": matrix((slice(None), 2, 0)),
    "log-no-head": matrix((slice(None), 2, -np.inf)),
    "no-root": matrix((0, slice(None), 0)),
    "two-roots": matrix((slice(1, 4), slice(2, 4), 0)),
    "islands": TWO_ISLANDS,
    "crossing": CROSSING,
    "wide": np.ones((3, 4)),
    "tall": np.ones((4, 3)),
    # as stanza and supar hold it: rows are dependents, and ROOT depends on nothing
    "dep-head": np.where(np.arange(4)[:, None] == 0, -np.inf, np.zeros((4, 4))),
    "large": matrix((1, 2, 1e16)),
}


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        nan.npy                     | 1 -> 2 | NaN | np.isnan
        nan-of-root.npy             | ROOT -> 2 | NaN
        inf.npy                     | 1 -> 2 | inf
        inf.npy --from log          | 1 -> 2 | inf
        negative.npy                | 1 -> 2 (-0.25) | negative | --from log
        large.npy --from log        | is too large for a score (beyond 1e+15)
        not-square.npy              | (3, 6)
        one-dimension.npy           | (4,)
        a-label-axis.npy            | (2, 4, 4, 3)
        no-words.npy                | (1, 1) | without words
        no-numbers.npy              | (0, 0) | without words
        no-head.npy                 | no single-root tree is possible | word 2 has no head
        log-no-head.npy --from log  | word 2 has no head
        no-root.npy                 | no word may attach to ROOT
        two-roots.npy               | words 2 and 3 | ROOT only | --multi-root
        islands.npy                 | no single-root tree is possible | words 3 and 4 cannot be reached
        islands.npy --multi-root    | words 3 and 4 cannot be reached from ROOT
        crossing.npy --projective   | 0 -> 3 and 4 -> 2 cross | leave out --projective
        wide.npy --from diagonal    | (3, 4) | first or last in --from
        wide.npy --from head-dep    | the layout is head-dep | (3, 4)
        tall.npy --from dep-head    | the layout is dep-head | (4, 3)
        wide.npy --from synjax      | the layout is head-dep | (3, 4)
        dep-head.npy --from log     | no word may attach to ROOT | --from dep-head
    """),
)
def test_a_bad_matrix_of_a_file(deptree, refused, put, line, says):
    name = line.split()[0]
    put(name, MATRICES[name.removesuffix(".npy")])
    quiet = refused(f"partition {line} -q", name, "(1)", *says)
    assert deptree(f"partition {line}").said[-1:] == quiet.said


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        b.npz       | b.npz[two] | NaN
        b.jsonl     | b.jsonl:3 (x-7):  | negative
        scoer.npz   | scoer.npz | Did you mean score.npz?
        folder/x.npz | folder/x.npz | no such file
        $DATA       | sample_data | folder
        a.conllu    | a.conllu | sentences | --conllu
    """),
)
def test_the_place_is_named(refused, put, line, says):
    put("b.npz", {"two": MATRICES["nan"]})
    put("b.jsonl", "\n\n" + jsonl({"sent_id": "x-7", "scores": matrix((1, 2, -1)).tolist()}))
    put("score.npz", b"x")
    put("a.conllu", SENTENCES)
    refused(f"partition {line} -q", *says)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("scores", "line"),
    [
        (MATRICES["negative"], ""),
        (MATRICES["nan"], "--from log"),
        (TWO_ISLANDS, ""),
        (matrix((1, 2, 5)), "--temperature 1e-18"),
        (np.ones((4, 4), complex), ""),
    ],
    ids=["negative", "NaN", "no tree in either", "temperature", "type"],
)
def test_what_was_assumed_and_is_not_why(put, refused, scores, line):
    """Read the other way round the scores are as bad."""
    put("bad.npy", scores)
    assert "head-dep" not in refused(f"partition bad.npy {line} -q", "bad.npy").err


def test_no_command_that_reads_scores_is_left_out():
    assert {name for name in ENTRIES if "--scores" in options(name)} <= READ.keys()


@pytest.mark.parametrize("args", READ.values(), ids=READ)
@pytest.mark.parametrize(
    ("scores", "says"),
    [(MATRICES["nan"], ("1 -> 2", "NaN")), (np.ones((4, 4), complex), ("type complex128",))],
    ids=["NaN", "complex"],
)
def test_every_command_names_the_sentence(put, refused, args, scores, says):
    put("bad.npz", {"x-7": scores})
    words = "".join(f"{word}\tx\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in ((1, 0), (2, 1), (3, 1)))
    for name in ("trees.conllu", "gold.conllu"):
        put(name, f"# sent_id = x-7\n{words}\n")
    put("trees.jsonl", jsonl({"sent_id": "x-7", "heads": [0, 1, 1]}))
    refused(" ".join([*args, "-q"]), "bad.npz[x-7] (x-7): ", *says)


@pytest.mark.parametrize("command", ["align", "expectations", "show"])
def test_scores_of_sentence_pairs(put, refused, command):
    put("bad.npz", {"x-7": np.ones((4, 4), complex)})
    put("bad.conllu", SENTENCES)
    refused(f"bitext {command} bad.npz -q", "bad.npz[x-7] (x-7): ", "type complex128")
    says = "bad.conllu: these are sentences (CoNLL-U), not scores", "--text"
    assert "--conllu" not in refused(f"bitext {command} bad.conllu -q", *says).err


@pytest.mark.parametrize("jobs", [2, 4])
def test_the_first_error_is_told_with_any_number_of_jobs(put, refused, jobs):
    good, bad = matrix().tolist(), matrix((1, 2, -1)).tolist()
    put("b.jsonl", jsonl(*({"sent_id": str(i), "scores": bad if i in (3, 5) else good} for i in range(9))))
    refused(f"partition b.jsonl -q --jobs {jobs} -o out.jsonl", "b.jsonl:4 (3)", "negative", "--from log")
    assert not Path("out.jsonl").exists()


LENGTHS = "pass --lengths FILE or --conllu FILE."


@pytest.mark.parametrize(
    ("line", "says"),
    table(f"""
        inspect batch.npy --gold $GOLD | 8 | 12 | If this is a padded batch, {LENGTHS}
        score batch.npy $GOLD          | 8 | 12 | If this is a padded batch, {LENGTHS}
        agree $GOLD $GOLD --scores batch.npy | 12 words at batch.npy, matrix 1, but 8 here. | pass --lengths FILE.
        combine batch.npy $GOLD        | but 12 here. If this is a padded batch, pass --conllu FILE.
    """),
)
def test_a_padded_batch_beside_trees_needs_lengths(deptree, done, put, refused, line, says):
    """Its matrices have more words than the trees, and nothing in them looks like padding."""
    put("batch.npy", np.random.default_rng(0).normal(size=(8, 13, 13)))
    refused(f"{line} --from supar -q", *says)
    done("inspect batch.npy --from supar --conllu $GOLD")
    put("batch.npy", np.random.default_rng(0).normal(size=(8, 4, 4)))
    assert "padded" not in deptree("inspect batch.npy --from supar --gold $GOLD").err
