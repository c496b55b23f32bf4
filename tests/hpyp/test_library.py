"""`deptree_cli.hpyp`: a parser from a treebank, and all that it does, in Python."""

import doctest
import pickle
import re
from dataclasses import replace

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp import Annotated, Parser
from deptree_cli.hpyp.model.sentences import Contexts
from tests.hpyp.toys import annotated
from tests.sample import DATA

TREEBANK = DATA / "treebank.conllu"
FORMS = ["The", "dog", "saw", "the", "cat", "in", "the", "garden", "."]
TAGS = ["DET", "NOUN", "VERB", "DET", "NOUN", "ADP", "DET", "NOUN", "PUNCT"]


def test_it_is_trained_on_paths_and_sentences(parser):
    sentences, seen = list(parser.read(TREEBANK)), []
    same = Parser.train(sentences, iterations=4, seed=1, on_iteration=lambda *each: seen.append(each))
    assert same.trained.progress == parser.trained.progress
    assert seen == list(enumerate(parser.trained.progress.log_likelihoods, 1))
    mixed = Parser.train([str(TREEBANK), sentences[0]], iterations=1, seed=1)
    assert mixed.trained.progress.sentences == len(sentences) + 1


def test_options_of_training():
    """Text without trees adds words."""
    contexts = Contexts(("s1.t",), ("s1.t", "s2.t"), ("b.t",))
    text = [annotated(line) for line in ("The dog saw", "A zebra sleeps", "A zebra sings")]
    options = {"column": "xpos", "contexts": contexts, "oracle": "sampled", "unlabelled": text, "passes": 2}
    found = Parser.train(TREEBANK, iterations=2, **options)
    assert found.tagset == "xpos"
    assert "VBZ" in found.trained.symbols.tags
    assert "zebra" in found.trained.symbols.lexicon.vocabulary
    assert found.trained.symbols.contexts == contexts
    assert found.trained.progress.passes == 2
    assert "|oracle:sampled|" in found.signature
    several = Parser.train(TREEBANK, iterations=1, states=2)
    assert (len(several.trained.states), "|states:2|" in several.signature) == (2, True)


def test_what_cannot_be_trained_on(parser):
    sentence = next(parser.read(TREEBANK))
    for message, data, options in [
        ("no sentences", [], {}),
        ("`iterations=0` trains nothing", TREEBANK, {"iterations": 0}),
        ("no word has a HEAD", DATA / "raw.conllu", {}),
        ("without words", TREEBANK, {"lexicalised": False, "unlabelled": TREEBANK}),
        ("in 1 of 1 sentence a word has no tag in UPOS, too many", [replace(sentence, tags=("_",) * sentence.n)], {}),
        ("the form of word 1 is 'a", [replace(sentence, forms=("a\n",) * sentence.n)], {}),
        ("missing.conllu", "missing.conllu", {}),
    ]:
        with pytest.raises(DeptreeError, match=message):
            Parser.train(data, **options)


def test_pickles(parser):
    other = pickle.loads(pickle.dumps(parser))
    assert (repr(other), other.signature) == (repr(parser), parser.signature)
    np.testing.assert_array_equal(other.surprisal((FORMS, TAGS), 1), parser.surprisal((FORMS, TAGS), 1))


def test_sentences_with_missing_tags_or_labels_are_left_out(parser):
    found = list(parser.read(TREEBANK))
    found[3] = replace(found[3], tags=("_", *found[3].tags[1:]))
    found[5] = replace(found[5], deprels=("_", *found[5].deprels[1:]))
    says = "in 1 of 194 sentences a word has no tag in UPOS and in 1 of 194 sentences a word has no DEPREL"
    with pytest.warns(UserWarning, match=f"left out of training: {says}"):
        trained = Parser.train(found, iterations=1).trained
    assert trained.progress.sentences == 192


def test_tags_that_are_not_known(parser):
    """The others are used, and what is predicted in their place does not depend on what stands there."""
    missing, unseen = ([tag if tag != "NOUN" else other for tag in TAGS] for other in ("_", "FOO"))
    found, whole = parser.parse((FORMS, missing)), parser.parse((FORMS, TAGS))
    assert found.heads.tolist() == whole.heads.tolist() == [2, 3, 0, 5, 3, 8, 8, 5, 3]
    assert found.deprels[:3] == whole.deprels[:3] == ("det", "nsubj", "root")
    assert found.tags == tuple(missing)
    assert parser.parse(FORMS, predict_tags=True).tags == tuple(TAGS)
    with pytest.warns(UserWarning, match="sentence 1: tags that the parser does not know are predicted: FOO") as told:
        assert parser.parse((FORMS, unseen)).log_prob == found.log_prob
    assert told[0].filename == __file__
    assert parser.surprisal((FORMS, missing), 7)[1] < parser.surprisal((FORMS, TAGS), 7)[1]


def test_scores_and_surprisals(parser):
    found = parser.evidence((FORMS, TAGS), 7, filters=3).surprisals
    np.testing.assert_array_equal(parser.surprisal((FORMS, TAGS), 7, filters=3), found)
    assert parser.scores((FORMS, TAGS), 7, "log").entropy() != parser.scores((FORMS, TAGS), 7).entropy()
    sentence = next(parser.read(DATA / "raw.conllu"))
    assert parser.scores(sentence, 7).id == sentence.sent_id == "raw-01"
    with pytest.raises(DeptreeError, match="maxent"):
        parser.scores((FORMS, TAGS), 7, "maxentt")


def test_sentences(parser, put):
    known = Annotated("x", "", tuple(FORMS), tuple(TAGS), np.full(9, -1, dtype=np.int32), ("_",) * 9)
    for same in (known, (tuple(FORMS), tuple(TAGS)), [FORMS, TAGS]):
        assert parser.parse(same).heads.tolist() == parser.parse((FORMS, TAGS)).heads.tolist()
    for message, sentence in [
        ("the sentence is a string", "The dog"),
        ("no word has a tag", FORMS),
        ("no word has a tag", ("The", "dog")),
        ("neither a list of words nor a pair", (FORMS, TAGS, TAGS)),
        ("knows none of the tags DT, X\\.", (["a", "b", "c"], ["X", "DT", "_"])),
        ("2 forms, 1 tags", (["a", "b"], ["c"])),
        ("at least one word", ([], [])),
    ]:
        with pytest.raises(DeptreeError, match=message):
            parser.parse(sentence)
    with pytest.raises(DeptreeError, match="2 columns"):
        list(parser.read(put("bad.conllu", "1\ta\n\n")))


@pytest.mark.quick
@pytest.mark.parametrize("k", [-1, 1.5, None, True])
def test_numbers_that_are_none(parser, k):
    for draw, what in [
        (lambda: parser.sample((FORMS, TAGS), k), "trees"),
        (lambda: parser.filter((FORMS, TAGS), draws=k), "trees"),
        (lambda: parser.generate(k), "sentences"),
    ]:
        says = rf"^{k} (is not a number of {what}|{what} are asked for)\. Ask for 1 or more"
        with pytest.raises(DeptreeError, match=says):
            draw()
    assert parser.sample((FORMS, TAGS), 0, 1).shape == (0, len(FORMS))


def test_the_example_in_the_docs(tmp_path, monkeypatch):
    (tmp_path / "sample_data").symlink_to(DATA)
    monkeypatch.chdir(tmp_path)
    page = (DATA.parent / "docs/generative_parser.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(>>> .*?)```", page, re.DOTALL)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(doctest.DocTestParser().get_doctest(example, {}, "docs", None, 0))
    assert runner.failures == 0
    assert runner.tries > 8
    assert (tmp_path / "parser.npz").exists()
