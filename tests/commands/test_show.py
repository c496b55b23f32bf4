"""``deptree show``: which sentence, which arcs, in which form."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from tests.sample import DATA, SCORES, SENTENCES

GOLD = ("--conllu", DATA / "gold.conllu")

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


def test_the_most_probable_tree_and_what_else_may_be(done):
    svg = done("show", *SCORES, *SENTENCES, "--sentence", "ru-1").out
    (row,) = (row for row in done("decode", *SCORES).rows if row["sent_id"] == "ru-1")
    (probs,) = (row["marginals"] for row in done("marginals", *SCORES).rows if row["sent_id"] == "ru-1")
    tree, others = arcs(svg, "tree"), arcs(svg, "other")
    assert sorted(tree) == sorted((head, word) for word, head in enumerate(row["heads"], 1))
    expected = {
        (head, word)
        for word, heads in enumerate(probs, 1)
        for head, p in enumerate(heads)
        if p >= 0.01 and row["heads"][word - 1] != head
    }
    assert set(others) == expected
    assert expected
    for (head, word), opacity in (tree | others).items():
        assert opacity == pytest.approx(probs[word - 1][head], rel=1e-3)


def test_a_tree_that_the_sentence_has_is_drawn_however_improbable(done, put):
    put("two.conllu", "1\ta\t_\t_\t_\t_\t2\tdet\t_\t_\n2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    put("two.npy", np.array([[0, 9995.0, 5], [0, 0, 1], [0, 1, 0]]))
    ran = done("show", "two.npy", "--from", "head-dep", "--conllu", "two.conllu")
    assert arcs(ran.out, "tree") == {(2, 1): 0.0005, (0, 2): 0.0005}
    assert set(arcs(ran.out, "other")) == {(0, 1), (1, 2)}
    assert b">det &lt;.01<" in ran.out
    assert b"(tree of the CoNLL-U, probability 0.0005" in ran.out


@pytest.mark.parametrize(
    ("heads", "said"),
    [
        (("2", "1"), b"heads of the CoNLL-U, which are not a tree here"),
        (("0", "1"), b"tree of the CoNLL-U, impossible by these scores"),
        (("_", "0"), b"most probable tree, probability 1"),
    ],
)
def test_heads_that_no_parser_would_give(done, put, heads, said):
    put("two.conllu", "".join(f"{word}\ta\t_\t_\t_\t_\t{head}\t_\t_\t_\n" for word, head in enumerate(heads, 1)) + "\n")
    put("two.npy", np.array([[0, 1.0, 1], [0, 0, 0], [0, 1, 0]]))
    assert said in done("show", "two.npy", "--from", "head-dep", "--conllu", "two.conllu").out


def test_labels_of_the_sentence_stand_on_its_arcs_only(done):
    svg = done("show", *SCORES, *GOLD, "--sentence", "en-1").out.decode()
    assert "<title>saw -&gt; telescope (obl): 0.6512</title>" in svg
    assert "<title>man -&gt; telescope: 0.3485</title>" in svg


def test_without_sentences_words_are_numbers(done):
    assert words(done("show", *SCORES).out) == [str(number) for number in range(1, 9)]


def test_which_sentence(done, put):
    assert words(done("show", *SCORES, *GOLD).out)[0] == "She"
    assert words(done("show", *SCORES, *GOLD, "--sentence", 4).out)[0] == "Plants"
    assert words(done("show", *SCORES, *GOLD, "--sentence", "cs-2").out)[0] == "Jana"


def test_a_name_goes_before_a_number(done, put):
    rows = [
        f"# sent_id = {name}\n1\t{form}\t_\t_\t_\t_\t_\t_\t_\t_\n\n" for name, form in ((7, "a"), (9, "b"), (1, "c"))
    ]
    put("named.conllu", "".join(rows))
    put("scores.npy", np.ones((3, 2, 2)))
    shown = [
        words(done("show", "scores.npy", "--from", "head-dep", "--conllu", "named.conllu", "--sentence", name).out)
        for name in (7, 1, 2)
    ]
    assert shown == [["a"], ["c"], ["b"]]


@pytest.mark.parametrize(
    ("wanted", "remedy"), [("en1", "Did you mean en-1?"), ("99", "Give a sent_id, or a number from 1 to 8.")]
)
def test_a_sentence_that_is_not_there(deptree, wanted, remedy):
    ran = deptree("show", *SCORES, "--sentence", wanted)
    assert ran.code == 2
    assert len(ran.said) == 1
    assert f"there is no sentence '{wanted}'. {remedy}" in ran.err
    assert not ran.out


def test_other_sentences_may_be_unusable(done, deptree, put):
    put("scores.npz", {"bad": np.full((3, 3), np.nan), "good": np.ones((3, 3))})
    given = ("scores.npz", "--from", "head-dep")
    assert words(done("show", *given, "--sentence", "good").out) == ["1", "2"]
    ran = deptree("show", *given)
    assert ran.code == 2
    assert "scores.npz[bad]" in ran.err
    assert deptree("show", *given, "--on-error", "skip").code == 1


def test_samples(done):
    given = ("show", *SCORES, *SENTENCES, "--sentence", "ru-1", "-k", 50)
    ran = done(*given, "--seed", 7)
    drawn = [row["heads"] for row in done("sample", *SCORES, "-k", 50, "--seed", 7).rows if row["sent_id"] == "ru-1"]
    counts = {}
    for tree in drawn:
        for word, head in enumerate(tree, 1):
            counts[head, word] = counts.get((head, word), 0) + 1
    shown = arcs(ran.out, "tree") | arcs(ran.out, "other")
    assert shown == {ends: pytest.approx(count / 50) for ends, count in counts.items()}
    assert re.search(rb"<title>\S+ -&gt; \S+: \d+ of 50 samples, probability 0\.\d+</title>", ran.out)
    assert "|size:50|seed:" in done(*given).signature
    assert done(*given, "--seed", 7).out == ran.out
    assert done(*given, "--seed", 8).out != ran.out


def test_a_threshold(done):
    given = ("show", *SCORES, *SENTENCES, "--sentence", "en-1", "--above")
    assert set(arcs(done(*given, 0.3).out, "other")) == {(4, 7)}
    assert not arcs(done(*given, 0.4).out, "other")
    assert len(arcs(done(*given, 0).out, "other")) == 8 * 7


def test_text(done, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    text = done("show", *SCORES, *GOLD, "--format", "text").out.decode()
    caption = "en-1: tree of the CoNLL-U, probability 0.6473; 55 arcs hidden (probability at most 0.0041)\n"
    assert text.startswith(caption)
    assert "▼" in text
    assert "7  telescope  obl       2 saw        0.6512  4 man 0.3485\n" in text
    assert "\x1b" not in text
    monkeypatch.setenv("COLUMNS", "30")
    assert "►" in done("show", *SCORES, *GOLD, "--format", "text").out.decode()


def test_a_terminal_gets_text(terminal):
    code, shown = terminal("show", *SCORES, *GOLD)
    assert code == 0
    assert "▼" in shown
    assert "<svg" not in shown
    assert "4 man 0.3485" in shown


@pytest.mark.parametrize(("no_color", "coloured"), [("", True), ("1", False)])
def test_colour_on_a_terminal_unless_unwanted(shell, no_color, coloured):
    spawn = "python -c 'import pty, sys; pty.spawn(sys.argv[1:])'"
    show = "deptree show $DATA/scores.npz --from natasha -q --sentence en-1"
    ran = shell(f"TERM=xterm NO_COLOR={no_color} {spawn} {show} < /dev/null")
    assert "0.6512" in ran.out.decode()
    assert (b"\x1b[33m0.6512\x1b[0m" in ran.out) is coloured


def test_files(done, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not done("show", *SCORES, "-o", "tree.svg").out
    done("show", *SCORES, "-o", "tree.txt")
    assert (tmp_path / "tree.svg").read_bytes() == done("show", *SCORES).out
    done("show", *SCORES, "-o", "tree.tex")
    assert r"\depedge[" in (tmp_path / "tree.tex").read_text(encoding="utf-8")
    assert (tmp_path / "tree.txt").read_bytes() == done("show", *SCORES, "--format", "text").out


@pytest.mark.parametrize("given", [("-o", "tree.png"), ("-o", "tree.svg", "--format", "text")])
def test_forms_that_are_not_there(deptree, given, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = deptree("show", *SCORES, *given)
    assert ran.code == 2
    assert len(ran.said) == 1
    assert "one of the suffixes .txt, .svg" in ran.err or "the format is text" in ran.err
    assert not list(tmp_path.iterdir())


def test_what_breaks_a_file_or_a_terminal_is_left_out(done, put):
    put("odd.conllu", '# sent_id = x\n1\t<&"\x1b[31m\t_\t_\t_\t_\t0\ta\x1b[0m\t_\t_\n\n')
    put("one.npy", np.ones((2, 2)))
    given = ("show", "one.npy", "--from", "head-dep", "--conllu", "odd.conllu", "--sentence", "x")
    svg = done(*given).out
    assert words(svg) == ['<&"[31m']
    assert b"\x1b" not in svg
    assert b"\x1b" not in done(*given, "--format", "text").out


@pytest.mark.parametrize("how", [(), ("--format", "text"), ("-o", "x.tex")])
def test_a_word_that_heads_itself_is_drawn_without_a_warning(done, put, how):
    put("odd.conllu", (DATA / "gold.conllu").read_text(encoding="utf-8").replace("\t4\tdet\t", "\t3\tdet\t", 1))
    assert done("show", *SCORES, "--conllu", "odd.conllu", "--sentence", "en-1", "-q", *how).err == ""
