"""``deptree repair``: what it writes and leaves alone, what decides, what counts as a change, and how it ends."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.lines import table
from tests.plus import from_plus, to_plus
from tests.sample import DATA

FINE = """\
# sent_id = fine
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t2:nsubj\t_
2\tbark\tbark\tVERB\t_\t_\t0\troot\t0:root\t_

"""

# Words 2 and 5 stand above each other.
CYCLE = """\
# sent_id = cycle
# text = Dogs bark and cats sleep.
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t2:nsubj\tFoo=1
2\tbark\tbark\tVERB\t_\t_\t5\troot\t5:root\t_
3\tand\tand\tCCONJ\t_\t_\t5\tcc\t5:cc\t_
4\tcats\tcat\tNOUN\t_\t_\t5\tnsubj\t5:nsubj\t_
5\tsleep\tsleep\tVERB\t_\t_\t2\tconj\t2:conj\tSpaceAfter=No
6\t.\t.\tPUNCT\t_\t_\t2\tpunct\t2:punct\t_

"""
MENDED = CYCLE.replace("sleep.\n", "sleep.\n# repaired = 1 head, 0 labels\n# certified = yes\n")
MENDED = MENDED.replace("5\troot\t5:root\t_", "0\troot\t0:root\tOldHead=5")

# A head beyond the sentence, a free word, a label of UD v1.
FREE = """\
# sent_id = free
1\tDogs\tdog\tNOUN\t_\t_\t99\tnsubj\t_\t_
2\tchase\tchase\tVERB\t_\t_\t_\t_\t_\t_
3\tcats\tcat\tNOUN\t_\t_\t2\tdobj\t_\t_

"""
FILLED = """\
# sent_id = free
# repaired = 1 head, 1 label, 1 filled
# certified = yes
1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t_\tOldHead=99
2\tchase\tchase\tVERB\t_\t_\t0\troot\t_\t_
3\tcats\tcat\tNOUN\t_\t_\t2\tobj\t_\tOldDeprel=dobj

"""
V1 = FREE.replace("99", "2").replace("_\t_\t_\t_\t_\t_\n3", "_\t_\t0\troot\t_\t_\n3")
# Dogs chase cats, so that there is something to learn from.
LIKE = FINE + V1.replace("dobj", "obj")

COLUMNS = ["sent_id", "word", "form", "old_head", "new_head", "old_deprel", "new_deprel", "rules", "file", "line"]
ROWS = [
    ["cycle", 2, "bark", 5, 0, "root", "root", ["non-tree", "root-is-not-0"], "trees.conllu", 13],
    ["free", 1, "Dogs", 99, 2, "nsubj", "nsubj", ["unknown-head"], "trees.conllu", 20],
    ["free", 2, "chase", None, 0, None, "root", ["invalid-head"], "trees.conllu", 21],
    ["free", 3, "cats", 2, 2, "dobj", "obj", ["unknown-udeprel"], "trees.conllu", 22],
]


@pytest.fixture
def like(put) -> None:
    """The valid sentences in like.conllu; two to repair among some that need nothing in trees.conllu."""
    put("like.conllu", LIKE)
    put("trees.conllu", LIKE + CYCLE + FREE + FINE)


@pytest.fixture
def repair(done, put, like):
    """Repair a text, x.conllu, beside those valid sentences or as options say."""

    def run(text: str, options: str = "--like like.conllu"):
        put("x.conllu", text)
        return done(f"repair x.conllu {options}")

    return run


@pytest.fixture
def mended(repair):
    return lambda text: repair(text).out.decode()


def sentence(*rows: str) -> str:
    """Words, each with UPOS, HEAD and DEPREL."""
    cells = (f"{word}\tw\tw\t{{}}\t_\t_\t{{}}\t{{}}\t_\t_\n".format(*row.split()) for word, row in enumerate(rows, 1))
    return "".join(cells) + "\n"


def arcs(out: bytes | str) -> list[str]:
    """HEAD and DEPREL of each word."""
    text = out if isinstance(out, str) else out.decode()
    return [" ".join(line.split("\t")[6:8]) for line in text.splitlines() if line[:1].isdigit()]


def test_what_is_broken_is_mended_and_nothing_else(done, like) -> None:
    ran = done("repair trees.conllu")
    assert ran.out.decode() == LIKE + MENDED + FILLED + FINE
    assert ran.said[-1] == "deptree: 2 of 5 sentences repaired: 2 heads, 1 label, 1 filled"
    rules = ["invalid-head", "non-tree", "root-is-not-0", "unknown-head", "unknown-udeprel"]
    assert sorted(line.split() for line in ran.said if "-" in line) == [[rule, "1", "1"] for rule in rules]
    assert done("repair trees.conllu -q").err == ""
    first, _, rest = done("repair trees.conllu --header -q").out.partition(b"\n")
    assert first == b"# generator = deptree|repair|root:single|rules:ud-2026-11|v:0.1.0"
    assert rest == ran.out


def test_repairing_again_changes_nothing(done, put, like) -> None:
    put("once.conllu", done("repair trees.conllu -q").out)
    again = done("repair once.conllu")
    assert (again.out, again.err) == (Path("once.conllu").read_bytes(), "deptree: nothing to repair in 5 sentences\n")
    done("check once.conllu -q")


def test_notes_on_an_earlier_tree_go(mended) -> None:
    """Also those of earlier repairs, of other words too; signatures stay, for the other sentences are as they were."""
    noted = MENDED.replace("0\troot\t0:root\tOldHead=5", "5\troot\t5:root\tOldHead=7")
    noted = noted.replace("Foo=1", "Foo=1|OldDeprel=obj|HeadProb=0.9").replace("certified = yes", "gap = 3")
    signature = "# generator = deptree|decode|x\n"
    assert mended(signature + noted) == signature + MENDED


def test_changes_are_written_word_by_word(done, like) -> None:
    for suffix in ("tsv", "jsonl"):
        done(f"repair trees.conllu -o out.conllu --changes changes.{suffix}")
    rows = [json.loads(line) for line in Path("changes.jsonl").read_text().splitlines()]
    assert rows == [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    cells = [
        [",".join(cell) if isinstance(cell, list) else "" if cell is None else str(cell) for cell in row]
        for row in ROWS
    ]
    assert list(csv.reader(io.StringIO(Path("changes.tsv").read_text()), delimiter="\t")) == [COLUMNS, *cells]
    assert Path("out.conllu").read_text() == LIKE + MENDED + FILLED + FINE


SHAPES = {
    "plain": FINE + FINE,
    "crlf": (FINE + FINE).replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + FINE + FINE,
    "empty nodes": FINE.replace("0:root\t_\n", "0:root\t_\n2.1\tit\t_\t_\t_\t_\t_\t_\t2:obj\t_\n"),
    "node 0.1": FINE.replace("1\tDogs", "0.1\tit\t_\t_\t_\t_\t_\t_\t2:obj\t_\n1\tDogs"),
    "spaces in forms": FINE.replace("1\tDogs\tdog", "1\t10 000 dogs\t10 000 dog"),
    "no final newline": (FINE + FINE).rstrip("\n"),
    "multiword tokens": FINE.replace("1\tDogs", "1-2\tDogsbark\t_\t_\t_\t_\t_\t_\t_\tA=b\n1\tDogs"),
    "free comments": FINE.replace("# sent_id = fine\n", "#\n# ~ no key ~\n# newdoc\n"),
    "empty lines": "\n\n" + FINE + "\n\n \n" + FINE + "\n\n",
    "signatures and notes": FINE.replace("# sent_id", "# generator = deptree|decode|x\n# entropy = 1\n# sent_id"),
    "no labels": FINE.replace("nsubj\t", "_\t").replace("root\t", "_\t"),
}


@pytest.mark.quick
@pytest.mark.parametrize("shape", SHAPES)
def test_what_needs_nothing_is_copied_byte_for_byte(done, put, like, shape: str) -> None:
    """Alone and beside what does: newlines come where a file has none at its end, a byte order mark at the start."""
    data = SHAPES[shape].encode()
    put("in.conllu", data)
    put("cycle.conllu", CYCLE)
    rules = "--rules tree" * (shape == "no labels")  # rules about labels fill them
    ran = done(f"repair in.conllu {rules}")
    assert ran.out == data
    assert "nothing to repair" in ran.err
    done(f"repair in.conllu -o out.conllu {rules}")
    assert Path("out.conllu").read_bytes() == data
    out = done(f"repair cycle.conllu in.conllu --like like.conllu {rules}").out
    assert out == MENDED.encode() + data.decode().removeprefix("\ufeff").encode()
    out = done(f"repair in.conllu cycle.conllu --like like.conllu {rules}").out
    assert out == data + b"\n\n" * (shape == "no final newline") + MENDED.encode()


def test_lines_end_as_those_of_the_sentence(mended) -> None:
    assert mended(CYCLE.replace("\n", "\r\n")) == MENDED.replace("\n", "\r\n")


def test_columns_of_conllu_plus_stay(done, put) -> None:
    """Those of sentences that need nothing, too."""
    put("in.conllup", to_plus(LIKE + CYCLE))
    done("repair in.conllup -o out.conllup")
    assert from_plus(Path("out.conllup").read_text()) == LIKE + MENDED
    assert done("repair out.conllup -q").out == Path("out.conllup").read_bytes()


@pytest.mark.parametrize(("columns", "left_out"), [("", "OldHead (MISC)"), (" MISC", "")])
def test_what_has_no_column_is_left_out_and_named(done, put, like, columns: str, left_out: str) -> None:
    """Labels too, which nobody wanted."""
    rows = "".join(row + "\t_" * bool(columns) + "\n" for row in ("1\tDogs\tNOUN\t2", "2\tbark\tVERB\t2"))
    put("in.conllup", f"# global.columns = ID FORM UPOS HEAD{columns}\n{rows}\n")
    ran = done("repair in.conllup --like like.conllu")
    assert ran.out.decode().splitlines()[-2].startswith("2\tbark\tVERB\t0")
    assert (("not written" in ran.err), left_out in ran.err) == (bool(left_out), True)


def test_multiword_tokens_empty_nodes_and_other_deps_stay(mended) -> None:
    def more(text: str) -> str:
        text = text.replace("4\tcats", "4-5\tcatsleep\t_\t_\t_\t_\t_\t_\t_\t_\n4\tcats")
        node = "5.1\tit\tit\tPRON\t_\t_\t_\t_\t5:obj\t_\n"
        return text.replace("SpaceAfter=No\n", f"SpaceAfter=No\n{node}").replace("5:nsubj", "2:nsubj|5:nsubj")

    assert mended(more(CYCLE)) == more(MENDED)


@pytest.mark.quick
@pytest.mark.parametrize(
    ("deps", "now"),
    [
        ("_", "_"),  # not annotated
        ("5:root", "0:root"),  # the basic arc alone
        ("2:root", "0:root"),  # another one: nobody knows what it would be
        ("5:root|4:obj", "0:root"),  # the basic arc among others
        ("5:root:x", "0:root"),  # the basic arc with more of a label
    ],
)
def test_deps_of_a_changed_word(repair, deps: str, now: str) -> None:
    ran = repair(CYCLE.replace("5:root", deps))
    assert ran.out.decode() == MENDED.replace("0:root", now)
    assert ("deptree: DEPS of 1 word had several arcs" in ran.err) == (deps not in ("_", "5:root"))


def deps(text: str) -> list[str]:
    return [line.split("\t")[8] for line in text.splitlines() if line[:1].isdigit()]


def test_no_word_falls_out_of_the_enhanced_graph(mended, put, udvalidate) -> None:
    """Word 1 hung on ROOT in DEPS alone, and its head on it alone: with the new arc of word 1 both would be apart."""
    rows = "1\tDogs\tdog\tNOUN\t_\t_\t9\tnsubj\t0:root\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t1:acl\t_\n"
    rows += "3\tdogs\tdog\tNOUN\t_\t_\t2\tobj\t2:obj\t_\n\n"
    found = mended(f"# sent_id = loop\n# text = Dogs bark dogs\n{rows}")
    assert deps(found) == ["2:nsubj", "0:root", "2:obj"]
    assert udvalidate(Path(put("out.conllu", found)), 2).returncode == 0


def test_an_enhanced_graph_that_fell_apart_before_stays_as_it_is(mended) -> None:
    """Only the changed word has another arc: what two others say of each other was nobody's question."""
    rows = "1\tDogs\tdog\tNOUN\t_\t_\t9\tnsubj\t0:root\t_\n2\tbark\tbark\tVERB\t_\t_\t0\troot\t0:root\t_\n"
    rows += "3\tloud\tloud\tADV\t_\t_\t2\tadvmod\t4:advmod\t_\n4\ttoday\ttoday\tADV\t_\t_\t2\tadvmod\t3:advmod\t_\n\n"
    assert deps(mended(rows)) == ["2:nsubj", "0:root", "4:advmod", "3:advmod"]


def test_ties_of_which_nothing_tells_are_told(repair) -> None:
    """Not a single sentence is right: near heads are taken, labels of UD v1 become those of v2, and a line says so."""
    text = sentence("NOUN 1 nsubj", "VERB 0 root", "NOUN 2 dobj")
    ran = repair(text, "")
    assert arcs(ran.out) == ["2 nsubj", "0 root", "2 obj"]
    said = "no sentence is valid, so ties are broken by distance; --like TREEBANK or --scores FILE does better"
    assert said in ran.err
    assert said not in repair(sentence("NOUN 2 nsubj", "VERB 0 root", "NOUN 2 obj") + text, "").err


def test_a_head_stays_where_only_the_label_is_wrong(repair, put) -> None:
    """Labels that rules do not know, of UD v1 and others: what other sentences make likely does not move a word."""
    put("like.conllu", sentence("NOUN 2 nsubj", "VERB 0 root", "NOUN 2 obj", "NOUN 3 nmod", "NOUN 3 nmod") * 5)
    ran = repair(sentence("NOUN 2 subj", "VERB 0 root", "NOUN 2 dobj", "NOUN 2 pobj", "NOUN 4 npmod"))
    heads, labels = zip(*(arc.split() for arc in arcs(ran.out)), strict=True)
    assert (heads, labels[2]) == (("2", "0", "2", "2", "4"), "obj")
    assert ran.said[-1] == "deptree: 1 of 1 sentence repaired: 0 heads, 4 labels"
    assert repair(ran.out, "").out == ran.out


def test_another_head_and_another_label_are_two_changes(repair) -> None:
    """A second root becomes a dependent with another label; what changes is counted and told so."""
    ran = repair(sentence("VERB 0 root", "VERB 0 root", "NOUN 1 obj"), "--like like.conllu --changes changes.jsonl")
    assert "\n# repaired = 1 head, 1 label\n" in "\n" + ran.out.decode()
    assert ran.said[-1] == "deptree: 1 of 1 sentence repaired: 1 head, 1 label"
    (row,) = (json.loads(line) for line in Path("changes.jsonl").read_text().splitlines())
    assert (row["old_head"], row["old_deprel"]) == (0, "root")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_the_trees_appear_only_with_their_changes(refused, put) -> None:
    put("x.conllu", sentence("VERB 0 root", "VERB 0 root"))
    before = {*Path().iterdir()}
    full = "deptree: /dev/full: cannot be written (No space left on device). Choose another place."
    refused("repair x.conllu -o out.conllu --changes /dev/full -q", full)
    assert {*Path().iterdir()} == before


OLD = """
NOUN 2 dobj | obj
NOUN 2 nsubjpass | nsubj:pass
NOUN 2 csubjpass | csubj:pass
AUX 2 auxpass | aux:pass
PART 2 neg | advmod
DET 2 neg | det
NOUN 2 remnant | orphan
NOUN 2 Obj | obj
X 2 foreign | flat:foreign
PROPN 2 name | flat
ADV 2 mwe | fixed
"""


@pytest.mark.parametrize(("word", "now"), table(OLD))
def test_labels_of_v1_become_those_of_v2(repair, put, word: str, now: tuple[str]) -> None:
    """Whatever else is usual; one line says so. Rules that allow them leave them alone."""
    tag, _, label = word.split()
    put("like.conllu", sentence(f"{tag} 3 nmod", "VERB 0 root", f"{tag} 2 nmod", f"{tag} 2 nmod") * 20)
    ran = repair(text := sentence("NOUN 2 nsubj:outer", "VERB 0 root", word))
    assert arcs(ran.out)[2] == f"2 {now[0]}"
    told = f"deptree: labels of UD v1: {label} (in v2 {now[0].replace('det', 'advmod')})"
    assert (told in ran.said) == (label != "Obj")
    assert repair(text, "--rules tree").out.decode() == text


def test_a_label_of_v2_goes_where_rules_forbid_it(mended, put) -> None:
    """What is joined by `fixed` stands to the right of its head: the head stays, the label is another."""
    put("like.conllu", sentence("ADV 2 advmod", "VERB 0 root"))
    assert arcs(mended(sentence("ADV 2 mwe", "VERB 0 root"))) == ["2 advmod", "0 root"]


def test_labels_are_filled_wherever_rules_ask_for_some(repair, mended, put) -> None:
    """Of a sentence without any, too; `dep` where nothing is known, and nothing in lines without a place for labels."""
    text = sentence("DET 2 _", "NOUN 3 _", "VERB 0 _", "FOO 3 _")
    assert repair(text, "--rules tree").out.decode() == text
    ran = repair(text)
    assert arcs(ran.out) == ["2 dep", "3 nsubj", "0 root", "3 dep"]
    assert ran.said[-1] == "deptree: 1 of 1 sentence repaired: 0 heads, 0 labels, 4 filled"
    put("mine.toml", 'mask = [{ label = "/x.*/", upos = "DET" }]')
    assert arcs(repair(text, "--rules mine.toml").out)[0] == "2 dep"
    assert b"dep" in repair(sentence("ADJ 2 amod", "VERB 0 root", "VERB 0 root"), "--rules tree").out
    assert arcs(mended(sentence("NOUN 2 _", "VERB 0 _", "X 2 _"))) == ["2 nsubj", "0 root", "2 dep"]


def test_no_rule_asks_for_the_tag_of_a_word_with_an_unknown_one(deptree, done, repair, put) -> None:
    """Repair leaves its arcs alone, as those of words without UPOS; check tells of tag and rule."""
    text = FINE.replace("1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t2:nsubj", "1\tThat\tthat\tDEM\t_\t_\t2\tdet\t_")
    ran = repair(text, "")
    assert ran.out.decode() == text
    assert "deptree: 1 word has a UPOS that is not a universal tag; rules about UPOS ignore them" in ran.said
    assert "1 rel-upos-det" not in ran.err
    assert [row["rule"] for row in deptree("check x.conllu --json").rows] == ["rel-upos-det", "unknown-upos"]
    put("y.conllu", text.replace("0\troot", "9\troot"))
    assert arcs(done("repair y.conllu --like x.conllu").out) == ["2 det", "0 root"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("rules", "said"), [("tree", []), ("labels.toml", ["DEPREL"]), ("tags.toml", ["UPOS"]), ("ud", ["UPOS", "DEPREL"])]
)
def test_words_without_tags_are_told_if_rules_ask_for_tags(deptree, put, rules: str, said: list[str]) -> None:
    """And words without labels if rules ask for labels, where they are not filled."""
    put("x.conllu", FINE.replace("NOUN", "_").replace("\tnsubj", "\t_").replace("0\troot", "9\troot"))
    put("labels.toml", 'leaf = ["det"]')
    put("tags.toml", '[[below]]\nupos = "ADP"\nallow = [{ upos = "ADV" }]')
    for command, columns in (("check", said), ("repair", [each for each in said if each == "UPOS"])):
        told = [line for line in deptree(f"{command} x.conllu --rules {rules}").said if "without" in line]
        assert [line.split()[4][:-1] for line in told] == columns


def test_scores_forbid_no_tree_that_changes_less(repair, put) -> None:
    """A weight of 0 for the root's arc: the tree with one change all the same, the only one that is certified; where
    changes are traded for nats, a tree without that arc, if there is one."""
    rows = "1\ta\t_\t_\t_\t_\t1\t_\t_\t_\n2\tb\t_\t_\t_\t_\t0\t_\t_\t_\n\n"
    put("s.jsonl", '{"scores": [[0, 1, 0], [0, 0, 1], [0, 1, 0]]}\n')
    scores = "--scores s.jsonl --from head-dep,first,weight --rules tree"
    out = repair(rows, scores).out.decode()
    comments = "# repaired = 1 head, 0 labels\n# certified = yes\n"
    assert out == comments + rows.replace("\t1\t_\t_\t_\n", "\t2\t_\t_\tOldHead=1\n", 1)
    assert repair(out, scores).out.decode() == out
    assert arcs(repair(rows, f"{scores} --worth 1").out) == ["0 _", "1 _"]


def test_rules_decide_what_is_broken(repair, put) -> None:
    put("mine.toml", 'leaf = ["nsubj"]')
    put("c.tsv", "free\t1\tHeadIn\t3\n")
    for rules in ("tree", "mine.toml"):
        assert repair(V1, f"--rules {rules}").out.decode() == V1
    assert b"OldDeprel=dobj" in repair(V1, "").out
    assert b"OldHead=2" in repair(V1, "--rules tree --rules c.tsv").out


def test_the_space_decides_what_is_broken(repair) -> None:
    two_roots = FINE.replace("2\tnsubj\t2:nsubj", "0\troot\t0:root")
    assert repair(two_roots, "--rules tree --multi-root").out.decode() == two_roots
    assert b"OldHead=0" in repair(two_roots, "--rules tree").out
    crossing = sentence("X 3 dep", "X 4 dep", "X 0 root", "X 3 dep")
    assert repair(crossing, "").out.decode() == crossing
    assert b"# repaired = 1 head, 0 labels" in repair(crossing, "--projective").out


def test_where_nothing_obeys(deptree, refused, put) -> None:
    """An error that names the constraints; or one of them is given up, and that is no success."""
    put("x.conllu", LIKE + CYCLE)
    put("c.tsv", "cycle\t2\tHeadIn\t0\ncycle\t5\tHeadIn\t0\n")
    rules = "--rules ud --rules c.tsv"
    place = "x.conllu:10 (cycle)"
    problem = f"deptree: {place}: no tree obeys HeadIn of word 2 and HeadIn of word 5 together."
    refused(f"repair x.conllu {rules} -o out.conllu -q", problem, "--relax")
    assert not Path("out.conllu").exists()
    ran = deptree(f"repair x.conllu {rules} --on-error skip")
    assert (ran.code, ran.out.decode()) == (1, LIKE)
    ran = deptree(f"repair x.conllu {rules} --relax")
    assert ran.code == 1
    assert b"\n# relaxed = HeadIn of word" in ran.out
    assert f"deptree: relaxed: {place}: HeadIn of word" in ran.err
    put("again.conllu", ran.out)
    again = deptree(f"repair again.conllu {rules} --relax")
    assert (again.code, again.out) == (1, ran.out)


def test_what_is_given_up_where_nothing_changes(deptree, put) -> None:
    """A comment alone, and none of earlier ones goes: the tree is what it was."""
    put("x.conllu", FINE.replace("= fine\n", "= fine\n# entropy = 1\n"))
    put("c.tsv", "fine\t1\tHeadIn\t0\nfine\t2\tHeadIn\t0\n")
    ran = deptree("repair x.conllu --rules ud --rules c.tsv --relax -q")
    relaxed = "# relaxed = HeadIn of word 1\n# relaxed_fewest = yes\n"
    assert (ran.code, ran.out.decode()) == (1, FINE.replace("fine\n", f"fine\n# entropy = 1\n{relaxed}"))
    put("again.conllu", ran.out)
    assert deptree("repair again.conllu --rules ud --rules c.tsv --relax -q").out == ran.out


def test_sentences_that_files_of_rules_name_must_come(deptree, put) -> None:
    """A name without the mark of a sample is enough."""
    put("x.conllu", FINE.replace("= fine", "= fine/sample_2"))
    put("c.tsv", "fine\t1\tHeadIn\t2\nelse\t1\tHeadIn\t2\n")
    ran = deptree("repair x.conllu --rules c.tsv -q")
    assert (ran.code, ran.err) == (2, "deptree: c.tsv:2 (else): no sentence has this name. Correct the name.\n")


@pytest.mark.parametrize("label", ["nsubj", "_"])
def test_a_label_that_only_a_constraint_names(repair, label: str) -> None:
    row = f"1\tDogs\tdog\tNOUN\t_\t_\t2\t{label}\t_\tDeprelIn=nsubj:agent\n2\tbark\tbark\tVERB\t_\t_\t2\t"
    text = row + f"{'root' if label != '_' else '_'}\t_\t_\n\n"
    assert b"\t2\tnsubj:agent\t" in repair(text, "--rules misc --rules tree").out


@pytest.mark.parametrize(
    ("old", "new", "repaired", "row"),
    [
        ("2\tnsubj\t2:nsubj", "two\tnsubj\t_", "1 head, 0 labels", "2\tnsubj\t_\tOldHead=two"),
        ("nsubj\t2:nsubj", "_\t_", "0 heads, 0 labels, 1 filled", "2\tnsubj\t_\t_"),
    ],
)
def test_a_head_of_letters_was_given_and_a_missing_label_is_filled(mended, old, new, repaired, row) -> None:
    out = mended(FINE.replace(old, new))
    assert f"\n# repaired = {repaired}\n" in out
    assert f"\t{row}\n" in out


def test_malformed_sentences_end_the_run_or_are_left_out(deptree, refused, put) -> None:
    put("x.conllu", LIKE + "1\tonly\n\n" + CYCLE)
    refused("repair x.conllu -o out.conllu", "deptree: x.conllu:10: 2 columns where a word has 10")
    assert not Path("out.conllu").exists()
    ran = deptree("repair x.conllu --on-error skip")
    assert (ran.code, ran.out.decode()) == (1, LIKE + MENDED)
    assert sum("skipped" in line for line in ran.said) == 2  # the sentence, and how many
    assert "1 of 3 sentences repaired" in ran.err


@pytest.mark.parametrize("labels", ["", "$LABELS"])
def test_scores_decide_between_trees_as_near(repair, labels: str) -> None:
    """Every first word is below itself, so that there is nothing to learn from; a parser knows their heads."""
    rows = [line.split("\t") for line in (DATA / "gold.conllu").read_text("utf-8").splitlines()]
    text = "".join("\t".join([*row[:6], "1", *row[7:]] if row[0] == "1" else row) + "\n" for row in rows)
    ran = repair(text, f"--scores $SCORES {labels}")
    heads = [line.split("\t")[6] for line in ran.out.decode().splitlines() if line.startswith("1\t")]
    assert heads == [row[6] for row in rows if row[0] == "1"]
    assert "8 of 8 sentences repaired: 8 heads, 0 labels" in ran.err
    assert ran.out == repair(text, f"--scores $SCORES {labels} -j 2").out


def test_what_a_change_must_be_worth(done) -> None:
    """From infinity on nothing is changed that obeys; for nothing, the most probable tree is taken, as by decode."""
    assert done("repair $GOLD --scores $SCORES $LABELS -q").out == (DATA / "gold.conllu").read_bytes()
    treebank = "$DATA/treebank.conllu"  # from whose habits some of its own trees depart
    assert done(f"repair {treebank} -q").out == (DATA / "treebank.conllu").read_bytes()
    assert b"OldHead=" in done(f"repair {treebank} --worth 0 -q").out
    free = done("repair $GOLD --scores $SCORES $LABELS --worth 0 -q").out
    assert arcs(free) == arcs(done("decode $SCORES $LABELS --conllu $GOLD --rules ud -q").out)
    assert b"OldHead=" in free


@pytest.mark.parametrize(
    ("line", "says"),
    table("""
        repair $GOLD --from natasha | --from needs --scores FILE.
        repair $GOLD --cost 0:1 | '0:1' is not HEAD:LABEL
        repair $GOLD --like $GOLD --scores $SCORES $LABELS | --like cannot be combined with --scores
    """),
)
def test_what_is_refused(refused, line: str, says: tuple[str, ...]) -> None:
    refused(line, *says)
