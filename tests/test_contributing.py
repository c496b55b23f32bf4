"""What CONTRIBUTING.md adds works as it says there, and the files that the page names exist."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli import TreeDistribution
from deptree_cli.core.audit import UNBIASED, Tally, judge
from deptree_cli.core.batches import TreeBatch
from deptree_cli.core.spaces import PROJECTIVE, SINGLE_ROOT
from deptree_cli.io.scores.arrays import ReadSpec
from deptree_cli.io.scores.containers import CONTAINERS, open_scores
from tests.oracle import Oracle

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "sample_data"
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def worked(language, pattern):
    """The one code block of the page that a pattern occurs in."""
    blocks = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    (found,) = (block for block in blocks if re.search(pattern, block, re.MULTILINE))
    return found


@pytest.fixture
def defined():
    """Return what a Python block of the page defines under a name."""

    def run(name):
        names: dict[str, Any] = {"__name__": "of_this_page"}
        code = worked("python", rf"^(def |class )?{name}\b")
        exec(compile(code, "CONTRIBUTING.md", "exec", dont_inherit=True), names)
        return names[name]

    return run


def test_the_sampler_is_unbiased(defined):
    """H0: 2,000 trees follow the distribution; the audit errs with probability 0.01 at most, and the seed is fixed."""
    graph = TreeDistribution(np.load(DATA / "figure1.npy"), "weight")
    tally = Tally(graph)
    tally.add(defined("MINE").draw(graph, 2000, np.random.default_rng(7)))
    (found,) = judge([tally.audit()], 0.01)
    assert found.verdict == UNBIASED


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_the_space_is_that_of_enumeration(n, defined, graphs):
    found = TreeDistribution(graphs.gaussian(n, 2, seed=n), space=defined("SHORT_ARCS"))
    oracle, words = Oracle(found), np.arange(1, n + 1)
    assert ((oracle.trees == 0) | (abs(oracle.trees - words) <= 2)).all()
    assert ((oracle.trees == 0).sum(axis=1) == 1).all()
    assert found.log_partition == pytest.approx(oracle.log_z, rel=1e-12)
    np.testing.assert_allclose(found.marginals(), oracle.marginals(), rtol=0, atol=1e-12)
    assert found.argmax().tolist() == oracle.trees[oracle.log_probs.argmax()].tolist()


@pytest.mark.parametrize("space", [SINGLE_ROOT, PROJECTIVE], ids=str)
def test_the_question_is_answered_by_kernels_and_alone(space, defined, graphs):
    """Against enumeration, of sentences of several lengths; the last leaves the range of float64."""
    words, out, left = np.array([2, 4, 3, 4]), np.zeros(4), []
    scores = [graphs.gaussian(n, seed=n) for n in words]
    scores[3][[1, 2], [2, 1]] += 2000.0  # words that choose each other
    lengths_of = [abs(np.subtract.outer(range(n + 1), range(n + 1))) for n in words]

    def alone(b, distribution):
        left.append(b)
        out[b] = (distribution.marginals() * lengths_of[b]).sum()

    batch = TreeBatch(np.concatenate([each.ravel() for each in scores]), words, space, side_by_side=False)
    log_z = batch.ask(defined("lengths_into")(out), alone).total
    oracles = [Oracle(TreeDistribution(each, space=space)) for each in scores]
    np.testing.assert_allclose(log_z, [each.log_z for each in oracles], rtol=1e-12)
    expected = [(each.marginals() * length).sum() for each, length in zip(oracles, lengths_of, strict=True)]
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    assert left == [3]


def test_the_container_reads_what_numpy_reads(defined, graphs, tmp_path, monkeypatch):
    container, scores = defined("CSV"), graphs.gaussian(3)
    monkeypatch.setattr(CONTAINERS, "_entries", {**CONTAINERS._entries, container.name: container})
    np.savetxt(tmp_path / "s.csv", scores, delimiter=",", fmt="%.17g")
    with open_scores(str(tmp_path / "s.csv")) as file:
        (found,) = file.read(ReadSpec())
    assert (found.scores == scores).all()


@pytest.mark.slow("process")
def test_the_rules_are_found_broken(tmp_path):
    (tmp_path / "mine.toml").write_text(worked("toml", "at-most-one"))
    words = [("dog", 2, "obj"), ("gave", 0, "root"), ("him", 2, "iobj"), ("her", 2, "iobj"), ("the", 1, "det")]
    rows = [f"{i}\t{form}" + 4 * "\t_" + f"\t{head}\t{label}\t_\t_\n" for i, (form, head, label) in enumerate(words, 1)]
    (tmp_path / "trees.conllu").write_text("".join(rows) + "\n")
    line = [sys.executable, "-m", "deptree_cli", "check", "trees.conllu", "--rules", "mine.toml", "-q", "--json"]
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert len(ran.stdout.splitlines()) == 2
    assert "determiners come first" in ran.stdout


def test_the_command_writes_rows(defined, capfd):
    """Expected lengths, which lie between 1 and the number of words."""
    given = [str(DATA / "scores.npz"), "--from", "natasha", "--json", "-q"]
    assert defined("lengths").main(given, standalone_mode=False) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert len(rows) == 8
    assert all(1 < row["length"] < 10 for row in rows)


def test_links_and_paths_lead_somewhere():
    paths = re.findall(r"`((?:deptree_cli|tests|docs)/[\w/]+(?:\.py)?/?)`", PAGE) + re.findall(r"\]\(([^)#]+)", PAGE)
    inner = re.findall(r"`((?:core|io|cli|commands)/(?!NAME)[\w/]+(?:\.py|\.toml|/))`", PAGE)
    found = [ROOT / path for path in paths] + [ROOT / "deptree_cli" / path for path in inner]
    assert len(found) >= 12
    assert [path for path in found if not path.exists()] == []
