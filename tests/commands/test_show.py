"""``deptree show`` of trees as they are: one file's, or those of several together; whatever their heads are."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.commands.sessions import hold_session
from tests.lines import table

SVG = "{http://www.w3.org/2000/svg}"


def sentence(name: str, *rows: str) -> str:
    """A sentence of rows of form, head and label."""
    numbered = enumerate(map(str.split, rows), 1)
    lines = (f"{word}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n" for word, (form, head, label) in numbered)
    return f"# sent_id = {name}\n" * bool(name) + "".join(lines) + "\n"


YES = sentence("s0", "Yes 0 root", ". 1 punct")
WE = sentence("s1", "We 2 nsubj", "saw 0 root", "her 4 nmod:poss", "duck 2 obj", ". 2 punct")
VERB = WE.replace("4\tnmod:poss", "2\tobj").replace("2\tobj\t_\t_\n5", "2\txcomp\t_\t_\n5")
NAMELESS = re.compile("# sent_id = .*\n")

FILES = {
    "ran.conllu": sentence("v1", "Three 2 nummod", "boys 3 nsubj", "ran 0 root", "home 3 advmod"),
    "a.conllu": YES + WE,
    "b.conllu": YES + VERB,
    "moved.conllu": VERB + YES,
    "c.conllu": YES + VERB.replace("2\tnsubj", "_\t_"),
    "other.conllu": YES + WE.replace("\tduck\t", "\tducks\t"),
    "bare.conllu": re.sub(r"\t(nsubj|root|nmod:poss|obj|punct)\t", "\t_\t", YES + WE),
    "nameless.conllu": NAMELESS.sub("", YES + WE),
    "nameless_b.conllu": NAMELESS.sub("", YES + VERB),
    "few.conllu": YES,
    "broken.conllu": sentence("x", "a 2 det", "b 1 x", "c 0 root", "d 0 root", "e _ _", "f 9 obj", "g 7 obl"),
    "raw.conllu": sentence("r", *[f"w{number} _ _" for number in range(1, 10)]),
    "malformed.conllu": YES + "1\ta\n\n",
    "wide.conllu": sentence("w", "A 2 det", "straightforwardness 0 root", "of 4 case", "this 2 nmod:unmarked"),
    "wide_b.conllu": sentence("w", "A 2 det", "straightforwardness 0 root", "of 2 case", "this _ nmod:unmarked:any"),
    "hebrew.conllu": sentence("h", "שלום 0 root", "עולם 1 nmod"),
    "hebrew_b.conllu": sentence("h", "שלום 2 nmod", "עולם 0 root"),
}


@pytest.fixture
def files(put) -> None:
    for name, text in FILES.items():
        put(name, text)


@pytest.mark.parametrize("columns", [80, 30])
def test_a_session_in_text(deptree, golden, files, columns: int) -> None:
    """Two trees share a row of words where there is room; what the second has otherwise is dashed."""
    hold_session(deptree, golden, f"show_trees_{columns}.txt", columns)


def test_files_of_one_name_are_called_by_their_paths(done, files, put) -> None:
    Path("other").mkdir()
    put("other/a.conllu", FILES["b.conllu"])
    for line in ("a.conllu other/a.conllu", "a.conllu other/a.conllu -o x.tex", "a.conllu other/a.conllu --format svg"):
        shown = done(f"show {line}").out.decode() or Path("x.tex").read_text(encoding="utf-8")
        assert "above: a.conllu; below: other/a.conllu (2 words differ)" in shown


def test_every_transport(done, files, shell, put) -> None:
    text = done("show ran.conllu --format text").out
    put("ran.conllu.gz", gzip.compress(FILES["ran.conllu"].encode()))
    assert done("show ran.conllu.gz --format text").out == text
    assert done("show - --format text", stdin=FILES["ran.conllu"].encode()).out == text
    assert shell("cat ran.conllu | deptree show - --format text").out == text
    both = shell("cat b.conllu | deptree show a.conllu - --format text").out.decode()
    assert both.replace("standard input", "b.conllu") == done("show a.conllu b.conllu --format text").out.decode()
    put("crlf.conllu", FILES["ran.conllu"].replace("\n", "\r\n"))
    assert done("show crlf.conllu --format text").out == text


def drawn(svg: bytes) -> list[tuple[str, int, int, str | None]]:
    """The arcs of an SVG: what they look like, their ends, and their dashes."""
    groups = (each for each in ElementTree.fromstring(svg).iter(f"{SVG}g") if each.get("data-head"))
    return [
        (
            each.get("class").removeprefix("arc "),
            int(each.get("data-head")),
            int(each.get("data-dependent")),
            each.get("stroke-dasharray"),
        )
        for each in groups
    ]


def texts(svg: bytes, kind: str) -> list[str]:
    return [each.text for each in ElementTree.fromstring(svg).iter(f"{SVG}text") if kind in each.get("class").split()]


def test_svg_of_a_tree_has_arcs_and_labels_and_no_numbers(done, files) -> None:
    svg = done("show ran.conllu").out
    assert {each[:3] for each in drawn(svg)} == {("tree", 2, 1), ("tree", 3, 2), ("tree", 0, 3), ("tree", 3, 4)}
    assert texts(svg, "word") == ["Three", "boys", "ran", "home"]
    assert {*texts(svg, "label")} == {"nummod", "nsubj", "root", "advmod"}
    assert texts(svg, "note") == []
    assert b"<title>boys -&gt; Three (nummod)</title>" in svg
    assert b"<desc>Three boys ran home</desc>" in svg


def test_svg_of_several_files(done, files) -> None:
    """Above and below the same words, in further drawings those of more files; only what differs is dashed."""
    svg = done("show a.conllu b.conllu c.conllu other.conllu").out
    assert texts(svg, "word") == " ".join(["We saw her duck ."] * 2 + ["We saw her ducks ."]).split()
    assert texts(svg, "note") == [
        "above: a.conllu; below: b.conllu (2 words differ)",
        "c.conllu (3 words differ; not a tree: no head (word 1))",
        "other.conllu (other words)",
    ]
    marked = sorted(each[1:3] for each in drawn(svg) if each[0] == "other")
    assert marked == [(2, 3), (2, 3), (2, 4), (2, 4)]
    assert all((dashes is not None) == (kind == "other") for kind, _, _, dashes in drawn(svg))
    tops = [float(each.get("y")) for each in ElementTree.fromstring(svg).iter(f"{SVG}text") if each.text == "root"]
    words = [float(each.get("y")) for each in ElementTree.fromstring(svg).iter(f"{SVG}text") if each.text == "saw"]
    assert tops[0] < words[0] < tops[1]


@pytest.mark.parametrize("form", ["text", "svg", "tex"])
def test_what_is_no_tree_is_drawn_as_far_as_it_goes(done, files, form: str) -> None:
    shown = done(f"show broken.conllu --format {form}").out.decode()
    wrong = "not a tree: no head (word 5), head beyond the sentence (word 6), own head (word 7), several roots (words 3"
    assert f"{wrong} and 4), a cycle (words 1 and 2)" in shown
    assert shown.count({"text": "▼", "svg": "data-head=", "tex": "\\dep"}[form]) == 4
    shown = done(f"show raw.conllu --format {form}").out.decode()
    assert "not a tree: no head (words 1, 2, 3, 4, 5 and 4 more)" in shown


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        show ran.conllu -k 3 | -k needs scores: these are sentences with trees
        show ran.conllu --above .5 | --above needs scores: these are sentences with trees
        show ran.conllu --conllu ran.conllu | --conllu needs scores: these are sentences with trees
        show ran.conllu --sentence v2 | ran.conllu: there is no sentence 'v2'. Give a sent_id
        show ran.conllu $DATA/scores.npz | ran.conllu: some files have trees, some scores. Pass them in separate runs
        decode ran.conllu | for trees without scores use deptree show, report, check
        show malformed.conllu --sentence 2 | malformed.conllu:5
        show a.conllu few.conllu | a.conllu:5 (s1): few.conllu has no sentence with this id
        show a.conllu nowhere.conllu | nowhere.conllu: no such file
    """),
)
def test_what_is_refused(refused, files, line: str, says: tuple[str, ...]) -> None:
    refused(line, *says)


def test_which_sentence(deptree, done, files) -> None:
    """Of one file the first; of several the first that differs, whatever cannot be compared."""

    def name(line: str) -> str:
        return done(f"show {line} --format text").out.decode().partition(":")[0].partition("\n")[0]

    assert [name("a.conllu"), name("a.conllu b.conllu"), name("a.conllu b.conllu --sentence 1")] == ["s0", "s1", "s0"]
    assert [name("a.conllu moved.conllu"), name("nameless.conllu nameless_b.conllu")] == ["s1", "2"]
    assert name("malformed.conllu --sentence s0") == "s0"
    assert deptree("show few.conllu a.conllu").code == 2
    ran = done("show a.conllu bare.conllu --format text")  # without labels heads alone count
    assert (ran.out.decode().split(":")[0], ran.err) == ("s0", "deptree: no sentence differs: this is the first\n")
    ran = deptree("show a.conllu malformed.conllu few.conllu --on-error skip --format text")
    assert (ran.code, ran.out.decode().split(":")[0]) == (1, "s0")


def test_the_same_tree_as_beside_scores(done) -> None:
    """The arcs of the CoNLL-U are where they are drawn over scores."""
    bare, scored = (done(f"show {line} --sentence cs-1").out for line in ("$GOLD", "$SCORES --conllu $GOLD"))
    assert {each[:3] for each in drawn(bare)} == {each[:3] for each in drawn(scored) if each[0] == "tree"}
    assert texts(bare, "word") == texts(scored, "word")
    assert len(drawn(bare)) == len(texts(bare, "word"))
