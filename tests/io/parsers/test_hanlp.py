"""The adapter of HanLP: its own logic on a stand-in, and a real parser with random weights where HanLP is installed."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from deptree_cli.io.parsers import PARSERS
from deptree_cli.io.parsers.adapters import Hanlp


@pytest.fixture
def parser(disguised, padded):
    """A parser that takes the sentences longest first, two at a time."""

    def feed(given):
        order = [int(number) for number in given["number"]]
        return padded(order), padded(order, labels=2), "mask", None

    def loader(samples, *, device, shuffle, batch_size, batch_max_tokens, tree):
        assert (device, shuffle, batch_size, batch_max_tokens, tree) == ("cpu", False, 3, None, True)
        assert [len(sample) for sample in samples] == [4, 1, 7]
        return [{"number": [2, 0]}, {"number": np.array([1])}]

    return SimpleNamespace(
        use_pos=False,
        model=disguised(),
        vocabs={"rel": SimpleNamespace(idx_to_token=["root", "dep"])},
        config={"batch_size": 100, "batch_max_tokens": 5, "tree": True},
        devices=["cpu"],
        build_samples=lambda data: data,
        build_dataloader=loader,
        feed_batch=feed,
    )


def test_sentences_are_back_in_order(parser, expected, batch):
    adapter = Hanlp(parser, "number")
    assert (parser.model.gradients, parser.model.dropout, adapter.labels) == (False, False, ["root", "dep"])
    for (arcs, labels), raw, known in zip(adapter.scores(batch, True), expected(), expected(labels=2), strict=True):
        np.testing.assert_array_equal(arcs, raw)
        np.testing.assert_array_equal(labels, known)
    assert adapter.scores(batch, False)[0][1] is None


def test_models_that_want_tags(parser, says):
    parser.use_pos = True
    with says("needs tags"):
        Hanlp(parser, "number")


TINY = {"n_embed": 6, "n_lstm_hidden": 5, "n_lstm_layers": 1, "n_mlp_arc": 7, "n_mlp_rel": 4}
ONCE = {"epochs": 1, "min_freq": 1, "batch_size": 2, "devices": -1, "separate_optimizer": True}


@pytest.mark.filterwarnings("ignore")
def test_a_real_parser_with_random_weights(tmp_path, batch):
    """Heads and labels are those that HanLP predicts, and do not depend on the batch."""
    pytest.importorskip("hanlp", reason="hanlp is not installed")
    from hanlp.components.parsers.biaffine.biaffine_dep import BiaffineDependencyParser

    rows = ["\t".join([str(i), word.form, "_", "X", "X", "_", str(i - 1), "dep" * (i > 1) or "root", "_", "_"])
            for words in batch for i, word in enumerate(words, 1)]  # fmt: skip
    data, folder = str(tmp_path / "t.conllx"), str(tmp_path / "model")
    (tmp_path / "t.conllx").write_text("\n".join(rows).replace("\n1\t", "\n\n1\t") + "\n\n")
    trained = BiaffineDependencyParser()
    trained.fit(data, data, folder, tree=False, punct=True, **TINY, **ONCE)
    adapter = PARSERS.get("hanlp").load(folder)
    known = trained([[word.form for word in words] for words in batch], conll=False)
    for words, (arcs, labels), tree in zip(batch, adapter.scores(batch, True), known, strict=True):
        heads = arcs[1:].argmax(axis=1).tolist()
        assert tree == [(head, adapter.labels[labels[word, head].argmax()]) for word, head in enumerate(heads, 1)]
        ((alone, labels_alone),) = adapter.scores([words], True)
        np.testing.assert_allclose(arcs, alone, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(labels, labels_alone, rtol=1e-4, atol=1e-5)
