"""CoNLL-U out is CoNLL-U in: but for HEAD, DEPREL, DEPS, sent_id and added comments, byte for byte."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from deptree_cli.core.spaces import SINGLE_ROOT
from tests.every_command import COMMANDS, command
from tests.sample import DATA, SCORES

GOLD = DATA / "gold.conllu"
BOM = b"\xef\xbb\xbf"

ADDED = re.compile(rb"# (generator|tree_logprob|tree_count|swor_[a-z_]+) = .*")

# What real files hold and serialisers lose: free text, repeated keys, empty comments, a second = in MISC, empty nodes.
NASTY = """\
# newdoc id = d1
# sent_id = n/1
# text = Don't panic, = they said
#no space
#
# note = first
# note = second
# sent_id = a second name is only a comment
1-2	Don't	_	_	_	_	_	_	_	SpaceAfter=No|A=b=c
1	Do	do	AUX	_	_	2	aux	2:aux	X=y=z|Ref=1-2
2	n't	not	PART	_	_	0	root	0:root	_
2.1	be	be	AUX	_	_	_	_	0:root	CopyOf=1
3	panic	panic	VERB	_	_	2	conj	2:conj|2.1:x	 leading space

1	Ещё	ещё	ADV	_	_	_	_	_	SpaceAfter=No
2	\u00a0	_	X	_	_	_	_	_	_


#sent_id=third
# text = \u2028 is no newline
1	one	one	NUM	_	_	0	root	_	_
"""
LENGTHS = [3, 2, 1]


def sentences(data: bytes) -> list[list[bytes]]:
    """The lines of each sentence, without newlines; empty lines separate."""
    blocks: list[list[bytes]] = [[]]
    for line in io.BytesIO(data.removeprefix(BOM)):
        content = line.rstrip(b"\r\n")
        if content:
            blocks[-1].append(content)
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def split(block: list[bytes]) -> tuple[bytes | None, list[bytes], list[list[bytes]]]:
    """The sent_id, the comments without it and without what we add, the rows without empty nodes."""
    comments = [line for line in block if line.startswith(b"#")]
    named = [line for line in comments if re.match(rb"#\s*sent_id\s*=", line)]
    name = named[0].partition(b"=")[2].strip() if named else None
    kept = [line for line in comments if line not in named[:1] and not ADDED.fullmatch(line)]
    rows = [line.split(b"\t") for line in block if not line.startswith(b"#")]
    return name, kept, [row for row in rows if not re.fullmatch(rb"\d+\.\d+", row[0])]


def words(rows: list[list[bytes]]) -> list[list[bytes]]:
    return [row for row in rows if row[0].isdigit()]


def blanked(rows: list[list[bytes]]) -> list[list[bytes]]:
    return [[*row[:6], b"", b"", b"", row[9]] if row[0].isdigit() else row for row in rows]


def assert_spliced(before: bytes, after: bytes, k: int) -> None:
    """Every sentence k times, with k trees."""
    read, written = sentences(before), sentences(after)
    assert len(written) == k * len(read)
    for number, block in enumerate(read):
        name, comments, rows = split(block)
        for rank, copy in enumerate(written[k * number : k * (number + 1)], 1):
            new_name, new_comments, new_rows = split(copy)
            assert new_name == (name or b"%d" % (number + 1)) + b"/sample_%d" % rank
            assert new_comments == comments
            assert blanked(new_rows) == blanked(rows)
            assert_tree(words(rows), words(new_rows))


def assert_tree(before: list[list[bytes]], after: list[list[bytes]]) -> None:
    """One tree with one root; `root` exactly there, a DEPREL kept with its HEAD, else `dep`; DEPS with the tree."""
    heads = [int(row[6]) for row in after]
    assert SINGLE_ROOT.contains(np.array([heads]))[0]
    is_own = [row[6:8] for row in before] == [row[6:8] for row in after]
    for old, new in zip(before, after, strict=True):
        kept = new[6] == old[6] and old[7] != b"_"
        assert new[7] == (b"root" if new[6] == b"0" else old[7] if kept else b"dep")
        assert new[8] == (old[8] if is_own else b"_")


@pytest.fixture
def nasty(put):
    """Scores for NASTY: every tree alike."""
    lines = [json.dumps({"scores": np.ones((n + 1, n + 1)).tolist()}) for n in LENGTHS]
    return put("scores.jsonl", "\n".join(lines))


@pytest.mark.parametrize("last", [b"\n", b"\n\n", b""], ids=["one newline", "an empty line", "no newline"])
@pytest.mark.parametrize("bom", [b"", BOM], ids=["", "bom"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["lf", "crlf"])
def test_nasty_files_survive(done, nasty, put, newline, bom, last):
    text = (bom + NASTY.encode().rstrip(b"\n") + last).replace(b"\n", newline)
    put("nasty.conllu", text)
    out = done("sample", nasty, "--from=head-dep", "--conllu", "nasty.conllu", "-k", 4, "--seed", 7).out
    assert_spliced(text, out, 4)
    assert (out.startswith(bom), out.count(BOM)) == (True, len(bom) // 3)
    assert out.endswith(last.replace(b"\n", newline))
    assert out.count(b"\r") == (out.count(b"\n") if newline == b"\r\n" else 0)


@pytest.fixture
def findings(udvalidate):
    """What the UD validator says of a file at level 2, without where."""

    def find(path: Path) -> set[str]:
        ran = udvalidate(path, 2)
        said = ran.stdout + ran.stderr
        assert re.search(r"PASSED|FAILED", said), said
        return {re.sub(r"^\[Line.*?\]: (?=\[)", "", line) for line in said.splitlines() if line.startswith("[Line")}

    return find


@pytest.mark.slow("process")
@pytest.mark.parametrize(
    "command",
    [("sample",), ("sample", "-k", 3), ("sample", "-k", 30, "--unique"), ("swor", "-k", 3), ("marginals",)],
    ids=lambda command: " ".join(map(str, command)),
)
def test_the_validator_finds_nothing_new(done, findings, tmp_path, command):
    seed = () if command == ("marginals",) else ("--seed", 7)
    (tmp_path / "out.conllu").write_bytes(done(*command[:1], *SCORES, *command[1:], *seed, "--conllu", GOLD).out)
    assert findings(tmp_path / "out.conllu") <= findings(GOLD)


def test_the_validator_would_find_something(findings, tmp_path):
    (tmp_path / "bad.conllu").write_text(GOLD.read_text(encoding="utf-8").replace("\t2\tnsubj", "\t0\troot", 1))
    assert any("multiple-roots" in line for line in findings(tmp_path / "bad.conllu"))


@pytest.mark.slow("process")
@pytest.mark.parametrize("treebank", ["sample_data", "real_ru"], indirect=True)
def test_a_whole_treebank(done, findings, tmp_path, treebank):
    gold = treebank / "gold.conllu"
    options = ("--from", "natasha", "-k", 3, "--seed", 7, "-q", "--jobs", 2)
    done("sample", treebank / "scores.npz", *options, "--conllu", gold, "-o", tmp_path / "out.conllu")
    assert_spliced(gold.read_bytes(), (tmp_path / "out.conllu").read_bytes(), 3)
    assert findings(tmp_path / "out.conllu") <= findings(gold)
    open_heads = done("sample", treebank / "scores.npz", *options, "--conllu", treebank / "sentences.conllu").out
    assert_spliced((treebank / "sentences.conllu").read_bytes(), open_heads, 3)


def test_udapi_reads_samples_as_zones_of_one_bundle(done, tmp_path):
    document = pytest.importorskip("udapi.core.document", reason="udapi is not installed")
    (tmp_path / "out.conllu").write_bytes(done("sample", *SCORES, "--conllu", GOLD, "-k", 3, "--seed", 7).out)
    read = document.Document(str(tmp_path / "out.conllu"))
    assert len(read.bundles) == 8
    for bundle in read.bundles:
        assert [tree.zone for tree in bundle.trees] == ["sample_1", "sample_2", "sample_3"]
    assert [node.form for node in read.bundles[0].trees[2].descendants][:3] == ["She", "saw", "the"]


def _writes_sentences(name: str) -> bool:
    """Whether a command reads scores and may write their sentences as CoNLL-U; `diff` writes those of trees."""
    found = {each.name: each for each in command(name).params}
    return name != "diff" and {"scores", "conllu", "fmt"} <= found.keys() and "conllu" in found["fmt"].type.choices


@pytest.mark.parametrize("how", [("--format", "conllu"), ("-o", "out.conllu"), ("-o", "out.conllu.gz")], ids=str)
@pytest.mark.parametrize("errors", ["fail", "skip"])
@pytest.mark.parametrize("name", [name for name in COMMANDS if _writes_sentences(name)])
def test_no_sentences_are_noticed_before_anything_is_read(deptree, put, name, errors, how, tmp_path):
    """Also before the scores, which are damaged; a file of JSON Lines may have words of its own."""
    put("scores.npz", {"a": np.ones((2, 2)), "b": np.full((2, 2), np.nan)})
    put("scores.jsonl", '{"scores": [[0, 1], [0, 0]]}\n' * 2)
    files = sorted(tmp_path.iterdir())
    for scores in ("scores.npz", "scores.jsonl"):
        mixture = ("--method", "mixture") if name == "combine" else ()  # a product is scores, and no sentences
        ran = deptree(name, scores, *mixture, *how, "--on-error", errors)
        assert (ran.code, ran.out, len(ran.said)) == (2, b"", 1)
        assert f"{scores}: there are no sentences to write as CoNLL-U. Name them with --conllu FILE." in ran.err
    assert sorted(tmp_path.iterdir()) == files


@pytest.mark.parametrize("header", ["", '{"signature": "deptree|dump|from:treesample"}\n'])
@pytest.mark.parametrize("name", ["sample", "swor", "decode", "marginals"])
def test_words_beside_the_scores_are_sentences_enough(done, put, name, header):
    line = '{"scores": [[0, 1], [0, 0]], "forms": ["one"]}\n'
    put("scores.jsonl", header + line)
    for scores, stdin in (("scores.jsonl", b""), ("-", (header + line).encode())):
        assert b"1\tone\t" in done(name, scores, "--format", "conllu", "-q", stdin=stdin).out
