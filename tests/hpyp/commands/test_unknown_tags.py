"""Tags that a model does not know, wherever they stand: missing ones are no symbols, unseen ones no words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.hpyp.files.model_file import ABOUT, read_model
from tests.hpyp.commands.texts import DATA, GOLD, RAW, blocks_of

TREEBANK = DATA / "treebank.conllu"
COMMANDS = ("parse", "surprisal", "perplexity")

Change = Callable[[list[bytes], int], None]


def changed(data: bytes, change: Change) -> bytes:
    """CoNLL-U after a change of the columns of its words, which are numbered from 0 over all sentences."""
    lines, number = [], 0
    for line in data.split(b"\n"):
        columns = line.split(b"\t")
        if columns[0].isdigit():
            change(columns, number)
            number += 1
        lines.append(b"\t".join(columns))
    return b"\n".join(lines)


def tagged(tag: bytes, every: int = 1, only: bytes = b"") -> Change:
    """Another UPOS for every so many words, of those with a certain tag."""

    def change(columns: list[bytes], number: int) -> None:
        if number % every == 0 and only in (b"", columns[3]):
            columns[3] = tag

    return change


def exchange(columns: list[bytes], number: int) -> None:
    """UPOS for XPOS."""
    columns[3], columns[4] = columns[4], columns[3]


def drop_xpos(columns: list[bytes], number: int) -> None:
    """XPOS in UPOS, and nothing in its place."""
    columns[3], columns[4] = columns[4], b"_"


def heads(conllu: bytes) -> np.ndarray:
    """Of all words, one sentence after another."""
    return np.array([head for block in blocks_of(conllu) for head in block.heads])


@pytest.mark.slow("process")
@pytest.mark.parametrize(
    ("tag", "says"), [(b"_", "without a tag: 9"), (b"FOO", r"with a tag that the model does not know: 9 \(FOO 9\)")]
)
def test_damaged_tags_cost_next_to_nothing(done, model, put, tag: bytes, says: str) -> None:
    """Every 200th word of 1,736: before they were predicted an unseen tag cost its whole neighbourhood."""
    every = 200
    name = put("damaged.conllu", changed(TREEBANK.read_bytes(), tagged(tag, every)))
    args = "--particles", 50
    ran, clean = done("hpyp", "parse", model, name, *args), done("hpyp", "parse", model, TREEBANK, *args)
    gold = heads(TREEBANK.read_bytes())
    assert (heads(ran.out) == gold).mean() > (heads(clean.out) == gold).mean() - 0.01
    words = len(gold)
    line = ran.said[-1]
    says = says.replace("9", str(len(range(0, words, every))))
    assert re.fullmatch(rf"deptree: of {words} words in UPOS, {says}\. These tags were predicted or summed over", line)
    assert done("hpyp", "parse", model, name, *args, "--quiet").err == ""


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("tag", [b"_", b"FOO"])
def test_every_command_says_it_once(done, model, put, command: str, tag: bytes) -> None:
    name = put("some.conllu", changed(RAW.read_bytes(), tagged(tag, 30)))
    ran = done("hpyp", command, model, name, "--particles", 5)
    (line,) = [line for line in ran.said if "of 99 words in UPOS, with" in line]
    assert ": 4" in line


def test_the_column_stays_as_it_was(done, model, put) -> None:
    """Byte for byte, whatever was predicted for it; and with --tags predict it is filled."""
    data = changed(changed(RAW.read_bytes(), tagged(b"_", 7)), tagged(b"FOO", 33))
    name = put("some.conllu", data)
    expected = [block.column("upos") for block in blocks_of(data)]
    for how in ((), ("--beam", 3), ("-k", 1, "--seed", 1)):
        found = blocks_of(done("hpyp", "parse", model, name, *how).out)
        assert [block.column("upos") for block in found] == expected
    found = blocks_of(done("hpyp", "parse", model, name, "--tags", "predict").out)
    known = set(read_model(str(model))[0].symbols.tags.symbols)
    assert {tag for block in found for tag in block.column("upos")} <= known
    assert "_" not in known


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            tagged(b"FOO", only=b"NOUN"),
            r"the tags of \d+ of \d+ words in UPOS \(FOO \d+\)\. It knows ADJ, ADP, .*tag set",
        ),
        (
            exchange,
            r"the tags of \d+ of \d+ words in UPOS \(NN 21, DT .*XPOS has tags that it knows: swap the columns",
        ),
        (drop_xpos, r"the tags of \d+ of \d+ words in UPOS \(NN 21, DT .*It knows ADJ, ADP, .* or pass --tags predict"),
        (tagged(b"_"), r"no word has a tag in UPOS\. Tag the words, or pass --tags predict"),
        (tagged(b""), r"no word has a tag in UPOS\. Tag the words, or pass --tags predict"),
    ],
)
def test_too_many_are_an_error(deptree, model, put, command: str, change: Change, says: str) -> None:
    """Before anything is written, in a line that guesses why; the other way of reading works."""
    name = put("odd.conllu", changed(RAW.read_bytes(), change))
    ran = deptree("hpyp", command, model, name, "--on-error", "skip")
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert re.match(
        r"deptree: odd\.conllu: " + (says if "no word" in says else f"the model does not know {says}"), ran.err
    )
    again = deptree("hpyp", command, model, name, "--tags", "predict", "--particles", 5)
    assert again.code == 0
    assert "UPOS" not in again.err


def test_a_parser_without_words(deptree, done, unlexicalised_model, put) -> None:
    """It predicts no tags for a text, and sums out those of single words, here of XPOS."""

    def drop(columns: list[bytes], number: int) -> None:
        columns[4] = b"_" if number % 10 == 0 else columns[4]

    ran = done("hpyp", "parse", unlexicalised_model, put("some.conllu", changed(RAW.read_bytes(), drop)))
    assert "in XPOS, without a tag: 10." in ran.err
    assert len(blocks_of(ran.out)) == 12
    ran = deptree("hpyp", "parse", unlexicalised_model, put("odd.conllu", changed(RAW.read_bytes(), exchange)))
    assert ran.code == 2
    assert "UPOS has tags that it knows: swap the columns, or train with --lexicalised" in ran.err


def test_each_file_is_judged_by_itself(deptree, model, put) -> None:
    """A good file in front does not hide a bad one; what was done before it is not left in the output's place."""
    bad = put("bad.conllu", changed(RAW.read_bytes(), exchange))
    ran = deptree("hpyp", "parse", model, TREEBANK, bad, "-o", "out.conllu", "--particles", 5)
    assert ran.code == 2
    assert ran.said[-1].startswith("deptree: bad.conllu: the model does not know")
    assert not Path("out.conllu").exists()


@pytest.mark.parametrize("option", [("--oracle", "static"), ("--oracle", "sampled"), ("--unlexicalised",)])
def test_training_leaves_sentences_out(done, deptree, put, option) -> None:
    """20 of 194 sentences lose a tag; neither the model nor what it writes has a sign in the place of tags."""
    data = TREEBANK.read_bytes()
    sentences = data.split(b"\n\n")
    for number in range(0, 200, 10):
        sentences[number] = re.sub(rb"(?m)^(1\t\S+\t\S+)\t\S+", rb"\1\t_", sentences[number])
    name = put("some.conllu", b"\n\n".join(sentences))
    ran = done("hpyp", "train", name, "-o", "m.npz", "--iterations", 2, "--seed", 1, *option)
    assert "deptree: left out of training: in 20 of 194 sentences a word has no tag in UPOS" in ran.said
    trained = read_model("m.npz")[0]
    assert trained.progress.sentences == 174
    assert "_" not in trained.symbols.tags.symbols
    again = put(
        "rest.conllu", b"\n\n".join(each for number, each in enumerate(sentences) if number % 10 or number > 193)
    )
    done("hpyp", "train", again, "-o", "n.npz", "--iterations", 2, "--seed", 1, *option)
    assert Path("n.npz").read_bytes() == Path("m.npz").read_bytes()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            tagged(b"_", 3),
            "in 194 of 194 sentences a word has no tag in UPOS, too many .* take tags from XPOS with --column xpos",
        ),
        (tagged(b""), "in 194 of 194 sentences a word has no tag in UPOS"),
        (
            lambda columns, number: columns.__setitem__(7, b"_"),
            "in 194 of 194 sentences a word has no DEPREL, .*such as dep",
        ),
    ],
)
def test_too_many_to_leave_out(deptree, put, change: Change, says: str) -> None:
    ran = deptree("hpyp", "train", put("odd.conllu", changed(TREEBANK.read_bytes(), change)), "-o", "m.npz")
    assert (ran.code, len(ran.said)) == (2, 1)
    assert re.search(rf"odd\.conllu:\d+: {says}", ran.err), ran.err
    assert not Path("m.npz").exists()


@pytest.mark.parametrize("key", ["tags", "labels"])
def test_older_models_that_would_predict_a_missing_value(deptree, model, tmp_path, key: str) -> None:
    with np.load(model) as found:
        arrays = dict(found)
    about = json.loads(arrays[ABOUT].tobytes())
    about[key][2] = "_"
    np.savez(tmp_path / "old.npz", **arrays | {ABOUT: np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)})
    ran = deptree("hpyp", "parse", tmp_path / "old.npz", RAW)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert re.search(rf"old\.npz: {key}\[2\] is _, the sign of a missing value.*Train again", ran.err)


def test_labels_that_the_model_does_not_know(done, model, put) -> None:
    """They leave an annotated tree out, and are said once."""
    gold = put(
        "gold.conllu", GOLD.read_bytes().replace(b"\tnsubj\t", b"\tnsubj:odd\t", 2).replace(b"\tdet\t", b"\t_\t", 1)
    )
    ran = done("hpyp", "perplexity", model, gold, "--particles", 5, "--seed", 1)
    assert (ran.rows[0]["left_out_unseen_label"], ran.rows[0]["left_out_no_tree"]) == (1, 1)
    assert "labels that the model does not know: nsubj:odd 2" in ran.said[-1]


def test_perplexity_counts_trees_without_a_joint_probability(done, model, put) -> None:
    name = put("some.conllu", changed(GOLD.read_bytes(), tagged(b"_", 50)))
    (row,) = done("hpyp", "perplexity", model, name, "--particles", 1000, "--seed", 1).rows
    (clean,) = done("hpyp", "perplexity", model, GOLD, "--particles", 1000, "--seed", 1).rows
    assert (row["left_out_unknown_tag"], row["trees"]) == (2, 10)
    every_other = put("every_other.conllu", changed(GOLD.read_bytes(), tagged(b"_", 2)))
    (summed,) = done("hpyp", "perplexity", model, every_other, "--particles", 1000, "--seed", 1).rows
    assert summed["evidence_bits"] < clean["evidence_bits"] - 1  # half the tags less to be surprised by
