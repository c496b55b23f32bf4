"""How results are written, as a command's options say it: the format, the signature in front, the style of trees.

One rule for every command that has rows: ``--json`` and ``--tsv`` say what is written; without them the suffix of -o
decides, a terminal gets a table, and everything else JSON Lines.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any

import click

from deptree_cli.cli.binding import bound
from deptree_cli.cli.options import check_effect
from deptree_cli.cli.report import Table, show
from deptree_cli.cli.sections import Decorator, writing_option
from deptree_cli.io.conllu.splicing import DEPS
from deptree_cli.io.conllu.trees import USUAL, Style
from deptree_cli.io.encoders import encoder_of, encoders
from deptree_cli.io.encoders.base import Encoder, Page, Row, Write
from deptree_cli.io.encoders.text import CONLLU, JSONL, TSV, rows_of
from deptree_cli.io.files.output import suffix_of


@dataclass(frozen=True)
class Writing:
    """How results are written.

    Attributes:
        formats: the names of those that there is a choice of, the usual one first; CoNLL-U is usual where it is read.
        fmt: the name of the one that is asked for, None if the output decides.
        header: whether the signature is shown where the format leaves the choice; None for what is usual.
        style: of trees in CoNLL-U.
        tables: whether a terminal gets a table, unless a format is asked for.
        single: whether there is but one row: then it may go into a file `.json`.
    """

    formats: tuple[str, ...] = (JSONL.name,)
    fmt: str | None = None
    header: bool | None = None
    style: Style = USUAL
    tables: bool = False
    single: bool = False

    def encoder(self, output: str | None, of_conllu: bool = False) -> Encoder:
        """The format of results, of sentences in CoNLL-U or of others.

        Raises:
            DeptreeError: the suffix of the output promises another one.
        """
        if self.tables and self.fmt is None and output is None and _on_terminal():
            return TABLE
        if self.single and self.fmt is None and suffix_of(output) == ".json":
            return JSONL
        usual = CONLLU.name if of_conllu and CONLLU.name in self.formats else self.formats[0]
        return encoder_of(self.fmt, output, self.formats, usual)

    def as_json(self, output: str | None, what: str) -> Writing:
        """The same for results that only JSON has a place for; `what` they are, for a message."""
        if self.encoder(output) is TSV:
            raise click.UsageError(f"--tsv has no place for {what}: leave it out.")
        return replace(self, fmt=JSONL.name)

    @property
    def style_fields(self) -> dict[str, object]:
        """What of the style of trees a run must repeat to give the same result, for the signature."""
        deps, name = self.style.deps, self.style.sent_id_format
        return {
            "deps": None if deps == USUAL.deps else deps,
            "sentid": None if name == USUAL.sent_id_format else name,
        }

    def of_single_trees(self) -> Writing:
        """The same for one tree of each sentence, which keeps the sentence's name."""
        check_effect(["sent_id_format"], "-k: a sentence's only tree keeps its sent_id")
        return replace(self, style=replace(self.style, sent_id_format="{id}"))


def _on_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


@contextmanager
def _table(path: str | None, page: Page) -> Iterator[Write]:
    """Rows as a table at the end, when its columns are known to fit; a single row without headings stands upright."""
    rows: list[Row] = []
    yield rows.extend
    columns, title, headings = page.sheet
    if not rows:
        return
    if len(rows) == 1 and not headings:
        show(Table(title, ("what", "value"), [[*each] for each in rows[0].items()]), sys.stdout)
        return
    shown = list(headings or (name for name in columns if any(row.get(name) is not None for row in rows)))
    names = [headings[name] if headings else name for name in shown]
    show(Table(title, names, [[row.get(name) for name in shown] for row in rows]), sys.stdout)


TABLE = Encoder("table", (), rows_of, _table)


_HEADER = writing_option(
    "--header/--no-header",
    default=None,
    help="Write the run signature as first comment (CoNLL-U; default yes) or first line (JSON Lines; default no).",
)


# What may stand behind the colon of {k}: up to 99 columns, filled with spaces or zeros.
_WIDTH_OF_K = re.compile(r"0?[1-9]?[0-9]?d?")


def _sent_id_format(context: click.Context, parameter: click.Parameter, text: str) -> str:
    """The template, if it names every tree differently and nothing but {id} and {k}: no attributes, no huge widths."""
    try:
        fields = [(name, spec, how) for _, name, spec, how in Formatter().parse(text) if name is not None]
    except ValueError:
        fields = []
    sound = all(
        how is None and (spec == "" if name == "id" else name == "k" and _WIDTH_OF_K.fullmatch(spec or ""))
        for name, spec, how in fields
    )
    if not sound or {name for name, *_ in fields} != {"id", "k"} or not text.isprintable():
        remedy = "such as '{id}-sample_{k}' or '{id}-{k:03}'"
        raise click.BadParameter(f"{text!r} is not a name with {{id}} and {{k}} and no other field, {remedy}.")
    return text


_STYLE_OPTIONS = [
    writing_option(
        "--deps",
        type=click.Choice(DEPS),
        default=USUAL.deps,
        help="DEPS in CoNLL-U: drop (and empty nodes) if the tree changes, basic (its arcs), or keep.  [default: drop]",
    ),
    writing_option(
        "--sent-id-format",
        callback=_sent_id_format,
        default=USUAL.sent_id_format,
        metavar="TEXT",
        help=f"The sent_id of a sentence's k-th tree in CoNLL-U.  [default: {USUAL.sent_id_format}]",
    ),
]


def format_options(*formats: str, style: bool = False, tsv: bool = False) -> Decorator[Any]:
    """Give a command --format and --header as one `writing: Writing`.

    Args:
        formats: of its results, the usual one first.
        style: whether there are trees, with options for their style.
        tsv: whether --tsv is another name of one of the formats.
    """
    names = [each.name for each in encoders(formats)]
    help_text = f"Output format: {', '.join(names[:-1])} or {names[-1]}. See above for the default."
    form: dict[str, Any] = {"type": click.Choice(names), "metavar": "FORMAT"}
    options = [writing_option("--format", "fmt", often=True, help=help_text, **form)]
    if tsv:
        help_text = f"The same as --format {TSV.name}: a table."
        options.append(writing_option("--tsv", "as_tsv", is_flag=True, help=help_text))

    def build(*, fmt: str | None, header: bool | None, as_tsv: bool = False, **style: str) -> Writing:
        if as_tsv and fmt not in (None, TSV.name):
            raise click.UsageError(f"--tsv and --format {fmt} are two formats. Remove one.")
        return Writing(formats, TSV.name if as_tsv else fmt, header, Style(**style))

    of_trees = _STYLE_OPTIONS if style else []
    return bound(
        "writing", [*options, _HEADER, *of_trees], build, ("fmt", "as_tsv", "header", "deps", "sent_id_format")
    )


_ROW_OPTIONS = [
    writing_option(
        "--json", "as_json", is_flag=True, often=True, help="JSON, also on a terminal (default there: a table)."
    ),
    writing_option("--tsv", "as_tsv", is_flag=True, often=True, help="Tab-separated values with a header line."),
]


def _of_rows(*, as_json: bool, as_tsv: bool, header: bool | None = None) -> Writing:
    if as_json and as_tsv:
        raise click.UsageError("--json and --tsv are two formats: choose one.")
    fmt = JSONL.name if as_json else TSV.name if as_tsv else None
    return Writing((JSONL.name, TSV.name), fmt, header, tables=True)


def _of_rows_or_sentences(*, fmt: str | None, as_json: bool, as_tsv: bool, header: bool | None) -> Writing:
    if fmt and (as_json or as_tsv):
        raise click.UsageError(f"--{'json' if as_json else 'tsv'} and --format are two formats: choose one.")
    rows = _of_rows(as_json=as_json, as_tsv=as_tsv, header=header)
    return replace(rows, formats=(*rows.formats, CONLLU.name), fmt=fmt or rows.fmt)


# Gives a command whose results are rows --json and --tsv, as one `writing: Writing`; the first also --header.
row_options = bound("writing", [*_ROW_OPTIONS, _HEADER], _of_rows)
bare_row_options = bound("writing", _ROW_OPTIONS, _of_rows)

# The same for a command that also writes the sentences themselves, for which --format has a place.
row_or_sentence_options = bound(
    "writing",
    [
        writing_option(
            "--format",
            "fmt",
            type=click.Choice([JSONL.name, TSV.name, CONLLU.name]),
            often=True,
            help="Rows as --json or --tsv, or the sentences.",
        ),
        *_ROW_OPTIONS,
        _HEADER,
    ],
    _of_rows_or_sentences,
)

# Gives a command whose results are objects of JSON --header, as one `writing: Writing`.
json_options = bound("writing", [_HEADER], Writing)
