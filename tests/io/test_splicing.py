"""Trees spliced into sentences: all else stays, byte for byte, as an independent route has it, line by line."""

from __future__ import annotations

import io
import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import BOM, entries_of, filled, unused_mark
from deptree_cli.io.conllu.splicing import Deprels, with_trees
from deptree_cli.io.conllu.trees import Style, Tags, Trees
from tests.tree_files import read_blocks

TEXT = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\t\n\r"), min_size=1, max_size=5)
NAMES = ("nsubj", "root", "obl:tmod", "čžš")


@st.composite
def sentences(draw: st.DrawFn) -> bytes:
    """A sentence with multiword tokens, empty nodes, any columns, open and closed heads."""
    n = draw(st.integers(1, 5))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    lines = [f"# {text}" for text in draw(st.lists(TEXT, max_size=2)) if "sent_id" not in text]
    if draw(st.booleans()):
        lines.insert(draw(st.integers(0, len(lines))), f"# sent_id = {draw(st.sampled_from(['a', 'x/1', 'ů 2']))}")
    empties = 0
    for word in range(1, n + 1):
        if draw(st.integers(0, 4)) == 0:
            empties += 1
            lines.append("\t".join([f"{word - 1}.{empties}", *draw(columns(9))]))
        if draw(st.integers(0, 4)) == 0:
            lines.append("\t".join([f"{word}-{word + 1}", *draw(columns(9))]))
        head = draw(st.sampled_from(["_", *(str(node) for node in range(n + 1))]))
        deprel = draw(st.sampled_from(["_", "root", "nsubj", "roots", "x", "dep"]))
        deps = draw(st.sampled_from(["_", "_", "__", "2:x"]))
        lines.append("\t".join([str(word), *draw(columns(5)), head, deprel, deps, *draw(columns(1))]))
    end = draw(st.sampled_from(["", newline, newline * 2, newline * 2 + " " + newline]))
    return (newline.join(lines) + end).encode()


def columns(count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(TEXT.filter(str.strip), min_size=count, max_size=count)


def one(data: bytes | str) -> Block:
    (block,) = read_blocks(io.BytesIO(data.encode() if isinstance(data, str) else data), "x")
    return block


def own_arcs(data: bytes) -> list[tuple[bytes, bytes]]:
    rows = (line.split(b"\t") for line in data.split(b"\n"))
    return [(row[6], row[7]) for row in rows if len(row) == 10 and row[0].isdigit()]


def arcs(data: bytes, heads: list[int], labels: list[str | None]) -> list[tuple[bytes, bytes]]:
    """The same with a tree; without a label a word keeps its own if that fits."""
    found = []
    for head, label, (old, own) in zip(heads, labels, own_arcs(data), strict=True):
        keeps = str(head).encode() == old and head and own not in (b"_", b"root")
        usual = own if keeps else b"dep" if head else b"root"
        found.append((str(head).encode(), usual if label is None else label.encode()))
    return found


def by_line(data: bytes, heads: list[int], labels: list, name: str, note: str, deps: str, more: bool) -> bytes:
    """What `with_trees` does, without a care for speed."""
    newline = b"\r\n" if data.split(b"\n")[0].endswith(b"\r") else b"\n"
    if deps == "drop" and own_arcs(data) == arcs(data, heads, labels):
        deps = "keep"
    named, out, word, notes = False, [], 0, [f"# note = {note}".encode() + newline] * bool(note)
    for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
        fields = line.split(b"\t")
        if line.startswith(b"#"):
            match = None if named else re.fullmatch(rb"(#\s*sent_id\s*=\s*)(\S|\S.*\S)(\s*)", line)
            named = named or match is not None
            out.append(match[1] + name.encode() + match[3] if match else line)
            continue
        while notes:
            out.append(notes.pop())
        if len(fields) == 10 and fields[0].isdigit():
            arc = arcs(data, heads, labels)[word]
            third = {"drop": b"_", "basic": b":".join(arc), "keep": fields[8]}[deps]
            own = fields[9].rstrip(b"\r\n")
            misc = (own + b"|" if own != b"_" else b"") + b"E=" + name.encode() if more else own
            out.append(b"\t".join([*fields[:6], *arc, third, misc + fields[9][len(own) :]]))
            word += 1
        elif deps == "keep" or b"." not in fields[0]:
            out.append(line)
    return b"".join(out if named else [b"# sent_id = " + name.encode() + newline, *out])


@pytest.mark.parametrize("labelled", [True, False])
@given(sentences(), st.sampled_from(["drop", "basic", "keep"]), st.booleans(), st.data())
def test_trees_stand_in_copies_of_the_sentence(labelled: bool, data: bytes, deps: str, more: bool, draws) -> None:
    """All but the last end with one empty line, the last as the sentence did; `more`: with an entry in MISC."""
    block, k = one(data), draws.draw(st.integers(1, 3))
    trees, numbers = [], []
    for _ in range(k):
        heads = draws.draw(st.lists(st.integers(0, block.n), min_size=block.n, max_size=block.n))
        labels = draws.draw(st.lists(st.integers(-1, len(NAMES) - 1), min_size=block.n, max_size=block.n))
        if draws.draw(st.booleans()):  # its own tree, and its own labels where they have a number
            heads = [each if head is None else head for each, head in zip(heads, block.heads, strict=True)]
            own = zip(labels, block.deprels, strict=True)
            labels = [NAMES.index(name) if name in NAMES else number for number, name in own]
        trees.append(heads)
        numbers.append(labels if labelled else [-1] * block.n)
    ids, notes = [f"id{rank}" for rank in range(k)], [str(rank) * (rank != 1) for rank in range(k)]
    deprels = Deprels(NAMES, np.array(numbers, dtype=np.int32)) if labelled else None
    given = [[NAMES[number] if number >= 0 else None for number in each] for each in numbers]
    newline = block.newline.encode()
    body = b"".join(line for line in io.BytesIO(data) if line.strip()).removesuffix(newline) + newline * 2
    bodies = [body] * (k - 1) + [data]
    expected = [by_line(*each, deps, more) for each in zip(bodies, trees, given, ids, notes, strict=True)]
    entries = [f"E={name}" for name in ids for _ in range(block.n)] if more else None
    heads = np.array(trees, dtype=np.int32)
    got = with_trees(block, heads, ids, {"note": notes}, deprels=deprels, deps=deps, entries=entries)
    assert got.data == b"".join(expected)


@pytest.mark.slow("size")
@given(sentences(), st.data())
def test_what_is_gone_and_what_was_copied_is_counted(data: bytes, draws: st.DataObject) -> None:
    """Own labels in every tree; DEPS and empty nodes once, if a tree is another one than the sentence's."""
    block = one(data)
    own = [draws.draw(st.integers(0, block.n)) if head is None else head for head in block.heads]
    other = draws.draw(st.lists(st.integers(0, block.n), min_size=block.n, max_size=block.n))
    trees = draws.draw(st.lists(st.sampled_from([own, other]), min_size=1, max_size=3))
    got = with_trees(block, np.array(trees, dtype=np.int32), [f"id{rank}" for rank in range(len(trees))])
    written = [arcs(data, heads, [None] * block.n) for heads in trees]
    same = [arc for found in written for arc, old in zip(found, own_arcs(data), strict=True) if arc == old]
    assert got.own_labels == sum(head != b"0" and label not in (b"_", b"dep") for head, label in same)
    rows = [line.split(b"\t") for line in data.split(b"\n")]
    goes_beyond = any(b"." in row[0] or row[8] != b"_" for row in rows if len(row) == 10 and b"-" not in row[0])
    assert got.is_reduced == (any(found != own_arcs(data) for found in written) and goes_beyond)
    assert got.empty_nodes == (block.empty_nodes if got.is_reduced else 0)


def test_copies_repeat_neither_bom_nor_end() -> None:
    data = BOM + b"\r\n# a\r\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_"
    only = one(data)
    both = with_trees(only, np.zeros((2, 1), dtype=np.int32), ["x/1", "y/23"], {"c": ["1", "2"], "e": ["", "3"]}).data
    tree = b"1\ta\t_\t_\t_\t_\t0\troot\t_\t_"
    first = BOM + b"\r\n# sent_id = x/1\r\n# a\r\n# c = 1\r\n" + tree + b"\r\n\r\n"
    assert both == first + b"# sent_id = y/23\r\n# a\r\n# c = 2\r\n# e = 3\r\n" + tree
    assert only.raw == data


def test_the_line_of_the_name_is_changed_where_it_stands() -> None:
    odd = one(b"#sent_id=\xc4\x8d 1  \r\n1\ta\t_\t_\t_\t_\t_\t_\t_\t_\r\n\r\n")
    assert odd.sent_id == "č 1"
    assert with_trees(odd, np.zeros((1, 1), dtype=np.int32), ["š"]).data.startswith(b"#sent_id=\xc5\xa1  \r\n1\ta")


ROWS = """\
# sent_id = s1
1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_
1\ta\t_\t_\t_\t_\t0\troot\t_\t_
2\tb\t_\t_\t_\t_\t1\tobj\t_\tA=1|HeadProb=old|B=x=y

"""


def test_every_tree_has_its_own_values_in_misc() -> None:
    """An older probability goes; other entries stay, and so does a multiword token."""
    entries = ["HeadProb=1|Q=2", "HeadProb=3|Q=4", "HeadProb=5|Q=6", "HeadProb=7|Q=8"]
    heads = np.array([[0, 1], [2, 0]], dtype=np.int32)
    both = with_trees(one(ROWS).fresh(), heads, ["s1", "s1"], entries=entries).data.decode()
    first = ROWS.replace("root\t_\t_", "root\t_\tHeadProb=1|Q=2")
    first = first.replace("A=1|HeadProb=old|B=x=y", "A=1|B=x=y|HeadProb=3|Q=4")
    second = first.replace("0\troot\t_\tHeadProb=1|Q=2", "2\tdep\t_\tHeadProb=5|Q=6").replace("1\tobj", "0\troot")
    assert both == first + second.replace("HeadProb=3|Q=4", "HeadProb=7|Q=8")


@given(st.lists(st.lists(st.sampled_from([0.0, 0.25, 1 - 1e-9, 1.0]), min_size=3, max_size=3), min_size=1, max_size=3))
def test_a_probability_below_1_is_never_shown_as_1(rows: list[list[float]]) -> None:
    probs, shown = np.array(rows), {0.0: "0", 0.25: "0.25", 1 - 1e-9: "0.999999999", 1.0: "1"}
    assert entries_of({"P": probs}) == [f"P={shown[prob]}" for row in rows for prob in row]
    assert entries_of({"P": probs, "Q": 1 - probs})[0].startswith(f"P={shown[rows[0][0]]}|Q=")
    assert entries_of({}) == []


@pytest.mark.parametrize("odd", ["\0", "\0\1", "\0\1\1", "\1\0"])
def test_bytes_that_look_like_a_place_stay(odd: str) -> None:
    given = one(ROWS.replace("A=1", f"A={odd}").replace("# sent_id", f"# note = {odd}\n# sent_id"))
    mark = unused_mark(given.raw)
    with_places = given.with_column("upos", [mark.decode()] * given.n)
    expected = given.raw.replace(b"\ta\t_\t_\t", b"\ta\t_\tX\t").replace(b"\tb\t_\t_\t", b"\tb\t_\tY\t")
    assert filled(with_places.raw, mark, ["X", "Y"]) == expected
    for values in (["1"], ["1", "2", "3"]):
        with pytest.raises(ValueError, match="zip"):
            filled(with_places.raw, mark, values)


DONT = (
    "# sent_id = a\n# free text\twith a tab\n"
    "1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "1\tdo\tdo\tAUX\tVB\t_\t3\taux\t3:aux\tA=1=2\n"
    "2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t_\t_\n"
    "2.1\tx\tx\tX\tX\t_\t_\t_\t3:dep\t_\n"
    "3\tgo\tgo\tVERB\tVB\tVerbForm=Inf\t0\troot\t_\t_\n"
)
ENDS = [DONT + "\n", DONT, "\ufeff" + DONT + "\n", DONT.replace("\n", "\r\n") + "\r\n"]
TAGS = Tags("upos", ("", "<s>", "A", "B", "C"), np.array([[2, 3, 4], [3, 3, 2]], dtype=np.int32))
HEADS = np.array([[3, 3, 0], [0, 1, 1]], dtype=np.int32)
DEPRELS = Deprels(("root", "x"), np.array([[1, 1, 0], [0, 1, 1]], dtype=np.int32))


@pytest.mark.parametrize("text", ENDS)
def test_other_values_of_a_column_stand_there_alone(text: str) -> None:
    block = one(text)
    for name in ("form", "lemma", "upos", "xpos", "feats", "deps"):
        assert block.with_column(name, block.column(name)).raw == block.raw
    changed = block.with_column("xpos", ["A", "\u00e9", "C"])
    assert changed.column("xpos") == ["A", "\u00e9", "C"]
    assert changed.with_column("xpos", ["VB", "RB", "VB"]).raw == block.raw
    assert b"\tX\tX\t" in changed.raw  # of the empty node


@pytest.mark.parametrize("text", [*ENDS, (DONT + "\n").replace("free", "f\0\0\1ree")])
def test_every_tree_has_its_own_tags(text: str) -> None:
    found = Trees("a", one(text), HEADS, [], deprels=DEPRELS, tags=TAGS).to_conllu(Style("keep")).data
    blocks = list(read_blocks(io.BytesIO(found), "found"))
    assert [block.column("upos") for block in blocks] == [["A", "B", "C"], ["B", "B", "A"]]
    plain = Trees("a", one(text), HEADS, [], deprels=DEPRELS).to_conllu(Style("keep")).data
    pattern = rb"(?m)^(\d+\t[^\t]*\t[^\t]*\t)[^\t]*"
    assert re.sub(pattern, rb"\1", found) == re.sub(pattern, rb"\1", plain)


def test_tags_in_json_lines() -> None:
    found = [json.loads(line) for line in Trees("a", None, HEADS, [], tags=TAGS).to_jsonl().splitlines()]
    assert [row["tags"] for row in found] == [["A", "B", "C"], ["B", "B", "A"]]
    assert [list(row) for row in found] == [["sent_id", "sample", "heads", "tags"]] * 2
