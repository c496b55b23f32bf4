"""`.npz`: one matrix per key, loaded when it is asked for, or a padded batch under `scores` with its `lengths`.

Second-order scores of the sentence `KEY`, which `deptree_cli.second_order` reads, are under `KEY.grandparent` and
`KEY.sibling`; errors of what is written are under `KEY.standard_errors`. What else is known of it stands under
`deptree/`: its CoNLL-U in `deptree/conllu/KEY`, scores of labels in `deptree/label_scores/KEY`, and their names, a list
in JSON, in `deptree/labels`. So no sentence is written under a name that would be read as one of these.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from functools import cached_property
from io import BytesIO
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.files.output import NpzOutput
from deptree_cli.io.files.streams import Input, seekable
from deptree_cli.io.json_lines import dump
from deptree_cli.io.scores.arrays import (
    NO_EXTRAS,
    Extras,
    Raw,
    RawScores,
    ReadSpec,
    Source,
    as_lengths,
    read_array,
    with_lengths,
)
from deptree_cli.io.scores.containers import TORCH, Entries, Write
from deptree_cli.io.scores.meta import Meta

_SUFFIX = ".npy"

# Entries of this many bytes are read at once, which is quicker.
_SMALL = 1 << 22

# What zipfile raises for a damaged, an encrypted or an exotically compressed entry.
_DAMAGE = (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError, ValueError, zlib.error)

BATCH = {"scores", "lengths"}

# What may stand behind a sentence's name and a dot.
PARTS, STANDARD_ERRORS = ("grandparent", "sibling"), "standard_errors"
BESIDE = (*PARTS, STANDARD_ERRORS)

# In front of what is no sentence's array; and what stands behind it.
OURS, LABELS, CONLLU, LABEL_SCORES = "deptree/", "deptree/labels", "deptree/conllu/", "deptree/label_scores/"

_OTHERWISE = "Write JSON Lines, or give the sentence another sent_id"


def owner_of(key: str, beside: Iterable[str] = PARTS) -> str:
    """Return the key of the sentence that has something beside its array under this one; empty if none has."""
    owner, _, name = key.rpartition(".")
    return owner if name in beside else ""


class SentenceArrays(NpzOutput):
    """A `.npz` with an array for each sentence, which a reader finds under the sentence's name and no other."""

    def write(self, key: str, array: NDArray[np.generic], beside: str = "") -> None:
        """Add a sentence's array, or what belongs `beside` it, one of `BESIDE`."""
        if owner := owner_of(key, BESIDE):
            problem = f"in an .npz this name means the {key.rpartition('.')[2]} of {owner!r}"
            raise DeptreeError(problem, _OTHERWISE, sent_id=key)
        if key.startswith(OURS):
            raise DeptreeError(f"in an .npz names with {OURS} mean no sentence", _OTHERWISE, sent_id=key)
        if key in self.names or f"{key}.npy.npy" in self.names:
            problem = "numpy.load cannot tell names in an .npz apart that differ by .npy at the end"
            raise DeptreeError(problem, _OTHERWISE, sent_id=key)
        super().write(f"{key}.{beside}" if beside else key, array)

    def write_extras(self, key: str, extras: Extras) -> None:
        if extras.conllu:
            super().write(CONLLU + key, np.frombuffer(extras.conllu, np.uint8))
        if extras.of_labels is not None:
            if f"{LABELS}.npy" not in self.names:
                super().write(LABELS, np.frombuffer(dump(list(extras.labels)), np.uint8))
            super().write(LABEL_SCORES + key, extras.of_labels)


@contextmanager
def open_npz(file: Input) -> Iterator[Archive]:
    with seekable(file.stream) as stream, open_zip(stream, file.place) as archive:
        if any(name.endswith("data.pkl") for name in archive.namelist()):
            TORCH.open(file)
        yield Archive(archive, file.place)


def open_zip(file: BinaryIO | str, place: str) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except _DAMAGE as error:
        problem = f"the .npz is damaged or cut short ({error})"
        raise DeptreeError(problem, "Write or copy it again", place=place) from None


class Archive(Entries):
    """The arrays of a `.npz`; what it says of itself is the comment of the zip."""

    def __init__(self, archive: zipfile.ZipFile, place: str) -> None:
        names = archive.namelist()
        for odd in (name for name in names if not name.endswith(_SUFFIX)):
            problem = f"the zip holds {odd!r}, which is not a NumPy array"
            raise DeptreeError(problem, "Save it with np.savez", place=place)
        meta, own = Meta.of(archive.comment.decode("utf-8", "replace")), [each.removesuffix(_SUFFIX) for each in names]
        self._members = dict(zip(own, names, strict=True))
        super().__init__({key: self._members[key] for key in own if not key.startswith(OURS)}, place, meta)
        self._archive = archive
        self.words = any(key.startswith(CONLLU) for key in own)
        if not self.names or len(self._members) < len(names):
            problem = "the .npz has two entries of the same name" if self.names else "the .npz holds no arrays"
            raise DeptreeError(problem, "Save one matrix per sentence, each under its own key", place=place)
        owned = {LABELS, *(part + key for key in self.names for part in (CONLLU, LABEL_SCORES))}
        if lost := next((key for key in own if key.startswith(OURS) and key not in owned), None):
            raise DeptreeError("it belongs to no sentence of the file", "Leave it out", place=self.place_of(lost))
        if LABELS not in own and (scores := next((key for key in own if key.startswith(LABEL_SCORES)), None)):
            problem = "the labels of these scores have no names in the file"
            raise DeptreeError(problem, f"Save these, in JSON, as bytes under {LABELS}", place=self.place_of(scores))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        if LABELS not in self._members:
            return ()
        from deptree_cli.io.scores.reading import names_of_labels  # few files hold labels

        return names_of_labels(self._bytes(LABELS), self.place_of(LABELS))

    def conllu(self, key: str) -> bytes:
        return self._bytes(CONLLU + key) if CONLLU + key in self._members else b""

    def _bytes(self, key: str) -> bytes:
        with suppress(DeptreeError):
            if (found := self.load(key)).dtype == np.uint8:
                return found.tobytes()
        remedy = "Save text as np.frombuffer(text.encode(), np.uint8)"
        raise DeptreeError("these are no bytes (uint8)", remedy, place=self.place_of(key))

    def __getitem__(self, key: str) -> RawScores:
        found, scores = super().__getitem__(key), LABEL_SCORES + key
        if self.words or self.labels:
            of_labels = self.load(scores) if scores in self._members else None
            found.extras = Extras((), self.conllu(key), self.labels, of_labels)
        return found

    def read(self, matrices: ReadSpec) -> Source:
        """Return the sentences by key, in file order, or the matrices of a batch with their lengths."""
        if set(self) == BATCH:
            return self._batch(matrices)
        for found in filter(owner_of, self):  # sums over arcs alone would drop them
            problem = "these are second-order scores, which only the library takes into account"
            remedy = "Leave them out, or read the file in Python with deptree_cli.second_order.read"
            raise DeptreeError(problem, remedy, place=self.place_of(found))
        return self

    def _batch(self, matrices: ReadSpec) -> Iterator[Raw]:
        from deptree_cli.io.scores.containers.npy import read_npy

        place, lengths = self.place_of("scores"), as_lengths(self.load("lengths"), self.place_of("lengths"))
        with self.entry("scores") as stream:
            yield from with_lengths(read_npy(stream, place, matrices), lengths, place)

    def without(self, keys: Collection[str]) -> Archive:
        found = copy(self)
        found.names = {key: name for key, name in self.names.items() if key not in keys}
        return found

    def load(self, key: str) -> Array:
        entry = self._archive.NameToInfo[self._members[key]]
        with self.entry(key) as stream:
            return read_array(BytesIO(stream.read()) if entry.file_size <= _SMALL else stream, self.place_of(key))

    @contextmanager
    def entry(self, key: str) -> Iterator[BinaryIO]:
        """Open an entry's bytes; damage becomes a DeptreeError."""
        name = self._members[key]
        try:
            with self._archive.open(name) as stream:
                yield stream  # type: ignore[misc]
        except _DAMAGE as error:
            problem = f"the entry is damaged ({error or type(error).__name__})"
            raise DeptreeError(problem, "Write or copy the file again", place=self.place_of(key)) from None


@contextmanager
def write_npz(path: str | None, meta: Meta, header: bool) -> Iterator[Write]:
    with SentenceArrays(path, meta.signature) as out:

        def write(sent_id: str, scores: Array, extras: Extras = NO_EXTRAS, beside: str = "") -> None:
            out.write(sent_id, scores, beside)
            out.write_extras(sent_id, extras)

        yield write
        if {name for name in out.names if not name.startswith(OURS)} == {f"{key}.npy" for key in BATCH}:
            problem = "an .npz of two sentences called scores and lengths would be read as a padded batch"
            raise DeptreeError(problem, _OTHERWISE)
