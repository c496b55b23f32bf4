"""The heat map, where matplotlib is."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from deptree_cli.io.pictures.heat_map import draw_heat_map

SIGNATURES = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


def draw(n: int, path: str, forms: list[str] | None = None) -> None:
    marginals = np.zeros((n + 1, n + 1))
    marginals[0, 1] = 0.75
    marginals[1, 1:] = 0.25
    draw_heat_map(marginals, forms or ["word"] * n, [0] * n, "s-1", path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'deptree-cli[plot]'")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("suffix", SIGNATURES)
def test_it_is_written(folder, suffix):
    draw(3, f"map{suffix}")
    assert (folder / f"map{suffix}").read_bytes().startswith(SIGNATURES[suffix])


def text_of(path) -> str:
    """Matplotlib writes each text as a comment beside its outlines."""
    return path.read_text(encoding="utf-8")


@pytest.mark.slow("size")
@pytest.mark.parametrize(("n", "numbered"), [(1, True), (20, True), (21, False)])
def test_numbers_where_there_is_room(folder, n, numbered):
    draw(n, "map.svg")
    assert ("<!-- .75 -->" in text_of(folder / "map.svg")) is numbered
    assert "<!-- ROOT -->" in text_of(folder / "map.svg")


def test_any_form_is_text(folder):
    """Dollar signs are no mathematics, and what no font has is no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(3, "map.svg", ["$_{$", "$x$", "\U00012000"])
    assert "<!-- $x$ -->" in text_of(folder / "map.svg")


def test_where_it_cannot_be_written(folder, says):
    with says("none/map.png: its folder does not exist"):
        draw(2, "none/map.png")
