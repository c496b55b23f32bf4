"""Trained parsers as files: one ``.npz`` of plain arrays and JSON, with a version and the signature that made it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from itertools import pairwise
from typing import Any, get_args

import numpy as np

from deptree_cli.core.dtypes import Array, Heads
from deptree_cli.core.errors import DeptreeError, fits_a_line, printable
from deptree_cli.hpyp.files.treebank import Tagset
from deptree_cli.hpyp.kernels.restaurants import BITS
from deptree_cli.hpyp.model.process import Snapshot
from deptree_cli.hpyp.model.sentences import NAMES, UNKNOWN, Contexts
from deptree_cli.hpyp.model.training import ORACLES, SAMPLED, Parses, Progress, State, Trained
from deptree_cli.hpyp.model.unknown import Lexicon, Symbols, Vocabulary
from deptree_cli.io.files.output import NpzOutput
from deptree_cli.io.files.streams import open_input
from deptree_cli.io.scores.containers.npz import Archive, open_npz

FORMAT, VERSION = "deptree-hpyp", 1  # the kind of file and its version; files of other versions are refused
ABOUT = "about"  # the entry that describes the others

# Arrays whose neighbouring numbers differ by little: their differences take less space.
_GROWING = ("parents", "places")

_MOST = 2**31  # integers in files are below this
_TYPES = {"int": int, "str": str, "tuple[float, ...]": tuple}
_REMEDY = "Name a file that deptree hpyp train wrote, or train again"


def write_model(path: str, trained: Trained, signature: str, compressed: bool = True) -> None:
    """Write a parser to a file, which appears only when complete; compressing saves two thirds and is much slower."""
    about = {
        "format": FORMAT,
        "version": VERSION,
        "words": trained.symbols.lexicon.vocabulary.symbols,
        "tags": trained.symbols.tags.symbols,
        "labels": trained.symbols.labels,
        "contexts": asdict(trained.symbols.contexts),
        "progress": asdict(trained.progress),
        **({"states": [state.iterations for state in trained.earlier]} if trained.earlier else {}),
    }
    states = {f"state{number}.": state.processes for number, state in enumerate(trained.earlier)}
    with NpzOutput(path, signature, compressed, last=False) as out:
        out.write(ABOUT, np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), dtype=np.uint8))
        for prefix, processes in {"": trained.processes, **states}.items():
            for name, process in zip(trained.symbols.names, processes, strict=True):
                for key, numbers in process.arrays().items():
                    steps = np.diff(numbers, prepend=numbers.dtype.type(0)) if key in _GROWING else numbers
                    out.write(f"{prefix}{name}.{key}", _small(steps))
        drawn = {"derivations": trained.derivations}  # what training needs to go on, if derivations were sampled
        if trained.parses is not None:
            drawn |= {"text.tags": trained.parses.tags, "text.actions": trained.parses.actions}
        for key, array in drawn.items():
            if array is not None:
                out.write(key, _small(array))


def _small(array: Array) -> Array:
    """Integers in the smallest type that holds them all; other arrays as they are."""
    if array.dtype.kind != "i" or not array.size:
        return array
    return array.astype(np.promote_types(np.min_scalar_type(array.min()), np.min_scalar_type(array.max())))


def read_model(path: str) -> tuple[Trained, str]:
    """Read a parser from a file, and the signature that made it."""
    with open_input(path) as file:
        none = DeptreeError("not a model of deptree hpyp", _REMEDY, place=file.place)
        if not file.head.startswith(b"PK"):
            raise none
        with open_npz(file) as archive:
            if ABOUT not in archive:
                raise none
            try:
                about = json.loads(archive.load(ABOUT).astype(np.uint8).tobytes())
                kind, version = about["format"], about["version"]
            except (ValueError, TypeError, KeyError, RecursionError):
                raise none from None
            if kind != FORMAT or version != VERSION:
                problem = f"the model is {kind} version {version}, but this deptree reads {FORMAT} version {VERSION}"
                raise DeptreeError(problem, _REMEDY, place=file.place)
            try:
                return _trained(about, archive), printable(archive.meta.signature)
            except DeptreeError as error:
                raise error.at(file.place) from None
            except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
                reason = " ".join(str(error).split()) or type(error).__name__
                raise DeptreeError(f"the model is damaged ({reason})", _REMEDY, place=file.place) from None


def _trained(about: Mapping[str, Any], archive: Archive) -> Trained:
    words, tags, labels = (_symbols(about, name) for name in ("words", "tags", "labels"))
    contexts = Contexts(*(_names(about["contexts"], name) for name in NAMES))
    symbols = Symbols(Lexicon(Vocabulary(words)), Vocabulary(tags), labels, contexts)
    processes, progress, parses = _processes(archive, symbols), _progress(about["progress"]), None
    derivations = _integers(archive, "derivations") if progress.oracle == SAMPLED else None
    if progress.passes:
        parses = Parses(_integers(archive, "text.tags"), _integers(archive, "text.actions"))
        if parses.tags.size and not 0 <= parses.tags.min() <= parses.tags.max() < symbols.tags.size:
            raise ValueError("the tags of the text are out of range")
    ends = about.get("states", [])  # after which iterations earlier states were kept
    if not isinstance(ends, list) or not all(type(each) is int for each in ends):
        raise ValueError("states are not a list of numbers")
    if any(a >= b for a, b in pairwise([0, *ends, progress.iterations])):
        raise ValueError("states are out of order")
    earlier = [State(each, _processes(archive, symbols, f"state{number}.")) for number, each in enumerate(ends)]
    return Trained(symbols, processes, progress, derivations, parses, tuple(earlier))


def _processes(archive: Archive, symbols: Symbols, prefix: str = "") -> tuple[Snapshot, ...]:
    sizes = zip(symbols.names, symbols.codes, symbols.dishes, symbols.choices, strict=False)
    return tuple(_process(archive, prefix + name, len(codes) + 1, *numbers) for name, codes, *numbers in sizes)


def _names(found: Mapping[str, Any], key: str) -> tuple[str, ...]:
    names = found[key]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names) or len(names) >= 1 << BITS:
        raise ValueError(f"{key} is not a list of names")
    return tuple(names)


def _symbols(found: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Words, tags or labels; each must fit a column of CoNLL-U, where it is written as it is."""
    names = _names(found, key)
    for number, name in enumerate(names):
        if not (name and fits_a_line(name)):
            problem = f"{key}[{number}] is {name!r}: no column of CoNLL-U can hold it"
            raise DeptreeError(problem, "Train again, and do not read models of unknown origin")
        if name == UNKNOWN and key != "words":
            problem = f"{key}[{number}] is {UNKNOWN}, the sign of a missing value, so the model would predict it"
            raise DeptreeError(problem, "Train again: sentences with missing values are left out")
    return names


def _progress(found: Mapping[str, Any]) -> Progress:
    values = dict(found)
    for field in fields(Progress):
        value = values.get(field.name, field.default)
        if field.type == "tuple[float, ...]":
            values[field.name] = value = tuple(map(float, value))
        if type(value) is not _TYPES[str(field.type)] or (isinstance(value, int) and value < 0):
            raise ValueError(f"{field.name} is out of range")
    progress = Progress(**values)
    if progress.tagset not in get_args(Tagset) or progress.oracle not in ORACLES:
        raise ValueError("tagset or oracle is unknown")
    return progress


def _integers(archive: Archive, key: str) -> Heads:
    array = archive.load(key)
    if array.dtype.kind not in "iu" or (array.size and not -_MOST <= array.min() <= array.max() < _MOST):
        raise ValueError(f"the numbers of {key} are out of range")
    return array.astype(np.int32)


def _process(archive: Archive, name: str, levels: int, dishes: int, choices: int) -> Snapshot:
    """A process; every number is checked, because kernels trust them."""
    arrays: dict[str, Any] = {}
    for field in fields(Snapshot):
        key = f"{name}.{field.name}"
        numbers = archive.load(key).astype(np.float64) if field.type == "Float" else _integers(archive, key)
        is_growing = field.name in _GROWING
        arrays[field.name] = np.cumsum(numbers, dtype=np.int64).astype(np.int32) if is_growing else numbers
    arrays["choices"] = int(arrays["choices"])
    found = Snapshot(**arrays)
    if found.choices != choices or found.discounts.shape != (levels,) or not found.is_sound(dishes):
        raise ValueError(f"numbers of the process {name} are out of range")
    return found
