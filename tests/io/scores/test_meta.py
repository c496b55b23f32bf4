"""What a score file says of itself, as it is kept and read again."""

from __future__ import annotations

import pytest

from deptree_cli.core.spaces import SPACES
from deptree_cli.io.scores.layout import PRESETS, Layout, layout, text_of
from deptree_cli.io.scores.meta import NOTHING, UNKNOWN, WRITE_SCORES, Meta, space_of
from deptree_cli.io.signature import signature

LAYOUTS = [
    *PRESETS,
    Layout(),
    Layout("dep-head", "diagonal", "log"),
    layout("supar,head-dep,last,weight"),
    layout("spacy,weight"),
]


@pytest.mark.parametrize("read", LAYOUTS, ids=lambda read: text_of(read) or "nothing")
@pytest.mark.parametrize(("trees", "ordered"), [(None, True), ("projective", False), ("projective", True)])
@pytest.mark.parametrize("command", WRITE_SCORES)
def test_it_comes_back(read: Layout, trees: str | None, ordered: bool, command: str) -> None:
    fields = {"from": text_of(read), "trees": trees, "order": None if ordered else UNKNOWN}
    said = signature(command, fields)
    assert Meta.of(said) == Meta(said, read, trees or "", ordered)


@pytest.mark.parametrize(
    "text", ["", "me", "two\nlines", "deptree", "deptree|sample|from:supar|v:1", "deptree|combine|method:mixture", 7]
)
def test_other_signatures_say_nothing_of_scores(text: object) -> None:
    assert Meta.of(text) == Meta("" if text == 7 else str(text))


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"from": "natascha,log"}, "Did you mean natasha?"),
        ({"from": "up"}, "there is no layout 'up'"),
        ({"from": "supar,middle"}, "'supar,middle' is not a layout"),
        ({"from": "log,weight"}, "'log,weight' is not a layout"),
        ({"from": "supar", "trees": "projectiv"}, "Did you mean projective?"),
    ],
)
def test_what_this_version_does_not_know(fields: dict[str, str], part: str, says) -> None:
    with says(part):
        Meta.of(signature("convert", fields))


def test_where_it_is_not_kept_options_say_it() -> None:
    assert NOTHING.options_to_read() == []
    meta = Meta("me", layout("supar,weight"), "projective")
    assert meta.options_to_read() == ["--projective", "--from supar,weight"]
    assert meta.options_to_read(layout=False) == ["--projective"]
    assert Meta("me", Layout("head-dep", "first", "log")).options_to_read() == ["--from head-dep,first,log"]


def test_projective_scores_stay_projective() -> None:
    for each in SPACES:
        assert space_of("", each) == each
    assert space_of("projective", None).name == "projective"
    assert space_of("projective", None, single_root=False).projective
