"""``deptree agree``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli import agreement
from deptree_cli.cli.agreement import Agreement, LabelAgreement, SentenceAgreement, SentenceTest, TwoFiles
from deptree_cli.cli.companion_scores import companion_scores_options
from deptree_cli.cli.job import Job
from deptree_cli.cli.layout_options import LENGTHS
from deptree_cli.cli.options import check_effect, seed_option
from deptree_cli.cli.params import INPUT, FloatRange, IntRange
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.work import Counted, Source, Work
from deptree_cli.cli.writing import ROWS, Writing, format_options
from deptree_cli.core.agreement import (
    SharedHeads,
    by_label,
    distances,
    marginal_chance,
    numbered,
    of_labels,
    shared_heads,
)
from deptree_cli.core.agreement import agreement as agreeing
from deptree_cli.core.agreement_of_many import SingleTrees
from deptree_cli.core.two_samples import p_values, statistics, two_samples
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.scores.several import Member, read_several
from deptree_cli.io.sentence import Sentence
from deptree_cli.io.trees.sets import TreeSet, scores_beside

SENTENCE, LABEL = "sentence", "label"

# Exit status where a difference is found.
DIFFERENT = 1

PERMUTATIONS, ALPHA = 999, 0.05


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
        return _agreement(Job("agree", _source(trees, scores, run), run, writing, first), trees, per, bool(scores))
    permutations, alpha = permutations or PERMUTATIONS, alpha or ALPHA
    last = {"test": "yes", "permutations": permutations, "alpha": f"{alpha:g}", "seed": seed}
    job = Job("agree", _source(trees, scores, run), run, writing, first, last)
    work, found = Test(permutations), TwoFiles(trees, alpha)
    if per == SENTENCE:
        code = job.write(work, seed, Sheet(agreement.TEST_BY_SENTENCE), [found])
    else:
        code = job.summarise(work, found, Sheet(agreement.TEST), seed)
    return max(code, DIFFERENT if found.differ else 0)


def _check(trees: Sequence[str], per: str | None, test: bool, scores: ScoreOptions | None) -> None:
    """Raise for options that do not go together."""
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
        return Source(Counted(read_several(list(map(Member, trees))), share=share_of(trees[:1])), Together(len(trees)))
    source = scores.source(run)
    found = read_several(list(map(Member, trees)), others=[scores_beside(scores.side(source))], warn=run.warn)
    return Source(Counted(found, share=share_of(trees[:1])), source.prepare, source.signature_fields)


def _agreement(job: Job[Sentence, Any], trees: Sequence[str], per: str | None, scored: bool) -> int:
    work = Compare(tuple(trees), per, scored)
    if per == SENTENCE:
        return job.write(work, sheet=Sheet(agreement.BY_SENTENCE))
    if per == LABEL:
        return job.summarise(work, LabelAgreement(trees), Sheet(agreement.BY_LABEL))
    return job.summarise(work, Agreement(trees), Sheet(agreement.COLUMNS))


@dataclass(frozen=True)
class Together:
    """Puts sentences together of which each file has one tree; it travels to worker processes."""

    files: int

    def __call__(self, read: Sentence) -> Sentence:
        """A sentence by itself, as it is."""
        return read

    def batch(self, read: Sequence[Sentence]) -> TreesTogether | None:
        """All of them, None where some have several trees."""
        found = list(zip(*(_sets(each, self.files) for each in read), strict=True))
        if not read or any(len(each.times) > 1 for sets in found for each in sets):
            return None
        labels = [[each.labels[0] if each.labels else ("",) * each.n for each in sets] for sets in found]
        names = sorted({*chain.from_iterable(chain.from_iterable(labels))})
        numbers = {name: number for number, name in enumerate(names)}
        trees = SingleTrees(
            np.array([each.n for each in read]),
            np.stack([np.concatenate([each.heads[0] for each in sets]) for sets in found]),
            np.array([[numbers[name] for name in chain.from_iterable(own)] for own in labels]),
            np.array([[bool(each.labels) for each in sets] for sets in found]),
            names,
        )
        return TreesTogether(range(len(read)), [each.sent_id for each in read], trees)


class TreesTogether(NamedTuple):
    """A tree of each sentence from each file; `places`: the number of each sentence among all."""

    places: Sequence[int]
    sent_ids: list[str]
    trees: SingleTrees


@dataclass(frozen=True)
class Result:
    """A sentence's rows, and what it counts for."""

    found: Sequence[Row]
    counted: Any

    def rows(self) -> Sequence[Row]:
        """A row for each pair of files."""
        return self.found


# Of what the first sentence has counted too.
_COUNTED = Result((), None)


@dataclass(frozen=True)
class Compare(Work[Result]):
    """Compares the trees of a sentence.

    Attributes:
        files: those of the trees.
        per: of what there are rows.
        scored: whether there are scores; then a sentence is prepared as `ScoredSentence`.
    """

    files: tuple[str, ...]
    per: str | None = None
    scored: bool = False

    @property
    def in_batches(self) -> bool:
        """Whether single trees of many sentences are compared at once."""
        return not self.scored

    def batch(self, found: TreesTogether, _: None) -> list[Result]:
        """The work on many sentences; the first counts for all of them."""
        if self.per == SENTENCE:
            return [Result(rows, None) for rows in self._rows_of_many(found)]
        return [Result((), found.trees), *([_COUNTED] * (len(found.sent_ids) - 1))]

    def one(self, prepared: Sentence | ScoredSentence, _: None) -> Result:
        """The work on one sentence."""
        compared, scored = (prepared, None) if isinstance(prepared, Sentence) else (prepared.record, prepared)
        sets = _sets(compared, len(self.files))
        names, labels = numbered([each.labels for each in sets])
        shares = [
            shared_heads(each.heads, each.times, numbers if each.labels else None, len(names))
            for each, numbers in zip(sets, labels, strict=True)
        ]
        chance = marginal_chance(scored.distribution.marginals()) if scored else None
        counts = _counts(shares, names, chance)
        if self.per != SENTENCE:
            return Result((), counts)
        of_words = None if chance is None else chance / counts.words
        agreed = counts.attachment.tolist(), counts.labelled.tolist()
        return Result(self._rows(compared.sent_id, counts.words, *agreed, of_words), counts)

    def _rows_of_many(self, found: TreesTogether) -> Iterator[list[Row]]:
        trees = found.trees
        sentences = (found.sent_ids, trees.sizes.tolist(), trees.attachment.tolist(), trees.labelled_too.tolist())
        return (self._rows(*sentence) for sentence in zip(*sentences, strict=True))

    def _rows(
        self,
        sent_id: str,
        words: int,
        attachment: Sequence[float],
        labelled: Sequence[float],
        chance: float | None = None,
    ) -> list[Row]:
        """A row for each pair of files."""
        return [
            {
                "sent_id": sent_id,
                **dict(zip(agreement.PAIR, pair, strict=True)),
                "words": words,
                **agreement.agreement_row(heads, labels, words, chance),
            }
            for pair, heads, labels in zip(combinations(self.files, 2), attachment, labelled, strict=True)
        ]


def _sets(compared: Sentence, files: int) -> list[TreeSet]:
    """The trees of each file."""
    return [compared.companions[str(number)] for number in range(files)]


def _counts(shares: Sequence[SharedHeads], names: Sequence[str], chance: float | None) -> SentenceAgreement:
    pairs = list(combinations(shares, 2))
    labelled = [each.labelled for each in shares if each.labelled is not None]
    both = [(a.labelled, b.labelled) for a, b in pairs]
    labels = np.sum([of_labels(*each, len(names)) for each in labelled], axis=0).tolist() if labelled else []
    return SentenceAgreement(
        shares[0].n,
        np.array([agreeing(a.heads, b.heads) for a, b in pairs]),
        np.array([np.nan if a is None or b is None else agreeing(a, b) for a, b in both]),
        np.sum([distances(each) for each in shares], axis=0),
        Counter(dict(zip(names, labels, strict=False))),
        [{} if a is None or b is None else by_label(a, b, names) for a, b in both],
        chance,
    )


@dataclass(frozen=True)
class Test:
    """Tests the two sets of trees of a sentence."""

    permutations: int

    def __call__(self, compared: Sentence, rng: np.random.Generator) -> Result:
        """The work on one sentence."""
        sets = _sets(compared, 2)
        samples = two_samples([each.heads for each in sets], [each.times for each in sets])
        found = statistics(samples, self.permutations, rng)
        trees = int(sets[0].times.sum()), int(sets[1].times.sum())
        row = {"sent_id": compared.sent_id, "words": sets[0].n, "trees_a": trees[0], "trees_b": trees[1]}
        return Result([{**row, **agreement.test_row(p_values(found))}], SentenceTest(found, trees))
