"""The adapters of parsers: their own logic on stand-ins, and real parsers, with random weights, where installed."""

import json
import os
import sys
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from deptree_cli.io.files.streams import open_input
from deptree_cli.io.parsers import PARSERS, Token, Word, read_sentences
from deptree_cli.io.parsers.adapters import EXPERIMENTAL, LABELER, PREDICTER, Hanlp, Spacy, Stanza, Supar
from tests.sample import DATA

FORMS = (("The", "cat", "sleeps", "."), ("No",), ("A", "very", "old", "man", "saw", "the", "sea"))
BATCH = [[Word(form, form.lower(), "X", "Y") for form in forms] for forms in FORMS]
NUMBERS = {len(forms): number for number, forms in enumerate(FORMS)}  # of sentences, by their lengths


class Tensor(np.ndarray):
    """An array that can be asked for itself, as one on a GPU must be."""

    def cpu(self):
        return self

    def numpy(self):
        return self.view(np.ndarray)


class Model(SimpleNamespace):
    """A torch module that remembers whether gradients and dropout were switched off; called, it does `run`."""

    def requires_grad_(self, flag):
        self.gradients = flag
        return self

    def eval(self):
        self.dropout = False
        return self

    def get_device(self):
        return "cpu"

    def __call__(self, *given):
        return self.run(*given)


def scores_of(sentence, root=True, labels=0):
    """Of a sentence of the batch (n+1, n+1[, labels]), without a place for ROOT (n, n[, labels]): each says whose."""
    word = np.arange(len(FORMS[sentence]) + root)
    arcs = (10_000 * sentence + 100 * word[:, None] + word).astype(np.float32)
    return arcs[:, :, None] + np.arange(labels, dtype=np.float32) / 4 if labels else arcs


def padded(order, root=True, labels=0):
    """Scores of sentences in any order as a model gives them: (3, longest, longest[, labels]), NaN in the padding."""
    every = [scores_of(sentence, root, labels) for sentence in order]
    longest = max(len(FORMS[sentence]) for sentence in order) + root
    found = np.full((len(order), longest, longest, *every[0].shape[2:]), np.nan, dtype=np.float32)
    for row, scores in zip(found, every, strict=True):
        row[: len(scores), : len(scores)] = scores
    return found.view(Tensor)


def come_back(adapter, root=True):
    """Scores of the batch are those of its sentences, in order and without padding; labels where they are wanted."""
    for number, (arcs, labels) in enumerate(adapter.scores(BATCH, True)):
        np.testing.assert_array_equal(arcs, scores_of(number, root))
        np.testing.assert_array_equal(labels, scores_of(number, root, labels=2))
        assert type(arcs) is np.ndarray
    assert [labels for _, labels in adapter.scores(BATCH, False)] == [None] * 3


def predicts(adapter, known, tree_of=lambda arcs: arcs[1:].argmax(axis=1), names=None):
    """Heads and labels are those that the parser itself predicts, and scores do not depend on the batch."""
    for words, (arcs, labels), tree in zip(BATCH, adapter.scores(BATCH, True), known, strict=True):
        heads = list(tree_of(arcs))
        best = [labels[word, head].argmax() for word, head in enumerate(heads, 1)]
        assert list(zip(heads, map((names or adapter.labels).__getitem__, best), strict=True)) == [*map(tuple, tree)]
        ((own, own_labels),) = adapter.scores([words], True)
        np.testing.assert_allclose(arcs, own, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(labels, own_labels, rtol=1e-4, atol=1e-5)


def conllx(path):
    """The batch as a treebank to train on: a word's head is the one before it."""
    rows = ["\t".join([str(i), word.form, "_", "X", "X", "_", str(i - 1), "dep" * (i > 1) or "root", "_", "_"])
            for words in BATCH for i, word in enumerate(words, 1)]  # fmt: skip
    path.write_text("\n".join(rows).replace("\n1\t", "\n\n1\t") + "\n\n")
    return str(path)


def test_hanlps_sentences_are_back_in_order_unless_it_wants_tags(says):
    """It takes them longest first, two at a time."""

    def feed(given):
        order = [int(number) for number in given["number"]]
        return padded(order), padded(order, labels=2), "mask", None

    def loader(samples, *, device, shuffle, batch_size, batch_max_tokens, tree):
        assert (device, shuffle, batch_size, batch_max_tokens, tree) == ("cpu", False, 3, None, True)
        assert [len(sample) for sample in samples] == [4, 1, 7]
        return [{"number": [2, 0]}, {"number": np.array([1])}]

    relations, config = SimpleNamespace(idx_to_token=["root", "dep"]), {"batch_size": 100, "batch_max_tokens": 5}
    model = {"model": Model(), "vocabs": {"rel": relations}, "config": config | {"tree": True}, "devices": ["cpu"]}
    work = {"build_samples": lambda data: data, "build_dataloader": loader, "feed_batch": feed}
    parser = SimpleNamespace(use_pos=False, **model, **work)
    adapter = Hanlp(parser, "number")
    assert (parser.model.gradients, parser.model.dropout, adapter.labels) == (False, False, ["root", "dep"])
    come_back(adapter)
    parser.use_pos = True
    with says("needs tags"):
        Hanlp(parser, "number")


@pytest.mark.filterwarnings("ignore")
def test_a_real_parser_of_hanlp(tmp_path):
    pytest.importorskip("hanlp", reason="hanlp is not installed")
    from hanlp.components.parsers.biaffine.biaffine_dep import BiaffineDependencyParser

    tiny = {"n_embed": 6, "n_lstm_hidden": 5, "n_lstm_layers": 1, "n_mlp_arc": 7, "n_mlp_rel": 4}
    once = {"epochs": 1, "min_freq": 1, "batch_size": 2, "devices": -1, "separate_optimizer": True}
    data, folder = conllx(tmp_path / "t.conllx"), str(tmp_path / "model")
    trained = BiaffineDependencyParser()
    trained.fit(data, data, folder, tree=False, punct=True, **tiny, **once)
    predicts(PARSERS.get("hanlp").load(folder), trained([list(forms) for forms in FORMS], conll=False))


@pytest.fixture(scope="module")
def natasha():
    pytest.importorskip("slovnet", reason="natasha is not installed")
    return PARSERS.get("natasha").load(None)


def sentences_of(path):
    with open_input(str(path)) as file:
        return [sentence.words for sentence in read_sentences(file, "conllu", None)]


@pytest.mark.slow("process")
def test_natashas_scores_of_a_treebank(natasha, shared):
    """Float32 on the same tokens: equal but for the rounding of another processor's sums. The known scores of labels
    are float16, so half a unit of its eleven binary digits may be lost."""
    words, folder = sentences_of(shared / "real_ru" / "sentences.conllu"), shared / "real_ru"
    got = natasha.scores(words, False)
    with np.load(folder / "scores.npz") as known:
        assert len(known) == len(got)
        for key, (arcs, labels) in zip(known, got, strict=True):
            assert labels is None
            assert arcs.dtype == np.float32
            np.testing.assert_allclose(arcs, known[key], rtol=1e-4, atol=1e-3)
    with np.load(folder / "label_scores.npz") as known:
        got = natasha.scores(words[: len(known)], True)
        for key, (_, labels) in zip(known, got, strict=True):
            assert labels.shape == known[key].shape
            np.testing.assert_allclose(labels, known[key].astype(float), rtol=2**-10, atol=1e-3)
    assert natasha.labels == json.loads((folder / "labels.json").read_text(encoding="utf-8"))


def test_the_labels_of_natashas_best_heads_are_its_own(natasha):
    """The model itself scores the labels of one head per word."""
    own = [Word(form) for form in ("Рыбак", "вытащил", "лодку", "на", "берег", ".")]
    samples = sentences_of(DATA / "gold.conllu")
    assert len(samples) == 8
    for words, (arcs, labels) in zip([own, *samples], natasha.scores([own, *samples], True), strict=True):
        given = natasha._encoder.input([natasha._encoder.item([word.form for word in words])])
        known = natasha._model(given.word_id, given.shape_id, given.pad_mask)
        heads = arcs.argmax(axis=1)
        np.testing.assert_allclose(labels[np.arange(len(words)), heads], known.rel_id[0], rtol=1e-4, atol=1e-3)
        np.testing.assert_array_equal(arcs, known.head_id[0])


def test_natashas_scores_do_not_depend_on_the_batch(natasha):
    long, short = ([Word(form) for form in text.split()] for text in ("Никто не знал ответа .", "Да <pad> !"))
    together = natasha.scores([long, short], True)
    for (arcs, labels), words in zip(together, (long, short), strict=True):
        ((own, own_labels),) = natasha.scores([words], True)
        np.testing.assert_array_equal(arcs, own)
        np.testing.assert_array_equal(labels, own_labels)
        assert arcs.shape == (len(words), len(words) + 1)


def test_natashas_sentences_and_tokens(natasha):
    """For which the package of that name is not imported."""
    found = natasha.split("На ул. Садовой тихо.\n«Ты где?» — спросил он.")
    marked = [" ".join(token.form + "_" * (not token.space_after) for token in sentence) for sentence in found]
    assert marked == ["На ул_ . Садовой тихо_ .", "«_ Ты где_ ?_ » — спросил он_ ."]
    assert {"natasha", "pymorphy2"}.isdisjoint(sys.modules)


OPS = SimpleNamespace(to_numpy=np.asarray, asarray1i=lambda numbers: numbers)


def doc(vocab, words, spaces, sent_starts):
    assert (vocab, len(spaces)) == ("vocabulary", len(words))
    assert sent_starts == [True, *[False] * (len(words) - 1)]
    return SimpleNamespace(words=words, seen=[])


def label_rows(given):
    """The logits of labels of all words, each under one head."""
    docs, heads = given
    sizes = [len(each.words) for each in docs]
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    assert heads.dtype == np.int32
    assert ((starts <= heads) & (heads < starts + np.repeat(sizes, sizes))).all()
    full = padded([0, 1, 2], False, labels=2)
    numbered = [(NUMBERS[size], word) for size in sizes for word in range(size)]
    return np.array([full[number, word, head] for (number, word), head in zip(numbered, heads - starts, strict=True)])


@pytest.fixture(params=["", EXPERIMENTAL])
def pipeline(request):
    """A pipeline tok2vec, arcs, labels whose models know the sentences of the batch by their lengths."""
    prefix = request.param

    def vectors(given):
        given.seen.append("vectors")
        return given

    def arcs(given):
        docs, lengths = given
        assert [each.seen for each in docs] == [["vectors"]] * len(docs)
        rows = padded([NUMBERS[int(length)] for length in np.ravel(lengths)], False)
        if not prefix:
            return [square[:n, :n] for square, (n,) in zip(rows, lengths, strict=True)]
        return np.concatenate([square[:n] for square, n in zip(rows, lengths, strict=True)])

    def make(*names):
        pipes = {
            "vectors": vectors,
            "arcs": SimpleNamespace(model=SimpleNamespace(ops=OPS, predict=arcs)),
            "labels": SimpleNamespace(model=SimpleNamespace(ops=OPS, predict=label_rows), labels=("ROOT", "dep")),
        }
        factories = {"vectors": "tok2vec", "arcs": prefix + PREDICTER, "labels": prefix + LABELER}
        known = {name: factories[name] for name in names}
        return SimpleNamespace(vocab="vocabulary", pipe_names=names, pipe_factories=known, get_pipe=pipes.__getitem__)

    return make


def test_spacys_rows_of_all_become_squares(pipeline, says):
    """Without labels where the pipeline has none; without arcs it is refused."""
    adapter = Spacy(pipeline("vectors", "arcs", "labels"), doc)
    assert adapter.labels == ["ROOT", "dep"]
    come_back(adapter, root=False)
    assert Spacy(pipeline("vectors", "arcs"), doc).labels is None
    with says("no component arc_predicter or experimental_arc_predicter"):
        Spacy(pipeline("vectors"), doc)


def test_spacys_tokens_of_space_go(pipeline):
    def token(text, at):
        return SimpleNamespace(text=text, idx=at, is_space=text.isspace())

    made = SimpleNamespace(seen=[], sents=[[token("Hi", 0), token("\n", 2), token("you", 3), token("!", 6)]])
    nlp = pipeline("vectors", "arcs")
    nlp.make_doc = lambda text: made
    assert list(Spacy(nlp, doc).split("Hi\nyou!")) == [[Token("Hi"), Token("you", False), Token("!")]]
    assert made.seen == ["vectors"]


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("module", ["spacy_biaffine_parser", "spacy_experimental"])
def test_a_real_pipeline_of_spacy(tmp_path, module):
    spacy = pytest.importorskip("spacy", reason="spacy is not installed")
    package, is_old = module.replace("_", "-"), module == "spacy_experimental"
    prefix, mst = (EXPERIMENTAL, f"{module}.biaffine_parser.mst") if is_old else ("", f"{module}.mst")
    pytest.importorskip(module, reason=f"{package} is not installed")
    pytest.importorskip("torch", reason="torch is not installed")
    from spacy.tokens import Doc
    from spacy.training import Example

    words = {"@architectures": "spacy.HashEmbedCNN.v2", "pretrained_vectors": None, "width": 8, "depth": 1}
    words |= {"embed_size": 50, "window_size": 1, "maxout_pieces": 2, "subword_features": True}
    arcs = {"@architectures": f"{package}.PairwiseBilinear.v1", "hidden_width": 6, "nO": 1, "tok2vec": words}
    named = {"@architectures": f"{package}.Bilinear.v1", "hidden_width": 6, "tok2vec": words}
    nlp = spacy.blank("en")
    for name, model in {PREDICTER: arcs, LABELER: named}.items():
        nlp.add_pipe(prefix + name, config={"model": model})
    docs = [Doc(nlp.vocab, words=list(each), sent_starts=[word == 0 for word in range(len(each))]) for each in FORMS]
    trees = [{"heads": [0] * len(each), "deps": ["ROOT", *["obj", "dep"] * 3][: len(each)]} for each in FORMS]
    nlp.initialize(lambda: [Example.from_dict(one, tree) for one, tree in zip(docs, trees, strict=True)])
    nlp.to_disk(tmp_path / "pipeline")
    found = PARSERS.get("spacy").load(str(tmp_path / "pipeline")).scores(BATCH, True)
    heads = [import_module(mst).mst_decode(scores) for scores, _ in found]
    predicter, labeler = nlp.get_pipe(prefix + PREDICTER), nlp.get_pipe(prefix + LABELER)
    known = predicter.predict(docs)
    predicter.set_annotations(docs, known)
    assert [list(each) for each in heads] == [[token.head.i for token in one] for one in docs]
    labels = [labels[np.arange(len(tree)), tree].argmax(axis=1) for (_, labels), tree in zip(found, heads, strict=True)]
    assert np.concatenate(labels).tolist() == labeler.predict(docs).tolist()


class Vocabulary(list):
    def id2unit(self, number):
        return self[number]


RELATIONS = Vocabulary(["<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", "root", "dep"])


def document(sentences):
    made = [SimpleNamespace(words=[SimpleNamespace(upos=word.get("upos")) for word in each]) for each in sentences]
    return SimpleNamespace(entries=sentences, sentences=made)


def stanza(model, loader=None, unpack=None, args=(), **pipeline):
    """The adapter of a pipeline whose parser has this model; `processors` may be added."""
    trainer, config = SimpleNamespace(args=dict(args), model=model), {"batch_size": 50}
    parser = SimpleNamespace(trainer=trainer, vocab={"deprel": RELATIONS}, config=config, pretrain="vectors")
    processors = {"depparse": parser, **pipeline.pop("processors", {})}
    return Stanza(SimpleNamespace(processors=processors, **pipeline), document, loader, unpack)


# Where each row of a batch of Stanza's stood before it was sorted by length, and which sentence it is.
APART, TOGETHER = [([0, 1], [0, 1]), ([0], [2])], [([2, 0, 1], [2, 0, 1])]


def of_stanza(kinds=3, batches=APART):
    """A parser that takes these batches; and its taggers' log."""

    def predict(sentences, *_):
        arcs = np.log(padded(sentences) / 1000 + 1)
        for row in arcs:
            np.fill_diagonal(row, -np.inf)
        return 0, [arcs, None, padded(sentences, labels=2)][:kinds]

    def loader(given, size, config, pretrain, *, vocab, evaluation):
        assert (size, pretrain, vocab["deprel"], evaluation) == (50, "vectors", RELATIONS, True)
        assert [len(entries) for entries in given.entries] == [4, 1, 7]
        return batches

    def unpack(batch, device):
        order, sentences = batch
        return [sentences], order, None, [[5, 2, 8][sentence] for sentence in sentences], None, None

    def tagger(name):
        return SimpleNamespace(process=lambda given: tagged.append(name) or given)

    tagged = []
    taggers = {name: tagger(name) for name in ("pos", "lemma")}
    return stanza(Model(run=predict), loader, unpack, processors=taggers), tagged


@pytest.mark.parametrize("batches", [APART, TOGETHER], ids=["apart", "together"])
def test_stanzas_rows_are_probabilities_again_without_padding(batches):
    adapter, tagged = of_stanza(batches=batches)
    assert (adapter._model.gradients, adapter._model.dropout, adapter.labels) == (False, False, ["root", "dep"])
    for number, (arcs, labels) in enumerate(adapter.scores(BATCH, True)):
        weights = np.where(np.eye(len(arcs), dtype=bool), 0, scores_of(number) / 1000 + 1)
        np.testing.assert_allclose(np.exp(arcs), weights / weights.sum(axis=1, keepdims=True), rtol=1e-5)
        assert np.isneginf(arcs.diagonal()).all()
        np.testing.assert_array_equal(labels, scores_of(number, labels=2))
    assert adapter.scores(BATCH, False)[0][1] is None
    assert tagged == []
    adapter.scores([BATCH[0], [Word("No")], BATCH[2]], False)  # a word without a tag
    assert tagged == ["pos", "lemma"]


def kind(name, **more):
    return type(name, (Model,), {})(**more)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("build", "parts"),
    [
        (lambda: stanza(kind("TransitionParser")), ["of stanza, a TransitionParser, scores transitions and not arcs"]),
        (lambda: stanza(kind("EnsembleTransitionParser")), ["scores transitions", "Choose a package with a graph-bas"]),
        (lambda: stanza(Model(), args={"reversed": True}), ["reads sentences backwards"]),
        (lambda: stanza(kind("EnsembleGraphParser", models=[SimpleNamespace(args={"reversed": True})])), ["backwards"]),
        (lambda: Stanza(SimpleNamespace(processors={"depparse": 1}), None, None, None), ["converts constituents"]),
    ],
)
def test_models_of_stanza_that_are_refused(build, parts, says):
    with says(*parts):
        build()
    assert all(labels is None for _, labels in of_stanza(kinds=2)[0].scores(BATCH, True))  # an older version


def test_stanzas_tokens_words_and_spaces():
    def token(text, end, *forms):
        return SimpleNamespace(text=text, end_char=end, words=[SimpleNamespace(text=form) for form in forms or [text]])

    tokens = [token("Va", 2), token("al", 5, "a", "el"), token("mar", 9), token(".", 10)]
    found = SimpleNamespace(sentences=[SimpleNamespace(tokens=tokens)])
    (sentence,) = stanza(Model(), process=lambda given, processors: found).split("Va al mar.")
    assert sentence == [Token("Va"), Token("al", True, ("a", "el")), Token("mar", False), Token(".")]


ARGS = {
    "shorthand": "en_x",
    **dict.fromkeys(("word_emb_dim", "tag_emb_dim", "char_emb_dim", "char_hidden_dim"), 4),
    **dict.fromkeys(("transformed_dim", "hidden_dim", "deep_biaff_hidden_dim", "deep_biaff_output_dim"), 5),
    **dict.fromkeys(("char_num_layers", "num_layers"), 1),
    **dict.fromkeys(("char_rec_dropout", "rec_dropout", "dropout", "word_dropout"), 0.3),
    **dict.fromkeys(("char", "linearization", "distance"), True),
    **dict.fromkeys(("pretrain", "bert_finetune", "use_peft", "enable_gradient_checkpointing"), False),
    **dict.fromkeys(("bert_model", "charlm"), None),
    "batch_size": 6,
    "word_cutoff": 0,
}


@pytest.mark.torch
@pytest.mark.parametrize("members", [1, 2])
def test_real_classes_of_stanza(members):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    pytest.importorskip("stanza", reason="stanza is not installed")
    from stanza.models.common.chuliu_edmonds import chuliu_edmonds_one_root
    from stanza.models.common.doc import Document
    from stanza.models.depparse.data import DataLoader
    from stanza.models.depparse.model import EnsembleGraphParser
    from stanza.models.depparse.trainer import GraphTrainer, Trainer, unpack_batch

    trees = [
        [{"id": i, "text": word.form, "lemma": word.lemma, "upos": word.upos, "xpos": word.xpos, "head": i - 1,
          "deprel": ["root", "dep", "obj"][min(i - 1, 2)]} for i, word in enumerate(words, 1)]
        for words in BATCH
    ]  # fmt: skip
    vocab = DataLoader(Document(trees), 50, ARGS, None).vocab
    torch.manual_seed(1)
    trainers = [GraphTrainer(args=ARGS, vocab=vocab, device="cpu", build_optimizer=False) for _ in range(members)]
    for weight in (weight for one in trainers for weight in one.model.parameters()):
        torch.nn.init.normal_(weight, 0, 0.5)
    trainer = trainers[0]
    if members > 1:
        ensemble = EnsembleGraphParser(ARGS, vocab, [one.model for one in trainers])
        trainer = Trainer(args=ARGS, vocab=vocab, model=ensemble, build_optimizer=False)
    parser = SimpleNamespace(trainer=trainer, vocab=vocab, config=ARGS, pretrain=None)
    adapter = Stanza(SimpleNamespace(processors={"depparse": parser}), Document, DataLoader, unpack_batch)
    batches = list(DataLoader(Document(trees), 50, ARGS, None, vocab=vocab, evaluation=True))
    (known,) = [trainer.predict(each) for each in batches]
    # Stanza 1.15 forgets in ensembles that its vocabulary begins with units that are no labels.
    names = None if members == 1 else [*map(vocab["deprel"].id2unit, range(len(adapter.labels)))]
    predicts(adapter, known, lambda arcs: chuliu_edmonds_one_root(arcs)[1:], names)


TRUST = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"


def of_supar(name="biaffine-dependency"):
    def load(data):
        assert data[0][1] == ("cat", "cat", "X")
        return [SimpleNamespace(rows=rows) for rows in data]

    def number(sentences):
        for sentence in sentences:
            sentence.numbers = len(sentence.rows)

    def run(words, features):
        assert (words, features) == ([4, 1, 7], ["characters"])
        return padded([0, 1, 2]), padded([0, 1, 2], labels=2)

    model, transform = Model(run=run), Model(load=load, run=number)
    relations = SimpleNamespace(vocab=SimpleNamespace(itos=["<bos>", "dep"]))
    return SimpleNamespace(NAME=name, model=model, transform=transform, REL=relations)


def test_supars_rows_without_padding():
    parser = of_supar()
    adapter = Supar(parser, lambda given: [[each.numbers for each in given], "texts", "characters"])
    assert (parser.transform.dropout, parser.model.gradients, parser.model.dropout) == (False, False, False)
    assert adapter.labels == ["<bos>", "dep"]
    come_back(adapter)


@pytest.mark.parametrize("name", ["crf2o-dependency", "vi-dependency", "biaffine-semantic-dependency"])
def test_parsers_of_supar_that_score_more_than_arcs(says, name):
    with says(f"{name} is not a parser that scores single arcs", "biaffine-dependency or crf-dependency"):
        Supar(of_supar(name), None)


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_a_real_parser_of_supar(tmp_path):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    supar = pytest.importorskip("supar", reason="supar is not installed")
    tiny = {
        **dict.fromkeys(("n_embed", "n_pretrained", "n_feat_embed", "n_char_embed", "n_char_hidden"), 6),
        **dict.fromkeys(("n_lstm_hidden", "n_arc_mlp", "n_rel_mlp"), 7),
        **{"n_lstm_layers": 1, "min_freq": 1, "fix_len": 6, "encoder": "lstm", "embed": None},
        **{"build": True, "pad_index": 0, "unk_index": 1, "bos_index": 2},
    }
    torch.manual_seed(1)
    data, path = conllx(tmp_path / "t.conllx"), str(tmp_path / "model")
    parser = supar.BiaffineDependencyParser.build(path, train=data, feat=["tag", "char"], **tiny)
    parser.save(path)
    adapter = PARSERS.get("supar").load(path)
    assert TRUST not in os.environ
    known = parser.predict([[(w.form, w.upos) for w in words] for words in BATCH], tree=False, verbose=False)
    predicts(adapter, [zip(each.arcs, each.rels, strict=True) for each in known.sentences])


@pytest.mark.torch
def test_supar_leaves_the_environment_as_it_was(monkeypatch, says):
    """Also where loading fails."""
    pytest.importorskip("supar", reason="supar is not installed")
    monkeypatch.setenv(TRUST, "0")
    with says("supar failed at loading no-such-model"):
        PARSERS.get("supar").load("no-such-model")
    assert os.environ[TRUST] == "0"
