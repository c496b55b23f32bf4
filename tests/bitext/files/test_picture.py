"""What a picture of a sentence pair shows, and its heat map where matplotlib is."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.bitext.files.picture import AlignmentPicture, alignment_picture


def picture(p: int, q: int, words: tuple[list[str], list[str]] = ([], [])) -> AlignmentPicture:
    """Links along the diagonal, each with a probability of .25 and the next word's of .75."""
    probabilities = np.zeros((p, q))
    targets = np.full(p, -1, np.int32)
    for word in range(min(p, q)):
        targets[word] = word
        probabilities[word, word] = 0.25
        probabilities[word, (word + 1) % q] += 0.625
    return alignment_picture("de-1", words, probabilities, targets, "best alignment")


def test_words_as_they_can_be_shown() -> None:
    drawn = picture(2, 1, (["a\x1b[0m", "\x00"], ["ж\u202e"]))
    assert (drawn.source, drawn.target) == (["a[0m", "_"], ["ж"])


def test_numbers_count_from_0_as_in_links() -> None:
    drawn = picture(2, 3)
    assert (drawn.source, drawn.target) == (["0", "1"], ["0", "1", "2"])


def test_the_heat_map_frames_links() -> None:
    drawn = picture(3, 2).heat_map
    assert list(drawn.framed) == [(0, 0), (1, 1)]
    assert drawn.axes == ("source", "target")
    assert drawn.probabilities.shape == (3, 2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'deptree-cli[plot]'")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_what_is_in_a_heat_map(folder: Path) -> None:
    """Matplotlib writes each text as a comment beside its outlines; frames are the only orange."""
    picture(2, 3, (["das", "$x$"], ["the", "a", "b"])).heat_map.write("map.svg")
    text = (folder / "map.svg").read_text(encoding="utf-8")
    for shown in ("das", "$x$", "the", "source", "target", ".25", ".62", "de-1", "probability"):
        assert f"<!-- {shown} -->" in text
    assert text.count("stroke: #ff7f0e") == 2


@pytest.mark.slow("size")
@pytest.mark.parametrize(("p", "q", "numbered"), [(1, 2, True), (1, 21, True), (1, 22, False), (22, 3, False)])
def test_numbers_where_there_is_room(folder: Path, p: int, q: int, numbered: bool) -> None:
    picture(p, q).heat_map.write("map.svg")
    assert ("<!-- .25 -->" in (folder / "map.svg").read_text(encoding="utf-8")) is numbered


@pytest.mark.slow("size")
@pytest.mark.parametrize(
    ("p", "q", "word"), [(1, 1, "x"), (1, 300, "word"), (300, 1, "word"), (2, 2, "x" * 300), (100, 150, "图书馆" * 9)]
)
def test_any_size_and_length_of_words(folder: Path, p: int, q: int, word: str) -> None:
    """Nothing collapses, of which matplotlib would warn, and nothing is larger than 4000 pixels."""
    from PIL import Image

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        picture(p, q, ([word] * p, [word] * q)).heat_map.write("map.png")
    with Image.open("map.png") as image:
        assert max(image.size) < 4000


@pytest.mark.slow("size")
def test_the_same_picture_is_the_same_bytes(folder: Path) -> None:
    for suffix in (".svg", ".png", ".pdf"):
        for name in ("one", "two"):
            picture(2, 3).heat_map.write(f"{name}{suffix}")
        first, second = ((folder / f"{name}{suffix}").read_bytes() for name in ("one", "two"))
        assert first == second
        assert not re.search(rb"CreationDate|<dc:date>", first)
