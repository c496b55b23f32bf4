"""What a score file says of itself, as it is kept and read again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from deptree_cli.core.spaces import SPACES
from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.scores.meta import NOTHING, Meta, space_of
from deptree_cli.io.scores.presets import PRESETS, layout

LAYOUTS = [
    *PRESETS,
    Layout(),
    Layout("dep-head", "diagonal", "log"),
    layout("supar", "head-dep", "last", "weight"),
    layout("spacy", scale="weight"),
]


def kept(meta: Meta) -> list[Meta]:
    """As the two kinds of places give it back."""
    said = json.loads(json.dumps({"signature": meta.signature, "meta": meta.said()}))
    return [Meta.of_text(meta.text()), Meta.of(said["signature"], said["meta"])]


@pytest.mark.parametrize("read", LAYOUTS, ids=lambda read: f"{read.name}-{read.orient}-{read.root}-{read.scale}")
@pytest.mark.parametrize(("trees", "ordered"), [("", True), ("projective", False), ("projective", True)])
def test_it_comes_back(read: Layout, trees: str, ordered: bool) -> None:
    for meta in kept(Meta("deptree|convert|v:1", read, trees, ordered)):
        own = meta.layout
        assert own is not None
        assert (own.name, own.orient, own.root, own.scale) == (read.name, read.orient, read.root, read.scale)
        assert (meta.signature, meta.trees, meta.ordered) == ("deptree|convert|v:1", trees, ordered)


@pytest.mark.parametrize("text", ["", "me", "two\nlines", 'two\n{"lines": 1}', "x\n[1]", "x\n" + "[" * 100_000])
def test_the_text_of_others_is_all_signature(text: str) -> None:
    assert Meta.of_text(text) == Meta(text)
    assert Meta(text).text() == text


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ({"version": 2}, "Upgrade deptree"),
        ({}, "Upgrade deptree"),
        (7, "Upgrade deptree"),
        ({"version": 1, "layout": 7}, "damaged"),
        ({"version": 1, "trees": ["projective"]}, "damaged"),
        ({"version": 1, "layout": ["supar"]}, "damaged"),
        ({"version": 1, "layout": "natascha,log"}, "natascha"),
        ({"version": 1, "trees": "projectiv"}, "Did you mean projective?"),
        ({"version": 1, "layout": "up"}, "there is no layout 'up'"),
        ({"version": 1, "layout": "supar,middle"}, "'supar,middle' is no layout"),
        ({"version": 1, "layout": "log,weight"}, "'log,weight' is no layout"),
    ],
)
def test_what_this_version_does_not_know(said: Any, part: str, says) -> None:
    with says(part):
        Meta.of("me", said)


def test_where_it_is_not_kept_options_say_it() -> None:
    assert NOTHING.space_to_read() == NOTHING.layout_to_read() == []
    meta = Meta("me", layout("supar", scale="weight"), "projective")
    assert (meta.space_to_read(), meta.layout_to_read()) == (["--projective"], ["--from supar,weight"])
    assert Meta("me", Layout("head-dep", "first", "log")).layout_to_read() == ["--from head-dep,first,log"]


def test_projective_scores_stay_projective() -> None:
    for each in SPACES:
        assert space_of("", each) == each
    assert space_of("projective", None).name == "projective"
    assert space_of("projective", None, single_root=False).projective
