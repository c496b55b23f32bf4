"""The text, character by character: what a terminal of some width shows."""

from __future__ import annotations

import re

import pytest

from deptree_cli.io.pictures.arcs import cells
from deptree_cli.io.pictures.text import to_text

DUCK = "We saw her duck .", [2, 0, 4, 2, 2], [(2, 3, 0.625)], "nsubj root det obj punct"
SCHEDULED = "A hearing is scheduled today on this", [2, 3, 0, 3, 4, 2, 6]

ABOVE = """\
s-1: most probable tree, probability 0.5

      root
        │╭───────punct───────╮
        ││╭─────obj──────╮   │
╭nsubj─╮│││    ╭det .38╌╮│   │
▼      │▼││    ▼        ╎▼   ▼
We      saw   her      duck  .

   word  relation  head    p       other heads
1  We    nsubj     2 saw   1.0000
2  saw   root      0 ROOT  1.0000
3  her   det       4 duck  0.3750  2 saw 0.6250
4  duck  obj       2 saw   1.0000
5  .     punct     2 saw   1.0000
"""

CROSSING = """\
s-1: most probable tree, probability 0.5

           ROOT
      ╭──────│──────────────────────╮
╭────╮│╭────╮│╭──────╮╭────────╮    │╭───╮
▼    ││▼    │▼│      ▼│        ▼    ▼│   ▼
A  hearing   is   scheduled  today  on  this

"""

BESIDE = """\
s-1: most probable tree, probability 0.5

           word       head         p       other heads
    ╭►─ 1  A          2 hearing    1.0000
  ╭─┼►─ 2  hearing    3 is         1.0000
─►│─┼── 3  is         0 ROOT       1.0000
  │ ├►─ 4  scheduled  3 is         1.0000
  │ ╰►─ 5  today      4 scheduled  1.0000
  ╰►┬── 6  on         2 hearing    1.0000
    ╰►─ 7  this       6 on         1.0000
"""

WIDE = """\
s-1: most probable tree, probability 0.5

                  ROOT
╭──────────────────╮│
│        ╭────────╮││
│╭.98─╮  │╭───╮   │││╭────╮
▼│    ▼  ▼│   ▼   ││▼│    ▼
私   は  猫  が   好き  です

"""


def test_arcs_above_the_words(picture):
    assert to_text(picture(*DUCK), 80) == ABOVE


def test_an_upright_hides_what_it_crosses(picture):
    assert to_text(picture(*SCHEDULED), 45).startswith(CROSSING)


def test_arcs_beside_the_words_where_these_are_too_long_for_the_terminal(picture):
    assert to_text(picture(*SCHEDULED), 40) == BESIDE


def test_wide_characters_take_two_columns(picture):
    assert to_text(picture("私 は 猫 が 好き です", [5, 1, 5, 3, 0, 5], [(5, 2, 0.02)]), 80).startswith(WIDE)


def test_labels_are_left_out_before_the_row_of_words_is(picture):
    with_labels, without = to_text(picture(*DUCK), 31), to_text(picture(*DUCK), 28)
    assert "nsubj─" in with_labels.partition("word")[0]
    assert "nsubj─" not in without.partition("word")[0]
    assert "▼" in without


def test_many_other_heads_go_on_beside_the_arcs(picture):
    """In lines of their own, below the first, while the arcs run on."""
    others = [(0, 1, 0.25), (3, 1, 0.25), (4, 1, 0.25)]
    shown = to_text(picture("Aa b c d", [4, 1, 1, 0], others), 12).splitlines()
    first = next(number for number, line in enumerate(shown) if "Aa" in line)
    start = shown[first].index("0 ROOT 0.2500,")
    assert [line[start:] for line in shown[first : first + 4]] == ["0 ROOT 0.2500,", "3 c 0.2500,", "4 d 0.2500", ""]
    assert [line[:start].split() for line in shown[first + 1 : first + 3]] == [["╎", "│", "│"]] * 2


def test_right_to_left_words_stand_below_each_other(picture):
    """Each closed off, so that no number is drawn into its run."""
    shown = to_text(picture("قرأ الولد كتابا", [0, 1, 1]), 80)
    assert "▼" not in shown
    assert shown.count("►") == 3
    assert "قرأ\u200e " in shown


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_every_word_and_arc_is_there_in_any_width(picture, n, width):
    forms = " ".join(f"w{number}" for number in range(1, n + 1))
    shown = to_text(picture(forms, [number // 2 for number in range(1, n + 1)]), width)
    assert shown.count("▼") + shown.count("►") == n
    if "▼" in shown:
        assert all(cells(line) <= width for line in shown.split("\n\n")[1].splitlines())
    assert all(f"w{number}" in shown for number in range(1, n + 1))


def test_colour_only_where_asked_for(picture):
    plain, coloured = to_text(picture(*DUCK), 80), to_text(picture(*DUCK), 80, colour=True)
    assert "\x1b" not in plain
    assert "\x1b[33m0.3750\x1b[0m" in coloured
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
