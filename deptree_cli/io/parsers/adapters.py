"""The adapters of parsers: each imports its parser's package when it is loaded, and asks the parser for scores."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.parsers import EMPTY, Scores, Token, Word, spaced

EMBEDDING = "data/emb/navec_news_v1_1B_250K_300d_100q.tar"
SYNTAX = "data/model/slovnet_syntax_news_v1.tar"


def load_natasha() -> Natasha:
    from navec import Navec
    from slovnet import Syntax

    syntax = Syntax.load(_of_natasha(SYNTAX))
    return Natasha(syntax.navec(Navec.load(_of_natasha(EMBEDDING))))


def _of_natasha(path: str) -> Path:
    spec = find_spec("natasha")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("No module named 'natasha'")
    return Path(spec.submodule_search_locations[0], path)


class Natasha:
    """Slovnet's biaffine parser for Russian, with the model and embeddings that the package natasha brings along.

    Only NumPy runs. Natasha itself is not imported: its morphology (pymorphy2, which wants the pkg_resources of an old
    setuptools) has no part in the scores.
    """

    def __init__(self, syntax: Any) -> None:
        self._encoder = syntax.infer.encoder
        self._model = syntax.infer.model
        self.labels: list[str] = list(syntax.infer.decoder.rels_vocab.items)

    def split(self, text: str) -> Iterable[list[Token]]:
        from razdel import sentenize, tokenize

        for sentence in sentenize(text):
            yield [Token(part.text, spaced(text, sentence.start + part.stop)) for part in tokenize(sentence.text)]

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logits (n, n+1), and (n, n+1, L): sentence by sentence, so that rounding does not depend on the batch."""
        encoded = (self._encoded([word.form for word in words]) for words in batch)
        return [(self._model.head(words)[0], self._labels(words[0]) if labelled else None) for words in encoded]

    def _encoded(self, forms: list[str]) -> Array:
        """The words as the convolutions see them, (1, n, dimensions)."""
        given = self._encoder.input([self._encoder.item(forms)])
        # a form `<pad>` is a word here too
        nothing_padded = np.zeros_like(given.pad_mask)
        encoded: Array = self._model.encoder(self._model.emb(given.word_id, given.shape_id), nothing_padded)
        return encoded

    def _labels(self, words: Array) -> Array:
        """Logits of each word's labels under each head, (n, n+1, L); the model itself asks for its best heads only."""
        rel = self._model.rel
        heads = rel.head(np.vstack([rel.root.array[None], words])) @ rel.kernel.array
        by_label = heads.reshape(len(words) + 1, len(self.labels), -1)
        logits: Array = np.einsum("jlh,ih->ijl", by_label, rel.tail(words), optimize=True)
        return logits


# <PAD>, <UNK>, <EMPTY> and <ROOT> lead Stanza's vocabularies.
_NO_LABELS = 4


def load_stanza(model: str) -> Stanza:
    """The pipeline of a language (``en``) or of one of its packages (``en_gum``), which Stanza downloads if it must."""
    from stanza import Pipeline
    from stanza.models.common.doc import Document
    from stanza.models.depparse.data import DataLoader
    from stanza.models.depparse.trainer import unpack_batch

    language, _, package = model.partition("_")
    chosen = {"package": package} if package else {}
    pipeline = Pipeline(language, processors="tokenize,pos,lemma,depparse", verbose=False, **chosen)
    return Stanza(pipeline, Document, DataLoader, unpack_batch)


class Stanza:
    """Stanza's graph-based parser, alone or as an ensemble (1.8 and newer; label scores from 1.15 on).

    Args:
        document, loader, unpack: Stanza's classes Document and DataLoader of the parser, and its `unpack_batch`.
    """

    def __init__(
        self, pipeline: Any, document: Callable[..., Any], loader: Callable[..., Any], unpack: Callable[..., Any]
    ) -> None:
        self._pipeline, self._document, self._loader, self._unpack = pipeline, document, loader, unpack
        self._parser = pipeline.processors["depparse"]
        trainer = getattr(self._parser, "trainer", None)
        if trainer is None:
            problem = "this package of stanza converts constituents and has no model that scores arcs"
            raise DeptreeError(problem, "Choose a package with a graph-based parser")
        name = type(trainer.model).__name__
        if name.endswith("TransitionParser"):  # also an ensemble of them
            problem = f"this model of stanza, a {name}, scores transitions and not arcs"
            raise DeptreeError(problem, "Choose a package with a graph-based parser")
        members = getattr(trainer.model, "models", ())
        if any(each.args.get("reversed") for each in (trainer, *members)):
            raise DeptreeError("this model of stanza reads sentences backwards", "Choose another package")
        # No gradients, and no dropout.
        self._model = trainer.model.requires_grad_(False).eval()
        relations = self._parser.vocab["deprel"]
        self.labels: list[str] = [relations.id2unit(number) for number in range(_NO_LABELS, len(relations))]

    def split(self, text: str) -> Iterable[list[Token]]:
        for sentence in self._pipeline.process(text, processors=["tokenize", "mwt"]).sentences:
            forms = [tuple(word.text for word in token.words) for token in sentence.tokens]
            yield [
                Token(token.text, spaced(text, token.end_char), words if len(words) > 1 else ())
                for token, words in zip(sentence.tokens, forms, strict=True)
            ]

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logarithms of head probabilities (n+1, n+1), -inf on the diagonal, and of label probabilities."""
        document = self._document([list(map(_entry, range(1, len(words) + 1), words)) for words in batch])
        if not all(word.upos for sentence in document.sentences for word in sentence.words):
            for name in ("pos", "lemma"):
                document = self._pipeline.processors[name].process(document)
        parser = self._parser
        batches = self._loader(
            document, parser.config["batch_size"], parser.config, parser.pretrain, vocab=parser.vocab, evaluation=True
        )
        return [scores for each in batches for scores in self._of_batch(each, labelled)]

    def _of_batch(self, batch: Any, labelled: bool) -> Iterator[Scores]:
        """The scores of a batch of Stanza's, which sorts its sentences by length, in the order before that."""
        inputs, order, word_order, lengths, word_lengths, forms = self._unpack(batch, self._model.get_device())
        _, predicted = self._model(*inputs, word_order, lengths, word_lengths, forms)
        for row in np.argsort(order):
            size = lengths[row]
            labels = predicted[2][row, :size, :size] if labelled and len(predicted) > 2 else None
            # Rows with sum 1 as probabilities: Stanza gives a share to padding, so to how long the others are.
            arcs = predicted[0][row, :size, :size]
            arcs = arcs - arcs.max(axis=1, keepdims=True)
            yield arcs - np.log(np.exp(arcs).sum(axis=1, keepdims=True)), labels


def _entry(number: int, word: Word) -> dict[str, object]:
    """A word as Stanza's Document wants it: what is not known is left out."""
    columns = {"lemma": word.lemma, "upos": word.upos, "xpos": word.xpos, "feats": word.feats}
    return {"id": number, "text": word.form, **{key: value for key, value in columns.items() if value != EMPTY}}


_EDGE_FACTORED = ("biaffine-dependency", "crf-dependency")
_TRUST = "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD"


def load_supar(model: str) -> Supar:
    """A model by name, which SuPar downloads if it must, or by file; such files hold code, so it must be trusted."""
    from supar import Parser
    from supar.utils.transform import Batch

    # Torch 2.6 and newer load no code unless told to, and SuPar does not tell it.
    before = os.environ.get(_TRUST)
    os.environ[_TRUST] = "1"
    try:
        return Supar(Parser.load(model), Batch)
    finally:
        os.environ.pop(_TRUST)
        if before is not None:
            os.environ[_TRUST] = before


class Supar:
    """SuPar 1.1: its biaffine and its first-order CRF dependency parsers."""

    def __init__(self, parser: Any, to_batch: Callable[..., Any]) -> None:
        if parser.NAME not in _EDGE_FACTORED:
            problem = f"{parser.NAME} is not a parser that scores single arcs"
            raise DeptreeError(problem, f"Choose a model of {' or '.join(_EDGE_FACTORED)}")
        self._model = parser.model.requires_grad_(False).eval()
        self._transform = parser.transform
        self._transform.eval()
        self._to_batch = to_batch
        self.labels: list[str] = list(parser.REL.vocab.itos)

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logits (n+1, n+1), and (n+1, n+1, L)."""
        sentences = self._transform.load([[(word.form, word.lemma, word.upos) for word in words] for words in batch])
        self._transform(sentences)
        words, _, *features = self._to_batch(sentences)
        arcs, labels = (scores.cpu().numpy() for scores in self._model(words, features))
        sizes = [len(words) + 1 for words in batch]
        return [
            (arcs[row, :size, :size], labels[row, :size, :size] if labelled else None) for row, size in enumerate(sizes)
        ]


PREDICTER, LABELER = "arc_predicter", "arc_labeler"
EXPERIMENTAL = "experimental_"


def load_spacy(model: str) -> Spacy:
    """An installed pipeline by name, or one in a folder."""
    import spacy
    from spacy.tokens import Doc

    failed: list[ImportError] = []
    packages = ("spacy_biaffine_parser", "spacy_experimental")
    for package in packages:  # either makes its components known to spaCy
        try:
            import_module(package)
        except ImportError as error:
            failed.append(error)
    if len(failed) == len(packages):
        raise failed[0]
    return Spacy(spacy.load(model), Doc)


class Spacy:
    """The biaffine parser for spaCy: of spacy-biaffine-parser, and of spacy-experimental, where it comes from.

    The components are the same but for their names (`arc_predicter`, `arc_labeler`; formerly with `experimental_`) and
    for how the predicter is given sentences: a document's sentence lengths each by itself, or all lengths in a row.
    """

    def __init__(self, pipeline: Any, to_doc: Callable[..., Any]) -> None:
        by_factory = {factory: name for name, factory in pipeline.pipe_factories.items()}
        prefix = next((prefix for prefix in ("", EXPERIMENTAL) if prefix + PREDICTER in by_factory), None)
        if prefix is None:
            problem = f"the pipeline has no component {PREDICTER} or {EXPERIMENTAL}{PREDICTER}"
            raise DeptreeError(problem, "Choose one with a biaffine parser")
        predicter, labeler_name = by_factory[prefix + PREDICTER], by_factory.get(prefix + LABELER)
        self._lengths_by_doc = not prefix
        self._pipeline, self._to_doc = pipeline, to_doc
        names = list(pipeline.pipe_names)
        self._before = [pipeline.get_pipe(name) for name in names[: names.index(predicter)]]
        self._arcs = pipeline.get_pipe(predicter).model
        labeler = pipeline.get_pipe(labeler_name) if labeler_name else None
        self._labels: Any = labeler and labeler.model
        self.labels: list[str] | None = list(labeler.labels) if labeler else None

    def split(self, text: str) -> Iterable[list[Token]]:
        """Sentences and tokens by what stands in the pipeline before the parser; spaCy's tokens of space go."""
        for sentence in self._prepared(self._pipeline.make_doc(text)).sents:
            yield [
                Token(token.text, spaced(text, token.idx + len(token.text))) for token in sentence if not token.is_space
            ]

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logits (n, n), those of ROOT on the diagonal, and (n, n, L)."""
        docs = [self._prepared(self._doc(words)) for words in batch]
        lengths = np.array([len(words) for words in batch], dtype=np.int32)
        starts = np.cumsum(lengths) - lengths
        labels = self._label_rows(docs, starts, lengths) if labelled else None
        return [
            (arcs, None if labels is None else labels[start : start + n, :n])
            for arcs, start, n in zip(self._squares(docs, starts, lengths), starts, lengths, strict=True)
        ]

    def _squares(self, docs: list[Any], starts: Array, lengths: Array) -> list[Array]:
        """The arc logits (n, n) of each sentence, every document being one."""
        ops = self._arcs.ops
        if self._lengths_by_doc:
            by_doc = [np.array([length], dtype=np.int32) for length in lengths]
            return [ops.to_numpy(square) for square in self._arcs.predict((docs, by_doc))]
        rows = ops.to_numpy(self._arcs.predict((docs, ops.asarray1i(lengths))))
        return [rows[start : start + n, :n] for start, n in zip(starts, lengths, strict=True)]

    def _doc(self, words: list[Word]) -> Any:
        forms, spaces = [word.form for word in words], [word.space_after for word in words]
        starts = [number == 0 for number in range(len(words))]
        return self._to_doc(self._pipeline.vocab, words=forms, spaces=spaces, sent_starts=starts)

    def _prepared(self, doc: Any) -> Any:
        for component in self._before:
            doc = component(doc)
        return doc

    def _label_rows(self, docs: list[Any], starts: Array, lengths: Array) -> Array:
        """Logits (words of all, longest, L): the labeler is asked for every word under one head after the other, the
        word itself meaning ROOT.
        """
        ops = self._labels.ops
        first, last = np.repeat(starts, lengths), np.repeat(starts + lengths - 1, lengths)
        # beyond the end of a sentence its last word stands in for a head
        heads = (np.minimum(first + head, last).astype(np.int32) for head in range(lengths.max()))
        return np.stack([ops.to_numpy(self._labels.predict((docs, ops.asarray1i(each)))) for each in heads], axis=1)


def load_hanlp(model: str) -> Hanlp:
    """A model of `hanlp.pretrained.dep` by name, which HanLP downloads if it must, or by folder."""
    import hanlp
    from hanlp.components.parsers.biaffine.biaffine_dep import BiaffineDependencyParser
    from hanlp_common.constant import IDX

    parser = hanlp.load(model)
    # Of its own heirs, one is for graphs and others add losses; none keeps to these scores.
    if type(parser) is not BiaffineDependencyParser:
        raise DeptreeError(f"{model} is not a BiaffineDependencyParser", "Choose a model of hanlp.pretrained.dep")
    return Hanlp(parser, IDX)


class Hanlp:
    """HanLP 2: its biaffine dependency parser by itself (a multi-task model has another interface).

    `index` is the key under which a batch says which sentences it holds.
    """

    def __init__(self, parser: Any, index: str) -> None:
        if parser.use_pos:
            problem = "this model needs tags, which HanLP does not pass to it"
            raise DeptreeError(problem, "Choose a model that reads words only")
        self._parser, self._index = parser, index
        parser.model.requires_grad_(False).eval()
        self.labels: list[str] = list(parser.vocabs["rel"].idx_to_token)

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logits (n+1, n+1), and (n+1, n+1, L)."""
        parser = self._parser
        samples = parser.build_samples([[word.form for word in words] for words in batch])
        options = {**parser.config, "batch_size": len(batch), "batch_max_tokens": None}
        found: dict[int, Scores] = {}
        for given in parser.build_dataloader(samples, device=parser.devices[0], shuffle=False, **options):
            arcs, labels, *_ = parser.feed_batch(given)
            for row, number in enumerate(map(int, given[self._index])):
                size = len(batch[number]) + 1
                part = labels[row, :size, :size].cpu().numpy() if labelled else None
                found[number] = arcs[row, :size, :size].cpu().numpy(), part
        return [found[number] for number in range(len(batch))]
