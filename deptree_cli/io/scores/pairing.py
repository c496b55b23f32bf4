"""Scores and sentences together: by key where the .npz names the sentences, else by order, and never out of step."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, zip_longest

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted, fits_a_line
from deptree_cli.io.conllu.blocks import Block, block_of, read_blocks_or_errors
from deptree_cli.io.scores.labels import LabelScores
from deptree_cli.io.scores.layout import ASSUMPTION, Layout, cut, words_in
from deptree_cli.io.scores.padding import check_not_padding
from deptree_cli.io.scores.raw import Raw, RawScores, Source, in_order
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.second_order import check_parts, refusal
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.streams import STDIN, open_input, place_of

_Blocks = Iterator[Block | DeptreeError]

# Scores with the sentence they belong to, if there are sentences, or what keeps the two apart.
_Pair = tuple[Raw, Block | None] | DeptreeError

_UNORDERED = (
    "Name the scores by the sent_ids, or save them as .npz: safetensors sorts by name, and only deptree notes the order"
)

# How many names of earlier sentences are remembered to notice that the files are out of step.
_REMEMBERED = 1000

_MATCHING = "Check that both files hold the same sentences in the same order"


def read_both(
    scores: ScoreSource,
    other: ScoreSource,
    layout: Layout,
    conllu_path: str | None = None,
    lengths: str | None = None,
    labels: LabelScores | None = None,
) -> Iterator[Record | DeptreeError]:
    """`read_records` of one score file, each with the same sentence's scores in another one, laid out alike.

    Raises:
        DeptreeError: the files do not hold the same sentences in the same order.
    """
    if STDIN in (scores.path, other.path) and (scores.path == other.path or STDIN in (conllu_path, lengths)):
        raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
    if conllu_path == STDIN or lengths == STDIN:
        raise DeptreeError("two score files need the sentences twice", "Give --conllu and --lengths as files")
    records = read_records(scores, layout, conllu_path, lengths, labels)
    twins = read_records(other, layout, conllu_path, lengths)
    for record, twin in zip_longest(records, twins):
        if record is None or twin is None:
            longer, shorter = (other, scores) if record is None else (scores, other)
            problem = f"there are fewer sentences than in {longer.place}"
            raise DeptreeError(problem, _MATCHING, place=shorter.place)
        if isinstance(record, DeptreeError) or isinstance(twin, DeptreeError):
            yield record if isinstance(record, DeptreeError) else twin
        elif record.sent_id != twin.sent_id or record.scores.shape != twin.scores.shape:
            sizes = f"{record.sent_id!r} of shape {record.scores.shape}", f"{twin.sent_id!r} of {twin.scores.shape}"
            problem = f"out of step: sentence {sizes[0]} meets {sizes[1]} in {other.place}"
            raise DeptreeError(problem, _MATCHING, place=record.place)
        elif twin.parts is not None:
            yield refusal(twin.parts, twin.place, twin.sent_id)
        else:
            yield replace(record, other=twin.scores)


def read_records(
    scores: ScoreSource,
    layout: Layout,
    conllu_path: str | None = None,
    lengths: str | None = None,
    labels: LabelScores | None = None,
    first: int = 1,
) -> Iterator[Record | DeptreeError]:
    """Every sentence of a score file, with its CoNLL-U block and the scores of its labels if there are such files.

    Args:
        first: the running number of the first sentence.

    Yields:
        a Record, or the DeptreeError of a sentence that cannot be used.

    Raises:
        DeptreeError: reading cannot begin or go on, or the two files are out of step.
    """
    if [scores.path, conllu_path, lengths, labels and labels.path].count(STDIN) > 1:
        raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
    with scores.read(layout, lengths) as source:
        pairs = (
            _alone(source) if conllu_path is None else _paired(source, scores.place, conllu_path, scores.meta.ordered)
        )
        records = (
            pair if isinstance(pair, DeptreeError) else _record(number, *pair, layout)
            for number, pair in enumerate(pairs, first)
        )
        yield from _labelled(records, labels, layout) if labels else records


def _labelled(
    records: Iterator[Record | DeptreeError], labels: LabelScores, layout: Layout
) -> Iterator[Record | DeptreeError]:
    with labels.open() as opened:
        for record in records:
            if isinstance(record, DeptreeError):
                opened.skip()
                yield record
                continue
            try:
                n = words_in(record.scores.shape, layout)
                yield replace(record, labels=opened.of(record.key, record.sent_id, n))
            except OutOfStep as error:
                raise error.at(sent_id=record.sent_id) from None
            except DeptreeError as error:
                yield error.at(sent_id=record.sent_id)
        opened.check_end()


def _record(number: int, raw: Raw, block: Block | None, layout: Layout) -> Record | DeptreeError:
    named = (block.sent_id if block else "") or (raw.key if isinstance(raw, RawScores) else "")
    sent_id = named or str(number)
    if isinstance(raw, DeptreeError):
        return raw.at(sent_id=sent_id)
    if not fits_a_line(sent_id):
        problem = "the sentence's name holds a control character"
        return DeptreeError(problem, "Rename it", place=raw.place, sent_id=sent_id)
    try:
        padded = raw.padded and block is None
        scores = _fitted(raw, block, layout)
        if padded:
            check_not_padding(scores, layout)
        if block is None and raw.forms:
            block = _of_forms(sent_id, raw.forms, words_in(scores.shape, layout))
        check_parts(raw.parts, words_in(scores.shape, layout))
        notice = ASSUMPTION if layout.is_assumed(scores.shape) else ""
        return Record(sent_id, number, scores, block, raw.place, raw.key, padded, notice=notice, parts=raw.parts)
    except OutOfStep as error:
        if block is None or raw.key is None or raw.key != block.sent_id:
            raise error.at(raw.place, sent_id) from None
        return error.at(raw.place, sent_id)  # the names say that the two belong together
    except DeptreeError as error:
        return error.at(raw.place, sent_id)


def _of_forms(sent_id: str, forms: Sequence[str], n: int) -> Block:
    if len(forms) != n:
        problem = f"the field forms has {counted(len(forms), 'word')}, the scores have {n}"
        raise DeptreeError(problem, "Check what wrote them, or give the sentences with --conllu")
    return block_of(sent_id, forms)


def _fitted(raw: RawScores, block: Block | None, layout: Layout) -> Array:
    """The scores at the length of their sentence.

    Raises:
        OutOfStep: they have another one.
    """
    scores = raw.scores if raw.length is None else cut(raw.scores, raw.length, layout)
    n = words_in(scores.shape, layout)
    if block is None or block.n == n:
        return scores
    if raw.padded and block.n < n:
        return cut(scores, block.n, layout)
    raise OutOfStep(
        f"the scores have {counted(n, 'word')}, the CoNLL-U sentence has {block.n} ({block.place})",
        f"{_MATCHING}, with the same tokens",
    )


def _alone(source: Source) -> Iterator[_Pair]:
    return ((raw, None) for raw in in_order(source))


def _paired(source: Source, place: str, conllu_path: str, ordered: bool) -> Iterator[_Pair]:
    """By key if the first sound sentence is one of the keys, else by order, where the source has one."""
    blocks = _blocks(conllu_path)
    looked_at: list[Block | DeptreeError] = []
    for block in blocks:
        looked_at.append(block)
        if isinstance(block, Block):
            break
    blocks = chain(looked_at, blocks)
    first = looked_at[-1] if looked_at else None
    if isinstance(source, Mapping) and isinstance(first, Block) and first.sent_id in source:
        return _by_key(source, blocks, place)
    if not ordered and isinstance(source, Mapping):
        missing = f", and there is no key {first.sent_id!r}" if isinstance(first, Block) else ""
        raise DeptreeError(f"the order of the sentences is not known{missing}", _UNORDERED, place=place)
    return _by_order(source, blocks, place, conllu_path, None if ordered else True)


def _blocks(path: str) -> _Blocks:
    """The sentences of a file; one that is malformed is handed on as its error."""
    with open_input(path) as file:
        yield from read_blocks_or_errors(file.stream, file.place)


def _by_key(source: Mapping[str, RawScores], blocks: _Blocks, place: str) -> Iterator[_Pair]:
    """Keys that no sentence asks for are left alone: one archive may serve several files of sentences."""
    for block in blocks:
        try:
            yield block if isinstance(block, DeptreeError) else (source[block.sent_id], block)
        except KeyError:
            remedy = "Its first sentence has one, so every sentence must"
            yield DeptreeError(f"{place} has no key of this name", remedy, place=block.place, sent_id=block.sent_id)
        except DeptreeError as error:
            yield error.at(sent_id=block.sent_id)


def _by_order(
    source: Source, blocks: _Blocks, place: str, conllu_path: str, names_agree: bool | None
) -> Iterator[_Pair]:
    """names_agree: whether all names must agree; None: if the first two do."""
    raws = in_order(source)
    before = _Names()
    for number, (raw, block) in enumerate(zip_longest(raws, blocks)):
        if raw is None or block is None:
            ends = (number, number + 1 + sum(1 for _ in raws) + sum(1 for _ in blocks))
            matrices, sentences = ends if raw is None else ends[::-1]
            problem = (
                f"the number of matrices is {matrices}, that of sentences in {place_of(conllu_path)} is {sentences}"
            )
            raise DeptreeError(problem, _MATCHING, place=place)
        if isinstance(raw, RawScores) and isinstance(block, Block):
            names_agree = _in_step(raw, block, names_agree, source)
            before.check(raw, block)
        yield block if isinstance(block, DeptreeError) else (raw, block)


class _Names:
    """The names of sentences that were paired under two names: if one comes again in the other file, it was wrong."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)
        self._of_scores: Counter[str] = Counter()
        self._of_sentences: Counter[str] = Counter()

    def check(self, raw: RawScores, block: Block) -> None:
        """Remember a pair.

        Raises:
            OutOfStep: one of its names was paired with another one.
        """
        if raw.key is None or not block.sent_id or raw.key == block.sent_id:
            return
        if self._of_sentences[raw.key] or self._of_scores[block.sent_id]:
            raise _out_of_step(raw, block)
        if len(self._pairs) == _REMEMBERED:
            key, sent_id = self._pairs[0]
            self._of_scores[key] -= 1
            self._of_sentences[sent_id] -= 1
        self._pairs.append((raw.key, block.sent_id))
        self._of_scores[raw.key] += 1
        self._of_sentences[block.sent_id] += 1


def _out_of_step(raw: RawScores, block: Block) -> OutOfStep:
    whose = repr(raw.key) if raw.key else "without a name"
    problem = f"out of step: these scores are {whose}, the sentence at {block.place} is {block.sent_id!r}"
    return OutOfStep(problem, _MATCHING, place=raw.place)


def _in_step(raw: RawScores, block: Block, names_agree: bool | None, source: Source) -> bool:
    """Whether the scores carry the sentence's name; once they do they must go on, or the files are out of step."""
    agrees = raw.key is not None and raw.key == block.sent_id
    known = isinstance(source, Mapping) and block.sent_id in source
    if not agrees and (names_agree or known):
        raise _out_of_step(raw, block)
    return agrees if names_agree is None else names_agree
