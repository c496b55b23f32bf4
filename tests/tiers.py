"""Two tiers of tests: `--quick` runs few cases of every function, and none that is slow or needs a framework."""

from __future__ import annotations

from collections import defaultdict
from hashlib import blake2b
from pathlib import Path

import pytest

CASES = 3  # of a test function, in the quick tier, and all that are marked `quick`
TESTS = Path(__file__).parent
FRAMEWORKS = ("torch", "jax")  # marks of tests that need them, which all tests in our folders of these names have
REASONS = ("process", "compile", "statistics", "size")  # why a test is slow: what its time goes to


def pytest_addoption(parser):
    """Offer the quick tier."""
    parser.addoption("--quick", action="store_true", help=f"{CASES} cases each; none slow, none of torch or JAX")


def pytest_ignore_collect(collection_path, config):
    """Leave folders out whose tests are all deselected: to import a framework takes longer than many a test."""
    return True if config.getoption("quick") and collection_path in map(TESTS.joinpath, FRAMEWORKS) else None


def pytest_collection_modifyitems(config, items):
    """Mark tests of frameworks by their folder; in the quick tier, choose."""
    for item in items:
        for framework in FRAMEWORKS:
            if item.path.is_relative_to(TESTS / framework):
                item.add_marker(framework)
        for mark in item.iter_markers("slow"):
            if mark.args not in [(reason,) for reason in REASONS]:
                raise pytest.UsageError(f"{item.nodeid}: slow takes one of {', '.join(REASONS)}")
    if config.getoption("quick"):
        chosen = set(_few(item for item in items if not any(map(item.get_closest_marker, ("slow", *FRAMEWORKS)))))
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]


def _few(items):
    """Yield cases of each function, those of the smallest hashes of ids: together all functions meet each axis."""
    functions = defaultdict(list)
    for item in items:
        functions[item.nodeid.partition("[")[0]].append(item)
    for cases in functions.values():
        few = sorted(cases, key=lambda case: blake2b(case.nodeid.encode()).digest())[:CASES]
        yield from (case for case in cases if case in few or case.get_closest_marker("quick"))
