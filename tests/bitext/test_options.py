"""The options of sentence pairs, on a command of our own: what becomes of them, and what is refused in time."""

from __future__ import annotations

import json
from collections.abc import Callable

import click
import numpy as np
import pytest
from click.testing import CliRunner, Result

from deptree_cli.bitext.files import ScoredPair
from deptree_cli.bitext.options import BitextOptions
from deptree_cli.cli import run as running
from deptree_cli.cli.options import command, use
from deptree_cli.cli.run import Pipeline
from deptree_cli.core.errors import DeptreeError
from tests.lines import table
from tests.sample import DATA


def shape(pair: ScoredPair, _: np.random.Generator) -> tuple[str, tuple[int, ...]]:
    return pair.id, pair.distribution.log_scores.shape


@command()
def shapes(bitext: BitextOptions = use(BitextOptions), run: running.Run = use(running.Run)) -> int:
    """Write the shapes of all pairs, how many were expected, and the fields of the signature."""
    source = bitext.source(run)
    pipeline = Pipeline(source, run)
    rows = list(pipeline.map(shape))
    fields = {key: value for key, value in bitext.signature_fields.items() if value is not None}
    click.echo(json.dumps([rows, source.items.expected(), source.items.noun, fields]))
    raise SystemExit(pipeline.exit_code)


@pytest.fixture
def run(put) -> Callable[[str], Result]:
    """The command in a folder with the sample data and a file of which the second pair is bad."""
    for path in DATA.glob("bitext*"):
        put(path.name, path.read_bytes())
    put("bad.jsonl", '{"scores": [[1]]}\n{"scores": [[NaN]]}\n{"scores": [[1, 2]]}')
    put("low.npy", np.full((3, 2, 2), [[-3.0, -4.0], [-5.0, -6.0]]))
    return lambda line: CliRunner().invoke(shapes, line.split())


def test_options_become_one_object(run) -> None:
    rows, expected, noun, fields = json.loads(run("bitext.npz --text bitext.txt --null-score -0.5 -q").stdout)
    with np.load(DATA / "bitext.npz") as archive:
        assert rows == [[name, list(scores.shape)] for name, scores in archive.items()]
    assert (expected, noun) == ([len(rows), True], "pair")
    assert fields == {"nullscore": "-0.5"}


def test_several_files_are_read_one_after_another(run) -> None:
    ran = run("low.npy bitext.npz low.npy --null last --temperature 2 --scale log -q")
    rows, _, _, fields = json.loads(ran.stdout)
    assert [row[0] for row in rows] == ["1", "2", "3", "de-1", "de-2", "de-3", "de-4", "de-5", "9", "10", "11"]
    assert rows[0][1:] == [[1, 1]]
    assert fields == {"null": "last", "temperature": "2.0"}


def test_bad_pairs_are_skipped_where_asked(run) -> None:
    ran = run("bad.jsonl --on-error skip")
    rows = next(line for line in ran.output.splitlines() if line.startswith("["))
    assert [row[0] for row in json.loads(rows)[0]] == ["1", "3"]
    assert ran.exit_code == 1
    assert "bad.jsonl:2 (2): the score of the link 1-1 is NaN" in ran.output
    assert isinstance(run("bad.jsonl").exception, DeptreeError)


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        -q                                            |  Missing argument
        low.npy --null first --null-score 1           |  --null-score cannot be combined with --null
        low.npy --null-score nan                      |  nan is not a score
        low.npy --null-score inf                      |  inf is not a score
        low.npy --temperature 0                       |  0 is not a positive number
        low.npy --temperature nan                     |  nan is not a positive number
        low.npy --branching 2                         |  No such option
        low.npy low.npy --text bitext.txt             |  2 score files but 1 --text. Pass --text once per score file
    """),
)
def test_usage(run, line, says) -> None:
    ran = run(line)
    assert ran.exit_code == 2
    assert says[0] in ran.output


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        low.npy -o low.npy                            |  --output would overwrite SCORES
        bitext.npz --text bitext.txt -o bitext.txt    |  --output would overwrite --text
        - --text -                                    |  standard input (-) can be read only once
        low.npy - -                                   |  standard input (-) can be read only once
        low.npy missing.npy                           |  missing.npy: no such file
    """),
)
def test_refused_before_anything_is_read(run, monkeypatch, line, says) -> None:
    def read(self: object, *_: object) -> None:
        raise AssertionError("reading has begun")

    monkeypatch.setattr("deptree_cli.bitext.files.PairSource.read", read)
    ran = run(line)
    assert isinstance(ran.exception, DeptreeError)
    assert says[0] in str(ran.exception)


def test_standard_input_is_read_once_in_python_too(read, says) -> None:
    with says("standard input (-) can be read only once"):
        read("-", text="-")


def test_help_has_the_options_under_reading(run) -> None:
    text = run("--help-all").stdout
    reading = text[text.index("Reading:") : text.index("Writing:")]
    for name in ("--text ", "--scale ", "--null ", "--null-score ", "--temperature "):
        assert name in reading
