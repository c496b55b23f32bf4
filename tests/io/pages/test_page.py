"""The page is one file that asks the network for nothing, and what a treebank has is text in it, never markup."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from hashlib import sha256

import numpy as np
import pytest

from deptree_cli.core.spaces import PROJECTIVE, SINGLE_ROOT
from deptree_cli.io.conllu.blocks import Block, Chunk
from deptree_cli.io.pages import MostDoubtful, Report, for_page, to_html
from deptree_cli.io.scores.layout import layout
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.sentence import Sentence
from tests.io.pages.scripts import needs_node, run

EVIL = "</script><script>alert(1)</script><!--"


def sentence(text: str, scores: np.ndarray, space=SINGLE_ROOT):
    block = Block(Chunk(text.encode(), 1), "x.conllu")
    record = Sentence("s", 1, block.n, "x.npy", block, scores)
    read = layout("head-dep,first,log")
    return Interpretation(read, space=space)(record)


def data_of(page: bytes) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.decode(), re.S)[1])


def rows(*words: str, head: int = 0) -> str:
    lines = [f"{i}\t{word}\t_\tX\t_\t_\t{0 if i == 1 else 1}\t{word}\t_\t_\n" for i, word in enumerate(words, 1)]
    return f"# sent_id = {words[0]}\n# text = {' '.join(words)}\n{''.join(lines)}\n"


def tree_of(heads: list[int]) -> str:
    lines = [f"{i}\tw\t_\tX\t_\t_\t{head}\tx\t_\t_\n" for i, head in enumerate(heads, 1)]
    return f"# sent_id = s\n{''.join(lines)}\n"


def random_heads(n: int, rng: np.random.Generator) -> list[int]:
    order = [0, *(1 + rng.permutation(n)).tolist()]
    return [order[rng.integers(min(place - 1, 1), place)] for place in map(order.index, range(1, n + 1))]


def html_of(sentences, title: str = "t", signature: str = "s") -> bytes:
    shown = MostDoubtful(len(sentences))
    for each in sentences:
        shown.add(each)
    return to_html(Report(title, SINGLE_ROOT), signature, shown)


@pytest.fixture
def page() -> bytes:
    text = rows(EVIL, "&amp;\u2028{{script}}")
    return html_of([for_page(sentence(text, np.zeros((3, 3))), None, False)], f"{EVIL} {{{{data}}}}", EVIL)


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
    """Scores to float32's digits, less a constant of each word; what is left out is forbidden."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 10, (7, 7)) + 1e5 * rng.normal(0, 1, 7)
    scores[2, 3] = -np.inf
    given = sentence(rows(*"abcdef"), scores)
    found = for_page(given, None, False)
    data = data_of(html_of([found]))
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
    assert (kept == np.isfinite(given.distribution.log_scores)).all()
    assert not kept[2, 3]
    best = found.packed().arrays["best"]
    expected = scores[:, 1:] - scores[best, np.arange(1, 7)]
    np.testing.assert_allclose(numbers[:, 1:][kept[:, 1:]], expected[kept[:, 1:]], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.array(probs).reshape(7, 7).T, marginals, atol=1e-5)


@needs_node
def test_given_an_arc_of_the_tree_shown_however_improbable_the_pages_probabilities_are_the_librarys():
    """Each arc of trees of probability down to 1e-40, as if it were clicked: what other arcs need was packed."""
    chain = np.full((4, 4), -np.inf)
    chain[[0, 1, 2, 0, 0, 1, 2, 3, 3], [1, 2, 3, 2, 3, 3, 1, 1, 2]] = [0, 0, 0, -40, -60, -5, -2, -50, -70]
    scores = [chain, *(np.random.default_rng(seed).normal(0, 25, (8, 8)) for seed in range(4))]
    trees = [[2, 3, 0], *(random_heads(7, np.random.default_rng(seed)) for seed in range(4))]
    given = [sentence(tree_of(heads), each) for heads, each in zip(trees, scores, strict=True)]
    found = [for_page(each, None, False) for each in given]
    packed = [each.packed().arrays for each in found]
    assert any(each["facts"][1] < -90 for each in packed)
    clicked = "sumsOf(numbersOf(s), s.n, true, [[word, s.tree[word - 1]]])"
    expression = (
        "readSentences(value).map((s) => Array.from({length: s.n}, (_, i) => i + 1)"
        f".map((word) => {{ const found = {clicked}; return found && [...found.probs]; }}))"
    )
    data = data_of(html_of(found))
    pages = run(["numbers.js", "data.js", "sums.js"], expression, data)
    for one, shown, probs in zip(given, packed, pages, strict=True):
        n = one.distribution.n
        for word, head in enumerate(shown["trees"].tolist(), 1):
            under = one.distribution.given([head if other == word else None for other in range(1, n + 1)])
            page = np.array(probs[word - 1]).reshape(n + 1, n + 1).T
            np.testing.assert_allclose(page, under.marginals(), rtol=0, atol=1e-5)


def test_what_the_page_does_not_compute_are_probabilities():
    given = sentence(rows(*"abc"), np.random.default_rng(0).normal(0, 1, (4, 4)), PROJECTIVE)
    found = for_page(given, None, False).packed().arrays
    assert not found["computes"]
    mask = np.unpackbits(found["masks"], count=12).reshape(4, 3) > 0
    np.testing.assert_allclose(found["numbers"], given.distribution.marginals()[:, 1:][mask], rtol=1e-6)
    assert found["facts"][2] == 1.0


def test_a_head_that_is_missing_is_the_most_probable_trees_and_an_impossible_one_has_no_probability():
    scores = np.zeros((3, 3))
    scores[1, 2] = -np.inf
    text = rows("a", "b").replace("\t1\tb", "\t_\tb")
    found = for_page(sentence(text, scores), None, True)
    assert found.packed().arrays["gold"].tolist() == [0, 0xFFFF]
    impossible = for_page(sentence(rows("a", "b"), scores), None, False)
    assert impossible.errors == pytest.approx(2)
    json.loads(json.dumps(data_of(html_of([impossible]))))
    facts = data_of(html_of([impossible]))["arrays"]["facts"]
    assert np.isneginf(np.frombuffer(b64decode(facts), "<f8")[1])


@needs_node
def test_the_number_before_a_right_to_left_word_stays_before_it_whatever_follows():
    value = {"forms": ["كبير", "big", "גדול"]}
    assert run(["data.js", "words.js"], "[0, 1, 2, 3].map((head) => headName(value, head))", value) == [
        "ROOT",
        "1 كبير\u200e",
        "2 big",
        "3 גדול\u200e",
    ]


@needs_node
def test_a_repaired_word_says_what_it_was():
    """By the entries of MISC that `deptree repair` writes; markup is text, and what is no such entry says nothing."""
    value = ["_", "SpaceAfter=No|OldHead=5", "OldHead=99|OldDeprel=obl|A=b", "OldDeprel=<b>", "GoldHead=3|NotOldHead=4"]
    told = run(["data.js"], "value.map(beforeRepair)", value)
    assert told == ["", "head 5", "head 99, obl", "<b>", ""]
