"""Several files of the same sentences, read together: scores in any layouts, and anybody's trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.read import read, sentences
from deptree_cli.io.scores.files import Assumptions, side_of, with_assumptions
from deptree_cli.io.scores.fitting import fitted, sentences_of
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.scores.raw import RawScores
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sentence import Companion, Sentence, Side, Warn, unheard
from deptree_cli.io.trees.sets import TreeSet, sets_beside, sets_in


@dataclass(frozen=True)
class Member:
    """One of the files.

    Attributes:
        path: as the user gave it.
        scores: the opened score file, None for a file of trees.
        layout: of the scores.
    """

    path: str
    scores: ScoreSource | None = None
    layout: Layout | None = None


def read_several(
    members: Sequence[Member], conllu: str | None = None, others: Sequence[Companion] = (), warn: Warn = unheard
) -> Iterator[Sentence | DeptreeError]:
    """The sentences of all files, in the order of those in CoNLL-U, else of the first file.

    What the n-th file has of a sentence, `RawScores` or a `TreeSet`, is its companion `n`: "0", "1", ...

    Raises:
        DeptreeError: the files do not hold the same sentences (`io.read`).
    """
    with ExitStack() as opened:
        rest = list(enumerate(members))
        lead = sentences([conllu]) if conllu is not None else _leading(rest.pop(0)[1], warn, opened)
        companions = [_companion(each, str(number), conllu is not None, warn, opened) for number, each in rest]
        yield from read(lead, [*companions, *others], warn)


def of_member(sentence: Sentence, number: int) -> RawScores | TreeSet:
    """What the file of this number has of a sentence."""
    found: RawScores | TreeSet = sentence.companions[str(number)]
    return found


def _leading(member: Member, warn: Warn, opened: ExitStack) -> Side:
    """The first file where it leads."""
    if member.scores is None or member.layout is None:
        return sets_in(member.path, "0")
    side = side_of(opened.enter_context(member.scores.read(member.layout)), member.scores)
    found = with_assumptions(sentences_of(side.items, member.layout), member.scores, member.layout, warn)
    return replace(side, items=map(_with_own_scores, found))


def _with_own_scores(found: Sentence | DeptreeError) -> Sentence | DeptreeError:
    if not isinstance(found, DeptreeError):
        found.companions["0"] = RawScores(found.key, found.scores, found.place)
    return found


def _companion(member: Member, role: str, shared: bool, warn: Warn, opened: ExitStack) -> Companion:
    """A file beside what leads; `shared`: whether its scores may be of other sentences too."""
    if member.scores is None or member.layout is None:
        return sets_beside(member.path, role)
    add = partial(_add, role, member.layout, Assumptions(member.scores.meta, member.layout), warn)
    return Companion(side_of(opened.enter_context(member.scores.read(member.layout)), member.scores), add, shared)


def _add(role: str, layout: Layout, assumptions: Assumptions, warn: Warn, sentence: Sentence, raw: RawScores) -> None:
    try:
        found = replace(raw, scores=fitted(raw, sentence, layout, "the scores have"))
    except DeptreeError as error:
        raise error.at(raw.place, sentence.sent_id) from None
    sentence.companions[role] = found
    line = assumptions.line(found.scores)
    warn(line, line)
