"""Scores together with the sentences, the other scores and the scores of labels that belong to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError, OutOfStep, counted, fits_a_line
from deptree_cli.io.conllu.beside import sentences
from deptree_cli.io.conllu.blocks import Block, block_of
from deptree_cli.io.files.streams import STDIN
from deptree_cli.io.join import IGNORE, REFUSE, joined
from deptree_cli.io.scores.labels import LabelScores, with_labels
from deptree_cli.io.scores.layout import Layout, cut, words_in
from deptree_cli.io.scores.padding import check_not_padding
from deptree_cli.io.scores.raw import RawScores, Source
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.source import ScoreSource
from deptree_cli.io.sides import Side, in_order

_SAME = "Check that both files hold the same sentences in the same order"


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
        DeptreeError: the files do not hold the same sentences.
    """
    if STDIN in (scores.path, other.path) and (scores.path == other.path or STDIN in (conllu_path, lengths)):
        raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
    if lengths == STDIN:
        raise DeptreeError("two score files need the lengths twice", "Give --lengths as a file")

    def combine(record: Record, raw: RawScores, number: int) -> Record:
        twin = _record(raw, record.block if conllu_path else None, number, layout)
        if record.scores.shape != twin.scores.shape:
            sizes = f"{record.sent_id!r} of shape {record.scores.shape}", f"{twin.sent_id!r} of {twin.scores.shape}"
            problem = f"out of step: sentence {sizes[0]} meets {sizes[1]} in {other.place}"
            raise OutOfStep(problem, _SAME, place=record.place)
        return replace(record, other=twin.scores)

    records = read_records(scores, layout, conllu_path, lengths, labels)
    leaders = records_side(records, scores, conllu_path)
    with other.read(layout, lengths) as source:
        # an archive that serves several files of sentences has those of the others too
        leftover = IGNORE if conllu_path else REFUSE
        yield from joined(leaders, _scores_side(source, other), combine, leftover=leftover)


def read_records(
    scores: ScoreSource,
    layout: Layout,
    conllu_path: str | None = None,
    lengths: str | None = None,
    labels: LabelScores | None = None,
    first: int = 1,
    blocks: Side[Block] | None = None,
) -> Iterator[Record | DeptreeError]:
    """Every sentence of a score file, with its CoNLL-U block and the scores of its labels if there are such files.

    Args:
        first: the running number of the first sentence.
        blocks: the sentences, instead of a file.

    Yields:
        a Record, or the DeptreeError of a sentence that cannot be used.

    Raises:
        DeptreeError: reading cannot begin or go on, or the files are out of step.
    """
    if [scores.path, conllu_path, lengths, labels and labels.path].count(STDIN) > 1:
        raise DeptreeError("standard input (-) can be read only once", "Name a file for all but one of the inputs")
    with scores.read(layout, lengths) as source:
        if conllu_path is not None:
            blocks = sentences([conllu_path])
        records = (
            _alone(source, layout, first) if blocks is None else _with_words(blocks, source, scores, layout, first)
        )
        if labels:
            ordered = blocks is not None or scores.meta.ordered
            records = with_labels(Side(records, "matrices", scores.place, ordered=ordered), labels, layout, first)
        yield from records


def _with_words(
    blocks: Side[Block], source: Source, scores: ScoreSource, layout: Layout, first: int
) -> Iterator[Record | DeptreeError]:
    """The sentences of CoNLL-U, each with its scores."""

    def combine(block: Block, raw: RawScores, number: int) -> Record:
        return _record(raw, block, number, layout)

    return joined(blocks, _scores_side(source, scores), combine, leftover=IGNORE, first=first)


def _scores_side(source: Source, scores: ScoreSource) -> Side[RawScores]:
    return Side(source, "matrices", scores.place, ordered=scores.meta.ordered)


def records_side(
    records: Iterator[Record | DeptreeError], scores: ScoreSource, conllu_path: str | None
) -> Side[Record]:
    """Records of these scores as one side of a join; sentences give them an order."""
    ordered = conllu_path is not None or scores.meta.ordered
    return Side(records, "matrices", scores.place, ordered=ordered)


def _alone(source: Source, layout: Layout, first: int) -> Iterator[Record | DeptreeError]:
    for number, raw in enumerate(in_order(source), first):
        try:
            yield raw.at(sent_id=str(number)) if isinstance(raw, DeptreeError) else _record(raw, None, number, layout)
        except OutOfStep:
            raise
        except DeptreeError as error:
            yield error


def _record(raw: RawScores, block: Block | None, number: int, layout: Layout) -> Record:
    """What is known of a sentence.

    Raises:
        OutOfStep: its scores and its words, or its length, do not fit together.
        DeptreeError: it cannot be used.
    """
    name = (block.sent_id if block else "") or raw.key
    sent_id = name or str(number)
    try:
        if not fits_a_line(sent_id):
            raise DeptreeError("the sentence's name holds a control character", "Rename it")
        padded = raw.padded and block is None
        scores, n = _fitted(raw, block, layout)
        if padded or (raw.length is not None and block is None):
            check_not_padding(scores, layout, raw.length is not None)
        if block is None and raw.forms:
            block = _of_forms(sent_id, raw.forms, n)
    except DeptreeError as error:
        raise error.at(raw.place, sent_id) from None
    return Record(sent_id, number, scores, block, raw.place, raw.key, padded, named=bool(name))


def _of_forms(sent_id: str, forms: Sequence[str], n: int) -> Block:
    if len(forms) != n:
        problem = f"the field forms has {counted(len(forms), 'word')}, the scores have {n}"
        raise DeptreeError(problem, "Check what wrote them, or give the sentences with --conllu")
    return block_of(sent_id, forms)


def _fitted(raw: RawScores, block: Block | None, layout: Layout) -> tuple[Array, int]:
    """The scores at the length of their sentence, and that length.

    Raises:
        OutOfStep: they have another one.
    """
    scores = raw.scores if raw.length is None else cut(raw.scores, raw.length, layout)
    n = words_in(scores.shape, layout)
    if block is None or block.n == n:
        return scores, n
    if raw.padded and block.n < n:
        return cut(scores, block.n, layout), block.n
    raise OutOfStep(
        f"the scores have {counted(n, 'word')}, the CoNLL-U sentence has {block.n} ({block.place})",
        f"{_SAME}, with the same tokens",
    )
