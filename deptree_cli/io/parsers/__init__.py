"""Parsers that can be asked for their arc scores: sentences as they take them, a register, and scores batch by batch.

A parser is a function ``load(model) -> Adapter`` in `adapters.py`, which imports the parser's package when called. The
scores come out as its preset lays them out (`io/scores/layout.py`), and are checked against that. To add a parser,
write it there and give it an entry below, and a preset if no known one fits; another package offers its own by an entry
point (`deptree.parsers`).
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, groupby
from typing import NamedTuple, Protocol

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.core.register import Register, imported
from deptree_cli.io.conllu.blocks import in_utf8, read_blocks_or_errors
from deptree_cli.io.encoders.arrays import SentenceScores
from deptree_cli.io.files.streams import Input
from deptree_cli.io.scores.arrays import Extras
from deptree_cli.io.scores.layout import PRESETS, words_in

EMPTY = "_"
_CONLLU = re.compile(rb"(\xef\xbb\xbf)?\s*(#|1(-\d+)?\t)")


class Word(NamedTuple):
    """A syntactic word; a column that says nothing is ``_``."""

    form: str
    lemma: str = EMPTY
    upos: str = EMPTY
    xpos: str = EMPTY
    feats: str = EMPTY
    space_after: bool = True


class Token(NamedTuple):
    """What a splitter finds in running text; `words` of a multiword token such as `del`: the forms of its words."""

    form: str
    space_after: bool = True
    words: tuple[str, ...] = ()


class Sentence(NamedTuple):
    """A sentence with at least one word; `conllu` is as read, or has open HEADs if it was cut from running text."""

    sent_id: str
    words: list[Word]
    conllu: bytes


Split = Callable[[str], Iterable[list[Token]]]


def spaced(text: str, end: int) -> bool:
    """Whether a token of `text` that ends before position `end` has a space after it, or nothing at all."""
    return end >= len(text) or text[end].isspace()


def kind_of(head: bytes) -> str:
    """``conllu`` or ``text``, by the first bytes."""
    return "conllu" if _CONLLU.match(head) else "text"


def read_sentences(file: Input, kind: str, split: Split | None) -> Iterator[Sentence | DeptreeError]:
    """The sentences of a file of that kind, one paragraph or block in memory at a time; malformed blocks as errors."""
    sentences: Iterator[Sentence | DeptreeError] = _from_conllu(file)
    if kind == "text" and split:
        found = (tokens for paragraph in paragraphs(file.stream, file.place) for tokens in split(paragraph) if tokens)
        sentences = (to_sentence(str(number), tokens) for number, tokens in enumerate(found, 1))
    first = next(sentences, None)
    if first is None:
        raise DeptreeError("there is no sentence in it", "Give text or CoNLL-U", place=file.place)
    yield first
    yield from sentences


def _from_conllu(file: Input) -> Iterator[Sentence | DeptreeError]:
    for number, block in enumerate(read_blocks_or_errors(file.stream, file.place), 1):
        if isinstance(block, DeptreeError):
            block.remedy += ". If this is text, pass --input text"
            yield block
        else:
            columns = map(block.column, ("form", "lemma", "upos", "xpos", "feats"))
            spaces = ("SpaceAfter=No" not in misc.split("|") for misc in block.column("misc"))
            words = [Word(*row) for row in zip(*columns, spaces, strict=True)]
            try:
                yield Sentence(block.sent_id or str(number), words, in_utf8(block))
            except DeptreeError as error:
                yield error.at(sent_id=block.sent_id)


def paragraphs(stream: Iterable[bytes], place: str) -> Iterator[str]:
    """Stretches of lines between empty ones, in Unicode's NFC, which parsers know and CoNLL-U demands."""
    lines = (_line(line, f"{place}:{number}") for number, line in enumerate(stream, 1))
    yield from ("\n".join(group) for filled, group in groupby(lines, key=bool) if filled)


def _line(line: bytes, place: str) -> str:
    try:
        text = line.decode("utf-8-sig")
    except UnicodeDecodeError:
        remedy = "Give text or CoNLL-U in UTF-8; scores that you have already go straight to the other commands"
        raise DeptreeError("this is not UTF-8", remedy, place=place) from None
    return unicodedata.normalize("NFC", text).strip()


def to_sentence(sent_id: str, tokens: list[Token]) -> Sentence:
    """A sentence of these tokens, its block with the comments sent_id and text and every other column open."""
    words: list[Word] = []
    rows = []
    for token in tokens:
        forms, first = token.words or (token.form,), len(words) + 1
        words += [Word(form) for form in forms[:-1]] + [Word(forms[-1], space_after=token.space_after)]
        several = len(forms) > 1
        if several:
            rows.append(_row(f"{first}-{len(words)}", token.form, token.space_after))
        rows += [_row(str(number), form, token.space_after or several) for number, form in enumerate(forms, first)]
    text = "".join(token.form + " " * token.space_after for token in tokens).rstrip()
    lines = [f"# sent_id = {sent_id}", f"# text = {text}", *rows, "", ""]
    return Sentence(sent_id, words, "\n".join(lines).encode())


def _row(number: str, form: str, space_after: bool) -> str:
    return "\t".join([number, form, *[EMPTY] * 7, EMPTY if space_after else "SpaceAfter=No"])


Scores = tuple[Array, Array | None]


class Adapter(Protocol):
    """A parser with its model; `labels`: their names, in the order of the label axis, None if it does not score any."""

    labels: list[str] | None

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """Arc scores of each sentence, in the shape of the preset, without padding; with `labelled` also label scores
        given the head, with one axis more."""

    def split(self, text: str) -> Iterable[list[Token]]:
        """The sentences of a paragraph; only of a parser that `splits`."""


@dataclass(frozen=True)
class Parser:
    """An entry of the register.

    Attributes:
        target: ``package.module:function``, or ``.file:function`` in this folder, imported when first used; or itself.
        package: the distribution whose version matters; of several, the first that is installed.
        requirement: what pip installs.
        models: what --model names; empty where there is one model only.
        splits: whether it can also cut running text into sentences.
        preset: the layout of its scores in `io/scores/layout.py`; its own name unless another is given.
    """

    name: str
    target: str | Callable[..., Adapter]
    package: str
    requirement: str
    models: str = ""
    splits: bool = False
    preset: str = ""

    @property
    def layout(self) -> str:
        return self.preset or self.name

    def load(self, model: str | None) -> Adapter:
        if self.models and not model:
            raise DeptreeError(f"{self.name} has many models", f"Pass one with --model: {self.models}")
        if model and not self.models:
            raise DeptreeError(f"{self.name} has one model only", "Leave out --model")
        with self.at_work(f"loading {model or 'its model'}"):
            return imported(self.target, __name__)(*filter(None, [model]))

    @contextmanager
    def at_work(self, task: str) -> Iterator[None]:
        """While the parser's own code runs: what it prints goes to stderr, how it fails becomes a line."""
        try:
            with redirect_stdout(sys.stderr):
                yield
        except (DeptreeError, MemoryError):
            raise
        except ImportError as error:
            raise DeptreeError(f"{self.name} cannot be imported ({error})", f"pip install {self.requirement}") from None
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            problem = f"{self.name} failed at {task} ({reason})"
            raise DeptreeError(problem, "Run the parser alone in Python to see why") from None

    @property
    def version(self) -> str | None:
        for package in self.package.split():
            with suppress(PackageNotFoundError):
                return version(package)
        return None


_OF_STANZA = "a language, such as en, or one with its package, such as en_gum"
_OF_SPACY = "a pipeline with the component arc_predicter (or experimental_arc_predicter), by name or folder"
_BIAFFINE = "spacy-biaffine-parser spacy-experimental", "spacy-biaffine-parser, or 'spacy-experimental[torch]'"

PARSERS: Register[Parser] = Register(
    "parser",
    (
        Parser("natasha", ".adapters:load_natasha", "natasha", "'deptree-cli[natasha]'", splits=True),
        Parser("stanza", ".adapters:load_stanza", "stanza", "stanza", _OF_STANZA, splits=True),
        Parser("supar", ".adapters:load_supar", "supar", "supar", "a name such as biaffine-dep-en, or a file"),
        Parser("spacy", ".adapters:load_spacy", *_BIAFFINE, _OF_SPACY, splits=True),
        Parser("hanlp", ".adapters:load_hanlp", "hanlp", "hanlp", "a name such as CTB9_DEP_ELECTRA_SMALL, or a folder"),
    ),
    "deptree.parsers",
)


class Scored(NamedTuple):
    """A sentence with its scores: `of_arcs` in the shape of the parser's preset, `of_labels` with one axis more."""

    sentence: Sentence
    of_arcs: Array
    of_labels: Array | None
    labels: Sequence[str]

    def scores(self) -> SentenceScores:
        extras = Extras((), self.sentence.conllu, self.labels, self.of_labels)
        return SentenceScores(self.sentence.sent_id, self.of_arcs, extras)


def splitter(parser: Parser, adapter: Adapter) -> Split | None:
    """What cuts a paragraph into sentences, None where the parser cannot."""

    def split(text: str) -> list[list[Token]]:
        with parser.at_work("splitting the text"):
            return list(adapter.split(text))

    return split if parser.splits else None


@dataclass(frozen=True)
class Batch:
    """Sentences that a parser scores together, at least one; a batch goes by the name of its first."""

    sentences: list[Sentence]
    place: str
    weight = 0

    @property
    def sent_id(self) -> str:
        return self.sentences[0].sent_id


def batches(sentences: Iterable[Sentence | DeptreeError], size: int, place: str) -> Iterator[Batch | DeptreeError]:
    """The sentences, `size` at a time, and what is wrong with others in between."""
    waiting: list[Sentence] = []
    for sentence in chain(sentences, [None]):
        if isinstance(sentence, DeptreeError):
            yield sentence
        elif sentence is not None:
            waiting.append(sentence)
        if len(waiting) == size or (sentence is None and waiting):
            yield Batch(waiting, place)
            waiting = []


@cache
def adapter_of(name: str, model: str | None) -> Adapter:
    """The adapter of a parser with its model, loaded once in every process that asks for it."""
    return PARSERS.get(name).load(model)


def score(parser: Parser, adapter: Adapter, batch: Batch, labelled: bool) -> list[Scored | DeptreeError]:
    """The sentences of a batch with their scores, or what is wrong with these."""
    sentences = batch.sentences
    with parser.at_work(f"sentence {batch.sent_id} or soon after"):
        results = adapter.scores([sentence.words for sentence in sentences], labelled)
    if len(results) != len(sentences):
        problem = f"{parser.name} left out {len(sentences) - len(results)} of {counted(len(sentences), 'sentence')}"
        raise DeptreeError(problem, "Leave out those too long for its model", sent_id=batch.sent_id)
    labels = adapter.labels or ()
    return [_checked(parser, *each, labels) for each in zip(sentences, results, strict=True)]


def _checked(parser: Parser, sentence: Sentence, scores: Scores, labels: Sequence[str]) -> Scored | DeptreeError:
    arcs, n = scores[0], len(sentence.words)
    try:
        got = words_in(arcs.shape, PRESETS.get(parser.layout))
    except DeptreeError as error:
        return error.at(sent_id=sentence.sent_id)
    if got != n:
        problem = f"{parser.name} gave scores of {counted(got, 'word')} for a sentence of {n}"
        return DeptreeError(problem, "Shorten the sentence or leave it out", sent_id=sentence.sent_id)
    if np.isnan(arcs).any() or np.isposinf(arcs).any():
        problem = f"{parser.name} gave scores that are not numbers"
        return DeptreeError(problem, "Check its model", sent_id=sentence.sent_id)
    return Scored(sentence, arcs, scores[1], labels)
