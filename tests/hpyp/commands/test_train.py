"""`deptree hpyp train`: what it reads, what it says, and that going on gives the bytes of a run without a break."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.hpyp import Parser
from deptree_cli.hpyp.files.model_file import read_model
from tests.hpyp.commands.texts import RAW

SENTENCE = "# sent_id = s-{0}\n1\tA{0}\t_\tX\tY\t_\t2\tdet\t_\t_\n2\tb\t_\tN\tM\t_\t0\troot\t_\t_\n\n"
CYCLE = "# sent_id = bad\n1\ta\t_\tX\tY\t_\t2\tdet\t_\t_\n2\tb\t_\tN\tM\t_\t1\troot\t_\t_\n\n"
ITERATION = re.compile(r"deptree: iteration (\d+) of (\d+): log-likelihood -\d+\.\d, \d+\.\d s")


@pytest.fixture
def small(put) -> str:
    """A treebank of twelve sentences."""
    return put("small.conllu", "".join(SENTENCE.format(number % 7) for number in range(12)))


@pytest.fixture
def train(done, small):
    """Train on it, quickly."""
    return lambda *args, model="m.npz": done("hpyp", "train", small, "-o", model, "--iterations", 3, *args)


def refused(ran, *says: str) -> None:
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), ran.err
    assert all(part in ran.err for part in says), ran.err


def test_what_it_says(done, treebank_file: Path, put) -> None:
    put("x", "")
    ran = done("hpyp", "train", treebank_file, "-o", "m.npz", "--iterations", 3, "--seed", 7)
    assert ran.out == b""
    assert [ITERATION.fullmatch(line).groups() for line in ran.said[:3]] == [(str(i), "3") for i in (1, 2, 3)]
    size = Path("m.npz").stat().st_size
    assert ran.said[3:] == [
        "deptree: 194 sentences (1487 words): 242 words and classes, 15 tags, 30 labels; 2 trees made projective; "
        f"m.npz: {size / 1e3:.0f} kB"
    ]
    assert done("hpyp", "train", treebank_file, "-o", "m.npz", "--iterations", 1, "--seed", 7, "-q").err == ""


def test_the_library_trains_the_same_parser(done, put, parser, treebank_file) -> None:
    put("empty", "")
    done("hpyp", "train", treebank_file, "-o", "model.npz", "--iterations", 4, "--seed", 1, "-q")
    trained = Parser.load("model.npz")
    assert trained.trained.progress == parser.trained.progress
    for sentence in parser.read(RAW):
        np.testing.assert_array_equal(trained.surprisal(sentence, 1, 20), parser.surprisal(sentence, 1, 20))


def test_the_signature(train) -> None:
    train("--seed", 7)
    expected = "deptree|hpyp train|column:upos|words:yes|iterations:3|oracle:static|seed:7|v:"
    assert read_model("m.npz")[1].startswith(expected)
    ran = train()
    assert "|seed:" in ran.signature  # a fresh one
    assert read_model("m.npz")[1] == ran.signature
    ran = train("--unlexicalised", "--column", "xpos", "--oracle", "sampled", "--force")
    assert "|column:xpos|words:no|iterations:3|oracle:sampled|seed:" in ran.signature


def test_the_same_seed_is_the_same_bytes(train) -> None:
    for more in ([], ["--oracle", "sampled"], ["--unlabelled", "small.conllu", "--passes", 2]):
        args = [*more, "--force"]
        train("--seed", 3, *args)
        first = Path("m.npz").read_bytes()
        train("--seed", 3, *args, model="n.npz")
        assert Path("n.npz").read_bytes() == first
        train("--seed", 4, *args, model="n.npz")
        assert Path("n.npz").read_bytes() != first


def test_a_parser_without_words_reads_no_text(deptree, small) -> None:
    args = ("--unlabelled", small, "--unlexicalised")
    refused(deptree("hpyp", "train", small, "-o", "m.npz", *args), "a parser without words cannot learn")


def test_customers_are_the_tables_of_the_next_level(model: Path) -> None:
    """Those of the last level are actions, tags and words."""
    for process, events in zip(read_model(str(model))[0].processes, (2 * 1487, 1487, 1487), strict=True):
        customers, tables = (np.bincount(process.levels, each) for each in (process.customers, process.tables))
        assert customers.tolist() == [*tables[1:], events]


def test_sentences_that_are_no_trees(deptree, put, small) -> None:
    put("bad.conllu", SENTENCE.format(1) + CYCLE + SENTENCE.format(2) + "1\tx\n\n")
    refused(deptree("hpyp", "train", "bad.conllu", "-o", "m.npz"), "bad.conllu:5 (bad): ", "cycle")
    assert not Path("m.npz").exists()
    ran = deptree("hpyp", "train", "bad.conllu", "-o", "m.npz", "--on-error", "skip", "--iterations", 1, "--seed", 1)
    assert ran.code == 1
    assert next(line for line in ran.said if "skipped: bad.conllu:" in line).endswith("of these words.")
    assert ran.said[-1] == "deptree: 2 sentences skipped"
    assert read_model("m.npz")[0].progress.sentences == 2
    refused(deptree("hpyp", "train", small, "-o", "m.npz", "--unlabelled", "bad.conllu"), "bad.conllu:13")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "empty"),
        ("1\ta\t_\tX\tY\t_\t_\t_\t_\t_\n\n", "no word has a HEAD"),
        ("# just a comment\n", "comments without a sentence"),
    ],
)
def test_what_cannot_be_trained_on(deptree, put, text, says) -> None:
    put("a.conllu", text)
    refused(deptree("hpyp", "train", "a.conllu", "-o", "m.npz"), "a.conllu", says)
    if says != "empty":
        ran = deptree("hpyp", "train", "a.conllu", "-o", "m.npz", "--on-error", "skip")
        assert ran.code == 2
        assert ran.said[-1].startswith("deptree: a.conllu: there are no sentences to train on")


TEXT = ["--unlabelled", "small.conllu"]


@pytest.mark.parametrize(
    ("args", "first"),
    [
        ([], ["--iterations", 1]),
        ([], ["--iterations", 2]),
        (["--oracle", "sampled", "--iterations", 8], ["--iterations", 1]),
        (["--oracle", "sampled", "--iterations", 8], ["--iterations", 6]),
        (["--unlexicalised", "--oracle", "sampled"], ["--iterations", 2]),
        ([*TEXT, "--passes", 3], ["--passes", 1]),
        ([*TEXT, "--passes", 3], ["--passes", 2]),
    ],
)
def test_going_on(train, args, first) -> None:
    train("--seed", 5, *args)
    whole = Path("m.npz").read_bytes()
    train("--seed", 5, *args, *first, model="n.npz")
    assert Path("n.npz").read_bytes() != whole
    ran = train(*args, "--resume", model="n.npz")
    assert Path("n.npz").read_bytes() == whole
    assert "|seed:5|" in ran.signature


def test_going_on_with_nothing_left_to_do(train) -> None:
    train("--seed", 5)
    whole = Path("m.npz").read_bytes()
    assert not any("iteration" in line and "of 3" in line for line in train("--resume").said)
    assert Path("m.npz").read_bytes() == whole


def test_going_on_from_nothing(train) -> None:
    ran = train("--resume", "--seed", 5)
    assert ran.said[0] == "deptree: m.npz does not exist yet: training starts from the beginning"
    assert Path("m.npz").exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--seed", 6], "the model was trained with --seed 5"),
        (["--column", "xpos"], "the model was trained with --column upos"),
        (["--oracle", "sampled"], "the model was trained with --oracle static"),
        (["--unlexicalised"], "the model was trained with other contexts"),
        (["--unlabelled", "small.conllu"], "the model was trained without --unlabelled"),
        (["--iterations", 2], "the model is already at --iterations 3"),
        (["other.conllu"], "the model was trained on other data"),
    ],
)
def test_going_on_with_other_settings(train, deptree, put, small, args, says) -> None:
    train("--seed", 5)
    put("other.conllu", SENTENCE.format("x"))
    before = Path("m.npz").read_bytes()
    refused(deptree("hpyp", "train", small, "-o", "m.npz", "--resume", *args), says)
    assert Path("m.npz").read_bytes() == before


def test_going_on_from_what_is_no_model(deptree, put, small) -> None:
    put("m.npz", b"PK")
    refused(deptree("hpyp", "train", small, "-o", "m.npz", "--resume"), "m.npz")
    assert Path("m.npz").read_bytes() == b"PK"


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["small.conllu", "-o", "-"], "must be a file"),
        (["small.conllu", "-o", "."], "must be a file"),
        (["small.conllu", "-o", "small.conllu"], "would overwrite TREEBANK"),
        (["small.conllu", "-o", "nowhere/m.npz"], "its folder does not exist"),
        (["small.conllu"], "Missing option '--output'"),
        (["-o", "m.npz"], "Missing argument 'TREEBANK...'"),
        (["smal.conllu", "-o", "m.npz"], "no such file. Did you mean small.conllu?"),
        (["-", "-o", "m.npz", "--unlabelled", "-"], "standard input (-) can be read only once"),
        (["small.conllu", "-o", "m.npz", "--passes", 2], "--passes needs --unlabelled"),
        (["small.conllu", "-o", "m.npz", "--iterations", 0], "--iterations"),
        (["small.conllu", "-o", "m.npz", "--resume", "--force"], "Remove one"),
    ],
)
def test_what_is_wrong_with_the_command_line(deptree, small, args, says) -> None:
    before = Path(small).read_bytes()
    refused(deptree("hpyp", "train", *args), says)
    assert Path(small).read_bytes() == before


def test_a_model_that_is_there_keeps_its_mode_and_others_are_left_alone(train, put) -> None:
    put("n.npz", b"mine")
    train("--seed", 1)
    Path("m.npz").chmod(0o640)
    train("--seed", 2)
    assert Path("m.npz").stat().st_mode & 0o777 == 0o640
    assert Path("n.npz").read_bytes() == b"mine"
    assert {path.name for path in Path().iterdir()} == {"small.conllu", "m.npz", "n.npz"}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--column", "xpos"], "a model of other data (12 sentences, --column upos)"),
        (["--unlexicalised"], "a model of other data"),
        (["other.conllu"], "a model of other data"),
        (["--unlabelled", "other.conllu"], "a model of other data"),
    ],
)
def test_a_model_of_other_data_is_not_lost_by_mistake(train, deptree, put, small, args, says) -> None:
    """The model of the same data may be trained again, whatever the seed, the iterations, the oracle."""
    put("other.conllu", SENTENCE.format("x"))
    train("--seed", 5)
    for same in (["--seed", 6], ["--iterations", 1], ["--oracle", "sampled"]):
        train(*same)
    before = Path("m.npz").read_bytes()
    refused(deptree("hpyp", "train", small, "-o", "m.npz", *args), "m.npz: the file exists, and is ", says, "--force")
    assert Path("m.npz").read_bytes() == before
    train(*args, "--force")
    assert Path("m.npz").read_bytes() != before


@pytest.mark.parametrize("content", [b"1\tthe\t_\n", b"PK"])
def test_a_file_that_is_no_model_is_not_lost_by_mistake(train, deptree, small, content: bytes) -> None:
    Path("m.npz").write_bytes(content)
    refused(deptree("hpyp", "train", small, "-o", "m.npz"), "m.npz: the file exists, and is not a model", "--force")
    assert Path("m.npz").read_bytes() == content
    train("--force")
    Path("n.npz").touch()  # as mktemp leaves it
    train(model="n.npz")


def test_a_terminal_has_no_line_for_every_iteration(terminal, tmp_path, treebank_file) -> None:
    shutil.copy(treebank_file, tmp_path)
    code, shown = terminal("hpyp", "train", "treebank.conllu", "-o", "m.npz", "--seed", 1)
    assert code == 0
    assert "iteration 1 of 10" not in shown
    assert "194 sentences (1487 words)" in shown
