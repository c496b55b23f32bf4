"""``deptree bitext show``: which pair, with which probabilities."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
from tests.lines import Run
from tests.sample import DATA

PAIRS = (DATA / "bitext.npz", "--text", DATA / "bitext.txt")


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def pair(name: str) -> AlignmentDistribution:
    with np.load(DATA / "bitext.npz") as scores:
        return AlignmentDistribution(scores[name], id=name)


def test_the_matrix_as_text(done: Run) -> None:
    text = done("bitext", "show", *PAIRS, "--sentence", "de-3").out.decode()
    assert text.startswith("de-3: best alignment; probabilities by method exact\n\n")
    rows = [line for line in text.splitlines() if re.search(r"  [01]\.\d{4}$", line)]
    shown = pair("de-3")
    links = shown.argmax()
    assert [row.split()[0] for row in rows] == ["die", "Katze", "jagt", "die", "Maus"]
    assert [float(row.split()[-1]) for row in rows] == pytest.approx(
        shown.marginals()[np.arange(5), links].tolist(), abs=5e-5
    )
    assert (links >= 0).all()
    heading = text.splitlines()[2]
    starts = [match.start() for match in re.finditer(r"\w+", heading)]
    assert heading.split()[:-1] == ["the", "mouse", "runs", "from", "the", "cat"]
    for row, target in zip(rows, links, strict=True):
        column = row.index("[")
        assert starts[target] - 3 < column < starts[target] + 3
    assert all(len(line) <= 80 for line in text.splitlines())


def test_which_pair(done: Run) -> None:
    def shown(*given: object) -> str:
        return done("bitext", "show", *PAIRS, *given).out.decode().partition(":")[0]

    assert [shown(), shown("--sentence", 4), shown("--sentence", "de-2")] == ["de-1", "de-4", "de-2"]


def test_without_words_they_are_numbers_as_in_links(done: Run) -> None:
    text = done("bitext", "show", DATA / "bitext.npz").out.decode()
    assert text.splitlines()[2].split() == [*"0123456", "p(link)"]
    assert text.splitlines()[3].split()[0] == "0"


def test_words_of_json_lines(done: Run) -> None:
    assert done("bitext", "show", DATA / "bitext.jsonl").out == done("bitext", "show", *PAIRS).out


@pytest.mark.parametrize(
    ("wanted", "remedy"), [("de2", "Did you mean de-2?"), ("99", "Give a sent_id, or a number from 1 to 5.")]
)
def test_a_pair_that_is_not_there(deptree: Run, wanted: str, remedy: str) -> None:
    ran = deptree("bitext", "show", *PAIRS, "--sentence", wanted)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert f"bitext.npz: there is no sentence pair '{wanted}'. {remedy}" in ran.err


def test_other_methods(done: Run) -> None:
    given = ("bitext", "show", *PAIRS, "--method", "randomized", "--iterations", 30)
    ran = done(*given, "--seed", 7)
    assert "probabilities by method randomized, 30 iterations" in ran.out.decode()
    assert done(*given, "--seed", 7).out == ran.out
    assert done(*given, "--seed", 8).out != ran.out
    assert "|method:randomized|iterations:30|chains:" in done(*given).signature


def test_the_width_of_the_terminal(done: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    text = done("bitext", "show", *PAIRS).out.decode()
    assert max(map(len, text.splitlines()[1:])) <= 40
    assert text.splitlines()[2].split() == ["h", "r"]


def test_a_terminal_gets_text(terminal: Callable[..., tuple[int, str]]) -> None:
    code, shown = terminal("bitext", "show", *PAIRS)
    assert code == 0
    assert "[▓▓]" in shown
    assert "\x1b" not in shown


def test_files(done: Run, tmp_path: Path) -> None:
    for name in ("pair.txt", "pair"):
        assert not done("bitext", "show", *PAIRS, "-o", tmp_path / name).out
        assert (tmp_path / name).read_bytes() == done("bitext", "show", *PAIRS).out


@pytest.mark.parametrize("name", ["pair.gif", "pair.jsonl", "pair.gif.gz", "pair.png.gz", "none/pair.png"])
def test_files_that_are_not_drawn(deptree: Run, put: Any, name: str) -> None:
    put("pair.npy", np.eye(2))
    ran = deptree("bitext", "show", "pair.npy", "-q", "-o", name)
    assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
    assert name in ran.err
    assert sorted(path.name for path in Path().iterdir()) == ["pair.npy"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("par.npy",), r"par\.npy: .*Did you mean pair\.npy\?"),
        (("pair.npy", "--text", "three.txt"), r"2 and 2 words, but there are 1 and 3 words"),
        (("pair.npy", "--method", "exakt"), r"Did you mean exact\?"),
        (("empty.jsonl",), r"empty"),
    ],
)
def test_errors_are_one_line(deptree: Run, put: Any, given: tuple[str, ...], said: str) -> None:
    put("pair.npy", np.eye(2))
    put("three.txt", "a ||| b c d\n")
    put("empty.jsonl", "")
    ran = deptree("bitext", "show", *given)
    assert (ran.code, ran.out) == (2, b"")
    (line,) = [line for line in ran.said if not line.startswith(("Usage:", "Try "))]
    assert re.search(said, line)


def test_other_pairs_may_be_unusable(done: Run, deptree: Run, put: Any) -> None:
    put("two.npz", {"bad": np.full((2, 2), np.nan), "good": np.eye(2)})
    assert done("bitext", "show", "two.npz", "--sentence", "good").out.startswith(b"good: ")
    ran = deptree("bitext", "show", "two.npz")
    assert ran.code == 2
    assert "two.npz[bad]" in ran.err
    assert deptree("bitext", "show", "two.npz", "--on-error", "skip").code == 1


def test_what_a_terminal_would_obey_is_left_out(done: Run, put: Any) -> None:
    put("pair.npz", {"x\x1b[31m": np.eye(1)})
    put("pair.txt", "a\x1b[31m ||| b\u202e\n")
    text = done("bitext", "show", "pair.npz", "--text", "pair.txt").out.decode()
    assert "a[31m" in text
    assert "\x1b" not in text
    assert "\u202e" not in text
