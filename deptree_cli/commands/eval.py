"""``deptree eval``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from deptree_cli.cli import options
from deptree_cli.cli.options import INPUT, FloatRange, IntRange, check_effect, command, flag, opt, use
from deptree_cli.cli.run import ALONE, Fold, Job, Run, Source
from deptree_cli.cli.score_options import Scores, beside
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import ROWS, Out
from deptree_cli.core.corpus import HERE
from deptree_cli.core.dtypes import Integers
from deptree_cli.core.errors import DeptreeError, counted, counted_thousands
from deptree_cli.core.evaluation import (
    ALIGNED,
    CLASSES,
    CORRECT,
    GOLD,
    METRICS,
    PREDICTED,
    REFUSED,
    Class,
    Confusion,
    in_order,
    informative,
)
from deptree_cli.core.intervals import Score, f1, normal_interval, randomisation_test, scores
from deptree_cli.core.streams import stream_of
from deptree_cli.io.encoders.base import Row, Sheet
from deptree_cli.io.evaluation import (
    OPTIONAL,
    Detail,
    TreeFile,
    Units,
    compared,
    compared_files,
    new_vocabulary,
    read_trees,
)
from deptree_cli.io.files.streams import place_of
from deptree_cli.io.read import unmarked
from deptree_cli.io.sentence import Sentence

if TYPE_CHECKING:
    from deptree_cli.io.scores.records import ScoredSentence

SCORES = (
    *("system", "metric", "value", "low", "high", "p", "correct", "gold", "predicted", "aligned", "aligned_accuracy"),
    *("precision", "precision_low", "precision_high", "recall", "recall_low", "recall_high"),
)
CONFUSION, SENTENCE = "confusion", "sentence"
CONFUSIONS = ("system", "gold_label", "system_label", "head_right", "words")
FOURFOLD = ("label", "words", "both_right", "first_right", "second_right", "both_wrong", "p")
BY_SENTENCE = ("system", "sent_id", "words", *METRICS)
BY_CLASS = ("system", "by", "class", "metric", "f1", "precision", "recall", "correct", "gold", "predicted")

# What tables show of these, behind the system if there are two.
_SCORES, _DIFFERENCES = ("metric", "value", "low", "high", "precision", "recall", "correct"), SCORES[1:6]
_CLASSES = ("by", "class", "metric", "f1", "precision", "recall", "gold")

# Metrics of the expected score, and of the second system less the first.
EXPECTED, DIFFERENCE = "expected UAS", "{} difference"

# So many words with the right head would hardly all get the right label from a parser: at 97 %, one time in twenty.
SUSPICIOUS = 100


@command()
def eval(
    trees: tuple[str, ...] = opt(metavar="GOLD SYSTEM [SYSTEM2]", many=True, type=INPUT),
    by: tuple[str, ...] = opt(
        "--by",
        many=True,
        type=click.Choice((*CLASSES.names, CONFUSION)),
        help=f"Write scores by {', '.join(CLASSES.names)} (may be repeated); or {CONFUSION}: which label stands for "
        "which, or which of two systems is right.",
        metavar="CLASS",
    ),
    per: str | None = opt(
        "--per",
        type=click.Choice([SENTENCE]),
        metavar="UNIT",
        without=["by"],
        help="Write the scores of each sentence: sentence.",
    ),
    confidence: float = opt(
        "--confidence",
        type=FloatRange(0, 1, min_open=True, max_open=True),
        default=0.95,
        metavar="P",
        help="Coverage of intervals.  [default: 0.95]",
    ),
    resamples: int = opt(
        "--resamples",
        type=IntRange(1),
        default=10_000,
        metavar="N",
        help="Resamples, for intervals and tests.  [default: 10000]",
    ),
    no_punct: bool = flag("--no-punct", without=["scores"], help="Leave out words with the label punct in GOLD."),
    seed: int = options.seed(),
    scores: Scores | None = beside("The scores of SYSTEM: adds the expected UAS.", lacks=["lengths", "label_scores"]),
    out: Out = use(Out, formats=ROWS),
    run: Run = use(Run, lacks=ALONE),
) -> int:
    """Evaluate parsed trees against gold trees, with the metrics of the CoNLL 2018 shared task.

    All files are CoNLL-U of the same text; words are aligned by their characters, so tokens and sentences may differ.
    Writes F1, precision and recall by metric, with bootstrap intervals over sentences. SYSTEM2 adds its scores and the
    differences, with p of a paired randomisation test. --scores FILE adds the expected UAS under SYSTEM's distribution,
    and needs no gold trees: deptree eval SYSTEM --scores FILE.

    The last line on stderr has the scores in percent, ready to be quoted, without those that SYSTEM has from GOLD.
    """
    gold, systems = _files(trees, scores)
    confusing = CONFUSION in by
    if confusing and len(set(by)) > 1:
        raise click.UsageError(f"--by {CONFUSION} has rows of its own. Ask for other classes in a run of their own.")
    kinds = tuple(CLASSES.get(name) for name in dict.fromkeys(by) if name != CONFUSION)
    detail = Detail(kinds, confusing, per is not None)
    if not gold:
        check_effect(["by", "per", "resamples"], "gold trees: deptree eval GOLD SYSTEM --scores FILE")
    several, how = len(systems) > 1, (confidence, resamples, seed)
    names = ("system",) * several + (_CLASSES if kinds else _DIFFERENCES if several else _SCORES)
    sheet = Sheet(BY_CLASS if kinds else SCORES, "", dict(zip(names, names, strict=True)))
    if confusing or per:
        columns = BY_SENTENCE if per else FOURFOLD if several else CONFUSIONS
        shown = [name for name in columns if name not in METRICS[5:] and (several or name != "system")]
        sheet = Sheet(columns, "", dict(zip(shown, shown, strict=True)))
    if scores is None:
        assert gold is not None
        source: Source[Any, Any] = Source(Counted(compared_files(gold, systems, detail, no_punct)))
        run = replace(run, workers=HERE)  # counting is part of reading: there is nothing for workers to do
    else:
        source = _scored(gold, systems[0], detail, scores, run)
    last: dict[str, object] = {"gold": gold, **dict(zip(("system", "system2"), systems, strict=False))}
    last |= {"scores": scores.name if scores else None, "confidence": confidence}
    if gold:
        last |= {"by": ",".join(dict.fromkeys(by)) or None, "per": per, "resamples": resamples, "seed": seed}
    job = Job("eval", source, run, out, last=last | {"punct": "no" if no_punct else None})
    found = Evaluation(gold, systems, detail, how, job.signature, job.encoder.for_people)
    return job.summarise(_evaluated, found, sheet)


def _files(trees: tuple[str, ...], scores: Scores | None) -> tuple[str | None, tuple[str, ...]]:
    if len(trees) > 3:
        raise click.UsageError(f"{counted(len(trees), 'file')} of trees: give GOLD, SYSTEM and at most one SYSTEM2.")
    if len(trees) == 1 and scores is None:
        raise click.UsageError("One file of trees: give GOLD and SYSTEM, or add --scores FILE for the expected score.")
    if len(trees) == 3 and scores is not None:
        raise click.UsageError("--scores belong to one SYSTEM, but there are two. Remove one.")
    return (None, trees) if len(trees) == 1 else (trees[0], trees[1:])


def _scored(gold: str | None, system: str, detail: Detail, scores: Scores, run: Run) -> Source[Any, Any]:
    """The system's sentences with their scores, then the units in which its trees are compared with gold trees."""
    source = replace(scores, files=(replace(scores.files[0], conllu=system, any_heads=True),)).source(run)
    if gold is None:
        return Source(source.items, source.prepare, source.signature_fields)

    def items() -> Iterator[Any]:
        vocabulary = new_vocabulary()
        trees = TreeFile(place_of(system), vocabulary)
        for item in source.items:
            if isinstance(item, DeptreeError):  # it is told of the gold sentence
                trees.add(item, item.sent_id)
            else:
                trees.add(item.sentence, unmarked(item.sentence.sent_id))
                yield item
        yield from compared(read_trees(gold, vocabulary), [trees], detail)

    return Source(Counted(items()), partial(_unless_unit, source.prepare), source.signature_fields)


def _unless_unit(prepare: Callable[[Sentence], ScoredSentence], item: Sentence | Units) -> ScoredSentence | Units:
    return item if isinstance(item, Units) else prepare(item)


def _evaluated(item: Units | ScoredSentence, _: None) -> Units | Expected:
    """What is counted of an item: of scores the right heads that they expect."""
    if isinstance(item, Units):
        return item
    from deptree_cli.core.expectations import risk_variance

    distribution, heads = item.distribution, item.record.sentence.known_heads
    known = np.flatnonzero(heads >= 0)
    mean = float(distribution.marginals()[heads[known], known + 1].sum())
    return Expected(mean, risk_variance(distribution, heads), distribution.n)


class Expected(NamedTuple):
    """How many heads of some words are right under a parser's distribution: the mean, and the variance."""

    mean: float
    variance: float
    words: int


@dataclass(eq=False)
class Evaluation(Fold[Units | Expected]):
    """Keeps the counts of each unit, which are resampled in the end; `brief` rows leave out what the last line does.

    Attributes:
        gold: the path of the gold trees; None if there are only scores.
        how: the confidence of intervals, resamples, seed.
    """

    gold: str | None
    systems: Sequence[str]
    detail: Detail
    how: tuple[float, int, int]
    signature: str
    brief: bool

    attribute = ""

    def __post_init__(self) -> None:
        self._found = list[Units]()
        self._expected, self._scored = np.zeros(len(Expected._fields)), 0  # sentences with scores

    def add(self, counts: Units | Expected) -> None:
        if isinstance(counts, Units):
            self._found.append(counts)
        else:
            self._expected, self._scored = self._expected + counts, self._scored + 1

    @property
    def _sizes(self) -> tuple[int, int]:
        """The numbers of sentences and words that count."""
        if self.gold is None:
            return self._scored, int(self._expected[-1])
        return sum(int(each.sentences.sum()) for each in self._found), sum(each.words for each in self._found)

    def rows(self) -> list[Row]:
        if not self._sizes[0]:
            raise DeptreeError("there is no sentence to evaluate", "Give files, or a shard, with sentences")
        if self.detail.names:
            return list(self._by_sentence())
        if self.detail.confusions:
            return self._fourfold() if len(self.systems) > 1 else self._confusions()
        return self._by_class() if self.detail.kinds else self._informative if self.brief else self._scores

    def lines(self) -> Iterator[str]:
        if self.gold is not None:
            missing = np.sum([each.missing for each in self._found], axis=0).tolist()
            kinds = zip(np.sum([each.refused for each in self._found], axis=0).tolist(), REFUSED, strict=True)
            if trees := ", ".join(f"{counted(number, 'tree')} with {kind}" for number, kind in kinds if number):
                yield f"{trees}: compared word by word; the script of the CoNLL 2018 shared task refuses them"
            for path, numbers in zip((self.gold, *self.systems), missing, strict=True):
                for words, column in zip(numbers, ("HEAD", "DEPREL"), strict=True):
                    if words:
                        is_gold = numbers is missing[0]
                        what = "left out of UAS, LAS, CLAS, MLAS and BLEX" if is_gold else "counted as wrong"
                        what = "_ is compared like a label" if column == "DEPREL" else what
                        yield f"{path}: {counted_thousands(words, 'word')} without {column}: {what}"
            foreign = [
                sum(of_file, Counter[str]()) for of_file in zip(*(each.foreign for each in self._found), strict=True)
            ]
            for path, labels in zip((self.gold, *self.systems), foreign, strict=True):
                if labels:
                    names = ", ".join(name for name, _ in labels.most_common(3)) + ", ..." * (len(labels) > 3)
                    words = counted_thousands(labels.total(), "word")
                    what = "whose label is not a relation of Universal Dependencies"
                    yield f"{path}: {words} {what} ({names}): left out of CLAS, MLAS and BLEX"
            for path, arcs in zip((self.gold, *self.systems), self._found[0].of_empty, strict=True):
                if arcs and "ELAS" in self._metrics:
                    what = "left out of ELAS and EULAS, as in the script, unless they are collapsed first"
                    yield f"{path}: {counted_thousands(arcs, 'arc')} from empty nodes: {what}"
            if self._empty:
                where = f"{self.gold} has none of these in any word"
                yield f"{', '.join(self._empty)}: {where}: not informative; counted as in the script of CoNLL 2018"
            if self._left_out:
                why = "right everywhere, or not in the gold trees"
                yield f"{', '.join(self._left_out)}: {why}; left out of tables and of the last line"
            uas, las = map(METRICS.index, ("UAS", "LAS"))
            for system, sums in zip(self.systems, self._counts.sum(axis=0), strict=True):
                right = int(sums[uas, CORRECT])
                if SUSPICIOUS <= right == sums[las, CORRECT] and right < sums[uas, GOLD]:
                    all_words = f"all {counted_thousands(right, 'word')} with the right head have the right label"
                    yield f"{system}: LAS equals UAS: {all_words}, as if labels were copied from the gold trees"
        yield self._quoted

    @property
    def _empty(self) -> list[str]:
        filled = np.sum([each.filled for each in self._found], axis=0)
        return [name for name, words in zip(OPTIONAL, filled, strict=True) if not words]

    @cached_property
    def _left_out(self) -> list[str]:
        """Metrics of columns that the gold file lacks, or that all systems have from it: those behind BLEX if all 1."""
        if not self._found:
            return []
        wrong = np.ptp(self._counts.sum(axis=0)[..., :ALIGNED], axis=-1).any(axis=0).tolist()
        found = enumerate(zip(self._metrics, wrong, strict=False))
        return [name for at, (name, some) in found if name in self._empty or (at > METRICS.index("BLEX") and not some)]

    @property
    def _informative(self) -> list[Row]:
        return [row for row in self._scores if row["metric"].removesuffix(DIFFERENCE[2:]) not in self._left_out]

    @cached_property
    def _counts(self) -> Integers:
        """Of all units, (units, systems, metrics, 4)."""
        return np.concatenate([each.scores for each in self._found])

    @cached_property
    def _metrics(self) -> Sequence[str]:
        return informative(self._counts)[1]

    @cached_property
    def _scores(self) -> list[Row]:
        rows = list[Row]()
        if self._found:
            found, less = scores(informative(self._counts)[0], self._metrics, *self.how)
            for system, each in zip(self.systems, found, strict=True):
                rows += [{"system": system, **_row(score)} for score in each]
            for row in map(_row, less):
                rows.append({"system": self.systems[1], **row, "metric": DIFFERENCE.format(row["metric"])})
        mean, variance, words = self._expected.tolist()
        if words:
            low, high = normal_interval(mean, variance, self.how[0])
            row = {"system": self.systems[0], "metric": EXPECTED, "value": mean / words}
            rows.append({**row, "low": max(low / words, 0.0), "high": min(high / words, 1.0)})
        return rows

    def _by_class(self) -> list[Row]:
        rows = list[Row]()
        for number, system in enumerate(self.systems):
            found = [sum((each.classes[number][side] for each in self._found), Counter[Class]()) for side in range(3)]
            for each in in_order(found, self.detail.kinds):
                correct, gold, predicted = sums = [counter[each] for counter in found]
                shares = correct / predicted if predicted else None, correct / gold if gold else None
                values = (system, *each, float(f1(np.array(sums))), *shares, *sums)
                rows.append(dict(zip(BY_CLASS, values, strict=True)))
        return rows

    def _by_sentence(self) -> Iterator[Row]:
        for units in self._found:
            counts = units.scores[..., :ALIGNED].astype(np.int64)
            values, sizes = f1(counts), counts[..., [GOLD, PREDICTED]].sum(axis=-1)
            words = counts[:, 0, METRICS.index("Words"), GOLD].tolist()
            for name, size, *of_systems in zip(units.names, words, values.tolist(), sizes.tolist(), strict=True):
                for system, shares, some in zip(self.systems, *of_systems, strict=True):
                    row = {"system": system, "sent_id": name, "words": size}
                    known = zip(self._metrics, shares, some, strict=False)
                    yield {**row, **{metric: share if any_ else None for metric, share, any_ in known}}

    def _confusions(self) -> list[Row]:
        found = sum((each.confusions[0] for each in self._found), Counter[Confusion]())
        rows = [(self.systems[0], *each, words) for each, words in found.items()]
        rows.sort(key=lambda row: (-row[-1], str(row)))
        return [dict(zip(CONFUSIONS, row, strict=True)) for row in rows]

    def _fourfold(self) -> list[Row]:
        """Labels, the most frequent first; p of a label is of its words alone, in the units that have any."""
        starts = np.cumsum([0, *(len(each.sentences) for each in self._found)])
        cells = [each.fourfold + np.array([start, 0, 0, 0]) for each, start in zip(self._found, starts, strict=False)]
        table, rows = np.concatenate(cells), list[Row]()
        for label in np.unique(table[:, 1]).tolist():
            units, _, who, words = table[table[:, 1] == label].T
            _, places = np.unique(units, return_inverse=True)
            counts = np.zeros((places.max() + 1, 4), dtype=np.int64)
            np.add.at(counts, (places, who), words)
            both, first, second, _ = counts.T
            sizes, (_, resamples, seed) = counts.sum(axis=1), self.how
            sides = [np.stack([right, sizes, sizes], axis=-1) for right in (both + first, both + second)]
            p = float(randomisation_test(sides[0], sides[1], resamples, stream_of(None, seed)))
            sums = int(sizes.sum()), *counts.sum(axis=0).tolist()
            rows.append(dict(zip(FOURFOLD, (self._found[0].labels[label], *sums, p), strict=True)))
        return sorted(rows, key=lambda row: (-row["words"], row["label"]))

    @cached_property
    def _quoted(self) -> str:
        systems = groupby(self._informative, lambda row: f"{row['system']}: " * (len(self.systems) > 1))
        found = "; ".join(name + ", ".join(map(_quoted, rows)) for name, rows in systems)
        n, n_words = self._sizes
        sentences, words = counted_thousands(n, "sentence"), counted_thousands(n_words, "word")
        most, most_words, more = self._found[0].of if self._found else (0, 0, False)
        if n < most:
            sentences = f"{n:,} of {counted_thousands(most, 'sentence')}"
            words = f"{n_words:,} of {'at least ' * more}{counted_thousands(most_words, 'gold word')}"
        if self._found and len(self._counts) != n:
            sentences += f" in {counted_thousands(len(self._counts), 'group')} with the same ends"
        return f"{found} (n = {sentences}, {words}) | {self.signature}"


def _row(score: Score) -> Row:
    found: dict[str, Any] = dict(zip(("metric", "value", "low", "high"), (score.metric, *score.f1), strict=True))
    if score.p is not None:
        found["p"] = score.p
    else:
        names = "correct", "gold", "predicted", "aligned", "aligned_accuracy"
        found |= {name: getattr(score, name) for name in names}
    for name, estimate in (("precision", score.precision), ("recall", score.recall)):
        found |= dict(zip((name, f"{name}_low", f"{name}_high"), estimate, strict=True))
    return found


def _quoted(row: Row) -> str:
    sign = "+" if "p" in row else ""
    text = f"{row['metric']} {100 * row['value']:{sign}.2f}"
    if row["low"] is not None:
        text += f" [{100 * row['low']:.2f}, {100 * row['high']:.2f}]"
    return f"{text} p = {row['p']:.2g}" if "p" in row else text
