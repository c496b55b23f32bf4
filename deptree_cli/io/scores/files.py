"""Score files, each opened once when something of it is first asked for, as sentences."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import MASK, Array, Float
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted, located
from deptree_cli.io.files.streams import STDIN, place_of, share_read
from deptree_cli.io.scores.arrays import RawScores, ReadSpec, Source, read_lengths, with_lengths
from deptree_cli.io.scores.containers import Entries, ScoreFile, open_scores
from deptree_cli.io.scores.layout import Layout, at_length, cut, text_of, to_head_dep
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.sentence import (
    IN_ORDER,
    LABELS,
    OTHER,
    Companion,
    Sentence,
    Side,
    Warn,
    check_name,
    in_order,
    unheard,
)

if TYPE_CHECKING:
    from deptree_cli.io.conllu.blocks import Block


class ScoreSource:
    """The scores in a file, `place` in messages; their `count` is known from `read` on, in a container with names."""

    def __init__(self, path: str) -> None:
        self.path, self.place = path, place_of(path)
        self.count: int | None = None
        self._opened = ExitStack()

    @cached_property
    def file(self) -> ScoreFile:
        return self._opened.enter_context(open_scores(self.path))

    @property
    def meta(self) -> Meta:
        return self.file.meta

    @property
    def has_words(self) -> bool:
        return getattr(self.file, "words", False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels of which the file holds scores beside those of arcs."""
        return getattr(self.file, "labels", ())

    def layout(self, asked: Layout) -> Layout:
        meta = self.meta  # errors of opening say themselves where they are
        with located(self.place):
            return meta.read_with(asked)

    @contextmanager
    def read(self, layout: Layout, lengths: str | None = None) -> Iterator[Source]:
        """The matrices, once: a mapping for a container with names, else an iterator; `lengths`: a file of these."""
        scores = self.file
        with self._opened:
            source = scores.read(ReadSpec(layout.dimensions, layout.forbidden))
            self.count = len(source) if isinstance(source, Mapping) else None
            yield source if lengths is None else with_lengths(source, read_lengths(lengths), self.place)


def side_of(source: Iterable[Any], scores: ScoreSource) -> Side:
    keys: Any = next((each for each in (source, scores.file) if isinstance(each, Mapping)), ())
    return Side(source, "matrices", scores.place, ordered=scores.meta.ordered, keys=keys)


class Taken(NamedTuple):
    """What is taken of the extras of scores: scores of labels, unless others are given; and `feats`, whether the words
    of any sentence have FEATS, for which rules ask. Of a stream that is known from the first such sentence on."""

    labels: bool = True
    feats: bool = False


TAKEN = Taken()


def sentences_of(
    source: Source, layout: Layout, first: int = 1, taken: Taken = TAKEN
) -> Iterator[Sentence | DeptreeError]:
    """The sentences of scores that lead; the first has this running number."""
    has_feats = False
    if taken.feats:
        from deptree_cli.io.conllu.blocks import has_feats as in_sentence  # few scores come with sentences

        has_feats = isinstance(source, Entries) and any(in_sentence(source.conllu(key)) for key in source)
    for number, raw in enumerate(in_order(source), first):
        try:
            if isinstance(raw, DeptreeError):
                yield raw.at(sent_id=str(number))
                continue
            if taken.feats:
                has_feats = has_feats or in_sentence(raw.extras.conllu)
            yield _alone(raw, number, layout, taken.labels, has_feats)
        except OutOfStep:
            raise
        except DeptreeError as error:
            yield error


def _alone(raw: RawScores, number: int, layout: Layout, takes_labels: bool, has_feats: bool) -> Sentence:
    """A sentence of which there are scores, and maybe the words beside them."""
    sent_id, block = raw.key or str(number), None
    with located(raw.place, sent_id):
        check_name(sent_id)
        scores, n = at_length(raw, layout)
        if raw.padded or raw.length is not None:
            check_not_padding(scores, layout, raw.length is not None)
        if raw.extras.forms and len(raw.extras.forms) != n:
            problem = f"the field forms has {counted(len(raw.extras.forms), 'word')}, the scores have {n}"
            raise DeptreeError(problem, "Check what wrote them, or give the sentences with --conllu")
        if raw.extras.forms:
            from deptree_cli.io.conllu.blocks import block_of  # few scores come with words

            block = block_of(sent_id, raw.extras.forms)
        if raw.extras.conllu:
            block = _own_words(raw, sent_id, n, has_feats)
    found = Sentence(sent_id, number, n, raw.place, block, scores, raw.key, raw.padded, bool(raw.key))
    if takes_labels:
        _add_own_labels(layout, found, raw)
    return found


def _own_words(raw: RawScores, sent_id: str, n: int, has_feats: bool) -> Block:
    from deptree_cli.io.conllu.blocks import Block, split_chunks  # few scores come with sentences

    problem, remedy = "is no sentence", "Check what wrote them, or give the sentences with --conllu"
    chunks = list(split_chunks(BytesIO(raw.extras.conllu), raw.place))
    if len(chunks) == 1:
        block = Block(chunks[0]._replace(feats=has_feats), raw.place)
        if block.n == n and block.sent_id in ("", sent_id):
            return block
        problem = f"has {counted(block.n, 'word')}, the scores {n}" if block.n != n else f"is of {block.sent_id}"
    elif chunks:
        problem = f"has {counted(len(chunks), 'sentence')}"
    raise DeptreeError(f"the CoNLL-U beside the scores {problem}", remedy)


def _add_own_labels(layout: Layout, sentence: Sentence, raw: RawScores) -> None:
    """Add the scores of labels that stand beside those of arcs."""
    if layout.labels is not None or not raw.extras.labels:
        return
    if raw.extras.of_labels is None:
        problem = "the file has scores of labels, but none of this sentence"
        raise DeptreeError(problem, "Leave it out, or give all of them with --label-scores", place=raw.place)
    _add_beside(LABELS, layout.labelled, sentence, replace(raw, scores=raw.extras.of_labels))


def fitted(raw: RawScores, sentence: Sentence, layout: Layout, what: str = "the scores have") -> Array:
    """Scores that belong to a sentence, at its length; OutOfStep if they have another one."""
    with located(raw.place, sentence.sent_id):
        check_name(sentence.sent_id)
        scores, n = at_length(raw, layout)
        if n == sentence.n:
            return scores
        if raw.padded and sentence.n < n:
            return cut(scores, sentence.n, layout)
        at, block = sentence.place, sentence.block
        words = f"the CoNLL-U sentence has {block.n} ({block.place})" if block else f"those at {at} have {sentence.n}"
        raise OutOfStep(f"{what} {counted(n, 'word')}, {words}", f"{IN_ORDER}, with the same tokens")


def _add_scores(layout: Layout, taken: Taken, sentence: Sentence, raw: RawScores) -> None:
    if not sentence.named and raw.key:
        sentence.sent_id, sentence.named = raw.key, True
    sentence.scores = fitted(raw, sentence, layout)
    sentence.place, sentence.key = raw.place, raw.key
    if taken.labels:
        _add_own_labels(layout, sentence, raw)


def _add_beside(role: str, layout: Layout, sentence: Sentence, raw: RawScores) -> None:
    what = "the scores of labels have" if role == LABELS else "the scores have"
    scores = sentence.companions[role] = fitted(raw, sentence, layout, what)
    if role == OTHER and scores.shape != sentence.scores.shape:
        problem = f"the scores have shape {scores.shape}, those at {sentence.place} {sentence.scores.shape}"
        raise OutOfStep(problem, IN_ORDER, place=raw.place, sent_id=sentence.sent_id)


def check_not_padding(scores: Array, layout: Layout, has_length: bool = False) -> None:
    """Raise where the last word of a slice looks like padding.

    It does where all its scores are one number (0, or -10000 in half precision), or where as a dependent it has one
    number for all heads and as a head it is masked (-inf, and -1e15 and below; of weights 0). Scores of a parser are
    never alike to the last bit. A matrix that is all one number may be meant, and is left alone; a last word without
    any head is an error of its own, unless a length made it a word.
    """
    if scores.ndim == 2 and min(scores.shape) >= 4 + has_length and layout.root != "last":
        one, two = map(float, scores[-1, 1:3])  # a glance that settles most sentences
        if one != two and not _forbidden(one, layout) and not _forbidden(two, layout):
            return
    matrix = to_head_dep(scores, layout)
    n = len(matrix) - 1
    as_dependent, as_head = _possible(matrix[:n, n], layout), _possible(matrix[n, 1:n], layout)
    headless = has_length and not len(as_dependent)
    if not headless and (len(as_dependent) < 2 or np.unique(np.concatenate([as_dependent, as_head])).size > 1):
        return
    if np.unique(_possible(matrix[:, 1:][~np.eye(n + 1, dtype=bool)[:, 1:]], layout)).size == 1:
        return
    problem = f"the scores of the last of {counted(n, 'word')} are all alike, as those of padding are"
    remedy = "Give the numbers of words with --lengths FILE, or the sentences with --conllu FILE"
    if has_length:
        remedy = "Do the lengths count ROOT? They must not. If they do not, give the sentences with --conllu FILE"
    raise DeptreeError(problem, remedy)


def _forbidden(scores: Any, layout: Layout) -> Any:
    """Whether scores, or each of an array, forbid an arc or are none."""
    return np.isnan(scores) | ((scores <= -MASK) if layout.scale == "log" else (scores == 0))


def _possible(scores: Float, layout: Layout) -> Float:
    flat = scores.ravel()
    return flat[~_forbidden(flat, layout)]


# What is assumed where nobody answers.
_ASSUMED = {"scale": "as weights", "orient": "heads in rows", "root": "ROOT first"}

PROBABILITIES = "these are probabilities of arcs, as deptree marginals wrote them: reading them as weights"

# From FAR on the sum of a word's weights is not that of probabilities. And weights are exponentials of logits, which
# differ by more than logits do: by SPREAD.
FAR, SPREAD = 0.1, 100.0


def assumptions(scores: ScoreSource, layout: Layout, warn: Warn) -> Callable[[Array], None]:
    """What tells, once, how matrices of a file are read so; the first decides what the numbers look like."""
    told = set[bool]()

    def tell(matrix: Array) -> None:
        square = layout.is_square(matrix.shape)
        if square in told:
            return
        told.add(square)
        said = {name: words for name, words in _ASSUMED.items() if name in layout.assumed(square)}
        if "scale" in said and _look_like_logits(matrix, layout):
            said["scale"] += " (they look like logits: if so, pass --from log)"
        given = f"only --from {known}" if (known := text_of(layout)) else "no --from"
        line = f"{given} given: reading {', '.join(said.values())}; `deptree inspect` shows more" if said else ""
        line = PROBABILITIES if scores.meta.are_probabilities else line
        warn(line, line)

    return tell


def with_assumptions(
    records: Iterable[Sentence | DeptreeError], scores: ScoreSource, layout: Layout, warn: Warn
) -> Iterator[Sentence | DeptreeError]:
    """The sentences of these scores, as they are; what is assumed of them is told."""
    tell = assumptions(scores, layout, warn)
    for record in records:
        if isinstance(record, Sentence):
            tell(record.scores)
        yield record


def _look_like_logits(scores: Array, layout: Layout) -> bool:
    """Whether weights would be odd ones: sums over heads far from 1 for most words, and numbers close together."""
    try:
        matrix = to_head_dep(scores, layout)
    except DeptreeError:
        return False  # raised where the sentence is made
    matrix = matrix.reshape(*matrix.shape[:2], -1).sum(axis=2)
    numbers = matrix[np.isfinite(matrix) & (np.abs(matrix) < MASK) & (matrix != 0)]
    sums = matrix[:, 1:].sum(axis=0), matrix[1:, :].sum(axis=1)  # rows too: the orientation may be assumed
    far = all(np.abs(np.median(each) - 1) > FAR for each in sums)
    return bool(far and numbers.size > 1 and 0 < np.ptp(numbers) < SPREAD)


@dataclass(frozen=True)
class ScoreFiles:
    """One score file, and the paths of what belongs to it, None where there is none.

    Without `label_scores` labels and arcs are scored together. `any_heads`: HEAD of the sentences may be anything, as
    of `Block`. `feats`: rules ask if words of the sentences have FEATS.
    """

    source: ScoreSource
    conllu: str | None = None
    lengths: str | None = None
    label_scores: str | None = None
    gold: str | None = None
    other: ScoreSource | None = None
    any_heads: bool = False
    feats: bool = False

    @property
    def paths(self) -> list[str]:
        """The paths of all that there is, but for the second score file."""
        return [*filter(None, (self.source.path, self.conllu, self.lengths, self.label_scores, self.gold))]

    def read(
        self, layout: Layout, first: int = 1, warn: Warn = unheard, lead: Side | None = None
    ) -> Iterator[Sentence | DeptreeError]:
        """The sentences, each with what there is of it; `lead` instead of a file; `warn` is told what is assumed."""
        if [*self.paths, self.other and self.other.path].count(STDIN) > 1:
            raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
        if self.other is not None and self.lengths == STDIN:
            raise DeptreeError("two score files need the lengths twice", "Give --lengths as a file")
        with ExitStack() as opened:
            source = opened.enter_context(self.source.read(layout, self.lengths))
            if self.conllu or lead or self.other or self.label_scores or self.gold:
                found = self._paired(source, layout, first, warn, lead, opened)
            else:
                found = sentences_of(source, layout, first, self._taken)
            yield from with_assumptions(found, self.source, layout, warn)

    def _paired(
        self, source: Source, layout: Layout, first: int, warn: Warn, lead: Side | None, opened: ExitStack
    ) -> Iterator[Sentence | DeptreeError]:
        from deptree_cli.io.read import read, sentences, trees_in  # scores alone need no pairing

        if self.conllu is not None:
            lead = sentences([self.conllu], first, any_heads=self.any_heads, feats=self.feats)
        scores, companions = side_of(source, self.source), list[Companion]()
        if lead is not None:
            companions.append(Companion(scores, partial(_add_scores, layout, self._taken), shared=True))
        if self.other is not None:
            other = side_of(opened.enter_context(self.other.read(layout, self.lengths)), self.other)
            # an archive that serves several files of sentences has those of the others too
            companions.append(Companion(other, partial(_add_beside, OTHER, layout), shared=self.conllu is not None))
        if self.label_scores is not None:
            labels = ScoreSource(self.label_scores)
            with located(labels.place):
                labels.meta.check_no_results()
            side = replace(side_of(opened.enter_context(labels.read(layout.labelled)), labels), what="label scores")
            companions.append(Companion(side, partial(_add_beside, LABELS, layout.labelled), shared=True))
        companions += [trees_in(self.gold)] if self.gold else []
        alone = replace(scores, items=sentences_of(source, layout, first, self._taken))
        return read(lead or alone, companions, warn)

    @property
    def _taken(self) -> Taken:
        return Taken(self.label_scores is None, self.feats)

    @property
    def leading(self) -> str:
        """The path of the file whose bytes tell how much has been read."""
        return self.conllu or self.source.path


class ScoreStream:
    """The sentences of several score files, one file after another; it knows how far it has come."""

    def __init__(self, files: Sequence[ScoreFiles], layout: Layout, warn: Warn = unheard) -> None:
        self._files, self._layout, self._warn = files, layout, warn
        self._current = self._before = self._read = 0

    def __iter__(self) -> Iterator[Sentence | DeptreeError]:
        for number, files in enumerate(self._files):
            self._current, self._before = number, self._read
            for sentence in files.read(self._layout, self._before + 1, self._warn):
                self._read += 1
                yield sentence

    def total(self) -> int | None:
        """The number of sentences, where the scores alone are read and their container says how many it has."""
        first, *others = self._files
        return None if others or first.conllu else first.source.count

    def share(self) -> float | None:
        """How much of all files has been read, by their sizes; None where that is not known."""
        here = self._files[self._current]
        within = share_read(here.leading)
        if not here.conllu and here.source.count:
            within = (self._read - self._before) / here.source.count
        if len(self._files) == 1 or within is None:
            return within
        with suppress(OSError, ValueError, ZeroDivisionError):
            sizes = [Path(each.leading).stat().st_size for each in self._files]
            return (sum(sizes[: self._current]) + within * sizes[self._current]) / sum(sizes)
        return None
