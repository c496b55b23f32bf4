"""Bad sentence pairs: one does not end the reading, files out of step do, and every error is a line with its place."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.bitext.files import PairRecord
from deptree_cli.core.errors import DeptreeError, OutOfStep
from tests.bitext.files import pair_files as files
from tests.bitext.files.pair_files import MATRICES, REVERSE, TEXT, batch

BAD = [
    ('{"scores": [[1, 2]], "source": ["a"]}', "s.jsonl:2 (2): there is no field target beside the other one"),
    ('{"scores": [[1, 2]], "target": ["a", "b"]}', "s.jsonl:2 (2): there is no field source"),
    ('{"scores": [[1, 2]], "source": "a", "target": ["a", "b"]}', "the field source is not a list of words"),
    ('{"scores": [[1, 2]], "source": ["a"], "target": ["a", "b\\n"]}', "leave it out and give --text"),
    ('{"scores": [[1, 2]], "source": ["a"], "target": ["b"]}', "are for 1 and 2 words, but there are 1 and 1 words"),
    ('{"sent_id": "x", "scores": [[1, NaN]]}', "s.jsonl:2 (x): the score of the link 1-2 is NaN"),
    ('{"sent_id": "x", "scores": []}', "s.jsonl:2 (x): there are no source words"),
    ('{"scores": [[1], [2, 3]]}', "s.jsonl:2 (2): the rows of the field scores differ in length"),
    ("{", "s.jsonl:2 (2): not JSON"),
]


@pytest.mark.parametrize(("line", "message"), BAD)
def test_a_bad_pair_does_not_end_the_reading(line: str, message: str, scratch, read) -> None:
    good = '{"scores": [[1, 2]], "source": ["a"], "target": ["b", "c"]}'
    first, bad, last = read(scratch("s.jsonl", f"{good}\n{line}\n{good}\n".encode()))
    assert isinstance(first, PairRecord)
    assert (last.sent_id, last.number) == ("3", 3)
    assert isinstance(bad, DeptreeError)
    assert message in str(bad)
    assert "\n" not in str(bad)


def test_fields_of_that_name_are_nothing_to_trees(scratch) -> None:
    from deptree_cli.io.scores.reading import read as read_trees

    (tree,) = read_trees(scratch("s.jsonl", b'{"scores": [[0, 1], [0, 0]], "source": "the web", "target": 3}'))
    assert tree.distribution.n == 1


def test_other_numbers_of_words_than_rows_and_columns(scratch, read) -> None:
    words = '{"scores": [[1, 2], [3, 4]], "source": ["a", "b"], "target": ["c"]}'
    (bad,) = read(scratch("s.jsonl", words.encode()))
    assert "pass --null" in str(bad)
    with pytest.raises(OutOfStep, match="pass --null"):
        read(scratch("s.npy", files.npy(np.ones((3, 4)))), text=scratch("t.txt", TEXT))
    (bad,) = read("s.jsonl", null="last")
    assert "for 1 and 1 words" in str(bad)
    assert "--null" not in str(bad)


def test_bad_words_and_bad_scores_of_the_other_direction(scratch, read) -> None:
    text = scratch("t.txt", TEXT.replace(b"das Haus |||", b"das Haus"))
    bad, *good = read(scratch("s.npz", files.npz(MATRICES)), text=text)
    assert str(bad).startswith("t.txt:1 (a): there is no |||")
    assert [each.sent_id for each in good] == ["b/č", "c"]
    damaged = REVERSE | {"a": np.full((3, 2), np.nan), "c": np.ones((2, 2))}
    first, good, last = read("s.npz", symmetric=scratch("r.npz", files.npz(damaged)))
    assert str(first).startswith("r.npz[a] (a): the score of the link 1-1 is NaN")
    assert isinstance(good, PairRecord)
    assert "the scores are for 1 and 1 words, those of the other direction for 2 and 2" in str(last)
    assert "r.npz[c]" in str(last)
    del damaged["c"]
    assert "r.npz has no sentence with this id" in str(read("s.npz", symmetric=scratch("r.npz", files.npz(damaged)))[2])


def test_a_damaged_matrix_of_the_other_direction(scratch, read) -> None:
    reverse = scratch("r.npz", files.npz(REVERSE | {"b/č": np.array([["x"]])}))
    good, bad, last = read(scratch("s.npz", files.npz(MATRICES)), symmetric=reverse)
    assert isinstance(good, PairRecord)
    assert isinstance(last, PairRecord)
    assert str(bad).startswith("r.npz[b/č] (b/č): the scores are of type <U1")


def test_a_batch_that_is_too_small(scratch, read) -> None:
    text = scratch("t.txt", TEXT.replace(b"ist so", b"ist sehr so"))
    with pytest.raises(OutOfStep, match="are for 4 and 3 words, but there are 5 and 2 words"):
        read(scratch("s.npy", files.npy(batch(MATRICES))), text=text)


OUT_OF_STEP = [
    ({"text": b"a ||| b\n" + TEXT}, "(a): the scores are for 2 and 3 words, but there are 1 and 1 words at x.text:1"),
    ({"text": TEXT + b"a ||| b\n"}, "x.text: the number of lines is 4, that of matrices in s.npz is 3"),
    ({"symmetric": ["a", "b/č", "c", "c"]}, "x.symmetric: the number of matrices is 4, that of matrices in s.npz is 3"),
    (
        {"symmetric": ["b/č", "a", "c"]},
        "(a): the scores are for 2 and 3 words, those of the other direction for 2 and 4",
    ),
]


@pytest.mark.parametrize(("beside", "message"), OUT_OF_STEP)
def test_files_out_of_step_end_the_reading(beside: dict[str, object], message: str, scratch, read) -> None:
    paths = {}
    for name, value in beside.items():
        data = value if isinstance(value, bytes) else files.npy(*(REVERSE[key] for key in value))  # type: ignore[union-attr]
        paths[name] = scratch(f"x.{name}", data)
    with pytest.raises(OutOfStep) as caught:
        read(scratch("s.npz", files.npz(MATRICES)), **paths)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_names_in_the_same_order(scratch, read) -> None:
    """Names that are no running numbers pair, wherever one is missing."""
    path = scratch("s.jsonl", files.jsonl(MATRICES))

    def with_names(names: str) -> str:
        return scratch("r.jsonl", files.jsonl(dict(zip(names, REVERSE.values(), strict=True))))

    first, missing, last = read(path, symmetric=with_names("abc"))
    assert isinstance(first, PairRecord)
    assert isinstance(last, PairRecord)
    assert str(missing).startswith("s.jsonl:2 (b/č): r.jsonl has no sentence with this id")
    assert [isinstance(each, PairRecord) for each in read(path, symmetric=with_names("xyc"))] == [False, False, True]


def test_a_bad_pair_keeps_the_others_in_step(scratch, read) -> None:
    lines = files.jsonl(MATRICES, names=False).splitlines(keepends=True)
    path = scratch("s.jsonl", b"".join([lines[0], b"[]\n", lines[2]]))
    reverse = scratch("r.npy", files.npy(*REVERSE.values()))
    first, bad, last = read(path, symmetric=reverse, text=scratch("t.txt", TEXT))
    assert isinstance(bad, DeptreeError)
    assert (first.target, last.target) == (("the", "old", "house"), ("yes",))
    np.testing.assert_allclose(last.scores, (MATRICES["c"] + REVERSE["c"].T) / 2)


def test_no_order_no_pairing_by_order(scratch, read, says) -> None:
    path = scratch("s.safetensors", files.safetensors(MATRICES))
    with says("s.safetensors: the order of the matrices is not known"):
        read(path, text=scratch("t.txt", TEXT))
    with says("s.safetensors: the order of the matrices is not known"):
        read(path, symmetric=scratch("r.npy", files.npy(*REVERSE.values())))
    assert len(read(path, symmetric=scratch("r.npz", files.npz(REVERSE)))) == 3
    with says("r.safetensors: the order of the matrices is not known"):
        read(
            scratch("s.npy", files.npy(np.ones((2, 2)))), symmetric=scratch("r.safetensors", files.safetensors(REVERSE))
        )


def test_standard_input_is_read_once(scratch, says, read) -> None:
    with says("standard input (-) can be read only once"):
        read("-", text="-")
