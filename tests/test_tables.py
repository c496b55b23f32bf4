"""Measured tables of the manual are those of the results, results those of known benchmarks. Nothing is measured."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from benchmarks import blocks, results
from benchmarks.register import BENCHMARKS
from benchmarks.table import Table, shown

TABLE = Table("speed", ("n", "trees", "note"), [[10, 485_123.0, "a"], [1000, None, "b"]], "per second")


@pytest.mark.quick
@pytest.mark.parametrize("page", blocks.PAGES, ids=lambda page: page.name)
def test_blocks_show_what_the_results_say(page):
    text = page.read_text(encoding="utf-8")
    assert blocks.filled(text) == text, "run: make tables"
    assert len(blocks.BLOCK.findall(text)) == text.count("<!-- table: ") == text.count("<!-- end -->")


def test_a_changed_figure_is_put_right():
    text = (blocks.ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    figure = re.search(r"<!-- table: .*?\|---\|\n\|[^|\n]*\| ([^|\n]+) \|", text, re.DOTALL)
    changed = f"{text[: figure.start(1)]}0.123456{text[figure.end(1) :]}"
    assert changed != text
    assert blocks.filled(changed) == text


@pytest.mark.parametrize("reference", ["nothing", "samplers/nothing", "samplers/uniform scores, k = 1 | nothing"])
def test_a_block_of_unknown_results_is_refused(reference):
    with pytest.raises(LookupError, match="nothing"):
        blocks.filled(f"<!-- table: {reference} -->\n<!-- end -->")


@pytest.mark.slow("process")
def test_every_benchmark_loads():
    """In a process of its own, for benchmarks load what tests must not: nothing that they import is gone."""
    modules = [f"benchmarks.{benchmark.module}" for benchmark in BENCHMARKS.values()]
    code = f"from importlib import import_module\nfor module in {modules}: import_module(module).run"
    subprocess.run([sys.executable, "-c", code], cwd=blocks.ROOT, check=True)


@pytest.mark.quick
@pytest.mark.parametrize("name", BENCHMARKS)
def test_every_benchmark_has_results_that_are_written_as_they_are_read(name):
    assert {path.stem for path in results.FOLDER.iterdir()} == set(BENCHMARKS)
    names = [table.name for table in results.read(name).tables]
    assert len(names) == len(set(names)) > 0
    assert results.read(name).json() == results.path(name).read_text(encoding="utf-8")


def test_new_results_say_where_they_come_from(tmp_path, monkeypatch):
    found = results.measured(iter([TABLE]))
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    results.write("few", found)
    assert results.read("few") == found
    fields = json.loads((tmp_path / "few.json").read_text(encoding="utf-8"))
    assert set(fields) == {"date", "commit", "cpu", "cores", "versions", "tables"}
    assert fields["cores"] >= 1
    assert {"python", "numpy", "numba", "scipy"} <= set(fields["versions"])


def test_numbers_as_people_write_them():
    cells = {
        **{
            None: "-",
            "fails": "fails",
            7776: "7,776",
            485_123.0: "485,000",
            999.6: "1,000",
            47_123_456.0: "47,100,000",
        },
        **{1.0414: "1.04", 82.0: "82", 2.2204e-16: "2.22e-16", 3.456e12: "3.46e+12", -1234.5: "-1,230"},
        **{float("nan"): "nan", float("inf"): "inf"},
    }
    assert {cell: shown(cell) for cell in cells} == cells


def test_a_table_is_shown_in_two_ways_and_turned_and_picked():
    assert TABLE.title == "Speed (per second)"
    rows = ["| n | trees | note |", "|---|---|---|", "| 10 | 485,000 | a |", "| 1,000 | - | b |"]
    assert TABLE.markdown().splitlines() == rows
    rows = ["Speed (per second)", "n        trees  note", "10     485,000     a", "1,000        -     b"]
    assert TABLE.text().splitlines() == rows
    turned = TABLE.turned()
    assert turned.columns == ("", "n = 10", "n = 1,000")
    assert turned.rows == (("trees", 485_000, None), ("note", "a", "b"))
    assert TABLE.picked([], ["note", "trees"]).rows == ((10, "a", 485_000), (1000, "b", None))
    assert TABLE.picked(["1,000"], ["note"]).columns == ("n", "note")
    for names in ((["trees"],), ([], ["10"])):
        with pytest.raises(LookupError, match="no row or column"):
            TABLE.picked(*names)
    with pytest.raises(ValueError, match="2 cells"):
        Table("speed", ("n", "trees"), [[1, 2, 3]])


@pytest.mark.parametrize(
    ("arguments", "status", "says"),
    [([], 0, ""), (["nothing"], 2, "nothing"), (["few", "--quick", "--write"], 2, "--quick")],
)
def test_the_program_lists_benchmarks_and_refuses_what_makes_no_sense(arguments, status, says):
    """It loads none of them here."""
    command = [sys.executable, "-m", "benchmarks", *arguments]
    ran = subprocess.run(command, cwd=blocks.ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == status
    assert says in ran.stderr
    assert status or [line.split()[0] for line in ran.stdout.splitlines()] == list(BENCHMARKS)
