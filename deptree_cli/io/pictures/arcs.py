"""What a picture of a sentence shows: its words, the arcs of a tree and the arcs that might stand in their place.

Word forms are shown without what breaks a file or a terminal; without the font nobody knows how wide they are, so
widths are estimates, rather too wide than too narrow.

Heights of arcs are levels, 1 next to the words. An arc is above all those that it spans, and two arcs of one level have
at most an end in common; so two bars cross only where their arcs do, as in a tree that is not projective.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, count
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Bool, Float, Integers
from deptree_cli.core.errors import counted, plural
from deptree_cli.io.files.streams import cells

# Controls (with the escape of terminals), halves of characters, and line and paragraph separators.
_UNSHOWN = {"Cc", "Cs", "Zl", "Zp"}

# Embeddings, overrides and isolates that a form may open and never close; and what XML has no place for.
_REFUSED = {*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufffe\uffff"}

_LEFT_TO_RIGHT_MARK = "\u200e"

# Widths in em: of the usual letter, of a capital, and of what differs much from them.
_USUAL, _CAPITAL = 0.57, 0.7
_EMS = {**dict.fromkeys("ijlI.,:;!|'`()[]{}-/\\ tfr·’‘“”", 0.38), **dict.fromkeys("mwMWQO@%&—…ЖМШЩЮФжмшщюф", 0.9)}


def shown_form(form: str) -> str:
    """The form without controls and the like, `_` where nothing is left."""
    kept = (char for char in form if unicodedata.category(char) not in _UNSHOWN and char not in _REFUSED)
    return "".join(kept).strip() or "_"


def is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text)


def ems(text: str) -> float:
    return sum(
        _EMS.get(char, _CAPITAL if char.isupper() else _USUAL) if cells(char) == 1 else cells(char) / 2 for char in text
    )


def fitted(text: str, width: int) -> str:
    """The text in exactly `width` columns: filled with blanks, or cut, which an ellipsis says."""
    if cells(text) > width:
        widths = accumulate(map(cells, text))
        text = "".join(char for char, taken in zip(text, widths, strict=True) if taken <= width - 1) + "…"
    return among_others(text) + " " * (width - cells(text))


def among_others(text: str) -> str:
    """The text for a line with more behind it: no neighbour, be it a number, joins a right-to-left word's run."""
    return text + (_LEFT_TO_RIGHT_MARK if is_right_to_left(text) and text[-1] != _LEFT_TO_RIGHT_MARK else "")


class Slot(NamedTuple):
    """The place at a word where an arc ends, one of `total`: how many places right of the word's middle."""

    offset: float
    total: int


def levels(arcs: Sequence[Any]) -> list[int]:
    """The level of each arc, or part of one, of a side; those from ROOT come down from above all others. O(arcs^2)."""
    left, right = np.array([(arc.left, arc.right) for arc in arcs], dtype=int).reshape(-1, 2).T
    heads, found = np.array([arc.head for arc in arcs], dtype=int), np.zeros(len(arcs), dtype=int)
    for arc in np.lexsort((left, right - left)).tolist():
        if heads[arc]:
            inside = (left >= left[arc]) & (right <= right[arc])
            taken = set(found[(left < right[arc]) & (right > left[arc])].tolist())
            found[arc] = next(level for level in count(int(found[inside].max()) + 1) if level not in taken)
    return np.where(heads > 0, found, found.max(initial=0) + 1).tolist()


def slots(arcs: Sequence[Any], heights: Sequence[int]) -> dict[tuple[int, int], Slot]:
    """The slot of every end of an arc of one side, by (number of the arc, word).

    Arcs to the left leave a word at its left, the higher the nearer to its middle, and so at the right: no arc then
    stands in the way of a lower one. ROOT's is in the middle.
    """
    ends: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, (arc, height) in enumerate(zip(arcs, heights, strict=True)):
        if arc.head:
            ends[arc.left].append((1, -height, number))
            ends[arc.right].append((-1, height, number))
        else:
            ends[arc.dependent].append((0, 0, number))
    return {
        (number, word): Slot(place - (len(at_word) - 1) / 2, len(at_word))
        for word, at_word in ends.items()
        for place, (_, _, number) in enumerate(sorted(at_word))
    }


def middles(widths: Sequence[float], gap: float, spans: Sequence[tuple[int, int, float]]) -> Float:
    """Where the middles of the words stand: words at least `gap` apart, and what a span is short of shared by its gaps.

    Widths are in the unit of the result. A span is two words and the least distance between their middles; that of a
    word which heads itself has no gap, and asks for nothing.
    """
    sizes = np.asarray(widths, dtype=float)
    steps = (sizes[1:] + sizes[:-1]) / 2 + gap
    for left, right, distance in sorted(spans, key=lambda span: span[1] - span[0]):
        within = slice(left - 1, right - 1)
        missing = distance - steps[within].sum()
        if missing > 0 and left < right:
            steps[within] += missing / (right - left)
    return sizes[0] / 2 + np.concatenate([[0.0], np.cumsum(steps)])


class Unit(NamedTuple):
    """Room that is taken: by a label, by an end of an arc, between words, by corners with a label and without."""

    size: Callable[[str], float]
    slot: float
    gap: float
    corners: tuple[float, float]


class Side:
    """Arcs, or parts of them, above or below the words of a row, with their levels and slots."""

    def __init__(self, arcs: Sequence[Any], unit: Unit) -> None:
        self.arcs, self.levels, self._unit = arcs, levels(arcs), unit
        self.slots = slots(arcs, self.levels)

    @staticmethod
    def middles(sizes: Sequence[float], sides: Sequence[Side], first: int, labelled: bool) -> tuple[Float, Float]:
        """Where the middles of words stand, the first of which has a number, and how wide they are, with their arcs."""
        widths, unit, spans = np.array(sizes, dtype=float), sides[0]._unit, []
        for side in sides:
            for number, arc in enumerate(side.arcs):
                for word in arc.ends:
                    slot = side.slots[number, word]
                    tag = 0 if arc.head else 2 * abs(slot.offset) * unit.slot + unit.size(arc.tag)
                    widths[word - first] = max(widths[word - first], slot.total * unit.slot, tag)
                if labelled and arc.head and not arc.leaves:  # room for the corners, and the label between them
                    inner = side.slots[number, arc.left].offset - side.slots[number, arc.right].offset
                    distance = unit.size(arc.tag) + unit.corners[0 if arc.tag else 1] + inner * unit.slot
                    spans.append((arc.left - first + 1, arc.right - first + 1, distance))
        return middles(widths.tolist(), unit.gap, spans), widths


# A word's arcs are drawn, the heaviest first, until they have this share of its mass; those below LEAST never are.
ENOUGH, LEAST = 0.9, 0.01

# How many others a word has at most, and how many run side by side between two neighbouring words.
MOST_OF_WORD, MOST_ABREAST = 3, 8


def chosen(weights: Float, tree: Sequence[int], above: float | None = None) -> Bool:
    """Return which arcs outside a tree, n heads with 0 = ROOT, are drawn, (n+1, n+1) ``[head, dependent]``.

    Those that weigh more than `above`; without it those that matter: with them and the tree's a word has `ENOUGH` of
    its mass. Where that would be a thicket the heaviest are kept: `MOST_OF_WORD` of a word, `MOST_ABREAST` between two.
    """
    beside = weights >= LEAST if above is None else weights > max(above, 0)
    beside[:, 0] = False
    beside[tree, np.arange(1, len(tree) + 1)] = False
    if above is not None:
        return beside
    needed: list[tuple[float, int, int]] = []
    for dependent, own in enumerate(tree, 1):
        mass = float(weights[own, dependent])
        heads = np.flatnonzero(beside[:, dependent])
        for head in heads[np.argsort(-weights[heads, dependent], kind="stable")][:MOST_OF_WORD].tolist():
            if mass >= ENOUGH:
                break
            mass += float(weights[head, dependent])
            needed.append((-float(weights[head, dependent]), head, dependent))
    picked, abreast = np.zeros(weights.shape, dtype=bool), np.zeros(len(weights), dtype=np.int64)
    for _, head, dependent in sorted(needed):
        under = slice(*sorted((head or dependent, dependent)))
        if abreast[under].max(initial=0) < MOST_ABREAST:
            abreast[under] += 1
            picked[head, dependent] = True
    return picked


ROOT = "ROOT"

TREE, OTHER = "tree", "other"

# Where two trees stand on one row of words.
SIDES = "above", "below"

# An arc without a number is at least this probable; any other has one, however improbable it is.
SURE = 0.99


@dataclass(frozen=True)
class Arc:
    """An arc as it is drawn; 0 is ROOT, words count from 1.

    `probability` is the marginal, `label` empty where nobody knows, `kind` is `TREE` or `OTHER`; `count` and `share`
    tell in how many of the samples it stands, None where none were drawn. `differs`: from that of another tree.
    """

    head: int
    dependent: int
    probability: float
    label: str = ""
    kind: str = TREE
    count: int | None = None
    share: float | None = None
    differs: bool = False
    leaves = 0  # it ends where it is drawn: see `svg.Part`

    @property
    def ends(self) -> set[int]:
        return {self.left, self.right}

    @property
    def weight(self) -> float:
        """How strongly it is drawn, 0 to 1: the share of the samples if there are any, else the probability."""
        return self.probability if self.share is None else self.share

    @cached_property
    def left(self) -> int:
        """The end nearer to the beginning of the sentence; an arc from ROOT stands over its word alone."""
        return min(self.head or self.dependent, self.dependent)

    @cached_property
    def right(self) -> int:
        return max(self.head, self.dependent)

    @cached_property
    def tag(self) -> str:
        """What is written on it: the label, ROOT's name where that has none, and the weight unless it is nearly 1."""
        number = f"{self.weight:.2f}" if self.weight < SURE else ""
        if self.weight < LEAST:
            number = f"<{LEAST:.2f}" if self.weight else "0"
        return " ".join(filter(None, [self.label or ("" if self.head else ROOT), number.replace("0.", ".")]))


@dataclass(frozen=True)
class Picture:
    """A sentence to be drawn; `arcs`: one of kind `TREE` for each word, in order, then those of kind `OTHER`.

    `samples` is how many the arcs' counts are of; `hidden` arcs of some weight are not drawn.

    `titles`: of trees drawn as they are, without probabilities; arcs of kind `OTHER` are then a second tree's, one for
    each word too. Heads may be anything, but only arcs between words are drawn. `further`: pictures below this one.
    """

    name: str
    forms: Sequence[str]
    arcs: Sequence[Arc]
    caption: str
    samples: int = 0
    hidden: int = 0
    heaviest_hidden: float = 0.0
    titles: Sequence[str] = ()
    further: Sequence[Picture] = ()

    @property
    def hidden_note(self) -> str:
        """How many arcs are hidden and what they weigh at most, in a few words; empty if none are."""
        if not self.hidden:
            return ""
        unit = "share of the samples" if self.samples else "probability"
        most = f"at most {self.heaviest_hidden:.2g}" if self.hidden > 1 else f"{self.heaviest_hidden:.2g}"
        return f"{self.hidden:,} {plural(self.hidden, 'arc')} hidden ({unit} {most})"

    @property
    def full_caption(self) -> str:
        titles = map(": ".join, zip(SIDES, self.titles, strict=True)) if len(self.titles) > 1 else self.titles
        return "; ".join(filter(None, [self.caption, *titles, self.hidden_note]))

    @property
    def note_below(self) -> str:
        """What stands below a drawing: the caption of given trees, of others no more than what is hidden."""
        return self.full_caption if self.titles else self.hidden_note

    @property
    def tree(self) -> list[Arc]:
        return [arc for arc in self.arcs if arc.kind == TREE]

    @property
    def others(self) -> list[Arc]:
        return [arc for arc in self.arcs if arc.kind == OTHER]

    @property
    def sides(self) -> tuple[list[Arc], list[Arc]]:
        """The arcs that are drawn above and below the words."""
        above, below = (
            [arc for arc in arcs if 0 <= arc.head <= len(self.forms) and arc.head != arc.dependent]
            for arcs in (self.tree, self.others)
        )
        return above, below

    @property
    def all(self) -> list[Picture]:
        return [self, *self.further]

    def above(self, *others: Picture) -> Picture:
        """The given tree, and that of another picture of the same words below these."""
        below = [replace(arc, kind=OTHER) for each in others for arc in each.arcs]
        titles = [title for each in (self, *others) for title in each.titles]
        return replace(self, arcs=[*self.arcs, *below], titles=titles)

    @property
    def apart(self) -> list[Picture]:
        """Its trees, each in a picture of its own."""
        trees = zip(self.titles, (self.tree, self.others), strict=False)
        return [replace(self, titles=[title], arcs=[replace(arc, kind=TREE) for arc in tree]) for title, tree in trees]

    def look(self, arc: Arc) -> str:
        """The kind that an arc looks like: on either side, one of a given tree stands out if it differs."""
        return (OTHER if arc.differs else TREE) if self.titles else arc.kind

    def word(self, number: int) -> str:
        return self.forms[number - 1] if number else ROOT

    def note(self, arc: Arc) -> str:
        """What there is to say about an arc: ``saw -> man (obj): 0.9996``."""
        head, word = (among_others(self.word(end)) for end in (arc.head, arc.dependent))
        text = f"{head} -> {word}" + (f" ({arc.label})" if arc.label else "")
        if self.titles:
            return text
        number = f"{arc.probability:.4g}"
        if arc.count is not None:
            number = f"{arc.count} of {counted(self.samples, 'sample')}, probability {number}"
        return f"{text}: {number}"


def picture_of(
    name: str,
    forms: Iterable[str],
    marginals: Float,
    tree: Sequence[int],
    labels: Mapping[tuple[int, int], str],
    caption: str,
    above: float | None = None,
    samples: Integers | None = None,
) -> Picture:
    """Return the picture of a sentence, which counts what it hides: the arcs of a tree, and those of `chosen`.

    Marginals are (n+1, n+1), ``[head, dependent]``, labels by (head, dependent); with samples, (k, n) heads, arcs weigh
    their share of these.
    """
    weights, counts, n, shown = marginals, None, len(tree), [shown_form(form) for form in forms]
    if samples is not None:
        counts = np.zeros((n + 1, n + 1), dtype=np.int64)
        np.add.at(counts, (samples, np.arange(1, n + 1)), 1)
        weights = counts / len(samples)

    def arc(head: int, dependent: int, kind: str) -> Arc:
        probability, at = min(float(marginals[head, dependent]), 1.0), (head, dependent)
        drawn = (None, None) if counts is None else (int(counts[at]), float(weights[at]))
        return Arc(head, dependent, probability, labels.get(at, ""), kind, *drawn)

    others = chosen(weights, tree, above)
    arcs = [arc(head, dependent, TREE) for dependent, head in enumerate(tree, 1)]
    arcs += [arc(head, dependent, OTHER) for dependent, head in np.argwhere(others.T).tolist()]
    others[tree, np.arange(1, n + 1)] = True
    hidden = (weights * ~others)[:, 1:]
    number, left_out = 0 if samples is None else len(samples), int(np.count_nonzero(hidden > 0))
    return Picture(shown_form(name), shown, arcs, caption, number, left_out, float(hidden.max(initial=0)))
