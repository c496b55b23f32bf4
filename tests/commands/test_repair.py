"""``deptree repair``: what it writes and what it leaves alone; see `test_repair_reading.py` for the rest."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.plus import from_plus, to_plus

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
    | {"old_deprel": "root", "new_deprel": "root", "rules": ["non-tree", "root-is-not-0"]}
    | {"file": "trees.conllu", "line": 13},
    {"sent_id": "free", "word": 1, "form": "Dogs", "old_head": 99, "new_head": 2}
    | {"old_deprel": "nsubj", "new_deprel": "nsubj", "rules": ["unknown-head"]}
    | {"file": "trees.conllu", "line": 20},
    {"sent_id": "free", "word": 2, "form": "chase", "old_head": None, "new_head": 0}
    | {"old_deprel": None, "new_deprel": "root", "rules": ["invalid-head"]}
    | {"file": "trees.conllu", "line": 21},
    {"sent_id": "free", "word": 3, "form": "cats", "old_head": 2, "new_head": 2}
    | {"old_deprel": "dobj", "new_deprel": "obj", "rules": ["unknown-udeprel"]}
    | {"file": "trees.conllu", "line": 22},
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

# Rules about labels fill them.
RULES = {"no labels": ("--rules", "tree")}


@pytest.mark.parametrize("shape", SHAPES)
def test_what_needs_nothing_is_copied_byte_for_byte(done, put, shape: str) -> None:
    data = SHAPES[shape].encode()
    rules = RULES.get(shape, ())
    ran = done("repair", put("in.conllu", data), *rules)
    assert ran.out == data
    assert "nothing to repair" in ran.err
    done("repair", "in.conllu", "-o", "out.conllu", *rules)
    assert Path("out.conllu").read_bytes() == data


@pytest.mark.parametrize("shape", SHAPES)
def test_what_needs_nothing_is_copied_beside_what_does(done, put, shape: str) -> None:
    """Between two files; newlines come where a file has none at its end, a byte order mark only stands at the start."""
    data = SHAPES[shape].encode()
    put("in.conllu", data)
    put("cycle.conllu", CYCLE)
    put("like.conllu", LIKE)
    args = "--like", "like.conllu", *RULES.get(shape, ())
    ran = done("repair", "cycle.conllu", "in.conllu", *args)
    kept = data.decode().removeprefix("\ufeff").encode()
    assert ran.out == MENDED.encode() + kept
    ran = done("repair", "in.conllu", "cycle.conllu", *args)
    end = b"\n\n" if shape == "no final newline" else b""
    assert ran.out == data + end + MENDED.encode()


def mended(done, put, text: str) -> str:
    """What becomes of a sentence."""
    return done("repair", put("x.conllu", text), "--like", put("like.conllu", LIKE), "-q").out.decode()


def test_lines_end_as_those_of_the_sentence(done, put) -> None:
    assert mended(done, put, CYCLE.replace("\n", "\r\n")) == MENDED.replace("\n", "\r\n")


def test_columns_of_conllu_plus_stay(done, put) -> None:
    """Those of sentences that need nothing, too."""
    put("in.conllup", to_plus(LIKE + CYCLE))
    done("repair", "in.conllup", "-o", "out.conllup")
    assert from_plus(Path("out.conllup").read_text()) == LIKE + MENDED
    assert done("repair", "out.conllup", "-q").out == Path("out.conllup").read_bytes()


@pytest.mark.parametrize(("columns", "left_out"), [("", "OldHead (MISC)"), (" MISC", "")])
def test_what_has_no_column_is_left_out_and_named(deptree, put, columns: str, left_out: str) -> None:
    """Labels too, which nobody asked for."""
    rows = ["1\tDogs\tNOUN\t2", "2\tbark\tVERB\t2"]
    text = f"# global.columns = ID FORM UPOS HEAD{columns}\n" + "".join(
        row + columns.replace(" MISC", "\t_") + "\n" for row in rows
    )
    ran = deptree("repair", put("in.conllup", text + "\n"), "--like", put("like.conllu", LIKE))
    assert ran.code == 0
    assert ran.out.decode().splitlines()[-2].startswith("2\tbark\tVERB\t0")
    assert ("not written" in ran.err) == bool(left_out)
    assert left_out in ran.err


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
    assert lost == ("deptree: DEPS of 1 word had several arcs" in ran.err)


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


def test_an_enhanced_graph_that_fell_apart_before_stays_as_it_is(done, put) -> None:
    """Only the changed word has another arc: what two others say of each other was nobody's question."""
    text = """\
1\tDogs\tdog\tNOUN\t_\t_\t9\tnsubj\t0:root\t_
2\tbark\tbark\tVERB\t_\t_\t0\troot\t0:root\t_
3\tloud\tloud\tADV\t_\t_\t2\tadvmod\t4:advmod\t_
4\ttoday\ttoday\tADV\t_\t_\t2\tadvmod\t3:advmod\t_

"""
    ran = done("repair", put("x.conllu", text), "--like", put("like.conllu", LIKE))
    rows = [line.split("\t") for line in ran.out.decode().splitlines() if line[:1].isdigit()]
    assert [row[8] for row in rows] == ["2:nsubj", "0:root", "4:advmod", "3:advmod"]


def test_ties_of_which_nothing_tells_are_told(deptree, put) -> None:
    """Not a single sentence is right: near heads are taken, labels of UD v1 become those of v2, and a line says so."""
    rows = [("a", "NOUN", 1, "nsubj"), ("b", "VERB", 0, "root"), ("c", "NOUN", 2, "dobj")]
    lines = [
        f"{at}\t{form}\t_\t{tag}\t_\t_\t{head}\t{name}\t_\t_\n" for at, (form, tag, head, name) in enumerate(rows, 1)
    ]
    put("one.conllu", "".join(lines) + "\n")
    ran = deptree("repair", "one.conllu")
    assert [line.split("\t")[6:8] for line in ran.out.decode().splitlines() if line[:1].isdigit()] == [
        ["2", "nsubj"],
        ["0", "root"],
        ["2", "obj"],
    ]
    assert (
        "no sentence is valid, so ties are broken by distance; --like TREEBANK or --scores FILE does better" in ran.err
    )
    put(
        "two.conllu",
        "".join(lines).replace("\t1\tnsubj", "\t2\tnsubj").replace("dobj", "obj") + "\n" + "".join(lines) + "\n",
    )
    assert "no sentence is right" not in deptree("repair", "two.conllu").err
