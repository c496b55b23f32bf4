"""Which sentences of a system's file have the text of which gold sentences: by their ids, or one text along the other.

Ids pair sentences in any order, as long as these have the same text. Otherwise sentences may be cut in other places:
then the two texts are read one along the other, and sentences belong together from one place where both files begin a
sentence to the next. Where the texts differ, that goes on with the next sentence that both have.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from unicodedata import normalize

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.evaluation.tree_file import TreeFile

# So many characters around the first that differs are shown.
AROUND = 10

_SAME = "Give files of the same text, or pass --on-error skip to leave this sentence out"
_COMPOSED = "Accents are characters of their own in one file only: normalise both, for example to NFC"
_IDS = "Both files have ids, and sentences are paired by id; --on-error skip leaves this one out"


@dataclass(slots=True)
class Group:
    """Sentences that belong together.

    Attributes:
        first, end: the gold sentences first, ..., end - 1; none of sentences that only the system has.
        system: those of the system's file.
        error: why they cannot be compared, if they cannot.
    """

    first: int
    end: int
    system: Sequence[int]
    error: DeptreeError | None = None


@dataclass
class Pairing:
    """Groups in the order of the gold file; every gold sentence is in one.

    Attributes:
        beyond: what is wrong with sentences that only the system's file has.
    """

    groups: list[Group] = field(default_factory=list)
    beyond: list[DeptreeError] = field(default_factory=list)

    @property
    def lost(self) -> int:
        """How many gold sentences cannot be compared, and how many others are too many."""
        return sum(each.end - each.first for each in self.groups if each.error) + len(self.beyond)


def paired(gold: TreeFile, system: TreeFile) -> Pairing:
    """Pair the sentences of two files: in the way in which fewer sentences are left out; by ids if both are as good."""
    by_ids = _by_ids(gold, system) if _named(gold) and _named(system) else None
    if by_ids is not None and not by_ids.lost:
        return by_ids
    by_text = _by_text(gold, system)
    return by_ids if by_ids is not None and by_ids.lost <= by_text.lost else by_text


def _named(file: TreeFile) -> bool:
    """Whether all sentences have ids, but for those of which nothing is known."""
    made = zip(file.names, file.words.texts, strict=True)  # making words finds errors
    return all(name or number in file.errors for number, (name, _) in enumerate(made))


def _by_ids(gold: TreeFile, system: TreeFile) -> Pairing:
    """The n-th sentence of an id with the n-th of that id."""
    ours, theirs = gold.words.texts, system.words.texts
    if gold.names == system.names and ours == theirs and not (gold.errors or system.errors):
        return Pairing([Group(number, number + 1, (number,)) for number in range(len(ours))])
    places: defaultdict[str, deque[int]] = defaultdict(deque)
    nameless = deque[DeptreeError]()  # errors of sentences, of which nobody knows which
    for number, name in enumerate(system.names):
        if name:
            places[name].append(number)
        else:
            nameless.append(system.errors[number])
    found, excused = Pairing(), 0
    for number, name in enumerate(gold.names):
        if not name:
            found.groups.append(Group(number, number + 1, (), gold.errors[number]))
            excused += 1
        elif waiting := places[name]:
            other = waiting.popleft()
            error = gold.errors.get(number) or system.errors.get(other)
            if error is None and ours[number] != theirs[other]:
                error, _ = _difference(gold, [number], system, [other])
            found.groups.append(Group(number, number + 1, (other,), error))
        else:
            error = gold.errors.get(number) or (nameless.popleft() if nameless else _missing(gold, number, system))
            found.groups.append(Group(number, number + 1, (), error))
    left = sorted(number for waiting in places.values() for number in waiting)
    if len(left) > excused:
        found.beyond = [_unmet(system, number, gold) for number in left]
    return found


def _by_text(gold: TreeFile, system: TreeFile) -> Pairing:
    """One text along the other."""
    walk = _Walk(gold, system)
    found = Pairing()
    g = s = 0
    while g < walk.ours or s < walk.theirs:
        ends = walk.next_cut(g, s)
        if ends is None:
            ends = walk.next_shared(g, s)
            found.groups += walk.left_out(g, s, *ends)
            beyond = range(s + ends[0] - g, ends[1])  # more than the gold sentences, which are told of broken ones
            known = system.errors if ends[0] > g else ()
            found.beyond += [walk.error(ends[0], each, ends[0], each + 1)[0] for each in beyond if each not in known]
        else:
            errors = (gold.errors.get(each) for each in range(g, ends[0]))
            found.groups.append(Group(g, ends[0], range(s, ends[1]), next(filter(None, errors), None)))
        g, s = ends
    return found


@dataclass
class _Walk:
    """Two texts that are read one along the other."""

    gold: TreeFile
    system: TreeFile

    def __post_init__(self) -> None:
        self.ours, self.theirs = len(self.gold.names), len(self.system.names)
        self._places: dict[str, list[int]] | None = None

    def next_cut(self, g: int, s: int) -> tuple[int, int] | None:
        """Return the next sentences that both files begin in one place, None if the texts differ before that."""
        ours, theirs = self.gold.words.texts, self.system.words.texts
        left, begun = "", 0  # what one side has of a sentence beyond the other
        ahead = False  # whether the gold side has it
        while True:
            number, limit, texts = (s, self.theirs, theirs) if ahead else (g, self.ours, ours)
            if number == limit or not (piece := texts[number]):
                return None
            g, s = g + (not ahead), s + ahead
            if begun == len(left):
                left, begun, ahead = piece, 0, not ahead
                continue
            rest = len(left) - begun
            if not (left.startswith(piece, begun) if len(piece) <= rest else piece.startswith(left[begun:])):
                return None
            if len(piece) == rest:
                return g, s
            if len(piece) < rest:
                begun += len(piece)
            else:
                left, begun, ahead = piece, rest, not ahead

    def next_shared(self, g: int, s: int) -> tuple[int, int]:
        """Return the nearest sentences behind these that have one text; the ends of the files if there are none."""
        if self._places is None:
            self._places = {}
            for number, text in enumerate(self.system.words.texts):
                self._places.setdefault(text, []).append(number)
        best = self.ours - g + self.theirs - s
        ends = self.ours, self.theirs
        for number, text in enumerate(self.gold.words.texts[g:], g):
            if number - g >= best:
                break
            places = self._places.get(text, []) if text else []
            at = bisect_left(places, s)
            if at < len(places) and number - g + places[at] - s < best:
                best, ends = number - g + places[at] - s, (number, places[at])
        return ends

    def left_out(self, g: int, s: int, g_end: int, s_end: int) -> Iterator[Group]:
        """The gold sentences of a stretch that cannot be compared, each with the reason."""
        reason, broken = self.error(g, s, g_end, s_end)
        for number in range(g, g_end):
            error = self.gold.errors.get(number) or (reason if number == broken else None)
            if error is None:
                problem = f"no telling which text is its own: that of {self.gold.sent_id(broken)} differs"
                remedy, place = "Correct that one, or pass --on-error skip to leave out both", self.gold.at(number)
                error = DeptreeError(problem, remedy, place=place, sent_id=self.gold.sent_id(number))
            yield Group(number, number + 1, range(s, s_end) if number == g else (), error)

    def error(self, g: int, s: int, g_end: int, s_end: int) -> tuple[DeptreeError, int]:
        """What is wrong with a stretch, and with which gold sentence: the system's is broken, or texts differ."""
        for number in range(s, s_end):
            if number in self.system.errors:
                return self.system.errors[number], g
        return _difference(self.gold, range(g, g_end), self.system, range(s, s_end))


def _difference(
    gold: TreeFile, ours: Sequence[int], system: TreeFile, theirs: Sequence[int]
) -> tuple[DeptreeError, int]:
    """Where the texts of some sentences differ, and in which gold sentence, -1 if there are none."""
    one, two = ("".join(file.words.texts[each] for each in some) for file, some in ((gold, ours), (system, theirs)))
    at = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    other, there = _place(system, theirs, at)
    if not ours:
        problem = f"{gold.place} does not have its text here"
        return DeptreeError(problem, _SAME, place=other, sent_id=system.sent_id(there)), -1
    place, here = _place(gold, ours, at)
    own, others = (repr(text[at : at + AROUND]) if at < len(text) else "nothing" for text in (one, two))
    where = f"after {one[max(at - AROUND, 0) : at]!r} it has {own}" if at else f"it begins with {own}"
    problem = f"the text differs: {where}, {others} at {other}"
    remedy = _COMPOSED if normalize("NFC", one) == normalize("NFC", two) else _SAME
    return DeptreeError(problem, remedy, place=place, sent_id=gold.sent_id(here)), here


def _place(file: TreeFile, sentences: Sequence[int], at: int) -> tuple[str, int]:
    """The line of a character of some sentences, or of what comes behind them, and the sentence."""
    texts = file.words.texts
    for number in sentences:
        if at < len(texts[number]) or number == sentences[-1]:
            return file.at(number, file.row_of(number, at)), number
        at -= len(texts[number])
    return file.place, -1


def _missing(gold: TreeFile, number: int, system: TreeFile) -> DeptreeError:
    problem = f"{system.place} has no sentence with this id"
    return DeptreeError(problem, _IDS, place=gold.at(number), sent_id=gold.names[number])


def _unmet(system: TreeFile, number: int, gold: TreeFile) -> DeptreeError:
    problem = f"no sentences in {gold.place} have this id"
    remedy = "Check that both files hold the same sentences"
    return DeptreeError(problem, remedy, place=system.at(number), sent_id=system.names[number])
