"""Trees that obey, by brute force: every labelled tree of up to four words, and what rules mean, written down again.

A rule is read from the table that a file of rules has for it, and is a question to one labelled tree. Nothing is shared
with the package but `all_trees`; what the words of a rule mean is taken from its documentation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from deptree_cli.core.oracle import all_trees


class Tree(NamedTuple):
    """Heads and labels of words 1, 2, ..., and the logarithm of the weight."""

    heads: tuple[int, ...]
    labels: tuple[str, ...]
    weight: float = 0.0

    def arcs(self):
        """Head, word and label."""
        for place, (head, label) in enumerate(zip(self.heads, self.labels, strict=True)):
            yield head, place + 1, label


@dataclass(frozen=True)
class Sentence:
    """What rules may ask for: tags, features, and stretches that hang together."""

    upos: Sequence[str | None]
    feats: Sequence[frozenset[str]]
    spans: Sequence[tuple[int, int]] = ()

    @property
    def n(self):
        """How many words."""
        return len(self.upos)


def labelled_trees(space, weights, names):
    """The labelled trees of positive weight; log-weights of arcs with labels, (n+1, n+1, L)."""
    table, found = weights.tolist(), []
    for heads in all_trees(len(weights) - 1, space).tolist():
        columns = [
            [(label, weight) for label, weight in enumerate(table[head][word]) if weight > -math.inf]
            for word, head in enumerate(heads, 1)
        ]
        for choice in product(*columns):
            total = math.fsum(weight for _, weight in choice)
            found.append(Tree(tuple(heads), tuple(names[label] for label, _ in choice), total))
    return found


def obeys(tree, kind, table, words):
    """Whether a tree keeps a rule."""
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
    if all(each.startswith("!") for each in wanted):
        return label not in ("", "root")
    return any(fits(each) for each in wanted if not each.startswith("!"))


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


def _ancestors(tree, word):
    """The nodes above a word, up to ROOT."""
    found = []
    while word:
        word = tree.heads[word - 1]
        found.append(word)
    return found


def _gap(tree, head, word):
    """The words between the ends of an arc that do not descend from its head."""
    between = range(min(head, word) + 1, max(head, word))
    return {each for each in between if head not in _ancestors(tree, each)}


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
