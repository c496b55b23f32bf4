"""``deptree check``: rows, counts and exit statuses, of trees that obey or do not, and of what is no tree."""

from __future__ import annotations

import gzip
import tomllib
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.io.rules.reading import KINDS
from tests.commands.sessions import hold_session
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

# Ranges of multiword tokens that end beyond the sentence, overlap, or stand behind their words.
TOKENS = {
    "far": ("1-999999999 1 2 3", "word-interval-out", "1-999999999"),
    "end": ("1-1 1 2 3 4-5", "word-interval-out", "4-5"),
    "twice": ("1-2 1 2-3 2 3", "overlapping-word-intervals", "2-3"),
    "behind": ("1 2 1-2 3", "misplaced-word-interval", "1-2"),
    "last": ("1 2 3-9 3", "word-interval-out", "3-9"),
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


GOLD = (DATA / "gold.conllu").read_text(encoding="utf-8")
ROWS = [line.split("\t") for line in GOLD.splitlines()]
NNS = "# sent_id = a\n1\tDogs\t_\tnns\t_\t_\t2\tnsubj\t_\t_\n2\tsleep\t_\tvb\t_\t_\t0\troot\t_\t_\n"

FILES = {
    "trees.conllu": TREES,
    "more.conllu": TREES,
    "samples.conllu": TREES.replace("sent_id = two", "sent_id = two/sample_2"),
    "broken.conllu": BROKEN,
    "crossing.conllu": "".join(f"{n}\ta\t_\tX\t_\t_\t{head}\tdep\t_\t_\n" for n, head in enumerate([4, 3, 0, 3], 1)),
    "tokens.conllu": with_tokens(),
    **{f"{name}.conllu": with_tokens([name, "right"]) for name in TOKENS},
    "loop.conllu": with_tokens(["behind"]).replace("\t0\troot", "\t1\troot"),
    "other.conllu": (NNS + "3\tall\t_\tdt\t_\t_\t1\tdet\t_\t_\n4\t,\t_\tNOUN\t_\t_\t2\tdobj\t_\t_\n\n") * 7,
    "few.conllu": NNS + "\n",
    "tagged.conllu": "1\tway\tway\tNOUN\t_\t_\t2\tdet\t_\t_\n2\tout\tout\tADV\t_\t_\t0\troot\t_\t_\n\n",
    "bare.conllu": "\n".join("\t".join([*row[:3], "_", "_", "_", *row[6:]] if row[9:] else row) for row in ROWS)
    + "\n\n",
    "constrained.conllu": "\tNotHead=1\n".join(GOLD.rsplit("\t_\n", 1)),
    "none.toml": 'name = "none"\n',
    "mine.toml": 'name = "mine"\nat-most-one = ["punct"]\n',
    "yours.toml": 'name = "yours"\nversion = "2"\nleaf = [{ name = "quiet", label = "root" }]\n',
    "typos.toml": TYPOS,
    "asked.tsv": "two\t2\tDeprelNot\tnsubj:pass\nbare\t1\tDeprelIn\tx\n",
    "far.tsv": "two\t9\tHeadIn\t1\n",
    "spans.tsv": "two\t1\t2\nfine\t1\t1\n",
    "else.tsv": "three\t1\t2\n",
}


@pytest.fixture
def files(put) -> None:
    for name, text in FILES.items():
        put(name, text)


def test_a_session(deptree, golden, files) -> None:
    hold_session(deptree, golden, "check.txt")


def test_headers(deptree, files) -> None:
    signature, _, rows = deptree("check trees.conllu --tsv --header").out.decode().partition("\n")
    assert signature == "# deptree|check|root:single|rules:ud-2026-11|v:0.1.0"
    assert deptree("check trees.conllu -o x.tsv").code == 1
    assert Path("x.tsv").read_text() == rows
    first, *_ = deptree("check broken.conllu --rules tree --rules yours.toml --multi-root --header").rows
    assert first == {"signature": "deptree|check|root:multi|rules:tree,yours.toml-2|v:0.1.0"}


def test_on_a_terminal(terminal, files) -> None:
    code, shown = terminal("check", "trees.conllu")
    names = ("sent_id", "rule", "word", "form", "head", "deprel", "words", "too-many-subjects", "1,2", "at 2 places")
    assert (code, [name for name in names if name not in shown]) == (1, [])
    code, shown = terminal("check", DATA / "gold.conllu")
    assert (code, shown.split("\n")[0].strip()) == (0, "deptree: no rule is broken in 8 sentences")


def test_gzipped_on_standard_input_by_workers(done, deptree, files) -> None:
    ran = done("check -", stdin=gzip.compress(GOLD.encode()))
    assert (ran.out, ran.err) == (b"", "deptree: no rule is broken in 8 sentences\n")
    line = "check broken.conllu tokens.conllu --rules ud --rules misc"
    assert deptree(f"{line} -j 2").out == deptree(line).out


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
    assert len({row["rule"] for row in ran.rows}) >= 10
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
def test_what_helps_where_memory_ends(deptree, files, monkeypatch, line: str, remedy: str) -> None:
    """Sentences pass one by one, so fewer of them, as `--shard` gives, would not help; fewer trees do, if there are."""

    def end(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("deptree_cli.commands.check.Check.__call__", end)
    monkeypatch.setattr("deptree_cli.commands.measure.Measure.of_many", end)
    said = deptree(f"{line} trees.conllu").said
    assert said == [f"deptree: there is not enough memory for these sentences. {remedy}"]
