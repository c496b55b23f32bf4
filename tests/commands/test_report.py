"""``deptree show`` and ``deptree report``: which sentences and arcs, in which form, and what the page says of them."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.commands.sessions import hold_session
from tests.sample import DATA

GOLD = (DATA / "gold.conllu").read_text(encoding="utf-8")
SHOW = "show $SCORES --conllu $GOLD"
REPORT = "report $SCORES --conllu $GOLD"
SVG = "{http://www.w3.org/2000/svg}"


def arcs(svg: bytes, kind: str) -> dict[tuple[int, int], float]:
    """(head, dependent) -> opacity."""
    groups = [group for group in ElementTree.fromstring(svg).iter(f"{SVG}g") if group.get("class") == f"arc {kind}"]
    return {
        (int(group.get("data-head")), int(group.get("data-dependent"))): float(path.get("opacity"))
        for group in groups
        for path in group.iter(f"{SVG}path")
        if path.get("class") == "line"
    }


def words(svg: bytes) -> list[str]:
    texts = ElementTree.fromstring(svg).iter(f"{SVG}text")
    return [text.text for text in texts if text.get("class") == "word"]


def test_the_most_probable_tree_and_what_else_may_be(done) -> None:
    svg = done("show $SCORES $SENTENCES --sentence ru-1").out
    (row,) = (row for row in done("decode $SCORES").rows if row["sent_id"] == "ru-1")
    (probs,) = (row["marginals"] for row in done("marginals $SCORES").rows if row["sent_id"] == "ru-1")
    tree, others = arcs(svg, "tree"), arcs(svg, "other")
    best = {(head, word) for word, head in enumerate(row["heads"], 1)}
    likely = {(head, word) for word, heads in enumerate(probs, 1) for head, p in enumerate(heads) if p >= 0.01}
    assert (set(tree), set(others)) == (best, likely - best)
    assert others
    for (head, word), opacity in (tree | others).items():
        assert opacity == pytest.approx(probs[word - 1][head], rel=1e-3)


def test_a_tree_that_the_sentence_has_is_drawn_however_improbable(done, put) -> None:
    put("two.conllu", "1\ta\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    put("two.npy", np.array([[0, 9995.0, 5], [0, 0, 1], [0, 1, 0]]))
    ran = done("show two.npy --from head-dep --conllu two.conllu")
    assert arcs(ran.out, "tree") == {(2, 1): 0.0005, (0, 2): 0.0005}
    assert set(arcs(ran.out, "other")) == {(0, 1), (1, 2)}
    assert b">det &lt;.01<" in ran.out
    assert b"(tree of the CoNLL-U, probability 0.0005" in ran.out


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        ("21", b"heads of the CoNLL-U, which are not a tree here"),
        ("01", b"tree of the CoNLL-U, impossible by these scores"),
        ("_0", b"most probable tree, probability 1"),
    ],
)
def test_heads_that_no_parser_would_give(done, put, heads, said) -> None:
    put("two.conllu", "".join(f"{word}\ta\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1)) + "\n")
    put("two.npy", np.array([[0, 1.0, 1], [0, 0, 0], [0, 1, 0]]))
    assert said in done("show two.npy --from head-dep --conllu two.conllu").out


def test_labels_of_the_sentence_stand_on_its_arcs_only(done) -> None:
    svg = done(f"{SHOW} --sentence en-1").out.decode()
    assert "<title>saw -&gt; telescope (obl): 0.6512</title>" in svg
    assert "<title>man -&gt; telescope: 0.3485</title>" in svg


@pytest.mark.parametrize(("sentence", "first"), [("", "She"), ("--sentence 4", "Plants"), ("--sentence cs-2", "Jana")])
def test_which_sentence(done, sentence: str, first: str) -> None:
    assert words(done(f"{SHOW} {sentence}").out)[0] == first


def test_a_name_goes_before_a_number_and_words_without_sentences_are_numbers(done, put) -> None:
    rows = (f"# sent_id = {name}\n1\t{form}" + "\t_" * 8 + "\n\n" for name, form in ((7, "a"), (9, "b"), (1, "c")))
    put("named.conllu", "".join(rows))
    put("s.npy", np.ones((3, 2, 2)))
    shown = [
        words(done(f"show s.npy --from head-dep --conllu named.conllu --sentence {name}").out) for name in (7, 1, 2)
    ]
    assert shown == [["a"], ["c"], ["b"]]
    assert words(done("show $SCORES").out) == [str(number) for number in range(1, 9)]


def test_other_sentences_may_be_unusable(done, deptree, put) -> None:
    put("s.npz", {"bad": np.full((3, 3), np.nan), "good": np.ones((3, 3))})
    assert words(done("show s.npz --from head-dep --sentence good").out) == ["1", "2"]
    ran = deptree("show s.npz --from head-dep")
    assert (ran.code, "s.npz[bad]" in ran.err) == (2, True)
    assert deptree("show s.npz --from head-dep --on-error skip").code == 1
    put("s.npz", {"bad": np.full((3, 3), np.nan)})
    assert "there are no sentences to show" in deptree("report s.npz --from head-dep --on-error skip").err


def test_samples(done) -> None:
    line = "show $SCORES $SENTENCES --sentence ru-1 -k 50"
    ran = done(f"{line} --seed 7")
    drawn = [row["heads"] for row in done("sample $SCORES -k 50 --seed 7").rows if row["sent_id"] == "ru-1"]
    counts = Counter((head, word) for tree in drawn for word, head in enumerate(tree, 1))
    shown = arcs(ran.out, "tree") | arcs(ran.out, "other")
    assert shown == {ends: pytest.approx(count / 50) for ends, count in counts.items()}
    assert re.search(rb"<title>\S+ -&gt; \S+: \d+ of 50 samples, probability 0\.\d+</title>", ran.out)
    assert "|size:50|seed:" in done(line).signature
    assert done(f"{line} --seed 7").out == ran.out
    assert done(f"{line} --seed 8").out != ran.out


def test_a_threshold(done) -> None:
    found = [arcs(done(f"show $SCORES $SENTENCES --above {above}").out, "other") for above in (0.3, 0.4, 0)]
    assert (set(found[0]), found[1], len(found[2])) == ({(4, 7)}, {}, 8 * 7)


@pytest.mark.parametrize("columns", [80, 30])
def test_a_session_in_text(deptree, golden, columns: int) -> None:
    """Arcs stand above the words where there is room, else beside them."""
    hold_session(deptree, golden, f"show_{columns}.txt", columns)


def test_a_terminal_gets_text(terminal) -> None:
    code, shown = terminal("show", DATA / "scores.npz", "--from", "natasha", "--conllu", DATA / "gold.conllu")
    assert code == 0
    assert "▼" in shown
    assert "4 man 0.3485" in shown


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_on_a_terminal_unless_unwanted(shell, no_color, coloured) -> None:
    spawn = "python -c 'import pty, sys; pty.spawn(sys.argv[1:])'"
    show = "deptree show $DATA/scores.npz --from natasha -q --sentence en-1"
    ran = shell(f"TERM=xterm NO_COLOR={no_color} {spawn} {show} < /dev/null")
    assert "0.6512" in ran.out.decode()
    assert (b"\x1b[33m0.6512\x1b[0m" in ran.out) is coloured


def test_forms_by_the_suffix(done) -> None:
    for suffix in ("svg", "txt", "tex"):
        assert done(f"show $SCORES -o tree.{suffix}").out == b""
    assert Path("tree.svg").read_bytes() == done("show $SCORES").out
    assert Path("tree.txt").read_bytes() == done("show $SCORES --format text").out
    assert r"\depedge[" in Path("tree.tex").read_text(encoding="utf-8")


@pytest.mark.parametrize("form", ["svg", "text"])
def test_what_breaks_a_file_or_a_terminal_is_left_out(done, put, form: str) -> None:
    put("odd.conllu", '1\t<&"\x1b[31m\t_\t_\t_\t_\t0\ta\x1b[0m\t_\t_\n\n')
    put("one.npy", np.ones((2, 2)))
    assert b"\x1b" not in done(f"show one.npy --from head-dep --conllu odd.conllu --format {form}").out


@pytest.mark.parametrize("how", ["", "--format text", "-o x.tex"])
def test_a_word_that_heads_itself_is_drawn_without_a_warning(done, put, how) -> None:
    put("odd.conllu", GOLD.replace("\t4\tdet\t", "\t3\tdet\t", 1))
    assert done(f"show $SCORES --conllu odd.conllu --sentence en-1 -q {how}").err == ""


def test_a_session_of_what_is_refused(deptree, golden, tmp_path) -> None:
    hold_session(deptree, golden, "report.txt")
    assert not list(tmp_path.iterdir())


def data_of(page: bytes) -> dict:
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.decode(), re.S)[1])


def array(data: dict, name: str, dtype: str) -> np.ndarray:
    return np.frombuffer(b64decode(data["arrays"][name]), dtype)


def test_what_sentences_are_sorted_by_are_the_numbers_of_other_commands(done) -> None:
    data = data_of(done(REPORT).out)
    entropy, log_prob, projective, doubt, _ = array(data, "facts", "<f8").reshape(-1, 5).T
    assert entropy == pytest.approx([row["entropy"] for row in done("expect entropy $SCORES").rows])
    scored = done("score $DATA/scores.npz $GOLD --from natasha").rows
    assert log_prob == pytest.approx([row["log_prob"] for row in scored])
    assert len(projective) == len(data["ids"]) == 8
    probs = array(data, "treeProbs", "<u2") / 0xFFFF
    ends = np.cumsum(array(data, "lengths", "<u2"))
    assert doubt == pytest.approx([(1 - part).sum() for part in np.split(probs, ends)[:-1]], abs=1e-3)
    assert "".join(data["conllu"]) == GOLD
    ran = done(f"{REPORT} --top 3")  # the most doubtful in the order of the file
    assert "the page has the 3 most doubtful of 8 sentences: --top N for more or fewer" in ran.said[-1]
    kept = sorted(np.argsort(-doubt)[:3])
    assert (data_of(ran.out)["ids"], data_of(ran.out)["total"]) == ([data["ids"][place] for place in kept], 8)
    assert "most doubtful" not in done(f"{REPORT} --top 3 -q").err + done(f"{REPORT} --top 8").err


def places_of(data: dict) -> list[tuple]:
    places = zip(data["ids"], data["broken"], strict=True)
    return [(name, rule, word, words) for name, broken in places for rule, word, words, _ in broken]


def listed(rows: list[dict]) -> list[tuple]:
    return [(row["sent_id"], row["rule"], row["word"], row["words"]) for row in rows]


def test_rules_are_counted_and_change_no_probability(deptree, done, put) -> None:
    put("broken.conllu", GOLD.replace("\tobj\t", "\tnsubj\t", 1))
    line = "report $SCORES --conllu broken.conllu"
    plain, ruled = (data_of(done(line, *more).out) for more in ((), ("--rules", "ud")))
    assert plain["arrays"] == ruled["arrays"]
    assert not plain["hasRules"]
    assert not plain["broken"]
    assert places_of(ruled)
    assert places_of(ruled) == listed(deptree("check broken.conllu").rows)


# Heads that are no tree, a wrong tag, a token that ends nowhere, and a graph that ROOT does not lead to.
BAD = """# sent_id = bad-1
1-4\tabc\t_\t_\t_\t_\t_\t_\t_\t_
1\ta\ta\tNOUN\t_\t_\t2\tnsubj\t2:nsubj\t_
1.1\te\t_\t_\t_\t_\t_\t_\t1.1:x\t_
2\tb\tb\tVERV\t_\t_\t1\tobj\t0:root\t_
3\tc\tc\tNOUN\t_\t_\t9\tnsubj\t2:nsubj\t_

# sent_id = bad-2
1\ta\ta\tNOUN\t_\t_\t_\tnsubj\t_\t_
2\tb\tb\tVERB\t_\t_\t2\troot\t_\t_

"""


@pytest.mark.parametrize("rules", ["ud", "tree", "misc"])
def test_without_scores_the_page_has_what_check_lists(deptree, done, put, rules: str) -> None:
    put("bad.conllu", BAD)
    ran, checked = done(f"report bad.conllu $GOLD --rules {rules}"), deptree(f"check bad.conllu $GOLD --rules {rules}")
    data = data_of(ran.out)
    assert (data["hasScores"], data["hasRules"], len(data["ids"])) == (False, True, 10)
    assert (data["title"], "".join(data["conllu"])) == ("bad.conllu · gold.conllu", BAD + GOLD)
    found = {rule for _, rule, *_ in places_of(data)}
    assert found >= {"non-tree", "unknown-head", "word-interval-out", "deps-self-loop"}
    assert places_of(data) == listed(checked.rows)
    assert "rules are broken in 2 of 10 sentences, at" in ran.said[-1]
    assert ran.said[-1].startswith(checked.said[-1])
    # arcs are marked where an arc is wrong; heads that are no words are told apart
    by_arcs = {rule: of_arcs for broken in data["broken"] for rule, *_, of_arcs in broken}
    assert by_arcs["non-tree"]
    assert not {by_arcs[each] for each in ("invalid-head", "word-interval-out", "deps-self-loop")} & {True}
    assert rules != "ud" or not by_arcs["unknown-upos"]
    assert array(data, "trees", "<u2")[:5].tolist() == [2, 1, 0xFFFF, 0xFFFF, 2]


def test_without_scores_and_rules_the_page_has_trees_alone(done, put) -> None:
    ran = done("report $GOLD")
    data = data_of(ran.out)
    assert {name for name, packed in data["arrays"].items() if packed} == {"lengths", "trees"}
    assert (data["broken"], ran.said[-1]) == ([[]] * 8, "deptree: no rule is broken in 8 sentences")
    put("broken.conllu", GOLD.replace("\tobj\t", "\tnsubj\t", 1))  # a tree all the same
    assert data_of(done("report broken.conllu").out)["broken"] == [[]] * 8
    assert data_of(done("report -", stdin=GOLD.encode()).out)["arrays"] == data["arrays"]


def test_the_sentences_that_break_most_rules(done, put) -> None:
    put("bad.conllu", GOLD + BAD)
    ran = done("report bad.conllu --top 3")  # in the order of the file
    assert data_of(ran.out)["ids"] == ["en-1", "bad-1", "bad-2"]
    assert "deptree: the page has the 3 with most broken rules of 10 sentences: --top N for more or fewer" in ran.said
    ran = done("report $GOLD --top 3")
    assert data_of(ran.out)["ids"] == data_of(done("report $GOLD").out)["ids"][:3]
    assert "deptree: the page has the 3 first of 8 sentences: --top N for more or fewer" in ran.said


def test_samples_and_labels_and_gold(deptree, done) -> None:
    samples = done("sample $SCORES --conllu $GOLD -k 3 --seed 7").out
    data = data_of(done(f"{REPORT} $LABELS --gold $GOLD --samples -", stdin=samples).out)
    assert array(data, "sampleCounts", "<u4").tolist() == [3] * 8
    assert len(array(data, "samples", "<u2")) == 3 * array(data, "lengths", "<u2").sum()
    assert len(array(data, "labels", "<u2"))
    assert data["labels"]
    assert (array(data, "gold", "<u2") == array(data, "trees", "<u2")).all()
    bad = done("sample $SCORES -k 3 --seed 7 -q").out + b'{"sent_id": "xx", "heads": [0]}\n'
    assert deptree(f"{REPORT} --samples -", stdin=bad).code == 2
    ran = deptree(f"{REPORT} --samples - --on-error skip", stdin=bad)
    assert (ran.code, "deptree: 1 sample skipped" in ran.said) == (1, True)
    assert array(data_of(ran.out), "sampleCounts", "<u4").tolist() == [3] * 8


def test_a_terminal_gets_no_page(terminal) -> None:
    code, shown = terminal("report", DATA / "scores.npz", "--from", "natasha", "--conllu", DATA / "gold.conllu")
    assert code == 2
    assert "a terminal cannot show a page. Name a file with -o" in shown


@pytest.mark.parametrize(("layout", "suspected"), [("synjax", True), ("supar", False)])
def test_a_wrong_layout_is_suspected(done, layout: str, suspected: bool) -> None:
    ran = done(f"report $DATA/scores.npy --conllu $GOLD -o page.html --from {layout}")
    assert ("is --from right?" in ran.err) == suspected
