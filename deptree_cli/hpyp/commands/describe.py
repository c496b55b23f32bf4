"""``deptree hpyp describe``."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from deptree_cli.cli.options import RESULTS, command, writing_option
from deptree_cli.cli.terminal import Table, drawn, message
from deptree_cli.cli.write import ROWS, TABLE, Writing, format_options
from deptree_cli.hpyp.options.parser_options import model_argument
from deptree_cli.io.encoders.base import JSONL, Page, Sheet
from deptree_cli.io.files.output import Output
from deptree_cli.io.files.streams import screen_of

if TYPE_CHECKING:
    from deptree_cli.hpyp.model.trained import Trained


@command()
@model_argument
@format_options(*ROWS, header=False)
@writing_option("--output", "-o", type=RESULTS, help="Write to FILE, which appears when complete.")
def describe(model: str, writing: Writing, output: str | None) -> int:
    """Show how a model was trained and what it knows: words, tags, labels and the counts behind its probabilities.

    Writes a table on a terminal, otherwise one JSON object; TSV has the levels only. A model predicts actions,
    tags and words by a Pitman-Yor process each. A process has a level for every length of context, from 0 on; the row
    of a level names the element that it adds. Restaurants are distinct contexts. Entries are the distinct actions, tags
    or words in them. Customers are the training events on the last level, and the tables of the next level on others.
    """
    from deptree_cli.hpyp.files.model_file import read_model
    from deptree_cli.hpyp.model.levels import levels  # these load kernels: when there is work

    trained, made_by = read_model(model)
    encoder = replace(writing, single=True).encoder(output)
    summary, rows = _summary(trained), list(levels(trained))
    columns = tuple(rows[0])
    if encoder is TABLE:
        message(made_by)
        tables = [Table(model, ("what", "value"), [[name, _shown(value)] for name, value in summary.items()])]
        for process in trained.symbols.names:
            own = [[row[name] for name in columns[2:]] for row in rows if row["process"] == process]
            tables.append(Table(process, columns[2:], own))
        with Output(output) as out:
            for table in tables:
                out.write(drawn(table, *screen_of(output)).encode())
        return 0
    if encoder is JSONL:
        contexts = asdict(trained.symbols.contexts)
        rows = [{"signature": made_by, **summary, "contexts": contexts, "levels": rows}]
    with encoder.open(output, Page(made_by, sheet=Sheet(columns))) as write:
        for row in rows:
            write(encoder.encode(row, None))
    return 0


def _summary(trained: Trained) -> dict[str, Any]:
    """One line per fact."""
    had, symbols = trained.progress, trained.symbols
    words = symbols.lexicon.vocabulary.symbols
    classes = sum(word == "UNK" or word.startswith("UNK-") for word in words)
    text = {"text_sentences": had.text_sentences, "passes": had.passes} if had.text_digest else {}
    return {
        "tagset": had.tagset,
        "oracle": had.oracle,
        "seed": had.seed,
        "sentences": had.sentences,
        "trees_made_projective": had.lifted,
        **text,
        "iterations": had.iterations,
        **({"states": len(trained.states)} if trained.earlier else {}),
        "log_likelihood_first": had.log_likelihoods[0] if had.iterations else None,
        "log_likelihood_last": had.log_likelihoods[-1] if had.iterations else None,
        "words": len(words) - classes,
        "word_classes": classes,
        "tags": len(symbols.tags.symbols),
        "labels": len(symbols.labels),
    }


def _shown(value: object) -> object:
    """A value for the table: log-likelihoods with more digits than other numbers have there."""
    return f"{value:.1f}" if isinstance(value, float) else value
