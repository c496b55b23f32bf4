"""The page's probabilities are those of the library: exact, given heads too, however peaked the scores are."""

from __future__ import annotations

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from tests.io.pages.scripts import needs_node, run

pytestmark = needs_node

MATHEMATICS = ["sums.js", "sampling.js"]

WEIGHTS = """const weights = (each) => Float64Array.from(each.rows.flat(), (x) => x === null ? -Infinity : x);"""


def rows(log_scores: np.ndarray) -> list[list[float | None]]:
    """A row for each word with a column for each head, as the page has it."""
    found = log_scores.T.copy()
    np.fill_diagonal(found, -np.inf)
    found[0] = -np.inf
    return [[float(x) if np.isfinite(x) else None for x in row] for row in found]


def case(n: int, scale: float, single_root: bool, seed: int, forbidden: float = 0.0) -> tuple[dict, TreeDistribution]:
    """Random scores, two heads given that some tree has, and the library's distribution under them."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, scale, (n + 1, n + 1)).astype(np.float32).astype(float)
    kept = TreeDistribution(scores, "log", single_root=single_root).sample(1, seed=seed)[0]
    drop = rng.random(scores.shape) < forbidden
    drop[kept, np.arange(1, n + 1)] = False
    scores[drop] = -np.inf
    distribution = TreeDistribution(scores, "log", single_root=single_root)
    given = [(word, int(kept[word - 1])) for word in (2, 3) if n > 3]
    heads = [dict(given).get(word) for word in range(1, n + 1)]
    under = distribution.given(heads) if given else distribution
    return {"n": n, "single": single_root, "given": given, "rows": rows(scores)}, under


def test_probabilities_given_heads_are_the_librarys():
    """Lengths up to 60, scores of standard deviation 1 to 1,000, one root or more, with forbidden arcs: to 1e-9."""
    cases = [
        case(n, scale, single_root, seed, forbidden)
        for seed, (n, scale) in enumerate([(1, 1), (2, 30), (5, 1), (5, 1000), (12, 10), (40, 1), (40, 300), (60, 30)])
        for single_root in (True, False)
        for forbidden in (0.0, 0.6)
    ]
    sums = "const f = sumsOf(weights(each), each.n, each.single, each.given)"
    found = run(
        MATHEMATICS,
        f"value.map((each) => {{ {WEIGHTS} {sums}; "
        "return [[...f.probs], f.logZ, entropyOf(withHeads(weights(each), each.n, each.given), each.n, f)]; })",
        [given for given, _ in cases],
    )
    for (probs, log_z, entropy), (given, under) in zip(found, cases, strict=True):
        n = given["n"]
        np.testing.assert_allclose(np.array(probs).reshape(n + 1, n + 1).T, under.marginals(), rtol=0, atol=1e-9)
        assert log_z == pytest.approx(under.log_partition, rel=1e-12, abs=1e-9)
        assert entropy == pytest.approx(under.entropy(), abs=1e-8)


def test_impossible_conditions_are_told():
    """Two words that head each other, and two roots where there may be one; with several roots these are possible."""
    full = {"n": 3, "rows": rows(np.zeros((4, 4)))}
    conditions = [([(1, 2), (2, 1)], True), ([(1, 0), (2, 0)], True), ([(1, 0), (2, 0)], False), ([(1, 2)], True)]
    value = [{**full, "given": given, "single": single} for given, single in conditions]
    expression = (
        f"value.map((each) => {{ {WEIGHTS} return sumsOf(weights(each), each.n, each.single, each.given) !== null; }})"
    )
    assert run(MATHEMATICS, expression, value) == [False, False, True, True]


def test_samples_are_drawn_from_the_distribution():
    """3,000 trees of 4 words against the probabilities of arcs: each within 4.5 standard errors (20 arcs, p < 2e-4)."""
    given, under = case(4, 1.5, True, 3)
    given["given"] = []
    distribution = TreeDistribution(under.log_scores, "log")
    uniform = "let state = 1; const random = () => (state = (state * 48271) % 2147483647) / 2147483647;"
    given["rows"] = rows(distribution.log_scores)
    expression = (
        f"(() => {{ {WEIGHTS} {uniform} const w = weights(value); "
        "return Array.from({length: 3000}, () => sampleTree(w, value.n, true, new Map(), random)); })()"
    )
    trees = np.array(run(MATHEMATICS, expression, given))
    assert np.isfinite(distribution.tree_log_probs(trees)).all()
    counts = np.zeros((5, 5))
    np.add.at(counts, (trees, np.arange(1, 5)), 1)
    p = distribution.marginals()
    error = np.sqrt(p * (1 - p) / 3000) + 1e-9
    assert (np.abs(counts / 3000 - p) < 4.5 * error).all()


@pytest.mark.slow("size")
def test_every_script_is_javascript():
    import subprocess

    from deptree_cli.io.pages import SCRIPTS as ORDER
    from tests.io.pages.scripts import SCRIPTS

    assert sorted(ORDER) == sorted(each.name for each in SCRIPTS.iterdir())
    for name in ORDER:
        text = (SCRIPTS / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 300, name
        assert "innerHTML" not in text, name
        checked = subprocess.run(["node", "--check", "-"], input=text, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
