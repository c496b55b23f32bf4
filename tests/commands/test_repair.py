"""``deptree repair``: what it writes and leaves alone, what decides, what counts as a change, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.sessions import hold_session
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
V1 = FREE.replace("99", "2").replace("_\t_\t_\t_\t_\t_\n3", "_\t_\t0\troot\t_\t_\n3")
# Dogs chase cats, so that there is something to learn from.
LIKE = FINE + V1.replace("dobj", "obj")


def sentence(*rows: str) -> str:
    """Words, each with UPOS, HEAD and DEPREL, and DEPS if there are."""
    cells = (
        f"{word}\tw\tw\t{{}}\t_\t_\t{{}}\t{{}}\t{{}}\t_\n".format(*f"{row} _".split()[:4])
        for word, row in enumerate(rows, 1)
    )
    return "".join(cells) + "\n"


TIE = sentence("NOUN 1 nsubj", "VERB 0 root", "NOUN 2 dobj")
OLD = "NOUN dobj, NOUN nsubjpass, NOUN csubjpass, AUX auxpass, PART neg, DET neg, NOUN remnant, NOUN Obj, X foreign"
OLD_WORDS = [each.split() for each in f"{OLD}, PROPN name, ADV mwe".split(", ")]
UNKNOWN = FINE.replace("1\tDogs\tdog\tNOUN\t_\t_\t2\tnsubj\t2:nsubj", "1\tThat\tthat\tDEM\t_\t_\t2\tdet\t_")
MORE = ("4\tcats", "4-5\tcatsleep\t_\t_\t_\t_\t_\t_\t_\t_\n4\tcats"), ("5:nsubj", "2:nsubj|5:nsubj")
WITH_NODE = CYCLE.replace(*MORE[0]).replace(*MORE[1])
WITH_NODE = WITH_NODE.replace("SpaceAfter=No\n", "SpaceAfter=No\n5.1\tit\tit\tPRON\t_\t_\t_\t_\t5:obj\t_\n")

FILES = {
    "like.conllu": LIKE,
    "trees.conllu": LIKE + CYCLE + FREE + FINE,
    "noted.conllu": "# generator = deptree|decode|x\n"
    + MENDED.replace("0\troot\t0:root\tOldHead=5", "5\troot\t5:root\tOldHead=7")
    .replace("Foo=1", "Foo=1|OldDeprel=obj|HeadProb=0.9")
    .replace("certified = yes", "gap = 3"),
    "bare.conllup": "# global.columns = ID FORM UPOS HEAD\n1\tDogs\tNOUN\t2\n2\tbark\tVERB\t2\n\n",
    "misc.conllup": "# global.columns = ID FORM UPOS HEAD MISC\n1\tDogs\tNOUN\t2\t_\n2\tbark\tVERB\t2\t_\n\n",
    "more.conllu": WITH_NODE,
    "deps.conllu": "".join(CYCLE.replace("5:root", deps) for deps in ("_", "2:root", "5:root|4:obj", "5:root:x")),
    "loop.conllu": "# sent_id = loop\n# text = w w w\n"
    + sentence("NOUN 9 nsubj 0:root", "VERB 0 root 1:acl", "NOUN 2 obj 2:obj"),
    "apart.conllu": sentence(
        "NOUN 9 nsubj 0:root", "VERB 0 root 0:root", "ADV 2 advmod 4:advmod", "ADV 2 advmod 3:advmod"
    ),
    "tie.conllu": TIE,
    "valid_tie.conllu": sentence("NOUN 2 nsubj", "VERB 0 root", "NOUN 2 obj") + TIE,
    "nmod.conllu": sentence("NOUN 2 nsubj", "VERB 0 root", "NOUN 2 obj", "NOUN 3 nmod", "NOUN 3 nmod") * 5,
    "labels.conllu": sentence("NOUN 2 subj", "VERB 0 root", "NOUN 2 dobj", "NOUN 2 pobj", "NOUN 4 npmod"),
    "roots.conllu": sentence("VERB 0 root", "VERB 0 root", "NOUN 1 obj"),
    "v1.conllu": "".join(sentence("NOUN 2 nsubj:outer", "VERB 0 root", f"{tag} 2 {old}") for tag, old in OLD_WORDS),
    "v1_like.conllu": "".join(
        sentence(f"{tag} 3 nmod", "VERB 0 root", f"{tag} 2 nmod", f"{tag} 2 nmod") * 20 for tag in dict(OLD_WORDS)
    ),
    "fixed.conllu": sentence("ADV 2 mwe", "VERB 0 root"),
    "fixed_like.conllu": sentence("ADV 2 advmod", "VERB 0 root"),
    "open.conllu": sentence("DET 2 _", "NOUN 3 _", "VERB 0 _", "FOO 3 _"),
    "x.conllu": sentence("NOUN 2 _", "VERB 0 _", "X 2 _"),
    "adj.conllu": sentence("ADJ 2 amod", "VERB 0 root", "VERB 0 root"),
    "dem.conllu": UNKNOWN,
    "dem9.conllu": UNKNOWN.replace("0\troot", "9\troot"),
    "untagged.conllu": FINE.replace("NOUN", "_").replace("\tnsubj", "\t_").replace("0\troot", "9\troot"),
    "arcs.conllu": sentence("X 1 _", "X 0 _"),
    "arcs.jsonl": '{"scores": [[0, 1, 0], [0, 0, 1], [0, 1, 0]]}\n',
    "free.conllu": V1,
    "two_roots.conllu": FINE.replace("2\tnsubj\t2:nsubj", "0\troot\t0:root"),
    "crossing.conllu": sentence("X 3 dep", "X 4 dep", "X 0 root", "X 3 dep"),
    "cycle.conllu": LIKE + CYCLE,
    "noted_fine.conllu": FINE.replace("= fine\n", "= fine\n# entropy = 1\n"),
    "sample.conllu": FINE.replace("= fine", "= fine/sample_2"),
    "agent.conllu": FINE.replace("nsubj\t2:nsubj\t_", "nsubj\t_\tDeprelIn=nsubj:agent"),
    "agent_.conllu": FINE.replace("nsubj\t2:nsubj\t_", "_\t_\tDeprelIn=nsubj:agent").replace("root\t0:root", "_\t_"),
    "letters.conllu": FINE.replace("2\tnsubj\t2:nsubj", "two\tnsubj\t_"),
    "unlabelled.conllu": FINE.replace("nsubj\t2:nsubj", "_\t_"),
    "malformed.conllu": LIKE + "1\tonly\n\n" + CYCLE,
    "leaf.toml": 'leaf = ["nsubj"]',
    "det.toml": 'leaf = ["det"]',
    "pattern.toml": 'mask = [{ label = "/x.*/", upos = "DET" }]',
    "tags.toml": '[[below]]\nupos = "ADP"\nallow = [{ upos = "ADV" }]',
    "free.tsv": "free\t1\tHeadIn\t3\n",
    "cycle.tsv": "cycle\t2\tHeadIn\t0\ncycle\t5\tHeadIn\t0\n",
    "fine.tsv": "fine\t1\tHeadIn\t0\nfine\t2\tHeadIn\t0\n",
    "subjects.conllu": sentence("NOUN 2 nsubj", "VERB 0 root", "NOUN 2 nsubj", "NOUN 5 obj", "NOUN 4 nmod"),
    "meant.tsv": "1\ttoo-many-subjects\t1\tboth dogs and cats\n",
    "circle.tsv": "1\tnon-tree\t4\n1\tnon-tree\t5\n1\ttoo-many-subjects\t2\n",
    "loop.tsv": "1\thead-self-loop\t1\n",
    "else.tsv": "fine\t1\tHeadIn\t2\nelse\t1\tHeadIn\t2\n",
}


@pytest.fixture
def files(put) -> None:
    for name, text in FILES.items():
        put(name, text)


def test_a_session_of_what_is_written(deptree, golden, files) -> None:
    hold_session(deptree, golden, "repair_written.txt")


def test_a_session_of_what_decides(deptree, golden, files) -> None:
    hold_session(deptree, golden, "repair_decided.txt")
    assert Path("x2.conllu").read_text() == FILES["crossing.conllu"]
    assert Path("x3.conllu").read_text() == LIKE


def test_a_header_is_written_if_it_is_wanted(done, files) -> None:
    first, _, rest = done("repair trees.conllu --header -q").out.partition(b"\n")
    assert first == b"# generator = deptree|repair|root:single|rules:ud-2026-11|v:0.1.0"
    assert rest == done("repair trees.conllu -q").out


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
def test_what_needs_nothing_is_copied_byte_for_byte(done, put, files, shape: str) -> None:
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


def test_lines_end_as_those_of_the_sentence(done, put, files) -> None:
    put("crlf.conllu", CYCLE.replace("\n", "\r\n"))
    assert done("repair crlf.conllu --like like.conllu").out.decode() == MENDED.replace("\n", "\r\n")


def test_columns_of_conllu_plus_stay(done, put) -> None:
    """Those of sentences that need nothing, too."""
    put("in.conllup", to_plus(LIKE + CYCLE))
    done("repair in.conllup -o out.conllup")
    assert from_plus(Path("out.conllup").read_text()) == LIKE + MENDED
    assert done("repair out.conllup -q").out == Path("out.conllup").read_bytes()


def test_the_validator_accepts_the_enhanced_graph(done, files, udvalidate) -> None:
    """Word 1 hung on ROOT in DEPS alone, and its head on it alone: with the new arc of word 1 both would be apart."""
    done("repair loop.conllu --like like.conllu -o out.conllu -q")
    assert udvalidate(Path("out.conllu"), 2).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a full disk")
def test_the_trees_appear_only_with_their_changes(refused, files) -> None:
    before = {*Path().iterdir()}
    full = "deptree: /dev/full: cannot be written (No space left on device). Choose another place."
    refused("repair roots.conllu -o out.conllu --changes /dev/full -q", full)
    assert {*Path().iterdir()} == before


def arcs(out: bytes) -> list[str]:
    """HEAD and DEPREL of each word."""
    return [" ".join(line.split("\t")[6:8]) for line in out.decode().splitlines() if line[:1].isdigit()]


@pytest.mark.parametrize("labels", ["", "$LABELS"])
def test_scores_decide_between_trees_as_near(done, put, labels: str) -> None:
    """Every first word is below itself, so that there is nothing to learn from; a parser knows their heads."""
    rows = [line.split("\t") for line in (DATA / "gold.conllu").read_text("utf-8").splitlines()]
    put("x.conllu", "".join("\t".join([*row[:6], "1", *row[7:]] if row[0] == "1" else row) + "\n" for row in rows))
    ran = done(f"repair x.conllu --scores $SCORES {labels}")
    heads = [line.split("\t")[6] for line in ran.out.decode().splitlines() if line.startswith("1\t")]
    assert heads == [row[6] for row in rows if row[0] == "1"]
    assert "8 of 8 sentences repaired: 8 heads, 0 labels" in ran.err
    assert ran.out == done(f"repair x.conllu --scores $SCORES {labels} -j 2").out


def test_what_a_change_must_be_worth(done) -> None:
    """From infinity on nothing is changed that obeys; for nothing, the most probable tree is taken, as by decode."""
    assert done("repair $GOLD --scores $SCORES $LABELS -q").out == (DATA / "gold.conllu").read_bytes()
    treebank = "$DATA/treebank.conllu"  # from whose habits some of its own trees depart
    assert done(f"repair {treebank} -q").out == (DATA / "treebank.conllu").read_bytes()
    assert b"OldHead=" in done(f"repair {treebank} --worth 0 -q").out
    free = done("repair $GOLD --scores $SCORES $LABELS --worth 0 -q").out
    assert arcs(free) == arcs(done("decode $SCORES $LABELS --conllu $GOLD --rules ud -q").out)
    assert b"OldHead=" in free
