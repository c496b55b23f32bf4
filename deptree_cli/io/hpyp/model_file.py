"""Trained parsers as files: one ``.npz`` of plain arrays and JSON, with a version and the signature that made it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.hpyp.contexts import NAMES, Contexts
from deptree_cli.core.hpyp.snapshot import Snapshot
from deptree_cli.core.hpyp.symbols import Symbols
from deptree_cli.core.hpyp.trained import Progress, Trained
from deptree_cli.core.hpyp.vocabulary import Lexicon, Vocabulary
from deptree_cli.io.output import NpzOutput
from deptree_cli.io.scores.containers.npz import Archive, open_npz
from deptree_cli.io.streams import open_input

# The kind of file and its version; what other versions wrote is refused.
FORMAT, VERSION = "deptree-hpyp", 1

# The entry that says what the others are.
ABOUT = "about"

# Arrays of numbers that mostly grow by little: their steps take less space.
_GROWING = ("parents", "places")

_REMEDY = "Write it again with deptree hpyp train"


def write_model(path: str, trained: Trained, signature: str, compressed: bool = True) -> None:
    """Write a parser under a path, renamed into place when whole.

    compressed: takes a third of the space and much longer.
    """
    about = {
        "format": FORMAT,
        "version": VERSION,
        "words": trained.symbols.lexicon.vocabulary.symbols,
        "tags": trained.symbols.tags.symbols,
        "labels": trained.symbols.labels,
        "contexts": asdict(trained.symbols.contexts),
        "progress": asdict(trained.progress),
    }
    with NpzOutput(path, signature, compressed) as out:
        out.write(ABOUT, np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8))
        for name, process in zip(trained.symbols.names, trained.processes, strict=True):
            for key, array in process.arrays().items():
                steps = np.diff(array, prepend=array.dtype.type(0)) if key in _GROWING else array
                out.write(f"{name}.{key}", _small(steps))
        out.write("derivations", _small(trained.derivations))


def _small(array: Array) -> Array:
    """Integers in the smallest type that holds them all; other arrays as they are."""
    if array.dtype.kind != "i" or not array.size:
        return array
    return array.astype(np.promote_types(np.min_scalar_type(array.min()), np.min_scalar_type(array.max())))


def read_model(path: str) -> tuple[Trained, str]:
    """A parser from a file, and the signature that made it.

    Raises:
        DeptreeError: the file is none of ours, of another version, cut short or damaged.
    """
    with open_input(path) as file, open_npz(file) as opened:
        arrays, place = opened.entries, file.place
        if ABOUT not in arrays:
            raise DeptreeError("this is no model of deptree hpyp", _REMEDY, place=place)
        about = _about(arrays.load(ABOUT), place)
        try:
            return _trained(about, arrays), opened.signature
        except DeptreeError as error:
            raise error.at(place) from None
        except (KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise DeptreeError(f"the model is damaged ({reason})", _REMEDY, place=place) from None


def _about(data: Array, place: str) -> Mapping[str, Any]:
    """What the file says of itself.

    Raises:
        DeptreeError: it is of another kind or version.
    """
    try:
        about = json.loads(data.astype(np.uint8).tobytes())
        kind, version = about["format"], about["version"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise DeptreeError("this is no model of deptree hpyp", _REMEDY, place=place) from None
    if kind != FORMAT or version != VERSION:
        problem = f"the model is {kind} of version {version}, and this deptree reads {FORMAT} of version {VERSION}"
        raise DeptreeError(problem, _REMEDY, place=place)
    return about


def _trained(about: Mapping[str, Any], archive: Archive) -> Trained:
    words, tags, labels = (tuple(map(str, about[name])) for name in ("words", "tags", "labels"))
    contexts = Contexts(*(tuple(about["contexts"][name]) for name in NAMES))
    symbols = Symbols(Lexicon(Vocabulary(words)), Vocabulary(tags), labels, contexts)
    progress = dict(about["progress"])
    progress["log_likelihoods"] = tuple(map(float, progress["log_likelihoods"]))
    processes = [
        _process(archive, name, len(codes) + 1, dishes, choices)
        for name, codes, dishes, choices in zip(
            symbols.names, symbols.codes, symbols.dishes, symbols.choices, strict=False
        )
    ]
    derivations = archive.load("derivations").astype(np.int32)
    return Trained(symbols, tuple(processes), Progress(**progress), derivations)


def _process(archive: Archive, name: str, levels: int, dishes: int, choices: int) -> Snapshot:
    """A process, every number of which is in its range: kernels trust them.

    Raises:
        ValueError: one is not.
    """
    arrays: dict[str, Any] = {}
    for field in fields(Snapshot):
        array = archive.load(f"{name}.{field.name}")
        if field.name in _GROWING:
            array = np.cumsum(array, dtype=np.int64)
        arrays[field.name] = array.astype(np.float64 if field.type == "Float" else np.int32)
    choices_found = int(arrays.pop("choices"))
    found = Snapshot(**arrays, choices=choices_found)
    sound = (
        choices_found == choices and len(found.discounts) == len(found.strengths) == levels and found.is_sound(dishes)
    )
    if not sound:
        raise ValueError(f"numbers of the process {name} are out of range")
    return found
