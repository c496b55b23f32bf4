"""Which format results take, and the writing of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

from deptree_cli.cli.provenance import says_more
from deptree_cli.cli.report import talk
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.cli.score_options import ScoreOptions
from deptree_cli.cli.status_line import data_follows
from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.json_lines import dump
from deptree_cli.io.output import Output, suffix_of
from deptree_cli.io.scores.keys import SentenceArrays

Result = TypeVar("Result")

SUFFIXES = {
    ".conllu": "conllu",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".npz": "npz",
    ".tsv": "tsv",
    ".align": "pharaoh",
    ".pharaoh": "pharaoh",
    ".txt": "pharaoh",
}

# What may stand before the first sentence: a byte order mark, empty lines.
_BEFORE_FIRST = re.compile(rb"(\xef\xbb\xbf)?([ \t]*\r?\n)*")


def choose_format(fmt: str | None, output: str | None, conllu: str | None, *allowed: str, usual: str = "jsonl") -> str:
    """--format, else what the suffix of -o asks for, else CoNLL-U where there are sentences, else the usual format.

    A .gz behind the suffix compresses and changes nothing else; a name without a suffix asks for nothing.

    Raises:
        DeptreeError: the suffix is unknown, or promises what is not among the `allowed` formats.
    """
    suffix = suffix_of(output)
    promised = SUFFIXES.get(suffix)
    if fmt is None and suffix and promised not in allowed:
        problem = f"this command does not write {suffix}"
        names = ", ".join(name for name, form in SUFFIXES.items() if form in allowed)
        remedy = f"Name a file with one of the suffixes {names}, with .gz behind it to compress"
        raise DeptreeError(problem, remedy, place=output or "")
    return fmt or promised or ("conllu" if conllu and "conllu" in allowed else usual)


def format_of_trees(fmt: str | None, output: str | None, scores: ScoreOptions, *allowed: str) -> str:
    """`choose_format` for results on sentences.

    Raises:
        DeptreeError: as there; or it is CoNLL-U, and there are no sentences.
    """
    chosen = choose_format(fmt, output, scores.conllu, *allowed)
    if chosen == "conllu":
        scores.check_words()
    return chosen


def write_chunks(chunks: Iterable[bytes], fmt: str, signature: str, header: bool | None, run: RunOptions) -> None:
    """Write results as they come, with the signature where the format has a place for it."""
    with Output(run.output) as out:
        if fmt == "jsonl" and header:
            out.write(dump({"signature": signature}))
        first = fmt == "conllu" and header is not False
        for chunk in signed(chunks, signature, run):
            out.write(_with_generator(chunk, signature) if first else chunk)
            first = False


def write_arrays(arrays: Iterable[tuple[str, Array] | tuple[str, Array, str]], signature: str, run: RunOptions) -> None:
    """Write arrays as a .npz: a sentence's name each, the array, and what it is if it stands beside another."""
    with SentenceArrays(run.output, signature) as out:
        for entry in signed(arrays, signature, run):
            out.write(*entry)


def signed(results: Iterable[Result], signature: str, run: RunOptions) -> Iterator[Result]:
    """The results on their way to the output; with the first of them the signature on stderr, where it is news.

    It is shown there if it says something that the command line does not, and only with a result: what fails gives one
    line, the error.
    """
    shown = run.quiet or not (run.verbose or says_more(signature))
    for result in results:
        if not shown:
            talk(signature)
            shown = True
        data_follows()
        yield result


def _with_generator(chunk: bytes, signature: str) -> bytes:
    """The first sentence with the signature as its first comment, in the sentence's style of newline."""
    match = _BEFORE_FIRST.match(chunk)
    start = match.end() if match else 0
    newline = b"\r\n" if chunk[start:].split(b"\n", 1)[0].endswith(b"\r") else b"\n"
    return chunk[:start] + b"# generator = " + signature.encode() + newline + chunk[start:]
