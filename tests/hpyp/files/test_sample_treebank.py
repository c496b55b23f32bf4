"""The small treebank among the sample data is what its README says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from deptree_cli.hpyp.files.treebank import annotated
from deptree_cli.hpyp.kernels.configurations import projectivise
from deptree_cli.hpyp.model.sentences import Annotated
from deptree_cli.hpyp.model.unknown import Lexicon
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import COLUMNS
from tests.sample import DATA
from tests.tree_files import read_blocks

EVERY = pytest.mark.parametrize("name", ["treebank", "raw", "raw_gold"])


def blocks(name: str) -> list[Block]:
    with (DATA / f"{name}.conllu").open("rb") as stream:
        return list(read_blocks(stream, name))


def sentences(name: str) -> list[Annotated]:
    return [annotated(block, block.sent_id, "upos") for block in blocks(name)]


@pytest.mark.slow("process")
@pytest.mark.parametrize(("name", "level"), [("treebank", 3), ("raw_gold", 3), ("raw", 1)])
def test_passes_the_ud_validator(udvalidate: Callable, name: str, level: int) -> None:
    run = udvalidate(DATA / f"{name}.conllu", level)
    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.parametrize(("name", "prefix", "count"), [("treebank", "tb-{:03}", 194), ("raw", "raw-{:02}", 12)])
def test_names(name: str, prefix: str, count: int) -> None:
    assert [block.sent_id for block in blocks(name)] == [prefix.format(number) for number in range(1, count + 1)]


@pytest.mark.parametrize("name", ["treebank", "raw_gold"])
def test_a_parser_can_be_trained_on_it(name: str) -> None:
    for sentence in sentences(name):
        sentence.check_tree()
        assert 2 < sentence.n < 15
        assert "_" not in {*sentence.tags, *sentence.deprels}


@EVERY
def test_every_word_has_both_tags(name: str) -> None:
    for block in blocks(name):
        assert "_" not in {*block.column("upos"), *block.column("xpos"), *block.column("lemma")}


@EVERY
def test_text_is_the_forms_joined(name: str) -> None:
    for block in blocks(name):
        rows = [line.split("\t") for line in block.raw.decode().splitlines() if line and line[0] != "#"]
        text, covered = "", 0.0
        for row in rows:
            first, _, last = row[0].partition("-")
            if "." not in row[0] and int(first) > covered:
                text += row[1] + " " * ("SpaceAfter=No" not in row[COLUMNS.index("misc")])
                covered = int(last or first)
        assert block.comment("text") == text.rstrip()


def test_two_trees_are_not_projective() -> None:
    lifts = {sentence.sent_id: projectivise(np.array(sentence.heads)) for sentence in sentences("treebank")}
    assert [sent_id for sent_id, count in lifts.items() if count] == ["tb-072", "tb-073"]


def test_multiword_tokens_and_an_empty_node() -> None:
    text = (DATA / "treebank.conllu").read_text(encoding="utf-8")
    assert [line.split("\t")[1] for line in text.splitlines() if "-" in line.split("\t")[0] and line[0] != "#"] == [
        "don't",
        "didn't",
        "Don't",
    ]
    assert [block.sent_id for block in blocks("treebank") if b"\n4.1\t" in block.raw] == ["tb-194"]


def test_raw_sentences_are_those_with_trees() -> None:
    for raw, gold in zip(sentences("raw"), sentences("raw_gold"), strict=True):
        assert (raw.sent_id, raw.forms, raw.tags) == (gold.sent_id, gold.forms, gold.tags)
        assert set(raw.heads.tolist()) == {-1}
        assert set(raw.deprels) == {"_"}


def test_words_recur() -> None:
    """There is something to learn: of the words to be parsed most were seen twice or more, but not all."""
    treebank = sentences("treebank")
    known = set(Lexicon.of(treebank).vocabulary.symbols)
    words = [form for sentence in sentences("raw") for form in sentence.forms]
    assert 0.8 < np.mean([word in known for word in words]) < 1
    assert not {sentence.forms for sentence in treebank} & {sentence.forms for sentence in sentences("raw")}
