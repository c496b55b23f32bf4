"""Rules by name and from files: what is read, and what each misunderstanding says, in one line with the file's name."""

from __future__ import annotations

import gzip
from functools import partial
from pathlib import Path

import pytest

from deptree_cli.core import rules as kinds
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.rules import Condition, Mask, labels_named
from deptree_cli.io.rules.constraints import read_constraints
from deptree_cli.io.rules.reading import (
    KINDS,
    forbidden_labels,
    labels_forbidden,
    not_among,
    read_rules,
    successors,
    text_of,
)

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
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The rules of a file of this text."""
    monkeypatch.chdir(tmp_path)

    def read_text(text: str | bytes):
        Path("own.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_rules("own.toml")

    return read_text


def test_every_kind_of_rules_is_read(read) -> None:
    rules = read(EVERY_KIND)
    assert rules.name == "own.toml-2"
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
        Mask(
            "mask det !det:poss",
            Condition(("det", "!det:poss"), ("DET",), ("Poss=Yes",)),
            Condition((), ("NOUN",), ("!Typo=Yes",)),
            "left",
            (1, 3),
            False,
            True,
        ),
        kinds.Below("below case", Condition(("case",)), (Condition(("fixed",)), negation)),
        kinds.Below("no objects below nouns", Condition((), ("NOUN",)), (), (Condition(("obj",)),), ("cop",)),
    ]


def test_the_labels_that_they_name(read) -> None:
    """In whatever field, each once; those that a rule leaves out too. A subtype knows its label, no other way round."""
    rules = read(EVERY_KIND)
    named = "nsubj csubj obj iobj punct goeswith det det:poss case fixed advmod cop"
    assert sorted(rules.labels) == sorted(named.split())
    unknown = not_among(rules, "label", ["nsubj:pass", "det", *named.split()[2:7]])
    assert unknown == named.split()[1:2] + named.split()[7:]
    assert not_among(read('leaf = ["root"]'), "label", []) == []


def test_other_names_in_rules(read) -> None:
    """Tags and features of words, of heads and in parts of rules; features that are left out too; and patterns."""
    rules = read(EVERY_KIND)
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
    assert labels_forbidden(rules, labels) == {"form": ["Obj", "obj:x", "root:x", "ROOT"], "other": ["dobj", "xpunct"]}
    assert set(rules.labels) == {"obj", "root", "/"}
    (leaf,) = rules.tree_rules
    assert labels_named(leaf.head.label, labels).tolist() == [label == "xpunct" for label in labels]


def test_labels_of_universal_dependencies_are_told_from_others() -> None:
    forbidden = partial(forbidden_labels, read_rules("ud"))
    assert forbidden(["obj", "nsubj:pass", "root", "<pad>", "_"]) == ""
    said = "ud-2026-11 forbids 2 labels of the scores (invalid-deprel, unknown-udeprel): 'dobj', 'Obj'"
    assert forbidden(["obj", "dobj", "root", "Obj"]) == said
    many = [f"L{number}" for number in range(12)]
    for labels in (many, [*many, "root", "<pad>"]):
        with pytest.raises(DeptreeError) as caught:
            forbidden(labels)
        assert caught.value.problem.startswith(
            "ud-2026-11 forbids every label of the scores but root (invalid-deprel): 'L0', "
        )
        assert caught.value.problem.endswith("'L9' and 2 others")
    assert forbidden_labels(read_rules("tree"), many) == ""


def test_old_labels_mean_new_ones() -> None:
    assert successors("dobj") == ("obj", "obj")
    assert successors("nsubjpass:agent") == ("nsubj:pass", "nsubj")
    assert successors("Obl:Tmod") == ("obl:tmod", "obl")
    assert successors("neg", "PART")[0] == "advmod"
    assert successors("neg", "DET")[0] == "det"


def test_parts_of_speech_and_nothing_but_a_tree(read) -> None:
    assert len(read_rules("ud").upos) == 17
    assert read('upos = ["N", "V"]').upos == ("N", "V")
    tree = read_rules("tree")
    assert (tree.name, tree.rules, tree.upos) == ("tree", (), ())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fields", ["", "label = []", "name = 'x'", "allow = true", "unless = ['cop']"])
def test_a_rule_about_everything_is_refused(read, kind: str, fields: str) -> None:
    with pytest.raises(
        DeptreeError, match=rf"own.toml: rule 1 of '{kind}': (it is about|it forbids|it has no|there is)"
    ):
        read(f"[[{kind}]]\n{fields.replace('true', '[]') if kind == 'below' else fields}\n")


def test_ours_are_named_with_their_version_and_read_the_same_from_a_copy(read) -> None:
    ours = read_rules("ud")
    assert ours.name.startswith("ud-20")
    assert read(text_of("ud")).rules == ours.rules
    assert len({rule.name for rule in ours.rules}) == len(ours.rules) > 30


def test_a_byte_order_mark_is_no_rule(read) -> None:
    assert read(b'\xef\xbb\xbfleaf = ["a"]\r\n').rules == read('leaf = ["a"]').rules


def test_a_file_without_rules_asks_for_nothing(read) -> None:
    assert read("").rules == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("leaf = [", "it is not TOML: "),
        ("leaf = " + "[" * 100_000, "it is not TOML: "),
        (b'leaf = ["\xff"]', "it is not UTF-8. Convert the file to UTF-8."),
        ('leafs = ["a"]', "there is no kind of rules 'leafs'. Did you mean leaf?"),
        ('zzz = ["a"]', f"there is no kind of rules 'zzz'. Choose one of {', '.join(KINDS)}."),
        ('leaf = "a"', "'leaf' is not a list. Give a list of rules: leaf = [...] or [[leaf]]."),
        ("[leaf]\nlabel = 'a'", "'leaf' is not a list."),
        ("leaf = [3]", "rule 1 of 'leaf' is 3. Give a table, a list of labels, or a label."),
        ('leaf = ["a", ["b", 3]]', "rule 2 of 'leaf': 'label' is ['b', 3]. Give a text, or a list of texts."),
        ('leaf = ["a", ""]', "rule 2 of 'leaf': 'label' is ['']."),
        ("leaf = [[]]", "rule 1 of 'leaf': it has no 'label'. Add label = [...]."),
        ("at-most-one = [{}]", "rule 1 of 'at-most-one': it has no 'label'."),
        ('no-gaps = [{ between = "a" }]', "rule 1 of 'no-gaps': it has no 'label'."),
        ('no-crossing = [{ name = "a" }]', "rule 1 of 'no-crossing': it has no 'label'."),
        ('leaf = [{ labels = "a" }]', "rule 1 of 'leaf': there is no field 'labels'. Did you mean label?"),
        ('leaf = [{ label = "a", zzz = 1 }]', "rule 1 of 'leaf': there is no field 'zzz'. Choose one of label, name."),
        ('leaf = ["a", "a"]', "two rules are called 'leaf a'. Give each a name of its own."),
        ('leaf = ["/a(/"]', "rule 1 of 'leaf': 'label' has the pattern '/a(/': missing ), unterminated subpattern"),
        ('below = [{ upos = "X", deny = ["!/[/"] }]', "rule 1 of 'below': 'label' has the pattern '!/[/': "),
        ('upos = "/N.*/"', "'upos' has the pattern '/N.*/'. Patterns are for labels only: list the names."),
        *(
            (f'mask = [{{ label = "a", {field} = ["X", "{text}"] }}]', f"rule 1 of 'mask': {field!r} has the pattern")
            for field in ("upos", "head-upos", "feats", "head-feats")
            for text in ("/N.*/", "!/Case=.*/")
        ),
        ('below = [{ label = "a", deny = [{ upos = "/N/" }] }]', "rule 1 of 'below': 'upos' has the pattern '/N/'."),
        ("upos = 3", "'upos' is 3. Give a text, or a list of texts."),
        ("mask = [{ upos = 3 }]", "rule 1 of 'mask': 'upos' is 3."),
        ('mask = [{ direction = "up" }]', "rule 1 of 'mask': 'direction' is 'up'. Choose one of left, right."),
        ("mask = [{ direction = true }]", "rule 1 of 'mask': 'direction' is True. Choose one of left, right."),
        ('mask = [{ root = "yes" }]', "rule 1 of 'mask': 'root' is 'yes'. Choose one of true, false."),
        ("mask = [{ allow = 1 }]", "rule 1 of 'mask': 'allow' is 1. Choose one of true, false."),
        ("mask = [{ distance = 3 }]", "rule 1 of 'mask': 'distance' is 3. Give the least and the most: distance = [1,"),
        ("mask = [{ distance = [1] }]", "rule 1 of 'mask': 'distance' is [1]."),
        ("mask = [{ distance = [1, 2.0] }]", "rule 1 of 'mask': 'distance' is [1, 2.0]."),
        ("mask = [{ distance = [false, 2] }]", "rule 1 of 'mask': 'distance' is [False, 2]."),
        ("mask = [{ distance = [5, 2] }]", "rule 1 of 'mask': 'distance' is [5, 2]."),
        ('below = [{ allow = ["a"], deny = ["b"] }]', "rule 1 of 'below': it has both 'allow' and 'deny'. Give one"),
        ('below = [{ allow = "a" }]', "rule 1 of 'below': 'allow' is 'a'. Give a list of labels and tables."),
        ("below = [{ deny = [3] }]", "rule 1 of 'below': 'deny' has 3. Give labels and tables."),
        ('below = [{ deny = [{ form = "a" }] }]', "rule 1 of 'below': there is no field 'form'. Choose one of label,"),
        ("below = [{ unless = [1] }]", "rule 1 of 'below': 'unless' is [1]."),
    ],
)
def test_what_is_not_understood_is_said(read, text: str | bytes, message: str) -> None:
    with pytest.raises(DeptreeError) as caught:
        read(text)
    assert str(caught.value).startswith(f"own.toml: {message}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+", "(a|a)*c", "(ab|c)+", "(a*)*?b", "(a?){20}b", "((a+){2}){2}", "(?=(a+)+)b", "(x(:a*)?)*", "(a+){4,}"],
)
def test_patterns_that_would_take_forever_are_refused(read, pattern: str) -> None:
    with pytest.raises(DeptreeError) as caught:
        read(f'at-most-one = [["!/{pattern}/"]]')
    assert str(caught.value) == (
        f"own.toml: rule 1 of 'at-most-one': 'label' has the pattern '!/{pattern}/', which may take forever: a group "
        "that repeats has repetitions or alternatives. Repeat such groups at most 3 times: ? or {0,3}."
    )


@pytest.mark.parametrize(
    "pattern", ["[a-z]+(:[a-z]+)?", "obl(:.*)?", "(a|b|[cd])+", "(?:ab)*c", "[a-z]+(:[a-z]+){0,3}"]
)
def test_patterns_that_are_fast_are_read(read, pattern: str) -> None:
    assert read(f'leaf = ["/{pattern}/"]').names["label"] == [f"/{pattern}/"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("udd", "there are no rules 'udd'. Did you mean ud?"),
        ("latin", "there are no rules 'latin'. Choose one of ud, tree, misc, or name a .toml or .tsv file."),
        ("none.toml", "none.toml: No such file or directory. Pass a file of rules."),
        ("folder.toml", "folder.toml: Is a directory. Pass a file of rules."),
    ],
)
def test_names_of_no_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.toml").mkdir()
    with pytest.raises(DeptreeError) as caught:
        read_rules(name)
    assert str(caught.value) == message


def test_several_rules_hold_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tags that all allow; what files ask of words in one place; nothing where nothing is asked."""
    monkeypatch.chdir(tmp_path)
    Path("one.toml").write_text('upos = ["NOUN", "VERB"]\nleaf = ["det"]\n', encoding="utf-8")
    Path("two.toml").write_text('upos = ["VERB", "X"]\nleaf = ["case"]\n', encoding="utf-8")
    Path("a.tsv").write_text("s\t1\tHeadIn\t2\n", encoding="utf-8")
    Path("b.tsv.gz").write_bytes(gzip.compress(b"s\t1\t2\n"))
    found = read_constraints(["one.toml", "a.tsv", "two.toml", "misc", "b.tsv.gz", "one.toml"])
    assert found is not None
    assert found.name == "one.toml,a.tsv,two.toml,misc,b.tsv.gz,one.toml"
    assert (found.rules.upos, [rule.name for rule in found.rules.rules]) == (("VERB",), ["leaf det", "leaf case"])
    assert [each.key for each in found.of_words["s"]] == ["HeadIn", "Span"]
    assert (found.in_misc, found.need_trees, read_constraints([])) == (True, True, None)
