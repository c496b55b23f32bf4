"""Rules of a sentence or a treebank, and trees checked against them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from itertools import chain, compress, product
from typing import Any, NamedTuple, TypeVar

import numpy as np

from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError, counted, did_you_mean, one_of
from deptree_cli.core.labels import is_root
from deptree_cli.core.rule_kinds import AtMostOne, Below, Function, NoCrossing, NoGaps, OutOfGaps, Projective, Together
from deptree_cli.core.rule_words import (
    ANY,
    LEFT,
    NOT,
    RIGHT,
    Bound,
    Choice,
    Condition,
    ForLabels,
    LabelledTree,
    LabelNumbers,
    Mask,
    Nogood,
    TreeRule,
    Words,
    forbidden,
    labels_named,
    pattern_in,
)
from deptree_cli.core.spaces import SINGLE_ROOT, TreeSpace

# Rules by name: what a file of rules says, as masks and rules that only a tree decides.


Rule = Mask | TreeRule

# What a table of a file says beside these is refused: a rule that is not understood would not be kept.
Fields = Mapping[str, Any]


class OfLabel(NamedTuple):
    """The masks about a label, with their numbers: those that ask little, and others.

    `known`: what the first forbid words with a part of speech below one with another on a side.
    """

    few: list[tuple[int, Mask]]
    others: list[tuple[int, Mask]]
    known: dict[tuple[object, object, bool], list[tuple[int, Mask]]]


class LookedAt(NamedTuple):
    """The masks about each label (L,), and rules that only a tree decides with the labels of which it must have one."""

    of_labels: list[OfLabel]
    tree_rules: list[tuple[TreeRule, set[int]]]


@dataclass(frozen=True)
class Ruleset:
    """Rules that are kept together, in the order in which they are looked at.

    `upos` are the only parts of speech that words may have (empty: any); no tree mends others.
    """

    name: str
    rules: tuple[Rule, ...]
    upos: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [rule.name for rule in self.rules]
        if twice := next((each for each in names if names.count(each) > 1), None):
            raise DeptreeError(f"two rules are called {twice!r}", "Give each a name of its own")

    @cached_property
    def names(self) -> Mapping[str, Sequence[str]]:
        """The labels (and patterns), parts of speech and features that the rules name, each once, by `WHICH`."""
        found: dict[str, dict[str, None]] = {kind: {} for kind in WHICH}
        for rule in self.rules:
            values = [value if isinstance(value, tuple) else (value,) for value in vars(rule).values()]
            for (kind, fields), part in product(WHICH.items(), [*chain(*values), rule]):
                given = [each for field in fields for each in getattr(part, field, ())]
                found[kind] |= dict.fromkeys(given if kind == "upos" else (each.removeprefix(NOT) for each in given))
        return {kind: list(names) for kind, names in found.items()}

    @cached_property
    def labels(self) -> tuple[str, ...]:
        return tuple(each for each in self.names["label"] if pattern_in(each) is None)

    @property
    def asks_for(self) -> set[str]:
        """What the rules ask for of words: some of ``label``, ``upos`` and ``feats``."""
        return {kind for kind, names in self.names.items() if names or (kind == "upos" and self.upos)}

    @property
    def masks(self) -> list[Mask]:
        return [rule for rule in self.rules if isinstance(rule, Mask)]

    @property
    def ask_feats(self) -> bool:
        return any(mask.needs_feats for mask in self.masks)

    @property
    def tree_rules(self) -> list[TreeRule]:
        return [rule for rule in self.rules if not isinstance(rule, Mask)]

    def forbidden(self, words: Words) -> Bool:
        return forbidden(self.masks, words)

    def looked_at(self, words: Words) -> LookedAt:
        """What is looked at in trees of a sentence, kept until there are other labels: sentences have the same few."""
        kept, known = self._looked_at.get(words.labels, dict), (words.has_tags, words.has_feats)
        if known not in kept:
            kept[known] = self._for_labels(words)
        return kept[known]

    @cached_property
    def _looked_at(self) -> ForLabels[dict[tuple[bool, bool], LookedAt]]:
        return ForLabels()

    def _for_labels(self, words: Words) -> LookedAt:
        masks = [(number, mask) for number, mask in enumerate(self.masks) if mask.has_effect(words)]
        of_labels = [OfLabel([], [], {}) for _ in words.labels]
        for number, mask in masks:
            for label in np.flatnonzero(mask.dependent.labels(words.labels)).tolist():
                (of_labels[label].few if mask.asks_little else of_labels[label].others).append((number, mask))
        tree_rules = [(rule, set(np.flatnonzero(rule.group(words.labels)).tolist())) for rule in self.tree_rules]
        return LookedAt(of_labels, tree_rules)

    def bound(self, words: Words, others: Sequence[TreeRule] = ()) -> list[Bound]:
        bound = (rule.bound(words) for rule in (*self.tree_rules, *others))
        return [find for find in bound if find is not None]

    def idle(self, words: Words) -> list[str]:
        return [rule.name for rule in self.rules if not rule.has_effect(words)]

    def unknown(self, kind: str, known: Iterable[str]) -> list[str]:
        """The names of a kind that the rules have and others do not; labels neither as subtypes, and never `root`."""
        others = tuple(known)
        if kind != "label":
            return [each for each in self.names[kind] if each not in others]
        return [each for each in self.names[kind] if not (is_root(each) or labels_named((each,), others).any())]

    def labels_forbidden(self, labels: Sequence[str]) -> dict[str, list[str]]:
        known = tuple(labels)
        named = {mask.name: mask.dependent.labels(known) for mask in self.masks if mask.is_of_labels}
        return {rule: list(compress(known, which)) for rule, which in named.items() if which.any()}


def ruleset_of(name: str, table: Mapping[str, Any]) -> Ruleset:
    """Return the rules of a file's table: for each kind a list of rules: a table, a list of labels, or one label."""
    rules: list[Rule] = []
    for kind, entries in table.items():
        if kind in OF_ALL:
            continue
        if kind not in KINDS:
            raise DeptreeError(f"there is no kind of rules {kind!r}", did_you_mean(kind, KINDS, one_of(list(KINDS))))
        if not isinstance(entries, list):
            raise DeptreeError(f"{kind!r} is no list", f"Give a list of rules: {kind} = [...] or [[{kind}]]")
        rules += [_rule(kind, entry, place) for place, entry in enumerate(entries, 1)]
    return Ruleset(name, tuple(rules), _texts(table, "upos"))


def joined(rulesets: Iterable[Ruleset]) -> Ruleset:
    """The rules of all of them together; a word may have the parts of speech that all allow."""
    given = list(rulesets)
    rules = tuple(rule for each in given for rule in each.rules)
    tags = [each.upos for each in given if each.upos]
    upos = tuple(tag for tag in tags[0] if all(tag in each for each in tags)) if tags else ()
    return Ruleset(",".join(each.name for each in given), rules, upos)


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
    unknown = next((field for field in fields if field not in known), None)
    if unknown is not None:
        raise DeptreeError(f"there is no field {unknown!r}", did_you_mean(unknown, known, one_of(list(known))))


def _texts(fields: Fields, key: str) -> tuple[str, ...]:
    value = fields.get(key, [])
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(each, str) and each for each in texts):
        raise DeptreeError(f"{key!r} is {value!r}", "Give a text, or a list of texts")
    for each in texts:
        if pattern := pattern_in(each.removeprefix(NOT)):
            problem = f"{key!r} has the pattern {each!r}"
            if key in OF_WORDS:
                raise DeptreeError(problem, "Patterns are for labels only: list the names")
            try:
                re.compile(pattern)
            except re.error as error:
                raise DeptreeError(f"{problem}: {error}", "Correct it") from None
            if _repeats_choices(import_module("re._parser").parse(pattern)):
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


def _required(fields: Fields, key: str) -> tuple[str, ...]:
    found = _texts(fields, key)
    if not found:
        raise DeptreeError(f"it has no {key!r}", f"Add {key} = [...]")
    return found


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


def _below(name: str, fields: Fields) -> Below:
    allow, deny = (_conditions(fields, key) for key in OF_OTHERS)
    if allow and deny:
        raise DeptreeError("it has both 'allow' and 'deny'", "Give one of them")
    found = Below(name, _condition(fields), allow, deny, _texts(fields, "unless"))
    if found.head.is_any and not (allow or deny):
        raise DeptreeError("it forbids every dependent of every word", "Name some, for example label = [...]")
    return found


def _by_label(kind: Callable[[str, tuple[str, ...]], Rule]) -> Callable[[str, Fields], Rule]:
    return lambda name, fields: kind(name, _required(fields, "label"))


# The kinds of names in rules, and the fields of rules and of conditions in which they stand.
WHICH = {"label": ("label", "between", "unless"), "upos": ("upos",), "feats": ("feats",)}

# How often a group with repetitions or alternatives may repeat, and what repeats it, as Python parses patterns.
FEW, REPEATS = 3, ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")

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
    "leaf": (_by_label(lambda name, label: Below(name, Condition(label))), ("label",)),
    "below": (_below, (*WHICH, *OF_OTHERS, "unless")),
    "no-gaps": (
        lambda name, fields: NoGaps(name, _required(fields, "label"), _texts(fields, "between")),
        ("label", "between"),
    ),
    "projective": (_by_label(Projective), ("label",)),
    "out-of-gaps": (_by_label(OutOfGaps), ("label",)),
    "no-crossing": (_by_label(NoCrossing), ("label",)),
}


# Which rules given trees break, and whether they are trees at all.
#
# A sentence whose heads make no tree is looked at all the same: every rule is applied that its other arcs decide.


# What heads may be that make no tree, as the validator of Universal Dependencies calls it: none, or no number; a number
# of no word; the word itself; ROOT more than once; words that are their own ancestors.
INVALID_HEAD, UNKNOWN_HEAD, SELF_LOOP = "invalid-head", "unknown-head", "head-self-loop"
MULTIPLE_ROOTS, NON_TREE = "multiple-roots", "non-tree"

# A part of speech that is none of those of the rules.
UNKNOWN_UPOS = "unknown-upos"

# Where a word has no head.
NO_HEAD = -1

# Sentences of a treebank have other labels each, and the same few: what rules know of them is kept.
_NUMBERED = LabelNumbers()


class Violation(NamedTuple):
    """A place where a tree breaks a rule: `words`, from 1 on, break it together, `word` first."""

    rule: str
    word: int
    words: tuple[int, ...]


def broken(
    rules: Ruleset, words: Words, heads: Sequence[int], labels: Sequence[str], space: TreeSpace = SINGLE_ROOT
) -> list[Violation]:
    """Return every place where heads are no tree, or break a rule; nothing where they are a tree that obeys.

    First what makes them no tree of the space, then the rules in their order, each by the order of words. Stretches of
    `words.spans` that do not hang together are named too, by the rule `spans`. A rule that names labels says nothing of
    words without one, and a rule that names parts of speech nothing of words of which none is known. What missing heads
    would decide, or those of a cycle, of which one must go, is left out; functions of trees are asked about trees only.

    >>> from deptree_cli.core.rule_words import Words
    >>> from deptree_cli.io.rules.reading import read_rules
    >>> words = Words((), ["NOUN", "VERB", "NOUN"], [frozenset()] * 3)
    >>> broken(read_rules("ud"), words, [2, 0, 2], ["nsubj", "root", "nsubj"])
    [Violation(rule='too-many-subjects', word=1, words=(1, 3))]
    >>> broken(read_rules("ud"), words, [3, 0, 1], ["obj", "root", "Obl"])
    [Violation(rule='non-tree', word=1, words=(1, 3)), Violation(rule='invalid-deprel', word=3, words=(3,))]

    Args:
        rules: see `Ruleset`.
        words: what rules know of the n words; its own labels are not used.
        heads: of words 1 to n, 0 for ROOT, `NO_HEAD` for none; others, which are no words, are named.
        labels: of each word the name of its label, empty where it has none.
        space: of which the tree should be one.

    Raises:
        DeptreeError: there are not as many heads and labels as words.
    """
    _check_sizes(words.n, heads, labels)
    names, numbers = _NUMBERED.of(labels)
    known = replace(words, labels=names)
    found = list(_wrong_heads(heads))
    loose = {word for each in found for word in each.words}
    given = [0 if word in loose else int(head) for word, head in enumerate(heads, 1)]
    tree = LabelledTree(given, numbers)
    found += _no_tree(tree, space, loose)
    has = tree.by_label.keys()
    asked = [rule for rule, labels in rules.looked_at(known).tree_rules if not labels.isdisjoint(has)]
    asked = [rule for rule in (*asked, Together()) if not (found and isinstance(rule, Function))]
    changing = [*({word} for word in loose), *map(set, tree.cycles)] if found else []
    found += _by_arcs(rules, known, tree, loose)
    return found + [each for rule in asked for each in _by_trees(rule, known, tree, changing)]


def wrong_tags(rules: Ruleset, words: Words) -> list[Violation]:
    wrong = {*words.tags} - {None, *rules.upos} if rules.upos else ()
    return [Violation(UNKNOWN_UPOS, word, (word,)) for word, tag in enumerate(words.tags, 1) if tag in wrong]


def _wrong_heads(heads: Sequence[int]) -> Iterator[Violation]:
    """The words whose heads are none, which are one place, no word, or they themselves."""
    if missing := tuple(word for word, head in enumerate(heads, 1) if head < 0):
        yield Violation(INVALID_HEAD, missing[0], missing)
    for word, head in enumerate(heads, 1):
        if head == word or head > len(heads):
            yield Violation(SELF_LOOP if head == word else UNKNOWN_HEAD, word, (word,))


def _no_tree(tree: LabelledTree, space: TreeSpace, loose: Set[int]) -> Iterator[Violation]:
    """What else keeps heads from being a tree of the space; `loose` words have no head and stand below ROOT."""
    roots = tuple(word for word, head in enumerate(tree.heads, 1) if not head and word not in loose)
    if len(roots) > 1 and space.single_root:
        yield Violation(MULTIPLE_ROOTS, roots[0], roots)
    for cycle in tree.cycles:
        yield Violation(NON_TREE, cycle[0], cycle)
    yield from _not_of_the_kind(tree, space, loose) if space.kind else ()


def _not_of_the_kind(tree: LabelledTree, space: TreeSpace, loose: Set[int]) -> Iterator[Violation]:
    """The words whose arcs cross, or are none of the space; the validator has no name for it but the space does."""
    aside = LabelledTree([word - 1 if word in loose else head for word, head in enumerate(tree.heads, 1)], tree.labels)
    for word, head in enumerate(aside.heads, 1):
        if other := aside.crossings.get(word) if space.projective else None:
            yield Violation(space.kind, word, (word, other))
        elif word not in loose and not space.allows(head, word):
            yield Violation(space.kind, word, (word,))


def _by_arcs(rules: Ruleset, words: Words, tree: LabelledTree, loose: Set[int]) -> list[Violation]:
    """The words whose arcs masks forbid, by the order of masks."""
    of_labels, found, upos = rules.looked_at(words).of_labels, list[tuple[int, int, Mask]](), words.upos
    for word, (head, label) in enumerate(zip(tree.heads, tree.labels, strict=True), 1):
        few, others, known = of_labels[label]
        key = upos[word - 1], upos[head - 1] if head else 0, head < word
        if (bad := known.get(key)) is None:
            bad = known[key] = [each for each in few if each[1].forbids(words, head, word)]
        for number, mask in (*bad, *(each for each in others if each[1].forbids(words, head, word))):
            if mask.is_of_words or word not in loose:
                found.append((number, word, mask))
    return [Violation(mask.name, word, (word,)) for _, word, mask in sorted(found, key=lambda each: each[:2])]


def _by_trees(rule: TreeRule, words: Words, tree: LabelledTree, changing: Sequence[Set[int]]) -> Iterator[Violation]:
    """The nogoods of a rule that only a tree decides; in each set, `changing`, some word must get another head."""
    for nogood in rule.find(words, tree):
        by_heads = _decided_by_heads(nogood, words, tree) if changing else frozenset()
        if not any(each <= by_heads for each in changing):
            yield Violation(rule.name, nogood.words[0], nogood.words)


def _decided_by_heads(nogood: Nogood, words: Words, tree: LabelledTree) -> Set[int]:
    """The words with whose heads a nogood may go: not those that take part by their labels alone."""
    found = set()
    for word, arcs in nogood.choices:
        label = tree.labels[word - 1]
        own = slice(None) if arcs.shape[1] == 1 or not words.labels[label] else label
        if not arcs[:, own].all():
            found.add(word)
    return found


def _check_sizes(n: int, heads: Sequence[int], labels: Sequence[str]) -> None:
    for given, what in ((heads, "head"), (labels, "label")):
        if len(given) != n:
            problem = f"{counted(len(given), what)} given for a sentence of {counted(n, 'word')}"
            raise DeptreeError(problem, f"Give one {what} per word")


# What is asked of a sentence's trees, one thing at a time, each under a name; and what of it cannot hold together.


Asked = TypeVar("Asked")


@dataclass(frozen=True, eq=False)
class Constraint:
    """A constraint on trees: the arcs with labels, (n+1, L), that it forbids a word, or what finds its nogoods."""

    name: str
    asks: Choice | Bound

    def is_broken_by(self, tree: LabelledTree) -> bool:
        if isinstance(self.asks, Choice):
            word, arcs = self.asks
            return bool(arcs[tree.heads[word - 1], tree.labels[word - 1]])
        return next(self.asks.nogoods(tree), None) is not None


def constraints_of(rules: Ruleset, words: Words) -> list[Constraint]:
    """What rules ask of a sentence: a mask of each word by itself, a rule that only a tree decides of the tree."""
    found: list[Constraint] = []
    for rule in rules.rules:
        if isinstance(rule, Mask):
            of_words = forbidden([rule], words)
            for word in np.flatnonzero(of_words.any(axis=(0, 2))).tolist():
                found.append(of_word(rule.name, Choice(word, of_words[:, word].copy())))
        elif (bound := rule.bound(words)) is not None:
            found.append(Constraint(rule.name, bound))
    return found


def of_word(name: str, choice: Choice) -> Constraint:
    return Constraint(f"{name} of word {choice.word}", choice)


def choices_of(constraints: Iterable[Constraint]) -> list[Choice]:
    return [each.asks for each in constraints if isinstance(each.asks, Choice)]


def rules_of(constraints: Iterable[Constraint]) -> list[Bound]:
    return [each.asks for each in constraints if not isinstance(each.asks, Choice)]


def conflicting(constraints: Sequence[Asked], can_hold: Callable[[Sequence[Asked]], bool]) -> list[Asked]:
    """A minimal subset of constraints that cannot hold together: QuickXplain (Junker 2004).

    k of m take O(k log(m / k)) questions. More constraints can hold only if fewer can.
    """

    def among(parts: Sequence[Asked], kept: Sequence[Asked], is_new: bool) -> list[Asked]:
        """Those of some that are needed beside others, which are kept; `is_new`: more of these than when last asked."""
        if is_new and not can_hold(kept):
            return []
        if len(parts) == 1:
            return list(parts)
        first, second = parts[: len(parts) // 2], parts[len(parts) // 2 :]
        needed = among(second, [*kept, *first], True)
        return [*among(first, [*kept, *needed], bool(needed)), *needed]

    return among(constraints, [], False)
