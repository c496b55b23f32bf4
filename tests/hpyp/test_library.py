"""`deptree_cli.hpyp`: a parser from a treebank, and everything that it can be asked, in Python."""

from __future__ import annotations

import doctest
import pickle
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp import Annotated, Parser
from deptree_cli.hpyp.model.sentences import Contexts
from tests.sample import DATA

TREEBANK = DATA / "treebank.conllu"
FORMS = ["The", "dog", "saw", "the", "cat", "in", "the", "garden", "."]
TAGS = ["DET", "NOUN", "VERB", "DET", "NOUN", "ADP", "DET", "NOUN", "PUNCT"]


@pytest.fixture(scope="module")
def parser() -> Parser:
    """Of words and UPOS."""
    return Parser.train(TREEBANK, iterations=3, seed=1)


def test_it_is_trained_on_paths_and_sentences(parser: Parser) -> None:
    sentences = list(parser.read(TREEBANK))
    seen: list[tuple[int, float]] = []
    same = Parser.train(sentences, iterations=3, seed=1, on_iteration=lambda *each: seen.append(each))
    assert [number for number, _ in seen] == [1, 2, 3]
    assert same.trained.progress == parser.trained.progress
    assert tuple(value for _, value in seen) == parser.trained.progress.log_likelihoods
    mixed = Parser.train([str(TREEBANK), sentences[0]], iterations=1, seed=1)
    assert mixed.trained.progress.sentences == len(sentences) + 1


def test_options_of_training() -> None:
    contexts = Contexts(("s1.t",), ("s1.t", "s2.t"), ("b.t",))
    found = Parser.train(TREEBANK, column="xpos", contexts=contexts, oracle="sampled", iterations=2)
    assert found.tagset == "xpos"
    assert "VBZ" in found.trained.symbols.tags
    assert found.trained.symbols.contexts == contexts
    assert "|oracle:sampled|" in found.signature
    assert "no words" in repr(Parser.train(TREEBANK, lexicalised=False, iterations=1))


def test_text_without_trees_adds_words(parser: Parser) -> None:
    text = [FORMS[:3], ["A", "zebra", "sleeps"], ["A", "zebra", "sings"]]
    unknown = np.full(3, -1, dtype=np.int32), ("_",) * 3
    sentences = [Annotated(str(i), "", tuple(forms), ("_",) * 3, *unknown) for i, forms in enumerate(text)]
    found = Parser.train(TREEBANK, unlabelled=sentences, passes=2, iterations=2, seed=1)
    assert "zebra" in found.trained.symbols.lexicon.vocabulary
    assert "zebra" not in parser.trained.symbols.lexicon.vocabulary
    assert found.trained.progress.passes == 2


def test_what_cannot_be_trained_on() -> None:
    sentence = next(Parser.train(TREEBANK, iterations=1).read(TREEBANK))
    cases = [
        ("no sentences", lambda: Parser.train([])),
        ("`iterations=0` trains nothing", lambda: Parser.train(TREEBANK, iterations=0)),
        ("no word has a HEAD", lambda: Parser.train(DATA / "raw.conllu")),
        ("without words", lambda: Parser.train(TREEBANK, lexicalised=False, unlabelled=TREEBANK)),
        (
            "in 1 of 1 sentence a word has no tag in UPOS, too many",
            lambda: Parser.train([replace(sentence, tags=("_",) * sentence.n)]),
        ),
        ("the form of word 1 is 'a", lambda: Parser.train([replace(sentence, forms=("a\n",) * sentence.n)])),
        ("missing.conllu", lambda: Parser.train("missing.conllu")),
    ]
    for message, train in cases:
        with pytest.raises(DeptreeError, match=message):
            train()


def test_files_and_pickles(parser: Parser, tmp_path: Path) -> None:
    parser.save(tmp_path / "model.npz")
    for other in (Parser.load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(parser))):
        assert repr(other) == repr(parser)
        assert other.signature == parser.signature
        np.testing.assert_array_equal(other.surprisal((FORMS, TAGS), 1), parser.surprisal((FORMS, TAGS), 1))


def test_sentences_with_missing_tags_are_left_out() -> None:
    found = list(Parser.train(TREEBANK, iterations=1).read(TREEBANK))
    found[3] = replace(found[3], tags=("_", *found[3].tags[1:]))
    found[5] = replace(found[5], deprels=("_", *found[5].deprels[1:]))
    says = "in 1 of 194 sentences a word has no tag in UPOS and in 1 of 194 sentences a word has no DEPREL"
    with pytest.warns(UserWarning, match=f"left out of training: {says}"):
        trained = Parser.train(found, iterations=1).trained
    assert trained.progress.sentences == 192
    assert "_" not in {*trained.symbols.tags.symbols, *trained.symbols.labels}


def test_tags_that_are_not_known(parser: Parser) -> None:
    """The others are used, and what is predicted in their place does not depend on what stands there."""
    missing = [tag if tag != "NOUN" else "_" for tag in TAGS]
    found = parser.parse((FORMS, missing))
    assert found.heads.tolist() == parser.parse((FORMS, TAGS)).heads.tolist()
    assert found.tags == tuple(missing)
    unseen = [tag if tag != "NOUN" else "FOO" for tag in TAGS]
    with pytest.warns(UserWarning, match="sentence 1: tags that the parser does not know are predicted: FOO") as told:
        assert parser.parse((FORMS, unseen)).log_prob == found.log_prob
    assert told[0].filename == __file__
    assert parser.surprisal((FORMS, missing), 7)[1] < parser.surprisal((FORMS, TAGS), 7)[1]


def test_parsing(parser: Parser) -> None:
    found = parser.parse((FORMS, TAGS))
    assert found.heads.tolist() == [2, 3, 0, 5, 3, 8, 8, 5, 3]
    assert found.deprels[:3] == ("det", "nsubj", "root")
    assert parser.parse(FORMS, predict_tags=True).tags == tuple(TAGS)


def test_sampling(parser: Parser) -> None:
    trees = parser.sample((FORMS, TAGS), 50, 7, particles=200)
    assert trees.shape == (50, 9)
    assert len(np.unique(trees, axis=0)) > 1
    np.testing.assert_array_equal(trees, parser.sample((FORMS, TAGS), 50, 7, particles=200))
    rng = np.random.default_rng(3)
    again = [parser.sample((FORMS, TAGS), 50, rng, particles=200) for _ in range(2)]
    assert (again[0] != again[1]).any()


def test_a_filter(parser: Parser) -> None:
    found = parser.filter((FORMS, TAGS), 7, draws=3)
    np.testing.assert_allclose(found.marginals[:, 1:].sum(axis=0), 1)
    assert found.heads[found.drawn].shape == (3, 9)
    assert (parser.filter(FORMS, 7, predict_tags=True).tags > 0).all()


def test_surprisals(parser: Parser) -> None:
    found = parser.evidence((FORMS, TAGS), 7, filters=3)
    np.testing.assert_array_equal(parser.surprisal((FORMS, TAGS), 7, filters=3), found.surprisals)
    assert found.surprisals.shape == (10,)
    of_words = parser.surprisal(FORMS, 7, predict_tags=True)
    # What is summed out is more probable than one of it, but for the noise of the filters.
    assert of_words[:-1].sum() < found.surprisals[:-1].sum() + 0.05


def test_scores(parser: Parser) -> None:
    """Those of maximum entropy have the filter's marginals, but for the 1 % that is smoothed, and the tolerance."""
    trees = parser.scores((FORMS, TAGS), 7)
    found = parser.filter((FORMS, TAGS), 7).marginals
    assert np.abs(trees.marginals() - found).max() < 0.012
    assert parser.scores((FORMS, TAGS), 7, "log").entropy() != trees.entropy()
    sentence = next(parser.read(DATA / "raw.conllu"))
    assert parser.scores(sentence, 7).id == sentence.sent_id == "raw-01"
    with pytest.raises(DeptreeError, match="maxent"):
        parser.scores((FORMS, TAGS), 7, "maxentt")


def test_generating(parser: Parser) -> None:
    found = parser.generate(4, 7, longest=9)
    assert [sentence.sent_id for sentence in found] == ["gen-1", "gen-2", "gen-3", "gen-4"]
    assert all(sentence.n <= 9 for sentence in found)
    rng = np.random.default_rng(7)
    assert [each.forms for each in parser.generate(4, rng)] != [each.forms for each in parser.generate(4, rng)]


def test_sentences(parser: Parser) -> None:
    known = Annotated("x", "", tuple(FORMS), tuple(TAGS), np.full(9, -1, dtype=np.int32), ("_",) * 9)
    for same in (known, (tuple(FORMS), tuple(TAGS)), [FORMS, TAGS]):
        assert parser.parse(same).heads.tolist() == parser.parse((FORMS, TAGS)).heads.tolist()
    cases = [
        ("the sentence is a string", "The dog"),
        ("no word has a tag", FORMS),
        ("no word has a tag", ("The", "dog")),
        ("neither a list of words nor a pair", (FORMS, TAGS, TAGS)),
        ("knows none of the tags DT, X\\.", (["a", "b", "c"], ["X", "DT", "_"])),
        ("2 forms, 1 tags", (["a", "b"], ["c"])),
        ("at least one word", ([], [])),
    ]
    for message, sentence in cases:
        with pytest.raises(DeptreeError, match=message):
            parser.parse(sentence)


def test_reading_stops_at_what_is_malformed(parser: Parser, tmp_path: Path) -> None:
    (tmp_path / "bad.conllu").write_text("1\ta\n\n", encoding="utf-8")
    with pytest.raises(DeptreeError, match="2 columns"):
        list(parser.read(tmp_path / "bad.conllu"))


def test_the_example_in_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sample_data").symlink_to(DATA)
    monkeypatch.chdir(tmp_path)
    page = (DATA.parent / "docs/generative_parser.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(>>> .*?)```", page, re.DOTALL)
    test = doctest.DocTestParser().get_doctest(example, {}, "docs", None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.failures == 0
    assert runner.tries > 8
    assert (tmp_path / "parser.npz").exists()


@pytest.mark.parametrize("k", [-1, 1.5, None, True])
def test_numbers_that_are_none(parser: Parser, k: object) -> None:
    for draw, what in (
        (lambda: parser.sample((FORMS, TAGS), k), "trees"),
        (lambda: parser.filter((FORMS, TAGS), draws=k), "trees"),
        (lambda: parser.generate(k), "sentences"),
    ):
        with pytest.raises(
            DeptreeError, match=rf"^{k} (is not a number of {what}|{what} are asked for)\. Ask for 1 or more"
        ):
            draw()
    assert parser.sample((FORMS, TAGS), 0, 1).shape == (0, len(FORMS))
