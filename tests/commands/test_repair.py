"""``deptree repair``: what it writes, what it leaves alone, and how it ends."""

from __future__ import annotations

import csv
import gzip
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.commands.conftest import DATA

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
MENDED = CYCLE.replace(
    "# text = Dogs bark and cats sleep.\n",
    "# text = Dogs bark and cats sleep.\n# repaired = 1 head, 0 labels\n# certified = yes\n",
).replace("5\troot\t5:root\t_", "0\troot\t0:root\tOldHead=5")

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
# Dogs chase cats, so that there is something to learn from.
LIKE = FINE + FREE.replace("99", "2").replace("_\t_\t_\t_\t_\t_\n3", "_\t_\t0\troot\t_\t_\n3").replace("dobj", "obj")

ROWS = [
    {"sent_id": "cycle", "word": 2, "form": "bark", "old_head": 5, "new_head": 0}
    | {"old_deprel": "root", "new_deprel": "root", "rules": ["non-tree", "root-is-not-0"]},
    {"sent_id": "free", "word": 1, "form": "Dogs", "old_head": 99, "new_head": 2}
    | {"old_deprel": "nsubj", "new_deprel": "nsubj", "rules": ["unknown-head"]},
    {"sent_id": "free", "word": 2, "form": "chase", "old_head": None, "new_head": 0}
    | {"old_deprel": None, "new_deprel": "root", "rules": ["invalid-head"]},
    {"sent_id": "free", "word": 3, "form": "cats", "old_head": 2, "new_head": 2}
    | {"old_deprel": "dobj", "new_deprel": "obj", "rules": ["unknown-udeprel"]},
]


@pytest.fixture
def trees(put) -> str:
    """Two sentences to repair among some that need nothing."""
    return put("trees.conllu", LIKE + CYCLE + FREE + FINE)


def test_what_is_broken_is_mended_and_nothing_else(deptree, trees) -> None:
    ran = deptree("repair", trees)
    assert ran.code == 0
    assert ran.out.decode() == LIKE + MENDED + FILLED + FINE
    assert ran.said[-1] == "deptree: 2 of 5 sentences repaired: 2 heads, 1 label, 1 filled"
    counted = [line.split() for line in ran.said if "-" in line]
    assert sorted(counted) == [
        *(["invalid-head", "1", "1"], ["non-tree", "1", "1"], ["root-is-not-0", "1", "1"]),
        *(["unknown-head", "1", "1"], ["unknown-udeprel", "1", "1"]),
    ]
    assert deptree("repair", trees, "-q").err == ""


def test_repairing_again_changes_nothing(done, deptree, put, trees) -> None:
    once = done("repair", trees, "-q").out
    again = done("repair", put("once.conllu", once))
    assert again.out == once
    assert again.err == "deptree: nothing to repair in 5 sentences\n"
    assert deptree("check", "once.conllu", "-q").code == 0


def test_notes_on_an_earlier_tree_go(done, put) -> None:
    """Also those of earlier repairs, of other words too; signatures stay, for the other sentences are as they were."""
    noted = MENDED.replace("0\troot\t0:root\tOldHead=5", "5\troot\t5:root\tOldHead=7")
    noted = noted.replace("Foo=1", "Foo=1|OldDeprel=obj|HeadProb=0.9").replace("certified = yes", "gap = 3")
    noted = "# generator = deptree|decode|x\n" + noted
    ran = done("repair", put("noted.conllu", noted), "--like", put("like.conllu", LIKE))
    assert ran.out.decode() == "# generator = deptree|decode|x\n" + MENDED


def test_a_header_is_written_if_it_is_wanted(done, trees) -> None:
    first, _, rest = done("repair", trees, "--header", "-q").out.decode().partition("\n")
    assert first == "# generator = deptree|repair|root:single|rules:ud-2026-11|v:0.1.0"
    assert rest == LIKE + MENDED + FILLED + FINE


def as_cell(value: object) -> str:
    """A value as TSV has it."""
    return ",".join(value) if isinstance(value, list) else "" if value is None else str(value)


@pytest.mark.parametrize("suffix", ["tsv", "jsonl"])
def test_changes_are_written_word_by_word(done, trees, suffix: str) -> None:
    done("repair", trees, "-o", "out.conllu", "--changes", f"changes.{suffix}")
    text = Path(f"changes.{suffix}").read_text()
    if suffix == "jsonl":
        assert [json.loads(line) for line in text.splitlines()] == ROWS
        return
    rows = list(csv.DictReader(io.StringIO(text), delimiter="\t"))
    assert rows == [{name: as_cell(value) for name, value in row.items()} for row in ROWS]
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


@pytest.mark.parametrize("shape", SHAPES)
def test_what_needs_nothing_is_copied_byte_for_byte(done, put, shape: str) -> None:
    data = SHAPES[shape].encode()
    ran = done("repair", put("in.conllu", data))
    assert ran.out == data
    assert "nothing to repair" in ran.err
    done("repair", "in.conllu", "-o", "out.conllu")
    assert Path("out.conllu").read_bytes() == data


@pytest.mark.parametrize("shape", SHAPES)
def test_what_needs_nothing_is_copied_beside_what_does(done, put, shape: str) -> None:
    """Between two files; newlines come where a file has none at its end, a byte order mark only stands at the start."""
    data = SHAPES[shape].encode()
    put("in.conllu", data)
    put("cycle.conllu", CYCLE)
    put("like.conllu", LIKE)
    ran = done("repair", "cycle.conllu", "in.conllu", "--like", "like.conllu")
    kept = data.decode().removeprefix("\ufeff").encode()
    assert ran.out == MENDED.encode() + kept
    ran = done("repair", "in.conllu", "cycle.conllu", "--like", "like.conllu")
    end = b"\n\n" if shape == "no final newline" else b""
    assert ran.out == data + end + MENDED.encode()


def mended(done, put, text: str) -> str:
    """What becomes of a sentence."""
    return done("repair", put("x.conllu", text), "--like", put("like.conllu", LIKE), "-q").out.decode()


def test_lines_end_as_those_of_the_sentence(done, put) -> None:
    assert mended(done, put, CYCLE.replace("\n", "\r\n")) == MENDED.replace("\n", "\r\n")


def test_multiword_tokens_empty_nodes_and_other_deps_stay(done, put) -> None:
    def more(text: str) -> str:
        text = text.replace("4\tcats", "4-5\tcatsleep\t_\t_\t_\t_\t_\t_\t_\t_\n4\tcats")
        node = "5.1\tit\tit\tPRON\t_\t_\t_\t_\t5:obj\t_\n"
        return text.replace("SpaceAfter=No\n", f"SpaceAfter=No\n{node}").replace("5:nsubj", "2:nsubj|5:nsubj")

    assert mended(done, put, more(CYCLE)) == more(MENDED)


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
def test_deps_of_a_changed_word(done, put, deps: str, now: str) -> None:
    put("like.conllu", LIKE)
    ran = done("repair", put("x.conllu", CYCLE.replace("5:root", deps)), "--like", "like.conllu")
    assert ran.out.decode() == MENDED.replace("0:root", now)
    lost = deps not in ("_", "5:root")
    assert lost == ("deptree: DEPS of 1 word had more than the arc that has changed" in ran.err)


def test_no_word_falls_out_of_the_enhanced_graph(done, put, udvalidate) -> None:
    """Word 1 hung on ROOT in DEPS alone, and its head on it alone: with the new arc of word 1 both would be apart."""
    text = """\
# sent_id = loop
# text = Dogs bark dogs
1\tDogs\tdog\tNOUN\t_\t_\t9\tnsubj\t0:root\t_
2\tbark\tbark\tVERB\t_\t_\t0\troot\t1:acl\t_
3\tdogs\tdog\tNOUN\t_\t_\t2\tobj\t2:obj\t_

"""
    done("repair", put("x.conllu", text), "--like", put("like.conllu", LIKE), "-o", "out.conllu", "-q")
    lines = Path("out.conllu").read_text().splitlines()
    assert [line.split("\t")[8] for line in lines if line[:1].isdigit()] == ["2:nsubj", "0:root", "2:obj"]
    assert udvalidate(Path("out.conllu"), 2).returncode == 0


LINES = """\
{"sent_id": "fine", "heads": [2, 0], "x": 1.50}

{"sent_id": "cycle", "heads": [2, 5, 5, 5, 2, 2], "deprels": ["nsubj", "root", "cc", "nsubj", "conj", "punct"], \
"upos": ["NOUN", "VERB", "CCONJ", "NOUN", "VERB", "PUNCT"], "log_prob": -1, "x": 1.50}
{"heads": [null, 7, 2]}
"""


def test_json_lines_become_json_lines(done, put) -> None:
    ran = done("repair", put("t.jsonl", LINES), "--changes", "changes.jsonl")
    fine, empty, cycle, bare = ran.out.decode().splitlines()
    assert [fine, empty] == LINES.splitlines()[:2]
    assert json.loads(cycle) == {
        "sent_id": "cycle",
        "heads": [2, 0, 5, 5, 2, 2],
        "deprels": ["nsubj", "root", "cc", "nsubj", "conj", "punct"],
        "upos": ["NOUN", "VERB", "CCONJ", "NOUN", "VERB", "PUNCT"],
        "x": 1.5,
        "changes": [{"word": 2, "old_head": 5}],
        "certified": True,
        "gap": 0.0,
    }
    found = json.loads(bare)
    assert set(found) == {"heads", "changes", "certified", "gap"}
    assert found["heads"][2] == 2
    assert [each["old_head"] for each in found["changes"]] == [None, 7]
    rows = [json.loads(line) for line in Path("changes.jsonl").read_text().splitlines()]
    assert [(row["sent_id"], row["word"], row["form"]) for row in rows] == [
        ("cycle", 2, "_"),
        ("3", 1, "_"),
        ("3", 2, "_"),
    ]
    assert done("repair", put("again.jsonl", ran.out), "-q").out == ran.out


def test_lines_that_are_no_sentences_stay(done, put) -> None:
    """A signature, empty lines, a byte order mark; a newline comes where another file follows."""
    first = b'\xef\xbb\xbf{"signature":"deptree|x"}\n\n{"heads":[0]}\n\n\n'
    assert done("repair", put("a.jsonl", first), "-q").out == first
    assert done("repair", put("b.jsonl", b'{"heads":[0]}'), "-q").out == b'{"heads":[0]}'
    assert done("repair", "b.jsonl", "a.jsonl", "-q").out == b'{"heads":[0]}\n' + first


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"heads": "0"}', "t.jsonl:1 (1): The field heads is not a list of numbers."),
        ('{"heads": [0.5]}', "t.jsonl:1 (1): The head of word 1 is 0.5."),
        ('{"sent_id": "a", "heads": [0], "deprels": []}', "t.jsonl:1 (a): 1 head, but 0 in the field deprels."),
        ('{"sent_id": "a", "heads": [0], "upos": ["\\n"]}', "t.jsonl:1 (a): The field upos has '\\n'."),
        ("{", "t.jsonl:1 (1): Not JSON"),
    ],
)
def test_lines_that_nobody_understands(deptree, put, line: str, said: str) -> None:
    ran = deptree("repair", put("t.jsonl", line))
    assert ran.code == 2
    assert ran.err.lower().startswith(f"deptree: {said}".lower())


def test_the_same_bytes_from_standard_input_gzipped_and_by_any_workers(done, real, trees) -> None:
    expected = done("repair", trees, "-q").out
    data = Path(trees).read_bytes()
    for args in (["-"], ["-", "-j", 2], ["-", "-j", 2, "--engine", "threads"]):
        assert real("repair", *args, "-q", stdin=data).out == expected
    assert done("repair", "-", "-q", stdin=gzip.compress(data)).out == expected
    shards = [done("repair", trees, "-q", "--shard", f"{part}/2").out.decode() for part in (1, 2)]
    first, second = (text.split("\n\n")[:-1] for text in shards)
    assert [*first, *second] == [*expected.decode().split("\n\n")[:-1][::2], *expected.decode().split("\n\n")[1:-1:2]]


def test_rules_decide_what_is_broken(deptree, done, put) -> None:
    text = FREE.replace("99", "2").replace("_\t_\t_\t_\t_\t_\n3", "_\t_\t0\troot\t_\t_\n3")
    put("x.conllu", text)
    assert done("repair", "x.conllu", "--rules", "tree").out.decode() == text
    assert "OldDeprel=dobj" in done("repair", "x.conllu").out.decode()
    put("mine.toml", 'leaf = ["nsubj"]')
    assert done("repair", "x.conllu", "--rules", "mine.toml").out.decode() == text
    put("c.tsv", "free\t1\tHeadIn\t3\n")
    assert "OldHead=2" in done("repair", "x.conllu", "--rules", "tree", "--constraints", "c.tsv").out.decode()


def test_the_space_decides_what_is_broken(done, put) -> None:
    two_roots = FINE.replace("2\tnsubj\t2:nsubj", "0\troot\t0:root")
    put("x.conllu", two_roots)
    assert done("repair", "x.conllu", "--rules", "tree", "--multi-root").out.decode() == two_roots
    assert "OldHead=0" in done("repair", "x.conllu", "--rules", "tree").out.decode()
    rows = [
        "\t".join([str(word), "w", "w", "X", "_", "_", str(head), "dep", "_", "_"])
        for word, head in enumerate([3, 4, 0, 3], 1)
    ]
    crossing = "\n".join(rows).replace("0\tdep", "0\troot") + "\n\n"
    put("y.conllu", crossing)
    assert done("repair", "y.conllu").out.decode() == crossing
    assert "# repaired = 1 head, 0 labels" in done("repair", "y.conllu", "--projective").out.decode()


def test_where_nothing_obeys(deptree, put) -> None:
    """An error that names the constraints; or one of them is given up, and that is no success."""
    put("x.conllu", LIKE + CYCLE)
    put("c.tsv", "cycle\t2\tHeadIn\t0\ncycle\t5\tHeadIn\t0\n")
    args = ("repair", "x.conllu", "--constraints", "c.tsv")
    ran = deptree(*args, "-o", "out.conllu")
    place = "x.conllu:10 (cycle)"
    assert ran.code == 2
    assert not Path("out.conllu").exists()
    assert ran.err.startswith(f"deptree: {place}: no tree obeys HeadIn of word 2 and HeadIn of word 5 together.")
    assert "--relax" in ran.err
    ran = deptree(*args, "--on-error", "skip")
    assert (ran.code, ran.out.decode()) == (1, LIKE)
    ran = deptree(*args, "--relax")
    assert ran.code == 1
    assert "\n# relaxed = HeadIn of word" in ran.out.decode()
    assert f"deptree: relaxed: {place}: HeadIn of word" in ran.err
    again = deptree("repair", put("again.conllu", ran.out), *args[2:], "--relax")
    assert (again.code, again.out) == (1, ran.out)


def test_malformed_sentences_end_the_run_or_are_left_out(deptree, put) -> None:
    put("x.conllu", LIKE + "1\tonly\n\n" + CYCLE)
    ran = deptree("repair", "x.conllu", "-o", "out.conllu")
    assert ran.code == 2
    assert ran.err.startswith("deptree: x.conllu:10 (3): 2 columns where a word has 10")
    assert not Path("out.conllu").exists()
    ran = deptree("repair", "x.conllu", "--on-error", "skip")
    assert (ran.code, ran.out.decode()) == (1, LIKE + MENDED)
    assert sum("skipped" in line for line in ran.said) == 2  # the sentence, and how many
    assert "1 of 3 sentences repaired" in ran.err


SCORES = ("--scores", DATA / "scores.npz", "--from", "natasha")
LABELS = ("--labels", DATA / "labels.json", "--label-scores", DATA / "label_scores.npz")


def damaged(word: int = 1) -> str:
    """The gold trees of the sample data, with a word of each sentence below itself."""
    lines = (DATA / "gold.conllu").read_text(encoding="utf-8").splitlines(keepends=True)
    cut = [line.split("\t") for line in lines]
    return "".join("\t".join([*row[:6], str(word), *row[7:]]) if row[0] == str(word) else "\t".join(row) for row in cut)


@pytest.mark.parametrize("labels", [(), LABELS])
def test_scores_decide_between_trees_as_near(done, put, labels: tuple[Any, ...]) -> None:
    """Every sentence is broken, so that there is nothing to learn from; a parser knows the heads of all first words."""
    ran = done("repair", put("x.conllu", damaged()), *SCORES, *labels)
    heads = [line.split("\t")[6] for line in ran.out.decode().splitlines() if line.startswith("1\t")]
    gold = [line.split("\t")[6] for line in (DATA / "gold.conllu").read_text().splitlines() if line.startswith("1\t")]
    assert heads == gold
    assert "8 of 8 sentences repaired: 8 heads, 0 labels" in ran.err
    assert ran.out == done("repair", "x.conllu", *SCORES, *labels, "-j", 2).out


def test_what_a_change_must_be_worth(done, put) -> None:
    """From infinity on nothing is changed that obeys; for nothing, the most probable tree is taken, as by decode."""
    gold, scores = DATA / "gold.conllu", (*SCORES, *LABELS)
    assert done("repair", gold, *scores, "-q").out == gold.read_bytes()
    free = done("repair", gold, *scores, "--worth", 0, "-q").out.decode()
    args = (scores[1], *scores[2:], "--conllu", gold, "--rules", "ud", "-q")
    best = done("decode", *args).out.decode()

    def trees(text: str) -> list[list[str]]:
        return [line.split("\t")[6:8] for line in text.splitlines() if line[:1].isdigit()]

    assert trees(free) == trees(best)
    assert "OldHead=" in free


def test_options_that_have_no_effect(deptree, put, trees) -> None:
    put("t.jsonl", LINES)
    for args, said in (
        (("--from", "natasha"), "--from is about scores. Add --scores FILE."),
        (("--cost", "0:1"), "'0:1' is not HEAD:LABEL"),
        (("--like", trees, *SCORES, *LABELS), "--like has no say where --scores tell heads and labels."),
    ):
        ran = deptree("repair", trees, *args)
        assert (ran.code, ran.out) == (2, b"")
        assert said in ran.err
    ran = deptree("repair", "t.jsonl", "--constraints", "misc")
    assert ran.code == 2
    assert "--constraints misc" in ran.err
    ran = deptree("repair", trees, "t.jsonl")
    assert ran.err == "deptree: t.jsonl: this is jsonl, but trees.conllu is conllu. Repair them one by one.\n"
    assert deptree("repair", "t.jsonl", "-o", "x.conllu").code == 2
