"""The adapter of spaCy's biaffine parsers: its own logic on a stand-in pipeline, and real ones where installed."""

from __future__ import annotations

from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from deptree_cli.io.parsers import PARSERS, Token
from deptree_cli.io.parsers.adapters import EXPERIMENTAL, LABELER, PREDICTER, Spacy

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


# The sentences of the batch by their lengths.
NUMBERS = {4: 0, 1: 1, 7: 2}


def label_rows(full, given):
    """The logits of labels of all words, each under one head."""
    docs, heads = given
    sizes = [len(each.words) for each in docs]
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    assert heads.dtype == np.int32
    assert (heads >= starts).all()
    assert (heads < starts + np.repeat(sizes, sizes)).all()
    numbered = [(NUMBERS[size], word) for size in sizes for word in range(size)]
    return np.array([full[number, word, head] for (number, word), head in zip(numbered, heads - starts, strict=True)])


@pytest.fixture(params=["", EXPERIMENTAL])
def pipeline(padded, request):
    """A pipeline tok2vec, arcs, labels whose models know the sentences of the batch by their lengths."""
    prefix = request.param

    def arcs(given):
        docs, lengths = given
        assert [each.seen for each in docs] == [["vectors"]] * len(docs)
        order = [NUMBERS[int(length)] for length in np.ravel(lengths)]
        if not prefix:
            return [square[:n, :n] for square, (n,) in zip(padded(order, False), lengths, strict=True)]
        return np.concatenate([rows[:length] for rows, length in zip(padded(order, False), lengths, strict=True)])

    def labels(given):
        return label_rows(padded([0, 1, 2], False, labels=2), given)

    def make(*names):
        pipes = {
            "vectors": component("vectors"),
            "arcs": SimpleNamespace(model=SimpleNamespace(ops=OPS, predict=arcs)),
            "labels": SimpleNamespace(model=SimpleNamespace(ops=OPS, predict=labels), labels=("ROOT", "dep")),
        }
        factories = {"vectors": "tok2vec", "arcs": prefix + PREDICTER, "labels": prefix + LABELER}
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
    with says("no component arc_predicter or experimental_arc_predicter"):
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
REAL = {
    "": ("spacy_biaffine_parser", "spacy_biaffine_parser.mst", "spacy-biaffine-parser"),
    EXPERIMENTAL: ("spacy_experimental", "spacy_experimental.biaffine_parser.mst", "spacy-experimental"),
}


def models_of(package):
    """The smallest models that the package can build, by component."""
    arcs = {"@architectures": f"{package}.PairwiseBilinear.v1", "hidden_width": 6, "nO": 1, "tok2vec": WORDS}
    named = {"@architectures": f"{package}.Bilinear.v1", "hidden_width": 6, "tok2vec": WORDS}
    return {PREDICTER: arcs, LABELER: named}


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("prefix", REAL)
def test_a_real_pipeline_with_random_weights(tmp_path, batch, prefix):
    """Heads and labels from the scores are those that spaCy's components predict."""
    module, mst, package = REAL[prefix]
    spacy = pytest.importorskip("spacy", reason="spacy is not installed")
    pytest.importorskip(module, reason=f"{package} is not installed")
    pytest.importorskip("torch", reason="torch is not installed")
    from spacy.tokens import Doc
    from spacy.training import Example

    nlp = spacy.blank("en")
    for name, model in models_of(package).items():
        nlp.add_pipe(prefix + name, config={"model": model})
    forms = [[word.form for word in words] for words in batch]
    docs = [Doc(nlp.vocab, words=each, sent_starts=[word == 0 for word in range(len(each))]) for each in forms]
    trees = [{"heads": [0] * len(each), "deps": ["ROOT", *["obj", "dep"] * 3][: len(each)]} for each in forms]
    nlp.initialize(lambda: [Example.from_dict(one, tree) for one, tree in zip(docs, trees, strict=True)])
    nlp.to_disk(tmp_path / "pipeline")
    adapter = PARSERS.get("spacy").load(str(tmp_path / "pipeline"))
    found = adapter.scores(batch, True)
    heads = [import_module(mst).mst_decode(scores) for scores, _ in found]
    predicter, labeler = nlp.get_pipe(prefix + PREDICTER), nlp.get_pipe(prefix + LABELER)
    known = predicter.predict(docs)
    predicter.set_annotations(docs, known)
    assert [list(each) for each in heads] == [[token.head.i for token in one] for one in docs]
    labels = [labels[np.arange(len(tree)), tree].argmax(axis=1) for (_, labels), tree in zip(found, heads, strict=True)]
    assert np.concatenate(labels).tolist() == labeler.predict(docs).tolist()
