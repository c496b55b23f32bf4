"""``deptree doubt``."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

import click

from deptree_cli.cli.doubts import Doubt, columns_of
from deptree_cli.cli.job import Job
from deptree_cli.cli.options import check_effect, entry_option
from deptree_cli.cli.params import INPUT, FloatRange
from deptree_cli.cli.ranking import NO_HEADS, Ranking, Selection, selection_options
from deptree_cli.cli.run_options import RunOptions, run_options
from deptree_cli.cli.score_options import ScoreOptions, judging_options
from deptree_cli.cli.sections import command, option
from deptree_cli.cli.writing import ROWS, TABLE, Writing, format_options
from deptree_cli.core.doubt import CRITERIA, Criterion
from deptree_cli.io.encoders.base import Sheet
from deptree_cli.io.encoders.text import CONLLU
from deptree_cli.io.pages.marks import read_marks

WORD, SENTENCE = "word", "sentence"

# Of a table without --top.
SHOWN = 20


@command()
@judging_options
@option("--per", type=click.Choice([WORD, SENTENCE]), metavar="UNIT", help="Rank by word or sentence.  [default: word]")
@entry_option(CRITERIA, "--rank", "by", default=None, help="Rank sentences by: {names}.", name=attrgetter("line"))
@selection_options
@option(
    "--threshold",
    type=FloatRange(0, 1),
    default=0.5,
    metavar="P",
    often=False,
    help="A word is a suspect if its annotation is wrong with a probability above this.  [default: 0.5]",
)
@option(
    "--marks",
    type=INPUT,
    often=False,
    help="Marks made in a report (its TSV): rows show them, and words marked as fine are left out.",
)
@format_options(*ROWS, CONLLU.name)
@run_options
def doubt(
    scores: ScoreOptions,
    per: str | None,
    by: Criterion | None,
    selection: Selection,
    threshold: float,
    marks: str | None,
    writing: Writing,
    run: RunOptions,
) -> int:
    """Rank annotated words, or sentences, the most doubtful first.

    Writes a row per word (JSON Lines; a table on a terminal): the probability of its head, and the most probable head;
    with --labels, the probability of head and label decides the rank. --rank, --words and --format conllu rank
    sentences. For broken rules use check or repair.
    """
    if written := writing.encoder(run.output) is CONLLU:
        scores.check_words()
    sentences = written or selection.words is not None or by is not None
    if per == WORD and sentences:
        raise click.UsageError("--rank, --words and CoNLL-U are of sentences: pass --per sentence.")
    ranked_by = (by or CRITERIA.get("expected-errors")) if sentences or per == SENTENCE else None
    _check(scores, ranked_by)
    if not (ranked_by and scores.conllu):
        check_effect(["threshold"], "--per sentence and annotated heads: only these rows count suspects")
    of = {"rank": ranked_by.name, "threshold": threshold} if ranked_by else {}
    fields = {"per": SENTENCE if ranked_by else WORD, **of, **selection.signature_fields, "marks": marks}
    job = Job("doubt", replace(scores.source(run), is_conllu=False), run, writing, last=fields)
    marked = {(each.sent_id, each.word): each for each in read_marks(marks)} if marks else {}
    work = Doubt(ranked_by, threshold, job.encoder is CONLLU, marked)
    columns = columns_of(ranked_by, scores.how.labels is not None, bool(marks))
    limited = job.encoder is TABLE and selection.top is None and selection.words is None
    ranking = Ranking(
        selection, columns, SHOWN if limited else None, ranked_by, scores.conllu or scores.place, len(marked)
    )
    return job.summarise(work, ranking, Sheet(columns))


def _check(scores: ScoreOptions, by: Criterion | None) -> None:
    if (by is None or by.of_annotation) and not scores.conllu:
        raise click.UsageError(f"There are no annotated heads. {NO_HEADS}.")
