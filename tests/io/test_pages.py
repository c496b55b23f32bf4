"""The page of a report: one file that asks the network for nothing, whose scripts compute what the library does."""

from __future__ import annotations

import json
import re
import subprocess
from base64 import b64decode, b64encode
from hashlib import sha256

import numpy as np
import pytest

from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.spaces import PROJECTIVE, SINGLE_ROOT
from deptree_cli.io.checking import Asked
from deptree_cli.io.conllu.blocks import Block, Chunk
from deptree_cli.io.conllu.columns import COLUMNS
from deptree_cli.io.pages import SCRIPTS as ORDER
from deptree_cli.io.pages import MostDoubtful, Report, for_page, for_page_of_tree, to_html
from deptree_cli.io.rules.constraints import Constraints
from deptree_cli.io.rules.reading import read_rules
from deptree_cli.io.scores.layout import layout
from deptree_cli.io.scores.records import Interpretation
from deptree_cli.io.sentence import Sentence
from tests.io.scripts import SCRIPTS, needs_node, run
from tests.tree_files import tree_text
from tests.tree_files import word as row_of

EVIL = "</script><script>alert(1)</script><!--"


def sentence(text: str, scores: np.ndarray, space=SINGLE_ROOT):
    block = Block(Chunk(text.encode(), 1), "x.conllu")
    record = Sentence("s", 1, block.n, "x.npy", block, scores)
    return Interpretation(layout("head-dep,first,log"), space=space)(record)


def data_of(page: bytes) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.decode(), re.S)[1])


def words(*forms: str) -> str:
    rows = [row_of(i, form, 0 if i == 1 else 1, form) for i, form in enumerate(forms, 1)]
    return f"# sent_id = {forms[0]}\n# text = {' '.join(forms)}\n{''.join(rows)}\n"


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
    text = words(EVIL, "&amp;\u2028{{script}}")
    return html_of([for_page(sentence(text, np.zeros((3, 3))), None, False)], f"{EVIL} {{{{data}}}}", EVIL)


def test_text_is_data_whatever_it_is(page):
    assert data_of(page)["conllu"] == [words(EVIL, "&amp;\u2028{{script}}")]
    assert page.count(b"<script") == page.count(b"</script") == 2
    assert b"<!--" not in page
    assert b"alert(1)</script" not in page
    assert "\u2028" not in page.decode()


def test_the_policy_admits_the_pages_own_script_and_style_alone(page):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page.decode())[1]
    assert policy.startswith("default-src 'none'; ")
    for name in ("script", "style"):
        (text,) = re.findall(rf"<{name}>(.*?)</{name}>", page.decode(), re.S)
        assert f"{name}-src 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" in policy
    assert not re.search(rb"""(src|href)=["']?(https?:|//)""", page)


@needs_node
def test_numbers_come_out_as_they_went_in():
    """Scores to float32's digits, less a constant of each word; what is left out is forbidden."""
    rng = np.random.default_rng(0)
    scores = rng.normal(0, 10, (7, 7)) + 1e5 * rng.normal(0, 1, 7)
    scores[2, 3] = -np.inf
    given = sentence(words(*"abcdef"), scores)
    found = for_page(given, None, False)
    expression = (
        "(() => { const s = readSentences(value)[0], w = numbersOf(s); return "
        "[[...w].map((x) => x === -Infinity ? null : x), [...sumsOf(w, s.n, true).probs]]; })()"
    )
    numbers, probs = run(["numbers.js", "data.js", "sums.js"], expression, data_of(html_of([found])))
    numbers = np.array([np.nan if x is None else x for x in numbers]).reshape(7, 7).T
    kept = ~np.isnan(numbers)
    assert (kept == np.isfinite(given.distribution.log_scores)).all()
    assert not kept[2, 3]
    expected = scores[:, 1:] - scores[found.packed().arrays["best"], np.arange(1, 7)]
    np.testing.assert_allclose(numbers[:, 1:][kept[:, 1:]], expected[kept[:, 1:]], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(np.array(probs).reshape(7, 7).T, given.distribution.marginals(), atol=1e-5)


@needs_node
def test_given_an_arc_of_the_tree_shown_however_improbable_the_pages_probabilities_are_the_librarys():
    """Each arc of trees of probability down to 1e-40, as if it were clicked: what other arcs need was packed."""
    chain = np.full((4, 4), -np.inf)
    chain[[0, 1, 2, 0, 0, 1, 2, 3, 3], [1, 2, 3, 2, 3, 3, 1, 1, 2]] = [0, 0, 0, -40, -60, -5, -2, -50, -70]
    scores = [chain, *(np.random.default_rng(seed).normal(0, 25, (8, 8)) for seed in range(4))]
    trees = [[2, 3, 0], *(random_heads(7, np.random.default_rng(seed)) for seed in range(4))]
    given = [sentence(tree_text(heads, "x" * len(heads)), each) for heads, each in zip(trees, scores, strict=True)]
    found = [for_page(each, None, False) for each in given]
    packed = [each.packed().arrays for each in found]
    assert any(each["facts"][1] < -90 for each in packed)
    expression = (
        "readSentences(value).map((s) => Array.from({length: s.n}, (_, i) => i + 1).map((word) => { const found = "
        "sumsOf(numbersOf(s), s.n, true, [[word, s.tree[word - 1]]]); return found && [...found.probs]; }))"
    )
    pages = run(["numbers.js", "data.js", "sums.js"], expression, data_of(html_of(found)))
    for one, shown, probs in zip(given, packed, pages, strict=True):
        n = one.distribution.n
        for word, head in enumerate(shown["trees"].tolist(), 1):
            under = one.distribution.given([head if other == word else None for other in range(1, n + 1)])
            page = np.array(probs[word - 1]).reshape(n + 1, n + 1).T
            np.testing.assert_allclose(page, under.marginals(), rtol=0, atol=1e-5)


def test_what_the_page_does_not_compute_are_probabilities():
    given = sentence(words(*"abc"), np.random.default_rng(0).normal(0, 1, (4, 4)), PROJECTIVE)
    found = for_page(given, None, False).packed().arrays
    assert not found["computes"]
    mask = np.unpackbits(found["masks"], count=12).reshape(4, 3) > 0
    np.testing.assert_allclose(found["numbers"], given.distribution.marginals()[:, 1:][mask], rtol=1e-6)
    assert found["facts"][2] == 1.0


def test_a_head_that_is_missing_is_the_most_probable_trees_and_an_impossible_one_has_no_probability():
    scores = np.zeros((3, 3))
    scores[1, 2] = -np.inf
    found = for_page(sentence(words("a", "b").replace("\t1\tb", "\t_\tb"), scores), None, True)
    assert found.packed().arrays["gold"].tolist() == [0, 0xFFFF]
    impossible = for_page(sentence(words("a", "b"), scores), None, False)
    assert impossible.errors == pytest.approx(2)
    facts = data_of(html_of([impossible]))["arrays"]["facts"]
    assert np.isneginf(np.frombuffer(b64decode(facts), "<f8")[1])


@needs_node
def test_names_of_heads_and_what_a_repaired_word_was():
    """A number stays before a right-to-left word, whatever follows; of MISC what `deptree repair` writes is told."""
    names = run(
        ["data.js", "words.js"], "[0, 1, 2, 3].map((i) => headName(value, i))", {"forms": ["كبير", "big", "גדול"]}
    )
    assert names == ["ROOT", "1 كبير\u200e", "2 big", "3 גדול\u200e"]
    value = ["_", "SpaceAfter=No|OldHead=5", "OldHead=99|OldDeprel=obl|A=b", "OldDeprel=<b>", "GoldHead=3|NotOldHead=4"]
    assert run(["data.js"], "value.map(beforeRepair)", value) == ["", "head 5", "head 99, obl", "<b>", ""]


@needs_node
def test_without_scores_arcs_are_certain_and_heads_that_are_no_words_are_missing():
    text = words("a", "b", "c").replace("\t1\tb", "\t_\tb").replace("\t1\tc", "\t3\tc")
    block = Block(Chunk(text.encode(), 1), "x.conllu", any_heads=True)
    asked = Asked(Constraints("tree", read_rules("tree")), None)
    page = for_page_of_tree(asked(Sentence("s", 1, block.n, "x.conllu", block)))
    assert page.errors == 2
    shown = MostDoubtful(1)
    shown.add(page)
    data = data_of(to_html(Report("t", SINGLE_ROOT, has_rules=True, has_scores=False), "s", shown))
    expression = (
        "(() => { const s = readSentences(value)[0], arcs = arcsOf(numbersOf(s), s.n, s.tree, null); return [arcs, "
        "[1, 2, 3].map((word) => treeHead(s, word)), [1, 2, 3].map((word) => brokenNote(s, word)), "
        "arcs.map((arc) => isBroken(s, arc)), brokenRules([s, s]), sortsOf(value).map((sort) => sort.name)]; })()"
    )
    names = ["numbers.js", "data.js", "choice.js", "rules.js", "sorts.js", "words.js", "caption.js"]
    arcs, heads, notes, broken, rules, sorts = run(names, expression, data)
    assert arcs == [{"head": h, "dependent": d, "weight": 1, "kind": "tree"} for h, d in ((0, 1), (3, 3))]
    assert heads == ["ROOT", "_ (no word)", "3 c"]
    assert notes == ["", "invalid-head at 2 b", "head-self-loop at 3 c"]
    assert broken == [False, True]
    assert rules == [["invalid-head", "invalid-head (2)"], ["head-self-loop", "head-self-loop (2)"]]
    assert sorts == ["rules", "length", "file"]


@needs_node
def test_words_of_a_place_need_be_no_words():
    """Of an empty node, of a token that ends beyond the sentence, and of very many words the first ones."""
    places = [["x", "2.1", [2]], ["x", 1, [1, 9]], ["x", 1, [*range(1, 12)]], ["x", "0.1", [0]]]
    expression = "value.places.map((place) => placeName(value, place))"
    told = run(["data.js", "words.js", "rules.js"], expression, {"forms": ["a", "b"], "places": places})
    many = "x at 1 a with 2 b, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert told == ["x at 2.1", "x at 1 a with 9", many, "x at 0.1"]


STALE = {"comments": ["tree_logprob"], "prefix": "swor_", "misc": ["HeadProb", "Doubt", "DoubtNote"]}
CONLLU = (
    "# sent_id = s\r\n# swor_rank = 1\r\n# tree_logprob = -1\r\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\r\n"
    "1\ta\t_\tX\t_\t_\t2\tdet\t2:det\tHeadProb=.5|A=B=C\r\n1.1\te\t_\t_\t_\t_\t_\t_\t0:root\t_\r\n"
    "2\tb\t_\tX\t_\t_\t0\troot\t0:root\t_\r\n\r\n"
)
SHOWN = {"index": 0, "id": "s", "n": 2, "forms": ["a", "b"], "tree": [2, 0], "annotated": [True, True]}
SHOWN |= {"conllu": CONLLU, "columns": COLUMNS}
PLUS = "# global.columns = ID MISC X:Y HEAD DEPREL\n1\tDoubtNote=no\t=HYPERLINK()|*\t2\tdet\n2\t_\t_\t0\troot\n\n"


@needs_node
@pytest.mark.parametrize(
    ("marks", "fields", "expected"),
    [
        ([], {}, CONLLU),
        (
            [[1, {"verdict": "ambiguous", "note": "this|that"}]],
            *({}, CONLLU.replace("A=B=C", "A=B=C|DoubtNote=ambiguous: this/that")),
        ),
        (
            [[1, {"verdict": "wrong", "head": 0}], [2, {"head": 1, "label": "obj"}]],
            {},
            "# sent_id = s\r\n1-2\tab\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\r\n"
            "1\ta\t_\tX\t_\t_\t0\troot\t_\tA=B=C|DoubtNote=wrong\r\n2\tb\t_\tX\t_\t_\t1\tobj\t_\t_\r\n\r\n",
        ),
        (
            [[1, {"verdict": "fine", "head": 0}], [2, {"head": 1, "label": "obj"}]],
            {"conllu": PLUS, "columns": ["id", "misc", "x:y", "head", "deprel"]},
            "# global.columns = ID MISC X:Y HEAD DEPREL\n"
            "1\tDoubtNote=fine\t=HYPERLINK()|*\t0\troot\n2\t_\t_\t1\tobj\n\n",
        ),
    ],
    ids=["none", "verdict", "heads", "columns"],
)
def test_marks_change_what_they_are_about_and_nothing_else(marks: list, fields: dict, expected: str):
    """A chosen head drops what was true of the old tree; of columns that marks change nothing in none is added."""
    value = {"marks": marks, "sentence": SHOWN | fields, "stale": STALE}
    expression = "marksAsConllu([value.sentence], { in: () => value.marks }, value.stale)"
    assert run(["data.js", "marks.js"], expression, value) == expected


@needs_node
def test_to_choose_the_head_that_a_word_has_is_no_mark():
    """Where the CoNLL-U has none it is one, and is written: the head shown is the most probable tree's."""
    bare = {**SHOWN, "annotated": [False, True], "conllu": CONLLU.replace("\t2\tdet", "\t_\tdet")}
    expression = (
        "value.sentences.map((s) => { const marks = new Marks('key'); marks.set(s, 1, {head: s.tree[0]});"
        " marks.set(s, 2, {verdict: 'fine', head: s.tree[1]});"
        " return [marks.in(s), marksAsConllu([s], marks, value.stale)]; })"
    )
    value = {"sentences": [SHOWN, bare], "stale": STALE}
    (marks, _), (of_bare, written) = run(["data.js", "marks.js"], expression, value)
    assert marks == [[2, {"verdict": "fine"}]]
    assert of_bare == [[1, {"head": 2}], [2, {"verdict": "fine"}]]
    assert "1\ta\t_\tX\t_\t_\t2\tdet\t_\tA=B=C\r\n" in written


MATHEMATICS = ["sums.js", "sampling.js"]
WEIGHTS = "const weights = (each) => Float64Array.from(each.rows.flat(), (x) => x === null ? -Infinity : x);"


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


@needs_node
def test_probabilities_given_heads_are_the_librarys():
    """Lengths up to 60, scores of standard deviation 1 to 1,000, one root or more, with forbidden arcs: to 1e-9."""
    cases = [
        case(n, scale, single_root, seed, forbidden)
        for seed, (n, scale) in enumerate([(1, 1), (2, 30), (5, 1), (5, 1000), (12, 10), (40, 1), (40, 300), (60, 30)])
        for single_root in (True, False)
        for forbidden in (0.0, 0.6)
    ]
    expression = (
        f"value.map((each) => {{ {WEIGHTS} const f = sumsOf(weights(each), each.n, each.single, each.given); "
        "return [[...f.probs], f.logZ, entropyOf(withHeads(weights(each), each.n, each.given), each.n, f)]; })"
    )
    found = run(MATHEMATICS, expression, [given for given, _ in cases])
    for (probs, log_z, entropy), (given, under) in zip(found, cases, strict=True):
        n = given["n"]
        np.testing.assert_allclose(np.array(probs).reshape(n + 1, n + 1).T, under.marginals(), rtol=0, atol=1e-9)
        assert log_z == pytest.approx(under.log_partition, rel=1e-12, abs=1e-9)
        assert entropy == pytest.approx(under.entropy(), abs=1e-8)


@needs_node
def test_impossible_conditions_are_told():
    """Two words that head each other, and two roots where there may be one; with several roots these are possible."""
    conditions = [([(1, 2), (2, 1)], True), ([(1, 0), (2, 0)], True), ([(1, 0), (2, 0)], False), ([(1, 2)], True)]
    full = rows(np.zeros((4, 4)))
    value = [{"n": 3, "rows": full, "given": given, "single": single} for given, single in conditions]
    sums = "sumsOf(weights(each), each.n, each.single, each.given)"
    told = run(MATHEMATICS, f"value.map((each) => {{ {WEIGHTS} return {sums} !== null; }})", value)
    assert told == [False, False, True, True]


@needs_node
def test_samples_are_drawn_from_the_distribution():
    """3,000 trees of 4 words against the probabilities of arcs: each within 4.5 standard errors (20 arcs, p < 2e-4)."""
    distribution = TreeDistribution(case(4, 1.5, True, 3)[1].log_scores, "log")
    uniform = "let state = 1; const random = () => (state = (state * 48271) % 2147483647) / 2147483647;"
    expression = (
        f"(() => {{ {WEIGHTS} {uniform} const w = weights(value); "
        "return Array.from({length: 3000}, () => sampleTree(w, value.n, true, new Map(), random)); })()"
    )
    trees = np.array(run(MATHEMATICS, expression, {"n": 4, "rows": rows(distribution.log_scores)}))
    assert np.isfinite(distribution.tree_log_probs(trees)).all()
    counts = np.zeros((5, 5))
    np.add.at(counts, (trees, np.arange(1, 5)), 1)
    p = distribution.marginals()
    error = np.sqrt(p * (1 - p) / 3000) + 1e-9
    assert (np.abs(counts / 3000 - p) < 4.5 * error).all()


@needs_node
@pytest.mark.slow("size")
def test_every_script_is_javascript():
    assert sorted(ORDER) == sorted(each.name for each in SCRIPTS.iterdir())
    for name in ORDER:
        text = (SCRIPTS / name).read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 300, name
        assert "innerHTML" not in text, name
        checked = subprocess.run(["node", "--check", "-"], input=text, capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
