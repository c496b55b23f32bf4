"""Score files, each opened once when something of it is first asked for, and what stands beside them, as sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array, Float
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted, fits_a_line
from deptree_cli.core.scores import MASK
from deptree_cli.io.files.streams import STDIN, place_of, share_read
from deptree_cli.io.scores.arrays import RawScores, ReadSpec, Source, read_lengths, with_lengths
from deptree_cli.io.scores.containers import ScoreFile, open_scores
from deptree_cli.io.scores.layout import Layout, cut, text_of, to_head_dep, words_in
from deptree_cli.io.scores.meta import Meta
from deptree_cli.io.sentence import LABELS, OTHER, Companion, Sentence, Side, Warn, in_order, unheard


class ScoreSource:
    """The scores in a file; `-` is standard input.

    `place` is what messages call it. The `count` of matrices is known in a container with names, from `read` on.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.place = place_of(path)
        self.count: int | None = None
        self._opened = ExitStack()

    @cached_property
    def _file(self) -> ScoreFile:
        return self._opened.enter_context(open_scores(self.path))

    @property
    def meta(self) -> Meta:
        return self._file.meta

    @property
    def keys(self) -> Collection[str]:
        return self._file if isinstance(self._file, Mapping) else ()

    def layout(self, asked: Layout) -> Layout:
        meta = self.meta
        try:
            return meta.read_with(asked)
        except DeptreeError as error:
            raise error.at(self.place) from None

    def check_no_results(self) -> None:
        """Raise if the file says that it holds results, with the file's name."""
        try:
            self.meta.check_no_results()
        except DeptreeError as error:
            raise error.at(self.place) from None

    @property
    def has_words(self) -> bool:
        return getattr(self._file, "words", False)

    @contextmanager
    def read(self, layout: Layout, lengths: str | None = None) -> Iterator[Source]:
        """The matrices, once: a mapping for a container with names, else an iterator.

        Args:
            layout: how they are laid out.
            lengths: a file with the lengths of a padded batch.
        """
        scores = self._file
        with self._opened:
            source = scores.read(ReadSpec(layout.dimensions, layout.forbidden))
            self.count = len(source) if isinstance(source, Mapping) else None
            yield source if lengths is None else with_lengths(source, read_lengths(lengths), self.place)


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
    sent_id, block = raw.key or str(number), None
    try:
        check_name(sent_id)
        scores, n = _at_length(raw, layout)
        if raw.padded or raw.length is not None:
            check_not_padding(scores, layout, raw.length is not None)
        if raw.forms and len(raw.forms) != n:
            problem = f"the field forms has {counted(len(raw.forms), 'word')}, the scores have {n}"
            raise DeptreeError(problem, "Check what wrote them, or give the sentences with --conllu")
        if raw.forms:
            from deptree_cli.io.conllu.blocks import block_of  # few scores come with words

            block = block_of(sent_id, raw.forms)
    except DeptreeError as error:
        raise error.at(raw.place, sent_id) from None
    return Sentence(sent_id, number, n, raw.place, block, scores, raw.key, raw.padded, bool(raw.key))


def check_name(sent_id: str) -> None:
    if not fits_a_line(sent_id):
        raise DeptreeError("the sentence's name holds a control character", "Rename it")


def _at_length(raw: RawScores, layout: Layout) -> tuple[Array, int]:
    scores = raw.scores if raw.length is None else cut(raw.scores, raw.length, layout)
    return scores, words_in(scores.shape, layout)


def fitted(raw: RawScores, sentence: Sentence, layout: Layout, what: str = "the scores have") -> Array:
    """Scores that belong to a sentence, at its length; OutOfStep if they have another one."""
    try:
        check_name(sentence.sent_id)
        scores, n = _at_length(raw, layout)
        if n == sentence.n:
            return scores
        if raw.padded and sentence.n < n:
            return cut(scores, sentence.n, layout)
        at, block = sentence.place, sentence.block
        words = f"the CoNLL-U sentence has {block.n} ({block.place})" if block else f"those at {at} have {sentence.n}"
        raise OutOfStep(f"{what} {counted(n, 'word')}, {words}", f"{SAME}, with the same tokens")
    except DeptreeError as error:
        raise error.at(raw.place, sentence.sent_id) from None


def add_scores(layout: Layout, sentence: Sentence, raw: RawScores) -> None:
    if not sentence.named and raw.key:
        sentence.sent_id, sentence.named = raw.key, True
    sentence.scores = fitted(raw, sentence, layout)
    sentence.place, sentence.key = raw.place, raw.key


def add_other(layout: Layout, sentence: Sentence, raw: RawScores) -> None:
    scores = sentence.companions[OTHER] = fitted(raw, sentence, layout)
    if scores.shape != sentence.scores.shape:
        problem = f"the scores have shape {scores.shape}, those at {sentence.place} {sentence.scores.shape}"
        raise OutOfStep(problem, SAME, place=raw.place, sent_id=sentence.sent_id)


def add_labels(layout: Layout, sentence: Sentence, raw: RawScores) -> None:
    """Add the scores of its labels, (n, n+1, L) or alike."""
    sentence.companions[LABELS] = fitted(raw, sentence, layout, "the scores of labels have")


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
    if has_length:
        remedy = "Do the lengths count ROOT? They must not. If they do not, give the sentences with --conllu FILE"
    else:
        remedy = "Give the numbers of words with --lengths FILE, or the sentences with --conllu FILE"
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

# From here on the sum of a word's weights is not that of probabilities.
FAR = 0.1

# Weights are exponentials of logits, which differ by more than logits do.
SPREAD = 100.0


class Assumptions:
    """The line about the sentences of a file that are read so."""

    def __init__(self, meta: Meta, layout: Layout) -> None:
        self._meta, self._layout = meta, layout
        self._lines: dict[bool, str] = {}

    def line(self, scores: Array) -> str:
        """Return it, empty if nothing is assumed; the first matrix decides what the numbers look like."""
        layout, square = self._layout, self._layout.is_square(scores.shape)
        if square not in self._lines:
            said = {name: words for name, words in _ASSUMED.items() if name in layout.assumed(square)}
            if "scale" in said and look_like_logits(scores, layout):
                said["scale"] += " (they look like logits: if so, pass --from log)"
            given = f"only --from {known}" if (known := text_of(layout)) else "no --from"
            line = f"{given} given: reading {', '.join(said.values())}; `deptree inspect` shows more" if said else ""
            self._lines[square] = PROBABILITIES if self._meta.are_probabilities else line
        return self._lines[square]


def with_assumptions(
    records: Iterable[Sentence | DeptreeError], scores: ScoreSource, layout: Layout, warn: Warn
) -> Iterator[Sentence | DeptreeError]:
    """The sentences of these scores, as they are; what is assumed of them is told."""
    assumptions = Assumptions(scores.meta, layout)
    for record in records:
        if isinstance(record, Sentence):
            line = assumptions.line(record.scores)
            warn(line, line)
        yield record


def look_like_logits(scores: Array, layout: Layout) -> bool:
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
        found = (self.source.path, self.conllu, self.lengths, self.label_scores, self.gold)
        return [path for path in found if path is not None]

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
            if not (self.conllu or lead or self.other or self.label_scores or self.gold):
                yield from with_assumptions(sentences_of(source, layout, first), self.source, layout, warn)
                return
            from deptree_cli.io.read import read, sentences, trees_in  # scores alone need no pairing

            if self.conllu is not None:
                lead = sentences([self.conllu], first, any_heads=self.any_heads, feats=self.feats)
            scores, companions = side_of(source, self.source), list[Companion]()
            if lead is not None:
                companions.append(Companion(scores, partial(add_scores, layout), shared=True))
            if self.other is not None:
                other = side_of(opened.enter_context(self.other.read(layout, self.lengths)), self.other)
                # an archive that serves several files of sentences has those of the others too
                companions.append(Companion(other, partial(add_other, layout), shared=self.conllu is not None))
            if self.label_scores is not None:
                labels = ScoreSource(self.label_scores)
                labels.check_no_results()
                side = replace(side_of(opened.enter_context(labels.read(layout.labelled)), labels), what="label scores")
                companions.append(Companion(side, partial(add_labels, layout.labelled), shared=True))
            companions += [trees_in([self.gold])] if self.gold else []
            lead = lead or replace(scores, items=sentences_of(source, layout, first))
            yield from with_assumptions(read(lead, companions, warn), self.source, layout, warn)

    @property
    def share(self) -> float | None:
        """How much has been read by now, from 0 to 1, if the bytes tell: those of the sentences, if there are any."""
        return share_read(self.conllu or self.source.path)

    @property
    def size(self) -> int | None:
        """The number of bytes of what `share` is of."""
        with suppress(OSError, ValueError):
            return Path(self.conllu or self.source.path).stat().st_size
        return None


def side_of(source: Iterable[Any], scores: ScoreSource) -> Side:
    keys = source if isinstance(source, Mapping) else scores.keys
    return Side(source, "matrices", scores.place, ordered=scores.meta.ordered, keys=keys)


class ScoreStream:
    """The sentences of several score files, one file after another; it knows how far it has come."""

    def __init__(self, files: Sequence[ScoreFiles], layout: Layout, warn: Warn = unheard) -> None:
        self._files = files
        self._layout, self._warn = layout, warn
        self._current = 0
        self._before = 0
        self._read = 0

    def __iter__(self) -> Iterator[Sentence | DeptreeError]:
        for number, files in enumerate(self._files):
            self._current, self._before = number, self._read
            for sentence in files.read(self._layout, self._before + 1, self._warn):
                self._read += 1
                yield sentence

    def total(self) -> int | None:
        """The number of sentences, where the scores alone are read and their container says how many it has."""
        one = len(self._files) == 1 and not self._files[0].conllu
        return self._files[0].source.count if one else None

    def share(self) -> float | None:
        """How much of all files has been read, by their sizes; None where that is not known."""
        here = self._files[self._current]
        within = here.share
        if not here.conllu and here.source.count:
            within = (self._read - self._before) / here.source.count
        if len(self._files) == 1 or within is None:
            return within
        sizes = [each.size for each in self._files]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes) or not sum(known):
            return None
        return (sum(known[: self._current]) + within * known[self._current]) / sum(known)
