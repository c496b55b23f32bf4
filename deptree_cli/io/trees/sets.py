"""The trees of each sentence: of an annotator, of a parser, or samples; alone, beside other files, with scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count, groupby
from operator import attrgetter
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array, Heads, Int
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import UNKNOWN
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.pairing import LOST, OPEN, TOKENS, Aligned, Tokens, aligned_words, words_of
from deptree_cli.io.read import check_words, read, sentences
from deptree_cli.io.scores.arrays import RawScores
from deptree_cli.io.scores.files import ScoreSource, assumptions, fitted, sentences_of, side_of, with_assumptions
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.sentence import TREES, Companion, Sentence, Side, Warn, unheard
from deptree_cli.io.trees import GivenTree, number_of, read_trees, sentence_of

_DISTINCT = "these trees were sampled without replacement (swor), so each has a weight of its own"

# The role of the sentence with scores that a tree belongs to.
_SCORED = "scored"


@dataclass(eq=False)  # not frozen, which costs two microseconds a sentence
class TreeSet:
    """Trees of a sentence in one file.

    Attributes:
        sent_id: without the mark of a sample; empty if the file does not name sentences.
        place: where the first was read.
        heads: (k, n), -1 where a word has none.
        times: (k,), how often each is there.
        labels: n names of each, ``_`` where a word has none; or none.
        tree_names: what the file calls each, if anybody asks for that.
        tokens: the words; None if the file has none.
        block: the first as CoNLL-U; workers do without, and without tokens.
        aligned: which words belong to which of the sentence that it is read beside.
    """

    sent_id: str
    place: str
    heads: Heads
    times: Int
    labels: tuple[tuple[str, ...], ...] = ()
    tree_names: tuple[str, ...] = ()
    tokens: Tokens | None = None
    block: Block | None = None
    aligned: Aligned = None

    @property
    def names(self) -> Sequence[str]:
        return [self.sent_id] if self.sent_id else []

    @property
    def n(self) -> int:
        return self.heads.shape[1]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "block": None, "tokens": None}

    def renumbered(self, aligned: Aligned, n: int) -> TreeSet:
        """The trees by the n words of another sentence; `LOST` are words that belong to none, or whose head does."""
        if aligned is None:
            return self
        own, others = aligned
        names = np.full(self.n + 2, LOST, dtype=self.heads.dtype)
        names[0], names[OPEN], names[others + 1] = 0, OPEN, own + 1
        heads = np.full((len(self.heads), n), LOST, dtype=self.heads.dtype)
        heads[:, own] = names[self.heads[:, others]]
        labels = np.full((len(self.labels), n), UNKNOWN, dtype=object)
        labels[:, own] = np.array(self.labels, dtype=object).reshape(-1, self.n)[:, others]
        return replace(self, heads=heads, labels=tuple(map(tuple, labels.tolist())))


def read_sets(path: str) -> Iterator[TreeSet | DeptreeError]:
    """The trees of each sentence of a file, which stand together; an error among them stands for all of its sentence.

    Trees without a name are of a sentence each. An error without one is of the sentence on both sides of it, or of the
    next if the numbers of its samples begin above 1, or of that in front if this has several trees; else of its own.

    Raises:
        DeptreeError: reading cannot begin or go on.
    """
    group: list[GivenTree | DeptreeError] = []
    nameless: list[GivenTree | DeptreeError] = []
    for tree in chain(read_trees(path, named=False, any_heads=True), [None]):
        if isinstance(tree, DeptreeError) and not tree.sent_id:
            nameless.append(tree)
            continue
        if tree is None or not (group and _belongs(tree, group)):
            of_next = tree is not None and nameless and number_of(tree) > 1
            if not of_next and len(group) > 1:
                group, nameless = [*group, *nameless], []
            yield from map(_together, filter(None, [group, *([] if of_next else [each] for each in nameless)]))
            group, nameless = [], nameless if of_next else []
        group += [*nameless, *([tree] if tree else [])]
        nameless = []


def _belongs(tree: GivenTree | DeptreeError, group: Sequence[GivenTree | DeptreeError]) -> bool:
    name, last = sentence_of(tree), group[-1]
    other = isinstance(tree, GivenTree) and isinstance(last, GivenTree) and len(tree.heads) != len(last.heads)
    return bool(name) and name == _name(group) and not other


def _name(group: Sequence[GivenTree | DeptreeError]) -> str:
    return next(filter(None, map(sentence_of, group)), "")


def _together(group: Sequence[GivenTree | DeptreeError]) -> TreeSet | DeptreeError:
    times: dict[tuple[tuple[int, ...], tuple[str, ...]], int] = {}
    for tree in group:
        if isinstance(tree, GivenTree) and tree.distinct:
            tree = DeptreeError(_DISTINCT, "Give trees written by `sample`", place=tree.place)
        if isinstance(tree, DeptreeError):
            tree.sent_id = _name(group)
            return tree
        both = tree.heads, tree.labels
        times[both] = times.get(both, 0) + tree.times
    heads, labels = zip(*times, strict=True)
    arrays = np.array(heads, dtype=np.int32), np.array([*times.values()], dtype=np.int64)
    first: GivenTree = group[0]  # type: ignore[assignment]  # as are the others
    tokens = Tokens(first.forms, first.block)
    named, words = labels if all(labels) else (), tokens if tokens.known else None
    return TreeSet(sentence_of(first), first.place, *arrays, named, tokens=words, block=first.block)


@dataclass(frozen=True)
class Member:
    """A score file as it was opened and is laid out, or (without) a file of trees; `blocks`: whose CoNLL-U is kept."""

    path: str
    scores: ScoreSource | None = None
    layout: Layout | None = None
    blocks: bool = False


def read_several(
    members: Sequence[Member], conllu: str | None = None, others: Sequence[Companion] = (), warn: Warn = unheard
) -> Iterator[Sentence | DeptreeError]:
    """The sentences of all files, in the order of those in CoNLL-U, else of the first; companion "n" is of the n-th.

    Scores that lead are the sentence's own.
    """
    with ExitStack() as opened:
        rest = list(enumerate(members))
        if conllu is not None:
            lead = replace(sentences([conllu]), tokens=words_of)
        else:
            lead = _leading(rest.pop(0)[1], warn, opened)
        companions = [_companion(each, str(number), conllu is not None, warn, opened) for number, each in rest]
        yield from read(lead, [*companions, *others], warn)


def _leading(member: Member, warn: Warn, opened: ExitStack) -> Side:
    def with_trees(found: TreeSet | DeptreeError, number: int) -> Sentence | DeptreeError:
        if isinstance(found, DeptreeError):
            return found
        name, beside = found.sent_id, {"0": found, TOKENS: found.tokens}
        block = found.block if member.blocks else None
        return Sentence(name or str(number), number, found.n, found.place, block, named=bool(name), companions=beside)

    if member.scores is None or member.layout is None:
        trees = map(with_trees, read_sets(member.path), count(1))
        return Side(trees, "sentences", place_of(member.path), tokens=words_of)
    side = side_of(opened.enter_context(member.scores.read(member.layout)), member.scores)
    items = with_assumptions(sentences_of(side.items, member.layout), member.scores, member.layout, warn)
    return replace(side, items=items, tokens=words_of)


def _companion(member: Member, role: str, shared: bool, warn: Warn, opened: ExitStack) -> Companion:
    """A file beside what leads; `shared`: whether its scores may be of other sentences too."""
    if member.scores is None or member.layout is None:
        side = Side(read_sets(member.path), "sentences", place_of(member.path), tokens=attrgetter("tokens"))
        return Companion(side, partial(_add_trees, role))
    add = partial(_add_scores, role, member.layout, assumptions(member.scores, member.layout, warn))
    return Companion(side_of(opened.enter_context(member.scores.read(member.layout)), member.scores), add, shared)


def _add_trees(role: str, sentence: Sentence, found: TreeSet) -> None:
    own = words_of(sentence)
    if own is None or found.tokens is None:
        check_words(found, sentence, sentence, "--conllu FILE")
    aligned = aligned_words(own, found.tokens, found.place)
    sentence.companions[role] = found if aligned is None else replace(found, aligned=aligned)


def _add_scores(role: str, layout: Layout, tell: Callable[[Array], None], sentence: Sentence, raw: RawScores) -> None:
    found = replace(raw, scores=fitted(raw, sentence, layout))
    sentence.companions[role] = found
    tell(found.scores)


def scored_trees(
    trees: Iterable[GivenTree | DeptreeError], scored: Side, place: str, warn: Warn = unheard
) -> Iterator[Sentence | DeptreeError]:
    """Sentences with scores, in the order of their trees, which stand together: sentences are not kept.

    Sentences are found by name, also by running numbers, for trees are often named by these; else by order, a tree
    each. `place` is that of trees, for messages.
    """

    def alone(tree: GivenTree | DeptreeError, number: int) -> Sentence | DeptreeError:
        if isinstance(tree, DeptreeError):
            return tree
        return Sentence(tree.sent_id or str(number), number, len(tree.heads), tree.place, companions={TREES: tree})

    def add(tree: Sentence, sentence: Sentence) -> None:
        check_words(sentence, tree, sentence, "--lengths FILE or --conllu FILE")
        tree.companions[_SCORED] = sentence

    lead = Side(map(alone, trees, count(1)), "trees", place, lambda each: each.companions[TREES].names)
    found = read(lead, [Companion(replace(scored, names=_by_number), add, shared=True, again=True)], warn)
    for sentence, group in groupby(
        found, lambda each: each.companions[_SCORED] if isinstance(each, Sentence) else each
    ):
        if isinstance(sentence, DeptreeError):
            yield sentence
            continue
        given = [each.companions[TREES] for each in group if isinstance(each, Sentence)]
        heads, times = np.array([tree.heads for tree in given]), np.array([tree.times for tree in given])
        labels, names = (tree.labels for tree in given), (tree.sent_id or sentence.sent_id for tree in given)
        trees_of = TreeSet(sentence.sent_id, given[0].place, heads, times, tuple(labels), tuple(names))
        yield sentence.with_companion(TREES, trees_of)


def scores_beside(scored: Side) -> Companion:
    """The scores of sentences, of which there may be others, as companions of those that have trees."""
    return Companion(replace(scored, names=_by_number), _adopt, shared=True)


def _by_number(sentence: Sentence) -> Sequence[str]:
    return (sentence.sent_id,)


def _adopt(sentence: Sentence, scored: Sentence) -> None:
    check_words(scored, sentence, scored, "--lengths FILE")
    sentence.block, sentence.scores = scored.block, scored.scores
    sentence.key, sentence.place = scored.key, scored.place
    sentence.companions.update(scored.companions)


def with_samples(
    sentences: Iterable[Sentence | DeptreeError],
    trees: Iterable[GivenTree | DeptreeError],
    on_error: Callable[[DeptreeError], None],
) -> list[Sentence | DeptreeError]:
    """The sentences, each with its trees, which may come in any order; those of a sentence's error are left alone.

    `on_error` is called with what is not a tree, or not one of the sentences'.
    """
    found, sizes = list(sentences), dict[str, int]()
    for each in found:
        if each.sent_id in sizes and isinstance(each, Sentence):
            problem = "there are two sentences of this name, so samples cannot tell which they are of"
            raise DeptreeError(problem, "Give every sentence a sent_id of its own", sent_id=each.sent_id)
        if isinstance(each, Sentence):
            sizes[each.sent_id] = each.n
    counts: dict[str, Counter[tuple[int, ...]]] = {each.sent_id: Counter() for each in found}
    for tree in trees:
        try:
            if isinstance(tree, DeptreeError):
                raise tree
            name = next((name for name in tree.names if name in counts), None)
            if name is None:
                raise DeptreeError("the scores do not have this sentence", "Give each sample the name of its sentence")
            if sizes.get(name, len(tree.heads)) != len(tree.heads):
                problem = f"the tree has {counted(len(tree.heads), 'word')}, its scores have {sizes[name]}"
                raise OutOfStep(problem, "Check that both belong together")
            counts[name][tree.heads] += tree.times
        except DeptreeError as error:
            on_error(error.at(tree.place, tree.sent_id))
    for each in found:
        if not isinstance(each, DeptreeError):
            own = counts[each.sent_id]
            heads, times = np.array(list(own), dtype=np.int32), np.array(list(own.values()), dtype=np.int64)
            each.companions[TREES] = TreeSet(each.sent_id, each.place, heads, times)
    return found
