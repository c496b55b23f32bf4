"""Measured tables of the manual are those of the results, results those of known benchmarks. Nothing is measured."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import blocks, results
from benchmarks.register import BENCHMARKS
from benchmarks.table import Table, shown

TABLE = Table("speed", ("n", "trees", "note"), [[10, 485_123.0, "a"], [1000, None, "b"]], "per second")


@pytest.mark.parametrize("page", blocks.PAGES, ids=lambda page: page.name)
def test_blocks_show_what_the_results_say(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert blocks.filled(text) == text, "run: make tables"


def test_blocks_are_found_and_closed() -> None:
    texts = [page.read_text(encoding="utf-8") for page in blocks.PAGES]
    found = [len(blocks.BLOCK.findall(text)) for text in texts]
    assert found == [text.count("<!-- table: ") for text in texts] == [text.count("<!-- end -->") for text in texts]
    assert sum(found) >= 30


def test_a_changed_figure_is_put_right() -> None:
    page = blocks.ROOT / "docs" / "speed.md"
    text = page.read_text(encoding="utf-8")
    figure = re.search(r"<!-- table: .*?\|---\|\n\|[^|\n]*\| ([^|\n]+) \|", text, re.DOTALL)
    assert figure is not None
    changed = f"{text[: figure.start(1)]}0.123456{text[figure.end(1) :]}"
    assert changed != text
    assert blocks.filled(changed) == text


@pytest.mark.parametrize("reference", ["nothing", "samplers/nothing", "samplers/uniform scores, k = 1 | nothing"])
def test_a_block_of_unknown_results_is_refused(reference: str) -> None:
    with pytest.raises(LookupError, match="nothing"):
        blocks.filled(f"<!-- table: {reference} -->\n<!-- end -->")


@pytest.mark.slow("process")
def test_every_benchmark_loads() -> None:
    """In a process of its own, for benchmarks load what tests must not: nothing that they import is gone."""
    modules = [f"benchmarks.{benchmark.module}" for benchmark in BENCHMARKS.values()]
    code = f"from importlib import import_module\nfor module in {modules}: import_module(module).run"
    subprocess.run([sys.executable, "-c", code], cwd=blocks.ROOT, check=True)


def test_every_benchmark_has_results() -> None:
    assert {path.stem for path in results.FOLDER.iterdir()} == set(BENCHMARKS)
    for name in BENCHMARKS:
        names = [table.name for table in results.read(name).tables]
        assert names, name
        assert len(names) == len(set(names)), name


@pytest.mark.parametrize("name", BENCHMARKS)
def test_results_are_written_as_they_are_read(name: str) -> None:
    assert results.read(name).json() == results.path(name).read_text(encoding="utf-8")


def test_new_results_say_where_they_come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = results.measured(iter([TABLE]))
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    results.write("few", found)
    assert results.read("few") == found
    fields = json.loads((tmp_path / "few.json").read_text(encoding="utf-8"))
    assert set(fields) == {"date", "commit", "cpu", "cores", "versions", "tables"}
    assert fields["cores"] >= 1
    assert {"python", "numpy", "numba", "scipy"} <= set(fields["versions"])


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, "-"),
        ("fails", "fails"),
        (7776, "7,776"),
        (485_123.0, "485,000"),
        (999.6, "1,000"),
        (47_123_456.0, "47,100,000"),
        (1.0414, "1.04"),
        (82.0, "82"),
        (2.2204e-16, "2.22e-16"),
        (3.456e12, "3.46e+12"),
        (-1234.5, "-1,230"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_as_people_write_them(cell: float | str | None, text: str) -> None:
    assert shown(cell) == text


def test_a_table_is_shown_in_two_ways() -> None:
    assert TABLE.title == "Speed (per second)"
    assert TABLE.markdown().splitlines() == [
        "| n | trees | note |",
        "|---|---|---|",
        "| 10 | 485,000 | a |",
        "| 1,000 | - | b |",
    ]
    assert TABLE.text().splitlines() == [
        "Speed (per second)",
        "n        trees  note",
        "10     485,000     a",
        "1,000        -     b",
    ]


def test_a_turned_table_has_a_row_for_each_column() -> None:
    turned = TABLE.turned()
    assert turned.columns == ("", "n = 10", "n = 1,000")
    assert turned.rows == (("trees", 485_000, None), ("note", "a", "b"))


def test_rows_and_columns_can_be_picked() -> None:
    assert TABLE.picked([], ["note", "trees"]).rows == ((10, "a", 485_000), (1000, "b", None))
    assert TABLE.picked(["1,000"]).rows == ((1000, None, "b"),)
    assert TABLE.picked(["1,000"], ["note"]).columns == ("n", "note")


@pytest.mark.parametrize("names", [(["trees"],), ([], ["10"])])
def test_unknown_rows_and_columns_are_refused(names: tuple[list[str], ...]) -> None:
    with pytest.raises(LookupError, match="no row or column"):
        TABLE.picked(*names)


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells"):
        Table("speed", ("n", "trees"), [[1, 2, 3]])


def test_the_benchmarks_are_listed() -> None:
    listed = benchmarks()
    assert listed.returncode == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(BENCHMARKS)


@pytest.mark.parametrize("arguments", [("nothing",), ("few", "--quick", "--write")])
def test_what_makes_no_sense_is_refused(arguments: tuple[str, ...]) -> None:
    refused = benchmarks(*arguments)
    assert refused.returncode == 2
    assert arguments[0] in refused.stderr or "--quick" in refused.stderr


def benchmarks(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m benchmarks`, which loads none of them here."""
    command = [sys.executable, "-m", "benchmarks", *arguments]
    return subprocess.run(command, cwd=blocks.ROOT, capture_output=True, text=True, check=False)
