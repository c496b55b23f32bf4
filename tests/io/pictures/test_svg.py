"""The SVG: well-formed, every arc once, as opaque as probable, nothing drawn over anything else."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from deptree_cli.io.pictures.svg import to_svg

SVG = "{http://www.w3.org/2000/svg}"
OTHERS = [(4, 7, 0.35), (0, 4, 0.02), (7, 4, 0.01), (1, 5, 0.125)]


@pytest.fixture
def drawn(picture):
    """The telescope sentence."""
    forms, heads = "She saw the man with the telescope .", [2, 0, 4, 2, 7, 7, 2, 2]
    return ElementTree.fromstring(to_svg(picture(forms, heads, OTHERS, "nsubj root det obj case det obl punct")))


def arcs(root, kind):
    """(head, dependent) -> the group."""
    groups = [group for group in root.iter(f"{SVG}g") if group.get("class") == f"arc {kind}"]
    found = {(int(group.get("data-head")), int(group.get("data-dependent"))): group for group in groups}
    assert len(found) == len(groups)
    return found


def path(group, name):
    (found,) = (each for each in group.iter(f"{SVG}path") if each.get("class") == name)
    return found


def test_every_arc_is_there_once(drawn):
    assert set(arcs(drawn, "tree")) == {(2, 1), (0, 2), (4, 3), (2, 4), (7, 5), (7, 6), (2, 7), (2, 8)}
    assert set(arcs(drawn, "other")) == {(head, dependent) for head, dependent, _ in OTHERS}


def test_opacity_is_the_probability(drawn):
    other, tree = arcs(drawn, "other"), arcs(drawn, "tree")
    assert {ends: float(path(group, "line").get("opacity")) for ends, group in other.items()} == {
        (head, dependent): p for head, dependent, p in OTHERS
    }
    assert float(path(tree[2, 7], "line").get("opacity")) == 0.65
    assert float(path(tree[2, 1], "line").get("opacity")) == 1


def test_tooltips_and_labels(drawn):
    assert arcs(drawn, "tree")[2, 7].find(f"{SVG}title").text == "saw -> telescope (obl): 0.65"
    assert arcs(drawn, "other")[0, 4].find(f"{SVG}title").text == "ROOT -> man: 0.02"
    labels = sorted(text.text for text in drawn.iter(f"{SVG}text") if text.get("class").startswith("label"))
    assert labels == sorted(
        ["nsubj", "root", "det", "obj .97", "case .88", "det", "obl .65", "punct", ".35", "ROOT .02", ".01", ".12"]
    )


def test_the_title_and_the_description(picture):
    root = ElementTree.fromstring(to_svg(picture("a b", [0, 1]), "deptree|show"))
    assert root.find(f"{SVG}title").text == "s-1"
    assert root.find(f"{SVG}desc").text == "a b (most probable tree, probability 0.5)"
    assert root.find(f"{SVG}metadata").text == "deptree|show"
    assert root.get("role") == "img"


def numbers(group):
    """Start, bar and end of an arc between words: x, y of the start, y of the bar, x of the end."""
    line = path(group, "line").get("d")
    start_x, start_y = re.match(r"M([\d.]+) ([\d.]+)V", line).groups()
    bar = re.search(r"Q[\d.]+ ([\d.]+)", line)[1]
    end_x = re.search(r"Q([\d.]+) [\d.]+ [\d.]+ [\d.]+V[\d.]+$", line)[1]
    return float(start_x), float(start_y), float(bar), float(end_x)


def test_arcs_of_one_side_and_level_do_not_overlap(drawn):
    for kind, count in (("tree", 7), ("other", 3)):
        bars = defaultdict(list)
        for (head, _), group in arcs(drawn, kind).items():
            if head:
                start, _, bar, end = numbers(group)
                bars[bar].append((min(start, end), max(start, end)))
        assert sum(map(len, bars.values())) == count
        for spans in bars.values():
            spans.sort()
            assert all(left[1] < right[0] for left, right in pairwise(spans))


def test_the_tree_stands_above_the_words_and_the_others_below(drawn):
    words = [float(text.get("y")) for text in drawn.iter(f"{SVG}text") if text.get("class") == "word"]
    assert len(words) == 8
    assert all(numbers(group)[2] < words[0] for (head, _), group in arcs(drawn, "tree").items() if head)
    assert all(numbers(group)[2] > words[0] for (head, _), group in arcs(drawn, "other").items() if head)


def test_labels_fit_between_the_ends_and_all_is_on_the_page(picture):
    """Also ROOT's label at the edge of a word from which many arcs go one way."""
    long, others = "a-very-long-relation:with-a-subtype", [(0, 1, 0.4), *((1, word, 0.1) for word in range(3, 9))]
    heads = [2, 0, *[2] * 6]
    root = ElementTree.fromstring(to_svg(picture("a b c d e f g h", heads, others, f"{long} root x x x x x x")))
    start, _, _, end = numbers(arcs(root, "tree")[2, 1])
    (label,) = (each for each in root.iter(f"{SVG}text") if each.text.startswith(long))
    assert end < float(label.get("x")) < start
    rectangles = list(root.iter(f"{SVG}rect"))
    behind = max(rectangles[1:], key=lambda each: float(each.get("width")))
    assert start - end >= float(behind.get("width"))
    for each in rectangles[1:]:
        assert float(each.get("x")) >= 0
        assert float(each.get("x")) + float(each.get("width")) <= float(root.get("width"))
        assert 0 <= float(each.get("y")) <= float(root.get("height")) - float(each.get("height"))


def test_forms_are_escaped(picture):
    root = ElementTree.fromstring(to_svg(picture("""<&"> 'x' ]]>""", [0, 1, 1])))
    words = [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "word"]
    assert words == ['<&">', "'x'", "]]>"]
    assert arcs(root, "tree")[1, 3].find(f"{SVG}title").text == '<&"> -> ]]>: 1'


@pytest.mark.parametrize(("forms", "rightwards"), [("one two three", True), ("قرأ الولد كتابا", False)])
def test_words_run_as_they_are_read(picture, forms, rightwards):
    root = ElementTree.fromstring(to_svg(picture(forms, [0, 1, 2])))
    xs = [float(text.get("x")) for text in root.iter(f"{SVG}text") if text.get("class") == "word"]
    assert xs == sorted(xs, reverse=not rightwards)
    start, *_, end = numbers(arcs(root, "tree")[1, 2])
    assert (start < end) is rightwards


def test_numbers_beside_right_to_left_words_stay_where_they_are(picture):
    """In a line with anything behind a word of Arabic or Hebrew, U+200E ends it: names at the edges, and tooltips."""
    forms = " ".join(["قرأ", "ספר"] * 40)
    svg = to_svg(picture(forms, [0, *range(1, 80)], [(1, 80, 0.35), (80, 3, 0.25)]))
    texts = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text") if text.get("class") != "word"]
    texts += [title.text for title in ElementTree.fromstring(svg).iter(f"{SVG}title")]
    words = [match for text in texts for match in re.finditer("(قرأ|ספר)(.?)", text)]
    assert sum(" · " in text for text in texts) >= 4
    assert len(words) > 160
    assert {word[2] for word in words} == {"\u200e"}


def test_one_word(picture):
    root = ElementTree.fromstring(to_svg(picture("Да", [0])))
    assert list(arcs(root, "tree")) == [(0, 1)]
    assert not arcs(root, "other")


def test_wide_forms_get_wide_places(picture):
    def width(forms):
        return float(ElementTree.fromstring(to_svg(picture(forms, [0, 1]))).get("width"))

    assert width("プログラミング 。") > width("program .")
