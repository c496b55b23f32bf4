"""Small labelled sentences with random scores and random rules of every kind, each from a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from deptree_cli.core.constrained import constrained
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.rules import Function, Together, Words
from deptree_cli.core.ruleset import Ruleset
from deptree_cli.io.rules.reading import ruleset_of
from tests.brute_rules import Sentence, hangs_together, labelled_trees, obeys

Float = NDArray[np.float64]

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
    weights: Float
    words: Sentence
    tables: Sequence[tuple[str, Mapping[str, Any]]]
    functions: Sequence[Callable[[Sequence[int], Sequence[str]], list[int]]]

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
        """The distribution under the rules."""
        return constrained(self.distribution, self.rules, self.known)

    @cached_property
    def unmasked(self):
        """The labelled trees that masks leave."""
        trees = labelled_trees(self.distribution.space, self.weights, self.names)
        masks = [each for each in self.tables if each[0] == "mask"]
        return [tree for tree in trees if all(obeys(tree, *mask, self.words) for mask in masks)]

    @cached_property
    def obedient(self):
        """The labelled trees that obey."""
        return [tree for tree in self.unmasked if self.is_obeyed(tree)]

    def is_obeyed(self, tree):
        """Whether a tree keeps all the rules."""
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
    spans = []
    if rng.random() < 0.35:
        for _ in range(int(rng.integers(1, 3))):
            first, last = sorted(rng.integers(1, n + 1, 2).tolist())
            spans.append((first, last))
    return Sentence(tags, feats, spans)


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
        several = range(int(rng.integers(1, 3)))
        conditions = [
            str(rng.choice(names)) or "det" if rng.random() < 0.5 else _some(rng, _which(rng, names)) for _ in several
        ]
        fields[str(rng.choice(["allow", "deny"]))] = conditions
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
