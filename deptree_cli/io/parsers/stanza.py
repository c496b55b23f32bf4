"""Stanza's graph-based parser, alone or as an ensemble (1.8 and newer; label scores from 1.15 on)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.parsers import EMPTY, Scores, Token, Word, spaced

# <PAD>, <UNK>, <EMPTY> and <ROOT> lead Stanza's vocabularies.
_NO_LABELS = 4

_SPLITTERS = ["tokenize", "mwt"]
_TAGGERS = ("pos", "lemma")

# How the classes of models that build a tree step by step are called; of an ensemble too.
_STEPWISE = "TransitionParser"


def load(model: str) -> Stanza:
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
    """A `Splitter`, of Stanza's pipeline, its classes Document and DataLoader of the parser, and its `unpack_batch`."""

    def __init__(
        self, pipeline: Any, document: Callable[..., Any], loader: Callable[..., Any], unpack: Callable[..., Any]
    ) -> None:
        self._pipeline = pipeline
        self._document = document
        self._loader = loader
        self._unpack = unpack
        self._parser = pipeline.processors["depparse"]
        trainer = getattr(self._parser, "trainer", None)
        if trainer is None:
            problem = "this package of stanza converts constituents and has no model that scores arcs"
            raise DeptreeError(problem, "Choose a package with a graph-based parser")
        _check(trainer)
        # No gradients, and no dropout.
        self._model = trainer.model.requires_grad_(False).eval()
        relations = self._parser.vocab["deprel"]
        self.labels: list[str] = [relations.id2unit(number) for number in range(_NO_LABELS, len(relations))]

    def split(self, text: str) -> Iterable[list[Token]]:
        for sentence in self._pipeline.process(text, processors=_SPLITTERS).sentences:
            yield [_token(token, text) for token in sentence.tokens]

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Logarithms of head probabilities (n+1, n+1), -inf on the diagonal, and of label probabilities."""
        document = self._tagged(self._document([list(map(_entry, range(1, len(words) + 1), words)) for words in batch]))
        parser = self._parser
        batches = self._loader(
            document, parser.config["batch_size"], parser.config, parser.pretrain, vocab=parser.vocab, evaluation=True
        )
        return [scores for each in batches for scores in self._of_batch(each, labelled)]

    def _tagged(self, document: Any) -> Any:
        """The document, with tags and lemmas by Stanza unless all words have a tag."""
        if all(word.upos for sentence in document.sentences for word in sentence.words):
            return document
        for name in _TAGGERS:
            document = self._pipeline.processors[name].process(document)
        return document

    def _of_batch(self, batch: Any, labelled: bool) -> Iterator[Scores]:
        """The scores of a batch of Stanza's, which sorts its sentences by length, in the order before that."""
        inputs, order, word_order, lengths, word_lengths, forms = self._unpack(batch, self._model.get_device())
        _, predicted = self._model(*inputs, word_order, lengths, word_lengths, forms)
        if labelled and len(predicted) < 3:
            raise DeptreeError("this version of stanza gives no label scores", "pip install --upgrade stanza")
        for row in np.argsort(order):
            size = lengths[row]
            labels = predicted[2][row, :size, :size] if labelled else None
            yield _normalised(predicted[0][row, :size, :size]), labels


def _check(trainer: Any) -> None:
    """Raise unless the model, be it one or an ensemble, scores the arcs of sentences as they are read."""
    name = type(trainer.model).__name__
    if name.endswith(_STEPWISE):
        problem = f"this model of stanza, a {name}, scores transitions and not arcs"
        raise DeptreeError(problem, "Choose a package with a graph-based parser")
    members = getattr(trainer.model, "models", ())
    if any(args.get("reversed") for args in (trainer.args, *(member.args for member in members))):
        raise DeptreeError("this model of stanza reads sentences backwards", "Choose another package")


def _normalised(scores: Array) -> Array:
    """The rows with sum 1 as probabilities: Stanza gives a share to padding, so to how long the others are."""
    best = scores.max(axis=1, keepdims=True)
    normalised: Array = scores - best - np.log(np.exp(scores - best).sum(axis=1, keepdims=True))
    return normalised


def _entry(number: int, word: Word) -> dict[str, object]:
    """A word as Stanza's Document wants it: what is not known is left out."""
    columns = {"lemma": word.lemma, "upos": word.upos, "xpos": word.xpos, "feats": word.feats}
    return {"id": number, "text": word.form, **{key: value for key, value in columns.items() if value != EMPTY}}


def _token(token: Any, text: str) -> Token:
    several = len(token.words) > 1
    forms = tuple(word.text for word in token.words) if several else ()
    return Token(token.text, spaced(text, token.end_char), forms)
