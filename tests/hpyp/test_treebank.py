"""Treebanks as the generative parser reads them, labels by their names, and the treebank of the sample data."""

import gzip
import io
import re

import numpy as np
import pytest

from deptree_cli.hpyp.files.treebank import deprels_by_name, read_treebank
from deptree_cli.hpyp.kernels.configurations import projectivise
from deptree_cli.hpyp.model.sentences import LEXICALISED
from deptree_cli.hpyp.model.unknown import Lexicon, Symbols, Vocabulary
from tests.hpyp.toys import blocks_of
from tests.sample import DATA

# A multiword token, an empty node, a label with a subtype, open columns.
BLOCK = """\
# sent_id = x-1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVB\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod:neg\t_\t_
2.1\tyou\tyou\tPRON\tPRP\t_\t_\t_\t3:nsubj\t_
3\tgo\tgo\tVERB\t_\t_\t0\troot\t_\t_

"""
OPEN = "1\tgo\t_\t_\t_\t_\t_\t_\t_\t_\n\n"


def read(*paths, tags="upos"):
    return list(read_treebank(paths, tags))


def test_words_with_integer_ids(put):
    for path in (put("a.conllu", BLOCK), put("a.conllu", BLOCK.replace("\n", "\r\n"))):
        (found,) = read(path)
        assert (found.sent_id, found.place, found.n) == ("x-1", "a.conllu:1", 3)
        assert found.forms == ("do", "n't", "go")
        assert found.tags == ("AUX", "PART", "VERB")
        assert (found.heads.tolist(), found.heads.dtype) == ([3, 3, 0], np.int32)
        assert found.deprels == ("aux", "advmod:neg", "root")
        assert read(path, tags="xpos")[0].tags == ("VB", "RB", "_")


def test_what_is_unknown(put):
    """And what need not be UTF-8."""
    (found,) = read(put("a.conllu", OPEN.encode().replace(b"_\n", b"\xff\n")))
    assert (found.forms, found.tags, found.heads.tolist(), found.deprels) == (("go",), ("_",), [-1], ("_",))


def test_names_go_on_from_file_to_file(put, monkeypatch):
    """A sentence without a name has its running number over all files, gzipped or standard input."""
    first, second = put("a.conllu", OPEN + BLOCK), put("b.conllu.gz", gzip.compress(OPEN.encode()))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(OPEN.encode())))
    assert [sentence.sent_id for sentence in read(first, second, "-")] == ["1", "x-1", "3", "4"]


def test_malformed_blocks_are_handed_on(put):
    errors, data = [], (BLOCK + OPEN + "1\tgo\n\n" + OPEN).encode()
    path = put("a.conllu", data.replace(b"go\t_\t_", b"\xff\t_\t_", 1))
    assert [each.sent_id for each in read_treebank([path], "upos", errors.append)] == ["x-1", "4"]
    second, third = map(str, errors)
    assert "a.conllu:8 (2): a form, a tag or a label is not UTF-8." in second
    assert "a.conllu:10: 2 columns" in third


@pytest.mark.quick
@pytest.mark.parametrize(
    ("labels", "numbers", "names"),
    [
        (("det", "root", "dep"), [[0, 1, 0], [1, 0, 2]], [["det", "root", "det"], ["root", "det", "dep"]]),
        (("det", "root", "dep"), [[1, 0, 0], [0, 1, 1]], [["dep", "root", "det"], ["root", "dep", "dep"]]),
        (("root", "det"), [[0, 1, 1], [0, 0, 1]], [["dep", "root", "det"], ["root", "dep", "det"]]),
        (("det", "pred"), [[1, 0, 0], [0, 1, 1]], [["pred", "det", "det"], ["det", "pred", "pred"]]),
    ],
)
def test_root_is_the_label_of_roots_dependent(labels, numbers, names):
    """But where the treebank has no such label."""
    symbols = Symbols(Lexicon(Vocabulary(())), Vocabulary(("N", "V")), labels, LEXICALISED)
    heads = np.array([[2, 0, 2], [0, 1, 1]], dtype=np.int32)
    found = deprels_by_name(symbols, heads, np.array(numbers, dtype=np.int32))
    assert [[found.names[label] for label in row] for row in found.index] == names
    assert found.index.dtype == np.int32


# The sample data is what its README says.


@pytest.mark.slow("process")
@pytest.mark.parametrize(("name", "level"), [("treebank", 3), ("raw_gold", 3), ("raw", 1)])
def test_the_sample_passes_the_ud_validator(udvalidate, name, level):
    run = udvalidate(DATA / f"{name}.conllu", level)
    assert run.returncode == 0, run.stdout + run.stderr


def test_there_is_something_to_learn_from_the_sample():
    """Of the words to be parsed most were seen twice or more, but not all; two trees of the treebank cross."""
    treebank, raw, gold = (read(str(DATA / f"{name}.conllu")) for name in ("treebank", "raw", "raw_gold"))
    for sentence in [*treebank, *gold]:
        sentence.check_tree()
        assert 2 < sentence.n < 15
        assert "_" not in sentence.deprels
    assert [each.sent_id for each in treebank if projectivise(np.array(each.heads))] == ["tb-072", "tb-073"]
    for bare, whole in zip(raw, gold, strict=True):
        assert (bare.sent_id, bare.forms, bare.tags) == (whole.sent_id, whole.forms, whole.tags)
        assert (set(bare.heads.tolist()), set(bare.deprels)) == ({-1}, {"_"})
    known = set(Lexicon.of(treebank).vocabulary.symbols)
    assert 0.8 < np.mean([form in known for sentence in raw for form in sentence.forms]) < 1
    assert not {sentence.forms for sentence in treebank} & {sentence.forms for sentence in raw}
    data = (DATA / "treebank.conllu").read_bytes()
    assert re.findall(rb"(?m)^\d+-\d+\t(\S+)", data) == [b"don't", b"didn't", b"Don't"]
    assert [block.sent_id for block in blocks_of(data) if b"\n4.1\t" in block.raw] == ["tb-194"]
    for name, prefix, count in (("treebank", "tb-{:03}", 194), ("raw", "raw-{:02}", 12), ("raw_gold", "raw-{:02}", 12)):
        blocks = blocks_of((DATA / f"{name}.conllu").read_bytes())
        assert [each.sent_id for each in blocks] == [prefix.format(number) for number in range(1, count + 1)]
        for block in blocks:
            assert "_" not in {*block.column("upos"), *block.column("xpos"), *block.column("lemma")}
