"""Evaluation of files of trees: their words as arrays, sentences of the same text paired, and what is right counted.

What stands in columns becomes numbers, the same for all files of an evaluation: no text is compared twice.

Counts are those of the smallest groups of sentences that all files cut alike. Ids pair sentences of the same text, in
any order. Otherwise the two texts are read one along the other, and sentences belong together from one place where both
files begin a sentence to the next. Where the texts differ, that goes on with the next sentence that both have.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, compress, groupby, islice, pairwise
from typing import Any

import numpy as np

from deptree_cli.core import evaluation as core
from deptree_cli.core.dtypes import Bool, Int, Integers, smallest_type
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.intervals import Score, scores
from deptree_cli.io.conllu.blocks import Block, error_of_tokens, read_blocks_or_errors
from deptree_cli.io.files.streams import open_input, place_of
from deptree_cli.io.pairing import bare, first_difference, nearest, not_there, text_differs
from deptree_cli.io.read import unmarked
from deptree_cli.io.trees import check_acyclic
from deptree_cli.kernels.columns import HEAD, NO_HEAD

_COLUMNS = ("form", "upos", "xpos", "feats", "lemma", "deprel")

# The place in a vocabulary of the labels of enhanced graphs, behind those of columns; heads that are empty nodes.
ARCS, _OF_EMPTY = len(_COLUMNS), -2

# This many sentences become arrays at once; this many units are compared.
_TOGETHER, _UNITS = 1 << 10, 1 << 11


class Numbers(dict[str, int]):
    """The number of each text of a column: that of what is `compared` of it, in the order in which these came."""

    def __init__(self, compared: Callable[[str], str]) -> None:
        self._compared, self._known = compared, dict[str, int]()
        self["_"] = self["_"]

    @property
    def names(self) -> list[str]:
        return list(self._known)

    def __missing__(self, text: str) -> int:
        self[text] = self._known.setdefault(self._compared(text), len(self._known))
        return self[text]


# The numbers of what stands in columns, the same for all files of an evaluation.
Vocabulary = Sequence[Numbers]


def new_vocabulary() -> Vocabulary:
    compared: list[Callable[[str], str]] = [str.lower, str, str, core.universal_features, str, core.universal, str]
    return list(map(Numbers, compared))


def _words_of(items: Sequence[Block | DeptreeError], vocabulary: Vocabulary) -> list[Any]:
    """The words of sentences that have the same columns, as numbers of a vocabulary; of errors no words.

    That is what `FileWords` has, but columns behind the rest, and sizes of sentences instead of starts.
    """
    texts = [_text(item) for item in items]
    blocks = [item for item in items if isinstance(item, Block)]
    lines = b"".join(texts).decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")[:-1]
    table = list(zip(*(line.split("\t") for line in lines), strict=True)) or [()]
    names = blocks[0].columns if blocks else ()
    unknown = ("_",) * len(lines)
    *cells, deps = [table[names.index(name)] if name in names else unknown for name in (*_COLUMNS, "deps")]
    heads = [block.template.words[:, HEAD] for block in blocks]  # type: ignore[index]
    ids, starts = table[0], core.starts_of(np.array([text.count(b"\n") for text in texts]))
    is_word = np.array([each.isdigit() for each in ids], dtype=bool)
    words_before, word_rows = core.starts_of(is_word), np.flatnonzero(is_word)
    covered, is_token = np.zeros(len(word_rows), dtype=bool), is_word.copy()
    for row in (row for row, id_ in enumerate(ids) if "-" in id_):
        first, last = map(int, ids[row].split("-"))
        covered[words_before[row] :][: last - first + 1] = True
        is_token[row] = True
    is_token[word_rows[covered]] = False
    tokens = list(map(bare, compress(cells[core.FORM], is_token.tolist())))
    tokens_before, token_rows = core.starts_of(is_token), np.flatnonzero(is_token)
    token_starts, sizes = tokens_before[starts], np.diff(words_before[starts])
    # forms of words that are tokens are compared without white space
    of_words = [list(compress(each, is_word.tolist())) for each in cells]
    of_words[core.FORM] = [
        form if within else bare(form) for form, within in zip(of_words[core.FORM], covered, strict=True)
    ]
    numbers = [[numbers[text] for text in each] for each, numbers in zip(of_words, vocabulary, strict=False)]
    arcs = [_arcs(cell, vocabulary[ARCS]) for cell in compress(deps, is_word.tolist())]
    kept = [[arc for arc in of_word if arc[0] != _OF_EMPTY] for of_word in arcs]
    arrays = (
        np.array(list(map(len, tokens)), dtype=np.int64),
        token_rows - np.repeat(starts[:-1], np.diff(token_starts)),
        tokens_before[word_rows + 1] - 1 - np.repeat(token_starts[:-1], sizes),
        covered,
        np.concatenate([np.empty(0, dtype=np.int64), *heads]),
        np.array([sum(map(len, arcs)) - sum(map(len, kept))]),
        np.array(list(map(len, kept)), dtype=np.int64),
        *np.array(list(chain(*kept)), dtype=np.int64).reshape(-1, 2).T,
        *map(np.array, numbers),
    )
    # all words of a file stay in memory: in the smallest integers that hold them
    small = [each.astype(smallest_type(int(each.max(initial=1)))) if each is not covered else each for each in arrays]
    return [["".join(tokens[slice(*each)]) for each in pairwise(token_starts)], sizes, np.diff(token_starts), *small]


def _arcs(deps: str, labels: Numbers) -> list[tuple[int, int]]:
    """The heads and labels of a word in the enhanced graph: -1 for what is not a number, -2 for an empty node."""
    found = [arc.partition(":")[::2] for arc in deps.split("|")] if deps != "_" else []
    return [(_number(head), labels[label]) for head, label in found]


def _number(head: str) -> int:
    return int(head) if head.isdecimal() and len(head) < 10 else _OF_EMPTY if "." in head else -1


def _text(item: Block | DeptreeError) -> bytes:
    if isinstance(item, DeptreeError):
        return b""
    text = item.raw[item.template.rows_start : item.template.rows_end]
    return text if text.endswith(b"\n") else text + b"\n"


@dataclass
class TreeFile:
    """The trees of a file, as they were read.

    Attributes:
        place: what messages call the file.
        vocabulary: numbers of what stands there.
        names: the sent_id of each sentence, empty where it has none.
        lines: the number of its first line, and of the line of its first row, one behind the other.
        errors: what is wrong with sentences, by number, from 0.
        of_empty: how many arcs of words in enhanced graphs come from empty nodes; they are left out.
    """

    place: str
    vocabulary: Vocabulary
    names: list[str] = field(default_factory=list)
    lines: array[int] = field(default_factory=lambda: array("q"))
    errors: dict[int, DeptreeError] = field(default_factory=dict)
    of_empty: int = 0
    _waiting: list[Block | DeptreeError] = field(default_factory=list)
    _parts: list[list[Any]] = field(default_factory=list)

    def add(self, item: Block | DeptreeError, name: str = "") -> None:
        """Add a sentence, or what is wrong with one, of which then nothing is known."""
        number = len(self.names)
        self.names.append(name)
        item = item if isinstance(item, DeptreeError) else error_of_tokens(item) or item
        if isinstance(item, DeptreeError):
            self.errors[number] = item
            self.lines.extend((0, 0))
        else:
            self.lines.extend((item.line, item.line + item.raw.count(b"\n", item.start, item.template.rows_start)))
        self._waiting.append(item)
        if len(self._waiting) == _TOGETHER:
            self._flush()

    def _flush(self) -> None:
        for _, run in groupby(self._waiting, lambda item: getattr(item, "columns", None)):  # maybe of several files
            self._parts.append(_words_of(list(run), self.vocabulary))
        self._waiting.clear()

    @cached_property
    def words(self) -> core.FileWords:
        """The words of all sentences; none of those of which nothing is known."""
        self._flush()
        parts, self._parts = self._parts or [_words_of([], self.vocabulary)], []
        texts, *arrays = zip(*parts, strict=True)
        sizes, tokens, lengths, rows, token_of, covered, heads, *rest = map(np.concatenate, arrays)
        starts = core.starts_of(sizes), core.starts_of(tokens)
        self.of_empty = int(rest[0].sum())
        arcs, columns = (core.starts_of(rest[1]), *rest[2:4]), rest[4:]
        return core.FileWords(list(chain(*texts)), *starts, lengths, rows, token_of, covered, columns, heads, *arcs)

    def sent_id(self, number: int) -> str:
        return self.names[number] or str(number + 1)

    def at(self, number: int, row: int | None = None) -> str:
        """``file:line`` of a sentence, or of one of its rows."""
        line, first = self.lines[2 * number : 2 * number + 2]
        return f"{self.place}:{line if row is None else first + row}"

    def check_trees(self) -> None:
        """Note which sentences have heads that make a cycle; some words may have none."""
        words = self.words
        for number in np.flatnonzero(core.cyclic(words)).tolist():
            heads = words.heads[words.words[number] : words.words[number + 1]]
            try:  # a word without a head ends every path, as ROOT does
                check_acyclic(np.maximum(heads, 0).tolist(), self.at(number), self.sent_id(number))
            except DeptreeError as error:
                self.errors.setdefault(number, error)


def read_trees(path: str, vocabulary: Vocabulary, any_heads: bool = False) -> TreeFile:
    """Read a file of CoNLL-U; `-` is standard input. Its heads must be trees, unless they may be anything."""
    found = TreeFile(place_of(path), vocabulary)
    with open_input(path) as file:
        for item in read_blocks_or_errors(file.stream, file.place, any_heads):
            found.add(item, unmarked(item.sent_id))
    if not any_heads:
        found.check_trees()
    return found


# Columns that a gold file may not have, by the metrics that compare them.
OPTIONAL = {"UPOS": core.UPOS, "XPOS": core.XPOS, "UFeats": core.FEATS, "Lemmas": core.LEMMA}

_IDS = "Both files have ids, and sentences are paired by id; --on-error skip leaves this one out"


@dataclass
class Pairing:
    """Groups of sentences that belong together, in the order of the gold file; every gold sentence is in one.

    Attributes:
        spans: of each group the gold sentences (first, end), maybe none, and the system's (start, stop).
        errors: why groups cannot be compared, by their number.
        beyond: what is wrong with sentences that only the system's file has.
    """

    spans: list[tuple[int, int, int, int]] = field(default_factory=list)
    errors: dict[int, DeptreeError] = field(default_factory=dict)
    beyond: list[DeptreeError] = field(default_factory=list)

    def add(self, gold: range, system: range, error: DeptreeError | None = None) -> None:
        if error:
            self.errors[len(self.spans)] = error
        self.spans.append((gold.start, gold.stop, system.start, system.stop))

    @property
    def lost(self) -> int:
        return sum(end - first for first, end, *_ in map(self.spans.__getitem__, self.errors)) + len(self.beyond)


def paired(gold: TreeFile, system: TreeFile) -> Pairing:
    """Pair the sentences of two files: in the way in which fewer sentences are left out; by ids if both are as good."""
    by_ids = _by_ids(gold, system) if _named(gold) and _named(system) else None
    if by_ids is not None and not by_ids.lost:
        return by_ids
    by_text = _by_text(gold, system)
    return by_ids if by_ids is not None and by_ids.lost <= by_text.lost else by_text


def _named(file: TreeFile) -> bool:
    """Whether all sentences have ids, but for those of which nothing is known."""
    made = zip(file.names, file.words.texts, strict=True)  # making words finds errors
    return all(name or number in file.errors for number, (name, _) in enumerate(made))


def _by_ids(gold: TreeFile, system: TreeFile) -> Pairing:
    """The n-th sentence of an id with the n-th of that id."""
    ours, theirs = gold.words.texts, system.words.texts
    if gold.names == system.names and ours == theirs and not (gold.errors or system.errors):
        return Pairing([(number, number + 1) * 2 for number in range(len(ours))])
    places: dict[str, list[int]] = {}
    nameless: list[DeptreeError] = []  # errors of sentences, of which nobody knows which
    for number, name in reversed([*enumerate(system.names)]):  # the first is taken first: the last of a list
        if name:
            places.setdefault(name, []).append(number)
        else:
            nameless.append(system.errors[number])
    found, excused = Pairing(), 0
    for number, name in enumerate(gold.names):
        own, others = range(number, number + 1), range(0)
        error = gold.errors.get(number)
        if not name:
            excused += 1
        elif waiting := places.get(name):
            other = waiting.pop()
            others, error = range(other, other + 1), error or system.errors.get(other)
            if error is None and ours[number] != theirs[other]:
                error, _ = _problem(gold, own, system, others)
        else:
            missing = f"{system.place} has no sentence with this id"
            error = error or (nameless.pop() if nameless else None)
            error = error or DeptreeError(missing, _IDS, place=gold.at(number), sent_id=name)
        found.add(own, others, error)
    left = sorted(number for waiting in places.values() for number in waiting)
    problem, remedy = f"no sentences in {gold.place} have this id", "Check that both files hold the same sentences"
    for number in left if len(left) > excused else ():
        found.beyond.append(DeptreeError(problem, remedy, place=system.at(number), sent_id=system.names[number]))
    return found


def _by_text(gold: TreeFile, system: TreeFile) -> Pairing:
    """Read two texts one along the other; where they differ, go on with the nearest sentences that have one text."""
    (ours, theirs), found = (gold.words.texts, system.words.texts), Pairing()
    g = s = 0
    while g < len(ours) or s < len(theirs):
        if ends := _next_cut(ours, theirs, g, s):
            errors = (gold.errors.get(each) for each in range(g, ends[0]))
            found.add(range(g, ends[0]), range(s, ends[1]), next(filter(None, errors), None))
        else:
            ahead = nearest(islice(ours, g, None), islice(theirs, s, None)) or (len(ours) - g, len(theirs) - s)
            ends = g + ahead[0], s + ahead[1]
            _leave_out(gold, range(g, ends[0]), system, range(s, ends[1]), found)
        g, s = ends
    return found


def _next_cut(ours: Sequence[str], theirs: Sequence[str], g: int, s: int) -> tuple[int, int] | None:
    """Return the next sentences that both files begin in one place, None if the texts differ before that."""
    left, begun = "", 0  # what one side has of a sentence beyond the other
    ahead = False  # whether the gold side has it
    while True:
        number, texts = (s, theirs) if ahead else (g, ours)
        if number == len(texts) or not (piece := texts[number]):
            return None
        g, s = g + (not ahead), s + ahead
        if begun == len(left):
            left, begun, ahead = piece, 0, not ahead
            continue
        rest = len(left) - begun
        if not (left.startswith(piece, begun) if len(piece) <= rest else piece.startswith(left[begun:])):
            return None
        if len(piece) == rest:
            return g, s
        if len(piece) < rest:
            begun += len(piece)
        else:
            left, begun, ahead = piece, rest, not ahead


def _leave_out(gold: TreeFile, ours: range, system: TreeFile, theirs: range, found: Pairing) -> None:
    """Add the gold sentences of a stretch that cannot be compared, each with the reason, and what lies beyond them."""
    reason, broken = _problem(gold, ours, system, theirs)
    for number in ours:
        error = gold.errors.get(number) or (reason if number == broken else None)
        if error is None:
            problem = f"cannot tell which text belongs to it: that of {gold.sent_id(broken)} differs"
            remedy, place = "Correct that one, or pass --on-error skip to leave out both", gold.at(number)
            error = DeptreeError(problem, remedy, place=place, sent_id=gold.sent_id(number))
        found.add(range(number, number + 1), theirs if number == ours.start else range(0), error)
    for number in theirs[len(ours) :]:  # more than the gold sentences, which are told of broken ones
        if not (ours and number in system.errors):
            found.beyond.append(_problem(gold, range(ours.stop, ours.stop), system, range(number, number + 1))[0])


def _problem(gold: TreeFile, ours: Sequence[int], system: TreeFile, theirs: Sequence[int]) -> tuple[DeptreeError, int]:
    """What is wrong with a stretch (a sentence is broken, or texts differ), and with which gold sentence, or -1."""
    if broken := [system.errors[number] for number in theirs if number in system.errors]:
        return broken[0], ours[0] if ours else -1
    one, two = ("".join(file.words.texts[each] for each in some) for file, some in ((gold, ours), (system, theirs)))
    at = first_difference(one, two)
    other, there = _place(system, theirs, at)
    if not ours:
        return not_there(gold.place).at(other, system.sent_id(there)), -1
    place, here = _place(gold, ours, at)
    return text_differs(one, two, other).at(place, gold.sent_id(here)), here


def _place(file: TreeFile, sentences: Sequence[int], at: int) -> tuple[str, int]:
    """The line of a character of some sentences, or of the last token if it comes behind them, and the sentence."""
    words = file.words
    for number in sentences:
        if at < len(words.texts[number]) or number == sentences[-1]:
            first, end = words.tokens[number : number + 2]
            token = min(int(np.searchsorted(np.cumsum(words.lengths[first:end]), at, side="right")), end - first - 1)
            return file.at(number, int(words.rows[first + token]) if end > first else 0), number
        at -= len(words.texts[number])
    return file.place, -1


@dataclass(frozen=True, eq=False)
class Units:
    """What is counted of some units: gold sentences, or groups of several that a system has cut otherwise.

    Attributes:
        sentences: how many of the gold file each has, (units,).
        words: how many gold words all have.
        scores: (units, systems, metrics, 4), of `METRICS`.
        refused: of all units, how many trees, also of systems, have each of `REFUSED`.
        filled: how many gold words have something in each column of `OPTIONAL`.
        missing: (files, 2), how many words have no head, and how many no label.
        classes: for each system the words of each class, of all units: right, gold, predicted.
        confusions: for each system the words by both labels, of all units; empty if nobody asked.
        fourfold: of two systems, (cells, 4): unit, number of a label, who is right, how many words; None if not asked.
        labels: the names of labels by number.
        names: the sent_id of the first sentence of each unit; empty if nobody asked.
        foreign: for each file how many words have each label that is not a relation of Universal Dependencies.
        of_empty: for each file how many arcs of enhanced graphs are left out, as they come from empty nodes.
        of: how many sentences the gold file has, how many words, and whether more that cannot be read.
    """

    sentences: Int
    words: int
    scores: Integers
    refused: Int
    filled: Int
    missing: Int
    classes: Sequence[Sequence[Counter[core.Class]]]
    foreign: Sequence[Counter[str]]
    of_empty: Sequence[int]
    of: tuple[int, int, bool]
    confusions: Sequence[Counter[core.Confusion]] = ()
    fourfold: Integers | None = None
    labels: Sequence[str] = ()
    names: Sequence[str] = ()

    sent_id, place, weight = "", "", 0  # as items of a run have


def _joined(gold: TreeFile, pairings: Sequence[Pairing]) -> tuple[Int, dict[int, DeptreeError], Bool]:
    """The units of a gold file and several systems: the smallest with a cut on both sides that all files have.

    Of each gold sentence the unit; the errors of those that are left out, all of their units; which units are kept.
    """
    n = len(gold.names)
    cuts = set(range(n)).intersection(*({first for first, *_ in pairing.spans} for pairing in pairings))
    unit_of, errors = np.cumsum([number in cuts for number in range(n)], dtype=np.int64) - 1, dict[int, DeptreeError]()
    for pairing in pairings:
        for group, error in pairing.errors.items():
            first, end, *_ = pairing.spans[group]
            if end > first:
                errors.setdefault(first, error)
    kept = np.ones(int(unit_of.max(initial=-1)) + 1, dtype=bool)
    kept[unit_of[[*errors]]] = False
    for number in np.flatnonzero(~kept[unit_of]).tolist():
        problem = "a system splits the text differently here, and another sentence of this stretch is left out"
        place, sent_id = gold.at(number), gold.sent_id(number)
        left_out = DeptreeError(problem, "Correct that one", place=place, sent_id=sent_id)
        errors.setdefault(number, gold.errors.get(number) or left_out)
    return unit_of, errors, kept


@dataclass(frozen=True)
class Detail:
    """What is counted beside metrics: words by kinds of classes, confusions of labels; `names`: of which sentences."""

    kinds: Sequence[core.Classes] = ()
    confusions: bool = False
    names: bool = False


def compared(
    gold: TreeFile, systems: Sequence[TreeFile], detail: Detail = Detail(), no_punct: bool = False
) -> Iterator[Units | DeptreeError]:
    """Compare files of trees with gold trees.

    Yields:
        errors of gold sentences that cannot be compared, then those of sentences that only a system has; units in the
        order of the gold file.
    """
    pairings = [paired(gold, system) for system in systems]
    unit_of, errors, kept = _joined(gold, pairings)
    yield from (errors[number] for number in sorted(errors))
    for pairing in pairings:
        yield from pairing.beyond
    # of each file the words, the numbers of sentences that are compared, and the units that these count for
    compares, numbers = kept[unit_of], (np.cumsum(kept) - 1)[unit_of]
    sentences = np.flatnonzero(compares)
    sides = [(gold.words, sentences, numbers[sentences])]
    for system, pairing in zip(systems, pairings, strict=True):
        groups = np.array(pairing.spans, dtype=np.int64).reshape(-1, 4)
        groups = groups[groups[:, 1] > groups[:, 0]]
        first, _, start, stop = groups[compares[groups[:, 0]]].T
        own = np.arange((stop - start).sum()) + np.repeat(start - core.starts_of(stop - start)[:-1], stop - start)
        sides.append((system.words, own, numbers[np.repeat(first, stop - start)]))
    of = len(gold.names), len(gold.words.heads), not gold.words.sizes.all()
    labels = gold.vocabulary[core.DEPREL].names
    of_empty = [file.of_empty for file in (gold, *systems)]
    with_arcs = all(len(words.arc_heads) for words, *_ in sides)
    arc_labels = gold.vocabulary[ARCS].names if with_arcs else ()
    known = np.array([number == core.MISSING or label in core.RELATIONS for number, label in enumerate(labels)])
    for begin in range(0, int(kept.sum()), _UNITS):
        parts, units = list[core.FileWords](), list[Int]()
        for words, chosen, of_units in sides:
            some = slice(*np.searchsorted(of_units, [begin, begin + _UNITS]))
            parts.append(words.taken(chosen[some]))
            units.append(of_units[some] - begin)
        ours, *others = parts
        comparisons = [core.Comparison(ours, part, labels, no_punct, arc_labels) for part in others]
        counts = [each.counts(units[0], own) for each, own in zip(comparisons, units[1:], strict=True)]
        refusals: Int = np.sum([[each.sum() for each in core.refused(part)] for part in parts], axis=0)
        filled = np.array([(ours.columns[each] != core.MISSING).sum() for each in OPTIONAL.values()])
        missing = np.array(
            [[(part.heads == NO_HEAD).sum(), (part.columns[core.DEPREL] == core.MISSING).sum()] for part in parts]
        )
        classes = [
            next(core.by_class(each, detail.kinds, np.array([0, len(ours.heads)]), np.array([0, len(part.heads)])))
            for each, part in zip(comparisons, others, strict=True)
        ]
        foreign = list[Counter[str]]()
        for part in parts:
            odd, times = np.unique(part.columns[core.DEPREL][~known[part.columns[core.DEPREL]]], return_counts=True)
            foreign.append(Counter(dict(zip(map(labels.__getitem__, odd.tolist()), times.tolist(), strict=True))))
        sizes, of_systems = np.bincount(units[0]), np.stack(counts, axis=1)
        found = Units(sizes, len(ours.heads), of_systems, refusals, filled, missing, classes, foreign, of_empty, of)
        if detail.confusions:
            joint = core.fourfold(comparisons[0], comparisons[1], units[0]) if len(systems) > 1 else None
            found = replace(found, confusions=list(map(core.confusions, comparisons)), fourfold=joint, labels=labels)
        if detail.names:
            first_of_units = sentences[np.searchsorted(sides[0][2], begin + np.arange(len(sizes)))]
            found = replace(found, names=list(map(gold.sent_id, first_of_units.tolist())))
        yield found


def compared_files(
    gold: str, systems: Sequence[str], detail: Detail = Detail(), no_punct: bool = False
) -> Iterator[Units | DeptreeError]:
    vocabulary = new_vocabulary()
    first = read_trees(gold, vocabulary)
    yield from compared(first, [read_trees(each, vocabulary, True) for each in systems], detail, no_punct)


@dataclass(frozen=True)
class Evaluated:
    """Scores of a system, and of a second one beside it, by metric: ``evaluated["LAS"].f1.value``.

    Attributes:
        scores: those of the system.
        other: those of the second system; empty without one.
        differences: the second system's scores minus the first's, with p-values.
        sentences, words: the numbers of gold sentences and words compared.
        units: the number of resampled groups of sentences; fewer than sentences if a system splits these differently.
    """

    scores: Mapping[str, Score]
    other: Mapping[str, Score] = field(default_factory=dict)
    differences: Mapping[str, Score] = field(default_factory=dict)
    sentences: int = 0
    words: int = 0
    units: int = 0

    def __getitem__(self, metric: str) -> Score:
        return self.scores[metric]


def evaluate(
    gold: str,
    system: str,
    other: str | None = None,
    *,
    no_punct: bool = False,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 1,
    on_error: Callable[[DeptreeError], None] | None = None,
) -> Evaluated:
    """Compare parsed trees with gold trees as ``deptree eval`` does: words are aligned by their characters.

    Args:
        gold, system, other: paths of CoNLL-U of the same text, whatever its tokens, words and sentences are; `other` is
            a second system.
        no_punct: whether UAS and LAS leave out punctuation.
        confidence, resamples, seed: of bootstrap intervals and of the paired test.
        on_error: called with the error of each sentence that cannot be compared, which is then left out.

    Raises:
        DeptreeError: a file cannot be read, there is nothing to compare, or (without `on_error`) a sentence cannot be.
    """
    units = []
    for each in compared_files(gold, [system] if other is None else [system, other], no_punct=no_punct):
        if not isinstance(each, DeptreeError):
            units.append(each)
        elif on_error is None:
            raise each
        else:
            on_error(each)
    if not units:
        raise DeptreeError("there is no sentence to evaluate", "Give files with sentences of the same text", place=gold)
    counts = np.concatenate([each.scores for each in units])
    counts, metrics = core.informative(counts)
    systems, less = scores(counts, metrics, confidence, resamples, seed)
    found = [{score.metric: score for score in each} for each in (*systems, less)]
    sizes = sum(int(each.sentences.sum()) for each in units), sum(each.words for each in units), len(counts)
    return Evaluated(found[0], found[1] if other else {}, found[-1], *sizes)
