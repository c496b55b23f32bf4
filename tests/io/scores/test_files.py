"""Scores meet sentences: by key, by order, never out of step; one bad sentence does not end the reading."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError, OutOfStep
from deptree_cli.io.scores.files import ScoreFiles, ScoreSource
from deptree_cli.io.scores.layout import Layout, layout
from deptree_cli.io.sentence import Sentence
from tests.arrays import npy


def conllu(**lengths: int) -> bytes:
    """Sentences by name (a name that begins with _ is left out) and length."""
    parts = []
    for name, n in lengths.items():
        parts.append("" if name.startswith("_") else f"# sent_id = {name}\n")
        parts.extend(f"{word}\tf\t_\t_\t_\t_\t_\t_\t_\t_\n" for word in range(1, n + 1))
        parts.append("\n")
    return "".join(parts).encode()


def npz(**lengths: int) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **{name: np.full((n, n + 1), float(n)) for name, n in lengths.items()})
    return stream.getvalue()


def jsonl(*rows: tuple[str | None, int]) -> bytes:
    lines = []
    for name, n in rows:
        sent_id = "null" if name is None else f'"{name}"'
        lines.append(f'{{"sent_id": {sent_id}, "scores": {np.ones((n, n + 1)).tolist()}}}\n')
    return "".join(lines).encode()


def read_files(
    path: str, sentences: str | None = None, lengths: str | None = None, chosen: Layout | None = None
) -> Iterator[Sentence | DeptreeError]:
    return ScoreFiles(ScoreSource(path), sentences, lengths).read(chosen or Layout())


def told(records: list[Sentence | DeptreeError]) -> list[object]:
    """Records as (sent_id, number, words in the scores, words in the block), errors as their line."""
    return [
        str(each)
        if isinstance(each, DeptreeError)
        else (each.sent_id, each.number, min(each.scores.shape), each.block.n if each.block else None)
        for each in records
    ]


@pytest.fixture
def pair(scratch):
    """Read scores with sentences from files of the given bytes."""

    def read(scores: bytes, sentences: bytes | None = None, chosen: Layout | None = None) -> list[object]:
        path = scratch("scores", scores)
        with_sentences = scratch("s.conllu", sentences) if sentences is not None else None
        return told(list(read_files(path, with_sentences, chosen=chosen)))

    return read


def test_names_without_sentences(pair) -> None:
    assert pair(npz(b=2, a=1)) == [("b", 1, 2, None), ("a", 2, 1, None)]
    assert pair(npy(np.ones((2, 3)))) == [("1", 1, 2, None)]
    assert pair(jsonl(("x", 2), (None, 1))) == [("x", 1, 2, None), ("2", 2, 1, None)]


def test_a_batch_takes_its_lengths_from_the_sentences(pair, says) -> None:
    batch = npy(np.arange(32.0).reshape(2, 4, 4))
    assert pair(batch, conllu(a=1, b=3)) == [("a", 1, 2, 1), ("b", 2, 4, 3)]
    assert pair(batch) == [("1", 1, 4, None), ("2", 2, 4, None)]
    first, second = pair(batch, conllu(a=1, b=3), Layout(root="last"))
    assert first.startswith("scores, matrix 1 (a): with ROOT last")
    assert second == ("b", 2, 4, 3)
    with says("the scores have 3 words, the CoNLL-U sentence has 4"):
        pair(batch, conllu(a=4, b=3))


def test_a_batch_with_a_file_of_lengths(scratch, says) -> None:
    path, sentences = scratch("a.npy", npy(np.ones((2, 4, 4)))), scratch("s.conllu", conllu(a=1, b=2))
    alone = read_files(path, None, scratch("l", b"1\n2\n"))
    assert told(list(alone)) == [("1", 1, 2, None), ("2", 2, 3, None)]
    with says("the scores have 3 words, the CoNLL-U sentence has 2"):
        list(read_files(path, sentences, scratch("l", b"1\n3\n")))


def test_a_length_that_does_not_fit_stops_and_those_before_are_cut(scratch) -> None:
    """In a file of their own, or in the archive of the batch: whatever follows may be out of step."""
    batch, stream = np.arange(75.0).reshape(3, 5, 5), io.BytesIO()
    np.savez(stream, scores=batch, lengths=np.array([2, 9, 4]))
    apart = scratch("a.npy", npy(batch)), None, scratch("l", b"2\n9\n4\n")
    for arguments, place in ((apart, "a.npy"), ((scratch("a.npz", stream.getvalue()),), "a.npz")):
        records = read_files(*arguments)
        first = next(records)
        assert isinstance(first, Sentence)
        np.testing.assert_array_equal(first.scores, batch[0, :3, :3])
        assert not first.padded
        with pytest.raises(OutOfStep) as caught:
            next(records)
        assert str(caught.value).startswith(place)
        assert ", matrix 2 (2): the length is 9, but the padded matrix has shape (5, 5)" in str(caught.value)


def test_bad_sentences_are_handed_on(pair) -> None:
    sentences = b"# sent_id = a\n\n" + conllu(b=1) + b"1\tf\n\n" + conllu(d=1)
    first, second, third, fourth = pair(npz(s0=1, s1=1, s2=1, s3=1), sentences)
    assert first.startswith("s.conllu:1 (a): comments without a sentence")
    assert second == ("b", 2, 1, 1)
    assert third.startswith("s.conllu:6: 2 columns")
    assert fourth == ("d", 4, 1, 1)
    first, second = pair(npz(b=1, d=1), conllu(b=1) + b"1\tf\n\n")
    assert (first, second[:10]) == (("b", 1, 1, 1), "s.conllu:4")


def test_bad_scores_are_handed_on(pair, scratch) -> None:
    first, second, third = pair(jsonl((None, 1)) + b'{"scores": 3}\n' + jsonl((None, 1)), conllu(a=1, b=1, c=1))
    assert (first, third) == (("a", 1, 1, 1), ("c", 3, 1, 1))
    assert second.startswith("scores:2 (b): the field scores is not")
    stream = io.BytesIO()
    np.savez(stream, a=np.ones((2, 2, 9)), b=np.ones((3, 9)), c=np.ones((1, 2)))
    for sentences in (None, conllu(a=1, b=1, c=1)):
        label_axis, shape, good = pair(stream.getvalue(), sentences)
        assert "scores[a] (" in label_axis
        assert "is one of the axes labels" in label_axis
        assert "scores[b] (" in shape
        assert "shape (3, 9)" in shape
        assert good[0] == "c"


def test_only_one_standard_input(says) -> None:
    with says("standard input (-) can be read only once"):
        next(read_files("-", "-"))
    with says("standard input (-) can be read only once"):
        next(read_files("-", None, "-"))


def test_missing_sentences(pair, scratch, says) -> None:
    with says("s.conll: no such file", "Did you mean s.conllu?"):
        scratch("s.conllu", b"x")
        list(read_files(scratch("a.npz", npz(x=1)), "s.conll"))
    with says("s.conllu: the file is empty"):
        pair(npz(x=1), b"")


def read(folder: Path, name: str, preset: str) -> list[Sentence | DeptreeError]:
    """The scores of that name with the sentences in their folder."""
    return list(read_files(str(folder / name), str(folder / "sentences.conllu"), chosen=layout(preset)))


def test_real_scores_pair_with_their_sentences(shared: Path) -> None:
    records = read(shared / "real_ru", "scores.npz", "natasha")
    assert len(records) == 579
    assert all(isinstance(record, Sentence) for record in records)


def test_a_padded_batch_pairs_with_its_sentences(formats: Path) -> None:
    records = read(formats, "padded_batch.npy", "supar")
    with np.load(formats / "keys_dep_x_head_rect.npz") as named:
        assert [record.sent_id for record in records if isinstance(record, Sentence)] == list(named)
    assert all(
        isinstance(record, Sentence) and record.block and len(record.scores) == record.block.n + 1 for record in records
    )
