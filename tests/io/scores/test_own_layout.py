"""The layout that a signature names."""

from __future__ import annotations

import pytest

from deptree_cli.io.scores.layout import Layout
from deptree_cli.io.scores.own_layout import own_layout
from deptree_cli.io.scores.presets import layout


@pytest.mark.parametrize(
    ("signature", "found"),
    [
        ("deptree|dump|from:natasha|v:0.1.0", layout("natasha")),
        ("deptree|convert|from:spacy|v:0.1.0", layout("spacy")),
        ("deptree|convert|from:supar|orient:head-dep|rootat:last|scale:weight", Layout("head-dep", "last", "weight")),
        ("deptree|convert|orient:dep-head|rootat:diagonal|scale:log|v:1", Layout("dep-head", "diagonal", "log")),
        ("deptree|dump", Layout()),
    ],
)
def test_what_our_commands_write(signature: str, found: Layout) -> None:
    own = own_layout(signature)
    assert own is not None
    assert (own.orient, own.root, own.scale) == (found.orient, found.root, found.scale)


@pytest.mark.parametrize(
    "signature",
    [
        "",
        "|",
        "deptree",
        "deptree|",
        "deptree|sample|from:natasha|v:0.1.0",
        "deptree|marginals|orient:dep-head|v:0.1.0",
        "other|dump|from:natasha",
        "dump|from:natasha",
        "from:natasha",
    ],
)
def test_what_is_no_score_file_of_ours(signature: str) -> None:
    assert own_layout(signature) is None


@pytest.mark.parametrize(
    ("signature", "part"),
    [
        ("deptree|dump|from:natascha", "natascha"),
        ("deptree|dump|orient:up", "unknown --orient up"),
        ("deptree|convert|rootat:middle", "unknown --root middle"),
        ("deptree|convert|scale:bel", "unknown --scale bel"),
    ],
)
def test_a_layout_that_this_version_does_not_know(signature: str, part: str, says) -> None:
    with says(part):
        own_layout(signature)
