"""`deptree bitext show`: which pair, with which probabilities, and the text, character by character, by its width."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.bitext.commands.show import EMPTY, SHADES, AlignmentPicture, alignment_text
from deptree_cli.bitext.distribution import AlignmentDistribution
from deptree_cli.io.pictures.arcs import cells
from tests.lines import table
from tests.sample import DATA

SHOW = f"bitext show {DATA}/bitext.npz --text {DATA}/bitext.txt"


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


def test_the_matrix_as_text(done, golden):
    text = done(f"{SHOW} --sentence de-3").out
    golden("bitext_show.txt", text)
    with np.load(DATA / "bitext.npz") as scores:
        shown = AlignmentDistribution(scores["de-3"])
    numbers = [float(number) for number in re.findall(r"  ([01]\.\d{4})\n", text.decode())]
    assert numbers == pytest.approx(shown.marginals()[np.arange(5), shown.argmax()].tolist(), abs=5e-5)


@pytest.mark.parametrize(("wanted", "shown"), [("", "de-1"), ("--sentence 4", "de-4"), ("--sentence de-2", "de-2")])
def test_which_pair(done, wanted, shown):
    assert done(f"{SHOW} {wanted}").out.decode().partition(":")[0] == shown


def test_without_words_they_are_numbers_as_in_links(done):
    lines = done(f"bitext show {DATA}/bitext.npz").out.decode().splitlines()
    assert lines[2].split() == [*"0123456", "p(link)"]
    assert lines[3].split()[0] == "0"


def test_other_methods(done):
    line = f"{SHOW} --method randomized --iterations 30"
    ran = done(f"{line} --seed 7")
    assert "probabilities by method randomized, 30 iterations" in ran.out.decode()
    assert done(f"{line} --seed 7").out == ran.out
    assert done(f"{line} --seed 8").out != ran.out
    assert "|method:randomized|iterations:30|chains:" in done(line).signature


def test_the_width_of_the_terminal(done, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    lines = done(SHOW).out.decode().splitlines()
    assert max(map(len, lines[1:])) <= 40
    assert lines[2].split() == ["h", "r"]


def test_a_terminal_gets_text(terminal):
    code, shown = terminal(*SHOW.split())
    assert code == 0
    assert "[▓▓]" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("name", ["pair.txt", "pair"])
def test_files(done, name):
    assert not done(f"{SHOW} -o {name}").out
    assert Path(name).read_bytes() == done(SHOW).out


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        par.npy                           |  par.npy:  |  Did you mean pair.npy?
        pair.npy --text three.txt         |  2 and 2 words, but there are 1 and 3 words
        pair.npy --method exakt           |  Did you mean exact?
        empty.jsonl                       |  empty
        two.npz                           |  two.npz[bad]
        two.npz --sentence god            |  two.npz: there is no sentence pair 'god'. Did you mean good?
        two.npz --sentence 99             |  no sentence pair '99'. Give a sent_id, or a number from 1 to 2.
        pair.npy -q -o pair.gif           |  pair.gif
        pair.npy -q -o pair.jsonl         |  pair.jsonl
        pair.npy -q -o pair.gif.gz        |  pair.gif.gz
        pair.npy -q -o pair.png.gz        |  pair.png.gz
        pair.npy -q -o none/pair.png      |  none/pair.png
    """),
)
def test_errors_are_one_line(refused, put, line, says):
    put("pair.npy", np.eye(2))
    put("three.txt", "a ||| b c d\n")
    put("empty.jsonl", "")
    put("two.npz", {"bad": np.full((2, 2), np.nan), "good": np.eye(2)})
    before = sorted(path.name for path in Path().iterdir())
    refused(f"bitext show {line}", *says)
    assert sorted(path.name for path in Path().iterdir()) == before


def test_other_pairs_may_be_unusable(deptree, put):
    put("two.npz", {"bad": np.full((2, 2), np.nan), "good": np.eye(2)})
    ran = deptree("bitext show two.npz --sentence good")
    assert (ran.code, ran.out[:6]) == (0, b"good: ")
    assert deptree("bitext show two.npz --on-error skip").code == 1


def test_what_a_terminal_would_obey_is_left_out(done, put):
    put("pair.npz", {"x\x1b[31m": np.eye(1)})
    put("pair.txt", "a\x1b[31m ||| b\u202e\n")
    text = done("bitext show pair.npz --text pair.txt").out.decode()
    assert "a[31m" in text
    assert not {"\x1b", "\u202e"} & {*text}


def picture(source, target, links, targets):
    """A picture of words, where all links but these are impossible."""
    words = source.split(), target.split()
    probabilities = np.array([[links.get((i, j), 0.0) for j, _ in enumerate(words[1])] for i, _ in enumerate(words[0])])
    return AlignmentPicture("de-1", words, probabilities, np.array(targets, np.int32), "best alignment")


GOES = picture(
    "sie geht spazieren", "she takes a walk", {(0, 0): 0.999, (1, 1): 0.5, (1, 2): 0.26, (2, 3): 0.7}, [0, 1, 3]
)
WIDE = picture("I yes no", "我 昨天 图书馆", {(0, 0): 1, (1, 1): 0.3}, [0, 1, -1])


@pytest.mark.quick
@pytest.mark.parametrize(
    ("drawn", "width"),
    [(GOES, 60), (GOES, 28), (GOES, 25), (WIDE, 26)],
    ids=["words above", "words upright", "in strips", "wide characters"],
)
def test_the_text(golden, request, drawn, width):
    """The less room there is, the narrower: words above their columns, upright, and the matrix in strips."""
    golden(f"bitext_show_{request.node.callspec.id.replace(' ', '_')}.txt", alignment_text(drawn, width).encode())


def test_wide_source_words():
    rows = alignment_text(picture("图书馆 我", "library I", {(0, 0): 1, (1, 1): 1}, [0, 1]), 80).splitlines()[2:5]
    assert {rows.index(row): cells(row[: row.index("[")]) for row in rows[1:]} == {1: 8, 2: 15}


def test_only_a_link_has_a_number():
    """That of the header: the probability of the link, of nothing where there is none."""
    lines = alignment_text(picture("a b", "c d", {(0, 0): 0.25, (0, 1): 0.25, (1, 1): 0.9}, [-1, 1]), 80).splitlines()
    assert [*map(str.split, lines[2:5])] == [["c", "d", "p(link)"], ["a", "▒▒", "▒▒"], ["b", "··", "[██]", "0.9000"]]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("probability", "shade"),
    [(0.0, EMPTY), (0.0099, EMPTY), (0.01, "░"), (0.2499, "░"), (0.25, "▒"), (0.5, "▓"), (0.75, "█"), (1.0, "█")],
)
def test_shades(probability, shade):
    row = alignment_text(picture("a", "b", {(0, 0): probability}, [-1]), 80).splitlines()[3]
    assert row.split()[1] == 2 * shade


def test_long_words_are_cut():
    long = picture("Donaudampfschifffahrtsgesellschaft", 2 * "Rechtsschutzversicherung ", {(0, 0): 1}, [0])
    lines = alignment_text(long, 80).splitlines()
    assert lines[2].split() == 2 * ["Rechtsschutzversich…"] + ["p(link)"]
    assert lines[3].split()[0] == "Donaudampfschifffah…"
    upright = alignment_text(long, 50).splitlines()
    assert [line[17:].split() for line in upright[2:13]] == [2 * [char] for char in "Rechtsschut"]
    assert upright[13].split() == ["…", "…", "p(link)"]


def test_marks_stay_on_their_letters():
    decomposed = "cafe\u0301 na\u0308chste\u200d"
    lines = alignment_text(picture("a " * 5, decomposed, {}, [-1] * 5), 20).splitlines()
    assert any(line.split()[0] == "e\u0301" for line in lines if line.strip())
    assert max(cells(line) for line in lines[1:-3]) <= 20


@pytest.mark.parametrize("width", [60, 22])
def test_words_from_right_to_left_stay_in_their_columns(width):
    """A terminal would turn a run of them round; a mark behind each ends the run."""
    lines = alignment_text(picture("we you", "שלום עליכם שם", {(0, 0): 1}, [0, -1]), width).splitlines()
    assert not any(re.search("[\u05d0-\u05ea] +[\u05d0-\u05ea]", line) for line in lines)


def test_colour_says_what_is_in_doubt():
    plain, coloured = alignment_text(GOES, 60), alignment_text(GOES, 60, colour=True)
    assert re.sub(r"\x1b\[\d*m", "", coloured) == plain
    assert [part for part in ("\x1b[33m  0.5000\x1b[0m", "\x1b[36m▒▒\x1b[0m", "[▓▓]") if part not in coloured] == []
    assert "\x1b[33m  0.9990" not in coloured


@pytest.mark.parametrize("width", [24, 40, 80, 200])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 30), (30, 1), (12, 9), (40, 70)])
def test_any_pair_fits(p, q, width):
    """Every line fits, every link is in brackets once, and every cell is there once."""
    rng = np.random.default_rng(p + q)
    targets = np.full(p, -1, np.int32)
    count = min(p, q) - min(p, q) // 4
    targets[rng.permutation(p)[:count]] = rng.permutation(q)[:count]
    drawn = AlignmentPicture("x", ((), ()), rng.random((p, q)) ** 3, targets, "best alignment")
    text = alignment_text(drawn, width)
    assert max(map(cells, text.splitlines()[1:])) <= max(width, 33)
    matrix = text.split("\n\n", 1)[1].rpartition("\n\n")[0]
    assert matrix.count("[") == matrix.count("]") == count
    shades = "".join(SHADES.values()) + EMPTY
    size = 2 if re.search(rf"\[[{shades}]{{2}}\]", matrix) or f" {2 * EMPTY} " in matrix else 1
    assert len(re.findall(f"[{shades}]", matrix)) == p * q * size
