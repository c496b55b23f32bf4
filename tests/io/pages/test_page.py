"""The page is one file that asks the network for nothing, and what a treebank has is text in it, never markup."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256

import numpy as np
import pytest

from deptree_cli.core.spaces import PROJECTIVE, SINGLE_ROOT
from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.chunks import Chunk
from deptree_cli.io.pages.packing import NEGLIGIBLE, packed
from deptree_cli.io.pages.page import Report, to_html
from deptree_cli.io.scores.presets import layout
from deptree_cli.io.scores.record import Record
from deptree_cli.io.scores.records import Interpretation
from tests.io.pages.scripts import needs_node, run

EVIL = "</script><script>alert(1)</script><!--"


def sentence(text: str, scores: np.ndarray, space=SINGLE_ROOT):
    record = Record("s", 1, scores, Block(Chunk(text.encode(), 1), "x.conllu"), "x.npy")
    read = layout(None, "head-dep", "first", "log")
    return Interpretation(read, read, space=space)(record)


def data_of(page: bytes) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.decode(), re.S)[1])


def rows(*words: str, head: int = 0) -> str:
    lines = [f"{i}\t{word}\t_\tX\t_\t_\t{0 if i == 1 else 1}\t{word}\t_\t_\n" for i, word in enumerate(words, 1)]
    return f"# sent_id = {words[0]}\n# text = {' '.join(words)}\n{''.join(lines)}\n"


@pytest.fixture
def page() -> bytes:
    text = rows(EVIL, "&amp;\u2028{{script}}")
    return to_html(
        Report(f"{EVIL} {{{{data}}}}", EVIL, [packed(sentence(text, np.zeros((3, 3))), None, False)], 1, True)
    )


def test_text_is_data_whatever_it_is(page):
    assert data_of(page)["conllu"] == [rows(EVIL, "&amp;\u2028{{script}}")]
    assert page.count(b"<script") == page.count(b"</script") == 2
    assert b"<!--" not in page
    assert b"alert(1)</script" not in page
    assert "\u2028" not in page.decode()


def test_the_policy_admits_the_pages_own_script_and_style_alone(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.decode())[1]
    assert policy.startswith("default-src 'none'; ")
    for element, name in (("script", "script"), ("style", "style")):
        (text,) = re.findall(rf"<{element}>(.*?)</{element}>", page.decode(), re.S)
        assert f"{name}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert not re.search(rb"""(src|href)=["']?(https?:|//)""", page)


@needs_node
def test_numbers_come_out_as_they_went_in():
    """Scores to float32's digits, less a constant of each word; what is left out is improbable, or forbidden."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 10, (7, 7)) + 1e5 * rng.normal(0, 1, 7)
    scores[2, 3] = -np.inf
    given = sentence(rows(*"abcdef"), scores)
    found = packed(given, None, False)
    data = data_of(to_html(Report("t", "s", [found], 1, True)))
    names = ["numbers.js", "data.js", "sums.js"]
    read = "(() => { const s = readSentences(value)[0], w = numbersOf(s); "
    numbers, probs = run(
        names,
        f"{read} return [[...w].map((x) => x === -Infinity ? null : x), [...sumsOf(w, s.n, true).probs]]; }})()",
        data,
    )
    numbers = np.array([np.nan if x is None else x for x in numbers]).reshape(7, 7).T
    marginals = given.distribution.marginals()
    kept = ~np.isnan(numbers)
    assert (marginals[~kept] < NEGLIGIBLE).all()
    assert not kept[2, 3]
    best = found.best
    expected = scores[:, 1:] - scores[best, np.arange(1, 7)]
    np.testing.assert_allclose(numbers[:, 1:][kept[:, 1:]], expected[kept[:, 1:]], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.array(probs).reshape(7, 7).T, marginals, atol=1e-5)


def test_what_the_page_does_not_compute_are_probabilities():
    given = sentence(rows(*"abc"), np.random.default_rng(0).normal(0, 1, (4, 4)), PROJECTIVE)
    found = packed(given, None, False)
    assert not found.computes
    np.testing.assert_allclose(found.numbers, given.distribution.marginals()[:, 1:][found.mask])
    assert found.facts[2] == 1.0


def test_a_head_that_is_missing_is_the_most_probable_trees_and_an_impossible_one_has_no_probability():
    scores = np.zeros((3, 3))
    scores[1, 2] = -np.inf
    text = rows("a", "b").replace("\t1\tb", "\t_\tb")
    found = packed(sentence(text, scores), None, True)
    assert found.gold.tolist() == [0, 0xFFFF]
    impossible = packed(sentence(rows("a", "b"), scores), None, False)
    assert impossible.facts[1] == -np.inf
    assert impossible.doubt == pytest.approx(2)
    json.loads(json.dumps(data_of(to_html(Report("t", "s", [impossible], 1, True)))))
    assert np.isneginf(
        np.frombuffer(b64decode(data_of(to_html(Report("t", "s", [impossible], 1, True)))["arrays"]["facts"]), "<f8")[1]
    )
