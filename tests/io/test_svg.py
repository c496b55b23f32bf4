"""The SVG and TikZ: every arc once, as opaque as probable; long sentences are readable and say what is hidden."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from deptree_cli import TreeDistribution
from deptree_cli.core.decoding import maximum_tree
from deptree_cli.io.pictures import arcs as limits
from deptree_cli.io.pictures.arcs import OTHER, Arc, Picture, ems, picture_of
from deptree_cli.io.pictures.svg import LABEL, WORD, escaped, to_svg, to_tikz

SVG = "{http://www.w3.org/2000/svg}"
OTHERS = [(4, 7, 0.35), (0, 4, 0.02), (7, 4, 0.01), (1, 5, 0.125)]


def svg_of(picture: Picture, *more: str) -> ElementTree.Element:
    return ElementTree.fromstring(to_svg(picture, *more))


@pytest.fixture
def telescope(picture):
    forms, heads = "She saw the man with the telescope .", [2, 0, 4, 2, 7, 7, 2, 2]
    return to_svg(picture(forms, heads, OTHERS, "nsubj root det obj case det obl punct"), "deptree|show")


def arcs(root, kind):
    groups = [group for group in root.iter(f"{SVG}g") if group.get("class") == f"arc {kind}"]
    found = {(int(group.get("data-head")), int(group.get("data-dependent"))): group for group in groups}
    assert len(found) == len(groups)
    return found


def texts_of(root, name):
    return [text for text in root.iter(f"{SVG}text") if name in text.get("class").split()]


def numbers(group):
    """Start, bar and end of an arc between words: x of the start, y of the bar, x of the end."""
    (line,) = (each.get("d") for each in group.iter(f"{SVG}path") if each.get("class") == "line")
    start = re.match(r"M([\d.]+) [\d.]+V", line)[1]
    bar = re.search(r"Q[\d.]+ ([\d.]+)", line)[1]
    end = re.search(r"Q([\d.]+) [\d.]+ [\d.]+ [\d.]+V[\d.]+$", line)[1]
    return float(start), float(bar), float(end)


def test_arcs_of_one_level_do_not_overlap_the_trees_above_and_the_others_below_the_words(telescope, golden):
    golden("picture.svg", telescope.encode())
    root = ElementTree.fromstring(telescope)
    (words,) = {float(text.get("y")) for text in texts_of(root, "word")}
    for kind, count in (("tree", 7), ("other", 3)):
        bars = defaultdict(list)
        for (head, _), group in arcs(root, kind).items():
            if head:
                start, bar, end = numbers(group)
                bars[bar].append((min(start, end), max(start, end)))
        assert sum(map(len, bars.values())) == count
        assert all((bar < words) is (kind == "tree") for bar in bars)
        for spans in bars.values():
            assert all(left[1] < right[0] for left, right in pairwise(sorted(spans)))


def test_labels_fit_between_the_ends_and_all_is_on_the_page(picture):
    """Also ROOT's label at the edge of a word from which many arcs go one way."""
    long, others = "a-very-long-relation:with-a-subtype", [(0, 1, 0.4), *((1, word, 0.1) for word in range(3, 9))]
    root = svg_of(picture("a b c d e f g h", [2, 0, *[2] * 6], others, f"{long} root x x x x x x"))
    start, _, end = numbers(arcs(root, "tree")[2, 1])
    (label,) = (each for each in root.iter(f"{SVG}text") if each.text.startswith(long))
    assert end < float(label.get("x")) < start
    _, *behind = root.iter(f"{SVG}rect")
    rectangles = [[float(each.get(name)) for name in ("x", "y", "width", "height")] for each in behind]
    assert start - end >= max(width for _, _, width, _ in rectangles)
    for x, y, width, height in rectangles:
        assert 0 <= x <= float(root.get("width")) - width
        assert 0 <= y <= float(root.get("height")) - height


@pytest.mark.parametrize(("forms", "rightwards"), [("one two three", True), ("قرأ الولد كتابا", False)])
def test_words_run_as_they_are_read(picture, forms, rightwards):
    root = svg_of(picture(forms, [0, 1, 2]))
    xs = [float(text.get("x")) for text in texts_of(root, "word")]
    assert xs == sorted(xs, reverse=not rightwards)
    start, _, end = numbers(arcs(root, "tree")[1, 2])
    assert (start < end) is rightwards


def test_numbers_beside_right_to_left_words_stay_where_they_are(picture):
    """In a line with anything behind a word of Arabic or Hebrew, U+200E ends it: names at the edges, and tooltips."""
    root = svg_of(picture(" ".join(["قرأ", "ספר"] * 40), [0, *range(1, 80)], [(1, 80, 0.35), (80, 3, 0.25)]))
    texts = [text.text for text in root.iter(f"{SVG}text") if text.get("class") != "word"]
    texts += [title.text for title in root.iter(f"{SVG}title")]
    words = [match for text in texts for match in re.finditer("(قرأ|ספר)(.?)", text)]
    assert sum(" · " in text for text in texts) >= 4
    assert len(words) > 160
    assert {word[2] for word in words} == {"\u200e"}


def test_wide_words_get_wide_places(picture):
    wide, narrow = (svg_of(picture(forms, [0, 1])) for forms in ("プログラミング 。", "program ."))
    assert float(wide.get("width")) > float(narrow.get("width"))


def test_a_word_wider_than_a_page_is_drawn(picture):
    root = svg_of(picture(f"{'9' * 3000} b c", [0, 1, 1]))
    assert len(texts_of(root, "word")) == len(arcs(root, "tree")) == 3
    assert all(float(text.get("x")) >= ems(text.text) * LABEL for text in texts_of(root, "end"))  # they end there


KINDS = ("peaked", "near", "flat")
WORDS = ("the", "harbour", "master", "who", "had", "never", "left", "his", "white-washed", "house", ",", "by", "sea")


def distribution(n: int, kind: str) -> TreeDistribution:
    """All arcs alike, or the near ones better and some much better."""
    rng = np.random.default_rng(n)
    distance = np.abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1)))
    scale, slope = {"peaked": (4, 0.5), "near": (1, 0.7), "flat": (0, 0)}[kind]
    return TreeDistribution(scale * rng.gumbel(size=(n + 1, n + 1)) - slope * distance, "log")


def drawn(n: int, kind: str) -> tuple[Picture, TreeDistribution]:
    """The most probable tree, labelled, and what might stand in its place."""
    given = distribution(n, kind)
    tree = maximum_tree(given).tolist()
    labels = {(head, word): "nmod:poss" if word % 3 else "obj" for word, head in enumerate(tree, 1)}
    forms = [WORDS[word % len(WORDS)] for word in range(n)]
    return picture_of("s", forms, given.marginals(), tree, labels, "a tree"), given


@pytest.fixture(scope="module", params=[(n, kind) for n in (5, 15, 30, 60, 100, 200) for kind in KINDS], ids=str)
def shown(request):
    picture, given = drawn(*request.param)
    return picture, given, svg_of(picture)


def test_no_side_is_longer_than_4000_pixels_and_the_tree_is_never_hidden(shown):
    picture, _, root = shown
    assert float(root.get("width")) < 4000
    assert float(root.get("height")) < 4000
    assert sorted(arcs(root, "tree"), key=lambda ends: ends[1]) == [(arc.head, arc.dependent) for arc in picture.tree]


def test_it_says_how_many_arcs_are_hidden(shown):
    picture, given, root = shown
    marginals = given.marginals()
    hidden = np.count_nonzero(marginals[:, 1:] > 0) - len(picture.arcs)
    assert picture.hidden == hidden > 0
    assert f"; {hidden:,} arcs hidden (probability at most " in root.find(f"{SVG}desc").text
    (note,) = texts_of(root, "note")
    assert note.text == picture.hidden_note
    visible = {(arc.head, arc.dependent) for arc in picture.arcs}
    heaviest = max(p for (head, word), p in np.ndenumerate(marginals) if word and (head, word) not in visible)
    assert picture.heaviest_hidden == heaviest


def test_hidden_arcs_are_light_superfluous_or_in_a_thicket(shown):
    picture, given, _ = shown
    marginals, others = given.marginals(), picture.others
    distinct = np.unique(marginals[:, 1:].round(9)).size > given.n  # among equals any will do
    abreast = np.zeros(given.n + 1, dtype=int)
    for arc in others:
        assert arc.weight >= limits.LEAST
        abreast[arc.left : arc.right] += 1
    assert abreast.max() <= limits.MOST_ABREAST
    for own in picture.tree:
        visible = [arc for arc in others if arc.dependent == own.dependent]
        assert len(visible) <= limits.MOST_OF_WORD
        mass = own.weight + sum(arc.weight for arc in visible)
        drawn_heads = {own.head, *(arc.head for arc in visible)}
        p, head = max((p, head) for head, p in enumerate(marginals[:, own.dependent]) if head not in drawn_heads)
        left, right = sorted((head, own.dependent))
        free = not head or abreast[left:right].max() < limits.MOST_ABREAST
        enough = mass >= limits.ENOUGH or p < limits.LEAST or len(visible) == limits.MOST_OF_WORD
        assert enough or not distinct or not free


@pytest.mark.parametrize("name", ["word", "label"])
def test_texts_are_on_the_page_and_those_of_a_line_apart(shown, name):
    lines, (_, _, page_width, page_height) = defaultdict(list), map(float, shown[2].get("viewBox").split())
    for text in texts_of(shown[2], name):
        classes, width = text.get("class").split(), ems(text.text) * (WORD if name == "word" else LABEL)
        x = float(text.get("x")) - (0 if "start" in classes else width if "end" in classes else width / 2)
        lines[float(text.get("y"))].append((x, x + width))
    assert lines
    for y, spans in lines.items():
        spans.sort()
        assert 0 <= y <= page_height
        assert 0 <= spans[0][0] <= spans[-1][1] <= page_width
        assert all(left[1] <= right[0] + 0.2 for left, right in pairwise(spans))


def test_an_arc_that_leaves_its_row_names_its_other_end(shown):
    picture, _, root = shown
    ys = {int(text.get("data-word")): text.get("y") for text in root.iter(f"{SVG}text") if text.get("data-word")}
    assert len(ys) == len(picture.forms)
    names = [text.text for edge in ("start", "end") for text in texts_of(root, edge)]
    names = [name for name in names if name != picture.hidden_note]
    cut = [arc for arc in picture.arcs if arc.head and ys[arc.head] != ys[arc.dependent]]
    expected = [f"{word} {picture.word(word)}" for arc in cut for word in (arc.head, arc.dependent)]
    assert sorted(name.split(" · ")[0] for name in names) == sorted(expected)
    for (head, word), group in (arcs(root, "tree") | arcs(root, "other")).items():
        pieces = group.find(f"{SVG}path").get("d").count("M")
        assert pieces == (2 if head and ys[head] != ys[word] else 1)


def test_rows_are_several_only_where_one_is_too_long():
    rows = [len({text.get("y") for text in texts_of(svg_of(drawn(n, "peaked")[0]), "word")}) for n in (5, 15, 60, 200)]
    assert rows[0] == rows[1] == 1 < rows[2] < rows[3]


def test_samples_hide_too():
    given = distribution(30, "near")
    samples = given.sample(50, 7)
    picture = picture_of("s", ["a"] * 30, given.marginals(), samples[0].tolist(), {}, "a tree", None, samples)
    seen = {(int(head), word) for tree in samples for word, head in enumerate(tree, 1)}
    assert picture.hidden == len(seen) - len(picture.arcs) > 0
    assert "share of the samples at most" in picture.full_caption


SPECIAL = '\\input{x} $a_1^2$ & 5% #1 ~ <b> |"[c]{'
TIKZ = Picture(
    "%name\nsecond",
    ["a", SPECIAL, "c"],
    [Arc(2, 1, 0.9, "x:y_z"), Arc(0, 2, 1.0), Arc(2, 3, 0.4), Arc(0, 1, 0.1, kind=OTHER), Arc(1, 3, 0.6, kind=OTHER)],
    "caption",
)


def test_an_arc_is_a_line_of_tikz_and_no_word_a_command(golden):
    golden("picture.tex", to_tikz(TIKZ).encode())  # a name with a newline stays a comment
    bare = re.sub(r"\\(text[a-z]+\{\}|[&%$#_{}])", "", escaped(SPECIAL))
    assert not set(bare) & set('\\&%$#_~^<>|"')


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX")
def test_latex_takes_it(tmp_path):
    if subprocess.run(["kpsewhich", "tikz-dependency.sty", "environ.sty"], capture_output=True, check=False).returncode:
        pytest.skip("tikz-dependency is not installed")
    preamble = r"\documentclass{article}\usepackage[T1]{fontenc}\usepackage{tikz-dependency}\begin{document}"
    titled = replace(TIKZ, titles=["a", "b_1 (50 % of 2)"], further=[replace(TIKZ, titles=["c"])])
    pictures = "\n".join(map(to_tikz, [TIKZ, titled]))
    (tmp_path / "x.tex").write_text(f"{preamble}\n{pictures}\\end{{document}}\n", encoding="utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stdout.decode(errors="replace")[-2000:]
