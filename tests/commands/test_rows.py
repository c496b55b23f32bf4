"""Rows by one rule: --format, the suffix of -o, a table on a terminal, else JSON Lines."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.io.encoders.base import TSV, Page, Sheet
from tests.sample import DATA, SCORES

GOLD = DATA / "gold.conllu"

COMMANDS = [
    ("partition", *SCORES),
    ("partition", *SCORES, "--summary"),
    ("expect", "entropy", *SCORES),
    ("check-bias", *SCORES, "-k", 50, "--seed", 7),
    ("inspect", *SCORES),
]


def table(data: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(data.decode()), delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: f"{args[0]} {args[-1]}")
def test_tsv_has_what_json_has(deptree, args):
    rows = deptree(*args, "--json").rows
    found = table(deptree(*args, "--tsv").out)
    assert len(found) == len(rows) > 0
    for line, row in zip(found, rows, strict=True):
        assert set(row) <= set(line)
        for name, cell in line.items():
            value = row.get(name)
            assert cell == ("" if value is None else value if isinstance(value, str) else json.dumps(value))


@pytest.mark.parametrize(
    "args", [("check", GOLD), ("diff", GOLD, GOLD), ("repair", GOLD, "-o", "copy.conllx", "--changes", "-")]
)
def test_tsv_without_rows_has_its_header(done, put, args):
    put("unrelated", b"")
    (header,) = done(*args, *["--tsv"] * (args[0] != "repair")).out.decode().splitlines()
    assert header.startswith("sent_id\t")


@pytest.mark.parametrize("args", COMMANDS, ids=lambda args: f"{args[0]} {args[-1]}")
def test_the_suffix_asks_for_it(deptree, put, args):
    put("unrelated", b"")
    code = deptree(*args, "-o", "rows.tsv").code
    assert Path("rows.tsv").read_bytes() == deptree(*args, "--tsv").out
    assert code == deptree(*args).code


def test_estimates(done, put):
    put("draws.jsonl", done("swor", *SCORES, "-k", 5, "--seed", 7).out)
    (first, *_) = table(done("estimate", "draws.jsonl", "--tsv").out)
    row = done("estimate", "draws.jsonl").rows[0]
    assert first["sent_id"] == row["sent_id"]
    assert float(first["depth.unbiased"]) == row["depth"]["unbiased"]
    assert float(first["depth.normalised_error"]) == row["depth"]["normalised_error"]


@pytest.mark.parametrize("args", [*COMMANDS[:3], COMMANDS[4]], ids=lambda args: f"{args[0]} {args[-1]}")
def test_a_table_on_a_terminal_unless_json_is_asked_for(terminal, done, args):
    code, shown = terminal(*args, "-q")
    assert code == 0
    assert "{" not in shown
    assert all(name in shown for name in ("sent_id", "n") if name in done(*args).rows[0])
    code, shown = terminal(*args, "--json")
    assert [json.loads(line) for line in shown.splitlines()] == done(*args).rows
    code, shown = terminal(*args, "--tsv")
    assert "\t" in shown or "    " in shown


def test_single_rows_may_be_json_files(done, put):
    put("unrelated", b"")
    for args in (("inspect", *SCORES), ("partition", *SCORES, "--summary")):
        done(*args, "-o", "one.json")
        assert json.loads(Path("one.json").read_bytes()) == done(*args).rows[0]


def test_what_has_no_place(deptree, put):
    put("features.npz", {"1": np.ones((3, 3, 2))})
    put("one.npy", np.ones((3, 3)))
    put("draws.jsonl", deptree("swor", *SCORES, "-k", 5, "--seed", 7).out)
    for args, said in [
        (("expect", "entropy", *SCORES, "--grad", "--tsv"), "cannot store gradients"),
        (("expect", "covariance", "one.npy", "--features", "features.npz", "--tsv"), "cannot store covariance"),
        (("estimate", "draws.jsonl", "--quantity", "arcs", "--tsv"), "cannot store arcs"),
        (("partition", *SCORES, "--json", "--tsv"), "Choose one"),
        (("partition", *SCORES, "-o", "x.csv"), "does not write"),
    ]:
        ran = deptree(*args)
        assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1), args
        assert said in ran.err


def test_a_cell_stays_in_its_line_and_column(capfdbinary):
    """Whatever a form or a name holds: a tab, an end of line, a space that nobody sees."""
    row = {"form": "a\tb\nc\rd\x85e\u2028f\xa0g", "bits": 0.1, "n": None}
    with TSV.open(None, Page("", sheet=Sheet(("form", "bits", "n")))) as write:
        write(TSV.encode(row, None))
    lines = capfdbinary.readouterr().out.decode().split("\n")
    assert lines == ["form\tbits\tn", r"a\tb\nc\rd\x85e\u2028f\xa0g" + "\t0.1\t", ""]
