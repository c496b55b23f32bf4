"""Scores as they were read become sentences, or are added to the sentences that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted, fits_a_line
from deptree_cli.io.conllu.blocks import Block, block_of
from deptree_cli.io.scores.layout import Layout, cut, words_in
from deptree_cli.io.scores.padding import check_not_padding
from deptree_cli.io.scores.raw import RawScores, Source
from deptree_cli.io.sentence import LABELS, OTHER, Sentence, in_order

SAME = "Check that both files hold the same sentences in the same order"


def sentences_of(source: Source, layout: Layout, first: int = 1) -> Iterator[Sentence | DeptreeError]:
    """The sentences of scores that lead; the first has this running number."""
    for number, raw in enumerate(in_order(source), first):
        try:
            yield raw.at(sent_id=str(number)) if isinstance(raw, DeptreeError) else _alone(raw, number, layout)
        except OutOfStep:
            raise
        except DeptreeError as error:
            yield error


def _alone(raw: RawScores, number: int, layout: Layout) -> Sentence:
    """A sentence of which there are scores, and maybe the words beside them."""
    sent_id = raw.key or str(number)
    try:
        check_name(sent_id)
        scores, n = _at_length(raw, layout)
        if raw.padded or raw.length is not None:
            check_not_padding(scores, layout, raw.length is not None)
        block = _of_forms(sent_id, raw.forms, n) if raw.forms else None
    except DeptreeError as error:
        raise error.at(raw.place, sent_id) from None
    return Sentence(sent_id, number, n, raw.place, block, scores, raw.key, raw.padded, bool(raw.key))


def check_name(sent_id: str) -> None:
    """Raise for a name that would end a line."""
    if not fits_a_line(sent_id):
        raise DeptreeError("the sentence's name holds a control character", "Rename it")


def _of_forms(sent_id: str, forms: Sequence[str], n: int) -> Block:
    if len(forms) != n:
        problem = f"the field forms has {counted(len(forms), 'word')}, the scores have {n}"
        raise DeptreeError(problem, "Check what wrote them, or give the sentences with --conllu")
    return block_of(sent_id, forms)


def _at_length(raw: RawScores, layout: Layout) -> tuple[Array, int]:
    """The scores at the length that a file of lengths says, and how many words they have."""
    scores = raw.scores if raw.length is None else cut(raw.scores, raw.length, layout)
    return scores, words_in(scores.shape, layout)


def add_scores(layout: Layout, sentence: Sentence, raw: RawScores) -> None:
    """Add its scores to a sentence of CoNLL-U.

    Raises:
        OutOfStep: they have another length.
        DeptreeError: they cannot be used.
    """
    if not sentence.named and raw.key:
        sentence.sent_id, sentence.named = raw.key, True
    try:
        check_name(sentence.sent_id)
        sentence.scores = fitted(raw, sentence, layout, "the scores have")
    except DeptreeError as error:
        raise error.at(raw.place, sentence.sent_id) from None
    sentence.place, sentence.key = raw.place, raw.key


def add_other(layout: Layout, sentence: Sentence, raw: RawScores) -> None:
    """Add the scores of another file, which are laid out alike."""
    try:
        scores = fitted(raw, sentence, layout, "the scores have")
        if scores.shape != sentence.scores.shape:
            problem = f"the scores have shape {scores.shape}, those at {sentence.place} {sentence.scores.shape}"
            raise OutOfStep(problem, SAME)
    except DeptreeError as error:
        raise error.at(raw.place, sentence.sent_id) from None
    sentence.companions[OTHER] = scores


def add_labels(layout: Layout, sentence: Sentence, raw: RawScores) -> None:
    """Add the scores of its labels, (n, n+1, L) or alike."""
    try:
        sentence.companions[LABELS] = fitted(raw, sentence, layout, "the scores of labels have")
    except DeptreeError as error:
        raise error.at(raw.place, sentence.sent_id) from None


def fitted(raw: RawScores, sentence: Sentence, layout: Layout, what: str) -> Array:
    """Scores that belong to a sentence, at its length.

    Raises:
        OutOfStep: they have another one.
    """
    scores, n = _at_length(raw, layout)
    if n == sentence.n:
        return scores
    if raw.padded and sentence.n < n:
        return cut(scores, sentence.n, layout)
    at, block = sentence.place, sentence.block
    words = f"the CoNLL-U sentence has {block.n} ({block.place})" if block else f"those at {at} have {sentence.n}"
    raise OutOfStep(f"{what} {counted(n, 'word')}, {words}", f"{SAME}, with the same tokens")
