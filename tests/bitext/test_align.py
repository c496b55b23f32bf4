"""`deptree bitext align`: which links, how they are written, and how they are compared with known ones."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.bitext.scores import KnownLinks, LinkCounts, links_of
from tests.lines import table
from tests.sample import DATA

GOLD = DATA / "bitext_gold.align"
ALIGN = f"bitext align {DATA}/bitext.npz"


def distributions():
    with np.load(DATA / "bitext.npz") as scores:
        return {name: AlignmentDistribution(scores[name], id=name) for name in scores}


def parsed(line, marks="-"):
    found = (re.split("([-?])", text) for text in line.decode().split())
    return frozenset((int(source), int(target)) for source, mark, target in found if mark in marks)


def links_above(pair, threshold):
    return np.argwhere(pair.marginals() > threshold).tolist()


@pytest.fixture
def known(put):
    """The gold links of the sample, and files of them in which something is wrong; in the folder of the tests."""
    known = GOLD.read_text().splitlines(keepends=True)
    for name in ("bitext.npz", "bitext.txt"):
        put(name, (DATA / name).read_bytes())
    files = {"gold": known, "four": known[:4], "six": [*known, "0-0\n"]}
    files |= {"beyond": [known[0], "4-6\n", *known[2:]], "words": ["the house\n", *known[1:]]}
    for name, lines in files.items():
        put(f"{name}.align", "".join(lines))
    return known


def test_the_best_alignment(done):
    """Links in their order, as text and as JSON Lines."""
    expected = {name: sorted(map(list, links_of(pair.argmax()))) for name, pair in distributions().items()}
    lines = done(ALIGN).out.decode().splitlines()
    assert [[[*map(int, link.split("-"))] for link in line.split()] for line in lines] == [*expected.values()]
    rows = [{"sent_id": name, "links": links} for name, links in expected.items()]
    assert done(f"{ALIGN} --format jsonl").rows == rows


def test_all_probable_links_may_share_words(done):
    ran = done(f"{ALIGN} --above 0.3 --format jsonl --header")
    assert "|above:0.3|method:exact|" in ran.signature
    for row, pair in zip(ran.rows[1:], distributions().values(), strict=True):
        assert row["links"] == links_above(pair, 0.3)
        assert row["probabilities"] == pytest.approx([pair.marginals()[tuple(link)] for link in row["links"]])
    assert any(len({source for source, _ in row["links"]}) < len(row["links"]) for row in ran.rows[1:])
    lines = done(f"{ALIGN} --above 0.3").out.splitlines()
    assert [sorted(map(list, parsed(line))) for line in lines] == [row["links"] for row in ran.rows[1:]]


def test_a_threshold_is_to_be_exceeded(done, put):
    put("even.npy", np.zeros((1, 1)))
    (row,) = done("bitext align even.npy --above 0 --format jsonl").rows
    (exact,) = row["probabilities"]
    at, below = (done("bitext align even.npy --above", repr(p)).out for p in (exact, float(np.nextafter(exact, 0))))
    assert (at, below) == (b"\n", b"0-0\n")
    assert done("bitext align even.npy --above 1").out == b"\n"


@pytest.mark.parametrize("name", ["links.align", "links.pharaoh", "links.txt", "links"])
def test_files(done, name):
    done(f"{ALIGN} -o {name}")
    assert Path(name).read_bytes() == done(ALIGN).out


@pytest.mark.slow("process")
def test_other_methods(done):
    """Averages over 4 x 400 masks, off by some .01: to find the links that are likelier than .85 has a margin of .1.

    The exact probabilities of these pairs are below .74 or above .97.
    """
    above = f"{ALIGN} --above 0.85"
    assert done(f"{above} --method randomized --iterations 400 --seed 7").out == done(above).out


@pytest.mark.parametrize("jobs", [1, 2])
def test_lines_stay_in_step_where_pairs_are_skipped(deptree, put, jobs):
    """The first pair cannot be read; the third has more target than source words, none of which may be left out."""
    good = np.eye(2) * 4
    put("all.npz", {"a": np.full((2, 2), np.nan), "b": good, "c": np.zeros((2, 3)), "d": good[::-1]})
    put("gold.align", "0-0\n0-0 1-1\n0-0\n0-1\n")
    line = f"bitext align all.npz --null-score -inf --on-error skip -j {jobs}"
    ran = deptree(line)
    assert (ran.code, ran.out) == (1, b"\n0-0 1-1\n\n0-1 1-0\n")
    skipped = [line.split(" (")[0] for line in ran.said if "skipped: " in line]
    assert skipped == ["deptree: skipped: all.npz[a]", "deptree: skipped: all.npz[c]"]
    assert ran.said[-1] == "deptree: 2 pairs skipped"
    assert deptree(f"{line} --gold gold.align").out == ran.out
    (row,) = deptree(f"{line} --gold gold.align --report - -o /dev/null").rows
    assert (row["pairs"], row["links"], row["sure"], row["precision"], row["recall"]) == (2, 4, 3, 0.75, 1)
    assert [row["sent_id"] for row in deptree(f"{line} --format jsonl").rows] == ["b", "d"]


def test_known_links(done):
    """As by the library, a pair at a time."""
    counts = LinkCounts()
    for pair, line in zip(distributions().values(), GOLD.read_bytes().splitlines(), strict=True):
        found = frozenset((i, j) for i, j in links_above(pair, 0.05))
        counts += LinkCounts.of(found, KnownLinks(parsed(line), parsed(line, "-?")))
    assert 0 < counts.found_sure < counts.found_possible < counts.found
    line = f"{ALIGN} --above 0.05 --gold {GOLD}"
    assert done(f"{line} --report - -o links.align").rows == [counts.summary()]
    shown = done(line)
    assert shown.out == Path("links.align").read_bytes()
    assert re.search(rf"5 +{counts.found} +{counts.sure} .* {counts.alignment_error_rate:.4f}", shown.err)
    assert not done(f"{ALIGN} --gold {GOLD} -q").err


def test_several_files_are_read_one_after_another(done, put):
    """Pairs without names go on being counted; the signature names how all of them are read."""
    put("low.npy", np.full((3, 2, 2), [[-3.0, -4.0], [-5.0, -6.0]]))
    put("gold.align", "0-0\n" * 3)
    ran = done(f"{ALIGN} low.npy --null last --temperature 2 --above 0 --format jsonl --header")
    assert [row["sent_id"] for row in ran.rows[1:]] == ["de-1", "de-2", "de-3", "de-4", "de-5", "6", "7", "8"]
    low = AlignmentDistribution([[-1.5]], source_nulls=-2.0, target_nulls=-2.5)
    assert ran.rows[-1]["probabilities"] == pytest.approx([low.marginals()[0, 0]])
    assert "|null:last|temperature:2.0|" in ran.signature
    ran = done(f"{ALIGN} low.npy --gold {GOLD} --gold gold.align --report - -o x.align")
    assert ran.rows[0]["pairs"] == 8


def test_how_scores_are_read_is_signed(done, put):
    put("weights.npy", np.array([[1.0, 0.5]]))
    ran = done("bitext align weights.npy --scale weight --null-score 0.5 --above 0 --format jsonl --header")
    assert "|scale:weight|nullscore:0.5|" in ran.signature
    exact = AlignmentDistribution([[1.0, 0.5]], "weight", 0.5, 0.5).marginals()[0]
    assert ran.rows[-1]["probabilities"] == pytest.approx(exact.tolist())


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        bitxt.npz                                  |  Did you mean bitext.npz?
        bitext.npz --gold gold.algn                |  Did you mean gold.align?
        bitext.npz --gold four.align -o x          |  four.align: the number of lines is 4, that of sentence pairs is 5
        bitext.npz --gold six.align -o x           |  six.align: the number of lines is 6, that of sentence pairs is 5
        bitext.npz --gold four.align --shard 2/3 -o x |  four.align: the number of lines is 4, that
        bitext.npz --gold beyond.align -o x        |  beyond.align:2 (de-2): the link 4-6 is outside
        bitext.npz --gold words.align              |  words.align:1 (de-1): 'the' is not a link.
        - --gold -                                 |  can be read only once
        bitext.npz --above 50                      |  Expected a number, from 0 to 1, found '50'
        bitext.npz --above -0.1                    |  Expected a number, from 0 to 1, found '-0.1'
        bitext.npz --above half                    |  Expected a number, from 0 to 1, found 'half'
        bitext.npz --report - -o x                 |  --report needs --gold FILE
        bitext.npz --method randomized             |  --method needs --above
        bitext.npz -o links.csv                    |  this command does not write .csv.  |  .align
        bitext.npz --gold gold.align -o gold.align |  gold.align
        bitext.npz --text bitext.txt -o bitext.txt |  --output would overwrite --text
        bitext.npz -o bitext.npz                   |  --output would overwrite SCORES
        bitext.npz bitext.npz --text bitext.txt    |  2 score files but 1 --text. Pass --text once per score file
        - --text -                                 |  standard input (-) can be read only once
        bitext.npz missing.npy -o x                |  missing.npy: no such file
        bitext.npz --null first --null-score 1     |  --null-score cannot be combined with --null
        bitext.npz --null-score nan                |  nan is not a score
        bitext.npz --null-score inf                |  inf is not a score
        bitext.npz --temperature 0                 |  0 is not a positive number
        bitext.npz --temperature nan               |  nan is not a positive number
    """),
)
def test_errors_are_one_line(refused, known, line, says):
    before = sorted(path.name for path in Path().iterdir())
    refused(f"bitext align {line} -q", *says)
    assert sorted(path.name for path in Path().iterdir()) == before


def test_a_line_that_does_not_fit_may_be_skipped(deptree, known, put):
    put("gold.align", "".join(["what\n", known[1], "9-9\n", *known[3:]]))
    ran = deptree("bitext align bitext.npz --gold gold.align --on-error skip")
    lines = deptree("bitext align bitext.npz").out.splitlines()
    assert ran.out.splitlines() == [b"", lines[1], b"", *lines[3:]]
    assert ran.code == 1


@pytest.mark.parametrize("known", ["", "\n\n\n\n\n"])
def test_gold_without_a_link(done, put, known):
    """As `bitext align` writes it for pairs without links, a line for each, or a file of nothing."""
    put("none.align", known)
    for shard, pairs in (("1/1", 5), ("2/2", 2)):
        (row,) = done(f"{ALIGN} --gold none.align --report - -o /dev/null --shard {shard}").rows
        assert (row["pairs"], row["sure"], row["precision"], row["recall"]) == (pairs, 0, 0.0, None)
        assert row["alignment_error_rate"] == 1.0
