"""Rules and what is asked of words: read from files and MISC, each misunderstanding one line; and repair in Python."""

from __future__ import annotations

import doctest
import gzip
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core import rules as kinds
from deptree_cli.core.distribution import TreeDistribution
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.rules import Condition, Mask, labels_named
from deptree_cli.io.conllu.blocks import Block, Chunk
from deptree_cli.io.rules import constraints, reading
from deptree_cli.io.rules.constraints import SPAN, constraints_in_misc, read_word_constraints, repaired
from deptree_cli.io.rules.reading import KINDS, not_among, read_rules
from tests.lines import table

EVERY_KIND = """
name = "mine"
version = 2
at-most-one = [["nsubj", "csubj"], "obj", { name = "few", label = "iobj" }]
leaf = ["punct"]
no-gaps = [{ label = "goeswith", between = "punct" }]
no-crossing = ["punct"]
projective = ["punct"]
out-of-gaps = ["punct"]
[[mask]]
label = ["det", "!det:poss"]
upos = "DET"
feats = ["Poss=Yes"]
head-upos = ["NOUN"]
head-feats = ["!Typo=Yes"]
direction = "left"
distance = [1, 3]
root = false
allow = true
[[below]]
label = "case"
allow = ["fixed", { label = "advmod", upos = "PART", feats = "Polarity=Neg" }]
[[below]]
name = "no objects below nouns"
upos = "NOUN"
deny = ["obj"]
unless = "cop"
"""


@pytest.fixture
def read(put):
    """The rules of a file of this text."""
    return lambda text: read_rules(put("own.toml", text))


def refusal(call, *args: object) -> str:
    """The one line of the error that a call raises."""
    with pytest.raises(DeptreeError) as caught:
        call(*args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_every_kind_of_rules_is_read(read) -> None:
    rules = read(EVERY_KIND)
    assert rules.name == "own.toml-2"
    word = Condition(("det", "!det:poss"), ("DET",), ("Poss=Yes",))
    head = Condition((), ("NOUN",), ("!Typo=Yes",))
    negation = Condition(("advmod",), ("PART",), ("Polarity=Neg",))
    assert list(rules.rules) == [
        kinds.AtMostOne("at-most-one nsubj csubj", ("nsubj", "csubj")),
        kinds.AtMostOne("at-most-one obj", ("obj",)),
        kinds.AtMostOne("few", ("iobj",)),
        kinds.Below("leaf punct", Condition(("punct",))),
        kinds.NoGaps("no-gaps goeswith", ("goeswith",), ("punct",)),
        kinds.NoCrossing("no-crossing punct", ("punct",)),
        kinds.ProjectiveArcs("projective punct", ("punct",)),
        kinds.OutOfGaps("out-of-gaps punct", ("punct",)),
        Mask("mask det !det:poss", word, head, "left", (1, 3), root=False, allow=True),
        kinds.Below("below case", Condition(("case",)), (Condition(("fixed",)), negation)),
        kinds.Below("no objects below nouns", Condition((), ("NOUN",)), (), (Condition(("obj",)),), ("cop",)),
    ]


def test_the_names_in_rules(read) -> None:
    """In whatever field, each once; those that a rule leaves out too; then tags and features of words and heads.

    A subtype knows its label, no other way round.
    """
    rules = read(EVERY_KIND)
    named = "nsubj csubj obj iobj punct goeswith det det:poss case fixed advmod cop"
    assert sorted(rules.labels) == sorted(named.split())
    unknown = not_among(rules, "label", ["nsubj:pass", "det", *named.split()[2:7]])
    assert unknown == named.split()[1:2] + named.split()[7:]
    assert not_among(read('leaf = ["root"]'), "label", []) == []
    assert rules.names["upos"] == ["DET", "NOUN", "PART"]
    assert rules.names["feats"] == ["Poss=Yes", "Typo=Yes", "Polarity=Neg"]
    assert not_among(rules, "upos", ["NOUN"]) == ["DET", "PART"]
    patterns = read('leaf = [["/obl.*/", "!/x+/"], "obj"]')
    assert patterns.names["label"] == ["/obl.*/", "/x+/", "obj"]
    assert not_among(patterns, "label", ["obl:arg", "obj"]) == ["/x+/"]
    assert (patterns.labels, patterns.asks_for) == (("obj",), {"label"})


def test_patterns_of_labels(read) -> None:
    """A pattern is a label of its whole form, never root; it is none of the labels that a file names."""
    rules = read("""
mask = [{ name = "form", label = "!/[a-z]+/" }, { name = "other", label = ["/[a-z]+/", "!obj", "!root"] }]
leaf = [["/.*punct/", "/"]]
""")
    labels = ("obj", "Obj", "dobj", "root", "", "obj:x", "xpunct", "root:x", "ROOT")
    assert reading.labels_forbidden(rules, labels) == {
        "form": ["Obj", "obj:x", "root:x", "ROOT"],
        "other": ["dobj", "xpunct"],
    }
    assert set(rules.labels) == {"obj", "root", "/"}
    (leaf,) = rules.tree_rules
    assert labels_named(leaf.head.label, labels).tolist() == [label == "xpunct" for label in labels]


def test_labels_of_universal_dependencies_are_told_from_others() -> None:
    forbidden = partial(reading.forbidden_labels, read_rules("ud"))
    assert forbidden(["obj", "nsubj:pass", "root", "<pad>", "_"]) == ""
    said = "ud-2026-11 forbids 2 labels of the scores (invalid-deprel, unknown-udeprel): 'dobj', 'Obj'"
    assert forbidden(["obj", "dobj", "root", "Obj"]) == said
    many = [f"L{number}" for number in range(12)]
    for labels in (many, [*many, "root", "<pad>"]):
        said = refusal(forbidden, labels)
        assert said.startswith("ud-2026-11 forbids every label of the scores but root (invalid-deprel): 'L0', ")
        assert "'L9' and 2 others" in said
    assert reading.forbidden_labels(read_rules("tree"), many) == ""


def test_old_labels_mean_new_ones() -> None:
    assert reading.successors("dobj") == ("obj", "obj")
    assert reading.successors("nsubjpass:agent") == ("nsubj:pass", "nsubj")
    assert reading.successors("Obl:Tmod") == ("obl:tmod", "obl")
    assert reading.successors("neg", "PART")[0] == "advmod"
    assert reading.successors("neg", "DET")[0] == "det"


def test_parts_of_speech_and_nothing_but_a_tree(read) -> None:
    assert len(read_rules("ud").upos) == 17
    assert read('upos = ["N", "V"]').upos == ("N", "V")
    tree = read_rules("tree")
    assert (tree.name, tree.rules, tree.upos) == ("tree", (), ())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fields", ["", "label = []", "name = 'x'", "allow = true", "unless = ['cop']"])
def test_a_rule_about_everything_is_refused(read, kind: str, fields: str) -> None:
    said = refusal(read, f"[[{kind}]]\n{fields.replace('true', '[]') if kind == 'below' else fields}\n")
    why = "it is about", "it forbids", "it has no", "there is"
    assert said.startswith(tuple(f"own.toml: rule 1 of '{kind}': {each}" for each in why))


def test_ours_are_named_with_their_version_and_read_the_same_from_a_copy(read) -> None:
    ours = read_rules("ud")
    assert ours.name.startswith("ud-20")
    assert read(reading.text_of("ud")).rules == ours.rules
    assert len({rule.name for rule in ours.rules}) == len(ours.rules) > 30


def test_a_byte_order_mark_asks_for_nothing_nor_does_an_empty_file(read) -> None:
    assert read(b'\xef\xbb\xbfleaf = ["a"]\r\n').rules == read('leaf = ["a"]').rules
    assert read("").rules == ()


@pytest.mark.parametrize(
    ("text", "says"),
    table("""
        leaf = [ | it is not TOML:
        leafs = ["a"] | there is no kind of rules 'leafs'. Did you mean leaf?
        leaf = "a" | 'leaf' is not a list. Give a list of rules: leaf = [...] or [[leaf]].
        leaf = [3] | rule 1 of 'leaf' is 3. Give a table, a list of labels, or a label.
        leaf = ["a", ["b", 3]] | rule 2 of 'leaf': 'label' is ['b', 3]. Give a text, or a list of texts.
        leaf = ["a", ""] | rule 2 of 'leaf': 'label' is [''].
        leaf = [[]] | rule 1 of 'leaf': it has no 'label'. Add label = [...].
        at-most-one = [{}] | rule 1 of 'at-most-one': it has no 'label'.
        no-gaps = [{ between = "a" }] | rule 1 of 'no-gaps': it has no 'label'.
        no-crossing = [{ name = "a" }] | rule 1 of 'no-crossing': it has no 'label'.
        leaf = [{ labels = "a" }] | rule 1 of 'leaf': there is no field 'labels'. Did you mean label?
        leaf = [{ label = "a", zzz = 1 }] | rule 1 of 'leaf': there is no field 'zzz'. Choose one of label, name.
        leaf = ["a", "a"] | two rules are called 'leaf a'. Give each a name of its own.
        leaf = ["/a(/"] | rule 1 of 'leaf': 'label' has the pattern '/a(/': missing ), unterminated subpattern
        below = [{ upos = "X", deny = ["!/[/"] }] | rule 1 of 'below': 'label' has the pattern '!/[/':
        upos = "/N.*/" | 'upos' has the pattern '/N.*/'. Patterns are for labels only: list the names.
        mask = [{ label = "a", upos = ["X", "/N.*/"] }] | rule 1 of 'mask': 'upos' has the pattern
        mask = [{ label = "a", head-upos = ["X", "!/Case=.*/"] }] | rule 1 of 'mask': 'head-upos' has the pattern
        mask = [{ label = "a", feats = ["X", "!/Case=.*/"] }] | rule 1 of 'mask': 'feats' has the pattern
        mask = [{ label = "a", head-feats = ["X", "/N.*/"] }] | rule 1 of 'mask': 'head-feats' has the pattern
        below = [{ label = "a", deny = [{ upos = "/N/" }] }] | rule 1 of 'below': 'upos' has the pattern '/N/'.
        upos = 3 | 'upos' is 3. Give a text, or a list of texts.
        mask = [{ upos = 3 }] | rule 1 of 'mask': 'upos' is 3.
        mask = [{ direction = "up" }] | rule 1 of 'mask': 'direction' is 'up'. Choose one of left, right.
        mask = [{ direction = true }] | rule 1 of 'mask': 'direction' is True. Choose one of left, right.
        mask = [{ root = "yes" }] | rule 1 of 'mask': 'root' is 'yes'. Choose one of true, false.
        mask = [{ allow = 1 }] | rule 1 of 'mask': 'allow' is 1. Choose one of true, false.
        mask = [{ distance = 3 }] | rule 1 of 'mask': 'distance' is 3. Give the least and the most: distance = [1,
        mask = [{ distance = [1] }] | rule 1 of 'mask': 'distance' is [1].
        mask = [{ distance = [1, 2.0] }] | rule 1 of 'mask': 'distance' is [1, 2.0].
        mask = [{ distance = [false, 2] }] | rule 1 of 'mask': 'distance' is [False, 2].
        mask = [{ distance = [5, 2] }] | rule 1 of 'mask': 'distance' is [5, 2].
        below = [{ allow = ["a"], deny = ["b"] }] | rule 1 of 'below': it has both 'allow' and 'deny'. Give one
        below = [{ allow = "a" }] | rule 1 of 'below': 'allow' is 'a'. Give a list of labels and tables.
        below = [{ deny = [3] }] | rule 1 of 'below': 'deny' has 3. Give labels and tables.
        below = [{ deny = [{ form = "a" }] }] | rule 1 of 'below': there is no field 'form'. Choose one of label,
        below = [{ unless = [1] }] | rule 1 of 'below': 'unless' is [1].
    """),
)
def test_what_is_not_understood_is_said(read, text: str, says: tuple[str]) -> None:
    assert refusal(read, text).startswith(f"own.toml: {says[0]}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("leaf = " + "[" * 100_000, "it is not TOML: "),
        (b'leaf = ["\xff"]', "it is not UTF-8. Convert the file to UTF-8."),
        ("[leaf]\nlabel = 'a'", "'leaf' is not a list."),
        ('zzz = ["a"]', f"there is no kind of rules 'zzz'. Choose one of {', '.join(KINDS)}."),
    ],
    ids=["deep", "bytes", "table", "kind"],
)
def test_what_is_no_list_of_rules_is_said(read, text: str | bytes, message: str) -> None:
    assert refusal(read, text).startswith(f"own.toml: {message}")


@pytest.mark.quick
@pytest.mark.parametrize(
    "pattern",
    ["(a+)+", "(a|a)*c", "(ab|c)+", "(a*)*?b", "(a?){20}b", "((a+){2}){2}", "(?=(a+)+)b", "(x(:a*)?)*", "(a+){4,}"],
)
def test_patterns_that_would_take_forever_are_refused(read, pattern: str) -> None:
    assert refusal(read, f'at-most-one = [["!/{pattern}/"]]') == (
        f"own.toml: rule 1 of 'at-most-one': 'label' has the pattern '!/{pattern}/', which may take forever: a group "
        "that repeats has repetitions or alternatives. Repeat such groups at most 3 times: ? or {0,3}."
    )


@pytest.mark.quick
@pytest.mark.parametrize(
    "pattern", ["[a-z]+(:[a-z]+)?", "obl(:.*)?", "(a|b|[cd])+", "(?:ab)*c", "[a-z]+(:[a-z]+){0,3}"]
)
def test_patterns_that_are_fast_are_read(read, pattern: str) -> None:
    assert read(f'leaf = ["/{pattern}/"]').names["label"] == [f"/{pattern}/"]


@pytest.mark.parametrize(
    ("name", "says"),
    table("""
        udd | there are no rules 'udd'. Did you mean ud?
        latin | there are no rules 'latin'. Choose one of ud, tree, misc, or name a .toml or .tsv file.
        none.toml | none.toml: No such file or directory. Pass a file of rules.
        folder.toml | folder.toml: Is a directory. Pass a file of rules.
    """),
)
def test_names_of_no_rules(put, name: str, says: tuple[str]) -> None:
    put("unrelated", "")
    Path("folder.toml").mkdir()
    assert refusal(read_rules, name) == says[0]


def test_several_rules_hold_together(put) -> None:
    """Tags that all allow; what files ask of words in one place; nothing where nothing is asked."""
    put("one.toml", 'upos = ["NOUN", "VERB"]\nleaf = ["det"]\n')
    put("two.toml", 'upos = ["VERB", "X"]\nleaf = ["case"]\n')
    put("a.tsv", "s\t1\tHeadIn\t2\n")
    put("b.tsv.gz", gzip.compress(b"s\t1\t2\n"))
    names = ["one.toml", "a.tsv", "two.toml", "misc", "b.tsv.gz", "one.toml"]
    found = constraints.read_constraints(names)
    assert found.name == ",".join(names)
    assert (found.rules.upos, [rule.name for rule in found.rules.rules]) == (("VERB",), ["leaf det", "leaf case"])
    assert [each.key for each in found.of_words["s"]] == ["HeadIn", "Span"]
    assert (found.in_misc, found.need_trees, constraints.read_constraints([])) == (True, True, None)


LABELS = ("root", "nsubj", "obj")


@pytest.fixture
def of_words(put):
    """What a file of this text asks of the words of sentences."""
    return lambda text: read_word_constraints([put("asked", text)])


def forbidden(asked, n: int = 3) -> set[tuple[int, int, str]]:
    """The arcs with labels that some constraints forbid."""
    choices = [each.forbidden(n, LABELS) for each in asked if each.key != SPAN]
    return {(head, word, LABELS[label]) for word, arcs in choices for head, label in np.argwhere(arcs).tolist()}


def test_rows_of_a_file(of_words) -> None:
    rows = of_words(
        "\ufeff# who has which head\ns-1\t2\tHeadIn\t0,3\ns-1\t2\tNotHead\t0\r\n\n"
        "s-1\t3\tDeprelIn\tnsubj,obj\ns-1\t3\tDeprelNot\tobj\ns-1\t1\t2\ns 2\t2\t3\n"
    )
    assert list(rows) == ["s-1", "s 2"]
    expected = {(head, 2, label) for head in (0, 1, 2) for label in LABELS}
    expected |= {(head, 3, label) for head in range(4) for label in ("root", "obj")}
    assert forbidden(rows["s-1"]) == expected
    spans = {name: [each.span(3) for each in asked if each.key == SPAN] for name, asked in rows.items()}
    assert spans == {"s-1": [(1, 2)], "s 2": [(2, 3)]}
    both = of_words("s\t1\tHeadIn\t2,3\ns\t1\tHeadIn\t3")["s"]  # two lines on one word
    assert forbidden(both) == {(head, 1, label) for head in (0, 1, 2) for label in LABELS}


@pytest.mark.parametrize(
    ("line", "says"),
    table(r"""
        s | Expected 3 or 4 columns, found 1: 's'. Write sent_id, word, key and value between tabs,
        s\t1\tHeadIn\t2\t3 | Expected 3 or 4 columns, found 5:
        \t1\tHeadIn\t2 | Expected 3 or 4 columns, found 4:
        s\tx\tHeadIn\t2 | the word is 'x', not a number from 1 on.
        s\t-1\tHeadIn\t2 | the word is '-1', not a number from 1 on.
        s\t1.5\tHeadIn\t2 | the word is '1.5', not a number from 1 on.
        s\t1_0\tHeadIn\t2 | the word is '1_0', not a number from 1 on.
        s\t1\tHeadln\t2 | there is no constraint 'Headln'. Did you mean HeadIn?
        s\t1\tX\t2 | there is no constraint 'X'. Choose one of HeadIn, NotHead, DeprelIn, DeprelNot.
        s\t1\t-2 | the word is '-2', not a number from 1 on.
        {"sent_id": "s"} | Expected 3 or 4 columns, found 1:
        s\t1\tDeprelIn\t\xff | it is not UTF-8. Convert the file to UTF-8.
    """),
)
def test_a_line_that_is_not_understood_is_said_with_its_place(of_words, line: str, says: tuple[str]) -> None:
    data = line.encode().decode("unicode_escape").encode("latin-1")
    _, _, said = refusal(of_words, b"ok\t1\tHeadIn\t2\n\n" + data).partition("asked:")
    assert said.replace(" (s)", "").startswith(f"3: {says[0]}")


@pytest.mark.parametrize(
    ("line", "says"),
    table(r"""
        s\t4\tHeadIn\t2 | there is no word 4, which is asked for HeadIn. Name words 1 to 3.
        s\t0\tDeprelIn\tobj | there is no word 0, which is asked for DeprelIn.
        s\t1\tHeadIn\t4 | HeadIn of word 1 is '4', not 0 to 3. Correct it.
        s\t1\tNotHead\t2, 3 | NotHead of word 1 is ' 3', not 0 to 3.
        s\t1\tHeadIn\t | HeadIn of word 1 is '', not 0 to 3.
        s\t1\tHeadIn\t-1 | HeadIn of word 1 is '-1', not 0 to 3.
        s\t1\tDeprelIn\tnsub | DeprelIn of word 1 is 'nsub', which is not a label of the scores. Did you mean nsubj?
        s\t1\tDeprelNot\tobj,zzz | DeprelNot of word 1 is 'zzz', which is not a label of the scores. Correct it.
        s\t0\t2 | there are no words 0 to 2. Name words 1 to 3.
        s\t2\t4 | there are no words 2 to 4.
        s\t3\t2 | there are no words 3 to 2.
    """),
)
def test_what_a_sentence_does_not_have_is_said_with_its_line(of_words, line: str, says: tuple[str]) -> None:
    (_, asked) = of_words("s\t1\tHeadIn\t2\n" + line.replace(r"\t", "\t") + "\n")["s"]
    said = refusal(asked.span, 3) if asked.key == SPAN else refusal(asked.forbidden, 3, LABELS)
    assert said.partition("asked:")[2].startswith(f"2: {says[0]}")


def test_labels_that_scores_do_not_have_cannot_be_asked_for(of_words) -> None:
    (asked,) = of_words("s\t1\tDeprelIn\tobj")["s"]
    assert "word 1 is asked for DeprelIn, and there are no labels" in refusal(asked.forbidden, 3, ("",))


def test_a_file_that_cannot_be_read(of_words, tmp_path: Path) -> None:
    assert "no such file" in refusal(read_word_constraints, [str(tmp_path / "none.tsv")])
    assert "is a folder" in refusal(read_word_constraints, [str(tmp_path)])
    assert "the file is empty" in refusal(of_words, "\n")


def in_misc(*misc: str):
    """What the entries of a sentence's words ask for."""
    rows = "".join(f"{number}\tw" + "\t_" * 7 + f"\t{each}\n" for number, each in enumerate(misc, 1))
    return constraints_in_misc(Block(Chunk(f"# sent_id = s\n{rows}\n".encode(), 1), "f.conllu"))


def test_heads_labels_and_spans_in_misc() -> None:
    asked = in_misc("SpaceAfter=No|HeadIn=2,3", "_", "NotHead=1|DeprelIn=obl,nmod|DeprelNot=dep", "X=HeadIn=1")
    assert [f"{place} {word} {key} {','.join(values)}" for word, key, values, place in asked] == [
        f"f.conllu:1 {each}" for each in ("1 HeadIn 2,3", "3 NotHead 1", "3 DeprelIn obl,nmod", "3 DeprelNot dep")
    ]
    spans = in_misc("SpaceAfter=No|Span=1-3", "_", "Span=2-3,1-2|HeadIn=1")
    assert [each.span(3) for each in spans[:3]] == [(1, 3), (2, 3), (1, 2)]
    assert spans[3:] == [(3, "HeadIn", ["1"], "f.conllu:1")]


def test_a_key_twice_is_not_half_ignored() -> None:
    assert refusal(in_misc, "_", "HeadIn=1|HeadIn=3") == "f.conllu:1: word 2 has HeadIn twice. Join them with a comma."


@pytest.mark.quick
@pytest.mark.parametrize(("entry", "is_"), [("HeadIn", ""), ("HeadIn=", ""), ("HeadIn=0,", ""), ("HeadIn=x", "x")])
def test_a_head_that_is_none(entry: str, is_: str) -> None:
    said = refusal(in_misc(entry)[0].forbidden, 1, ("",))
    assert said == f"f.conllu:1: HeadIn of word 1 is '{is_}', not 0 to 1. Correct it."


MEANT = {"headin": "HeadIn", "HeadsIn": "HeadIn", "DeprelIN": "DeprelIn", "DepreIn": "DeprelIn", "NotHeads": "NotHead"}
MEANT |= {"nothead": "NotHead", "DeprelNo": "DeprelNot", "SPAN": "Span", "Spans": "Span"}


@pytest.mark.quick
@pytest.mark.parametrize("key", MEANT)
def test_misspelt_keys_are_not_ignored(key: str) -> None:
    said = refusal(in_misc, "HeadIn=2", f"SpaceAfter=No|{key}=1")
    assert said == f"f.conllu:1: word 2 has '{key}' in MISC. Did you mean {MEANT[key]}?"


def test_keys_of_others_are_ignored() -> None:
    """Those of UD and its treebanks, those that repair writes, and entries that are none."""
    keys = "SpaceAfter SpacesAfter SpacesBefore Translit LTranslit Gloss Head Ref Entity OldHead OldDeprel CorrectForm"
    more = "NewPar Lang Typo MSeg MGloss Cxn Subject Bridge SplitAnte Heads Deprel Dep Rel DepHead Spa In Not _ Xml"
    assert in_misc("|".join(f"{key}=1" for key in f"{keys} {more}".split()), "head|=|Headed") == []


@pytest.mark.quick
@pytest.mark.parametrize("text", ["", "3", "1-", "1:3", "a-b", "-1-2"])
def test_half_a_span_is_not_ignored(text: str) -> None:
    said = refusal(in_misc, "_", f"Span={text}")
    assert said == f"f.conllu:1: Span of word 2 is '{text}'. Write Span=3-7 for words 3 to 7."


def test_the_example_of_repair_holds() -> None:
    assert doctest.testmod(constraints, extraglobs={"np": np}).failed == 0


RIGHT = ([2, 3, 0, 3], ("det", "nsubj", "root", "punct"))
WRONG = ["4 3 punct", "3 3 root", "2 1 nsubj", "4 99 punct", "4 _ punct", "3 _ _", "4 0 punct", "2 3 Nsubj"]


@pytest.mark.quick
@pytest.mark.parametrize("wrong", WRONG)
def test_one_change_is_enough(wrong: str) -> None:
    """Of a sentence that was right but for a word, the tree that it was."""
    (heads, labels), (word, head, label) = map(list, RIGHT), wrong.split()
    heads[int(word) - 1] = None if head == "_" else int(head)
    labels[int(word) - 1] = None if label == "_" else label
    found = repaired(heads, labels, ["DET", "NOUN", "VERB", "PUNCT"])
    assert found.certified
    assert (found.heads.tolist(), found.labels) == RIGHT


@pytest.mark.parametrize("root", ["root", "ROOT"])
def test_a_tree_that_has_no_label_but_that_of_roots_gets_another(root: str) -> None:
    """However it is written."""
    found = repaired([0, 0], [root, root], rules="tree")
    assert sorted(found.heads.tolist()) in ([0, 1], [0, 2])
    assert {*found.labels} == {root, "dep"}


def test_the_space_that_a_repaired_tree_is_of() -> None:
    odd = [2, 3, 0, 0], ["x", "y", "root", "root"]
    assert (repaired(*odd, rules="tree").heads == 0).sum() == 1
    assert repaired(*odd, rules="tree", single_root=False).heads.tolist() == odd[0]
    crossing = [3, 4, 0, 3]
    assert repaired(crossing, rules="tree").heads.tolist() == crossing
    assert repaired(crossing, rules="tree", projective=True).heads.tolist() != crossing


def test_scores_decide_between_trees_that_change_as_much() -> None:
    """A self-loop may become anything; the probable arc is taken, and a worth of 0 nats takes the best tree."""
    scores = np.zeros((4, 4))
    scores[3, 1] = scores[1, 3] = 2.0
    distribution = TreeDistribution(scores)
    assert repaired([1, 0, 2], rules="tree", scores=distribution).heads.tolist() == [3, 0, 2]
    assert repaired([2, 0, 2], rules="tree", scores=distribution).heads.tolist() == [2, 0, 2]
    best = repaired([2, 0, 2], rules="tree", scores=distribution, worth=0.0)
    assert best.heads.tolist() == distribution.argmax().tolist()
    scores[0, 1] = -np.inf  # a given head that scores forbid may stay
    assert repaired([0, 1, 2], rules="tree", scores=TreeDistribution(scores)).heads.tolist() == [0, 1, 2]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("ahead", "worth", "label"), [(9.0, np.inf, "obj"), (0.5, 1.0, "obj"), (2.0, 1.0, "iobj"), (2.0, 0.1, "iobj")]
)
def test_a_label_of_v1_is_that_of_v2_whatever_scores_say(ahead: float, worth: float, label: str) -> None:
    """Unless another label gains more than a change is worth."""
    scores = np.zeros((3, 3, 3))
    scores[..., 0] = ahead
    distribution = TreeDistribution(scores, labels=["iobj", "obj", "root"])
    found = repaired([2, 0], ["dobj", "root"], ["NOUN", "VERB"], scores=distribution, worth=worth)
    assert (found.heads.tolist(), found.labels) == ([2, 0], (label, "root"))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"labels": ["a"]}, "1 labels for 2 heads"),
        ({"upos": ["NOUN"] * 3}, "3 upos for 2 heads"),
        ({"scores": TreeDistribution(np.zeros((4, 4)))}, "the scores are of 3 words, the heads of 2"),
        ({"rules": "udd"}, "there are no rules 'udd'"),
    ],
)
def test_what_does_not_fit_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(DeptreeError, match=message):
        repaired([0, 1], **wrong)
