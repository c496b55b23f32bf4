"""Scores as they were read become sentences, or are added to those that they belong to; padding is no word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from deptree_cli.core.dtypes import Array, Float
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted, fits_a_line
from deptree_cli.core.scores import MASK
from deptree_cli.io.conllu.blocks import Block, block_of
from deptree_cli.io.scores.layout import Layout, cut, to_head_dep, words_in
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


def check_not_padding(scores: Array, layout: Layout, has_length: bool = False) -> None:
    """Raise where the last word of a slice looks like padding.

    It does where all its scores are one number (0, or -10000 in half precision), or where as a dependent it has one
    number for all heads and as a head it is masked (-inf, and -1e15 and below; of weights 0). Scores of a parser are
    never alike to the last bit. A matrix that is all one number may be meant, and is left alone; a last word without
    any head is an error of its own, unless a length made it a word.

    Args:
        has_length: whether the scores were cut to a length that was given.

    Raises:
        DeptreeError: asks for the lengths, or whether they count ROOT.
    """
    if _differ(scores, layout, has_length):
        return
    matrix = to_head_dep(scores, layout)
    n = len(matrix) - 1
    as_dependent, as_head = _unmasked(matrix[:n, n], layout), _unmasked(matrix[n, 1:n], layout)
    headless = has_length and not len(as_dependent)
    if not headless and (len(as_dependent) < 2 or not _alike(np.concatenate([as_dependent, as_head]))):
        return
    if _alike(_unmasked(matrix[:, 1:][~np.eye(n + 1, dtype=bool)[:, 1:]], layout)):
        return
    problem = f"the scores of the last of {counted(n, 'word')} are all alike, as those of padding are"
    if has_length:
        remedy = "Do the lengths count ROOT? They must not. If they do not, give the sentences with --conllu FILE"
    else:
        remedy = "Give the numbers of words with --lengths FILE, or the sentences with --conllu FILE"
    raise DeptreeError(problem, remedy)


def _differ(scores: Array, layout: Layout, has_length: bool) -> bool:
    """Whether two scores of the last word differ, as head or as dependent: a glance that settles most sentences."""
    if scores.ndim != 2 or min(scores.shape) < 4 + has_length or layout.root == "last":
        return False
    one, two = float(scores[-1, 1]), float(scores[-1, 2])
    return one != two and _allows(one, layout) and _allows(two, layout)


def _allows(score: float, layout: Layout) -> bool:
    """Whether a score is one of `_unmasked`."""
    return score > -MASK if layout.scale == "log" else score < 0 or score > 0


def _unmasked(scores: Float, layout: Layout) -> Float:
    """The scores that allow an arc, (m,)."""
    flat = scores.ravel()
    forbidden = flat <= -MASK if layout.scale == "log" else flat == 0
    return flat[~(forbidden | np.isnan(flat))]


def _alike(scores: Float) -> bool:
    return bool((scores == scores[0]).all())
