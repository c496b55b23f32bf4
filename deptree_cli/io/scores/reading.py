"""The sentences of score files for Python, and what stands beside scores: names of labels, temperatures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from math import inf
from typing import Any, TypedDict, Unpack

from deptree_cli.core.counts import BUDGET
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.spaces import Short
from deptree_cli.io.files.streams import entries_of, open_input
from deptree_cli.io.read import prepared
from deptree_cli.io.scores.files import ScoreFiles, ScoreSource
from deptree_cli.io.scores.layout import layout
from deptree_cli.io.scores.meta import space_of
from deptree_cli.io.scores.records import Interpretation, ScoredSentence, Temperature

# Of a file of names of labels, which no parser has so many of.
MOST_BYTES = 1 << 24

_FORMS = "Give a JSON list of names, a JSON object with their numbers, or a text file with one name a line"


def read_labels(path: str) -> tuple[str, ...]:
    """The names of labels in a file, in the order of the scores.

    JSON: a list, or an object with the numbers of names or the names of numbers (0, 1, ...); else one name a line.
    """
    with open_input(path) as file:
        data = file.stream.read(MOST_BYTES)
        if len(data) == MOST_BYTES:
            problem = f"cannot read names of labels (more than {MOST_BYTES:,} bytes)"
            raise DeptreeError(problem, _FORMS, place=file.place)
        return names_of_labels(data, file.place)


def names_of_labels(data: bytes, place: str) -> tuple[str, ...]:
    try:
        text = data.decode("utf-8-sig")
        if text.lstrip().startswith(("[", "{")):
            names = _from_json(json.loads(text))
        else:
            names = []
            for here, line in entries_of(BytesIO(data), place):
                if not line:
                    remedy = "Remove it, or name the label there"
                    raise DeptreeError("a blank line between names of labels", remedy, place=here)
                names.append(line.decode())
        return checked_labels(names, place)
    except (ValueError, TypeError, RecursionError) as error:
        raise DeptreeError(f"cannot read names of labels ({error})", _FORMS, place=place) from None


def checked_labels(names: Sequence[Any], place: str) -> tuple[str, ...]:
    """The names, if these are names and each is another; ValueError if they are not."""
    if not names:
        raise ValueError("there is none")
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f"{name!r:.40} is not a name")
        if not name.isprintable():
            raise ValueError(f"{name!r:.40} holds a character that cannot be printed")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DeptreeError(f"the label {twice!r} is listed twice", "Name every label once", place=place)
    return tuple(names)


def _from_json(value: Any) -> list[Any]:
    if not isinstance(value, dict):
        return value if isinstance(value, list) else []
    if all(type(number) is int for number in value.values()):
        pairs = [(number, name) for name, number in value.items()]
    elif all(number.isdecimal() for number in value):
        pairs = [(int(number), name) for number, name in value.items()]
    else:
        name, number = next((name, number) for name, number in value.items() if type(number) is not int)
        raise ValueError(f"{name!r:.40} has {number!r:.40} and no number")
    if sorted(number for number, _ in pairs) != list(range(len(value))):
        raise ValueError("the numbers are not 0, 1, 2, ...")
    return [name for _, name in sorted(pairs)]


# No calibration is so large, nor is a temperature.
MOST_CALIBRATED = 1 << 20
TOO_LARGE = 1e15


def temperature_of(said: str | float) -> Temperature:
    """The temperature that a number tells, or a file that calibrate wrote: JSON with at least `temperature`."""
    if not isinstance(said, str):
        if not 0 < said < inf:
            raise DeptreeError(f"the temperature is {said:g}", "Give a positive number; 1 changes nothing")
        return Temperature(float(said))
    with open_input(said) as file:
        why = ""
        try:
            value = json.loads(file.stream.read(MOST_CALIBRATED))
            arcs, labels = value["temperature"], value.get("label_temperature")
            sets = {each["coverage"]: each["threshold"] for each in value.get("head_sets", [])}
            if not (_is_positive(arcs) and (labels is None or _is_positive(labels))):
                why = ": a temperature is not a positive number"
            elif not all(
                _is_positive(one) and (two == 0 or _is_positive(two)) and two <= 1 for one, two in sets.items()
            ):
                why = ": a coverage or a threshold is not a probability"
            else:
                return Temperature(float(arcs), float(labels or 1), sets, file.place)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            pass
        remedy = "Give a file that deptree calibrate wrote"
        raise DeptreeError(f"this is not a calibration{why}", remedy, place=file.place)


def _is_positive(value: Any) -> bool:
    return type(value) in (int, float) and 0 < value < TOO_LARGE


class ReadOptions(TypedDict, total=False):
    """How `read` reads, each as the option of that name on the command line.

    preset: the layout (--from), as far as the file does not say it itself. labels, label_scores, lengths: paths.
    space, single_root, projective: as of `TreeDistribution`; projective always if the file says so. temperature (a
    number, or the path of a calibration), fix_heads: as there. rules: `ud`, `tree`, `misc` or a file, or several of
    these. relax: whether the fewest rules are given up where no tree obeys, with what is left of the others
    (`ScoredSentence.given_up` names them). budget: maximum trees that a sentence may cost for it.
    """

    preset: str
    labels: str
    label_scores: str
    lengths: str
    space: str
    single_root: bool
    projective: bool
    temperature: float | str
    fix_heads: bool
    rules: str | Sequence[str]
    relax: bool
    budget: int


def read(
    scores: str,
    conllu: str | None = None,
    *,
    on_error: Callable[[DeptreeError], None] | None = None,
    **options: Unpack[ReadOptions],
) -> Iterator[ScoredSentence]:
    """Read the sentences of a score file, one at a time, as the commands do.

    Args:
        scores: path of a file in any container; `-` is standard input. Sentences and scores of labels that it holds
            are read too, unless others are given.
        conllu: path of the sentences of these scores, in CoNLL-U.
        on_error: called with the error of each sentence that cannot be used, which is then left out.
        options: preset, labels, label_scores, lengths, space, single_root, projective,
            temperature, fix_heads, rules, relax and budget, as on the command line (`ReadOptions`).

    Raises:
        DeptreeError: a file cannot be read, or (without `on_error`) a sentence cannot be used.
    """
    names, label_scores, rules = options.get("labels"), options.get("label_scores"), options.get("rules", ())
    temperature, source, constraints = temperature_of(options.get("temperature", 1.0)), ScoreSource(scores), None
    if options.get("fix_heads") and not (conllu or source.has_words):
        raise DeptreeError("fix_heads needs the sentences", "Name them with conllu")
    own = () if label_scores else source.labels
    arcs = source.layout(layout(options.get("preset"))).of_arcs(bool(names or own), bool(label_scores or own))
    short: Short = {"single_root": options.get("single_root"), "projective": options.get("projective")}
    trees = space_of(source.meta.trees, options.get("space"), **short)
    if rules:
        from deptree_cli.io.rules.constraints import read_constraints

        constraints = read_constraints([rules] if isinstance(rules, str) else rules)
    labels, kept = read_labels(names) if names else own or None, options.get("fix_heads", False)
    relaxing = options.get("relax", False), options.get("budget") or BUDGET
    how = Interpretation(arcs, labels, "", trees, temperature, kept, constraints, *relaxing)
    feats = constraints is not None and constraints.rules.ask_feats
    files = ScoreFiles(source, conllu, options.get("lengths"), label_scores, feats=feats)
    return prepared(files.read(arcs), how, on_error)
