"""The register of parsers, and what it makes of parsers that fail."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.register import imported
from deptree_cli.io.parsers import PARSERS, Batch, Parser, Token, adapters, batches, score, splitter, to_sentence
from deptree_cli.io.scores.layout import PRESETS

SENTENCES = [to_sentence(str(number), [Token("a")] * n) for number, n in enumerate((2, 1, 3), 1)]
NATASHA = PARSERS.get("natasha")


class Adapter:
    """Scores of the right shape that count the batches; or what it is told."""

    labels = ("x", "y")

    def __init__(self, results=None) -> None:
        self.results = results
        self.sizes: list[int] = []

    def scores(self, batch, labelled):
        """Like a real one."""
        self.sizes.append(len(batch))
        if self.results is not None:
            return self.results
        shapes = [(len(words), len(words) + 1) for words in batch]
        return [(np.zeros(shape), np.zeros((*shape, 2)) if labelled else None) for shape in shapes]


def all_of(*sentences) -> Batch:
    """These sentences in one batch."""
    return Batch(list(sentences), "x.conllu")


@pytest.mark.parametrize("entry", PARSERS, ids=PARSERS.names)
def test_every_entry_has_a_preset_and_a_file(entry):
    load = imported(entry.target, "deptree_cli.io.parsers")
    assert entry.layout in PRESETS
    assert hasattr(getattr(adapters, load.__annotations__["return"]), "split") == entry.splits


@pytest.mark.parametrize("entry", PARSERS, ids=PARSERS.names)
def test_a_parser_that_is_not_installed(entry, says, monkeypatch):
    for package in ("slovnet", "navec", "stanza", "supar", "spacy", "spacy_experimental", "hanlp"):
        monkeypatch.setitem(sys.modules, package, None)
    with says(f"{entry.name} cannot be imported", f"pip install {entry.requirement}"):
        entry.load("some-model" if entry.models else None)


def test_models_where_there_are_any(says):
    with says("supar has many models", "--model"):
        PARSERS.get("supar").load(None)
    with says("natasha has one model only"):
        NATASHA.load("big")


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
    def endless():
        yield from SENTENCES
        raise AssertionError

    made = batches(endless(), 2, "x.conllu")
    first = next(made)
    assert [sentence.sent_id for sentence in first.sentences] == ["1", "2"]
    assert (first.sent_id, first.place) == ("1", "x.conllu")
    rest = list(batches(SENTENCES, 2, "x.conllu"))[1:]
    assert [[sentence.sent_id for sentence in batch.sentences] for batch in rest] == [["3"]]
    assert list(batches([], 2, "x.conllu")) == []


def test_what_is_no_sentence_passes_between_batches():
    bad = DeptreeError("bad")
    made = list(batches([SENTENCES[0], bad, SENTENCES[1], SENTENCES[2], bad], 2, "x.conllu"))
    assert [each if each is bad else [one.sent_id for one in each.sentences] for each in made] == [
        bad,
        ["1", "2"],
        bad,
        ["3"],
    ]


def test_the_scores_of_a_batch():
    adapter = Adapter()
    scored = score(NATASHA, adapter, all_of(*SENTENCES), True)
    assert adapter.sizes == [3]
    assert [each.sentence for each in scored] == SENTENCES
    assert [each.of_labels.shape for each in scored] == [(2, 3, 2), (1, 2, 2), (3, 4, 2)]
    assert [each.of_arcs.shape for each in scored] == [(2, 3), (1, 2), (3, 4)]
    assert score(NATASHA, Adapter(), all_of(SENTENCES[0]), False)[0].of_labels is None


def test_sentences_that_are_left_out(says):
    with says("1: natasha left out 1 of 2 sentences"):
        score(NATASHA, Adapter([(np.zeros((2, 3)), None)]), all_of(*SENTENCES[:2]), False)


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([(np.zeros((3, 4)), None)], "1: natasha gave scores of 3 words for a sentence of 2"),
        ([(np.zeros((3, 9)), None)], "1: the scores have shape (3, 9)"),
        ([(np.full((2, 3), np.nan), None)], "1: natasha gave scores that are not numbers"),
        ([(np.full((2, 3), np.inf), None)], "1: natasha gave scores that are not numbers"),
    ],
)
def test_scores_that_are_none_do_not_harm_the_others(results, said):
    sound = np.zeros((1, 2)), None
    bad, good = score(NATASHA, Adapter([*results, sound]), all_of(*SENTENCES[:2]), False)
    assert isinstance(bad, DeptreeError)
    assert said in str(bad)
    assert good.sentence is SENTENCES[1]


def test_forbidden_arcs_are_scores():
    forbidding = np.full((2, 3), -np.inf)
    (scored,) = score(NATASHA, Adapter([(forbidding, None)]), all_of(SENTENCES[0]), False)
    assert scored.of_arcs is forbidding


def test_splitters_are_guarded_too(says):
    class Failing(Adapter):
        """Fails on the way, not at the call."""

        def split(self, text):
            """Like a real one."""
            yield [Token(text)]
            raise RuntimeError("no boundaries")

    with says("natasha failed at splitting the text (no boundaries)"):
        splitter(NATASHA, Failing())("text")
    assert splitter(PARSERS.get("supar"), Adapter()) is None


def test_a_package_without_a_version():
    assert Parser("x", "x:load", "no-such-distribution", "x").version is None
