"""Small labelled sentences with random scores and random rules of every kind, each from a seed; and brute force.

A rule is read from the table that a file of rules has for it, and is a question to one labelled tree. Nothing is shared
with the package but `all_trees`; what the words of a rule mean is taken from its documentation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.constrained import constrained
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.rules import Function, Together, Words
from deptree_cli.core.ruleset import Ruleset
from deptree_cli.io.rules.reading import ruleset_of


class Tree(NamedTuple):
    """Heads and labels of words 1, 2, ..., and the logarithm of the weight."""

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    weight: float = 0.0

    def arcs(self):
        """Head, word and label."""
        return zip(self.heads, range(1, len(self.heads) + 1), self.labels, strict=True)


@dataclass(frozen=True)
class Sentence:
    """What rules may ask for: tags, features, and stretches that hang together."""

    upos: Any
    feats: Any
    spans: Any = ()

    @property
    def n(self):
        return len(self.upos)


def labelled_trees(space, weights, names):
    """The labelled trees of positive weight; log-weights of arcs with labels, (n+1, n+1, L)."""
    table, found = weights.tolist(), []
    for heads in all_trees(len(weights) - 1, space).tolist():
        columns = [
            [pair for pair in zip(names, table[head][word], strict=True) if pair[1] > -math.inf]
            for word, head in enumerate(heads, 1)
        ]
        for choice in product(*columns):
            labels, own = zip(*choice, strict=True)
            found.append(Tree(tuple(heads), labels, math.fsum(own)))
    return found


def obeys(tree, kind, table, words):
    return MEANINGS[kind](tree, table, words)


def hangs_together(tree, words):
    """Whether of each span exactly one word has its head outside."""
    return all(
        sum(not first <= tree.heads[word - 1] <= last for word in range(first, last + 1)) == 1
        for first, last in words.spans
    )


def is_named(label, wanted):
    """Whether a list of labels names one."""

    def fits(each):
        return label == each or (":" not in each and label.startswith(f"{each}:"))

    if any(fits(each[1:]) for each in wanted if each.startswith("!")):
        return False
    positive = [each for each in wanted if not each.startswith("!")]
    return any(map(fits, positive)) if positive else label not in ("", "root")


def _listed(table, key):
    value = table.get(key, [])
    return [value] if isinstance(value, str) else list(value)


def _is_word(word, upos, feats, words):
    """Whether a word has one of some tags, and one of some features and none of those with an exclamation mark."""
    if upos and words.upos[word - 1] not in upos:
        return False
    own = words.feats[word - 1]
    if any(each[1:] in own for each in feats if each.startswith("!")):
        return False
    positive = [each for each in feats if not each.startswith("!")]
    return not positive or any(each in own for each in positive)


def _fits(condition, word, label, words):
    """Whether a word with its label is what a label or a table describes."""
    table = {"label": condition} if isinstance(condition, str) else condition
    named = not table.get("label") or is_named(label, _listed(table, "label"))
    return named and _is_word(word, _listed(table, "upos"), _listed(table, "feats"), words)


def _mask(tree, table, words):
    return not any(_is_forbidden(*arc, table, words) for arc in tree.arcs())


def _is_forbidden(head, word, label, table, words):
    upos, head_upos = _listed(table, "upos"), _listed(table, "head-upos")
    feats, head_feats = _listed(table, "feats"), _listed(table, "head-feats")
    if table.get("label") and not is_named(label, _listed(table, "label")):
        return False
    if (upos and words.upos[word - 1] is None) or (head_upos and head and words.upos[head - 1] is None):
        return False  # it cannot be told
    if (feats or head_feats) and not any(words.feats):
        return False
    described = _is_word(word, upos, feats, words)
    if head_upos or head_feats:
        described &= head > 0 and _is_word(head, head_upos, head_feats, words)
    if "direction" in table:
        described &= (head < word) == (table["direction"] == "right")
    if "distance" in table:
        least, most = table["distance"]
        described &= least <= abs(head - word) <= most
    if "root" in table:
        described &= (head == 0) == table["root"]
    return not described if table.get("allow") else described


def _at_most_one(tree, table, words):
    heads = [head for head, _, label in tree.arcs() if is_named(label, _listed(table, "label"))]
    return len(heads) == len(set(heads))


def _leaf(tree, table, words):
    leaves = {word for _, word, label in tree.arcs() if is_named(label, _listed(table, "label"))}
    return leaves.isdisjoint(tree.heads)


def _below(tree, table, words):
    for _, head, label in tree.arcs():
        if _fits({key: table[key] for key in ("label", "upos", "feats") if key in table}, head, label, words):
            below = [(word, own) for above, word, own in tree.arcs() if above == head]
            if table.get("unless") and any(is_named(own, table["unless"]) for _, own in below):
                continue
            for word, own in below:
                if table.get("deny"):
                    if any(_fits(each, word, own, words) for each in table["deny"]):
                        return False
                elif not any(_fits(each, word, own, words) for each in table.get("allow", [])):
                    return False
    return True


def _no_gaps(tree, table, words):
    group = {(head, word) for head, word, label in tree.arcs() if is_named(label, _listed(table, "label"))}
    passed = {
        word for _, word, label in tree.arcs() if table.get("between") and is_named(label, _listed(table, "between"))
    }
    return all(
        gap in passed or (head, gap) in group
        for head, word in group
        if head
        for gap in range(min(head, word) + 1, max(head, word))
    )


def _no_crossing(tree, table, words):
    spans = [(min(head, word), max(head, word), label) for head, word, label in tree.arcs()]
    return not any(
        a < c < b < d or c < a < d < b
        for a, b, label in spans
        if is_named(label, _listed(table, "label"))
        for c, d, _ in spans
    )


def _dominates(tree, above, word):
    return word == above or (word > 0 and _dominates(tree, above, tree.heads[word - 1]))


def _gap(tree, head, word):
    """The words between the ends of an arc that do not descend from its head."""
    return {each for each in range(min(head, word) + 1, max(head, word)) if not _dominates(tree, head, each)}


def _projective(tree, table, words):
    return not any(
        _gap(tree, head, word) for head, word, label in tree.arcs() if is_named(label, _listed(table, "label"))
    )


def _out_of_gaps(tree, table, words):
    return not any(
        word in _gap(tree, head, other) and not min(head, other) <= own <= max(head, other)
        for own, word, label in tree.arcs()
        if is_named(label, _listed(table, "label"))
        for head, other, _ in tree.arcs()
        if head
    )


MEANINGS = {
    "mask": _mask,
    "at-most-one": _at_most_one,
    "leaf": _leaf,
    "below": _below,
    "no-gaps": _no_gaps,
    "projective": _projective,
    "out-of-gaps": _out_of_gaps,
    "no-crossing": _no_crossing,
}


LABELS = ("nsubj", "nsubj:outer", "obj", "punct", "det")
TAGS = ("NOUN", "VERB", "DET")
FEATS = ("Poss=Yes", "Typo=Yes")
KINDS = "mask", "at-most-one", "leaf", "below", "no-gaps", "projective", "out-of-gaps", "no-crossing"


@dataclass(frozen=True)
class Case:
    """A sentence with scores and rules.

    Attributes:
        weights: log-weights of arcs with labels, (n+1, n+1, L), worked out from the scores.
        tables: kinds of rules, each with the table of a rule.
        functions: rules that are functions.
    """

    distribution: TreeDistribution
    names: tuple[str, ...]
    weights: Any
    words: Sentence
    tables: Any
    functions: Any

    @property
    def rules(self):
        """The rules, as the package knows them."""
        file = {}
        for kind, table in self.tables:
            file.setdefault(kind, []).append(table)
        functions = [Function(f"function {place}", each) for place, each in enumerate(self.functions)]
        spans = [Together()] if self.words.spans else []
        return Ruleset("random", (*ruleset_of("random", file).rules, *functions, *spans))

    @property
    def known(self):
        """The words, as the package knows them."""
        names = self.distribution.labels.names if self.distribution.labels else ("",)
        return Words(names, self.words.upos, self.words.feats, self.words.spans)

    def constrained(self):
        return constrained(self.distribution, self.rules, self.known)

    @cached_property
    def unmasked(self):
        """The labelled trees that masks leave."""
        return [*filter(self.is_unmasked, labelled_trees(self.distribution.space, self.weights, self.names))]

    @cached_property
    def obedient(self):
        return [*filter(self.is_obeyed, self.unmasked)]

    def is_unmasked(self, tree):
        return all(obeys(tree, *each, self.words) for each in self.tables if each[0] == "mask")

    def is_obeyed(self, tree):
        return (
            all(obeys(tree, *each, self.words) for each in self.tables)
            and hangs_together(tree, self.words)
            and not any(each(tree.heads, tree.labels) for each in self.functions)
        )


def random_case(space, seed, size=None):
    """A sentence of one to four words, or of so many."""
    rng = np.random.default_rng(seed)
    n = size or int(rng.choice([1, 2, 3, 4], p=[0.05, 0.15, 0.4, 0.4]))
    words = _sentence(rng, n)
    distribution, names, weights = _scored(rng, n, space)
    tables = [_rule(rng, names, place) for place in range(int(rng.integers(0, 5)))]
    functions = [each for each in (_no_chain, _no_fan, _clash_of(names[0])) if rng.random() < 0.12]
    return Case(distribution, names, weights, words, tables, functions)


def _sentence(rng, n):
    tags = [None if rng.random() < 0.1 else str(rng.choice(TAGS)) for _ in range(n)]
    feats = [frozenset(each for each in FEATS if rng.random() < 0.3) for _ in range(n)]
    several = range(int(rng.integers(1, 3)) if rng.random() < 0.35 else 0)
    return Sentence(tags, feats, [tuple(sorted(rng.integers(1, n + 1, 2).tolist())) for _ in several])


def _scored(rng, n, space):
    """A distribution that has a tree, its labels, and the weights of arcs with these: joint, conditional, or none."""
    shape = (n + 1, n + 1)
    how = rng.choice(["joint", "conditional", "none"], p=[0.5, 0.35, 0.15])
    size = 1 if how == "none" else int(rng.integers(2, 4 if n < 4 else 3))
    labels = tuple(rng.permutation(LABELS)[:size].tolist())
    names = ("",) if how == "none" else tuple(rng.permutation((*labels, "root")).tolist())
    arcs, of_labels = _numbers(rng, shape), _numbers(rng, (*shape, len(names)))
    arcs_of_trees = ~np.eye(n + 1, dtype=bool) & (np.arange(n + 1) > 0)
    allowed = arcs_of_trees & (rng.random(shape) >= rng.choice([0.0, 0.15, 0.3]))
    allowed = allowed if space.is_feasible(allowed) else arcs_of_trees
    arcs = np.where(allowed, arcs, -np.inf)
    if how == "none":
        return TreeDistribution(arcs, space=space), names, arcs[..., None]
    if rng.random() < 0.3:
        of_labels[1:][rng.random((n, n + 1, len(names))) < 0.2] = -np.inf
    of_labels[1:, :, names.index(labels[0])] = _numbers(rng, (n, n + 1))  # one always is possible
    root = np.array(names) == "root"
    may_stand = np.where((np.arange(n + 1) == 0)[:, None, None], root, ~root)
    if how == "joint":
        scores = np.where(allowed[..., None], of_labels, -np.inf)
        return TreeDistribution(scores, space=space, labels=names), names, np.where(may_stand, scores, -np.inf)
    of_labels = np.where(may_stand, of_labels, -np.inf)
    of_labels[0] = np.where(root, 0.0, -np.inf)
    probs = of_labels - np.logaddexp.reduce(of_labels, axis=2, keepdims=True)
    found = TreeDistribution(arcs, space=space).labelled(names, of_labels)
    return found, names, np.where(may_stand, arcs[..., None] + probs, -np.inf)


def _numbers(rng, shape):
    """Scores from flat to peaked, or integers, of which many are equal."""
    scale = rng.choice([0.0, 0.3, 3.0, 30.0, 1000.0, -1.0])
    return rng.integers(0, 3, shape).astype(float) if scale < 0 else rng.normal(size=shape) * scale


def _rule(rng, names, place):
    kind = str(rng.choice(KINDS))
    table = {"name": f"rule {place}"}
    if kind == "mask":
        fields = _some(rng, _mask_fields(rng, names))
        return kind, table | fields | ({"direction": "left"} if fields.keys() <= {"allow"} else {})
    if kind == "below":
        return kind, table | _below_fields(rng, names)
    table["label"] = _labels(rng, names)
    if kind == "no-gaps" and rng.random() < 0.5:
        table["between"] = _labels(rng, names)
    return kind, table


def _some(rng, fields):
    return {key: value for key, value in fields.items() if rng.random() < 0.4}


def _mask_fields(rng, names):
    return {
        **_which(rng, names),
        "head-upos": _few(rng, TAGS),
        "head-feats": _feats(rng),
        "direction": str(rng.choice(["left", "right"])),
        "distance": sorted(rng.integers(1, 4, 2).tolist()),
        "root": bool(rng.random() < 0.5),
        "allow": bool(rng.random() < 0.7),
    }


def _which(rng, names):
    return {"label": _labels(rng, names), "upos": _few(rng, TAGS), "feats": _feats(rng)}


def _below_fields(rng, names):
    fields = _some(rng, _which(rng, names))
    if rng.random() < 0.8:
        fields[str(rng.choice(["allow", "deny"]))] = [
            str(rng.choice(names)) or "det" if rng.random() < 0.5 else _some(rng, _which(rng, names))
            for _ in range(int(rng.integers(1, 3)))
        ]
    if rng.random() < 0.4:
        fields["unless"] = _labels(rng, names)
    return fields | ({"upos": ["NOUN"]} if fields.keys() <= {"unless"} else {})


def _labels(rng, names):
    """Labels that scores have and have not, some of them denied."""
    chosen = _few(rng, (*filter(None, names), "nsubj", "case"))
    return [f"!{each}" if rng.random() < 0.2 else each for each in chosen]


def _feats(rng):
    return [f"!{each}" if rng.random() < 0.4 else each for each in _few(rng, FEATS)]


def _few(rng, names):
    return rng.permutation(names)[: int(rng.integers(1, 3))].tolist()


def _no_chain(heads, labels):
    """No word has a great-grandparent."""
    for word, head in enumerate(heads, 1):
        if head and heads[head - 1] and heads[heads[head - 1] - 1]:
            return [word, head, heads[head - 1]]
    return []


def _no_fan(heads, labels):
    """No word has two dependents to its right; named twice, which is as good as once."""
    for one, head in enumerate(heads, 1):
        others = [other for other in range(one + 1, len(heads) + 1) if heads[other - 1] == head < one]
        if head and others:
            return [others[0], one, one]
    return []


def _clash_of(label):
    """Neighbours do not both have this label."""

    def clash(heads, labels):
        pairs = enumerate(pairwise(labels), 1)
        return next(([word, word + 1] for word, pair in pairs if pair == (label, label)), [])

    return clash
