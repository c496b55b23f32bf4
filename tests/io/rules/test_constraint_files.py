"""What files ask of words: read with the place of each line; what is not understood is one line of message."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.rules.constraints import SPAN, read_word_constraints

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
    choices = [each.forbidden(n, labels) for each in asked if each.key != SPAN]
    return {(head, word, labels[label]) for word, arcs in choices for head, label in np.argwhere(arcs).tolist()}


def test_rows(read) -> None:
    rows = read(
        "\ufeff# who has which head\ns-1\t2\tHeadIn\t0,3\ns-1\t2\tNotHead\t0\r\n\n"
        "s-1\t3\tDeprelIn\tnsubj,obj\ns-1\t3\tDeprelNot\tobj\ns-1\t1\t2\ns 2\t2\t3\n"
    )
    assert list(rows) == ["s-1", "s 2"]
    expected = {(head, 2, label) for head in (0, 1, 2) for label in LABELS}
    expected |= {(head, 3, label) for head in range(4) for label in ("root", "obj")}
    assert forbidden(rows["s-1"]) == expected
    spans = {name: [each.span(3) for each in asked if each.key == SPAN] for name, asked in rows.items()}
    assert spans == {"s-1": [(1, 2)], "s 2": [(2, 3)]}


def test_two_lines_on_one_word_hold_both(read) -> None:
    found = forbidden(read("s\t1\tHeadIn\t2,3\ns\t1\tHeadIn\t3")["s"])
    assert found == {(head, 1, label) for head in (0, 1, 2) for label in LABELS}


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
        ('{"sent_id": "s"}', "Expected 3 or 4 columns, found 1:"),
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
        (
            "s\t1\tDeprelIn\tnsub",
            "DeprelIn of word 1 is 'nsub', which is not a label of the scores. Did you mean nsubj?",
        ),
        ("s\t1\tDeprelNot\tobj,zzz", "DeprelNot of word 1 is 'zzz', which is not a label of the scores. Correct it."),
        ("s\t0\t2", "there are no words 0 to 2. Name words 1 to 3."),
        ("s\t2\t4", "there are no words 2 to 4."),
        ("s\t3\t2", "there are no words 3 to 2."),
    ],
)
def test_what_a_sentence_does_not_have_is_said_with_its_line(read, line: str, message: str) -> None:
    (_, asked) = read(f"s\t1\tHeadIn\t2\n{line}\n")["s"]
    with pytest.raises(DeptreeError) as caught:
        _ = asked.span(3) if asked.key == SPAN else asked.forbidden(3, LABELS)
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
