"""``deptree bitext align``: which links, how they are written, and how they are compared with known ones."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.bitext.scores import KnownLinks, LinkCounts, Links, links_of
from tests.lines import Run
from tests.sample import DATA

PAIRS = DATA / "bitext.npz"
GOLD = DATA / "bitext_gold.align"
REPORT = ("--report", "-", "-o", "/dev/null")


def distributions() -> dict[str, AlignmentDistribution]:
    with np.load(PAIRS) as scores:
        return {name: AlignmentDistribution(scores[name], id=name) for name in scores}


def parsed(line: bytes, marks: str = "-") -> Links:
    found = (re.split("([-?])", text) for text in line.decode().split())
    return frozenset((int(source), int(target)) for source, mark, target in found if mark in marks)


def links_above(pair: AlignmentDistribution, threshold: float) -> list[list[int]]:
    found: list[list[int]] = np.argwhere(pair.marginals() > threshold).tolist()
    return found


def test_the_best_alignment(done: Run) -> None:
    lines = done("bitext", "align", PAIRS).out.splitlines()
    assert [parsed(line) for line in lines] == [links_of(pair.argmax()) for pair in distributions().values()]
    for line in lines:
        links = [tuple(map(int, link.split("-"))) for link in line.decode().split()]
        assert links == sorted(links)
        assert len({source for source, _ in links}) == len({target for _, target in links}) == len(links)


def test_all_probable_links_may_share_words(done: Run) -> None:
    ran = done("bitext", "align", PAIRS, "--above", 0.3)
    found = [sorted(map(list, parsed(line))) for line in ran.out.splitlines()]
    assert found == [links_above(pair, 0.3) for pair in distributions().values()]
    assert any(len({source for source, _ in links}) < len(links) for links in found)
    headed = done("bitext", "align", PAIRS, "--above", 0.3, "--format", "jsonl", "--header")
    assert "|above:0.3|method:exact|" in headed.signature


def test_a_threshold_is_to_be_exceeded(done: Run, put: Any) -> None:
    put("even.npy", np.zeros((1, 1)))
    (row,) = done("bitext", "align", "even.npy", "--above", 0, "--format", "jsonl").rows
    (exact,) = row["probabilities"]
    at, below = (
        done("bitext", "align", "even.npy", "--above", repr(number)).out
        for number in (exact, float(np.nextafter(exact, 0)))
    )
    assert (at, below) == (b"\n", b"0-0\n")
    assert done("bitext", "align", "even.npy", "--above", 1).out == b"\n"


def test_json_lines(done: Run, tmp_path: Path) -> None:
    rows = done("bitext", "align", PAIRS, "--format", "jsonl").rows
    expected = {name: sorted(map(list, links_of(pair.argmax()))) for name, pair in distributions().items()}
    assert {row["sent_id"]: row["links"] for row in rows} == expected
    assert all(list(row) == ["sent_id", "links"] for row in rows)
    done("bitext", "align", PAIRS, "--above", 0.2, "-o", tmp_path / "links.jsonl")
    for line, pair in zip((tmp_path / "links.jsonl").read_bytes().splitlines(), distributions().values(), strict=True):
        row = json.loads(line)
        assert row["links"] == links_above(pair, 0.2)
        assert row["probabilities"] == pytest.approx([pair.marginals()[tuple(link)] for link in row["links"]])


@pytest.mark.parametrize("name", ["links.align", "links.pharaoh", "links.txt", "links"])
def test_files(done: Run, tmp_path: Path, name: str) -> None:
    done("bitext", "align", PAIRS, "-o", tmp_path / name)
    assert (tmp_path / name).read_bytes() == done("bitext", "align", PAIRS).out


@pytest.mark.slow("process")
def test_other_methods(done: Run) -> None:
    """Averages over 4 x 400 masks, off by some .01: to find the links that are likelier than .85 has a margin of .1.

    The exact probabilities of these pairs are below .74 or above .97.
    """
    given = ("bitext", "align", PAIRS, "--above", 0.85)
    exact = done(*given)
    random = done(*given, "--method", "randomized", "--iterations", 400, "--seed", 7)
    assert random.out == exact.out
    rows = [
        done(*given, "--format", "jsonl", "--method", "randomized", "--iterations", 40, "--seed", seed, "-j", jobs).out
        for seed, jobs in ((7, 1), (7, 2), (8, 1))
    ]
    assert rows[0] == rows[1]
    assert rows[0] != rows[2]


def test_a_method_is_for_probabilities(deptree: Run) -> None:
    ran = deptree("bitext", "align", PAIRS, "--method", "randomized")
    assert ran.code == 2
    assert "--method needs --above" in ran.err


@pytest.mark.parametrize("jobs", [1, 2])
def test_lines_stay_in_step_where_pairs_are_skipped(deptree: Run, put: Any, jobs: int) -> None:
    """The first pair cannot be read; the third has more target than source words, none of which may be left out."""
    good = np.eye(2) * 4
    put("all.npz", {"a": np.full((2, 2), np.nan), "b": good, "c": np.zeros((2, 3)), "d": good[::-1]})
    put("gold.align", "0-0\n0-0 1-1\n0-0\n0-1\n")
    given = ("bitext", "align", "all.npz", "--null-score", "-inf", "--on-error", "skip", "-j", jobs)
    ran = deptree(*given)
    assert (ran.code, ran.out) == (1, b"\n0-0 1-1\n\n0-1 1-0\n")
    assert [line.split(" (")[0] for line in ran.said if "skipped: " in line] == [
        "deptree: skipped: all.npz[a]",
        "deptree: skipped: all.npz[c]",
    ]
    assert ran.said[-1] == "deptree: 2 pairs skipped"
    assert deptree(*given, "--gold", "gold.align").out == ran.out
    (row,) = deptree(*given, "--gold", "gold.align", *REPORT).rows
    assert (row["pairs"], row["links"], row["sure"], row["precision"], row["recall"]) == (2, 4, 3, 0.75, 1)
    assert [row["sent_id"] for row in deptree(*given, "--format", "jsonl").rows] == ["b", "d"]


def expected_counts(threshold: float) -> LinkCounts:
    """By the library, a pair at a time."""
    counts = LinkCounts()
    for pair, line in zip(distributions().values(), GOLD.read_bytes().splitlines(), strict=True):
        known = KnownLinks(parsed(line), parsed(line, "-?"))
        counts += LinkCounts.of(frozenset((i, j) for i, j in links_above(pair, threshold)), known)
    return counts


def test_known_links(done: Run, tmp_path: Path) -> None:
    given = ("bitext", "align", PAIRS, "--above", 0.05, "--gold", GOLD)
    ran = done(*given, "--report", "-", "-o", tmp_path / "links.align")
    assert json.loads(ran.out) == expected_counts(0.05).summary()
    assert len((tmp_path / "links.align").read_bytes().splitlines()) == 5
    counts = expected_counts(0.05)
    assert 0 < counts.found_sure < counts.found_possible < counts.found

    shown = done(*given)
    assert shown.out == (tmp_path / "links.align").read_bytes()
    assert re.search(rf"5 +{counts.found} +{counts.sure} .* {counts.alignment_error_rate:.4f}", shown.err)
    assert not done("bitext", "align", PAIRS, "--gold", GOLD, "-q").err


def test_several_files(done: Run, put: Any) -> None:
    put("none.npy", np.full((2, 2), -np.inf))
    put("gold.align", "0-1\n")
    line = ("bitext", "align", PAIRS, "none.npy", "--gold", GOLD, "--gold", "gold.align")
    assert done(*line, "--report", "-", "-o", "links.align").rows[0]["pairs"] == 6


ERRORS = {
    "a typo": (("bitxt.npz",), r"Did you mean bitext\.npz\?"),
    "a typo of known links": (("bitext.npz", "--gold", "gold.algn"), r"Did you mean gold\.align\?"),
    "too few known": (
        ("bitext.npz", "--gold", "four.align"),
        r"four\.align: the number of lines is 4, that of sentence pairs is 5",
    ),
    "too many known": (
        ("bitext.npz", "--gold", "six.align"),
        r"six\.align: the number of lines is 6, that of sentence pairs is 5",
    ),
    "too few in a shard": (
        ("bitext.npz", "--gold", "four.align", "--shard", "2/3"),
        r"four\.align: the number of lines is 4, that",
    ),
    "a link beyond": (("bitext.npz", "--gold", "beyond.align"), r"beyond\.align:2 \(de-2\): the link 4-6 is outside"),
    "no link": (("bitext.npz", "--gold", "words.align"), r"words\.align:1 \(de-1\): 'the' is not a link\."),
    "standard input twice": (("-", "--gold", "-"), r"can be read only once"),
    "a threshold of a percentage": (("bitext.npz", "--above", "50"), "Expected a number, from 0 to 1, found '50'"),
    "a negative threshold": (("bitext.npz", "--above", "-0.1"), r"Expected a number, from 0 to 1, found '-0\.1'"),
    "no number": (("bitext.npz", "--above", "half"), "Expected a number, from 0 to 1, found 'half'"),
    "a report of nothing": (("bitext.npz", "--report", "-", "-o", "x"), r"--report needs --gold FILE"),
    "an unknown suffix": (
        ("bitext.npz", "-o", "links.csv"),
        r"this command does not write \.csv\. .*\.align",
    ),
    "a matrix": (("bitext.npz", "-o", "links.npz"), r"does not write \.npz"),
    "gold overwritten": (("bitext.npz", "--gold", "gold.align", "-o", "gold.align"), r"gold\.align"),
}


@pytest.mark.parametrize(("given", "said"), ERRORS.values(), ids=ERRORS)
def test_errors_are_one_line(deptree: Run, put: Any, given: tuple[str, ...], said: str) -> None:
    known = GOLD.read_text().splitlines(keepends=True)
    put("bitext.npz", PAIRS.read_bytes())
    put("gold.align", "".join(known))
    put("four.align", "".join(known[:4]))
    put("six.align", "".join([*known, "0-0\n"]))
    put("beyond.align", known[0] + "4-6\n" + "".join(known[2:]))
    put("words.align", "the house\n" + "".join(known[1:]))
    before = sorted(path.name for path in Path().iterdir())
    ran = deptree("bitext", "align", *given, "-q")
    assert ran.code == 2
    (line,) = [line for line in ran.said if not line.startswith(("Usage:", "Try "))]
    assert re.search(said, line)
    assert sorted(path.name for path in Path().iterdir()) == before


def test_a_line_that_does_not_fit_may_be_skipped(deptree: Run, put: Any) -> None:
    known = GOLD.read_text().splitlines(keepends=True)
    put("gold.align", "".join(["what\n", known[1], "9-9\n", *known[3:]]))
    ran = deptree("bitext", "align", PAIRS, "--gold", "gold.align", "--on-error", "skip")
    lines = deptree("bitext", "align", PAIRS).out.splitlines()
    assert ran.out.splitlines() == [b"", lines[1], b"", *lines[3:]]
    assert ran.code == 1


@pytest.mark.parametrize("known", ["", "\n\n\n\n\n"])
def test_gold_without_a_link(done, put, known: str) -> None:
    """As `bitext align` writes it for pairs without links, a line for each, or a file of nothing."""
    put("none.align", known)
    for shard, pairs in (("1/1", 5), ("2/2", 2)):
        (row,) = done("bitext", "align", PAIRS, "--gold", "none.align", *REPORT, "--shard", shard).rows
        assert (row["pairs"], row["sure"], row["precision"], row["recall"]) == (pairs, 0, 0.0, None)
        assert row["alignment_error_rate"] == 1.0
