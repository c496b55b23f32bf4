"""``deptree report``."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from deptree_cli.cli.doubts import layout_doubts
from deptree_cli.cli.job import signed
from deptree_cli.cli.params import INPUT
from deptree_cli.cli.pipeline import Pipeline
from deptree_cli.cli.ranges import IntRange
from deptree_cli.cli.rule_options import rule_option
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, gold_option, score_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.source import Source
from deptree_cli.core.errors import DeptreeError, counted, printable
from deptree_cli.io.files.output import Output, suffix_of
from deptree_cli.io.scores.records import ScoredSentence
from deptree_cli.io.signature import signature

if TYPE_CHECKING:
    from deptree_cli.io.pages.packing import PackedSentence
    from deptree_cli.io.rules.constraints import Constraints

# How many sentences a page holds, unless told otherwise: about 6 MB of a treebank.
MOST = 2000


@command(epilog="\b\nTry: deptree report scores.npz --from natasha --conllu gold.conllu -o report.html")
@score_options
@rule_option("Count how often the trees of --conllu break these rules")
@gold_option("The page shows how often heads of each tenth of probability are right.")
@option("--samples", type=INPUT, help="Samples to look through: trees in CoNLL-U or JSON Lines.")
@option(
    "--top",
    type=IntRange(1),
    default=MOST,
    metavar="N",
    help=f"Only the N most doubtful sentences.  [default: {MOST}]",
)
@run_options
def report(scores: ScoreOptions, samples: str | None, top: int, run: RunOptions) -> int:
    """Write one self-contained HTML page to look through a treebank.

    The page lists sentences. Sort them by doubt (the expected errors of their heads), entropy or broken rules, and
    filter by text, label and UPOS. Arcs are as opaque as they are probable, with rival arcs below. Click an arc to fix
    it: all other probabilities change. Marks and chosen heads can be exported as CoNLL-U or TSV. The page needs no
    network. Keys: press ? in the page.

    Broken --rules are counted; they change no probability.
    """
    _check_output(run.output)
    rules = scores.how.constraints
    scores = replace(scores, how=replace(scores.how, constraints=None))
    fields = {**scores.signature_fields, **run.signature_fields, "samples": samples, "top": top}
    made_by = signature("report", fields)
    pipeline = Pipeline(_source(scores, samples, run), run)
    results = pipeline.map(Pack(rules, bool(scores.gold)))
    with Output(run.output, "a page") as out:  # before the work: whether it can be written
        doubts = Doubts()
        kept, total = _most_doubtful(doubts.counted(signed(results, made_by, run)), top)
        if not kept:
            raise DeptreeError("there are no sentences to show", "Check the file", place=scores.name)
        out.write(_page(kept, total, scores, made_by, rules is not None))
    said = layout_doubts(doubts.errors, doubts.words)
    if total > len(kept):
        which = f"the {len(kept):,} most doubtful of {counted(total, 'sentence')}"
        said.append(f"the page has {which}: --top N for more or fewer")
    if rules is not None:
        from deptree_cli.io.rules.reading import unknown_labels  # few reports have rules

        said += filter(None, [unknown_labels(rules.rules, doubts.labels, "that no word has")])
    for line in said:
        run.warn(line, line)
    return pipeline.exit_code


def _check_output(output: str | None) -> None:
    """Raise for a suffix that promises something else."""
    if suffix_of(output) not in ("", ".html", ".htm"):
        raise DeptreeError("a report is a page of HTML", "Name a .html file", place=output or "")


def _source(scores: ScoreOptions, samples: str | None, run: RunOptions) -> Source[Any, Any]:
    """The sentences, each with its samples, if there are some."""
    if samples is None:
        return scores.source(run)
    from deptree_cli.io.trees import read_trees  # few reports have samples

    return scores.with_samples(read_trees(samples), run)


@dataclass(frozen=True)
class Pack:
    """The work on a sentence; it travels to worker processes.

    Attributes:
        rules: which breaks are counted.
        has_gold: whether heads are known to be right.
    """

    rules: Constraints | None
    has_gold: bool

    def __call__(self, sentence: ScoredSentence, _: None) -> PackedSentence:
        """The sentence as the page needs it, with its samples."""
        from deptree_cli.io.pages.packing import packed  # when there is work

        given = sentence.record.trees
        samples = () if given is None else (np.repeat(given.heads, given.times, axis=0),)
        return packed(sentence, self.rules, self.has_gold, *samples)


@dataclass
class Doubts:
    """How many more heads are expected to be wrong in the trees shown than in the best ones, of how many words; their
    labels.
    """

    words: int = 0
    errors: float = 0.0
    labels: set[str] = field(default_factory=set)

    def counted(self, sentences: Iterable[PackedSentence]) -> Iterator[PackedSentence]:
        """Count sentences that pass."""
        for sentence in sentences:
            self.words += len(sentence.tree)
            self.errors += sentence.doubt - sentence.least_doubt
            self.labels |= sentence.deprels
            yield sentence


def _most_doubtful(sentences: Iterable[PackedSentence], top: int) -> tuple[list[PackedSentence], int]:
    """The sentences of the highest expected errors, in the order of the file, and how many there are of all."""
    kept: list[tuple[float, int, PackedSentence]] = []
    total = 0
    for total, sentence in enumerate(sentences, 1):
        ranked = (sentence.doubt, -total, sentence)
        if len(kept) < top:
            heapq.heappush(kept, ranked)
        else:
            heapq.heappushpop(kept, ranked)
    return [sentence for _, _, sentence in sorted(kept, key=lambda each: -each[1])], total


def _page(kept: Sequence[PackedSentence], total: int, scores: ScoreOptions, made_by: str, has_rules: bool) -> bytes:
    from deptree_cli.io.pages.page import Report, to_html  # when there is something to write

    names = [printable(PurePath(each).name) for each in (scores.name, scores.conllu) if each]
    how, labels = scores.how, scores.how.labels or ()
    return to_html(Report(" · ".join(names), made_by, kept, total, how.space, labels, bool(scores.gold), has_rules))
