"""The adapter of spacy-experimental: its own logic on a stand-in pipeline, and a real one where it is installed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from deptree_cli.io.parsers import PARSERS
from deptree_cli.io.parsers.sentences import Token
from deptree_cli.io.parsers.spacy import LABELER, PREDICTER, Spacy

OPS = SimpleNamespace(to_numpy=np.asarray, asarray1i=lambda numbers: numbers)


def doc(vocab, words, spaces, sent_starts):
    """SpaCy's Doc, as far as it is looked at."""
    assert vocab == "vocabulary"
    assert len(words) == len(spaces) == len(sent_starts)
    assert sent_starts[0]
    assert not any(sent_starts[1:])
    return SimpleNamespace(words=words, seen=[])


def component(name):
    def run(given):
        given.seen.append(name)
        return given

    return run


@pytest.fixture
def pipeline(padded):
    """A pipeline tok2vec, arcs, labels whose models know the sentences of the batch by their lengths."""
    numbers = {4: 0, 1: 1, 7: 2}

    def arcs(given):
        docs, lengths = given
        assert [each.seen for each in docs] == [["vectors"]] * len(docs)
        order = [numbers[length] for length in lengths.tolist()]
        return np.concatenate([rows[:length] for rows, length in zip(padded(order, False), lengths, strict=True)])

    def labels(given):
        docs, heads = given
        sizes = [len(each.words) for each in docs]
        starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
        assert heads.dtype == np.int32
        assert (heads >= starts).all()
        assert (heads < starts + np.repeat(sizes, sizes)).all()
        numbered = [(numbers[size], word) for size in sizes for word in range(size)]
        full = padded([0, 1, 2], False, labels=2)
        return np.array(
            [full[number, word, head] for (number, word), head in zip(numbered, heads - starts, strict=True)]
        )

    def make(*names):
        pipes = {
            "vectors": component("vectors"),
            "arcs": SimpleNamespace(model=SimpleNamespace(ops=OPS, predict=arcs)),
            "labels": SimpleNamespace(model=SimpleNamespace(ops=OPS, predict=labels), labels=("ROOT", "dep")),
        }
        factories = {"vectors": "tok2vec", "arcs": PREDICTER, "labels": LABELER}
        return SimpleNamespace(
            vocab="vocabulary",
            pipe_names=list(names),
            pipe_factories={name: factories[name] for name in names},
            get_pipe=pipes.__getitem__,
        )

    return make


def test_rows_of_all_become_squares(pipeline, expected, batch):
    adapter = Spacy(pipeline("vectors", "arcs", "labels"), doc)
    assert adapter.labels == ["ROOT", "dep"]
    known = zip(adapter.scores(batch, True), expected(False), expected(False, labels=2), strict=True)
    for (arcs, labels), raw, named in known:
        np.testing.assert_array_equal(arcs, raw)
        np.testing.assert_array_equal(labels, named)
    assert adapter.scores(batch, False)[2][1] is None


def test_pipelines_without_labels_and_without_arcs(pipeline, says):
    assert Spacy(pipeline("vectors", "arcs"), doc).labels is None
    with says("no component experimental_arc_predicter"):
        Spacy(pipeline("vectors"), doc)


def test_tokens_of_space_go(pipeline):
    def token(text, at):
        return SimpleNamespace(text=text, idx=at, is_space=text.isspace())

    made = SimpleNamespace(seen=[], sents=[[token("Hi", 0), token("\n", 2), token("you", 3), token("!", 6)]])
    nlp = pipeline("vectors", "arcs")
    nlp.make_doc = lambda text: made
    assert list(Spacy(nlp, doc).split("Hi\nyou!")) == [[Token("Hi"), Token("you", False), Token("!")]]
    assert made.seen == ["vectors"]


WORDS = {"@architectures": "spacy.HashEmbedCNN.v2", "pretrained_vectors": None, "width": 8, "depth": 1}
WORDS |= {"embed_size": 50, "window_size": 1, "maxout_pieces": 2, "subword_features": True}
ARCS = {"@architectures": "spacy-experimental.PairwiseBilinear.v1", "hidden_width": 6, "nO": 1, "tok2vec": WORDS}
LABELS = {"@architectures": "spacy-experimental.Bilinear.v1", "hidden_width": 6, "tok2vec": WORDS}


@pytest.mark.filterwarnings("ignore")
def test_a_real_pipeline_with_random_weights(tmp_path, batch):
    """Heads and labels from the scores are those that spaCy's components predict."""
    spacy = pytest.importorskip("spacy", reason="spacy is not installed")
    pytest.importorskip("spacy_experimental", reason="spacy-experimental is not installed")
    pytest.importorskip("torch", reason="torch is not installed")
    from spacy.tokens import Doc
    from spacy.training import Example
    from spacy_experimental.biaffine_parser.mst import mst_decode

    nlp = spacy.blank("en")
    nlp.add_pipe(PREDICTER, config={"model": ARCS})
    nlp.add_pipe(LABELER, config={"model": LABELS})
    forms = [[word.form for word in words] for words in batch]
    docs = [Doc(nlp.vocab, words=each, sent_starts=[word == 0 for word in range(len(each))]) for each in forms]
    trees = [{"heads": [0] * len(each), "deps": ["ROOT", *["obj", "dep"] * 3][: len(each)]} for each in forms]
    nlp.initialize(lambda: [Example.from_dict(one, tree) for one, tree in zip(docs, trees, strict=True)])
    nlp.to_disk(tmp_path / "pipeline")
    adapter = PARSERS.get("spacy").load(str(tmp_path / "pipeline"))
    found = adapter.scores(batch, True)
    heads = [mst_decode(arcs) for arcs, _ in found]
    predicter, labeler = nlp.get_pipe(PREDICTER), nlp.get_pipe(LABELER)
    known = predicter.predict(docs)
    assert [list(each) for each in heads] == [list(tree[0]) for tree in known]
    predicter.set_annotations(docs, known)
    labels = [labels[np.arange(len(tree)), tree].argmax(axis=1) for (_, labels), tree in zip(found, heads, strict=True)]
    assert np.concatenate(labels).tolist() == labeler.predict(docs).tolist()
