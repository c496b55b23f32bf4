"""Another installed package joins the registers by entry points, without a line changed here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sample import DATA

MODULE = '''
import numpy as np
from deptree_cli.core.samplers import Sampler


def first_root_only(distribution, size, rng):
    """Biased: the trees of one sample, again and again."""
    return np.repeat(distribution.factorisation.sample(1, rng), size, axis=0)


def fair(distribution, size, rng):
    return distribution.factorisation.sample(size, rng)


STUCK = Sampler("stuck", first_root_only, False, ("single-root",), "n^3", "a stranger")
FAIR = Sampler("fair", "strangers_package:fair", True, ("single-root", "multi-root"), "n^3 + k n^2", "a stranger")
'''

ENTRY_POINTS = """
[deptree.samplers]
stuck = strangers_package:STUCK
fair = strangers_package:FAIR
auto = strangers_package:FAIR
broken = strangers_package:NOTHING
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """The environment of a machine on which the stranger's package is installed."""
    (tmp_path / "strangers_package.py").write_text(MODULE)
    info = tmp_path / "strangers_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return {**os.environ, "PYTHONPATH": str(tmp_path)}


def run(env: dict[str, str], *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "deptree_cli", *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


@pytest.mark.slow("compile")
def test_a_strangers_sampler_is_listed_and_draws(installed: dict[str, str]) -> None:
    text = run(installed, "sample", "--help-all").stdout
    assert "stuck (biased): single-root trees; n^3" in text
    assert "fair: single-root and multi-root trees" in text
    assert "broken" not in text
    drawn = run(installed, "sample", str(DATA / "figure1.npy"), "-k", "3", "--sampler", "fair", "--seed", "1", "-q")
    assert len(drawn.stdout.splitlines()) == 3


@pytest.mark.slow("compile")
def test_a_strangers_sampler_is_audited(installed: dict[str, str]) -> None:
    """H0: the trees follow the distribution; 2,000 trees. One tree 2,000 times has p = 0, the fair ones p > 0.001."""
    graph = str(DATA / "figure1.npy")
    stuck = run(installed, "check-bias", graph, "--sampler", "stuck", "-k", "2000", "--seed", "1")
    assert stuck.returncode == 1
    assert json.loads(stuck.stdout)["verdict"] == "biased"
    assert run(installed, "check-bias", graph, "--sampler", "fair", "-k", "2000", "--seed", "1").returncode == 0


@pytest.mark.slow("compile")
def test_ours_is_not_replaced_and_a_broken_one_is_one_line(installed: dict[str, str]) -> None:
    graph = str(DATA / "figure1.npy")
    ours = run(installed, "sample", graph, "-k", "2", "--seed", "1", "--header")
    assert "sampler:auto=elimination+wilson-marginal" in ours.stdout
    broken = run(installed, "sample", graph, "--sampler", "broken")
    assert broken.returncode == 2
    assert broken.stderr.startswith("deptree: the sampler 'broken' cannot be loaded")
    assert len(broken.stderr.splitlines()) == 1
