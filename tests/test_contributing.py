"""The worked example of CONTRIBUTING.md is a sampler without bias, and the files that the page names exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from deptree_cli import TreeDistribution
from deptree_cli.core.audit import UNBIASED, Tally, judge

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_sampler_is_unbiased() -> None:
    """H0: 2,000 trees follow the distribution; the audit errs with probability 0.01 at most, and the seed is fixed."""
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(program, names)
    graph = TreeDistribution(np.load(ROOT / "sample_data/figure1.npy"), "weight")
    tally = Tally(graph)
    tally.add(names["MINE"].draw(graph, 2000, np.random.default_rng(7)))
    (found,) = judge([tally.audit()], 0.01)
    assert found.verdict == UNBIASED


def test_links_and_paths_lead_somewhere() -> None:
    paths = re.findall(r"`((?:deptree_cli|tests|docs)/[\w/]+(?:\.py)?/?)`", PAGE) + re.findall(r"\]\(([^)#]+)", PAGE)
    inner = re.findall(r"`((?:core|io|cli|commands)/(?!NAME)[\w/]+(?:\.py|\.toml|/))`", PAGE)
    found = [ROOT / path for path in paths] + [ROOT / "deptree_cli" / path for path in inner]
    assert len(found) >= 14
    assert [path for path in found if not path.exists()] == []
