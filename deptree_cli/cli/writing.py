"""Which format results take, and the writing of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TypeVar

from deptree_cli.cli.report import talk
from deptree_cli.cli.run_options import RunOptions
from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.json_lines import dump
from deptree_cli.io.output import NpzOutput, Output

Result = TypeVar("Result")

SUFFIXES = {".conllu": "conllu", ".jsonl": "jsonl", ".ndjson": "jsonl", ".npz": "npz"}

# What may stand before the first sentence: a byte order mark, empty lines.
_BEFORE_FIRST = re.compile(rb"(\xef\xbb\xbf)?([ \t]*\r?\n)*")


def choose_format(fmt: str | None, output: str | None, conllu: str | None, *allowed: str) -> str:
    """--format, else what the suffix of -o asks for, else CoNLL-U where there are sentences, else JSON Lines.

    Raises:
        DeptreeError: the suffix promises what is not among the `allowed` formats.
    """
    suffix = PurePath(output or "").suffix.lower()
    promised = SUFFIXES.get(suffix)
    if suffix == ".gz":
        remedy = "Write to standard output and pipe it through gzip"
        raise DeptreeError("output is not compressed", remedy, place=output or "")
    if fmt is None and promised and promised not in allowed:
        raise DeptreeError(
            f"this command does not write {promised}", f"Choose {' or '.join(allowed)}", place=output or ""
        )
    return fmt or promised or ("conllu" if conllu and "conllu" in allowed else "jsonl")


def write_chunks(chunks: Iterable[bytes], fmt: str, signature: str, header: bool | None, run: RunOptions) -> None:
    """Write results as they come, with the signature where the format has a place for it."""
    with Output(run.output) as out:
        if fmt == "jsonl" and header:
            out.write(dump({"signature": signature}))
        first = fmt == "conllu" and header is not False
        for chunk in signed(chunks, signature, run):
            out.write(_with_generator(chunk, signature) if first else chunk)
            first = False


def write_arrays(arrays: Iterable[tuple[str, Array]], signature: str, run: RunOptions) -> None:
    """Write arrays as a .npz, a key each."""
    with NpzOutput(run.output, signature) as out:
        for key, array in signed(arrays, signature, run):
            out.write(key, array)


def signed(results: Iterable[Result], signature: str, run: RunOptions) -> Iterator[Result]:
    """The results, and the signature on stderr with the first of them: what fails gives one line only, the error."""
    shown = run.quiet
    for result in results:
        if not shown:
            talk(signature)
            shown = True
        yield result


def _with_generator(chunk: bytes, signature: str) -> bytes:
    """The first sentence with the signature as its first comment, in the sentence's style of newline."""
    match = _BEFORE_FIRST.match(chunk)
    start = match.end() if match else 0
    newline = b"\r\n" if chunk[start:].split(b"\n", 1)[0].endswith(b"\r") else b"\n"
    return chunk[:start] + b"# generator = " + signature.encode() + newline + chunk[start:]
