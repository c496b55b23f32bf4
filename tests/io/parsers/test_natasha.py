"""Natasha with its real model: skipped where it is not installed."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from deptree_cli.io.files.streams import open_input
from deptree_cli.io.parsers import PARSERS, Word, read_sentences
from tests.sample import DATA
from tests.tree_files import read_blocks


@pytest.fixture(scope="module")
def natasha():
    pytest.importorskip("slovnet", reason="natasha is not installed")
    return PARSERS.get("natasha").load(None)


@pytest.fixture(scope="module")
def words(shared):
    with open_input(str(shared / "real_ru" / "sentences.conllu")) as file:
        return [sentence.words for sentence in read_sentences(file, "conllu", None)]


@pytest.mark.slow("process")
def test_scores_of_a_treebank(natasha, words, shared):
    """Float32 on the same tokens: equal but for the rounding of another processor's sums."""
    got = natasha.scores(words, False)
    with np.load(shared / "real_ru" / "scores.npz") as known:
        assert len(known) == len(got)
        for key, (arcs, labels) in zip(known, got, strict=True):
            assert labels is None
            assert arcs.dtype == np.float32
            np.testing.assert_allclose(arcs, known[key], rtol=1e-4, atol=1e-3)


@pytest.mark.slow("process")
def test_label_scores_of_a_treebank(natasha, words, shared):
    """The known ones are float16, so half a unit of its eleven binary digits may be lost."""
    with np.load(shared / "real_ru" / "label_scores.npz") as known:
        got = natasha.scores(words[: len(known)], True)
        for key, (_, labels) in zip(known, got, strict=True):
            assert labels.shape == known[key].shape
            np.testing.assert_allclose(labels, known[key].astype(float), rtol=2**-10, atol=1e-3)
    assert natasha.labels == json.loads((shared / "real_ru" / "labels.json").read_text(encoding="utf-8"))


def test_the_labels_of_the_best_heads_are_its_own(natasha):
    """The model itself scores the labels of one head per word."""
    own = [Word(form) for form in ("Рыбак", "вытащил", "лодку", "на", "берег", ".")]
    with open_input(str(DATA / "gold.conllu")) as file:
        samples = [sentence.words for sentence in read_sentences(file, "conllu", None)]
    assert len(samples) == 8
    for words, (arcs, labels) in zip([own, *samples], natasha.scores([own, *samples], True), strict=True):
        given = natasha._encoder.input([natasha._encoder.item([word.form for word in words])])
        known = natasha._model(given.word_id, given.shape_id, given.pad_mask)
        heads = arcs.argmax(axis=1)
        np.testing.assert_allclose(labels[np.arange(len(words)), heads], known.rel_id[0], rtol=1e-4, atol=1e-3)
        np.testing.assert_array_equal(arcs, known.head_id[0])


def test_the_trees_of_the_sample_sentences_are_mostly_right(natasha):
    """A trained parser of Russian on simple sentences: 11 of 13 words at least under their heads, labelled so."""
    with open_input(str(DATA / "gold.conllu")) as file:
        gold = [block for block in read_blocks(file.stream, file.place) if block.sent_id.startswith("ru-")]
    found = natasha.scores([[Word(form) for form in block.column("form")] for block in gold], True)
    right = 0
    for block, (arcs, labels) in zip(gold, found, strict=True):
        heads = arcs.argmax(axis=1)
        named = [natasha.labels[each] for each in labels[np.arange(block.n), heads].argmax(axis=1)]
        ours, known = (
            list(zip(*tree, strict=True)) for tree in ((heads.tolist(), named), (block.heads, block.deprels))
        )
        right += sum(mine == theirs for mine, theirs in zip(ours, known, strict=True))
    assert sum(block.n for block in gold) == 13
    assert right >= 11


def test_scores_do_not_depend_on_the_batch(natasha):
    long, short = ([Word(form) for form in text.split()] for text in ("Никто не знал ответа .", "Да <pad> !"))
    together = natasha.scores([long, short], True)
    for (arcs, labels), words in zip(together, (long, short), strict=True):
        ((alone, labels_alone),) = natasha.scores([words], True)
        np.testing.assert_array_equal(arcs, alone)
        np.testing.assert_array_equal(labels, labels_alone)
        assert arcs.shape == (len(words), len(words) + 1)


def test_sentences_and_tokens(natasha):
    text = "На ул. Садовой тихо.\n«Ты где?» — спросил он."
    sentences = list(natasha.split(text))
    assert [[token.form for token in tokens] for tokens in sentences] == [
        ["На", "ул", ".", "Садовой", "тихо", "."],
        ["«", "Ты", "где", "?", "»", "—", "спросил", "он", "."],
    ]
    assert [token.space_after for token in sentences[0]] == [True, False, True, True, False, True]
    assert [token.space_after for token in sentences[1]] == [False, True, False, False, True, True, True, False, True]


def test_natasha_itself_is_not_imported(natasha):
    assert "natasha" not in sys.modules
    assert "pymorphy2" not in sys.modules
