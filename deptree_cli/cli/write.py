"""How results are written, as a command's options say it: the format, the signature in front, the style of trees.

One rule for every command: ``--format`` says what is written; without it the suffix of -o decides, then whether a
terminal is to show it. ``--json`` and ``--tsv`` are short names of two formats.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from string import Formatter
from typing import Any

import click

from deptree_cli.cli.help import WRITING
from deptree_cli.cli.options import Bundle, Opt, Use, check_effect, flag, writing
from deptree_cli.cli.terminal import Table, drawn
from deptree_cli.core.errors import one_of
from deptree_cli.io.conllu import DEPS, USUAL, Style
from deptree_cli.io.encoders import encoder_of, encoders
from deptree_cli.io.encoders.base import CONLLU, JSONL, TSV, Encoder, Page, Row, Write, rows_of
from deptree_cli.io.files.output import Output, suffix_of
from deptree_cli.io.files.streams import screen_of


def _usual(formats: tuple[str | Encoder, ...], on_terminal: bool, of_conllu: bool) -> str:
    """The name of the format that is written unless another one is asked for."""
    if of_conllu and CONLLU.name in formats:
        return CONLLU.name
    found = [each.name for each in encoders(formats) if on_terminal or not each.for_people]
    return found[0] if found else next(encoders(formats)).name


@contextmanager
def _table(path: str | None, page: Page) -> Iterator[Write]:
    """Rows as a table at the end, when its columns are known to fit; a single row without headings stands upright."""
    rows = list[Row]()
    with Output(path) as out:
        yield rows.extend
        if not rows:
            return
        columns, title, headings = page.sheet
        if len(rows) == 1 and not headings:
            table = Table(title, ("what", "value"), [[*each] for each in rows[0].items()])
        else:
            filled = (name for name in columns if any(row.get(name) is not None for row in rows))
            shown = headings or {name: name for name in filled}
            table = Table(title, [*shown.values()], [[row.get(name) for name in shown] for row in rows])
        out.write(drawn(table, *screen_of(path)).encode())


TABLE = Encoder("table", (), rows_of, _table, for_people=True, header=False)
ROWS = (TABLE, JSONL.name, TSV.name)  # the formats of commands whose results are rows


# What may stand behind the colon of {k}: up to 99 columns, filled with spaces or zeros.
_WIDTH_OF_K = re.compile(r"0?[1-9]?[0-9]?d?")

# An id beside a number, with nothing but digits between: the 11th tree of `a` has the name of the first of `a1`.
_TOUCHING = re.compile("i[0-9]*k|k[0-9]*i")


def _sent_id_format(text: str) -> str:
    """The template, if it names every tree differently and nothing but {id} and {k}: no attributes, no huge widths."""
    parts: list[Any] = []
    with suppress(ValueError):
        parts = list(Formatter().parse(text))
    fields = [(name, spec, how) for _, name, spec, how in parts if name is not None]
    shape = "".join(re.sub("[^0-9]", "-", between) + (name or "")[:1] for between, name, *_ in parts)
    sound = all(
        how is None and (spec == "" if name == "id" else name == "k" and _WIDTH_OF_K.fullmatch(spec or ""))
        for name, spec, how in fields
    )
    is_named = sound and {name for name, *_ in fields} == {"id", "k"} and text.isprintable()
    if is_named and not _TOUCHING.search(shape):
        return text
    wrong = "must have {id} and {k} and no other field"
    if is_named:
        wrong = "can give trees of two sentences the same name. Put something other than a digit between {id} and {k}"
    raise click.BadParameter(f"{text!r} {wrong}, such as '{{id}}-sample_{{k}}' or '{{id}}-{{k:03}}'.")


@dataclass(eq=False)
class Out(Bundle):
    """How results are written."""

    fmt: str | None = writing("--format", metavar="FORMAT", often=True)
    json: bool = flag("--json", section=WRITING, help="", hidden=True)
    tsv: bool = flag("--tsv", section=WRITING, help="", hidden=True)
    header: bool | None = writing(
        "--header/--no-header",
        help="Write the run signature as first comment or line (default: in CoNLL-U and score files only).",
    )
    deps: str = writing(
        "--deps",
        type=click.Choice(DEPS),
        default=USUAL.deps,
        sign="deps",
        only_unusual=True,
        help="DEPS in CoNLL-U: drop (and empty nodes) if the tree changes, basic (its arcs), or keep.  [default: drop]",
    )
    sent_id_format: str = writing(
        "--sent-id-format",
        convert=_sent_id_format,
        default=USUAL.sent_id_format,
        sign="sentid",
        only_unusual=True,
        metavar="TEXT",
        help=f"The sent_id of a sentence's k-th tree in CoNLL-U.  [default: {USUAL.sent_id_format}]",
    )
    # Those that there is a choice of, or their names; the usual one first, but for those that only a terminal gets.
    formats: tuple[str | Encoder, ...] = (JSONL.name,)
    of_trees: bool = False  # whether there may be several trees of a sentence, in CoNLL-U
    has_header: bool = True
    single: bool = False  # whether there is but one row: then it may go into a file `.json`

    @classmethod
    def declared(cls, fixed: Mapping[str, Any]) -> dict[str, Opt | Use]:
        found, formats = super().declared(fixed), fixed.get("formats", cls.formats)
        names = [each.name for each in encoders(formats)]
        chosen: Any = found["fmt"]
        found["fmt"] = replace(chosen, type=click.Choice(names), help=_format_help(formats, names))
        has_choice, of_trees = len(names) > 1, fixed.get("of_trees", False)
        has = {"fmt": has_choice, "header": fixed.get("has_header", True), "deps": of_trees, "sent_id_format": of_trees}
        has |= {short: has_choice and name in names for short, name in (("json", JSONL.name), ("tsv", TSV.name))}
        return {name: each for name, each in found.items() if has[name]}

    def __post_init__(self) -> None:
        given = {JSONL.name: self.json, TSV.name: self.tsv, self.fmt: self.fmt is not None}
        asked = [name for name in given if given[name]]
        if len(asked) > 1:
            raise click.UsageError(f"{asked[0]} and {asked[1]} are two formats. Choose one.")
        self.fmt, self.json, self.tsv = (asked[0] if asked else None), False, False

    @property
    def style(self) -> Style:
        return Style(self.deps, self.sent_id_format)

    def encoder(self, output: str | None, of_conllu: bool = False) -> Encoder:
        """The format of results, of sentences in CoNLL-U or of others; --header has to have an effect there."""
        on_terminal = output is None and sys.stdout is not None and sys.stdout.isatty()
        usual = _usual(self.formats, on_terminal, of_conllu)
        as_json = self.single and self.fmt is None and suffix_of(output) == ".json"
        found = JSONL if as_json else encoder_of(self.fmt, output, self.formats, usual)
        if self.header and not found.header:
            check_effect(["header"], f"a format whose header is optional, but the output is {found.name}")
        return found

    def narrowed(self, what: str, *formats: str) -> Out:
        """The same for results for which only some of the formats have a place; `what` they are, for a message."""
        names = [each.name for each in encoders(formats)]
        if self.fmt not in (None, *names):
            raise click.UsageError(f"--format {self.fmt} cannot store {what}. {one_of(names)}, or remove it.")
        return replace(self, formats=formats)

    def of_single_trees(self) -> Out:
        check_effect(["sent_id_format"], "-k: a sentence's only tree keeps its sent_id")
        return replace(self, sent_id_format="{id}")


def _format_help(formats: tuple[str | Encoder, ...], names: list[str]) -> str:
    usual, shown = _usual(formats, False, False), _usual(formats, True, False)
    default = usual
    if shown != usual:
        default = f"{shown} on a terminal, else {usual}"
    elif CONLLU.name in names[1:]:
        default = f"{CONLLU.name} with sentences in CoNLL-U, else {usual}"
    listed = f"{', '.join(names[:-1])} or {names[-1]}" if len(names) > 1 else names[0]
    return f"Format: {listed}.  [default: as -o; {default}]"
