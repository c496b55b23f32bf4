"""Rules by name: what a file of rules says, as masks and rules that only a tree decides."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

from deptree_cli.core.constraints.conflicts import Finder, TreeRule
from deptree_cli.core.constraints.crossing import NoCrossing, OutOfGaps, Projective
from deptree_cli.core.constraints.kinds import AtMostOne, Below, NoGaps
from deptree_cli.core.constraints.label_lists import NOT, labels_named, pattern_in
from deptree_cli.core.constraints.masks import ANY, LEFT, RIGHT, Mask, Masks
from deptree_cli.core.constraints.screening import Screens
from deptree_cli.core.constraints.words import Condition, Words
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError, did_you_mean, one_of
from deptree_cli.core.labels import is_root

Rule = Mask | TreeRule

# What a table of a file says beside these is refused: a rule that is not understood would not be kept.
Fields = Mapping[str, Any]


@dataclass(frozen=True)
class Ruleset:
    """Rules that are kept together.

    Attributes:
        name: what signatures call them.
        rules: in the order in which they are looked at.
        labels: those that a file of rules names, each once.
        upos: the only parts of speech that words may have; empty: any. No tree mends others.
    """

    name: str
    rules: tuple[Rule, ...]
    labels: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules]
        if twice := next((each for each in names if names.count(each) > 1), None):
            raise DeptreeError(f"two rules are called {twice!r}", "Give each a name of its own")

    @cached_property
    def asks_for(self) -> frozenset[str]:
        """What the rules ask for of words: some of ``label``, ``upos`` and ``feats``."""
        values = [value for each in (self, *self.rules) for value in (each, *vars(each).values())]
        parts = [part for value in values for part in (value if isinstance(value, tuple) else (value,))]
        return frozenset(name for name in WHICH if any(getattr(part, name, ()) for part in parts))

    @property
    def masks(self) -> list[Mask]:
        """The rules that a single arc decides."""
        return [rule for rule in self.rules if isinstance(rule, Mask)]

    @property
    def ask_feats(self) -> bool:
        """Whether features decide what single arcs may be."""
        return any(mask.needs_feats for mask in self.masks)

    @property
    def tree_rules(self) -> list[TreeRule]:
        """The others."""
        return [rule for rule in self.rules if not isinstance(rule, Mask)]

    def forbidden(self, words: Words) -> Bool:
        """Which arcs with which labels masks forbid, (n+1, n+1, L), ``[head, dependent, label]``."""
        return self._put_together.forbidden(words)

    @cached_property
    def _put_together(self) -> Masks:
        return Masks(self.masks)

    def finders(self, words: Words, others: Sequence[TreeRule] = ()) -> Sequence[Finder]:
        """What finds the conflicts of trees of a sentence, also with rules of its own behind these."""
        return self._screened.finders(words, others)

    @cached_property
    def _screened(self) -> Screens:
        return Screens(self.tree_rules)

    def idle(self, words: Words) -> list[str]:
        """The names of the rules that have no effect in a sentence."""
        return [
            rule.name
            for rule in self.rules
            if not (rule.has_effect(words) if isinstance(rule, Mask) else rule.bound(words) is not None)
        ]

    def unknown_labels(self, known: Iterable[str]) -> list[str]:
        """The labels that the rules name, of which none of some others is one or a subtype; never `root`."""
        others = tuple(known)
        return [each for each in self.labels if not is_root(each) and not labels_named((each,), others).any()]

    def labels_forbidden(self, labels: Sequence[str]) -> dict[str, list[str]]:
        """Which of some labels no word may have, whatever its head, by the rules that forbid them."""
        known = tuple(labels)
        named = {mask.name: mask.dependent.labels(known) for mask in self.masks if mask.is_of_labels}
        return {rule: list(compress(known, which)) for rule, which in named.items() if which.any()}

    def without(self, names: Sequence[str]) -> Ruleset:
        """The rules but for those of these names."""
        return replace(self, rules=tuple(rule for rule in self.rules if rule.name not in names))


def ruleset_of(name: str, table: Mapping[str, Any]) -> Ruleset:
    """Return the rules of a file's table: for each kind a list of rules, each a table, a list of labels, or one label.

    Raises:
        DeptreeError: something there is not understood; it is named.
    """
    rules: list[Rule] = []
    labels: dict[str, None] = {}
    for kind, entries in table.items():
        if kind in OF_ALL:
            continue
        if kind not in KINDS:
            raise DeptreeError(f"there is no kind of rules {kind!r}", did_you_mean(kind, KINDS, one_of(list(KINDS))))
        if not isinstance(entries, list):
            raise DeptreeError(f"{kind!r} is no list", f"Give a list of rules: {kind} = [...] or [[{kind}]]")
        rules += [_rule(kind, entry, place) for place, entry in enumerate(entries, 1)]
        labels |= dict.fromkeys(_labels_in(entries))
    return Ruleset(name, tuple(rules), tuple(labels), _texts(table, "upos"))


def joined(rulesets: Iterable[Ruleset]) -> Ruleset:
    """The rules of all of them together; a word may have the parts of speech that all allow.

    Raises:
        DeptreeError: two have rules of one name.
    """
    given = list(rulesets)
    rules = tuple(rule for each in given for rule in each.rules)
    labels = dict.fromkeys(label for each in given for label in each.labels)
    tags = [each.upos for each in given if each.upos]
    upos = tuple(tag for tag in tags[0] if all(tag in each for each in tags)) if tags else ()
    return Ruleset(",".join(each.name for each in given), rules, tuple(labels), upos)


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


def _labels_in(entry: Any) -> Iterator[str]:
    """The labels that a rule, or a part of one that was understood, names; patterns name none."""
    if isinstance(entry, str):
        if pattern_in(label := entry.removeprefix(NOT)) is None:
            yield label
    elif isinstance(entry, (list, dict)):
        for each in entry if isinstance(entry, list) else map(entry.get, ("label", "between", "unless", *OF_OTHERS)):
            yield from _labels_in(each)


def _check_fields(fields: Fields, known: Sequence[str]) -> None:
    unknown = next((field for field in fields if field not in known), None)
    if unknown is not None:
        raise DeptreeError(f"there is no field {unknown!r}", did_you_mean(unknown, known, one_of(list(known))))


def _texts(fields: Fields, key: str) -> tuple[str, ...]:
    """A list of texts, or one."""
    value = fields.get(key, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(each, str) and each for each in texts):
        raise DeptreeError(f"{key!r} is {value!r}", "Give a text, or a list of texts")
    if key not in OF_WORDS:
        _check_patterns(key, texts)
    return tuple(texts)


def _check_patterns(key: str, labels: Sequence[str]) -> None:
    for each in labels:
        try:
            re.compile(pattern_in(each.removeprefix(NOT)) or "")
        except re.error as error:
            raise DeptreeError(f"{key!r} has the pattern {each!r}: {error}", "Correct it") from None


def _required(fields: Fields, key: str) -> tuple[str, ...]:
    found = _texts(fields, key)
    if not found:
        raise DeptreeError(f"it has no {key!r}", f"Add {key} = [...]")
    return found


def _condition(fields: Fields, prefix: str = "") -> Condition:
    label = () if prefix else _texts(fields, "label")
    return Condition(label, _texts(fields, f"{prefix}upos"), _texts(fields, f"{prefix}feats"))


def _conditions(fields: Fields, key: str) -> tuple[Condition, ...]:
    """A list of labels and tables."""
    entries = fields.get(key, [])
    if not isinstance(entries, list):
        raise DeptreeError(f"{key!r} is {entries!r}", "Give a list of labels and tables")
    tables = [{"label": [each]} if isinstance(each, str) else each for each in entries]
    for each in tables:
        if not isinstance(each, dict):
            raise DeptreeError(f"{key!r} has {each!r}", "Give labels and tables")
        _check_fields(each, WHICH)
    return tuple(map(_condition, tables))


def _choice(fields: Fields, key: str, choices: Sequence[Any], default: Any) -> Any:
    value = fields.get(key, default)
    if not any(value is each or (isinstance(value, str) and value == each) for each in choices):
        named = [str(each).lower() for each in choices if each not in ("", None)]
        raise DeptreeError(f"{key!r} is {value!r}", one_of(named))
    return value


def _mask(name: str, fields: Fields) -> Mask:
    distance = fields.get("distance")
    sound = distance is None or (
        isinstance(distance, list) and [type(each) for each in distance] == [int, int] and distance[0] <= distance[1]
    )
    if not sound:
        raise DeptreeError(f"'distance' is {distance!r}", "Give the least and the most: distance = [1, 20]")
    found = Mask(
        name,
        _condition(fields),
        _condition(fields, "head-"),
        _choice(fields, "direction", (LEFT, RIGHT, ""), ""),
        None if distance is None else (distance[0], distance[1]),
        _choice(fields, "root", (True, False, None), None),
        _choice(fields, "allow", (True, False), False),
    )
    if found == Mask(name, ANY, allow=found.allow):
        raise DeptreeError("it is about every arc", "Name some, for example label = [...]")
    return found


def _leaf(name: str, fields: Fields) -> Below:
    return Below(name, Condition(_required(fields, "label")))


def _below(name: str, fields: Fields) -> Below:
    allow, deny = (_conditions(fields, key) for key in OF_OTHERS)
    if allow and deny:
        raise DeptreeError("it has both 'allow' and 'deny'", "Give one of them")
    found = Below(name, _condition(fields), allow, deny, _texts(fields, "unless"))
    if found.head.is_any and not (allow or deny):
        raise DeptreeError("it forbids every dependent of every word", "Name some, for example label = [...]")
    return found


def _no_gaps(name: str, fields: Fields) -> NoGaps:
    return NoGaps(name, _required(fields, "label"), _texts(fields, "between"))


def _by_label(kind: Callable[[str, tuple[str, ...]], Rule]) -> Callable[[str, Fields], Rule]:
    """What makes a rule that is a list of labels."""
    return lambda name, fields: kind(name, _required(fields, "label"))


WHICH = ("label", "upos", "feats")

# What is no list of labels.
OF_WORDS = ("upos", "feats", "head-upos", "head-feats")

# What a file says of all its rules: what they are called, and which parts of speech there are.
OF_ALL = ("name", "version", "upos")

# Which dependents a word of a kind may have, and may not.
OF_OTHERS = ("allow", "deny")

# Each kind of rules with its fields beside a name.
KINDS: dict[str, tuple[Callable[[str, Fields], Rule], tuple[str, ...]]] = {
    "mask": (_mask, (*WHICH, "head-upos", "head-feats", "direction", "distance", "root", "allow")),
    "at-most-one": (_by_label(AtMostOne), ("label",)),
    "leaf": (_leaf, ("label",)),
    "below": (_below, (*WHICH, *OF_OTHERS, "unless")),
    "no-gaps": (_no_gaps, ("label", "between")),
    "projective": (_by_label(Projective), ("label",)),
    "out-of-gaps": (_by_label(OutOfGaps), ("label",)),
    "no-crossing": (_by_label(NoCrossing), ("label",)),
}
