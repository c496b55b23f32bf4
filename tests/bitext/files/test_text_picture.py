"""Sentence pairs as text, character by character: what a terminal of some width shows."""

from __future__ import annotations

import re

import numpy as np
import pytest

from deptree_cli.bitext.commands.show import EMPTY, SHADES, AlignmentPicture, alignment_text
from deptree_cli.io.pictures.arcs import cells


def picture(source: str, target: str, links: dict[tuple[int, int], float], targets: list[int]) -> AlignmentPicture:
    """A picture of words, where all links but these are impossible."""
    words = source.split(), target.split()
    probabilities = np.zeros((len(words[0]), len(words[1])))
    for link, probability in links.items():
        probabilities[link] = probability
    return AlignmentPicture("de-1", words, probabilities, np.array(targets, np.int32), "best alignment")


GOES = picture(
    "sie geht spazieren", "she takes a walk", {(0, 0): 0.999, (1, 1): 0.5, (1, 2): 0.26, (2, 3): 0.7}, [0, 1, 3]
)

LEVEL = """\
de-1: best alignment

          she  takes  a   walk   p(link)
sie       [██]  ··    ··   ··    0.9990
geht       ··  [▓▓]   ▒▒   ··    0.5000
spazieren  ··   ··    ··  [▓▓]   0.7000

░ from .01  ▒ .25  ▓ .5  █ .75
[ ] link of the best alignment
"""

NARROW = """\
de-1: best alignment

             t
             a   w
           s k   a
           h e   l
           e s a k   p(link)
sie       [█]· · ·   0.9990
geht       ·[▓]▒ ·   0.5000
spazieren  · · ·[▓]  0.7000

░ from .01  ▒ .25  ▓ .5  █ .75
[ ] link of the best alignment
"""

STRIPS = """\
de-1: best alignment

            t
            a
          s k
          h e
          e s a
sie      [█]· ·
geht      ·[▓]▒
spazier…  · · ·

          w
          a
          l
          k   p(link)
sie       ·   0.9990
geht      ·   0.5000
spazier… [▓]  0.7000

░ from .01  ▒ .25  ▓ .5  █ .75
[ ] link of the best alignment
"""


def test_words_above_their_columns() -> None:
    assert alignment_text(GOES, 60) == LEVEL


def test_words_upright_where_there_is_less_room() -> None:
    assert alignment_text(GOES, 28) == NARROW


def test_a_matrix_in_strips_where_there_is_little_room() -> None:
    assert alignment_text(GOES, 25) == STRIPS


WIDE = """\
de-1: best alignment

         图
       昨书
     我天馆  p(link)
I   [█]· ·   1.0000
yes  ·[▒]·   0.3000
no   · · ·

░ from .01  ▒ .25  ▓ .5  █ .75
[ ] link of the best alignment
"""


def test_wide_characters() -> None:
    wide = picture("I yes no", "我 昨天 图书馆", {(0, 0): 1, (1, 1): 0.3}, [0, 1, -1])
    assert alignment_text(wide, 26) == WIDE
    rows = alignment_text(picture("图书馆 我", "library I", {(0, 0): 1, (1, 1): 1}, [0, 1]), 80).splitlines()[2:5]
    assert {rows.index(row): cells(row[: row.index("[")]) for row in rows[1:]} == {1: 8, 2: 15}


def test_only_a_link_has_a_number() -> None:
    """That of the header: the probability of the link, of nothing where there is none."""
    lines = alignment_text(picture("a b", "c d", {(0, 0): 0.25, (0, 1): 0.25, (1, 1): 0.9}, [-1, 1]), 80).splitlines()
    assert lines[2].split() == ["c", "d", "p(link)"]
    assert lines[3].split() == ["a", "▒▒", "▒▒"]
    assert lines[4].split() == ["b", "··", "[██]", "0.9000"]


@pytest.mark.parametrize(
    ("probability", "shade"),
    [(0.0, EMPTY), (0.0099, EMPTY), (0.01, "░"), (0.2499, "░"), (0.25, "▒"), (0.5, "▓"), (0.75, "█"), (1.0, "█")],
)
def test_shades(probability: float, shade: str) -> None:
    (row,) = alignment_text(picture("a", "b", {(0, 0): probability}, [-1]), 80).splitlines()[3:4]
    assert row.split()[1] == 2 * shade


def test_long_words_are_cut() -> None:
    long = picture("Donaudampfschifffahrtsgesellschaft", 2 * "Rechtsschutzversicherung ", {(0, 0): 1}, [0])
    lines = alignment_text(long, 80).splitlines()
    assert lines[2].split() == 2 * ["Rechtsschutzversich…"] + ["p(link)"]
    assert lines[3].split()[0] == "Donaudampfschifffah…"
    upright = alignment_text(long, 50).splitlines()
    assert [line[17:].split() for line in upright[2:13]] == [2 * [char] for char in "Rechtsschut"]
    assert upright[13].split() == ["…", "…", "p(link)"]


def test_marks_stay_on_their_letters() -> None:
    decomposed = "cafe\u0301 na\u0308chste\u200d"
    lines = alignment_text(picture("a " * 5, decomposed, {}, [-1] * 5), 20).splitlines()
    assert any(line.split()[0] == "e\u0301" for line in lines if line.strip())
    assert max(cells(line) for line in lines[1:-3]) <= 20


def test_words_from_right_to_left_stay_in_their_columns() -> None:
    """A terminal would turn a run of them round; a mark behind each ends the run."""
    for width in (60, 22):
        lines = alignment_text(picture("we you", "שלום עליכם שם", {(0, 0): 1}, [0, -1]), width).splitlines()
        assert not any(re.search("[\u05d0-\u05ea] +[\u05d0-\u05ea]", line) for line in lines)


def test_colour_says_what_is_in_doubt() -> None:
    plain, coloured = alignment_text(GOES, 60), alignment_text(GOES, 60, colour=True)
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
    assert "\x1b[33m  0.5000\x1b[0m" in coloured
    assert "\x1b[33m  0.9990" not in coloured
    assert "\x1b[36m▒▒\x1b[0m" in coloured
    assert "[▓▓]" in coloured


@pytest.mark.parametrize("width", [24, 40, 80, 200])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 30), (30, 1), (12, 9), (40, 70)])
def test_any_pair_fits(p: int, q: int, width: int) -> None:
    """Every line fits, every link is in brackets once, and every cell is there once."""
    rng = np.random.default_rng(p + q)
    targets = np.full(p, -1, np.int32)
    count = min(p, q) - min(p, q) // 4
    targets[rng.permutation(p)[:count]] = rng.permutation(q)[:count]
    drawn = AlignmentPicture("x", ((), ()), rng.random((p, q)) ** 3, targets, "best alignment")
    text = alignment_text(drawn, width)
    assert max(map(cells, text.splitlines()[1:])) <= max(width, 33)
    matrix = text.split("\n\n", 1)[1].rpartition("\n\n")[0]
    assert matrix.count("[") == matrix.count("]") == count
    shades = "".join(SHADES.values()) + EMPTY
    size = 2 if re.search(rf"\[[{shades}]{{2}}\]", matrix) or f" {2 * EMPTY} " in matrix else 1
    assert len(re.findall(f"[{shades}]", matrix)) == p * q * size
