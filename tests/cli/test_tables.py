"""Tables on terminals of any width: never wider, numbers and verdicts whole, ids cut in the middle at most."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from deptree_cli.cli.terminal import ID, Table, drawn, shortened
from deptree_cli.io.files.streams import cells

NUMBERS = st.one_of(st.integers(-(10**9), 10**9).map(str), st.floats().map("{:.3g}".format), st.just("-"))
NAMES = st.text(st.sampled_from("abcXYZ0189-._中文ий"), min_size=1, max_size=90)
REASONS = st.sampled_from(["-", "short-arc trees: no other sum is computed", "the trees are e^912.3"])
HEADINGS = {
    "n": NUMBERS,
    "log_z_multi_root": NUMBERS,
    "p-value": NUMBERS,
    "by chance": NUMBERS,
    "verdict": st.sampled_from(["biased", "unbiased", "undecided"]),
    "reason": REASONS,
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Headings, the first of which names the rows, and rows."""
    headings = draw(st.lists(st.sampled_from(list(HEADINGS)), max_size=8))
    rows = draw(st.lists(st.tuples(NAMES, *(HEADINGS[each] for each in headings)), min_size=1, max_size=4))
    return [ID, *headings], [list(row) for row in rows]


def is_short_for(short: str, name: str) -> bool:
    ahead, ellipsis, behind = short.partition("…")
    return short == name or bool(ellipsis and name.startswith(ahead) and name.endswith(behind))


@settings(deadline=None)
@given(tables(), st.integers(40, 200))
def test_it_fits_and_nothing_but_ids_is_cut(found: tuple[list[str], list[list[str]]], width: int) -> None:
    columns, rows = found
    text = drawn(Table("title", columns, rows), width)
    assert max(map(cells, text.splitlines())) <= width
    words = text.split()
    for name, *others in rows:
        assert any(is_short_for(word, name) for word in words)
        assert {word for other in others for word in other.split()} <= {*words}
    assert {piece for heading in columns for piece in heading.replace("_", "_ ").split()} <= {
        piece for word in words for piece in word.replace("_", "_ ").split()
    }


@given(NAMES, st.integers(1, 100))
def test_short_names(name: str, width: int) -> None:
    """What is left is as long as it can be, its halves alike but for a character of two columns."""
    short = shortened(name, width)
    assert short == name if cells(name) <= width else width - 3 < cells(short) <= width
    ahead, ellipsis, behind = short.partition("…")
    assert not ellipsis or abs(cells(ahead) - cells(behind)) <= 2


def test_numbers_are_whole_however_narrow_it_is() -> None:
    table = Table("", ("sent_id", "log_z"), [["en-1", -123456789], ["en-2", 0.000314]])
    for width in (1, 12, 20):
        assert {"-123456789", "0.000314", "en-1", "en-2"} <= {*drawn(table, width).split()}
