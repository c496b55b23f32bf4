"""Sentences of any length, of sure and unsure parsers: every picture stays readable and says what it hides."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from deptree_cli import TreeDistribution
from deptree_cli.core.decoding import maximum_tree
from deptree_cli.io.pictures.arcs import (
    ENOUGH,
    LEAST,
    MOST_ABREAST,
    MOST_OF_WORD,
    Picture,
    cells,
    chosen,
    ems,
    picture_of,
)
from deptree_cli.io.pictures.svg import LABEL, WORD, to_svg
from deptree_cli.io.pictures.text import to_text

SVG = "{http://www.w3.org/2000/svg}"
LENGTHS = (5, 15, 30, 60, 100, 200)
KINDS = ("peaked", "near", "flat")
WORDS = ("the", "harbour", "master", "who", "had", "never", "left", "his", "white-washed", "house", ",", "by", "sea")


def distribution(n: int, kind: str) -> TreeDistribution:
    """All arcs alike, or the near ones better and some much better."""
    rng = np.random.default_rng(n)
    distance = np.abs(np.subtract.outer(np.arange(n + 1), np.arange(n + 1)))
    scale, slope = {"peaked": (4, 0.5), "near": (1, 0.7), "flat": (0, 0)}[kind]
    return TreeDistribution(scale * rng.gumbel(size=(n + 1, n + 1)) - slope * distance, "log")


def drawn(n: int, kind: str, threshold: float | None = None) -> tuple[Picture, TreeDistribution]:
    """The most probable tree, labelled, and the others by default or from a threshold on."""
    given = distribution(n, kind)
    tree = maximum_tree(given).tolist()
    labels = {(head, word): "nmod:poss" if word % 3 else "obj" for word, head in enumerate(tree, 1)}
    forms = [WORDS[word % len(WORDS)] for word in range(n)]
    return picture_of("s", forms, given.marginals(), tree, labels, "a tree", threshold), given


@pytest.fixture(scope="module", params=[(n, kind) for n in LENGTHS for kind in KINDS], ids=str)
def shown(request):
    """A picture, its distribution and its SVG."""
    picture, given = drawn(*request.param)
    return picture, given, ElementTree.fromstring(to_svg(picture))


def test_no_side_is_longer_than_4000_pixels(shown):
    _, _, root = shown
    assert float(root.get("width")) < 4000
    assert float(root.get("height")) < 4000


def test_the_tree_is_never_hidden(shown):
    picture, _, root = shown
    groups = [group for group in root.iter(f"{SVG}g") if group.get("class") == "arc tree"]
    ends = sorted((int(group.get("data-dependent")), int(group.get("data-head"))) for group in groups)
    assert ends == [(arc.dependent, arc.head) for arc in picture.tree]


def test_it_says_how_many_arcs_are_hidden(shown):
    picture, given, root = shown
    marginals = given.marginals()
    hidden = np.count_nonzero(marginals[:, 1:] > 0) - len(picture.arcs)
    assert picture.hidden == hidden > 0
    assert f"; {hidden:,} arcs hidden (probability at most " in root.find(f"{SVG}desc").text
    (note,) = (text.text for text in root.iter(f"{SVG}text") if text.get("class").startswith("note"))
    assert note == picture.hidden_note
    visible = {(arc.head, arc.dependent) for arc in picture.arcs}
    heaviest = max(p for (head, word), p in np.ndenumerate(marginals) if word and (head, word) not in visible)
    assert picture.heaviest_hidden == heaviest


def test_hidden_arcs_are_light_superfluous_or_in_a_thicket(shown):
    picture, given, _ = shown
    marginals, others = given.marginals(), picture.others
    distinct = np.unique(marginals[:, 1:].round(9)).size > given.n  # among equals any will do
    abreast = np.zeros(given.n + 1, dtype=int)
    for arc in others:
        assert arc.weight >= LEAST
        abreast[arc.left : arc.right] += 1
    assert abreast.max() <= MOST_ABREAST
    for own in picture.tree:
        visible = [arc for arc in others if arc.dependent == own.dependent]
        assert len(visible) <= MOST_OF_WORD
        mass = own.weight + sum(arc.weight for arc in visible)
        drawn_heads = {own.head, *(arc.head for arc in visible)}
        best = max((p, head) for head, p in enumerate(marginals[:, own.dependent]) if head not in drawn_heads)
        free = best[1] == 0 or abreast[min(best[1], own.dependent) : max(best[1], own.dependent)].max() < MOST_ABREAST
        assert not distinct or mass >= ENOUGH or best[0] < LEAST or len(visible) == MOST_OF_WORD or not free


def texts(root, name):
    """(x, y, width, anchor) of each text of a class."""
    size = WORD if name == "word" else LABEL
    for text in root.iter(f"{SVG}text"):
        classes = text.get("class").split()
        if name in classes:
            width = ems(text.text) * size
            shift = 0 if "start" in classes else width if "end" in classes else width / 2
            yield float(text.get("y")), float(text.get("x")) - shift, width


@pytest.mark.parametrize("name", ["word", "label"])
def test_texts_are_on_the_page_and_those_of_a_line_apart(shown, name):
    _, _, root = shown
    lines = defaultdict(list)
    for y, x, width in texts(root, name):
        lines[y].append((x, x + width))
    _, _, page_width, page_height = map(float, root.get("viewBox").split())
    assert sum(map(len, lines.values()))
    for y, spans in lines.items():
        spans.sort()
        assert 0 <= y <= page_height
        assert spans[0][0] >= 0
        assert spans[-1][1] <= page_width
        assert all(left[1] <= right[0] + 0.2 for left, right in pairwise(spans))


def test_an_arc_that_leaves_its_row_names_its_other_end(shown):
    picture, _, root = shown
    ys = {int(text.get("data-word")): text.get("y") for text in root.iter(f"{SVG}text") if text.get("data-word")}
    assert len(ys) == len(picture.forms)
    names = [text.text for text in root.iter(f"{SVG}text") if {"start", "end"} & set(text.get("class").split())]
    names = [name for name in names if name != picture.hidden_note]
    cut = [arc for arc in picture.arcs if arc.head and ys[arc.head] != ys[arc.dependent]]
    expected = [f"{word} {picture.word(word)}" for arc in cut for word in (arc.head, arc.dependent)]
    assert sorted(re.split(" · ", name)[0] for name in names) == sorted(expected)
    for group in root.iter(f"{SVG}g"):
        ends = int(group.get("data-head")), int(group.get("data-dependent"))
        pieces = group.find(f"{SVG}path").get("d").count("M")
        assert pieces == (2 if ends[0] and ys[ends[0]] != ys[ends[1]] else 1)


def test_rows_are_several_only_where_one_is_too_long():
    rows = {n: len({y for y, _, _ in texts(ElementTree.fromstring(to_svg(drawn(n, "peaked")[0])), "word")})
            for n in (5, 15, 60, 200)}  # fmt: skip
    assert rows[5] == rows[15] == 1 < rows[60] < rows[200]


@pytest.mark.slow("size")
@pytest.mark.parametrize("n", [5, 30, 96])
def test_a_threshold_of_0_shows_all(n):
    picture, _ = drawn(n, "near", 0.0)
    assert len(picture.arcs) == n * n
    assert picture.full_caption == "a tree"
    assert to_svg(picture).count("<g ") == n * n


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [80, 120])
def test_text_of_60_words_is_readable(kind, width):
    picture, _ = drawn(60, kind)
    heading, _, *lines = to_text(picture, width).splitlines()
    assert f"{picture.hidden:,} arcs hidden" in heading
    assert sum("►" in line for line in lines) == 60
    assert max(map(cells, lines)) <= width + 20


def test_samples_hide_too():
    given = distribution(30, "near")
    samples = given.sample(50, 7)
    picture = picture_of("s", ["a"] * 30, given.marginals(), samples[0].tolist(), {}, "a tree", None, samples)
    seen = {(int(head), word) for tree in samples for word, head in enumerate(tree, 1)}
    assert picture.hidden == len(seen) - len(picture.arcs) > 0
    assert "share of the samples at most" in picture.full_caption


def test_a_notebook_chooses_as_the_command_does():
    svg = distribution(60, "near")._repr_svg_()
    root = ElementTree.fromstring(svg)
    assert float(root.get("width")) < 4000
    assert " arcs hidden (" in root.find(f"{SVG}desc").text


def test_the_choice_is_by_weight():
    weights = np.zeros((4, 4))
    weights[:, 1] = [0.5, 0, 0.3, 0.2]
    weights[:, 2] = [0.95, 0.05, 0, 0]
    weights[:, 3] = [0.6, 0.395, 0.005, 0]
    assert np.argwhere(chosen(weights, [0, 0, 0])).tolist() == [[1, 3], [2, 1], [3, 1]]
