"""The adapter of SuPar: its own logic on stand-ins, and a real parser with random weights where SuPar is installed."""

from __future__ import annotations

import os
from types import SimpleNamespace

import numpy as np
import pytest

from deptree_cli.io.parsers import PARSERS
from deptree_cli.io.parsers.adapters import Supar

TRUST = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"


class Transform:
    """SuPar's transform: loads tuples, turns them into numbers, in training until told otherwise."""

    training = True

    def eval(self):
        """No HEADs from now on."""
        self.training = False

    def load(self, data):
        """Sentences of (form, lemma, tag)."""
        assert data[0][1] == ("cat", "cat", "X")
        return [SimpleNamespace(rows=rows) for rows in data]

    def __call__(self, sentences):
        for sentence in sentences:
            sentence.numbers = len(sentence.rows)


def parser_of(disguised, padded, name="biaffine-dependency"):
    def run(words, features):
        assert (words, features) == ([4, 1, 7], ["characters"])
        return padded([0, 1, 2]), padded([0, 1, 2], labels=2)

    relations = SimpleNamespace(vocab=SimpleNamespace(itos=["<bos>", "dep"]))
    return SimpleNamespace(NAME=name, model=disguised(run=run), transform=Transform(), REL=relations)


def to_batch(sentences):
    """Words, texts and what else the model reads."""
    return [[sentence.numbers for sentence in sentences], "texts", "characters"]


def test_rows_without_padding(disguised, padded, expected, batch):
    parser = parser_of(disguised, padded)
    adapter = Supar(parser, to_batch)
    assert (parser.transform.training, parser.model.gradients, parser.model.dropout) == (False, False, False)
    assert adapter.labels == ["<bos>", "dep"]
    for (arcs, labels), raw, known in zip(adapter.scores(batch, True), expected(), expected(labels=2), strict=True):
        np.testing.assert_array_equal(arcs, raw)
        np.testing.assert_array_equal(labels, known)
        assert type(arcs) is np.ndarray
    assert adapter.scores(batch, False)[0][1] is None


@pytest.mark.parametrize("name", ["crf2o-dependency", "vi-dependency", "biaffine-semantic-dependency"])
def test_parsers_that_score_more_than_arcs(disguised, padded, says, name):
    with says(f"{name} is not a parser that scores single arcs", "biaffine-dependency or crf-dependency"):
        Supar(parser_of(disguised, padded, name), to_batch)


TINY = {
    **dict.fromkeys(("n_embed", "n_pretrained", "n_feat_embed", "n_char_embed", "n_char_hidden"), 6),
    **dict.fromkeys(("n_lstm_hidden", "n_arc_mlp", "n_rel_mlp"), 7),
    **{"n_lstm_layers": 1, "min_freq": 1, "fix_len": 6, "encoder": "lstm", "embed": None},
    **{"build": True, "pad_index": 0, "unk_index": 1, "bos_index": 2},
}


@pytest.mark.torch
@pytest.mark.filterwarnings("ignore")
def test_a_real_parser_with_random_weights(tmp_path, batch):
    """Saved and loaded again; heads and labels are those that SuPar predicts, and do not depend on the batch."""
    torch = pytest.importorskip("torch", reason="torch is not installed")
    supar = pytest.importorskip("supar", reason="supar is not installed")
    rows = ["\t".join([str(i), w.form, "_", w.upos, "_", "_", str(i - 1), "dep" * (i > 1) or "root", "_", "_"])
            for words in batch for i, w in enumerate(words, 1)]  # fmt: skip
    (tmp_path / "t.conllx").write_text("\n".join(rows).replace("\n1\t", "\n\n1\t") + "\n\n")
    torch.manual_seed(1)
    path = str(tmp_path / "model")
    parser = supar.BiaffineDependencyParser.build(path, train=str(tmp_path / "t.conllx"), feat=["tag", "char"], **TINY)
    parser.save(path)
    adapter = PARSERS.get("supar").load(path)
    assert TRUST not in os.environ
    together = adapter.scores(batch, True)
    known = parser.predict([[(w.form, w.upos) for w in words] for words in batch], tree=False, verbose=False)
    for words, (arcs, labels), sentence in zip(batch, together, known.sentences, strict=True):
        assert arcs[1:].argmax(axis=1).tolist() == sentence.arcs
        found = [adapter.labels[labels[word, head].argmax()] for word, head in enumerate(sentence.arcs, 1)]
        assert found == list(sentence.rels)
        ((alone, labels_alone),) = adapter.scores([words], True)
        np.testing.assert_allclose(arcs, alone, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(labels, labels_alone, rtol=1e-4, atol=1e-5)


@pytest.mark.torch
def test_an_environment_is_left_as_it_was(monkeypatch, says):
    """Also where loading fails."""
    pytest.importorskip("supar", reason="supar is not installed")
    monkeypatch.setenv(TRUST, "0")
    with says("supar failed at loading no-such-model"):
        PARSERS.get("supar").load("no-such-model")
    assert os.environ[TRUST] == "0"
