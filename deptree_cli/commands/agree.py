"""``deptree agree``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache, cached_property, partial
from itertools import chain, combinations, compress
from typing import Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import INPUT, FloatRange, IntRange, command, flag, opt, use
from deptree_cli.cli.run import ALONE, Fold, Job, Run, Source
from deptree_cli.cli.score_options import Scores, beside
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.agreement import (
    STATISTICS,
    Shares,
    Tested,
    agreement,
    by_distance,
    by_label,
    by_name,
    distance_chance,
    kappa,
    label_chance,
    marginal_chance,
    p_values,
    shares,
    statistics,
    summed,
)
from deptree_cli.core.dtypes import Float
from deptree_cli.core.errors import DeptreeError, counted, counted_thousands
from deptree_cli.core.evaluation import universal
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.pairing import OPEN, aligned_words, relabelled, renumbered
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees import without_heads
from deptree_cli.io.trees.sets import Member, TreeSet, read_several, scores_beside

SENTENCE, LABEL = "sentence", "label"

# Labels count as `eval` compares them, without subtypes.
_merged = cache(universal)

PERMUTATIONS, ALPHA = 999, 0.05

PAIR = ("a", "b")
AGREEMENT = tuple(f"{what}{each}" for what in ("attachment", "labelled") for each in ("", "_chance", "_kappa"))
COLUMNS = (*PAIR, "sentences", "words", *AGREEMENT)
BY_SENTENCE = ("sent_id", *PAIR, "words", *AGREEMENT)
BY_LABEL = (*PAIR, "label", "words_a", "words_b", "words_both", "dice")
P_VALUES = (*(f"p_{name}" for name in STATISTICS), "p")
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
    if scores is None:
        return Source(Counted(read_several(list(map(Member, trees))), share=share_of(trees[:1])))
    source = scores.source(run)
    found = read_several(list(map(Member, trees)), others=[scores_beside(scores.side(source))], warn=run.warn)
    return Source(Counted(found, share=share_of(trees[:1])), source.prepare, source.signature_fields)


class Result(NamedTuple):
    found: Sequence[Row]
    counted: Any

    def rows(self) -> Sequence[Row]:
        return self.found


class SentenceAgreement(NamedTuple):
    """What a sentence counts for; agreement, also by chance, is in words.

    Attributes:
        sizes: how many words it has in each file.
        agreed: (pairs, 2), of heads and of labels.
        distances, labels: of heads from their words, and how often each label is there: of all files together.
        by_label: of each pair, for --per label alone.
        unpaired, headless: how many words of pairs belong to none of the other file, and of files have no head.
        unnamed: how many words of each file have no label; None if no word has one.
        chance: by scores, if there are some.
    """

    sizes: Sequence[int]
    agreed: Float
    distances: dict[int, float]
    labels: dict[str, float]
    by_label: Sequence[dict[str, Float]]
    unpaired: int
    headless: int
    unnamed: Sequence[int | None]
    chance: float | None


def compare(files: tuple[str, ...], per: str | None, prepared: Sentence | ScoredSentence, _: None) -> Result:
    compared, scored = (prepared, None) if isinstance(prepared, Sentence) else (prepared.record, prepared)
    sets: list[TreeSet] = [compared.companions[str(number)] for number in range(len(files))]
    sizes, heads = [each.n for each in sets], [each.heads.tolist() for each in sets]
    labels = [[list(map(_merged, own)) for own in each.labels] for each in sets]
    known = list(map(_shares, sets, heads, labels))
    agreed, by_labels, unpaired = [], [], 0
    for a, b in combinations(range(len(files)), 2):
        one, other, theirs = sets[a].tokens, sets[b].tokens, known[b]
        if words := one and other and aligned_words(one, other):
            own = renumbered(sets[b].heads, words, sizes[a]).tolist()
            theirs = _shares(sets[b], own, relabelled(labels[b], words, sizes[a]))
            unpaired += sizes[a] + sizes[b] - 2 * len(words[0])
        agreed.append([agreement(ours, their) for ours, their in zip(known[a], theirs, strict=True)])
        both = per == LABEL and labels[a] and labels[b]
        by_labels.append(by_label(known[a][1], known[b][1], theirs[1]) if both else {})
    counts = SentenceAgreement(
        sizes,
        np.array(agreed),
        summed(chain.from_iterable(by_distance(each).items() for each, _ in known)),
        dict(sorted(summed(chain.from_iterable(by_name(each).items() for _, each in known)).items())),
        by_labels,
        unpaired,
        sum(own.count(OPEN) for each in heads for own in each),
        [sum(own.count("_") for own in each) if each else None for each in labels],
        marginal_chance(scored.distribution.marginals()) if scored else None,
    )
    if per != SENTENCE:
        return Result((), counts)
    chance = None if counts.chance is None else counts.chance / sizes[0]
    rows = _rows(files, {"sent_id": compared.sent_id}, sizes, counts.agreed, list(map(bool, labels)), chance)
    return Result([{name: row[name] for name in BY_SENTENCE if name in row} for row in rows], counts)


def _shares(trees: TreeSet, heads: list[list[int]], labels: list[list[str]]) -> tuple[Shares, Shares]:
    """The shares of trees that have each arc, and each arc with its label, but for what is missing."""
    found, named = shares(trees.times, heads), shares(trees.times, heads, labels) if labels else {}
    if any(min(own) < 0 for own in heads):
        found, named = ({arc: share for arc, share in each.items() if arc[1] >= 0} for each in (found, named))
    if any("_" in own for own in labels):
        named = {arc: share for arc, share in named.items() if arc[2] != "_"}
    return found, named


def _rows(
    files: Sequence[str],
    first: Row,
    sizes: Sequence[int],
    agreed: Float,
    labelled: Sequence[object],
    chance: float | None,
    labels: float | None = None,
) -> Iterator[dict[str, Any]]:
    """A row of each pair of files: agreement per word, with what chance does to it.

    Args:
        first: what stands in all rows.
        sizes: how many words each file has; a pair has the mean of both.
        agreed: (pairs, 2), in how many words heads agree, and labels too.
        labelled: which files have labels.
        chance, labels: of heads and of labels, per word; a label is chosen independently of the head then.
    """
    both = None if chance is None or labels is None else chance * labels
    for (a, b), (heads, named) in zip(combinations(range(len(files)), 2), agreed.tolist(), strict=True):
        words = (sizes[a] + sizes[b]) / 2
        row = {"a": files[a], "b": files[b], **first, "words": int(words) if words.is_integer() else words}
        for name, own, each in (("attachment", heads, chance), ("labelled", named, both)):
            if name == "attachment" or (labelled[a] and labelled[b]):
                row[name] = own / words
                if each is not None:
                    row |= {f"{name}_chance": each, f"{name}_kappa": kappa(row[name], each)}
        yield row


class Agreement(Fold[SentenceAgreement]):
    """Sums of agreement; chance is from the distances and labels of all files unless there are scores."""

    def __init__(self, paths: Sequence[str], per: str | None) -> None:
        self._paths, self._per, self._pairs = paths, per, list(combinations(paths, 2))
        self._sentences = self._unpaired = self._headless = 0
        self._sizes, self._unnamed, self._labelled = ([0] * len(paths) for _ in range(3))
        self._agreed = np.zeros((len(self._pairs), 2))
        self._distances, self._lengths = defaultdict[int, float](float), Counter[int]()
        self._labels = defaultdict[str, float](float)
        self._by_label: list[dict[str, Float]] = [{} for _ in self._pairs]
        self._chance: float | None = None

    def add(self, counts: SentenceAgreement) -> None:
        self._sentences += 1
        self._unpaired, self._headless = self._unpaired + counts.unpaired, self._headless + counts.headless
        for file, (n, unnamed) in enumerate(zip(counts.sizes, counts.unnamed, strict=True)):
            self._sizes[file] += n
            self._lengths[n] += 1
            self._labelled[file] |= unnamed is not None
            self._unnamed[file] += n if unnamed is None else unnamed
        self._agreed += counts.agreed
        for label, share in counts.labels.items():
            self._labels[label] += share
        for distance, share in counts.distances.items():
            self._distances[distance] += share / len(self._paths)
        for sums, found in zip(self._by_label, counts.by_label, strict=True):
            for label, each in found.items():
                sums[label] = sums.get(label, 0.0) + each
        if counts.chance is not None:
            self._chance = (self._chance or 0.0) + counts.chance

    def rows(self) -> list[Row]:
        if self._per == LABEL:
            return self._rows_of_labels()
        check_some(self._sentences)
        files, sizes = len(self._paths), self._sizes
        if self._chance is None:
            lengths = {n: number / files for n, number in self._lengths.items()}
            chance = distance_chance(self._distances, lengths) / (sum(sizes) / files)
        else:
            chance = self._chance / sizes[0]
        labels = label_chance(self._labels) if self._labels else None
        first = {"sentences": self._sentences}
        return list(_rows(self._paths, first, sizes, self._agreed, self._labelled, chance, labels))

    def _rows_of_labels(self) -> list[Row]:
        if not any(self._by_label):
            raise DeptreeError("no two files have labels", "Leave out --per label, or give trees with labels")
        rows = list[Row]()
        for pair, found in zip(self._pairs, self._by_label, strict=True):
            counts = ((*each.tolist(), label) for label, each in found.items())
            for one, other, both, label in sorted(counts, key=lambda row: (-row[0] - row[1], row[3])):
                rows.append(
                    dict(zip(BY_LABEL, (*pair, label, one, other, both, 2 * both / (one + other)), strict=True))
                )
        return rows

    def lines(self) -> Iterator[str]:
        counts = self._unpaired, self._headless, sum(compress(self._unnamed, self._labelled))
        what = "that the other file divides otherwise", "without HEAD", "without DEPREL"
        for number, kind in zip(counts, what, strict=True):
            if number:
                yield f"{counted_thousands(number, 'word')} {kind}: counted as disagreement"


def tested(permutations: int, compared: Sentence, rng: np.random.Generator) -> Result:
    one, other = sets = [compared.companions[str(number)] for number in range(2)]
    if one.n != other.n or (one.tokens and other.tokens and aligned_words(one.tokens, other.tokens)):
        raise DeptreeError(f"the words at {other.place} are others", "Test samples of the same words")
    for each in sets:
        if (each.heads == OPEN).any():
            heads = each.heads.min(axis=0).tolist()
            raise without_heads([None if head < 0 else head for head in heads], each.place, compared.sent_id)
    found = statistics([each.heads for each in sets], [each.times for each in sets], permutations, rng)
    trees = int(one.times.sum()), int(other.times.sum())
    row = {"sent_id": compared.sent_id, "words": one.n, "trees_a": trees[0], "trees_b": trees[1]}
    return Result([{**row, **test_row(p_values(found))}], (found, trees))


class TwoFiles(Fold[tuple[Float, tuple[int, int]]]):
    """The test of two files: the statistics of all sentences, whose permutations are independent, are added up.

    A sentence counts with these, (1 + permutations, ...), and with the numbers of its trees.
    """

    def __init__(self, paths: Sequence[str], alpha: float) -> None:
        self._paths, self._alpha = paths, alpha
        self._sentences, self._most = 0, 0
        self._trees = (0, 0)
        self._statistics: Float | None = None

    def add(self, counts: tuple[Float, tuple[int, int]]) -> None:
        found, (first, second) = counts
        self._sentences += 1
        self._most = max(self._most, first + second)
        self._trees = self._trees[0] + first, self._trees[1] + second
        self._statistics = found if self._statistics is None else self._statistics + found

    @cached_property
    def _tested(self) -> Tested:
        assert self._statistics is not None
        return p_values(self._statistics)

    @property
    def differ(self) -> bool:
        return self._tested.p <= self._alpha

    @property
    def _verdict(self) -> str:
        return "different" if self.differ else "no difference found"

    def rows(self) -> list[Row]:
        check_some(self._sentences)
        if self._most < 3:  # so few are the same, however they are permuted
            problem = "no sentence has more than a tree in each file, so there is nothing to permute"
            raise DeptreeError(problem, "Test sets of samples; eval tests whether a parser is better than another")
        found = dict(zip(TEST, (*self._paths, self._sentences, *self._trees), strict=False))
        return [{**found, **test_row(self._tested), "verdict": self._verdict}]

    def lines(self) -> Iterator[str]:
        yield f"{self._verdict}: p = {self._tested.p:.3g} over {counted(self._sentences, 'sentence')}"


def test_row(tested: Tested) -> dict[str, float]:
    return dict(zip(P_VALUES, (*tested.each.tolist(), tested.p), strict=True))


def check_some(sentences: int) -> None:
    if not sentences:
        raise DeptreeError("there is no sentence to compare", "Give files, or a shard, with sentences")
