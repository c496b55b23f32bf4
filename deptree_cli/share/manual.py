"""The man page, in the man macros of roff."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable

from deptree_cli.cli import BAD_INPUT, DONE, INTERRUPTED, TERMINATED
from deptree_cli.share.program import Command, Option, Program

# What roff would read as its own, or set as a typographer's sign that nobody can paste.
_ESCAPES = str.maketrans(
    {"\\": r"\(rs", "-": r"\-", "'": r"\(aq", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti", '"': r"\(dq"}
)

# Columns of text in the file, and of an example where the terminal has 80.
_WIDTH, _EXAMPLE_WIDTH = 72, 64

# An option of at least so many commands is explained once.
SHARED_BY = 3

EXIT_STATUS = {
    DONE: "Done.",
    1: "The data said no: a bias was found (check-bias), or sentences were skipped (--on-error skip).",
    BAD_INPUT: "Wrong usage or unreadable input: a line on standard error says what to do. check-bias: could not tell.",
    INTERRUPTED: "Interrupted (Ctrl-C).",
    TERMINATED: "Terminated (SIGTERM).",
}

ENVIRONMENT = {
    "NO_COLOR": "If set and not empty, tables and progress bars on the terminal have no colours.",
    "OPENBLAS_NUM_THREADS": "Threads of linear algebra, 1 unless said otherwise: --jobs spreads work better.",
    "NUMBA_CACHE_DIR": "The folder where compiled kernels are kept, instead of one in the user's cache folder.",
    "XDG_CACHE_HOME": "The user's cache folder, ~/.cache unless set.",
}

_HEAD = """\
.\\" Written by python -m deptree_cli.share; a change here would be lost.
.TH DEPTREE 1 "" "deptree {version}" "User Commands"
.nh
.ad l"""


def manual(program: Program) -> str:
    """The page as the text of ``deptree.1``; the same program gives the same bytes."""
    counts = Counter(option for command in program.commands for option in command.options)
    shared = [option for option, count in counts.items() if count >= SHARED_BY]
    lines = [_HEAD.format(version=program.version), *_top(program)]
    for command in program.commands:
        lines += _section(command, shared)
    lines += [".SH SHARED OPTIONS", "Options that mean the same in every command that lists them.", *_options(shared)]
    lines += [".SH EXIT STATUS", *_table({str(code): text for code, text in EXIT_STATUS.items()})]
    lines += [".SH ENVIRONMENT", *_table(ENVIRONMENT)]
    lines += [".SH EXAMPLES", *_examples(program)]
    lines += [".SH SEE ALSO", ".BR jq (1)", ".PP", _text("CoNLL-U: https://universaldependencies.org/format.html")]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text for anywhere in a line of roff."""
    return "".join(letter if letter.isascii() else f"\\[u{ord(letter):04X}]" for letter in text.translate(_ESCAPES))


def _text(text: str) -> str:
    """Text for lines of its own, which a dot in front would make commands and one at the end the ends of sentences."""
    pieces = textwrap.wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    before = [r"\&" if piece.startswith(".") else "" for piece in pieces]
    after = [r"\&" if piece.endswith((".", "?", "!", ")")) else "" for piece in pieces]
    return "\n".join(map("".join, zip(before, map(escaped, pieces), after, strict=True)))


def _bold(text: str) -> str:
    return rf"\fB{escaped(text)}\fR"


def _italic(text: str) -> str:
    return rf"\fI{escaped(text)}\fR"


def _top(program: Program) -> list[str]:
    top, summary = program.top, program.top.summary
    usages = [_usage(command) for command in program.commands]
    return [
        ".SH NAME",
        rf"{top.name} \-",
        _text(summary[0].lower() + summary[1:].rstrip(".")),
        ".SH SYNOPSIS",
        *(line for usage in usages for line in (usage, ".br")),
        f"{_bold(top.name)} {_bold('--version')}",
        ".SH DESCRIPTION",
        *_prose(top.paragraphs),
        *_options(top.options),
        ".SH COMMANDS",
        *_table({command.name: command.summary for command in program.commands}),
    ]


def _usage(command: Command) -> str:
    words = [_bold(f"deptree {command.name}"), f"[{_italic('OPTIONS')}]"]
    return " ".join([*words, *(_italic(argument.metavar) for argument in command.arguments)])


def _section(command: Command, shared: list[Option]) -> list[str]:
    """A command: usage, help, its own options, and the names of those that it shares."""
    own = [option for option in command.options if option not in shared]
    names = ",\n".join(_bold(option.long[0]) for option in shared if option in command.options)
    options = [".PP", "Options:", *_options(own)] if own else []
    others = [".PP", "Shared options, explained below:", f"{names}."] if names else []
    head = [f".SH {escaped(command.name.upper())}", _usage(command), ".PP"]
    return [*head, *_prose(command.paragraphs), *options, *others]


def _prose(paragraphs: Iterable[tuple[str, ...]]) -> list[str]:
    """Paragraphs; where there are several lines they stay apart, each wrapped under its own indentation."""
    lines: list[str] = []
    for paragraph in paragraphs:
        lines += [".PP"] if lines else []
        for number, line in enumerate(paragraph):
            indent = len(line) - len(line.lstrip())
            text = _text(line.lstrip())
            lines += [f".RS {indent}", text, ".RE"] if indent else [".br", text] if number else [text]
    return lines


def _options(options: Iterable[Option]) -> list[str]:
    return [line for option in options for line in (".TP", _tag(option), _text(option.help))]


def _tag(option: Option) -> str:
    names = ", ".join(map(_bold, option.names))
    return f"{names} {_italic(option.metavar)}" if option.metavar else names


def _table(rows: dict[str, str]) -> list[str]:
    return [line for name, text in rows.items() for line in (".TP", _bold(name), _text(text))]


def _examples(program: Program) -> list[str]:
    """What each command's help says to try."""
    lines = ["In a folder with copies of the files of sample_data,", "which comes with the sources:"]
    for command in program.commands:
        example = map(escaped, _continued(command.example).splitlines())
        lines += [".PP", _text(command.summary), ".PP", ".RS 4", ".EX", *example, ".EE", ".RE"]
    return lines


def _continued(line: str) -> str:
    """A line of shell, continued after a backslash where it is too long; an option and its value stay together."""
    parts = [part.replace(" ", "\0") for part in re.split(r" (?=\||--?[a-z])", line)]
    pieces = textwrap.wrap(" ".join(parts), _EXAMPLE_WIDTH, break_long_words=False, break_on_hyphens=False)
    return " \\\n    ".join(pieces).replace("\0", " ")
