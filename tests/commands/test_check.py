"""``deptree check``: rows, counts and exit statuses, of trees that obey or do not, and of what is no tree."""

from __future__ import annotations

import csv
import gzip
import io
import tomllib
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.io.rules.reading import KINDS
from tests.sample import DATA

# A predicate with two subjects, a noun as a determiner; a sentence that obeys; one without a label and a UPOS.
TREES = """\
# sent_id = two
1\tDogs\tdog\tNOUN\t_\t_\t3\tnsubj\t_\t_
2\tcats\tcat\tNOUN\t_\t_\t3\tnsubj:pass\t_\tHeadIn=1,2|DeprelIn=conj
3\tsleep\tsleep\tVERB\t_\t_\t0\troot\t_\tSpan=3-5
4\tway\tway\tNOUN\t_\t_\t3\tdet\t_\t_
5\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\t_

# sent_id = fine
1\tYes\tyes\tINTJ\t_\t_\t0\troot\t_\t_

# sent_id = bare
1\tOh\toh\tINTJ\t_\t_\t2\t_\t_\tNotHead=2|DeprelNot=nsubj
2\tno\tno\t_\t_\t_\t0\troot\t_\t_

"""
TWO = {"sent_id": "two", "rule": "too-many-subjects", "word": 1, "form": "Dogs", "head": 3, "deprel": "nsubj"}
DET = {"sent_id": "two", "rule": "rel-upos-det", "word": 4, "form": "way", "head": 3, "deprel": "det"}
COLUMNS = [*TWO, "words"]


@pytest.fixture
def trees(put) -> None:
    put("trees.conllu", TREES)


def rules_of(ran) -> list[str]:
    return [row["rule"] for row in ran.rows]


def test_a_row_for_each_place_and_what_is_counted(deptree, trees) -> None:
    ran = deptree("check trees.conllu")
    assert ran.code == 1
    assert ran.rows == [{**DET, "words": [4]}, {**TWO, "words": [1, 2]}]
    counted = [line.split() for line in ran.said if "-" in line]
    assert counted == [["rel-upos-det", "1", "1"], ["too-many-subjects", "1", "1"]]
    assert ran.said[-3:] == [
        "deptree: 1 word without UPOS: rules that ask for it are not applied to them",
        "deptree: 1 word without DEPREL: rules that ask for it are not applied to them",
        "deptree: rules are broken in 1 of 3 sentences, at 2 places",
    ]
    assert deptree("check trees.conllu -q").err == ""


def test_rows_of_several_files_have_file_and_line(deptree, put, trees) -> None:
    put("more.conllu", TREES)
    rows = deptree("check trees.conllu more.conllu").rows
    places = [(name, line) for name in ("trees.conllu", "more.conllu") for line in (5, 2)]
    assert [(row["file"], row["line"]) for row in rows] == places
    (first, *_) = deptree("check trees.conllu more.conllu --tsv").out.decode().splitlines()
    assert first.split("\t") == [*COLUMNS, "file", "line"]


def test_tsv_and_a_table_have_the_words_with_commas(deptree, terminal, trees) -> None:
    signature, _, table = deptree("check trees.conllu --tsv --header").out.decode().partition("\n")
    assert signature == "# deptree|check|root:single|rules:ud-2026-11|v:0.1.0"
    header, *rows = csv.reader(io.StringIO(table), delimiter="\t")
    assert (header, [row[-1] for row in rows]) == (COLUMNS, ["4", "1,2"])
    assert deptree("check trees.conllu -o x.tsv").code == 1
    assert Path("x.tsv").read_text() == table
    code, shown = terminal("check", "trees.conllu")
    assert code == 1
    assert [text for text in (*COLUMNS, "too-many-subjects", "1,2", "at 2 places") if text not in shown] == []


def test_trees_that_obey(done, terminal) -> None:
    """Nothing but a line, on a terminal too; gzipped or from standard input, by any number of workers."""
    ran = done("check $GOLD -j 2")
    assert (ran.out, ran.err) == (b"", "deptree: no rule is broken in 8 sentences\n")
    assert done("check -", stdin=gzip.compress((DATA / "gold.conllu").read_bytes())).said == ran.said
    assert done("check $GOLD $DATA/raw_gold.conllu").said[-1].startswith("deptree: no rule")
    code, shown = terminal("check", DATA / "gold.conllu")
    assert (code, shown.split("\n")[0].strip()) == (0, ran.said[0])


def test_what_is_asked_of_words(deptree, put, trees) -> None:
    """In MISC or in files; of a word without a label no label is asked, and labels that no word has may be named."""
    put("none.toml", 'name = "none"\n')
    put("asked.tsv", "two\t2\tDeprelNot\tnsubj:pass\nbare\t1\tDeprelIn\tx\n")
    put("far.tsv", "two\t9\tHeadIn\t1\n")
    own = "--rules none.toml --rules"
    found = [(row["rule"], row["word"]) for row in deptree(f"check trees.conllu {own} misc").rows]
    assert found == [("HeadIn", 2), ("DeprelIn", 2), ("NotHead", 1)]
    assert rules_of(deptree(f"check trees.conllu {own} asked.tsv")) == ["DeprelNot"]
    put("samples.conllu", TREES.replace("sent_id = two", "sent_id = two/sample_2"))
    assert [row["sent_id"] for row in deptree(f"check samples.conllu {own} asked.tsv").rows] == ["two/sample_2"]
    ran = deptree(f"check trees.conllu {own} asked.jsonl")
    start = "deptree: there are no rules 'asked.jsonl'. Constraints of words are rows between tabs: sent_id, word, key,"
    assert ran.said == [f"{start} value; or sent_id, first, last."]
    assert "(two): there is no word 9, which is asked for HeadIn" in deptree(f"check trees.conllu {own} far.tsv").err


def test_spans(deptree, put, trees) -> None:
    put("spans.tsv", "two\t1\t2\nfine\t1\t1\n")
    put("else.tsv", "three\t1\t2\n")
    rows = deptree("check trees.conllu --rules ud --rules spans.tsv").rows
    assert {**TWO, "rule": "spans", "words": [1, 2]} in rows
    assert "spans" not in rules_of(deptree("check trees.conllu --rules misc"))
    ran = deptree("check trees.conllu --rules else.tsv -q")
    assert (ran.code, ran.said) == (2, ["deptree: else.tsv:1 (three): no sentence has this name. Correct the name."])


def test_rules_of_ones_own(done, deptree, put, trees) -> None:
    put("mine.toml", 'name = "mine"\nat-most-one = ["punct"]\n')
    assert done("check trees.conllu --rules mine.toml").out == b""
    put("yours.toml", 'name = "yours"\nversion = "2"\nleaf = [{ name = "quiet", label = "root" }]\n')
    first, *rows = deptree("check trees.conllu --rules yours.toml --header").rows
    assert first == {"signature": "deptree|check|root:single|rules:yours.toml-2|v:0.1.0"}
    assert {row["rule"] for row in rows} == {"quiet"}


TYPOS = """
at-most-one = [["nsubjj", "iobj:agent"], ["root"]]
leaf = ["clf"]
no-gaps = [{ label = "flat", between = ["puncct"] }]
below = [{ label = "markk", deny = ["!conjj", { label = "det:poss" }], unless = "ccompp" }]
mask = [
    { label = ["!advmodd"], direction = "left", distance = [50, 99] },
    { label = ["obl", "/obll.*/", "/obl.*/"], upos = ["NOUN", "NOUNN"], head-feats = ["!Cas=Nom", "Typo=Yes"] },
    { label = "det", head-upos = "!VERB", feats = ["Number=Sing", "Zzz=Q"] },
]
"""


def test_names_that_only_the_rules_have_are_named(done, deptree, put) -> None:
    """Labels, tags, features and patterns, wherever rules are read, for scores too.

    What our own rules name, `clf` and `Typo=Yes`, may be missing from a treebank. Where no word has any UPOS or FEATS,
    a line says, or nothing, that rules about these are not applied.
    """
    put("mine.toml", TYPOS)
    tags = "UPOS that no word has: 'NOUNN' (did you mean NOUN?), '!VERB' (did you mean VERB?)"
    feats = "FEATS that no word has: 'Cas=Nom' (did you mean Case=Nom?), 'Zzz=Q'"
    labels = (
        "'nsubjj' (did you mean nsubj?), 'iobj:agent', 'puncct' (did you mean punct?), 'markk' (did you mean mark?),"
        " 'conjj' (did you mean conj?), 'det:poss', 'ccompp' (did you mean ccomp?), 'advmodd' (did you mean advmod?),"
        " '/obll.*/'"
    )
    named = f"deptree: mine.toml names labels that no word has: {labels}; {tags}; {feats}"
    scores = "$SCORES $LABELS --rules mine.toml --conllu $GOLD"

    def said(line: str) -> list[str]:
        return [line for line in deptree(line).said if " names " in line]

    for line in ("check $GOLD", "repair $GOLD", "check $GOLD -j 2"):
        assert said(f"{line} --rules mine.toml") == [named]
    for command in ("decode", "sample", "marginals"):
        first, second = said(f"{command} {scores}")
        assert first.startswith(
            "deptree: mine.toml names labels that are not in --labels: 'nsubjj' (did you mean nsubj"
        )
        assert first.endswith(", '/obll.*/'")
        assert second == f"deptree: mine.toml names {tags}; {feats}"
    assert said(f"report {scores} -o x.html") == [named]
    for line in ("check $GOLD", "check $GOLD --rules mine.toml -q", f"decode {scores} --rules ud -q"):
        assert said(line) == []
    rows = [line.split("\t") for line in (DATA / "gold.conllu").read_text(encoding="utf-8").splitlines()]
    bare = ["\t".join([*row[:3], "_", "_", "_", *row[6:]]) if len(row) == 10 else row[0] for row in rows]
    put("bare.conllu", "\n".join(bare) + "\n\n")
    assert said("check bare.conllu --rules mine.toml") == [named.partition(";")[0]]
    assert "without UPOS" in deptree("check bare.conllu --rules mine.toml").err


@pytest.mark.parametrize("line", ["check {}", "repair {} -j 2 -o x.conllu", "decode $SCORES --conllu {}"])
def test_a_file_without_any_constraint_is_told(deptree, put, line: str) -> None:
    """Under --rules misc, once, also where there are scores; not if one word of one sentence has one."""
    none = "deptree: 0 constraints in MISC: no word has HeadIn, NotHead, DeprelIn, DeprelNot or Span"
    first, _, last = (DATA / "gold.conllu").read_text(encoding="utf-8").rpartition("\t_\n")
    put("one.conllu", f"{first}\tNotHead=1\n{last}")
    assert deptree(line.format("$GOLD"), "--rules", "misc").said.count(none) == 1
    assert none not in deptree(line.format("$GOLD"), "--rules", "tree").said
    assert none not in deptree(line.format("one.conllu"), "--rules", "misc").said


EVERY_KIND = """
at-most-one = ["obj"]
leaf = ["det"]
no-gaps = ["flat"]
no-crossing = ["punct", "case"]
projective = ["punct", "case"]
out-of-gaps = ["punct", "case"]
mask = [{ label = "case", direction = "left", head-upos = "NOUN", distance = [3, 9] }]
below = [{ label = "obl", deny = ["obl"], unless = ["cop"] }]
"""


@pytest.mark.slow("size")
@pytest.mark.parametrize("rules", ["ud", "every.toml"])
def test_memory_grows_with_the_length_of_a_sentence_not_with_its_square(deptree, put, rules: str) -> None:
    """A star and a random tree of 1,000 words, which break rules of every kind: 11 MB are all arcs with labels."""
    n, rng = 1000, np.random.default_rng(1)
    labels = ["nsubj", "obj", "obl", "det", "case", "punct", "flat", "goeswith", "conj", "mark"]
    assert tomllib.loads(EVERY_KIND).keys() == KINDS.keys()
    put("every.toml", EVERY_KIND)
    heads = [[0] + [1] * (n - 1), [0, *(int(rng.integers(1, word)) for word in range(2, n + 1))]]
    misc = "HeadIn=3|DeprelNot=obj|NotHead=1|DeprelIn=obl"
    text = "".join(
        f"{word}\tw\t_\tNOUN\t_\tA=B\t{head}\t{'root' if word == 1 else labels[word % 10]}\t_\t{misc}\n" * (word < n)
        + f"{word}\tw\t_\tNOUN\t_\t_\t{head}\tpunct\t_\t_\n\n" * (word == n)
        for tree in heads
        for word, head in enumerate(tree, 1)
    )
    put("long.conllu", text)
    deptree(f"check long.conllu --rules {rules}")  # imports
    tracemalloc.start()
    try:
        ran = deptree(f"check long.conllu --rules {rules} --rules misc -q")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(set(rules_of(ran))) >= 10
    assert peak < 15e6


def test_decoded_under_rules_nothing_is_broken(done, deptree) -> None:
    """What `decode --rules ud` writes obeys; samples without rules of the same sentences do not."""
    scores = "$SCORES $LABELS $SENTENCES -q"
    assert done("check -", stdin=done(f"decode {scores} --rules ud").out).out == b""
    assert deptree("check -", stdin=done(f"sample {scores} -k 20 --seed 7").out).code == 1


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ("check", "Leave out the longest ones."),
        ("measure", "Leave out the longest ones."),
        ("measure -k 2", "Ask for fewer trees, or leave out the longest ones."),
    ],
)
def test_what_helps_where_memory_ends(deptree, trees, monkeypatch, line: str, remedy: str) -> None:
    """Sentences pass one by one, so fewer of them, as `--shard` gives, would not help; fewer trees do, if there are."""

    def end(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("deptree_cli.commands.check.Check.__call__", end)
    monkeypatch.setattr("deptree_cli.commands.measure.Measure.of_many", end)
    said = deptree(f"{line} trees.conllu").said
    assert said == [f"deptree: there is not enough memory for these sentences. {remedy}"]


# Every way in which heads are no tree, beside a rule of another kind.
BROKEN = """\
# sent_id = roots
1\tGo\t_\tVERB\t_\t_\t0\troot\t_\t_
2\trun\t_\tVERB\t_\t_\t0\troot\t_\t_
3\tlaps\t_\tNOUN\t_\t_\t2\tdobj\t_\t_

# sent_id = cycle
1\tDogs\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tsleep\t_\tVERB\t_\t_\t1\tObj\t_\t_
3\there\t_\tADV\t_\t_\t2\tadvmod\t_\t_
4\tway\t_\tnoun\t_\t_\t2\tdet\t_\t_

# sent_id = heads
1\tDogs\t_\tNOUN\t_\t_\t9\tnsubj\t_\tHeadIn=2
2\tsleep\t_\tVERB\t_\t_\t0\troot\t_\t_
3\tall\t_\tDET\t_\t_\t3\tdet\t_\t_
4\tday\t_\tNOUN\t_\t_\t_\tobl\t_\tHeadIn=2
5\tlong\t_\tADJ\t_\t_\tx\tadvmod\t_\tNotHead=2

"""


def test_what_is_no_tree(deptree, put) -> None:
    """It is named as the validator names it, and every other rule that can still be decided goes on."""
    put("broken.conllu", BROKEN)
    ran = deptree("check broken.conllu --rules ud --rules misc")
    assert ran.code == 1
    assert [(row["sent_id"], row["rule"], row["words"]) for row in ran.rows] == [
        ("roots", "multiple-roots", [1, 2]),
        ("roots", "unknown-udeprel", [3]),
        ("cycle", "non-tree", [1, 2]),
        ("cycle", "invalid-deprel", [2]),
        ("cycle", "rel-upos-det", [4]),
        ("cycle", "unknown-upos", [4]),
        ("heads", "invalid-head", [4, 5]),
        ("heads", "unknown-head", [1]),
        ("heads", "head-self-loop", [3]),
        ("heads", "HeadIn", [1]),
    ]
    assert [row["head"] for row in ran.rows[-4:]] == [None, 9, 3, 9]
    assert ran.said[-1] == "deptree: rules are broken in 3 of 3 sentences, at 10 places"
    assert deptree("check broken.conllu --rules ud --rules misc -j 2").out == ran.out


def test_nothing_but_a_tree(deptree, put) -> None:
    """By `tree` no label and no tag is wrong; how many roots there may be, and whether arcs may cross, is asked for."""
    put("broken.conllu", BROKEN)
    names = ["multiple-roots", "non-tree", "invalid-head", "unknown-head", "head-self-loop"]
    assert rules_of(deptree("check broken.conllu --rules tree")) == names
    signature, *rows = deptree("check broken.conllu --rules tree --multi-root --header").rows
    assert signature == {"signature": "deptree|check|root:multi|rules:tree|v:0.1.0"}
    assert [row["rule"] for row in rows] == names[1:]
    row = "{}\ta\t_\tX\t_\t_\t{}\tdep\t_\t_\n"
    put("crossing.conllu", "".join(row.format(*each) for each in enumerate([4, 3, 0, 3], 1)))
    assert deptree("check crossing.conllu --rules tree").rows == []
    rows = deptree("check crossing.conllu --rules tree --projective").rows
    assert [(row["rule"], row["words"]) for row in rows] == [("projective", [1, 3]), ("projective", [3, 1])]


# Ranges of multiword tokens that end beyond the sentence, overlap, or stand behind their words.
TOKENS = {
    "far": ("1-999999999 1 2 3", "word-interval-out", "1-999999999"),
    "end": ("1-1 1 2 3 4-5", "word-interval-out", "4-5"),
    "twice": ("1-2 1 2-3 2 3", "overlapping-word-intervals", "2-3"),
    "behind": ("1 2 1-2 3", "misplaced-word-interval", "1-2"),
    "right": ("1 2-3 2 3", "", ""),
}


def with_tokens(names: Iterable[str] = TOKENS) -> str:
    """A sentence of three words for each name."""
    rows = {"1": "1\tw1\t_\tVERB\t_\t_\t0\troot\t_\t_\n"}
    rows |= {each: f"{each}\tw{each}\t_\tVERB\t_\t_\t1\tconj\t_\t_\n" for each in "23"}
    texts = (
        "".join(rows.get(each, f"{each}\tt{each}" + "\t_" * 8 + "\n") for each in TOKENS[name][0].split())
        for name in names
    )
    return "".join(f"# sent_id = {name}\n{text}\n" for name, text in zip(names, texts, strict=True))


def test_multiword_tokens_that_are_not_in_front_of_their_words(deptree, put) -> None:
    """They are listed by the validator's names, under any rules, whether or not heads are trees; counted, too."""
    put("tokens.conllu", with_tokens())
    ran = deptree("check tokens.conllu")
    assert ran.code == 1
    found = [(row["sent_id"], row["rule"], row["form"]) for row in ran.rows]
    assert found == [(name, rule, f"t{token}") for name, (_, rule, token) in TOKENS.items() if rule]
    assert [*ran.rows[1].values()] == ["end", "word-interval-out", 4, "t4-5", None, None, [4, 5]]
    assert ["word-interval-out", "2", "2"] in [line.split() for line in ran.said]
    assert ran.said[-1] == "deptree: rules are broken in 4 of 5 sentences, at 4 places"
    assert deptree("check tokens.conllu --rules tree -j 2").out == ran.out
    put("loop.conllu", with_tokens(["behind"]).replace("\t0\troot", "\t1\troot"))
    assert rules_of(deptree("check loop.conllu")) == ["head-self-loop", "misplaced-word-interval"]


@pytest.mark.quick
@pytest.mark.parametrize("name", [name for name, (_, rule, _) in TOKENS.items() if rule])
def test_what_looks_at_tokens_refuses_those(deptree, refused, put, name: str) -> None:
    """In the same words; a sentence that is skipped is counted."""
    put("tokens.conllu", with_tokens([name, "right"]))
    measure = "measure tokens.conllu --per sentence --quantity length"
    says = f"tokens.conllu:1 ({name}): the multiword token {TOKENS[name][2]} "
    assert refused(f"{measure} --tokens", says).err == refused("eval tokens.conllu tokens.conllu").err
    ran = deptree(f"{measure} --tokens --on-error skip")
    assert (ran.code, [row["length"] for row in ran.rows]) == (1, [2])
    assert [row["length"] for row in deptree(measure).rows] == [3, 3]


def test_no_heads_at_all(deptree) -> None:
    """Sentences that nobody has annotated yet: a row each, and the others are looked at."""
    ran = deptree("check $DATA/raw.conllu $GOLD")
    assert ran.code == 1
    assert rules_of(ran) == ["invalid-head"] * 12
    assert ran.rows[0]["words"] == list(range(1, 1 + len(ran.rows[0]["words"])))


def test_tags_that_are_none(deptree, put) -> None:
    """A file with another tag set is told in a line; rules that ask for tags are not applied, and all words count."""
    two = "# sent_id = a\n1\tDogs\t_\tnns\t_\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\tvb\t_\t_\t0\troot\t_\t_\n"
    put("other.conllu", (two + "3\tall\t_\tdt\t_\t_\t1\tdet\t_\t_\n4\t,\t_\tNOUN\t_\t_\t2\tdobj\t_\t_\n\n") * 7)
    put("tagged.conllu", "1\tway\tway\tNOUN\t_\t_\t2\tdet\t_\t_\n2\tout\tout\tADV\t_\t_\t0\troot\t_\t_\n\n")
    ran = deptree("check other.conllu tagged.conllu")
    assert ran.code == 1
    assert rules_of(ran) == [*["unknown-udeprel"] * 7, "rel-upos-det"]
    assert (
        ran.said.count("deptree: 21 words have a UPOS that is not a universal tag; rules about UPOS ignore them") == 1
    )
    assert ["unknown-upos", "21", "7"] in [line.split() for line in ran.said]
    assert deptree("check other.conllu -q").err == ""
    put("few.conllu", two + "\n")
    assert rules_of(deptree("check few.conllu")) == ["unknown-upos"] * 2
