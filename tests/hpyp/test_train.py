"""`deptree hpyp train`: what it reads, what it says, and that going on gives the bytes of a run without a break."""

import re
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from random import Random
from signal import SIGINT, SIGKILL

import numpy as np
import pytest

from deptree_cli.hpyp import Parser
from deptree_cli.hpyp.commands.train import Checkpoint
from deptree_cli.hpyp.files.model_file import read_model
from deptree_cli.hpyp.model.training import Progress
from tests.lines import table
from tests.sample import DATA

TREEBANK = DATA / "treebank.conllu"
SENTENCE = "# sent_id = s-{0}\n1\tA{0}\t_\tX\tY\t_\t2\tdet\t_\t_\n2\tb\t_\tN\tM\t_\t0\troot\t_\t_\n\n"
CYCLE = "# sent_id = bad\n1\ta\t_\tX\tY\t_\t2\tdet\t_\t_\n2\tb\t_\tN\tM\t_\t1\troot\t_\t_\n\n"
ITERATION = re.compile(r"deptree: iteration (\d+) of (\d+): log-likelihood -\d+\.\d, \d+\.\d s")
TEXT = "--unlabelled small.conllu"


@pytest.fixture
def small(put):
    """A treebank of twelve sentences, and others."""
    text = "".join(SENTENCE.format(number % 7) for number in range(12))
    others = {"other": SENTENCE.format("x"), "less": text.partition("\n\n")[2], "tags": text.replace("N", "n")}
    others["heads"] = text.replace("\t2\tdet", "\t0\tdet").replace("\t0\troot", "\t1\troot")
    for name, data in others.items():
        put(f"{name}.conllu", data)
    return put("small.conllu", text)


@pytest.fixture
def train(done, small):
    """Train on it, quickly; the bytes of the model."""

    def run(options="", model="m.npz"):
        done(f"hpyp train small.conllu -o {model} --iterations 3 {options}")
        return Path(model).read_bytes()

    return run


def test_what_it_says_and_that_the_library_trains_the_same(done, parser, sentences):

    line = "hpyp train $DATA/treebank.conllu -o m.npz --seed 1 --iterations"
    ran, found = done(f"{line} 4"), Parser.load("m.npz")
    assert ran.out == b""
    assert [ITERATION.fullmatch(line).groups() for line in ran.said[:4]] == [(str(i), "4") for i in (1, 2, 3, 4)]
    assert ran.said[4:] == [
        "deptree: 194 sentences (1487 words): 242 words and classes, 15 tags, 30 labels; 2 trees made projective; "
        f"m.npz: {Path('m.npz').stat().st_size / 1e3:.0f} kB"
    ]
    assert found.trained.progress == parser.trained.progress
    for sentence in sentences:
        np.testing.assert_array_equal(found.surprisal(sentence, 1, 20), parser.surprisal(sentence, 1, 20))
    assert done(f"{line} 1 -q").err == ""


def test_the_signature(train, done):
    train("--seed 7")
    expected = "deptree|hpyp train|column:upos|words:yes|iterations:3|oracle:static|seed:7|v:"
    assert read_model("m.npz")[1].startswith(expected)
    ran = done("hpyp train small.conllu -o m.npz --iterations 3")
    assert "|seed:" in ran.signature  # a fresh one
    assert read_model("m.npz")[1] == ran.signature
    train("--unlexicalised --column xpos --oracle sampled --force")
    assert "|column:xpos|words:no|iterations:3|oracle:sampled|seed:" in read_model("m.npz")[1]


def test_sentences_that_are_no_trees(deptree, refused, put, small):
    put("bad.conllu", SENTENCE.format(1) + CYCLE + SENTENCE.format(2) + "1\tx\n\n")
    refused("hpyp train bad.conllu -o m.npz", "bad.conllu:5 (bad): ", "cycle")
    assert not Path("m.npz").exists()
    ran = deptree("hpyp train bad.conllu -o m.npz --on-error skip --iterations 1 --seed 1")
    assert ran.code == 1
    assert next(line for line in ran.said if "skipped: bad.conllu:" in line).endswith("of these words.")
    assert ran.said[-1] == "deptree: 2 sentences skipped"
    assert read_model("m.npz")[0].progress.sentences == 2
    refused(f"hpyp train {small} -o m.npz --unlabelled bad.conllu", "bad.conllu:13")


def test_what_cannot_be_trained_on(deptree, refused, put):
    no_head = "1\ta\t_\tX\tY\t_\t_\t_\t_\t_\n\n"
    texts = {"": "empty", no_head: "no word has a HEAD", "# just a comment\n": "comments without a sentence"}
    for text, says in texts.items():
        refused(f"hpyp train {put('a.conllu', text)} -o m.npz", "a.conllu", says)
        ran = deptree("hpyp train a.conllu -o m.npz --on-error skip")
        assert ran.code == 2
        assert not text or ran.said[-1].startswith("deptree: a.conllu: there are no sentences to train on")


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
    small.conllu -o -                            |  must be a file
    small.conllu -o .                            |  must be a file
    small.conllu -o small.conllu                 |  would overwrite TREEBANK
    - -o nowhere/m.npz                           |  its folder does not exist
    small.conllu                                 |  Missing option '--output'
    -o m.npz                                     |  Missing argument 'TREEBANK...'
    smal.conllu -o m.npz                         |  no such file. Did you mean small.conllu?
    - -o m.npz --unlabelled -                    |  standard input (-) can be read only once
    small.conllu -o m.npz --passes 2             |  --passes needs --unlabelled
    small.conllu -o m.npz --iterations 0         |  --iterations
    small.conllu -o m.npz --resume --force       |  Remove one
    small.conllu -o m.npz --states 2 --unlabelled small.conllu       |  --states cannot be combined with --unlabelled
    small.conllu -o m.npz --unlexicalised --unlabelled small.conllu  |  a parser without words cannot learn
    """),
)
def test_what_is_wrong_with_the_line(refused, small, line, says):
    before = Path(small).read_bytes()
    refused(f"hpyp train {line}", *says)
    assert Path(small).read_bytes() == before


@pytest.mark.quick
@pytest.mark.parametrize(
    ("options", "first"),
    [
        ("", "--iterations 1"),
        ("", "--iterations 2"),
        ("--oracle sampled --iterations 8", "--iterations 1"),
        ("--oracle sampled --iterations 8", "--iterations 6"),
        ("--unlexicalised --oracle sampled", "--iterations 2"),
        (f"{TEXT} --passes 3", "--passes 1"),
        (f"{TEXT} --passes 3", "--passes 2"),
        (f"--oracle sampled {TEXT} --passes 3", "--passes 1"),
    ],
)
def test_going_on(train, options, first):
    """With nothing left to do, too; and another seed is another model."""
    whole = train(f"--seed 5 {options}")
    assert train(f"--seed 6 {options}") != whole
    assert train(f"--seed 5 {options} {first}", "n.npz") != whole
    assert train(f"{options} --resume", "n.npz") == whole
    assert train(f"{options} --resume", "n.npz") == whole
    assert "|seed:5|" in read_model("n.npz")[1]


def test_going_on_from_nothing(done, small):
    ran = done("hpyp train small.conllu -o m.npz --iterations 3 --resume --seed 5")
    assert ran.said[0] == "deptree: m.npz does not exist yet: training starts from the beginning"
    assert Path("m.npz").exists()
    again = done("hpyp train small.conllu -o m.npz --iterations 3 --resume")
    assert not any("iteration" in line and "of 3" in line for line in again.said)


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
    ; small.conllu --seed 6                     |  the model was trained with --seed 5
    ; small.conllu --column xpos                |  the model was trained with --column upos
    ; small.conllu --oracle sampled             |  the model was trained with --oracle static
    ; small.conllu --unlexicalised              |  the model was trained with other contexts
    ; small.conllu TEXT                         |  the model was trained without --unlabelled
    ; small.conllu --iterations 2               |  the model is already at --iterations 3
    ; small.conllu --iterations 1 --states 2    |  the model kept states after iterations none
    ; small.conllu other.conllu                 |  the model was trained on other data
    ; less.conllu                               |  the model was trained on other data
    ; tags.conllu                               |  the model was trained on other data
    ; heads.conllu                              |  the model was trained on other data
    TEXT --passes 2; small.conllu                                 |  the model was trained with --unlabelled
    TEXT --passes 2; small.conllu --unlabelled other.conllu       |  the model was trained on other data
    TEXT --passes 2; small.conllu TEXT                            |  the model is already at --passes 2
    TEXT --passes 2; small.conllu TEXT --passes 2 --iterations 4  |  the model read its text after --iterations 3
    """),
)
def test_going_on_with_other_settings_or_text(train, refused, line, says):
    options, again = line.replace("TEXT", TEXT).split(";")
    before = train(f"--seed 5 {options}")
    refused(f"hpyp train -o m.npz --iterations 3 --resume {again}", *says)
    assert Path("m.npz").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "says"),
    table("""
    --column xpos               |  a model of other data (12 sentences, --column upos)
    --unlexicalised             |  a model of other data
    other.conllu                |  a model of other data
    --unlabelled other.conllu   |  a model of other data
    """),
)
def test_a_model_of_other_data_is_not_lost_by_mistake(train, refused, options, says):
    """The model of the same data may be trained again, whatever the seed, the iterations, the oracle."""
    for same in ("--seed 5", "--seed 6", "--iterations 1", "--oracle sampled"):
        before = train(same)
    refused(f"hpyp train small.conllu -o m.npz {options}", "m.npz: the file exists, and is ", *says, "--force")
    assert Path("m.npz").read_bytes() == before
    assert train(f"{options} --force") != before


@pytest.mark.parametrize("content", [b"1\tthe\t_\n", b"PK"])
def test_a_file_that_is_no_model_is_not_lost_by_mistake(train, refused, small, content):
    """But an empty one is overwritten, as mktemp leaves it."""
    Path("m.npz").write_bytes(content)
    refused("hpyp train small.conllu -o m.npz", "m.npz: the file exists, and is not a model", "--force")
    refused("hpyp train small.conllu -o m.npz --resume", "m.npz")
    assert Path("m.npz").read_bytes() == content
    train("--force")
    Path("n.npz").touch()
    train(model="n.npz")


def test_a_terminal_has_no_line_for_every_iteration(terminal, tmp_path):
    shutil.copy(TREEBANK, tmp_path)
    code, shown = terminal("hpyp", "train", "treebank.conllu", "-o", "m.npz", "--seed", 1)
    assert (code, "iteration 1 of 10" in shown, "194 sentences (1487 words)" in shown) == (0, False, True)


# Training that is ended by a signal keeps its last whole iteration. Signals come when so many iterations are reported,
# so at any point of the next one, or of writing its model.


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A treebank, repeated so that an iteration takes a while, and text."""
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "treebank.conllu").write_bytes(TREEBANK.read_bytes() * 8)
    (folder / "text.conllu").write_bytes(TREEBANK.read_bytes() * 4)
    return folder


def command(start, options, model):
    """The command line of a training, by the `deptree` of a folder."""
    return f"{start}/deptree hpyp train treebank.conllu -o {model} --seed 7 {options}".split()


def interrupted(line, folder, after, number):
    """Send a signal after so many iterations and passes, and a little later; the exit status, the lines on stderr."""
    process = subprocess.Popen(line, cwd=folder, stderr=subprocess.PIPE, text=True)
    lines = []
    while sum("log-likelihood" in line for line in lines) < after:
        lines.append(process.stderr.readline())
        assert lines[-1], lines
    time.sleep(Random(after).uniform(0, 0.05))
    process.send_signal(number)
    lines += process.communicate(timeout=30)[1].splitlines(keepends=True)
    return process.returncode, lines


@pytest.mark.slow("process")
@pytest.mark.parametrize(
    ("options", "stops"),
    [
        ("--iterations 24", [(1, SIGINT), (5, SIGKILL)]),
        ("--iterations 12 --oracle sampled", [(2, SIGKILL), (3, SIGINT)]),
        ("--iterations 3 --passes 9 --unlabelled text.conllu", [(2, SIGINT), (3, SIGKILL), (2, SIGINT)]),
    ],
    ids=["static", "sampled", "text"],
)
def test_it_goes_on_where_it_was_killed(folder, warm, options, stops):
    """Several times in one run, each time from what the time before has left, to the bytes of an unbroken run."""
    subprocess.run(command(warm, options, "whole.npz --force -q"), cwd=folder, check=True, timeout=120)
    model = folder / "m.npz"
    model.unlink(missing_ok=True)
    for stop, number in stops:
        left = {*folder.glob(".deptree-*")}  # what a run that was killed was about to write
        again = " --resume" * model.exists()
        code, lines = interrupted(command(warm, options + again, "m.npz"), folder, stop, number)
        assert code == (130 if number == SIGINT else -number)
        done = read_model(str(model))[0].progress
        assert done.iterations + done.passes >= stop
        if number == SIGINT:
            kept = f"pass {done.passes}" if done.passes else f"iteration {done.iterations}"
            assert lines[-1].startswith(f"deptree: interrupted; m.npz is as it was after {kept}. ")
            assert "with --resume" in lines[-1]
            assert {*folder.glob(".deptree-*")} == left
        assert "Traceback" not in "".join(lines)

    line = command(warm, f"{options} --resume", "m.npz")
    ended = subprocess.run(line, cwd=folder, capture_output=True, check=True, timeout=60)
    assert b"log-likelihood" in ended.stderr
    assert model.read_bytes() == (folder / "whole.npz").read_bytes()


def test_an_interruption_is_quiet_with_quiet(folder, warm):
    model = folder / "quiet.npz"
    line = command(warm, "--iterations 24 -q", model)
    process = subprocess.Popen(line, cwd=folder, stderr=subprocess.PIPE)
    while not model.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(SIGINT)
    assert process.communicate(timeout=30)[1] == b""


def progress(*log_likelihoods, text=()):
    return Progress(7, "static", "upos", "", 3, 0, log_likelihoods, text_log_likelihoods=text)


def renamed_into(path):
    """Put another file in a file's place, as models are written."""
    Path(shutil.copy(TREEBANK, path.with_name(".other"))).replace(path)


@pytest.mark.parametrize(
    ("had", "coming", "before", "after"),
    [
        (progress(), progress(-9.0), "before the first iteration", "after iteration 1."),
        (progress(-9.0), progress(-9.0, -8.0), "after iteration 1.", "after iteration 2."),
        (progress(-9.0, -8.0), progress(-9.0, -8.0, text=(-5.0,)), "after iteration 2.", "after pass 1."),
    ],
)
def test_the_model_counts_once_it_is_in_its_place(had, coming, before, after, tmp_path, capfd):
    """Neither before, when it is only being written, nor later, when the next line of the program has run.

    What was about to be held is held when the next model is about to be written. It is told once.
    """
    path = tmp_path / "m.npz"
    if had.iterations:
        renamed_into(path)
    for written, expected in ((0, before), (1, after), (2, after)):
        kept = Checkpoint(str(path), had, quiet=False)
        kept.about_to_hold(coming)
        if written:
            renamed_into(path)
        if written == 2:
            kept.about_to_hold(replace(coming, text_log_likelihoods=(-5.0, -4.0)))
        kept.tell()
        kept.tell()
        assert capfd.readouterr().err.count(expected) == 1
