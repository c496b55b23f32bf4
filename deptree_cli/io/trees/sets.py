"""The trees of each sentence: of an annotator, of a parser, or samples; alone, and with the scores of the sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count, groupby

import numpy as np

from deptree_cli.core.dtypes import Heads, Int
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.read import add_trees, check_words, read
from deptree_cli.io.sentence import TREES, Companion, Sentence, Side, Warn, unheard
from deptree_cli.io.trees import GivenTree, number_of, read_trees, sentence_of

_DISTINCT = "these trees were drawn without replacement (swor), so each stands for more or less than one"

# The role of the sentence with scores that a tree belongs to.
_SCORED = "scored"


@dataclass(frozen=True, eq=False)
class TreeSet:
    """Trees of a sentence in one file.

    Attributes:
        sent_id: without the mark of a sample; empty if the file does not name sentences.
        place: where the first was read.
        heads: (k, n).
        times: (k,), how often each is there.
        labels: n names of each, or none.
        tree_names: what the file calls each, if anybody asks for that.
    """

    sent_id: str
    place: str
    heads: Heads
    times: Int
    labels: tuple[tuple[str, ...], ...] = ()
    tree_names: tuple[str, ...] = ()

    @property
    def names(self) -> Sequence[str]:
        return [self.sent_id] if self.sent_id else []

    @property
    def n(self) -> int:
        return self.heads.shape[1]


def sets_in(path: str, role: str) -> Side:
    found = map(partial(_sentence_of, role), read_sets(path), count(1))
    return Side(found, "sentences", place_of(path))


def _sentence_of(role: str, found: TreeSet | DeptreeError, number: int) -> Sentence | DeptreeError:
    if isinstance(found, DeptreeError):
        return found
    sent_id = found.sent_id or str(number)
    return Sentence(sent_id, number, found.n, found.place, named=bool(found.sent_id), companions={role: found})


def sets_beside(path: str, role: str) -> Companion:
    side = Side(read_sets(path), "sentences", place_of(path))
    return Companion(side, partial(add_trees, role, lengths="--conllu FILE"))


def read_sets(path: str) -> Iterator[TreeSet | DeptreeError]:
    """The trees of each sentence of a file, which stand together; an error among them stands for all of its sentence.

    Trees without a name are of a sentence each. An error without one is of the sentence on both sides of it, or of the
    next if the numbers of its samples begin above 1, or of that in front if this has several trees; else of its own.

    Raises:
        DeptreeError: reading cannot begin or go on.
    """
    group: list[GivenTree | DeptreeError] = []
    nameless: list[GivenTree | DeptreeError] = []
    for tree in chain(read_trees(path, named=False), [None]):
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
    first = group[0]
    if len(group) == 1 and isinstance(first, GivenTree) and not first.distinct:
        own, once = _complete(first), np.array([first.times], dtype=np.int64)
        single = np.array([first.heads], dtype=np.int32)
        return TreeSet(sentence_of(first), first.place, single, once, (own,) if own else ())
    times: Counter[tuple[tuple[int, ...], tuple[str, ...]]] = Counter()
    for tree in group:
        if isinstance(tree, GivenTree) and tree.distinct:
            tree = DeptreeError(_DISTINCT, "Give trees as `sample` draws them", place=tree.place)
        if isinstance(tree, DeptreeError):
            tree.sent_id = _name(group)
            return tree
        times[tree.heads, _complete(tree)] += tree.times
    heads = np.array([tree for tree, _ in times], dtype=np.int32)
    labels = tuple(each for _, each in times)
    numbers = np.array(list(times.values()), dtype=np.int64)
    return TreeSet(sentence_of(group[0]), group[0].place, heads, numbers, labels if all(labels) else ())


def _complete(tree: GivenTree) -> tuple[str, ...]:
    return tree.labels if len(tree.labels) == len(tree.heads) and "_" not in tree.labels else ()


def scored_trees(
    trees: Iterable[GivenTree | DeptreeError], scored: Side, place: str, warn: Warn = unheard
) -> Iterator[Sentence | DeptreeError]:
    """The trees in their order, those that follow each other with the sentence of which they are trees.

    Sentences are found by name, also by running numbers, for trees are often named by these; else by order, a tree
    each. Trees of one sentence must stand together: sentences are not kept.

    Args:
        scored: sentences with scores.
        place: of the trees, for messages.
        warn: as of `read`.

    Yields:
        sentences with trees, or the error of a tree that cannot be used.
    """
    lead = Side(map(_tree_alone, trees, count(1)), "trees", place, lambda each: each.companions[TREES].names)
    found = read(lead, [Companion(replace(scored, names=_by_number), _add_scored, shared=True, again=True)], warn)
    for sentence, group in groupby(
        found, lambda each: each if isinstance(each, DeptreeError) else each.companions[_SCORED]
    ):
        if isinstance(sentence, DeptreeError):
            yield sentence
        else:
            given = [each.companions[TREES] for each in group if not isinstance(each, DeptreeError)]
            yield sentence.with_companion(TREES, _given(sentence, given))


def _tree_alone(tree: GivenTree | DeptreeError, number: int) -> Sentence | DeptreeError:
    if isinstance(tree, DeptreeError):
        return tree
    return Sentence(tree.sent_id or str(number), number, len(tree.heads), tree.place, companions={TREES: tree})


def _add_scored(tree: Sentence, sentence: Sentence) -> None:
    check_words(sentence, tree, sentence, "--lengths FILE or --conllu FILE")
    tree.companions[_SCORED] = sentence


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


def _given(sentence: Sentence, trees: Sequence[GivenTree]) -> TreeSet:
    heads, times = (np.array(each) for each in zip(*((tree.heads, tree.times) for tree in trees), strict=True))
    names = tuple(tree.sent_id or sentence.sent_id for tree in trees)
    return TreeSet(sentence.sent_id, trees[0].place, heads, times, tuple(tree.labels for tree in trees), names)


def with_samples(
    sentences: Iterable[Sentence | DeptreeError],
    trees: Iterable[GivenTree | DeptreeError],
    on_error: Callable[[DeptreeError], None],
) -> list[Sentence | DeptreeError]:
    """The sentences, each with its trees, which may come in any order; those of a sentence's error are left alone.

    Args:
        on_error: called with what is no tree, or no tree of one of the sentences.
    """
    found = list(sentences)
    words: dict[str, int | None] = {each.sent_id: None for each in found}
    for sentence in found:
        if isinstance(sentence, DeptreeError):
            continue
        if words[sentence.sent_id] is not None:
            problem = "there are two sentences of this name, so samples cannot tell which they are of"
            raise DeptreeError(problem, "Give every sentence a sent_id of its own", sent_id=sentence.sent_id)
        words[sentence.sent_id] = sentence.n
    counts: dict[str, Counter[tuple[int, ...]]] = {name: Counter() for name in words}
    for tree in trees:
        try:
            if isinstance(tree, DeptreeError):
                raise tree
            counts[_sampled(tree, words)][tree.heads] += tree.times
        except DeptreeError as error:
            on_error(error)
    for each in found:
        if not isinstance(each, DeptreeError):
            trees_of, times = counts[each.sent_id].keys(), counts[each.sent_id].values()
            arrays = np.array(list(trees_of), dtype=np.int32), np.array(list(times), dtype=np.int64)
            each.companions[TREES] = TreeSet(each.sent_id, each.place, *arrays)
    return found


def _sampled(tree: GivenTree, words: Mapping[str, int | None]) -> str:
    """The name of a tree's sentence; raises if there is none of the tree's names and length."""
    name = next((name for name in tree.names if name in words), None)
    if name is None:
        problem, remedy = "the scores have no such sentence", "Name samples as their sentences"
        raise DeptreeError(problem, remedy, place=tree.place, sent_id=tree.sent_id)
    if (n := words[name]) is not None and n != len(tree.heads):
        problem = f"the tree has {counted(len(tree.heads), 'word')}, its scores have {n}"
        raise OutOfStep(problem, "Check that both belong together", place=tree.place, sent_id=tree.sent_id)
    return name
