"""``deptree check``: rows, counts and exit statuses, of trees that obey and of such that do not."""

from __future__ import annotations

import csv
import gzip
import io
import tomllib
import tracemalloc
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
GOLD = DATA / "gold.conllu"
COLUMNS = ["sent_id", "rule", "word", "form", "head", "deprel", "words"]


@pytest.fixture
def trees(put) -> str:
    return put("trees.conllu", TREES)


def test_rows_of_several_files_have_file_and_line(deptree, done, put, trees) -> None:
    more = put("more.conllu", TREES)
    rows = deptree("check", trees, more).rows
    assert [(row["sent_id"], row["file"], row["line"]) for row in rows] == [
        ("two", name, line) for name in (trees, more) for line in (5, 2)
    ]
    assert "file" not in deptree("check", trees).rows[0]
    (first, *_) = deptree("check", trees, more, "--tsv").out.decode().splitlines()
    assert first.split("\t") == [*COLUMNS, "file", "line"]


def test_a_row_for_each_place_and_what_is_counted(deptree, trees) -> None:
    ran = deptree("check", trees)
    assert ran.code == 1
    assert ran.rows == [{**DET, "words": [4]}, {**TWO, "words": [1, 2]}]
    assert [line.split() for line in ran.said if "-" in line] == [
        ["rel-upos-det", "1", "1"],
        ["too-many-subjects", "1", "1"],
    ]
    assert ran.said[-3:] == [
        "deptree: 1 word without UPOS: rules that ask for it are not applied to them",
        "deptree: 1 word without DEPREL: rules that ask for it are not applied to them",
        "deptree: rules are broken in 1 of 3 sentences, at 2 places",
    ]
    assert deptree("check", trees, "-q").err == ""


def test_tsv_and_a_table_have_the_words_with_commas(deptree, terminal, put, trees) -> None:
    ran = deptree("check", trees, "--tsv", "--header")
    signature, _, table = ran.out.decode().partition("\n")
    assert signature == "# deptree|check|root:single|rules:ud-2026-11|v:0.1.0"
    rows = list(csv.DictReader(io.StringIO(table), delimiter="\t"))
    assert list(rows[0]) == COLUMNS
    assert [row["words"] for row in rows] == ["4", "1,2"]
    assert deptree("check", trees, "-o", "x.tsv").code == 1
    assert Path("x.tsv").read_text() == table
    code, shown = terminal("check", trees)
    assert code == 1
    assert all(text in shown for text in (*COLUMNS, "too-many-subjects", "1,2", "at 2 places"))


def test_trees_that_obey(done, terminal) -> None:
    """Nothing but a line, on a terminal too; gzipped or from standard input, by any number of workers."""
    ran = done("check", DATA / "gold.conllu", "-j", 2)
    assert (ran.out, ran.err) == (b"", "deptree: no rule is broken in 8 sentences\n")
    packed = gzip.compress((DATA / "gold.conllu").read_bytes())
    assert done("check", "-", stdin=packed).said == ran.said
    assert done("check", DATA / "gold.conllu", DATA / "raw_gold.conllu").said[-1].startswith("deptree: no rule")
    code, shown = terminal("check", DATA / "gold.conllu")
    assert (code, shown.split("\n")[0].strip()) == (0, "deptree: no rule is broken in 8 sentences")


def test_what_is_asked_of_words(deptree, put, trees) -> None:
    """In MISC or in files; of a word without a label no label is asked, and labels that no word has may be named."""
    put("none.toml", 'name = "none"\n')
    own = ("--rules", "none.toml", "--rules")
    found = [(row["rule"], row["word"]) for row in deptree("check", trees, *own, "misc").rows]
    assert found == [("HeadIn", 2), ("DeprelIn", 2), ("NotHead", 1)]
    put("asked.tsv", "two\t2\tDeprelNot\tnsubj:pass\nbare\t1\tDeprelIn\tx\n")
    assert [row["rule"] for row in deptree("check", trees, *own, "asked.tsv").rows] == ["DeprelNot"]
    put("samples.conllu", TREES.replace("sent_id = two", "sent_id = two/sample_2"))
    assert [row["sent_id"] for row in deptree("check", "samples.conllu", *own, "asked.tsv").rows] == ["two/sample_2"]
    ran = deptree("check", trees, *own, "asked.jsonl")
    start = "deptree: there are no rules 'asked.jsonl'. Constraints of words are rows between tabs: sent_id, word, key,"
    assert ran.said == [f"{start} value; or sent_id, first, last."]
    put("far.tsv", "two\t9\tHeadIn\t1\n")
    assert "(two): there is no word 9, which is asked for HeadIn" in deptree("check", trees, *own, "far.tsv").err


def test_spans(deptree, put, trees) -> None:
    put("spans.tsv", "two\t1\t2\nfine\t1\t1\n")
    rows = deptree("check", trees, "--rules", "ud", "--rules", "spans.tsv").rows
    assert {**TWO, "rule": "spans", "words": [1, 2]} in rows
    assert not [row for row in deptree("check", trees, "--rules", "misc").rows if row["rule"] == "spans"]
    ran = deptree("check", trees, "--rules", put("else.tsv", "three\t1\t2\n"), "-q")
    missing = "else.tsv:1 (three): no sentence has this name. Correct the name."
    assert (ran.code, ran.said) == (2, [f"deptree: {missing}"])


def test_rules_of_ones_own(done, deptree, put, trees) -> None:
    put("mine.toml", 'name = "mine"\nat-most-one = ["punct"]\n')
    assert done("check", trees, "--rules", "mine.toml").out == b""
    put("yours.toml", 'name = "yours"\nversion = "2"\nleaf = [{ name = "quiet", label = "root" }]\n')
    ran = deptree("check", trees, "--rules", "yours.toml", "--header")
    assert ran.rows[0] == {"signature": "deptree|check|root:single|rules:yours.toml-2|v:0.1.0"}
    assert {row["rule"] for row in ran.rows[1:]} == {"quiet"}


def test_labels_that_only_the_rules_name_are_named(done, deptree, put, trees) -> None:
    """Wherever rules are read. Those that our own rules name, `clf`, may be missing from a treebank; others are few."""
    put(
        "mine.toml",
        """
at-most-one = [["nsubjj", "iobj:agent"], ["root"]]
leaf = ["clf"]
no-gaps = [{ label = "flat", between = ["puncct"] }]
mask = [{ label = ["!advmodd"], direction = "left", distance = [50, 99] }]
below = [{ label = "markk", deny = ["!conjj", { label = "det:poss" }], unless = "ccompp" }]
""",
    )
    (line,) = (line for line in deptree("check", trees, "--rules", "mine.toml").said if "names labels" in line)
    assert line == (
        "deptree: mine.toml names labels that no word has: 'nsubjj' (did you mean nsubj?), 'iobj:agent',"
        " 'puncct' (did you mean punct?), 'advmodd' (did you mean advmod?), 'markk' (did you mean mark?),"
        " 'conjj' (did you mean conj?), 'det:poss', 'ccompp' (did you mean ccomp?)"
    )
    scores = (DATA / "scores.npz", "--from", "natasha", "--rules", "mine.toml")
    labels = ("--labels", DATA / "labels.json", "--label-scores", DATA / "label_scores.npz")
    for command in ("decode", "sample", "marginals"):
        (line,) = [line for line in deptree(command, *scores, *labels).said if "mine.toml names labels" in line]
        assert "that are not in --labels: 'nsubjj' (did you mean nsubj?), " in line
    page = done("report", *scores, "--conllu", DATA / "gold.conllu", "-o", "x.html")
    assert any("mine.toml names labels that no word has: 'nsubjj'" in line for line in page.said)
    for quiet in (("check", trees), ("check", trees, "--rules", "mine.toml", "-q")):
        assert "names labels" not in deptree(*quiet).err


TYPOS = """
mask = [
    { label = ["obl", "/obll.*/", "/obl.*/"], upos = ["NOUN", "NOUNN"], head-feats = ["!Cas=Nom", "Typo=Yes"] },
    { label = "det", head-upos = "!VERB", feats = ["Number=Sing", "Zzz=Q"] },
]
"""


def test_tags_features_and_patterns_that_only_the_rules_name_are_named(done, deptree, put) -> None:
    """In one line with labels; what our own rules name, `Typo=Yes`, may be missing; where rules are for scores too."""
    put("mine.toml", TYPOS)
    tags = "UPOS that no word has: 'NOUNN' (did you mean NOUN?), '!VERB' (did you mean VERB?)"
    feats = "FEATS that no word has: 'Cas=Nom' (did you mean Case=Nom?), 'Zzz=Q'"
    named = f"deptree: mine.toml names labels that no word has: '/obll.*/'; {tags}; {feats}"
    for run in (("check", GOLD), ("repair", GOLD), ("check", GOLD, "-j", 2)):
        assert [line for line in deptree(*run, "--rules", "mine.toml").said if " names " in line] == [named]
    scores = (DATA / "scores.npz", "--from", "natasha", "--labels", DATA / "labels.json")
    more = ("--label-scores", DATA / "label_scores.npz", "--rules", "mine.toml", "--conllu", GOLD)
    for command in ("decode", "sample", "marginals"):
        assert [line for line in deptree(command, *scores, *more).said if " names " in line] == [
            "deptree: mine.toml names labels that are not in --labels: '/obll.*/'",
            f"deptree: mine.toml names {tags}; {feats}",
        ]
    assert named in done("report", *scores, *more, "-o", "x.html").said
    for quiet in (("check", GOLD), ("decode", *scores, *more, "--rules", "ud", "-q")):
        assert " names " not in deptree(*quiet).err


def test_names_are_not_missed_where_no_word_has_any(deptree, put) -> None:
    """Without UPOS or FEATS in the whole file a line says, or nothing, that rules about these are not applied."""
    put("mine.toml", TYPOS)
    rows = [line.split("\t") for line in GOLD.read_text(encoding="utf-8").splitlines()]
    bare = ["\t".join([*row[:3], "_", "_", "_", *row[6:]]) if len(row) == 10 else row[0] for row in rows]
    put("bare.conllu", "\n".join(bare) + "\n\n")
    said = deptree("check", "bare.conllu", "--rules", "mine.toml").said
    assert [line for line in said if " names " in line] == [
        "deptree: mine.toml names labels that no word has: '/obll.*/'"
    ]
    assert any("without UPOS" in line for line in said)


def test_a_file_without_any_constraint_is_told(deptree, put) -> None:
    """Under --rules misc, once, also where there are scores; not if one word of one sentence has one."""
    none = "deptree: 0 constraints in MISC: no word has HeadIn, NotHead, DeprelIn, DeprelNot or Span"
    scores = ("decode", DATA / "scores.npz", "--from", "natasha")
    text = (GOLD).read_text(encoding="utf-8")
    first, _, last = text.rpartition("\t_\n")
    put("one.conllu", f"{first}\tNotHead=1\n{last}")
    assert "misc" not in text.lower()
    for run in (("check", GOLD), ("repair", GOLD, "-o", "x.conllu"), (*scores, "--conllu", GOLD)):
        assert deptree(*run, "--rules", "misc").said.count(none) == 1
        assert none not in deptree(*run, "--rules", "tree").said
    for run in (("check", "one.conllu"), ("repair", "one.conllu", "-j", 2), (*scores, "--conllu", "one.conllu")):
        assert none not in deptree(*run, "--rules", "misc").said


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
    deptree("check", "long.conllu", "--rules", rules)  # imports
    tracemalloc.start()
    try:
        ran = deptree("check", "long.conllu", "--rules", rules, "--rules", "misc", "-q")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len({row["rule"] for row in ran.rows}) >= 10
    assert peak < 15e6


def test_decoded_under_rules_nothing_is_broken(done, deptree) -> None:
    """What `decode --rules ud` writes obeys; samples without rules of the same sentences do not."""
    read = ("--from", "natasha", "--conllu", DATA / "sentences.conllu", "--labels", DATA / "labels.json")
    scores = (DATA / "scores.npz", *read, "--label-scores", DATA / "label_scores.npz", "-q")
    assert done("check", "-", stdin=done("decode", *scores, "--rules", "ud").out).out == b""
    assert deptree("check", "-", stdin=done("sample", *scores, "-k", 20, "--seed", 7).out).code == 1


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        (("check",), "Leave out the longest ones."),
        (("measure",), "Leave out the longest ones."),
        (("measure", "-k", 2), "Ask for fewer trees, or leave out the longest ones."),
    ],
)
def test_what_helps_where_memory_ends(deptree, trees, monkeypatch, line: tuple[object, ...], remedy: str) -> None:
    """Sentences pass one by one, so fewer of them, as `--shard` gives, would not help; fewer trees, if some are asked
    for."""

    def end(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("deptree_cli.commands.check.Check.__call__", end)
    monkeypatch.setattr("deptree_cli.commands.measure.Measure.of_many", end)
    assert deptree(*line, trees).said == [f"deptree: there is not enough memory for these sentences. {remedy}"]
