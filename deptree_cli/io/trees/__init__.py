"""Trees that somebody drew or annotated: what is known of one, and files of them in CoNLL-U or in JSON Lines.

In CoNLL-U samples are usually named ``X/sample_3``, and ``# tree_count = 5`` says how often one was drawn. A line of
JSON has `sent_id`, `heads`, if there are labels `deprels` and, unless it is 1, `count`. There are lines of heads alone.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from deptree_cli.core.dtypes import Bool, Int
from deptree_cli.core.errors import DeptreeError, counted, fits_a_line
from deptree_cli.io.conllu.blocks import Block, Chunk, columns_of, heads_of, numbered, split_chunks, word_starts
from deptree_cli.io.conllu.columns import BOM, COLUMNS, UNKNOWN, decoded, header_for
from deptree_cli.io.files.streams import STDIN, Input, at_hand, lines_of, open_input
from deptree_cli.io.json_lines import object_of, sent_id_of

# What marks a sample of a sentence: /anything as in UD, or -sample_3, which strict validators prefer.
_MARKS = re.compile(r"/[^/]*$"), re.compile(r"-sample_\d+$")

# Of one tree, so that those of a sentence add up within an int64.
_LARGEST_COUNT = 10**12


class SworNotes(NamedTuple):
    """What `deptree swor` writes beside a tree, and on a sentence's last tree on behalf of all.

    None is missing, NaN is not a number.

    Attributes:
        log_prob: the logarithm of the tree's probability.
        rank, arrival: which tree it is, from 1, and when it came.
        tau: on the last tree: when the next would have come; infinite where all were drawn, and beyond all numbers.
        certain, since: on the last tree, of --mass: how many of the first trees reached it, and when the last of these
            came.
    """

    log_prob: float | None = None
    rank: float | None = None
    arrival: float | None = None
    tau: float | None = None
    certain: float | None = None
    since: float | None = None


class GivenTree(NamedTuple):
    """A tree that a file has `times` times, as `sent_id` is named there.

    Attributes:
        sent_id: empty if it names no sentence.
        heads: n integers, 0 = ROOT.
        distinct: whether it was drawn without replacement, by `deptree swor`.
        labels: n names, or none.
        label_draws: whether its labels were drawn given the tree, so that two labelings are not two trees.
        forms, block: its words and its sentence in CoNLL-U, of trees whose heads may be anything.
    """

    sent_id: str
    heads: tuple[int, ...]
    times: int
    place: str
    notes: SworNotes = SworNotes()
    distinct: bool = False
    labels: tuple[str, ...] = ()
    label_draws: bool = False
    forms: tuple[bytes, ...] = ()
    block: Block | None = None

    @property
    def names(self) -> list[str]:
        return names_of(self.sent_id)


def check_acyclic(heads: Sequence[int], place: str, sent_id: str) -> None:
    """Raise unless every word has ROOT above it."""
    seen = [0] * (len(heads) + 1)  # the word from which a node was first reached; ROOT is above all
    for word in range(1, len(heads) + 1):
        node = word
        while node and not seen[node]:
            seen[node] = word
            node = heads[node - 1]
        if node and seen[node] == word:
            problem = f"not a tree: word {node} is its own ancestor"
            remedy = "Correct it, for example with deptree repair, or remove it"
            raise DeptreeError(problem, remedy, place=place, sent_id=sent_id)


def names_of(sent_id: str) -> list[str]:
    """What a tree's sentence may be called, likeliest first: its own name, or that without the mark of a sample."""
    if not ("/" in sent_id or "-" in sent_id):  # as hardly any has a mark
        return [sent_id] if sent_id else []
    return [sent_id, *(mark.sub("", sent_id) for mark in _MARKS if mark.search(sent_id))]


def sentence_of(tree: GivenTree | DeptreeError) -> str:
    """The name of the sentence that a tree is of, without the mark of a sample; empty if nobody knows it."""
    names = names_of(tree.sent_id)
    return names[-1] if names else ""


def number_of(tree: GivenTree | DeptreeError) -> float:
    """Which of its sentence's samples a tree is, from 1, by its rank or the mark of a sample; 0 if neither is there."""
    mark = re.search(r"[/-]sample_([0-9]{1,18})$", tree.sent_id)
    rank = tree.notes.rank if isinstance(tree, GivenTree) else None
    return rank or (int(mark[1]) if mark else 0)


def checked_count(count: Any, place: str, sent_id: str) -> int:
    """How often a tree was drawn; raises for what is no such number."""
    if type(count) is not int or not 1 <= count <= _LARGEST_COUNT:
        remedy = f"Give an integer from 1 to {_LARGEST_COUNT}"
        raise DeptreeError(f"the count is {reprlib.repr(count)}", remedy, place=place, sent_id=sent_id)
    return count


def swor_notes(found: Mapping[str, Any]) -> SworNotes:
    """What `deptree swor` notes on a tree, and on all with the last; NaN for what is not a number."""
    notes = SworNotes(*map(_number, map(found.get, SworNotes._fields)))
    exhausted = found.get("exhausted")  # on the last tree only
    if exhausted not in (None, True, False, "yes", "no"):
        return notes._replace(tau=math.nan)
    endless = exhausted in (True, "yes") or (exhausted is not None and notes.tau is None)
    return notes._replace(tau=math.inf) if endless else notes


def _number(value: Any) -> float | None:
    """A number, also from the text of a comment; NaN where there is something else."""
    if value is None:
        return None
    try:
        return float(value) if isinstance(value, int | float | str) and type(value) is not bool else math.nan
    except (ValueError, OverflowError):
        return math.nan


def _vector(line: bytes, place: str) -> dict[str, Any] | DeptreeError:
    words = line.split()
    for number, word in enumerate(words, 1):
        if not word.isdigit():
            problem = f"the head of word {number} is {word.decode('utf-8', 'replace')!r}, not a number"
            return DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place)
    return {"heads": list(map(int, words))}


# Numbers and blanks, up to the end of the line or of what is known of it.
_VECTOR = re.compile(rb"\s*[ ]*[0-9]+(?:[ ]+[0-9]+)*[ ]*(?:\r?\n|\Z)")

# Formats with a tree a line: their names, how they begin, and what a line at a place says, with the names of JSON Lines
# (`heads`, ...), or what is wrong with it.
_FORMATS: Sequence[tuple[str, re.Pattern[bytes], Callable[[bytes, str], dict[str, Any] | DeptreeError]]] = (
    ("jsonl", re.compile(rb"\s*[{\[]"), object_of),
    ("hv", _VECTOR, _vector),
)

# How containers of arrays begin.
_BINARY = b"PK", b"\x93NUMPY", b"\x80", b"\x89HDF"


def _of_lines(file: Input, make: Callable[[dict[str, Any], str, int], Any]) -> Iterator[Any] | None:
    """What is made of the lines of a file, and errors, None if it is CoNLL-U; raises if it is of arrays."""
    if file.head.startswith(_BINARY):
        problem = "these are not trees in CoNLL-U or JSON Lines"
        remedy = "Give trees as CoNLL-U, or a line of JSON with sent_id and heads"
        raise DeptreeError(problem, remedy, place=file.place)
    fields_of = next((fields for _, begins, fields in _FORMATS if begins.match(file.head.removeprefix(BOM))), None)
    return None if fields_of is None else _made(file, fields_of, make)


def _made(file: Input, fields_of: Callable[[bytes, str], Any], make: Callable[..., Any]) -> Iterator[Any]:
    """What is made of each line; blank ones, and the signature of an earlier run, say nothing."""
    for number, line in enumerate(lines_of(file.stream, file.place), 1):
        if text := (line.removeprefix(BOM) if number == 1 else line).strip():
            place = f"{file.place}:{number}"
            found = fields_of(text, place)
            try:
                if isinstance(found, DeptreeError):
                    yield found
                elif found.keys() != {"signature"}:
                    yield make(found, place, number)
            except DeptreeError as error:
                yield error


def format_of_trees(path: str) -> str:
    """The format of a file of trees, by its first bytes; empty if it has scores, or is standard input."""
    if path == STDIN:
        return ""
    with open_input(path) as file:
        head = file.head.removeprefix(BOM)
        name = next((name for name, begins, _ in _FORMATS if begins.match(head)), "conllu" * (head[:1] in (b"#", b"1")))
        if name == "jsonl":
            first: Any = next(_made(file, object_of, lambda fields, *_: fields), {})
            return name * (isinstance(first, dict) and "heads" in first and "scores" not in first)
        return name


def read_trees(path: str, named: bool = True, any_heads: bool = False) -> Iterator[GivenTree | DeptreeError]:
    """The trees in a file, or with ``file:line`` what is not a tree of a sentence; `-` is standard input.

    Args:
        named: whether a tree that does not name its sentence is an error.
        any_heads: whether heads need not be a tree, and -1 where a word has none; words are then told too.
    """
    with open_input(path) as file:
        trees = _of_lines(file, lambda fields, place, _: tree_in(fields, place, any_heads))
        if trees is None:
            blocks = at_hand(_blocks(file, Block), _TOGETHER)
            trees = chain.from_iterable(map(_trees_of, blocks, repeat(any_heads)))
        for tree in trees:
            nameless = named and isinstance(tree, GivenTree) and not tree.sent_id
            remedy = "Name the sentence that it is a tree of"
            yield DeptreeError("a tree without sent_id", remedy, place=tree.place) if nameless else tree


def blocks_of(path: str, read: Callable[[Chunk, str], Any] = Block) -> Iterator[Any]:
    """The sentences of a file of trees in any format, those of CoNLL-U as they are `read`; errors of malformed ones."""
    with open_input(path) as file:
        blocks = _of_lines(file, lambda fields, place, at: Block(_chunk_of(fields, place, at), file.place))
        yield from _blocks(file, read) if blocks is None else blocks


def _blocks(file: Input, read: Callable[[Chunk, str], Any]) -> Iterator[Any]:
    for chunk in split_chunks(file.stream, file.place):
        try:
            yield read(chunk, file.place)
        except DeptreeError as error:
            yield error.at(sent_id=chunk.sent_id)


# The columns of a line that has no place for labels.
_UNLABELLED = tuple("none" if name == "deprel" else name for name in COLUMNS)


def _chunk_of(fields: dict[str, Any], place: str, number: int) -> Chunk:
    """What a line says as CoNLL-U, or if it has no ``deprels`` as CoNLL-U Plus without a column for them."""
    tree = tree_in(fields, place, any_heads=True)
    upos = texts_in(fields.get("upos"), "upos", "tag", tree.heads, place, tree.sent_id)
    given = [form.decode() for form in tree.forms], upos, tree.labels
    for text in chain(*given):
        if not fits_a_line(text):
            problem, remedy = f"{reprlib.repr(text)} has control characters", "Leave them out"
            raise DeptreeError(problem, remedy, place=place, sent_id=tree.sent_id)
    columns = ([text if text.strip() else UNKNOWN for text in each or [UNKNOWN] * len(tree.heads)] for each in given)
    rows = (
        f"{word}\t{form}\t_\t{tag}\t_\t_\t{UNKNOWN if head < 0 else head}\t{label}\t_\t_\n"
        for word, (head, form, tag, label) in enumerate(zip(tree.heads, *columns, strict=True), 1)
    )
    named = f"# sent_id = {tree.sent_id}\n" if tree.sent_id.strip() and fits_a_line(tree.sent_id) else ""
    header = b"" if tree.labels else header_for(_UNLABELLED, "\n")
    return Chunk(header + f"{named}{''.join(rows)}\n".encode(), number - bool(header), header)


# So many sentences become trees at once.
_TOGETHER = 256

# What notes on trees are called, in comments.
_NOTES = re.compile(rb"swor_|tree_logprob|tree_count|label_logprob")

_NO_NOTES = SworNotes()


def _trees_of(blocks: Sequence[Block | DeptreeError], any_heads: bool) -> Iterator[GivenTree | DeptreeError]:
    """The trees that sentences have, and errors in place of others."""
    known = [each for each in blocks if not isinstance(each, DeptreeError)]
    if not known:
        yield from (each for each in blocks if isinstance(each, DeptreeError))
        return
    starts, heads = word_starts(known), heads_of(known)
    deprel, *form = columns_of(known, "deprel", *["form"] * any_heads)
    names, numbers = numbered(deprel)
    try:
        texts = [decoded(name, known[0].place) for name in names]
    except DeptreeError as error:  # of one sentence
        alone = (_trees_of([each], any_heads) for each in blocks)
        yield from chain.from_iterable(alone) if len(blocks) > 1 else [error.at(sent_id=known[0].sent_id)]
        return
    labels, given = [texts[number] for number in numbers.tolist()], heads.tolist()
    sound = repeat(True) if any_heads else sentences_that_are_trees(heads, starts).tolist()
    found = zip(sound, pairwise(starts.tolist()), strict=False)
    for block in blocks:
        if isinstance(block, DeptreeError):
            yield block
            continue
        is_tree, (start, end) = next(found)
        own, names_of_arcs = tuple(given[start:end]), tuple(labels[start:end])
        named = names_of_arcs if names_of_arcs.count(UNKNOWN) < len(names_of_arcs) else ()
        words = (tuple(form[0][start:end]), block) if any_heads else ((), None)
        tree = GivenTree(block.sent_id, own, 1, block.place, _NO_NOTES, False, named, False, *words)
        try:
            if not is_tree and -1 in own:
                raise without_heads(own, block.place, block.sent_id)
            if _NOTES.search(block.raw, block.template.comments, block.template.rows_start):
                tree = _noted(tree, block)
            if not is_tree:
                check_acyclic(own, block.place, block.sent_id)
            yield tree
        except DeptreeError as error:
            yield error.at(sent_id=block.sent_id)


def tree_of(block: Block) -> GivenTree:
    (found,) = _trees_of([block], any_heads=False)
    if isinstance(found, DeptreeError):
        raise found
    return found


def sentences_that_are_trees(heads: Int, starts: Int) -> Bool:
    """Which sentences have heads that are trees: all of them if they are one tree, sentence beside sentence."""
    from deptree_cli.core.factorisation import are_trees

    sizes = np.diff(starts)
    if are_trees(np.where(heads > 0, heads + np.repeat(starts[:-1], sizes), heads)[None])[0]:
        return np.ones(len(sizes), dtype=np.bool_)
    each = np.split(heads, starts[1:-1])
    return np.array([are_trees(own[None])[0] for own in each])


def _noted(tree: GivenTree, block: Block) -> GivenTree:
    """A tree with what comments say of it."""
    notes = {field: block.comment(f"swor_{field}") for field in (*SworNotes._fields, "exhausted")}
    notes["log_prob"] = block.comment("tree_logprob")
    count = block.comment("tree_count") or "1"
    number = int(count) if re.fullmatch("[1-9][0-9]{0,17}", count) else count
    times = checked_count(number, block.place, block.sent_id)
    distinct, label_draws = block.comment("swor_weight") is not None, block.comment("label_logprob") is not None
    return tree._replace(times=times, notes=swor_notes(notes), distinct=distinct, label_draws=label_draws)


def without_heads(heads: Sequence[int], place: str, sent_id: str) -> DeptreeError:
    """What is wrong with a tree in which some words, or all, have no head, but -1."""
    problem = f"word {[*heads].index(-1) + 1} has no HEAD" if {*heads} != {-1} else "no word has a HEAD"
    remedy = "Every word of a tree needs one: deptree repair finds it"
    return DeptreeError(problem, remedy, place=place, sent_id=sent_id)


def tree_in(value: dict[str, Any], here: str, any_heads: bool) -> GivenTree:
    sent_id = sent_id_of(value, here) or ""
    times = checked_count(value.get("count", 1), here, sent_id)
    heads = _heads(value.get("heads"), here, sent_id, any_heads)
    notes = swor_notes({**value, "rank": value.get("sample")})
    labels = texts_in(value.get("deprels"), "deprels", "label", heads, here, sent_id)
    distinct, label_draws = {"arrival", "weight"} <= value.keys(), "label_log_prob" in value
    tree = GivenTree(sent_id, heads, times, here, notes, distinct, labels, label_draws)
    if any_heads:
        forms = texts_in(value.get("forms"), "forms", "form", heads, here, sent_id)
        return tree._replace(forms=tuple(form.encode("utf-8", "replace") for form in forms))
    check_acyclic(heads, here, sent_id)
    return tree


def _heads(heads: Any, place: str, sent_id: str, any_heads: bool) -> tuple[int, ...]:
    problem = "" if isinstance(heads, list) and heads else "the field heads is not a list of numbers"
    for word, head in enumerate(() if problem else heads, 1):
        if not ((any_heads and head is None) or (type(head) is int and 0 <= head <= len(heads))):
            problem = f"the head of word {word} is {reprlib.repr(head)}, not 0 to {len(heads)}"
            break
    if problem:
        raise DeptreeError(problem, "Give one head per word, 0 for ROOT", place=place, sent_id=sent_id)
    return tuple(-1 if head is None else head for head in heads) if any_heads else tuple(heads)


def texts_in(names: Any, field: str, what: str, heads: Sequence[int], place: str, sent_id: str) -> tuple[str, ...]:
    """The texts of a field, `_` for one that is null; none if all are, or there is no list of them."""
    problem = ""
    if not isinstance(names, list | None):
        problem = f"the field {field} is {reprlib.repr(names)}, not a list"
    elif names is not None and len(names) != len(heads):
        problem = f"there are {counted(len(heads), 'head')} and {counted(len(names), what)}"
    if problem:
        raise DeptreeError(problem, f"Give one of {field} per word", place=place, sent_id=sent_id)
    found = tuple(UNKNOWN if name is None else str(name) for name in names or ())
    return () if {*found} == {UNKNOWN} else found
