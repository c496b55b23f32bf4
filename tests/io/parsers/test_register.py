"""The register of parsers, and what it makes of parsers that fail."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module

import numpy as np
import pytest

from deptree_cli.io.parsers import PARSERS, Parser
from deptree_cli.io.parsers.scoring import score, splitter
from deptree_cli.io.parsers.sentences import Token, to_sentence
from deptree_cli.io.presets import PRESETS

SENTENCES = [to_sentence(str(number), [Token("a")] * n) for number, n in enumerate((2, 1, 3), 1)]
NATASHA = PARSERS["natasha"]


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


@pytest.mark.parametrize("name", PARSERS)
def test_every_line_has_a_preset_and_a_file(name):
    line = PARSERS[name]
    file, function = line.target.split(":")
    module = import_module(f"deptree_cli.io.parsers.{file}")
    assert name in PRESETS
    assert callable(getattr(module, function))
    adapters = [each for each in vars(module).values() if isinstance(each, type) and each.__module__ == module.__name__]
    assert [hasattr(each, "split") for each in adapters if hasattr(each, "scores")] == [line.splits]


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_that_is_not_installed(name, says, monkeypatch):
    for package in ("slovnet", "navec", "stanza", "supar", "spacy", "spacy_experimental", "hanlp"):
        monkeypatch.setitem(sys.modules, package, None)
    line = PARSERS[name]
    with says(f"{name} cannot be imported", f"pip install {line.requirement}"):
        line.load("some-model" if line.models else None)


def test_models_where_there_are_any(says):
    with says("supar has many models", "--model"):
        PARSERS["supar"].load(None)
    with says("natasha has one model only"):
        NATASHA.load("big")


def test_a_parser_at_work_prints_nothing_and_fails_in_a_line(capsys, says):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with says("natasha failed at task (Wrong number 3)"), NATASHA.at_work("task"):
            print("downloading")
            warnings.warn("old", DeprecationWarning, stacklevel=1)
            raise ValueError("Wrong\n  number 3")
    assert capsys.readouterr().out == ""
    with says("natasha failed at task (KeyError)"), NATASHA.at_work("task"):
        raise KeyError
    with pytest.raises(MemoryError), NATASHA.at_work("task"):
        raise MemoryError


def test_batches_as_the_sentences_come():
    adapter = Adapter()
    batches = score(NATASHA, adapter, iter(SENTENCES), 2, True)
    first = next(batches)
    assert adapter.sizes == [2]
    assert [scored.sentence.sent_id for scored in first] == ["1", "2"]
    assert [scored.labels.shape for scored in first] == [(2, 3, 2), (1, 2, 2)]
    assert [scored.scores.shape for scored in next(batches)] == [(3, 4)]
    assert next(score(NATASHA, Adapter(), SENTENCES, 1, False))[0].labels is None


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([], "natasha left out 1 of 1 sentences"),
        ([(np.zeros((3, 4)), None)], "1: natasha gave scores of 3 words for a sentence of 2"),
        ([(np.zeros((3, 9)), None)], "1: the scores have shape (3, 9)"),
        ([(np.full((2, 3), np.nan), None)], "1: natasha gave scores that are not numbers"),
        ([(np.full((2, 3), np.inf), None)], "1: natasha gave scores that are not numbers"),
    ],
)
def test_scores_that_are_none(results, said, says):
    with says(said):
        list(score(NATASHA, Adapter(results), SENTENCES[:1], 1, False))


def test_forbidden_arcs_are_scores():
    forbidding = np.full((2, 3), -np.inf)
    (scored,) = next(score(NATASHA, Adapter([(forbidding, None)]), SENTENCES[:1], 1, False))
    assert scored.scores is forbidding


def test_splitters_are_guarded_too(says):
    class Failing(Adapter):
        """Fails on the way, not at the call."""

        def split(self, text):
            """Like a real one."""
            yield [Token(text)]
            raise RuntimeError("no boundaries")

    with says("natasha failed at splitting the text (no boundaries)"):
        splitter(NATASHA, Failing())("text")
    assert splitter(PARSERS["supar"], Adapter()) is None


def test_a_package_without_a_version():
    assert Parser("x", "x:load", "no-such-distribution", "x").version is None
