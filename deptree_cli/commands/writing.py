"""Which form results take, and the writing of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from deptree_cli.commands.inputs import Inputs
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.jsonl import dump
from deptree_cli.io.output import NpzOutput, Output
from deptree_cli.io.report import talk

Result = TypeVar("Result")

SUFFIXES = {".conllu": "conllu", ".jsonl": "jsonl", ".ndjson": "jsonl", ".npz": "npz"}

# What may stand before the first sentence: a byte order mark, empty lines.
_BEFORE_FIRST = re.compile(rb"(\xef\xbb\xbf)?([ \t]*\r?\n)*")


def choose_format(form: str | None, output: str | None, inputs: Inputs, *allowed: str) -> str:
    """--format, else what the suffix of -o says, else CoNLL-U where there are sentences, else JSON Lines.

    Raises:
        DeptreeError: the suffix promises what is not among the `allowed` formats.
    """
    suffix = PurePath(output or "").suffix.lower()
    said = SUFFIXES.get(suffix)
    if suffix == ".gz":
        remedy = "Write to standard output and pipe it through gzip"
        raise DeptreeError("output is not compressed", remedy, place=output or "")
    if form is None and said and said not in allowed:
        raise DeptreeError(f"this command does not write {said}", f"Choose {' or '.join(allowed)}", place=output or "")
    return form or said or ("conllu" if inputs.conllu and "conllu" in allowed else "jsonl")


def write_chunks(
    chunks: Iterable[bytes], form: str, output: str | None, made: str, header: bool | None, quiet: bool
) -> None:
    """Write results as they come; `made` is the signature."""
    with Output(output) as out:
        if form == "jsonl" and header:
            out.write(dump({"signature": made}))
        first = form == "conllu" and header is not False
        for chunk in _signed(chunks, made, quiet):
            out.write(_with_generator(chunk, made) if first else chunk)
            first = False


def write_arrays(arrays: Iterable[tuple[str, NDArray[np.generic]]], output: str | None, made: str, quiet: bool) -> None:
    """Write arrays as a .npz, a key each."""
    with NpzOutput(output, made) as out:
        for key, array in _signed(arrays, made, quiet):
            out.write(key, array)


def _signed(results: Iterable[Result], made: str, quiet: bool) -> Iterator[Result]:
    """The results, and the signature on stderr with the first of them: what fails says one thing only, the error."""
    said = quiet
    for result in results:
        if not said:
            talk(made)
            said = True
        yield result


def _with_generator(chunk: bytes, made: str) -> bytes:
    """The first sentence with the signature as its first comment, in the sentence's style of newline."""
    match = _BEFORE_FIRST.match(chunk)
    start = match.end() if match else 0
    newline = b"\r\n" if chunk[start:].split(b"\n", 1)[0].endswith(b"\r") else b"\n"
    return chunk[:start] + b"# generator = " + made.encode() + newline + chunk[start:]
