"""The register of methods, their settings, and a program of a user's own under all that need no merits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from deptree_cli.core.errors import DeptreeError
from deptree_cli.pruning.methods import ITERATIONS, METHODS, Settings, expectations
from tests.pruning.toy import enumerated, random_segmentations


@pytest.mark.parametrize("method", [method for method in METHODS if not method.by_merits], ids=lambda each: each.name)
def test_a_program_of_a_users_own(method: Any) -> None:
    """Right within six standard errors, or exactly, or under the condition that what is pinned is there."""
    program = random_segmentations(7, 4)
    probs, right = enumerated(program)
    found = expectations(program, method.name, 1, iterations=1000)
    if method.name == "fixed":
        left = {structure: x for structure, x in probs.items() if all(structure[:4])}
        right = sum(x * np.array(structure) for structure, x in left.items()) / sum(left.values())
    errors = 0.0 if found.standard_errors is None else 6 * found.standard_errors
    assert (np.abs(found.expectations - right) <= errors + 1e-12).all()


@pytest.mark.parametrize("method", [method for method in METHODS if method.by_merits], ids=lambda each: each.name)
def test_methods_that_need_merits(method: Any) -> None:
    with pytest.raises(
        DeptreeError, match=rf"^{method.name} needs the merits of states\. Derive the program from CellProg"
    ):
        expectations(random_segmentations(3, 1), method.name)


def test_what_is_random_is_said_to_be() -> None:
    program = random_segmentations(5, 3)
    for method in METHODS:
        if not method.by_merits and method.name != "fixed":  # which draws only where not all can be pinned
            a, b = (expectations(program, method.name, seed, iterations=20).expectations for seed in (1, 2))
            assert np.array_equal(a, b) != method.is_random


def test_there_is_no_such_method() -> None:
    with pytest.raises(DeptreeError, match=r"randomised.*randomized") as caught:
        expectations(random_segmentations(3, 1), "randomised")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"counts": "medium"}, "unknown counts 'medium'. Choose one of soft, hard."),
        ({"iterations": 0}, "iterations is 0. Give 1 or more."),
        ({"iterations": -5}, "iterations is -5. Give 1 or more."),
        ({"chains": 0}, "chains is 0. Give 1 or more."),
        ({"kept": 0}, "kept is 0. Give 1 or more."),
        ({"burn_in": -1}, "burn_in is -1. Give 0 or more."),
        ({"seconds": -1.0}, "seconds is -1.0. Give 0 or more."),
        ({"seconds": np.nan}, "seconds is nan. Give 0 or more."),
        ({"margin": -1.0}, "margin is -1.0. Give 0 or more."),
        ({"iterations": np.nan}, "iterations is nan. Give 1 or more."),
        ({"margin": np.nan}, "margin is nan. Give 0 or more."),
    ],
)
def test_settings_that_make_no_sense(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(DeptreeError) as caught:
        Settings(**settings)
    assert str(caught.value) == message


def test_every_method_names_settings_that_there_are() -> None:
    assert {name for method in METHODS for name in method.settings} <= set(Settings.__dataclass_fields__)
    assert [method.name for method in METHODS if method.goes_on] == ["randomized", "rdp"]


def test_iterations_are_a_thousand_unless_seconds_say_when_to_end() -> None:
    assert sum(Settings().rounds()) == ITERATIONS
    assert sum(Settings(iterations=3, seconds=60).rounds()) == 3
    assert sum(Settings(seconds=0.2).rounds()) > ITERATIONS
