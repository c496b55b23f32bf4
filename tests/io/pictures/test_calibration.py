"""Pictures of calibration: every point is whole, also where heads are certain and always right."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from deptree_cli.io.pictures.calibration import calibration_svg

CORNER = ["0.9 to 1.0", 1000, 1.0, 1.0]
HALF = ["0.4 to 0.5", 250, 0.45, 0.5]


def circles(svg: str) -> list[dict[str, float]]:
    found = ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}circle")
    return [{name: float(each.attrib[name]) for name in ("cx", "cy", "r")} for each in found]


def test_no_point_is_cut_by_the_edge() -> None:
    """All words in one of the corners, which makes its point as large as it can be."""
    svg = calibration_svg([CORNER], "<&>")
    (point,) = circles(svg)
    root = ElementTree.fromstring(svg)
    assert 0 < point["cx"] - point["r"] < point["cx"] + point["r"] < float(root.attrib["width"])
    assert 0 < point["cy"] - point["r"] < point["cy"] + point["r"] < float(root.attrib["height"])
    assert root[0].text == "<&>"


def test_points_stand_where_their_numbers_say() -> None:
    half, corner = circles(calibration_svg([HALF, CORNER], ""))
    assert half["r"] < corner["r"]
    assert (corner["cx"] - half["cx"]) / 0.55 == pytest.approx((half["cy"] - corner["cy"]) / 0.5, abs=1)
