"""Rules by name or from a file, and what they know of a sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.resources import files
from itertools import chain, compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from deptree_cli.core import rules as kinds
from deptree_cli.core.errors import DeptreeError, counted, did_you_mean, nearest, one_of
from deptree_cli.core.label_names import ROOT, is_root, is_special
from deptree_cli.core.rules import ANY, LEFT, NOT, RIGHT, Condition, Mask, Words, labels_named, pattern_in
from deptree_cli.core.ruleset import WHICH, Rule, Ruleset, joined
from deptree_cli.io.conllu.columns import decoded

if TYPE_CHECKING:
    from deptree_cli.core.labels import Labels
    from deptree_cli.io.conllu.blocks import Block

# Ours: those of Universal Dependencies, and nothing but a tree.
NAMES = UD, TREE = "ud", "tree"

# Labels of UD v1, and what they became.
SUCCESSORS = {
    "dobj": "obj",
    "nsubjpass": "nsubj:pass",
    "csubjpass": "csubj:pass",
    "auxpass": "aux:pass",
    "neg": "advmod",
    "mwe": "fixed",
    "name": "flat",
    "foreign": "flat:foreign",
    "remnant": "orphan",
}

# So many names are told of those that nobody else knows.
MOST_NAMED = 10

_SUFFIX = ".toml"
_EXT_POS = "ExtPos="


def read_rules(name: str) -> Ruleset:
    if not name.endswith(_SUFFIX) and name not in NAMES:
        remedy = did_you_mean(name, NAMES, f"{one_of((*NAMES, 'misc'))}, or name a .toml or .tsv file")
        if name.removesuffix(".gz").endswith(".jsonl"):
            remedy = "Constraints of words are rows between tabs: sent_id, word, key, value; or sent_id, first, last"
        raise DeptreeError(f"there are no rules {name!r}", remedy)
    return _rules_of(text_of(name), name)


@lru_cache(8)
def _rules_of(text: str, name: str) -> Ruleset:
    """The rules of a file's text: by it they are kept, for a file may change."""
    import tomllib

    try:
        table = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise DeptreeError(f"it is not TOML: {error}", "Repair it", place=name) from None
    version = f"-{table['version']}" if table.get("version") else ""
    try:
        return ruleset_of(f"{name}{version}", table)
    except DeptreeError as error:
        raise error.at(name) from None


def text_of(name: str) -> str:
    """What rules of a name, or of a file, say as a file."""
    if name in NAMES:
        return files("deptree_cli.io.rules").joinpath(f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DeptreeError(str(error.strerror), "Pass a file of rules", place=name) from None
    except UnicodeDecodeError:
        raise DeptreeError("it is not UTF-8", "Convert the file to UTF-8", place=name) from None


# What a table says beside known fields is refused: a rule that is not understood would not be kept.
Fields = Mapping[str, Any]


def ruleset_of(name: str, table: Mapping[str, Any]) -> Ruleset:
    """Return the rules of a file's table: for each kind a list of rules: a table, a list of labels, or one label."""
    rules: list[Rule] = []
    for kind, entries in table.items():
        if kind in OF_ALL:
            continue
        if kind not in KINDS:
            raise DeptreeError(f"there is no kind of rules {kind!r}", did_you_mean(kind, KINDS, one_of(list(KINDS))))
        if not isinstance(entries, list):
            raise DeptreeError(f"{kind!r} is not a list", f"Give a list of rules: {kind} = [...] or [[{kind}]]")
        rules += [_rule(kind, entry, place) for place, entry in enumerate(entries, 1)]
    return Ruleset(name, tuple(rules), _texts(table, "upos"))


def _rule(kind: str, entry: Any, place: int) -> Rule:
    fields = {"label": [entry]} if isinstance(entry, str) else {"label": entry} if isinstance(entry, list) else entry
    if not isinstance(fields, dict):
        raise DeptreeError(f"rule {place} of {kind!r} is {entry!r}", "Give a table, a list of labels, or a label")
    build, known = KINDS[kind]
    try:
        _check_fields(fields, (*known, "name"))
        name = fields.get("name") or " ".join([kind, *_texts(fields, "label")])
        return build(str(name), fields)
    except DeptreeError as error:
        error.problem = f"rule {place} of {kind!r}: {error.problem}"
        raise


def _check_fields(fields: Fields, known: Sequence[str]) -> None:
    for field in fields:
        if field not in known:
            raise DeptreeError(f"there is no field {field!r}", did_you_mean(field, known, one_of(list(known))))


def _texts(fields: Fields, key: str) -> tuple[str, ...]:
    value = fields.get(key, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(each, str) and each for each in texts):
        raise DeptreeError(f"{key!r} is {value!r}", "Give a text, or a list of texts")
    for each in texts:
        if not (pattern := pattern_in(each.removeprefix(NOT))):
            continue
        problem = f"{key!r} has the pattern {each!r}"
        if key in OF_WORDS:
            raise DeptreeError(problem, "Patterns are for labels only: list the names")
        try:
            parsed = import_module("re._parser").parse(pattern)
        except re.error as error:
            raise DeptreeError(f"{problem}: {error}", "Correct it") from None
        if _repeats_choices(parsed):
            problem += ", which may take forever: a group that repeats has repetitions or alternatives"
            raise DeptreeError(problem, f"Repeat such groups at most {FEW} times: ? or {{0,{FEW}}}")
    return tuple(texts)


def _repeats_choices(part: Any, times: int = 1) -> bool:
    """Whether what repeats often in a parsed pattern can match in several ways: then there are exponentially many."""
    if isinstance(part, (int, str)) or not part:
        return False
    operation = str(part[0])
    if times > FEW and operation in ("BRANCH", *REPEATS):
        return True
    if operation in REPEATS:
        _, most, inner = part[1]
        return _repeats_choices(inner, times * most)
    return any(_repeats_choices(each, times) for each in part)


def _labels(fields: Fields) -> tuple[str, ...]:
    if found := _texts(fields, "label"):
        return found
    raise DeptreeError("it has no 'label'", "Add label = [...]")


def _condition(fields: Fields, prefix: str = "") -> Condition:
    label = () if prefix else _texts(fields, "label")
    return Condition(label, _texts(fields, f"{prefix}upos"), _texts(fields, f"{prefix}feats"))


def _conditions(fields: Fields, key: str) -> tuple[Condition, ...]:
    entries = fields.get(key, [])
    if not isinstance(entries, list):
        raise DeptreeError(f"{key!r} is {entries!r}", "Give a list of labels and tables")
    tables = [{"label": [each]} if isinstance(each, str) else each for each in entries]
    for each in tables:
        if not isinstance(each, dict):
            raise DeptreeError(f"{key!r} has {each!r}", "Give labels and tables")
        _check_fields(each, [*WHICH])
    return tuple(map(_condition, tables))


def _choice(fields: Fields, key: str, choices: Sequence[Any], default: Any) -> Any:
    value = fields.get(key, default)
    if not any(value is each or (isinstance(value, str) and value == each) for each in choices):
        named = [str(each).lower() for each in choices if each not in ("", None)]
        raise DeptreeError(f"{key!r} is {value!r}", one_of(named))
    return value


def _mask(name: str, fields: Fields) -> Mask:
    distance = fields.get("distance")
    pair = distance if isinstance(distance, list) and [type(each) for each in distance] == [int, int] else (1, 0)
    if distance is not None and pair[0] > pair[1]:
        raise DeptreeError(f"'distance' is {distance!r}", "Give the least and the most: distance = [1, 20]")
    found = Mask(
        name,
        _condition(fields),
        _condition(fields, "head-"),
        _choice(fields, "direction", (LEFT, RIGHT, ""), ""),
        None if distance is None else (pair[0], pair[1]),
        _choice(fields, "root", (True, False, None), None),
        _choice(fields, "allow", (True, False), False),
    )
    if found == Mask(name, ANY, allow=found.allow):
        raise DeptreeError("it is about every arc", "Name some, for example label = [...]")
    return found


def _below(name: str, fields: Fields) -> kinds.Below:
    allow, deny = (_conditions(fields, key) for key in OF_OTHERS)
    if allow and deny:
        raise DeptreeError("it has both 'allow' and 'deny'", "Give one of them")
    found = kinds.Below(name, _condition(fields), allow, deny, _texts(fields, "unless"))
    if found.head.is_any and not (allow or deny):
        raise DeptreeError("it forbids every dependent of every word", "Name some, for example label = [...]")
    return found


def _by_label(kind: Callable[[str, tuple[str, ...]], Rule]) -> Callable[[str, Fields], Rule]:
    return lambda name, fields: kind(name, _labels(fields))


# How often a group with repetitions or alternatives may repeat, and what repeats it, as Python parses patterns.
FEW, REPEATS = 3, ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")

# What is not a list of labels.
OF_WORDS = ("upos", "feats", "head-upos", "head-feats")

# What a file says of all its rules: what they are called, and which parts of speech there are.
OF_ALL = ("name", "version", "upos")

# Which dependents a word of a kind may have, and may not.
OF_OTHERS = ("allow", "deny")

# Each kind of rules with its fields beside a name.
KINDS: dict[str, tuple[Callable[[str, Fields], Rule], tuple[str, ...]]] = {
    "mask": (_mask, (*WHICH, "head-upos", "head-feats", "direction", "distance", "root", "allow")),
    "at-most-one": (_by_label(kinds.AtMostOne), ("label",)),
    "leaf": (_by_label(lambda name, label: kinds.Below(name, Condition(label))), ("label",)),
    "below": (_below, (*WHICH, *OF_OTHERS, "unless")),
    "no-gaps": (
        lambda name, fields: kinds.NoGaps(name, _labels(fields), _texts(fields, "between")),
        ("label", "between"),
    ),
    "projective": (_by_label(kinds.ProjectiveArcs), ("label",)),
    "out-of-gaps": (_by_label(kinds.OutOfGaps), ("label",)),
    "no-crossing": (_by_label(kinds.NoCrossing), ("label",)),
}


class Names(NamedTuple):
    """What words have of what rules may name, and the keys of constraints that they have by themselves."""

    label: frozenset[str] = frozenset()
    upos: frozenset[str] = frozenset()
    feats: frozenset[str] = frozenset()
    keys: frozenset[str] = frozenset()

    def __or__(self, other: Names) -> Names:
        return Names(*(mine if more <= mine else mine | more for mine, more in zip(self, other, strict=True)))


def names_in(words: Words, labels: Iterable[str], keys: Iterable[str] = ()) -> Names:
    tags = frozenset(tag for tag in {*words.upos, *words.tags} if tag is not None)
    return Names(frozenset(labels), tags, frozenset[str]().union(*words.feats), frozenset(keys))


def unknown_names(rules: Ruleset, names: Names, where: str) -> str:
    """What there is to say of names in rules that neither ours nor the data have, as `where` says.

    Nothing of what no word has at all: UPOS, or features.
    """
    said, ours = [], joined(read_rules(name) for name in NAMES)
    for kind, column in (("label", "labels"), ("upos", "UPOS"), ("feats", "FEATS")):
        of_words: frozenset[str] = getattr(names, kind)
        known = sorted({*of_words, *ours.names[kind], *(rules.upos if kind == "upos" else ())})
        found = not_among(rules, kind, known) if of_words - {"_"} else []
        near = ((each, nearest(each, known)) for each in found[:MOST_NAMED])
        named = [f"{each!r}" + f" (did you mean {other}?)" * bool(other) for each, other in near]
        said += [f"{column} {where}: {_listed(named, len(found))}"] if found else []
    return f"{rules.name} names {'; '.join(said)}" if said else ""


def not_among(rules: Ruleset, kind: str, known: Sequence[str]) -> list[str]:
    """The names of a kind that rules have and others do not; labels neither as subtypes, and never `root`."""
    missing = [each for each in rules.names[kind] if each not in known]
    if kind != "label":
        return missing
    return [each for each in missing if not (is_root(each) or labels_named((each,), tuple(known)).any())]


def labels_forbidden(rules: Ruleset, labels: Sequence[str]) -> dict[str, list[str]]:
    """The labels that each rule forbids wherever they stand."""
    named = {mask.name: mask.dependent.labels(tuple(labels)) for mask in rules.masks if mask.is_of_labels}
    return {rule: list(compress(labels, which)) for rule, which in named.items() if which.any()}


def successors(label: str, upos: str | None = None) -> tuple[str, str]:
    """For what a label of a word may stand that is not allowed: its name in UD v2, without capitals; and no subtype."""
    lower = label.lower()
    found = SUCCESSORS.get(lower) or SUCCESSORS.get(lower.partition(":")[0], lower)
    return "det" if (lower, upos) == ("neg", "DET") else found, found.partition(":")[0]


def old_labels(rules: Ruleset, labels: Iterable[str]) -> str:
    """What there is to say of labels of UD v1 that rules forbid wherever they stand; nothing if there are none."""
    forbidden = chain.from_iterable(labels_forbidden(rules, sorted(labels)).values())
    old = sorted({label for label in forbidden if label.lower().partition(":")[0] in SUCCESSORS})
    named = ", ".join(f"{label} (in v2 {successors(label)[0]})" for label in old)
    return f"labels of UD v1: {named}" if old else ""


def forbidden_labels(rules: Ruleset, labels: Iterable[str]) -> str:
    """What there is to say of labels of scores that rules forbid wherever they stand; nothing if there are none."""
    usual = [label for label in labels if not (is_special(label) or label == ROOT)]
    by_rule = labels_forbidden(rules, usual)
    found = [label for label in usual if any(label in each for each in by_rule.values())]
    named = f"({', '.join(by_rule)}): {_listed([repr(each) for each in found[:MOST_NAMED]], len(found))}"
    if found and len(found) == len(usual):
        problem = f"{rules.name} forbids every label of the scores but root {named}"
        raise DeptreeError(problem, "Remove these rules; --rules show prints ours as a file to edit")
    return f"{rules.name} forbids {counted(len(found), 'label')} of the scores {named}" if found else ""


def _listed(named: Sequence[str], size: int) -> str:
    return ", ".join(named) + (f" and {size - MOST_NAMED} others" if size > MOST_NAMED else "")


def words_of(block: Block | None, n: int, labels: Labels | None) -> Words:
    """What rules know of a sentence of n words: nothing of its words where there is no CoNLL-U."""
    names = ("",) if labels is None else labels.names
    if block is None:
        return Words(names, [None] * n, [frozenset()] * n)
    cells = [(tag, feats) for number, tag, feats in block.cells("id", "upos", "feats") if number.isdigit()]
    try:
        upos, feats, tags = zip(*(_word(*each, block.chunk.feats) for each in cells), strict=True)
    except UnicodeDecodeError:
        for each in chain.from_iterable(cells):
            decoded(each, block.place)
        raise
    return Words(names, upos, feats, tags=tags)


@lru_cache(1 << 14)  # sentences have the same few
def _word(tag: bytes, feats: bytes, has_feats: bool) -> tuple[str | None, frozenset[str], str | None]:
    """What is known of a word: the part of speech that it acts as, its features, and what stands in UPOS."""
    own = None if tag == b"_" else tag.decode()
    known = frozenset(feats.decode().split("|")) if has_feats or feats != b"_" else frozenset[str]()
    outer = next((each.removeprefix(_EXT_POS) for each in known if each.startswith(_EXT_POS)), own)
    return None if outer == "_" else outer, known, own
