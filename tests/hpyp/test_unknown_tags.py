"""Tags that a model does not know, wherever they stand: missing ones are no symbols, unseen ones no words."""

import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.files.model_file import read_model
from deptree_cli.hpyp.model.sentences import LEXICALISED
from deptree_cli.hpyp.model.unknown import Lexicon, Symbols, Vocabulary
from deptree_cli.hpyp.options import ENOUGH, FEWEST, MOST, NAMED, UnknownTags, named
from deptree_cli.io.sentence import Sentence
from tests.hpyp.toys import blocks_of
from tests.sample import DATA

TREEBANK, RAW = ((DATA / f"{name}.conllu").read_bytes() for name in ("treebank", "raw"))
COMMANDS = pytest.mark.parametrize("command", ["parse", "surprisal", "perplexity"])


def changed(data, change):
    """CoNLL-U after a change of the columns of its words, which are numbered from 0 over all sentences."""
    lines, number = [], 0
    for line in data.split(b"\n"):
        columns = line.split(b"\t")
        if columns[0].isdigit():
            change(columns, number)
            number += 1
        lines.append(b"\t".join(columns))
    return b"\n".join(lines)


def tagged(tag, every=1, only=b"", column=3):
    """Another UPOS for every so many words, of those with a certain tag."""

    def change(columns, number):
        if number % every == 0 and only in (b"", columns[column]):
            columns[column] = tag

    return change


def exchange(columns, number):
    """UPOS for XPOS."""
    columns[3], columns[4] = columns[4], columns[3]


def drop_xpos(columns, number):
    """XPOS in UPOS, and nothing in its place."""
    columns[3], columns[4] = columns[4], b"_"


@COMMANDS
@pytest.mark.parametrize(
    ("tag", "says"), [(b"_", "without a tag: 4"), (b"FOO", "with a tag that the model does not know: 4 (FOO 4)")]
)
def test_every_command_says_it_once(done, model, put, command, tag, says):
    put("some.conllu", changed(RAW, tagged(tag, 30)))
    line = f"hpyp {command} {model} some.conllu --particles 5"
    told = f"deptree: of 99 words in UPOS, {says}. These tags were predicted or summed over"
    assert done(line).said.count(told) == 1
    assert "UPOS" not in done(f"{line} --quiet").err


def test_the_column_stays_as_it_was(done, model, put):
    """Byte for byte, whatever was predicted for it; and with --tags predict it is filled."""
    data = changed(changed(RAW, tagged(b"_", 7)), tagged(b"FOO", 33))
    put("some.conllu", data)
    expected = [block.column("upos") for block in blocks_of(data)]
    for how in ("", "--beam 3", "-k 1 --seed 1"):
        found = blocks_of(done(f"hpyp parse {model} some.conllu {how}").out)
        assert [block.column("upos") for block in found] == expected
    found = blocks_of(done(f"hpyp parse {model} some.conllu --tags predict").out)
    known = set(read_model(str(model))[0].symbols.tags.symbols)
    assert {tag for block in found for tag in block.column("upos")} <= known
    assert "_" not in known


@COMMANDS
@pytest.mark.parametrize(
    ("change", "says"),
    [
        (tagged(b"FOO", only=b"NOUN"), r"the tags of \d+ of \d+ words in UPOS \(FOO \d+\)\. It knows ADJ, .*tag set"),
        (exchange, r"the tags of \d+ of \d+ words in UPOS \(NN 21, DT .*XPOS has tags that it knows: swap the columns"),
        (drop_xpos, r"the tags of \d+ of \d+ words in UPOS \(NN 21, DT .*It knows ADJ, .* or pass --tags predict"),
        (tagged(b"_"), r"no word has a tag in UPOS\. Tag the words, or pass --tags predict"),
        (tagged(b""), r"no word has a tag in UPOS\. Tag the words, or pass --tags predict"),
    ],
    ids=["FOO", "exchange", "drop", "missing", "empty"],
)
def test_too_many_are_an_error(refused, done, model, put, command, change, says):
    """Before anything is written, in a line that guesses why; the other way of reading works."""
    put("odd.conllu", changed(RAW, change))
    says = says if "no word" in says else f"the model does not know {says}"
    ran = refused(f"hpyp {command} {model} odd.conllu --on-error skip")
    assert re.match(rf"deptree: odd\.conllu: {says}", ran.err), ran.err
    assert "UPOS" not in done(f"hpyp {command} {model} odd.conllu --tags predict --particles 5").err


def test_a_parser_without_words(refused, done, xpos_model, put):
    """It predicts no tags for a text, and sums out those of single words, here of XPOS."""
    put("some.conllu", changed(RAW, tagged(b"_", 10, column=4)))
    ran = done(f"hpyp parse {xpos_model} some.conllu")
    assert "in XPOS, without a tag: 10." in ran.err
    assert len(blocks_of(ran.out)) == 12
    put("odd.conllu", changed(RAW, exchange))
    says = "UPOS has tags that it knows: swap the columns, or train with --lexicalised"
    refused(f"hpyp parse {xpos_model} odd.conllu", says)


def test_each_file_is_judged_by_itself(deptree, model, put):
    """A good file in front does not hide a bad one; what was done before it is not left in the output's place."""
    put("bad.conllu", changed(RAW, exchange))
    ran = deptree(f"hpyp parse {model} $DATA/treebank.conllu bad.conllu -o out.conllu --particles 5")
    assert ran.code == 2
    assert ran.said[-1].startswith("deptree: bad.conllu: the model does not know")
    assert not Path("out.conllu").exists()


@pytest.mark.parametrize("option", ["--oracle static", "--oracle sampled", "--unlexicalised"])
def test_training_leaves_sentences_out(done, put, option):
    """20 of 194 sentences lose a tag; the model is that of the others, so it has no sign in the place of tags."""
    sentences = TREEBANK.split(b"\n\n")
    for number in range(0, 200, 10):
        sentences[number] = re.sub(rb"(?m)^(1\t\S+\t\S+)\t\S+", rb"\1\t_", sentences[number])
    put("some.conllu", b"\n\n".join(sentences))
    put("rest.conllu", b"\n\n".join(each for number, each in enumerate(sentences) if number % 10 or number > 193))
    ran, _ = [done(f"hpyp train {x}.conllu -o {x}.npz --iterations 2 --seed 1 {option}") for x in ("some", "rest")]
    assert "deptree: left out of training: in 20 of 194 sentences a word has no tag in UPOS" in ran.said

    assert Path("rest.npz").read_bytes() == Path("some.npz").read_bytes()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("options", "change", "says"),
    [
        ("", tagged(b"_", 3), "has no tag in UPOS, too many .* take tags from XPOS with --column xpos"),
        ("--column xpos", tagged(b"_", 3, column=4), "has no tag in XPOS, .* take tags from UPOS with --column upos"),
        ("", tagged(b""), "has no tag in UPOS"),
        ("", tagged(b"_", column=7), "has no DEPREL, too many to leave out. Fill in DEPREL; .*such as dep"),
    ],
    ids=["upos", "xpos", "empty", "deprel"],
)
def test_too_many_to_leave_out(refused, put, options, change, says):
    put("odd.conllu", changed(TREEBANK, change))
    ran = refused(f"hpyp train odd.conllu -o m.npz {options}")
    assert re.search(rf"odd\.conllu:\d+: in 194 of 194 sentences a word {says}", ran.err), ran.err
    assert not Path("m.npz").exists()


SYMBOLS = Symbols(Lexicon(Vocabulary(())), Vocabulary(("NOUN", "VERB")), ("dep",), LEXICALISED)


def sentence(*tags):
    """A sentence of words with these tags."""
    rows = "".join(f"{word}\ta\t_\t{tag}" + "\t_" * 6 + "\n" for word, tag in enumerate(tags, 1))
    (block,) = blocks_of(f"{rows}\n".encode("latin-1"))
    return Sentence("x", 1, block.n, "x", block)


GOOD = sentence("NOUN", "VERB")


@pytest.mark.parametrize(
    ("doubtful", "held"), [((), 1), ((sentence("NOUN", "_"),), ENOUGH // 2), ((sentence("NOUN", "FOO"),), ENOUGH // 2)]
)
def test_doubtful_sentences_are_held_back_until_there_are_enough_words(doubtful, held):
    """Others flow. A bad part far behind ends the run."""
    read = 0

    def counted():
        nonlocal read
        for each in [GOOD, *doubtful, *[GOOD] * ENOUGH, *[sentence("FOO")] * ENOUGH]:
            read += 1
            yield each

    found = UnknownTags(SYMBOLS, "upos").watched(counted(), "x")
    next(found)
    assert read == 1
    next(found)
    assert read == max(held, 2)
    with pytest.raises(DeptreeError, match="does not know"):
        list(found)
    assert read < ENOUGH + 0.06 * 2 * ENOUGH


@pytest.mark.quick
@pytest.mark.parametrize(
    ("unseen", "words", "refused"),
    [
        (int(MOST * ENOUGH), ENOUGH, False),
        (int(MOST * ENOUGH) + 1, ENOUGH, True),
        (FEWEST - 1, FEWEST - 1, False),
        (FEWEST, FEWEST, True),
        (FEWEST, round(FEWEST / MOST), False),
    ],
)
def test_the_limit(unseen, words, refused):
    """More than 5 % of at least 1,000 words, or of all there are; five at least."""
    watch = UnknownTags(SYMBOLS, "upos")
    found = watch.watched(map(sentence, ["FOO"] * unseen + ["NOUN"] * (words - unseen)), "x")
    says = f"x: the model does not know the tags of {unseen} of {words} words"
    with pytest.raises(DeptreeError, match=says) if refused else nullcontext():
        assert len(list(found)) == words
    told = f"of {words} words in UPOS, with a tag that the model does not know: {unseen} (FOO "
    assert watch.line.startswith(told) != refused


def test_errors_pass_in_their_place():
    """Also those of sentences that are not UTF-8, which are found where they are worked on."""
    error, bad = DeptreeError("malformed"), sentence("N\xff")
    watch = UnknownTags(SYMBOLS, "upos")
    assert list(watch.watched([GOOD, error, bad, GOOD], "x")) == [GOOD, error, bad, GOOD]
    assert watch.line == ""


def test_the_most_frequent_are_named():
    assert named({"a": 1, "b": 3}) == "b 3, a 1"
    assert named({str(number): 1 for number in range(NAMED + 1)}).endswith(", ...")
