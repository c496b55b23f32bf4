"""What files ask of words: read with the place of each line; what is not understood is one line of message."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.rules.constraint_files import read_word_constraints

LABELS = ("root", "nsubj", "obj")


@pytest.fixture
def read(tmp_path: Path):
    """What a file of this text asks for."""

    def read_text(text: str | bytes):
        path = tmp_path / "asked"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_word_constraints([str(path)])

    return read_text


def forbidden(asked, n: int = 3, labels: tuple[str, ...] = LABELS) -> set[tuple[int, int, str]]:
    """The arcs with labels that some constraints forbid."""
    found = np.any([each.forbidden(n, labels) for each in asked], axis=0)
    return {(head, word, labels[label]) for head, word, label in np.argwhere(found).tolist()}


def test_both_ways_to_write_the_same(read) -> None:
    rows = read(
        "\ufeff# who has which head\ns-1\t2\tHeadIn\t0,3\ns-1\t2\tNotHead\t0\r\n\n"
        "s-1\t3\tDeprelIn\tnsubj,obj\ns-1\t3\tDeprelNot\tobj\ns-1\t1\t2\ns 2\t2\t3\n"
    )
    objects = read(
        json.dumps({"sent_id": "s-1", "words": {"2": {"HeadIn": [0, "3"], "NotHead": 0}}, "spans": [[1, 2]]})
        + "\n"
        + json.dumps({"sent_id": "s-1", "words": {"3": {"DeprelIn": ["nsubj", "obj"], "DeprelNot": "obj"}}})
        + '\n{"sent_id": "s 2", "spans": [[2, 3]]}'
    )
    assert list(rows) == list(objects) == ["s-1", "s 2"]
    for found in (rows, objects):
        expected = {(head, 2, label) for head in (0, 1, 2) for label in LABELS}
        expected |= {(head, 3, label) for head in range(4) for label in ("root", "obj")}
        assert forbidden(found["s-1"]) == expected
        spans = {name: [span for each in asked for span in each.checked_spans(3)] for name, asked in found.items()}
        assert spans == {"s-1": [(1, 2)], "s 2": [(2, 3)]}


def test_a_number_is_a_name_as_in_other_json_lines(read) -> None:
    assert list(read('{"sent_id": 7, "spans": [[1, 2]]}')) == ["7"]


@pytest.mark.parametrize("lines", ["s\t1\tHeadIn\t2,3\ns\t1\tHeadIn\t3", '{"sent_id":"s","words":{"1":{"HeadIn":3}}}'])
def test_two_lines_on_one_word_hold_both(read, lines: str) -> None:
    assert forbidden(read(lines)["s"]) == {(head, 1, label) for head in (0, 1, 2) for label in LABELS}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("s", "Expected 3 or 4 columns, found 1: 's'. Write sent_id, word, key and value between tabs,"),
        ("s\t1\tHeadIn\t2\t3", "Expected 3 or 4 columns, found 5:"),
        ("\t1\tHeadIn\t2", "Expected 3 or 4 columns, found 4:"),
        ("s\tx\tHeadIn\t2", "the word is 'x', not a number from 1 on."),
        ("s\t-1\tHeadIn\t2", "the word is '-1', not a number from 1 on."),
        ("s\t1.5\tHeadIn\t2", "the word is '1.5', not a number from 1 on."),
        ("s\t1_0\tHeadIn\t2", "the word is '1_0', not a number from 1 on."),
        ("s\t1\tHeadln\t2", "there is no constraint 'Headln'. Did you mean HeadIn?"),
        ("s\t1\tX\t2", "there is no constraint 'X'. Choose one of HeadIn, NotHead, DeprelIn, DeprelNot."),
        ("s\t1\t-2", "the word is '-2', not a number from 1 on."),
        ('{"sent_id": "s"', "not JSON ("),
        ("{" * 100_000, "not JSON ("),
        ('{"words": {}}', "it has no sent_id. Write {"),
        ('{"sent_id": null}', "it has no sent_id."),
        ('{"sent_id": ""}', "it has no sent_id."),
        ('{"sent_id": ["s"]}', "the field sent_id is a list."),
        ('{"sent_id": "s", "word": {}}', "there is no field 'word'. Did you mean words?"),
        *(
            (f'{{"sent_id": "s", {field}}}', "words or spans are not understood. Write {")
            for field in (
                *('"words": []', '"words": null', '"words": {"1": 2}', '"words": {"1": {"HeadIn": 2.0}}'),
                *('"words": {"1": {"HeadIn": true}}', '"words": {"1": {"HeadIn": []}}', '"spans": null'),
                *('"words": {"1": {"HeadIn": [null]}}', '"spans": [1, 2]', '"spans": [[1, 2, 3]]'),
            )
        ),
        ('{"sent_id": "s", "words": {"a": {}}}', "the word is 'a', not a number from 1 on."),
        ('{"sent_id": "s", "words": {"1": {"Head": 2}}}', "there is no constraint 'Head'. Did you mean"),
        ('{"sent_id": "s", "spans": [[1, 2.5]]}', "the word is 2.5, not a number from 1 on."),
        ('{"sent_id": "s", "spans": [[true, 2]]}', "the word is True, not"),
        ('{"sent_id": "s", "spans": [[-1, 2]]}', "the word is -1, not"),
        (b"s\t1\tDeprelIn\t\xff", "it is not UTF-8. Convert the file to UTF-8."),
    ],
)
def test_what_is_not_understood_is_said_with_its_place(read, line: str | bytes, message: str) -> None:
    with pytest.raises(DeptreeError) as caught:
        read(b"ok\t1\tHeadIn\t2\n\n" + (line if isinstance(line, bytes) else line.encode()))
    _, _, said = str(caught.value).partition("asked:")
    assert said.replace(" (s)", "").startswith(f"3: {message}"), caught.value
    assert "\n" not in said


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("s\t4\tHeadIn\t2", "there is no word 4, which is asked for HeadIn. Name words 1 to 3."),
        ("s\t0\tDeprelIn\tobj", "there is no word 0, which is asked for DeprelIn."),
        ("s\t1\tHeadIn\t4", "HeadIn of word 1 is '4', not 0 to 3. Correct it."),
        ("s\t1\tNotHead\t2, 3", "NotHead of word 1 is ' 3', not 0 to 3."),
        ("s\t1\tHeadIn\t", "HeadIn of word 1 is '', not 0 to 3."),
        ("s\t1\tHeadIn\t-1", "HeadIn of word 1 is '-1', not 0 to 3."),
        ('{"sent_id": "s", "words": {"3": {"HeadIn": "x"}}}', "HeadIn of word 3 is 'x', not 0 to 3."),
        ("s\t1\tDeprelIn\tnsub", "DeprelIn of word 1 is 'nsub', which is no label of the scores. Did you mean nsubj?"),
        ('{"sent_id": "s", "words": {"1": {"DeprelIn": [3]}}}', "DeprelIn of word 1 is '3', which is no label of the"),
        ("s\t1\tDeprelNot\tobj,zzz", "DeprelNot of word 1 is 'zzz', which is no label of the scores. Correct it."),
        ("s\t0\t2", "there are no words 0 to 2. Name words 1 to 3."),
        ("s\t2\t4", "there are no words 2 to 4."),
        ("s\t3\t2", "there are no words 3 to 2."),
    ],
)
def test_what_a_sentence_does_not_have_is_said_with_its_line(read, line: str, message: str) -> None:
    (_, asked) = read(f"s\t1\tHeadIn\t2\n{line}\n")["s"]
    with pytest.raises(DeptreeError) as caught:
        _ = asked.checked_spans(3), asked.forbidden(3, LABELS)
    assert str(caught.value).partition("asked:")[2].startswith(f"2: {message}"), caught.value


def test_labels_that_scores_do_not_have_cannot_be_asked_for(read) -> None:
    (asked,) = read("s\t1\tDeprelIn\tobj")["s"]
    with pytest.raises(DeptreeError, match="word 1 is asked for DeprelIn, and there are no labels"):
        asked.forbidden(3, ("",))


def test_a_file_that_cannot_be_read(read, tmp_path: Path) -> None:
    for path, message in [("none.tsv", "no such file"), ("", "is a folder")]:
        with pytest.raises(DeptreeError, match=message):
            read_word_constraints([str(tmp_path / path)])
    with pytest.raises(DeptreeError, match="the file is empty"):
        read("\n")
