"""Which reader reads a score file: the register of containers.

The first bytes decide; the suffix is asked only where they say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import PurePath
from typing import BinaryIO

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io import arrays
from deptree_cli.io.archives import read_npz
from deptree_cli.io.arrays import read_npy
from deptree_cli.io.inputs import Input, open_input
from deptree_cli.io.jsonl import read_jsonl
from deptree_cli.io.layout import Layout
from deptree_cli.io.lengths import read_lengths, with_lengths
from deptree_cli.io.raw import Raw, Source, in_order
from deptree_cli.io.refusals import REFUSALS, Refusal, refuse
from deptree_cli.io.tensors import read_safetensors

Reader = Callable[[BinaryIO, str, Layout], AbstractContextManager[Source]]


@dataclass(frozen=True, slots=True)
class Format:
    """A container: the suffixes of its files, the test of their first bytes, and its reader."""

    suffixes: tuple[str, ...]
    matches: Callable[[bytes], bool]
    read: Reader
    keyed: bool = False


def _starting(*magics: bytes) -> Callable[[bytes], bool]:
    return lambda head: head.startswith(magics)


def _looks_like_json(head: bytes) -> bool:
    return head.removeprefix(b"\xef\xbb\xbf").lstrip().startswith((b"{", b"["))


def _looks_like_safetensors(head: bytes) -> bool:
    """Eight bytes with the length of a JSON header, and the header."""
    return head[4:8] == bytes(4) and head[8:9] == b"{"


def _plain(read: Callable[[BinaryIO, str, Layout], Source]) -> Reader:
    return lambda stream, place, layout: nullcontext(read(stream, place, layout))


def _refused(container: Refusal) -> Reader:
    return lambda stream, place, layout: refuse(container, place)


FORMATS = (
    Format((".npy", ".npys"), _starting(arrays.MAGIC), _plain(read_npy)),
    Format((".npz",), _starting(b"PK\x03\x04", b"PK\x05\x06"), read_npz, keyed=True),
    Format((".safetensors",), _looks_like_safetensors, read_safetensors, keyed=True),
    Format((".jsonl", ".ndjson", ".json"), _looks_like_json, _plain(read_jsonl)),
    *(Format(known.suffixes, _starting(*known.magics), _refused(known)) for known in REFUSALS),
)


def open_scores(path: str, layout: Layout, lengths: str | None = None) -> Iterator[Raw]:
    """The scores of a file in its order; `-` is standard input.

    Args:
        lengths: a file with the lengths of a padded batch.

    Yields:
        a matrix, or the DeptreeError of a sentence that could not be read.

    Raises:
        DeptreeError: reading cannot begin or go on.
    """
    with open_source(path, layout, lengths) as source:
        yield from in_order(source)


@contextmanager
def open_source(path: str, layout: Layout, lengths: str | None = None) -> Iterator[Source]:
    """The scores of a file: a mapping for a container with keys, else an iterator."""
    with open_input(path) as file:
        form = _format(file, path)
        with form.read(file.stream, file.place, layout) as source:
            if lengths is None:
                yield source
            elif form.keyed:
                raise DeptreeError("--lengths is for a padded .npy", "Leave it out: here every key has its own shape")
            else:
                yield with_lengths(in_order(source), read_lengths(lengths), layout, file.place)


def _format(file: Input, path: str) -> Format:
    suffix = PurePath(path.removesuffix(".gz")).suffix.lower()
    found = [form for form in FORMATS if form.matches(file.head)] or [
        form for form in FORMATS if suffix in form.suffixes
    ]
    if not found:
        raise DeptreeError(
            "neither the name nor the first bytes tell what container of scores this is",
            "Save the scores as .npz, .npy, .safetensors or .jsonl",
            place=file.place,
        )
    return found[0]
