"""``deptree report``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from deptree_cli.cli.options import INPUT, IntRange, check_effect, command, opt, use
from deptree_cli.cli.rule_options import met, rules
from deptree_cli.cli.run import Fold, Job, Run, Source, layout_doubts
from deptree_cli.cli.score_options import SCORES_OR_TREES, Scores, gold
from deptree_cli.cli.terminal import Counted
from deptree_cli.cli.write import Out
from deptree_cli.core.errors import DeptreeError, counted, printable
from deptree_cli.io.checking import Asked, BrokenRules, Counts, possible_names
from deptree_cli.io.encoders.base import Encoder, Page, Write
from deptree_cli.io.files.output import Output
from deptree_cli.io.files.streams import share_of
from deptree_cli.io.pages import MostDoubtful, OnPage, Report, for_page, for_page_of_many, for_page_of_tree, to_html
from deptree_cli.io.rules.reading import Names
from deptree_cli.io.scores.records import ScoredSentence

if TYPE_CHECKING:
    from deptree_cli.io.rules.constraints import Constraints
    from deptree_cli.io.scores.batches import ScoredBatch

# How many sentences a page holds, unless told otherwise: about 6 MB of a treebank.
MOST = 2000

# How many rules are named with their counts.
MOST_RULES = 5


@command()
def report(
    scores: Scores = use(
        Scores,
        or_trees=True,
        scores=SCORES_OR_TREES,
        rules=rules("Show where trees break these rules"),
        gold=gold("The page shows how often heads of each tenth of probability are right."),
    ),
    samples: str | None = opt(
        "--samples", type=INPUT, sign="samples", help="Samples to look through: trees in CoNLL-U or JSON Lines."
    ),
    top: int = opt(
        "--top",
        type=IntRange(1),
        default=MOST,
        metavar="N",
        sign="top",
        help=f"Only the N most doubtful sentences; without scores, those with most broken rules.  [default: {MOST}]",
    ),
    run: Run = use(Run, lacks=["shard"]),
) -> int:
    """Write one self-contained HTML page to look through a treebank.

    The page lists sentences. Sort them by doubt (the expected errors of their heads), entropy or broken rules, and
    filter by text, label, UPOS and rule. Arcs are as opaque as they are probable, with rival arcs below. Click an arc
    to fix it: all other probabilities change. Marks and chosen heads can be exported as CoNLL-U. The page needs no
    network. Keys: press ? in the page.

    Of TREES (CoNLL-U) the page has no probabilities. It marks all that deptree check lists by --rules; without these,
    heads that are not a tree. Broken --rules are marked with SCORES too, and change no probability.
    """
    html = Encoder("html", (".html", ".htm"), _unchanged, _page)
    if scores.given:
        check_effect(["samples"], "scores: these are sentences with trees")
        return _report_trees(scores, top, run, Out(formats=(html,)))
    asked, how, has_gold = scores.rules, replace(scores.how, constraints=None), bool(scores.gold)
    scores = replace(scores, how=how)
    names = [printable(PurePath(each).name) for each in (scores.name, scores.files[0].conllu) if each]
    about = Report(" · ".join(names), how.space, how.labels or (), has_gold, asked is not None, top)
    if samples is None:
        source = scores.source(run)
    else:
        from deptree_cli.io.trees import read_trees  # few reports have samples

        source = scores.with_samples(read_trees(samples), run)
    job = Job("report", source, run, Out(formats=(html,)), about=about)
    return job.write(ForPage(asked, has_gold), folds=[Doubts(top, asked)])


def _report_trees(scores: Scores, top: int, run: Run, out: Out) -> int:
    from deptree_cli.io.rules.constraints import Constraints  # few runs have rules
    from deptree_cli.io.rules.reading import read_rules

    rules = scores.rules or Constraints("tree", read_rules("tree"))
    asked = Asked(rules, None)
    names = [printable(PurePath(each).name) for each in scores.given]
    about = Report(" · ".join(names), scores.trees.trees, has_rules=True, top=top, has_scores=False)
    items = Counted(met(asked.in_files(scores.given), rules, possible_names), share=share_of(scores.given))
    source = Source(items, asked, {"rules": rules.name})
    return Job("report", source, run, out, about=about).write(for_page_of_tree, folds=[Broken(top, rules)])


def _unchanged(found: OnPage, _: object) -> OnPage:
    return found


@contextmanager
def _page(path: str | None, page: Page) -> Iterator[Write]:
    with Output(path, "a page") as out:
        sentences = MostDoubtful(page.about.top)
        yield sentences.add
        if not sentences.total:
            raise DeptreeError("there are no sentences to show", "Check the file")
        out.write(to_html(page.about, page.signature, sentences))


@dataclass(frozen=True)
class ForPage:
    rules: Constraints | None
    has_gold: bool

    @property
    def in_batches(self) -> bool:
        return self.rules is None

    def __call__(self, sentence: ScoredSentence, _: None) -> OnPage:
        found: OnPage | None = sentence.ask(self.many) if self.in_batches else None
        return found or for_page(sentence, self.rules, self.has_gold)

    def many(self, sentences: ScoredBatch, _: None) -> list[OnPage]:
        return for_page_of_many(sentences, self.has_gold)


class Doubts(Fold[tuple[int, float, Names]]):
    """Counts how many more heads are expected to be wrong in the trees shown than in the best ones."""

    def __init__(self, top: int, rules: Constraints | None) -> None:
        self._top, self._rules = top, rules
        self._sentences, self._words, self._errors, self._names = 0, 0, 0.0, Names()

    def add(self, counts: tuple[int, float, Names]) -> None:
        words, errors, names = counts
        self._sentences += 1
        self._words += words
        self._errors += errors
        self._names |= names

    def lines(self) -> Iterator[str]:
        yield from layout_doubts(self._errors, self._words)
        yield from left_out(self._top, "most doubtful of", self._sentences)
        if self._rules is not None:
            yield from self._rules.notices(self._names)


class Broken(BrokenRules, Fold[Counts]):
    """Tells how many rules are broken, and which of them most often."""

    def __init__(self, top: int, rules: Constraints) -> None:
        super().__init__(rules)
        self._top = top

    def lines(self) -> Iterator[str]:
        yield from left_out(self._top, "with most broken rules of" if self.found else "first of", self._checked)
        yield from self.notices()
        most = ", ".join(f"{rule} {places:,}" for rule, places, _ in self.found[:MOST_RULES])
        yield f"{self}: {most}{', ...' * (len(self.found) > MOST_RULES)}" if most else str(self)


def left_out(top: int, which: str, sentences: int) -> Iterator[str]:
    if sentences > top:
        yield f"the page has the {top:,} {which} {counted(sentences, 'sentence')}: --top N for more or fewer"
