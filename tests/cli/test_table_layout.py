"""Tables on terminals of any width: never wider, numbers and verdicts whole, ids cut in the middle at most."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.cli.table_layout import ID, fitted, shortened, upright
from deptree_cli.io.pictures.forms import cells

NUMBERS = st.one_of(st.integers(-(10**9), 10**9).map(str), st.floats().map("{:.3g}".format), st.just("-"))
VERDICTS = st.sampled_from(["biased", "unbiased", "undecided"])
NAMES = st.text(st.sampled_from("abcXYZ0189-._中文 ий"), min_size=1, max_size=90).map(str.strip).filter(bool)
REASONS = st.sampled_from(
    ["-", "short-arc trees: no other sum is worked out", "samples_per_single_root_tree is e^912.3"]
)
HEADINGS = {
    "n": NUMBERS,
    "log_z_multi_root": NUMBERS,
    "p-value": NUMBERS,
    "by chance": NUMBERS,
    "verdict": VERDICTS,
    "reason": REASONS,
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[str], list[list[str]]]:
    """Headings, the first of which names the rows, and rows."""
    headings = draw(st.lists(st.sampled_from(list(HEADINGS)), max_size=8))
    rows = draw(st.lists(st.tuples(NAMES, *(HEADINGS[each] for each in headings)), max_size=4))
    return [ID, *headings], [list(row) for row in rows]


def whole(text: str) -> str:
    """A text without spaces and breaks between its lines."""
    return "".join(text.split())


@given(tables(), st.integers(40, 200))
def test_it_fits_and_nothing_but_ids_is_cut(found: tuple[list[str], list[list[str]]], room: int) -> None:
    columns, rows = found
    drawn = fitted(columns, rows, room)
    shown = drawn.rows if drawn else in_rows(upright(columns, rows, room).rows, columns)
    natural = [max(map(cells, texts)) for texts in zip(columns, *rows, strict=True)]
    if 1 + sum(natural) + 2 * len(columns) <= room:
        assert drawn == (columns, rows, 2)
    if drawn:
        widths = [max(map(cells, "\n".join(texts).split("\n"))) for texts in zip(drawn.headings, *shown, strict=True)]
        assert 1 + sum(widths) + drawn.gap * len(widths) <= room
        assert list(map(whole, drawn.headings)) == list(map(whole, columns))
    for (name, *others), (name_shown, *others_shown) in zip(rows, shown, strict=True):
        ahead, ellipsis, behind = name_shown.partition("…")
        assert name_shown == name or (ellipsis and name.startswith(ahead) and name.endswith(behind))
        assert list(map(whole, others_shown)) == list(map(whole, others))


def in_rows(records: list[list[str]], columns: list[str]) -> list[list[str]]:
    """The values of records, which an empty line parts, row by row."""
    values = [text for heading, text in records if heading]
    assert [heading for heading, _ in records if heading] == columns * (len(values) // len(columns))
    return [values[start : start + len(columns)] for start in range(0, len(values), len(columns))]


@given(tables(), st.integers(40, 200))
def test_records_fit(found: tuple[list[str], list[list[str]]], room: int) -> None:
    columns, rows = found
    for heading, text in upright(columns, rows, room).rows:
        assert 1 + len(heading) + 2 + max(map(cells, text.split("\n"))) + 2 <= room


@given(NAMES, st.integers(1, 100))
def test_short_names(name: str, width: int) -> None:
    """What is left is as long as it can be, its halves alike but for a character of two columns."""
    short = shortened(name, width)
    assert short == name if cells(name) <= width else width - 3 < cells(short) <= width
    ahead, ellipsis, behind = short.partition("…")
    assert not ellipsis or abs(cells(ahead) - cells(behind)) <= 2


def test_a_table_that_fits_is_left_alone() -> None:
    columns, rows = [ID, "log_z_multi_root"], [["a" * 40, "1.5"]]
    assert fitted(columns, rows, 61) == (columns, rows, 2)
    assert fitted(columns, rows, 60) == (columns, [["a" * 19 + "…" + "a" * 19, "1.5"]], 2)
    assert fitted(columns, [["1", "1.5"]], 28) == (columns, [["1", "1.5"]], 2)
    broken = ["\n\nsent_id", "log_z_\nmulti_\nroot"]
    assert fitted(columns, rows, 30) == (broken, [["a" * 9 + "…" + "a" * 9, "1.5"]], 2)
    assert fitted(columns, rows, 17) == (broken, [["aaaa…aaa", "1.5"]], 1)
    assert fitted(columns, rows, 16) is None
