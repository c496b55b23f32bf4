"""Parsers: the register and what it makes of those that fail; their sentences, from text and CoNLL-U and back to it."""

import sys

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.register import imported
from deptree_cli.io import parsers as module
from deptree_cli.io.files.streams import open_input
from deptree_cli.io.parsers import PARSERS, Token, Word, adapters, batches, kind_of, paragraphs, splitter, to_sentence
from deptree_cli.io.scores.layout import PRESETS

SENTENCES = [to_sentence(str(number), [Token("a")] * n) for number, n in enumerate((2, 1, 3), 1)]
NATASHA = PARSERS.get("natasha")
EACH = pytest.mark.parametrize("entry", PARSERS, ids=PARSERS.names)


class Adapter:
    """Scores of the right shape; or what it is told."""

    labels = ("x", "y")

    def __init__(self, *results):
        self.results = list(results)

    def scores(self, batch, labelled):
        shapes = [(len(words), len(words) + 1) for words in batch]
        return self.results or [(np.zeros(shape), np.zeros((*shape, 2)) if labelled else None) for shape in shapes]


def scored(adapter, *sentences, labelled=False):
    return module.score(NATASHA, adapter, module.Batch(list(sentences), "x.conllu"), labelled)


@EACH
def test_every_entry_has_a_preset_and_an_adapter(entry):
    load = imported(entry.target, "deptree_cli.io.parsers")
    assert entry.layout in PRESETS
    assert hasattr(getattr(adapters, load.__annotations__["return"]), "split") == entry.splits


@EACH
def test_a_parser_that_is_not_installed(entry, says, monkeypatch):
    for package in ("slovnet", "navec", "stanza", "supar", "spacy", "spacy_experimental", "hanlp"):
        monkeypatch.setitem(sys.modules, package, None)
    with says(f"{entry.name} cannot be imported", f"pip install {entry.requirement}"):
        entry.load("some-model" if entry.models else None)


def test_models_where_there_are_any(says):
    with says("supar has many models", "--model"):
        PARSERS.get("supar").load(None)
    assert module.Parser("x", "x:load", "no-such-distribution", "x").version is None


def test_a_parser_at_work_prints_nothing_and_fails_in_a_line(capsys, says):
    with says("natasha failed at task (Wrong number 3)"), NATASHA.at_work("task"):
        print("downloading")
        raise ValueError("Wrong\n  number 3")
    assert capsys.readouterr().out == ""
    with says("natasha failed at task (KeyError)"), NATASHA.at_work("task"):
        raise KeyError
    with pytest.raises(MemoryError), NATASHA.at_work("task"):
        raise MemoryError


def test_batches_as_the_sentences_come():
    """Errors pass between them; the first batch does not wait for more."""

    def endless():
        yield from SENTENCES[:2]
        raise AssertionError

    first = next(batches(endless(), 2, "x.conllu"))
    assert (first.sentences, first.sent_id, first.place) == (SENTENCES[:2], "1", "x.conllu")
    bad, (one, two, three) = DeptreeError("bad"), SENTENCES
    made = batches([one, bad, two, three, bad], 2, "x.conllu")
    assert [each if each is bad else each.sentences for each in made] == [bad, [one, two], bad, [three]]
    assert list(batches([], 2, "x.conllu")) == []


def test_the_scores_of_a_batch():
    found = scored(Adapter(), *SENTENCES, labelled=True)
    assert [each.sentence for each in found] == SENTENCES
    assert [each.of_labels.shape for each in found] == [(2, 3, 2), (1, 2, 2), (3, 4, 2)]
    assert [each.of_arcs.shape for each in found] == [(2, 3), (1, 2), (3, 4)]
    assert scored(Adapter(), SENTENCES[0])[0].of_labels is None


def test_sentences_that_are_left_out(says):
    with says("1: natasha left out 1 of 2 sentences"):
        scored(Adapter((np.zeros((2, 3)), None)), *SENTENCES[:2])


@pytest.mark.quick
@pytest.mark.parametrize(
    ("result", "said"),
    [
        (np.zeros((3, 4)), "1: natasha gave scores of 3 words for a sentence of 2"),
        (np.zeros((3, 9)), "1: the scores have shape (3, 9)"),
        (np.full((2, 3), np.nan), "1: natasha gave scores that are not numbers"),
        (np.full((2, 3), np.inf), "1: natasha gave scores that are not numbers"),
    ],
)
def test_wrong_scores_do_not_harm_the_others(result, said):
    bad, good = scored(Adapter((result, None), (np.zeros((1, 2)), None)), *SENTENCES[:2])
    assert isinstance(bad, DeptreeError)
    assert said in str(bad)
    assert good.sentence is SENTENCES[1]


def test_splitters_are_guarded_too(says):
    class Failing(Adapter):
        """Fails on the way, not at the call."""

        def split(self, text):
            yield [Token(text)]
            raise RuntimeError("no boundaries")

    with says("natasha failed at splitting the text (no boundaries)"):
        splitter(NATASHA, Failing())("text")
    assert splitter(PARSERS.get("supar"), Adapter()) is None


def read(path, kind):
    """A line of a text is a sentence, what stands between spaces a token."""
    with open_input(path) as file:
        yield from module.read_sentences(file, kind, lambda t: [[*map(Token, row.split())] for row in t.splitlines()])


def test_first_bytes_tell_what_it_is():
    conllu = "1\tThe\t_", "1-2\tdel\t_", "# sent_id = 1\n", "\ufeff\n# text = x\n"
    text = "Туман над рекой.", "\ufeffText", "1 The", "1-2 pages\t"
    assert [kind_of(head.encode()) for head in (*conllu, *text)] == ["conllu"] * 4 + ["text"] * 4


def test_blocks_keep_bytes_and_columns(scratch):
    del_ = "1-2\tdel\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n1\tde\tde\tADP\tE\tF=1\t2\tcase\t_\t_\n"
    el = "2\tel\tel\tDET\t_\t_\t0\troot\t_\tX=1|SpaceAfter=No\n\n"
    blocks = f"# sent_id = a\n{del_}{el}1\tb\t_\t_\t_\t_\t_\t_\t_\t_\n\n".encode()
    first, second = read(scratch("two.conllu", blocks), "conllu")
    assert first.words == [Word("de", "de", "ADP", "E", "F=1"), Word("el", "el", "DET", space_after=False)]
    assert (first.sent_id, second.sent_id) == ("a", "2")
    assert first.conllu + second.conllu == blocks


def test_paragraphs_are_what_empty_lines_part():
    """The first is there before the rest was read."""
    lines = "\ufeffOne\nand more.\n\n \t\r\nTwo и\u0306.\r\n".encode().splitlines(keepends=True)
    assert list(paragraphs(lines, "file")) == ["One\nand more.", "Two й."]

    def endless():
        yield b"One.\n"
        yield b"\n"
        raise AssertionError

    assert next(paragraphs(endless(), "pipe")) == "One."


def test_text_is_numbered_through(scratch):
    sentences = list(read(scratch("text", b"A b\nc\n\n\nd"), "text"))
    assert [each.sent_id for each in sentences] == ["1", "2", "3"]
    assert [[word.form for word in each.words] for each in sentences] == [["A", "b"], ["c"], ["d"]]


def test_files_that_are_refused(scratch, says):
    """White space alone is an empty file, whatever it should have been."""
    with says("x: the file is empty"):
        list(read(scratch("x", b"\n\n"), "conllu"))
    with says("x:2: this is not UTF-8"):
        list(read(scratch("x", b"Text\n\xe9t\xe9\n"), "text"))


def test_a_block_of_tokens():
    tokens = [Token("Lo", False), Token("del", words=("de", "el")), Token("mar", False), Token(".")]
    sentence = to_sentence("7", tokens)
    mar, stop = Word("mar", space_after=False), Word(".")
    assert sentence.words == [Word("Lo", space_after=False), Word("de"), Word("el"), mar, stop]
    lines = sentence.conllu.decode().splitlines()
    assert lines[:2] == ["# sent_id = 7", "# text = Lodel mar."]
    ids, forms, *_, misc = zip(*(line.split("\t") for line in lines[2:-1]), strict=True)
    assert (*ids, *forms) == ("1", "2-3", "2", "3", "4", "5", "Lo", "del", "de", "el", "mar", ".")
    assert misc == ("SpaceAfter=No", "_", "_", "_", "SpaceAfter=No", "_")
