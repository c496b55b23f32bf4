"""The scores of a sentence pair at the lengths of its sentences, from one direction or from both."""

from __future__ import annotations

from deptree_cli.bitext.files.layout import PairLayout, averaged
from deptree_cli.bitext.files.padding import check_not_padding
from deptree_cli.bitext.files.record import PairRecord
from deptree_cli.bitext.files.text import PairWords
from deptree_cli.bitext.model.scores import LinkScores
from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.scores.arrays import RawScores
from deptree_cli.io.sentence import Sentence

_SAME = "Check that all files hold the same sentence pairs in the same order, with the same words"
_ROWS = "rows are source words, columns target words; if NULL has one of each, pass --null"


# The roles of a pair's scores as read, of those of the other direction, and of its words.
RAW, REVERSE, WORDS = "raw", "reverse", "words"


def record_of(pair: Sentence, layout: PairLayout) -> PairRecord | DeptreeError:
    """Put together what belongs to a sentence pair.

    Args:
        pair: with its companions: `RAW`, and `REVERSE` and `WORDS` if there are such files.

    Returns:
        the record, or the error of what cannot be used.

    Raises:
        OutOfStep: lengths disagree, and nothing but the order says that these belong together.
    """
    raw: RawScores = pair.companions[RAW]
    reverse, text, sent_id = pair.companions.get(REVERSE), pair.companions.get(WORDS), pair.sent_id
    try:
        words = text or _own_words(raw)
        found = layout.link_scores(_fitted(raw, words, layout))
        if reverse is not None:
            found = averaged(found, _turned(reverse, raw.key, found.links.shape, layout))
    except OutOfStep as error:
        raise error.at(raw.place, sent_id) from None
    except DeptreeError as error:
        return error.at(raw.place, sent_id)
    source, target = (words.source, words.target) if words else ((), ())
    return PairRecord(sent_id, pair.number, raw.place, *found, source, target, raw.key)


def _own_words(raw: RawScores) -> PairWords | None:
    """The words that stand beside the scores."""
    return None if raw.pair is None else PairWords(*raw.pair, raw.place)


def _fitted(raw: RawScores, words: PairWords | None, layout: PairLayout) -> Array:
    """The matrix at the lengths of its words, where there are words.

    Raises:
        OutOfStep: a file of words has other lengths.
        DeptreeError: the words beside the scores have other lengths, or nobody tells how long padded sentences are.
    """
    if words is None:
        if raw.length is not None:
            problem = "a sentence pair needs two lengths, but the file has one"
            raise DeptreeError(problem, "Give the words with --text FILE, or save one matrix per sentence pair")
        layout.lengths(raw.scores.shape)
        if raw.padded:
            check_not_padding(raw.scores, layout)
        return raw.scores
    lengths = layout.lengths(raw.scores.shape)
    if lengths == words.lengths or _is_cut(raw, words.lengths, layout):
        return layout.cut(raw.scores, *words.lengths)
    problem = f"the scores are for {_sizes(lengths)} words, but there are {_sizes(words.lengths)} words"
    if words.place == raw.place:
        raise DeptreeError(problem, f"Correct one of them: {_ROWS}")
    raise OutOfStep(f"{problem} at {words.place}", f"{_SAME}: {_ROWS}")


def _turned(reverse: RawScores, key: str | None, lengths: tuple[int, ...], layout: PairLayout) -> LinkScores:
    """The scores of the other direction, turned and at the lengths of this one.

    Raises:
        OutOfStep: they have other lengths, and no name says that they belong here.
        DeptreeError: they cannot be used.
    """
    p, q = lengths
    try:
        own = layout.lengths(reverse.scores.shape)
        if own == (q, p) or _is_cut(reverse, (q, p), layout):
            return layout.link_scores(layout.cut(reverse.scores, q, p)).transposed
    except DeptreeError as error:
        raise error.at(reverse.place) from None
    problem = f"the scores are for {_sizes((p, q))} words, those of the other direction for {_sizes(own)}"
    named = key is not None and key == reverse.key
    remedy = f"For p rows and q columns here, give q rows and p columns there ({reverse.place})"
    raise (DeptreeError if named else OutOfStep)(problem, remedy)


def _is_cut(raw: RawScores, lengths: tuple[int, int], layout: PairLayout) -> bool:
    """Whether a matrix is a padded one of these lengths."""
    padded = layout.lengths(raw.scores.shape)
    return (raw.padded or raw.length is not None) and padded[0] >= lengths[0] and padded[1] >= lengths[1]


def _sizes(lengths: tuple[int, ...]) -> str:
    return "{} and {}".format(*lengths)
