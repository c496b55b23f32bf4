"""``deptree agree``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import INPUT, FloatRange, IntRange, command, flag, opt, use
from deptree_cli.cli.run import ALONE, Fold, Job, Run, Source
from deptree_cli.cli.score_options import Scores, beside
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core import agreement as core
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted, counted_thousands
from deptree_cli.core.evaluation import universal
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.pairing import OPEN, aligned_words
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import without_heads
from deptree_cli.io.trees.sets import Member, TreeSet, read_several, scores_beside

SENTENCE, LABEL = "sentence", "label"

# What words are counted as disagreement.
UNPAIRED, HEADLESS = "that the other file divides otherwise", "without HEAD"

# Labels count as `eval` compares them, without subtypes.
_merged = cache(universal)

PERMUTATIONS, ALPHA, VERDICTS = 999, 0.05, ("no difference found", "different")

PAIR = ("a", "b")
AGREEMENT = tuple(f"{what}{each}" for what in ("attachment", "labelled") for each in ("", "_chance", "_kappa"))
COLUMNS = (*PAIR, "sentences", "words", *AGREEMENT)
BY_SENTENCE = ("sent_id", *PAIR, "words", *AGREEMENT)
BY_LABEL = (*PAIR, "label", "words_a", "words_b", "words_both", "dice")
P_VALUES = (*(f"p_{name}" for name in core.STATISTICS), "p")
TEST = (*PAIR, "sentences", "trees_a", "trees_b", *P_VALUES, "verdict")
TEST_BY_SENTENCE = ("sent_id", "words", "trees_a", "trees_b", *P_VALUES)


@command()
def agree(
    trees: tuple[str, ...] = opt(metavar="A B [C]...", many=True, type=INPUT),
    per: str | None = opt(
        "--per",
        type=click.Choice([SENTENCE, LABEL]),
        metavar="UNIT",
        help="Write a row per sentence, or per label, of each pair of files: sentence or label.",
    ),
    test: bool = flag("--test", help="Test whether two sets of trees have one distribution."),
    permutations: int | None = opt(
        "--permutations",
        type=IntRange(1),
        needs=["test"],
        metavar="N",
        help=f"Permutations of --test.  [default: {PERMUTATIONS}]",
    ),
    alpha: float | None = opt(
        "--alpha",
        type=FloatRange(0, 1, True, True),
        needs=["test"],
        metavar="P",
        help=f"Level of --test: how often it may find a difference if there is none.  [default: {ALPHA}]",
    ),
    seed: int = options.seed(),
    scores: Scores | None = beside(
        "Scores of the sentences: chance is then that of heads drawn from their marginals.", lacks=["label_scores"]
    ),
    out: Out = use(Out, formats=ROWS),
    run: Run = use(Run, lacks=ALONE),
) -> int:
    """Measure how far annotators, parsers or sets of samples agree, and how far this exceeds chance.

    Files are CoNLL-U or JSON Lines of sent_id and heads, of the same sentences. The trees of a sentence follow each
    other; X/sample_3 is a tree of X, and count says how often a tree was sampled. Writes a row for each pair of files:
    how often a random tree of one has the same head as a random tree of the other (labelled: and the same label), how
    often that is so by chance, and kappa.

    --test is a permutation test. Exit status: 0 no difference found, 1 found (or sentences were skipped), 2 unusable.
    """
    _check(trees, per, test, scores)
    source = _source(trees, scores, run)
    first = {"trees": ", ".join(trees), "scores": scores.name if scores else None, "per": per}
    if not test:
        job, work, sums = Job("agree", source, run, out, first), partial(compare, trees, per), Agreement(trees, per)
        if per == SENTENCE:
            return job.write(work, sheet=Sheet(BY_SENTENCE), folds=[sums])
        return job.summarise(work, sums, Sheet(BY_LABEL if per else COLUMNS))
    permutations, alpha = permutations or PERMUTATIONS, alpha or ALPHA
    last = {"test": "yes", "permutations": permutations, "alpha": f"{alpha:g}", "seed": seed}
    job = Job("agree", source, run, out, first, last)
    test_of, found = partial(tested, permutations), TwoFiles(trees, alpha)
    if per == SENTENCE:
        code = job.write(test_of, seed, Sheet(TEST_BY_SENTENCE), [found])
    else:
        code = job.summarise(test_of, found, Sheet(TEST), seed)
    return max(code, 1 if found.differ else 0)


def _check(trees: Sequence[str], per: str | None, test: bool, scores: Scores | None) -> None:
    if len(trees) < 2:
        raise click.UsageError("Only one file of trees. Pass two or more: A B.")
    if scores and (test or per == LABEL):
        raise click.UsageError(f"--scores changes nothing in {'--test' if test else '--per label'}. Remove one.")
    if test and per == LABEL:
        raise click.UsageError("--test does not look at labels. Remove --per label.")
    if test and len(trees) > 2:
        raise click.UsageError(f"--test compares two files of trees, but there are {len(trees)}.")


def _source(trees: Sequence[str], scores: Scores | None, run: Run) -> Source[Sentence, Any]:
    members, share = list(map(Member, trees)), share_of(trees[:1])
    if scores is None:
        return Source(Counted(_with_heads(read_several(members), trees), share=share))
    source = scores.source(run)
    found = read_several(members, others=[scores_beside(scores.side(source))], warn=run.warn)
    return Source(Counted(_with_heads(found, trees), share=share), source.prepare, source.signature_fields)


def _with_heads(items: Iterator[Sentence | DeptreeError], paths: Sequence[str]) -> Iterator[Sentence | DeptreeError]:
    """The items; raises at the end if a file has no head at all, which nobody can agree with."""
    missing, has_sentences = dict(enumerate(paths)), False
    for item in items:
        if isinstance(item, Sentence):
            has_sentences = True
            for number in [each for each in missing if item.companions[str(each)].heads.max() > OPEN]:
                del missing[number]
        yield item
    if has_sentences and missing:
        problem, remedy = "no word has a HEAD, so there is nothing to compare", "Annotate the file, or parse it first"
        raise DeptreeError(problem, f"{remedy}, for example with deptree decode", place=next(iter(missing.values())))


class Result(NamedTuple):
    found: Sequence[Row]
    counted: Any

    def rows(self) -> Sequence[Row]:
        return self.found


# What sentences count for, by kind, all of which is added up; agreement, also by chance, is in words.
#
# By the number of a file `sizes`, how many words it has, `has_labels`, in how many sentences, and `unnamed`, how many
# words have no label. By the numbers of a pair `attachment` and `labelled`, in how many words heads agree, and labels
# too; and with a label, for --per label alone, `by_label`. Of all files together `distances` of heads from their words,
# `labels`, `lengths` of sentences, and `words` that belong to none of the other file or have no head. `chance` is by
# scores, if there are some.
Counts = dict[str, dict[Any, Any]]
KINDS = ("sizes", "lengths", "has_labels", "unnamed", "attachment", "labelled", "by_label")


def compare(files: tuple[str, ...], per: str | None, prepared: Sentence | ScoredSentence, _: None) -> Result:
    compared, scored = (prepared, None) if isinstance(prepared, Sentence) else (prepared.record, prepared)
    sets: list[TreeSet] = [compared.companions[str(number)] for number in range(len(files))]
    counts: Counts = {kind: {} for kind in KINDS}
    sizes, lengths, known, unpaired = counts["sizes"], counts["lengths"], list(map(_shares, sets)), 0
    for file, each in enumerate(sets):
        n = sizes[file] = each.n
        lengths[n] = lengths.get(n, 0) + 1
        counts["has_labels"][file] = bool(each.labels)
        counts["unnamed"][file] = sum([own.count("_") for own in each.labels]) if each.labels else n
    for a, b in combinations(sizes, 2):
        theirs, aligned = known[b], aligned_words(sets[a].tokens, sets[b].tokens) if a else sets[b].aligned
        if aligned:
            theirs = _shares(sets[b].renumbered(aligned, sizes[a]))
            unpaired += sizes[a] + sizes[b] - 2 * len(aligned[0])
        for kind, ours, their in zip(("attachment", "labelled"), known[a], theirs, strict=False):
            counts[kind][a, b] = core.agreement(ours, their)
        if per == LABEL and sets[a].labels and sets[b].labels:
            found = core.by_label(known[a][1], known[b][1], theirs[1])
            counts["by_label"] |= {(a, b, label): each for label, each in found.items()}
    distances = core.summed([item for found, *_ in known for item in core.by_distance(found).items()])
    counts["distances"] = {distance: share / len(files) for distance, share in distances.items()}
    labels = core.summed([item for _, found, _ in known for item in core.by_name(found).items()])
    counts["labels"] = dict(sorted(labels.items()))
    counts["words"] = {UNPAIRED: unpaired, HEADLESS: sum([headless for *_, headless in known])}
    if scored:
        counts["chance"] = {"scores": core.marginal_chance(scored.distribution.marginals())}
    if per != SENTENCE:
        return Result((), counts)
    chance = counts["chance"]["scores"] / sizes[0] if scored else None
    rows = _rows(files, {"sent_id": compared.sent_id}, counts, chance)
    return Result([{name: row[name] for name in BY_SENTENCE if name in row} for row in rows], counts)


def _shares(trees: TreeSet) -> tuple[core.Shares, core.Shares, int]:
    """The shares of trees that have each arc, and each arc with its label, but for what is missing; missing heads."""
    heads, labels = trees.heads.tolist(), [list(map(_merged, own)) for own in trees.labels]
    found, named = core.shares(trees.times, heads), core.shares(trees.times, heads, labels) if labels else {}
    if min(map(min, heads)) < 0:
        found, named = ({arc: share for arc, share in each.items() if arc[1] >= 0} for each in (found, named))
    if any("_" in own for own in labels):
        named = {arc: share for arc, share in named.items() if arc[2] != "_"}
    return found, named, sum([own.count(OPEN) for own in heads])


def _rows(
    files: Sequence[str], first: Row, counts: Counts, chance: float | None, labels: float | None = None
) -> Iterator[dict[str, Any]]:
    """A row of each pair of files: agreement per word, with what chance does to it, and `first`, which is of all rows.

    `chance` of heads and `labels` are per word; a label is then chosen independently of the head.
    """
    both = None if chance is None or labels is None else chance * labels
    sizes, has_labels = counts["sizes"], counts["has_labels"]
    for a, b in counts["attachment"]:
        words = (sizes[a] + sizes[b]) / 2  # of a pair the mean
        row = {"a": files[a], "b": files[b], **first, "words": int(words) if words.is_integer() else words}
        for name, each in ("attachment", chance), ("labelled", both):
            if name == "attachment" or (has_labels[a] and has_labels[b]):
                row[name] = counts[name][a, b] / words
                if each is not None:
                    row |= {f"{name}_chance": each, f"{name}_kappa": core.kappa(row[name], each)}
        yield row


class Agreement(Fold[Counts]):
    """Sums of agreement; chance is from the distances and labels of all files unless there are scores."""

    def __init__(self, paths: Sequence[str], per: str | None) -> None:
        self._paths, self._per = paths, per
        self._sentences, self._sums = 0, defaultdict[str, dict[Any, Any]](dict)

    def add(self, counts: Counts) -> None:
        self._sentences += 1
        for kind, found in counts.items():
            sums = self._sums[kind]
            for key, each in found.items():
                sums[key] = sums[key] + each if key in sums else each

    def rows(self) -> list[Row]:
        sums, sizes, files = self._sums, self._sums["sizes"], len(self._paths)
        if self._per == LABEL:
            return self._rows_of_labels()
        check_some(self._sentences)
        if "chance" in sums:
            chance = sums["chance"]["scores"] / sizes[0]
        else:
            lengths = {n: number / files for n, number in sums["lengths"].items()}
            chance = core.distance_chance(sums["distances"], lengths) / (sum(sizes.values()) / files)
        labels = core.label_chance(sums["labels"]) if sums["labels"] else None
        return list(_rows(self._paths, {"sentences": self._sentences}, sums, chance, labels))

    def _rows_of_labels(self) -> list[Row]:
        counts = [(a, b, label, *each.tolist()) for (a, b, label), each in self._sums["by_label"].items()]
        if not counts:
            raise DeptreeError("no two files have labels", "Leave out --per label, or give trees with labels")
        rows = list[Row]()
        for a, b, label, one, other, both in sorted(counts, key=lambda row: (*row[:2], -row[3] - row[4], row[2])):
            values = self._paths[a], self._paths[b], label, one, other, both, 2 * both / (one + other)
            rows.append(dict(zip(BY_LABEL, values, strict=True)))
        return rows

    def lines(self) -> Iterator[str]:
        unnamed = (self._sums["unnamed"][file] for file, labelled in self._sums["has_labels"].items() if labelled)
        for what, number in {**self._sums["words"], "without DEPREL": sum(unnamed)}.items():
            if number:
                yield f"{counted_thousands(number, 'word')} {what}: counted as disagreement"


def tested(permutations: int, compared: Sentence, rng: np.random.Generator) -> Result:
    one, other = sets = [compared.companions[str(number)] for number in range(2)]
    if one.n != other.n or other.aligned:
        raise DeptreeError(f"the words differ from those at {other.place}", "Test samples of the same words")
    for each in sets:
        if (each.heads == OPEN).any():
            raise without_heads(each.heads.min(axis=0).tolist(), each.place, compared.sent_id)
    found = core.statistics([each.heads for each in sets], [each.times for each in sets], permutations, rng)
    trees = int(one.times.sum()), int(other.times.sum())
    row = {"sent_id": compared.sent_id, "words": one.n, "trees_a": trees[0], "trees_b": trees[1]}
    return Result([{**row, **test_row(core.p_values(found))}], (found, trees))


class TwoFiles(Fold[tuple[Float, tuple[int, int]]]):
    """The test of two files: the statistics of all sentences, whose permutations are independent, are added up.

    A sentence counts with these, (1 + permutations, ...), and with the numbers of its trees.
    """

    def __init__(self, paths: Sequence[str], alpha: float) -> None:
        self._paths, self._alpha = paths, alpha
        self._sentences = self._most = 0
        self._trees = self._statistics = np.zeros(1)

    def add(self, counts: tuple[Float, tuple[int, int]]) -> None:
        found, trees = counts
        self._sentences, self._most = self._sentences + 1, max(self._most, sum(trees))
        self._trees, self._statistics = self._trees + trees, self._statistics + found

    @cached_property
    def _tested(self) -> core.Tested:
        check_some(self._sentences)
        return core.p_values(self._statistics)

    @property
    def differ(self) -> bool:
        return self._tested.p <= self._alpha

    def rows(self) -> list[Row]:
        tested = test_row(self._tested)
        if self._most < 3:  # so few are the same, however they are permuted
            problem = "no sentence has more than a tree in each file, so there is nothing to permute"
            raise DeptreeError(problem, "Test sets of samples; eval tests whether a parser is better than another")
        found = dict(zip(TEST, (*self._paths, self._sentences, *map(int, self._trees)), strict=False))
        return [{**found, **tested, "verdict": VERDICTS[self.differ]}]

    def lines(self) -> Iterator[str]:
        yield f"{VERDICTS[self.differ]}: p = {self._tested.p:.3g} over {counted(self._sentences, 'sentence')}"


def test_row(tested: core.Tested) -> dict[str, float]:
    return dict(zip(P_VALUES, (*tested.each.tolist(), tested.p), strict=True))


def check_some(sentences: int) -> None:
    if not sentences:
        raise DeptreeError("there is no sentence to compare", "Give files, or a shard, with sentences")
