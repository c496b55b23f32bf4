"""``deptree agree``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property, partial
from itertools import chain, combinations
from math import isnan
from typing import Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli.options import INPUT, FloatRange, IntRange, check_effect, command, option, seed_option
from deptree_cli.cli.run import Fold, Job, RunOptions, Source, run_options
from deptree_cli.cli.score_options import LENGTHS, ScoreOptions, companion_scores_options
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import ROWS, Writing, format_options
from deptree_cli.core.agreement import (
    STATISTICS,
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
from deptree_cli.core.errors import DeptreeError, counted
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.scores.files import Member, read_several
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.sets import TreeSet, scores_beside

SENTENCE, LABEL = "sentence", "label"

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
@click.argument("trees", metavar="A B [C]...", nargs=-1, required=True, type=INPUT)
@option(
    "--per",
    type=click.Choice([SENTENCE, LABEL]),
    metavar="UNIT",
    help="Write a row per sentence, or per label, of each pair of files: sentence or label.",
)
@option("--test", is_flag=True, help="Test whether two sets of trees are drawn from one distribution.")
@option("--permutations", type=IntRange(1), metavar="N", help=f"Permutations of --test.  [default: {PERMUTATIONS}]")
@option(
    "--alpha",
    type=FloatRange(0, 1, True, True),
    metavar="P",
    help=f"Level of --test: how often it may find a difference if there is none.  [default: {ALPHA}]",
)
@seed_option
@companion_scores_options("Scores of the sentences: chance is then that of heads drawn from their marginals.", LENGTHS)
@format_options(*ROWS)
@run_options
def agree(
    trees: tuple[str, ...],
    scores: ScoreOptions | None,
    writing: Writing,
    run: RunOptions,
    per: str | None,
    test: bool,
    permutations: int | None,
    alpha: float | None,
    seed: int,
) -> int:
    """Measure how far annotators, parsers or sets of samples agree, and how far this exceeds chance.

    Files are CoNLL-U or JSON Lines of sent_id and heads, of the same sentences. The trees of a sentence follow each
    other; X/sample_3 is a tree of X, and count says how often a tree was sampled. Writes a row for each pair of files:
    how often a random tree of one has the same head as a random tree of the other (labelled: and the same label), how
    often that is so by chance, and kappa.

    --test is a permutation test. Exit status: 0 no difference found, 1 found (or sentences were skipped), 2 unusable.
    """
    _check(trees, per, test, scores)
    first = {"trees": ", ".join(trees), "scores": scores.name if scores else None, "per": per}
    if not test:
        job, compared = Job("agree", _source(trees, scores, run), run, writing, first), partial(compare, trees, per)
        if per == SENTENCE:
            return job.write(compared, sheet=Sheet(BY_SENTENCE))
        if per == LABEL:
            return job.summarise(compared, LabelAgreement(trees), Sheet(BY_LABEL))
        return job.summarise(compared, Agreement(trees), Sheet(COLUMNS))
    permutations, alpha = permutations or PERMUTATIONS, alpha or ALPHA
    last = {"test": "yes", "permutations": permutations, "alpha": f"{alpha:g}", "seed": seed}
    job = Job("agree", _source(trees, scores, run), run, writing, first, last)
    work, found = partial(tested, permutations), TwoFiles(trees, alpha)
    if per == SENTENCE:
        code = job.write(work, seed, Sheet(TEST_BY_SENTENCE), [found])
    else:
        code = job.summarise(work, found, Sheet(TEST), seed)
    return max(code, 1 if found.differ else 0)


def _check(trees: Sequence[str], per: str | None, test: bool, scores: ScoreOptions | None) -> None:
    if len(trees) < 2:
        raise click.UsageError("One file of trees: give two or more, A B.")
    if not test:
        check_effect(["permutations", "alpha", "seed"], "--test")
    if scores and (test or per == LABEL):
        raise click.UsageError(f"--scores change nothing in {'--test' if test else '--per label'}. Remove one.")
    if test and per == LABEL:
        raise click.UsageError("--test does not look at labels. Remove --per label.")
    if test and len(trees) > 2:
        raise click.UsageError(f"--test compares two files of trees, but there are {len(trees)}.")


def _source(trees: Sequence[str], scores: ScoreOptions | None, run: RunOptions) -> Source[Sentence, Any]:
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


def compare(files: tuple[str, ...], per: str | None, prepared: Sentence | ScoredSentence, _: None) -> Result:
    compared, scored = (prepared, None) if isinstance(prepared, Sentence) else (prepared.record, prepared)
    sets = _sets(compared, len(files))
    words, trees = sets[0].n, [each.heads.tolist() for each in sets]
    heads = [shares(each.times, own) for each, own in zip(sets, trees, strict=True)]
    labelled = [shares(e.times, own, e.labels) if e.labels else None for e, own in zip(sets, trees, strict=True)]
    both = [None if a is None or b is None else (a, b) for a, b in combinations(labelled, 2)]
    known = [by_name(each) for each in labelled if each is not None]
    counts = SentenceAgreement(
        words,
        np.array([agreement(*pair) for pair in combinations(heads, 2)]),
        np.array([agreement(*each) if each else np.nan for each in both]),
        summed(chain.from_iterable(by_distance(each).items() for each in heads)),
        dict(sorted(summed(chain.from_iterable(each.items() for each in known)).items())),
        [by_label(*each) if each else {} for each in both] if per == LABEL else [],
        marginal_chance(scored.distribution.marginals()) if scored else None,
    )
    if per != SENTENCE:
        return Result((), counts)
    chance = None if counts.chance is None else counts.chance / words
    agreed = zip(combinations(files, 2), counts.attachment.tolist(), counts.labelled.tolist(), strict=True)
    of_sentence = {"sent_id": compared.sent_id}
    rows = [
        {**of_sentence, **dict(zip(PAIR, pair, strict=True)), "words": words}
        | agreement_row(heads, labelled, words, chance)
        for pair, heads, labelled in agreed
    ]
    return Result(rows, counts)


def tested(permutations: int, compared: Sentence, rng: np.random.Generator) -> Result:
    sets = _sets(compared, 2)
    found = statistics([each.heads for each in sets], [each.times for each in sets], permutations, rng)
    trees = int(sets[0].times.sum()), int(sets[1].times.sum())
    row = {"sent_id": compared.sent_id, "words": sets[0].n, "trees_a": trees[0], "trees_b": trees[1]}
    return Result([{**row, **test_row(p_values(found))}], (found, trees))


def _sets(compared: Sentence, files: int) -> list[TreeSet]:
    return [compared.companions[str(number)] for number in range(files)]


class SentenceAgreement(NamedTuple):
    """What a sentence counts for; agreement, also by chance, is in words, and that of labels NaN where there are none.

    `distances`, of heads from their words, and `labels` are of all files together; `by_label` is of each pair, for
    --per label alone.
    """

    words: int
    attachment: Float
    labelled: Float
    distances: dict[int, float]
    labels: dict[str, float]
    by_label: Sequence[dict[str, Float]]
    chance: float | None = None


class Agreement(Fold[SentenceAgreement]):
    """Sums of agreement; chance is from the distances and labels of all files unless there are scores."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._pairs, self._files = list(combinations(paths, 2)), len(paths)
        self._sentences = self._words = 0
        self._attachment, self._labelled = np.zeros(len(self._pairs)), np.zeros(len(self._pairs))
        self._distances, self._lengths = defaultdict[int, float](float), Counter[int]()
        self._labels = defaultdict[str, float](float)
        self._chance: float | None = None

    def add(self, counts: SentenceAgreement) -> None:
        self._sentences += 1
        self._words += counts.words
        self._attachment += counts.attachment
        self._labelled += counts.labelled
        for label, each in counts.labels.items():
            self._labels[label] += each
        self._lengths[counts.words] += 1
        for distance, share in counts.distances.items():
            self._distances[distance] += share / self._files
        if counts.chance is not None:
            self._chance = (self._chance or 0.0) + counts.chance

    def rows(self) -> list[Row]:
        check_some(self._sentences)
        chance = distance_chance(self._distances, self._lengths) if self._chance is None else self._chance
        heads = chance / self._words
        labels = label_chance(self._labels) if self._labels else None
        return [
            {
                **dict(zip(PAIR, pair, strict=True)),
                "sentences": self._sentences,
                "words": self._words,
                **agreement_row(attachment, labelled, self._words, heads, labels),
            }
            for pair, attachment, labelled in zip(
                self._pairs, self._attachment.tolist(), self._labelled.tolist(), strict=True
            )
        ]


def agreement_row(
    attachment: float, labelled: float, words: int, chance: float | None, labels: float | None = None
) -> dict[str, float | None]:
    """Agreement per word of so many words that agree (NaN: no labels), with what chance does to it.

    `chance` and `labels` are of heads and of labels, per word; a label is chosen independently of the head then.
    """
    row: dict[str, float | None] = {}
    both = None if chance is None or labels is None else chance * labels
    for name, sums, each in (("attachment", attachment, chance), ("labelled", labelled, both)):
        if isnan(sums):
            continue
        observed = sums / words
        row[name] = observed
        if each is not None:
            row |= {f"{name}_chance": each, f"{name}_kappa": kappa(observed, each)}
    return row


class LabelAgreement(Fold[SentenceAgreement]):
    def __init__(self, paths: Sequence[str]) -> None:
        self._pairs = list(combinations(paths, 2))
        self._counts: list[dict[str, Float]] = [{} for _ in self._pairs]

    def add(self, counts: SentenceAgreement) -> None:
        for sums, found in zip(self._counts, counts.by_label, strict=True):
            for label, each in found.items():
                sums[label] = sums.get(label, 0.0) + each

    def rows(self) -> list[Row]:
        if not any(self._counts):
            raise DeptreeError("no two files have labels", "Leave out --per label, or give trees with labels")
        return [
            {
                **dict(zip(PAIR, pair, strict=True)),
                "label": label,
                **dict(zip(BY_LABEL[3:], (one, other, both, 2 * both / (one + other)), strict=True)),
            }
            for pair, found in zip(self._pairs, self._counts, strict=True)
            for one, other, both, label in sorted(
                ((*each.tolist(), label) for label, each in found.items()), key=lambda row: (-row[0] - row[1], row[3])
            )
        ]


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
    def _verdict(self) -> str:
        return "different" if self.differ else "no difference found"

    @property
    def differ(self) -> bool:
        return self._tested.p <= self._alpha

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
