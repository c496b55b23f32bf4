"""The adapter of Stanza: its own logic on stand-ins, and Stanza's real classes with random weights where installed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from deptree_cli.io.parsers import Token, Word
from deptree_cli.io.parsers.adapters import Stanza


class Vocabulary(list):
    """Units by number."""

    def id2unit(self, number):
        """One of them."""
        return self[number]


RELATIONS = Vocabulary(["<PAD>", "<UNK>", "<EMPTY>", "<ROOT>", "root", "dep"])


def document(sentences):
    """Stanza's Document, as far as it is looked at."""
    made = [SimpleNamespace(words=[SimpleNamespace(upos=word.get("upos")) for word in each]) for each in sentences]
    return SimpleNamespace(entries=sentences, sentences=made)


class Tagger:
    """Counts the documents that it tags."""

    def __init__(self):
        self.seen = 0

    def process(self, given):
        """Like a real one."""
        self.seen += 1
        return given


@pytest.fixture
def build(disguised, padded):
    """A parser whose batches hold the sentences longest first, the last one in a batch of its own."""

    def make(kinds=3, **args):
        def predict(order, *_):
            arcs = np.log(padded(order, labels=0) / 1000 + 1)
            for row in arcs:
                np.fill_diagonal(row, -np.inf)
            return 0, [arcs, arcs, padded(order, labels=2)][:kinds]

        def loader(given, size, config, pretrain, *, vocab, evaluation):
            assert (size, pretrain, vocab["deprel"], evaluation) == (50, "vectors", RELATIONS, True)
            assert [len(entries) for entries in given.entries] == [4, 1, 7]
            # where each row of a batch stood before it was sorted, and its sentences
            return [([0, 1], [0, 1]), ([0], [2])]

        def unpack(batch, device):
            order, sentences = batch
            return [sentences], order, None, [[5, 2, 8][sentence] for sentence in sentences], None, None

        model = disguised(run=predict)
        trainer = SimpleNamespace(args=args, model=model)
        parser = SimpleNamespace(
            trainer=trainer, vocab={"deprel": RELATIONS}, config={"batch_size": 50}, pretrain="vectors"
        )
        taggers = {"pos": Tagger(), "lemma": Tagger()}
        pipeline = SimpleNamespace(processors={"depparse": parser, **taggers})
        return Stanza(pipeline, document, loader, unpack), model, taggers

    return make


def test_rows_are_sentences_again_without_padding(build, batch, expected):
    adapter, model, taggers = build()
    assert (model.gradients, model.dropout, adapter.labels) == (False, False, ["root", "dep"])
    got = adapter.scores(batch, True)
    for (arcs, labels), raw, known in zip(got, expected(), expected(labels=2), strict=True):
        weights = np.where(np.eye(len(raw), dtype=bool), 0, raw / 1000 + 1)
        np.testing.assert_allclose(np.exp(arcs), weights / weights.sum(axis=1, keepdims=True), rtol=1e-5)
        assert np.isneginf(arcs.diagonal()).all()
        np.testing.assert_array_equal(labels, known)
    assert adapter.scores(batch, False)[0][1] is None
    assert taggers["pos"].seen == taggers["lemma"].seen == 0


def test_words_without_tags_are_tagged(build, batch):
    adapter, _, taggers = build()
    batch[1] = [Word("No")]
    adapter.scores(batch, False)
    assert taggers["pos"].seen == taggers["lemma"].seen == 1


def test_a_batch_that_stanza_sorted(disguised, padded, batch, expected):
    """Longest first: order says where each row stood before."""

    def unpack(given, device):
        return [[2, 0, 1]], [2, 0, 1], None, [8, 5, 2], None, None

    model = disguised(run=lambda order, *_: (0, [padded(order), None, padded(order)]))
    parser = SimpleNamespace(
        trainer=SimpleNamespace(args={}, model=model),
        vocab={"deprel": RELATIONS},
        config={"batch_size": 50},
        pretrain=None,
    )
    adapter = Stanza(SimpleNamespace(processors={"depparse": parser}), document, lambda *_, **__: [None], unpack)
    got = [labels for _, labels in adapter.scores(batch, True)]
    assert all(np.array_equal(one, other) for one, other in zip(got, expected(), strict=True))


def test_what_stanza_cannot(build, batch, says):
    with says("gives no label scores", "pip install --upgrade stanza"):
        build(kinds=2)[0].scores(batch, True)
    with says("reads sentences backwards"):
        build(reversed=True)


@pytest.mark.parametrize("name", ["TransitionParser", "EnsembleTransitionParser"])
def test_models_that_score_transitions(disguised, says, name):
    model = type(name, (disguised,), {})(run=None)
    parser = SimpleNamespace(trainer=SimpleNamespace(args={}, model=model), vocab={"deprel": RELATIONS})
    with says(f"this model of stanza, a {name}, scores transitions and not arcs", "graph-based parser"):
        Stanza(SimpleNamespace(processors={"depparse": parser}), document, None, None)


def test_a_package_without_a_model_of_its_own(says):
    with says("converts constituents"):
        Stanza(SimpleNamespace(processors={"depparse": SimpleNamespace()}), document, None, None)


def test_an_ensemble_with_a_member_that_reads_backwards(disguised, says):
    model = type("EnsembleGraphParser", (disguised,), {})(run=None, models=[SimpleNamespace(args={"reversed": True})])
    parser = SimpleNamespace(trainer=SimpleNamespace(args={}, model=model), vocab={"deprel": RELATIONS})
    with says("reads sentences backwards"):
        Stanza(SimpleNamespace(processors={"depparse": parser}), document, None, None)


def test_tokens_words_and_spaces():
    def token(text, end, *forms):
        return SimpleNamespace(text=text, end_char=end, words=[SimpleNamespace(text=form) for form in forms or [text]])

    text = "Va al mar."
    tokens = [token("Va", 2), token("al", 5, "a", "el"), token("mar", 9), token(".", 10)]
    found = SimpleNamespace(sentences=[SimpleNamespace(tokens=tokens)])
    parser = SimpleNamespace(
        trainer=SimpleNamespace(
            args={}, model=SimpleNamespace(requires_grad_=lambda _: SimpleNamespace(eval=lambda: 0))
        ),
        vocab={"deprel": RELATIONS},
    )
    pipeline = SimpleNamespace(processors={"depparse": parser}, process=lambda given, processors: found)
    (sentence,) = Stanza(pipeline, None, None, None).split(text)
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
def test_real_classes_with_random_weights(batch, members):
    """Trees and labels from the scores are those that Stanza finds, and do not depend on the batch."""
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
        for words in batch
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
    for words, (arcs, labels), tree in zip(batch, adapter.scores(batch, True), known, strict=True):
        heads = chuliu_edmonds_one_root(arcs)[1:]
        assert [head for head, _ in tree] == list(heads)
        best = [int(labels[word, head].argmax()) for word, head in enumerate(heads, 1)]
        # Stanza 1.15 forgets in ensembles that its vocabulary begins with units that are no labels.
        names = adapter.labels if members == 1 else [vocab["deprel"].id2unit(number) for number in range(max(best) + 1)]
        assert [name for _, name in tree] == [names[number] for number in best]
        ((alone, labels_alone),) = adapter.scores([words], True)
        np.testing.assert_allclose(arcs, alone, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(labels, labels_alone, rtol=1e-4, atol=1e-5)
