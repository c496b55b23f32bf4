"""Splicing against an independent route: the same done line by line, in plain Python, on invented files."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import BOM
from deptree_cli.io.conllu.splicing import Deprels, with_trees
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


def one(data: bytes) -> Block:
    (block,) = read_blocks(io.BytesIO(data), "x")
    return block


def own_arcs(data: bytes) -> list[tuple[bytes, bytes]]:
    """HEAD and DEPREL of the words."""
    rows = (line.split(b"\t") for line in data.split(b"\n"))
    return [(row[6], row[7]) for row in rows if len(row) == 10 and row[0].isdigit()]


def arcs(data: bytes, heads: list[int], labels: list[str] | None) -> list[tuple[bytes, bytes]]:
    """The same with a tree."""
    found = []
    for word, (head, (old, own)) in enumerate(zip(heads, own_arcs(data), strict=True)):
        keeps = labels is None and str(head).encode() == old and head and own not in (b"_", b"root")
        label = labels[word].encode() if labels else own if keeps else b"dep" if head else b"root"
        found.append((str(head).encode(), label))
    return found


def by_line(data: bytes, heads: list[int], sent_id: str, labels: list[str] | None, deps: str) -> bytes:
    """What `with_trees` does, without a care for speed."""
    newline = b"\r\n" if data.split(b"\n")[0].endswith(b"\r") else b"\n"
    if deps == "drop" and own_arcs(data) == arcs(data, heads, labels):
        deps = "keep"
    named, out, word = False, [], 0
    for line in re.findall(rb"[^\n]*\n|[^\n]+", data):
        fields = line.split(b"\t")
        if line.startswith(b"#"):
            match = None if named else re.fullmatch(rb"(#\s*sent_id\s*=\s*)(\S|\S.*\S)(\s*)", line)
            named = named or match is not None
            out.append(match[1] + sent_id.encode() + match[3] if match else line)
        elif len(fields) == 10 and fields[0].isdigit():
            arc = arcs(data, heads, labels)[word]
            third = {"drop": b"_", "basic": b":".join(arc), "keep": fields[8]}[deps]
            out.append(b"\t".join([*fields[:6], *arc, third, fields[9]]))
            word += 1
        elif deps == "keep" or b"." not in fields[0]:
            out.append(line)
    if not named:
        out.insert(0, b"# sent_id = " + sent_id.encode() + newline)
    return b"".join(out)


@pytest.mark.slow("size")
@given(sentences(), st.data())
@pytest.mark.parametrize("deps", ["drop", "basic", "keep"])
@pytest.mark.parametrize("labelled", [True, False])
def test_one_tree(deps: str, labelled: bool, data: bytes, draws: st.DataObject) -> None:
    block = one(data)
    heads = draws.draw(st.lists(st.integers(0, block.n), min_size=block.n, max_size=block.n))
    numbers = draws.draw(st.lists(st.integers(0, len(NAMES) - 1), min_size=block.n, max_size=block.n))
    if draws.draw(st.booleans()):  # its own tree, and its own labels where they have a number
        heads = [each if head is None else head for each, head in zip(heads, block.heads, strict=True)]
        own = zip(numbers, block.deprels, strict=True)
        numbers = [NAMES.index(name) if name in NAMES else number for number, name in own]
    deprels = Deprels(NAMES, np.array([numbers], dtype=np.int32)) if labelled else None
    labels = [NAMES[number] for number in numbers] if labelled else None
    got = with_trees(block, np.array([heads], dtype=np.int32), ["new"], deprels=deprels, deps=deps).data
    assert got == by_line(data, heads, "new", labels, deps)


@pytest.mark.slow("size")
@given(sentences(), st.integers(1, 4))
def test_several_trees_are_one_after_another(data: bytes, k: int) -> None:
    """All but the last end with one empty line, the last as the sentence did."""
    block = one(data)
    heads = np.random.default_rng(k).integers(0, block.n + 1, (k, block.n)).astype(np.int32)
    ids = [f"id{rank}" for rank in range(k)]
    newline = block.newline.encode()
    body = b"".join(line for line in io.BytesIO(data) if line.strip()).removesuffix(newline)
    singles = [
        by_line(body + newline * 2, row.tolist(), name, None, "drop") for row, name in zip(heads, ids, strict=True)
    ]
    last = by_line(data, heads[-1].tolist(), ids[-1], None, "drop")
    assert with_trees(block, heads, ids).data == b"".join([*singles[:-1], last])


@given(sentences())
def test_its_own_tree_changes_nothing(data: bytes) -> None:
    """Where every word has a head and a label that fits it."""
    block = one(data)
    kept = [head and label not in ("_", "root") for head, label in zip(block.heads, block.deprels, strict=True)]
    roots = [head == 0 and label == "root" for head, label in zip(block.heads, block.deprels, strict=True)]
    if block.sent_id and all(a or b for a, b in zip(kept, roots, strict=True)):
        heads = np.array([block.heads], dtype=np.int32)
        assert with_trees(block, heads, [block.sent_id], deps="drop").data == data


@pytest.mark.slow("size")
@given(sentences(), st.data())
def test_what_is_gone_and_what_was_copied_is_counted(data: bytes, draws: st.DataObject) -> None:
    """Own labels in every tree; DEPS and empty nodes once, if a tree is another one than the sentence's."""
    block = one(data)
    own = [draws.draw(st.integers(0, block.n)) if head is None else head for head in block.heads]
    other = draws.draw(st.lists(st.integers(0, block.n), min_size=block.n, max_size=block.n))
    trees = draws.draw(st.lists(st.sampled_from([own, other]), min_size=1, max_size=3))
    got = with_trees(block, np.array(trees, dtype=np.int32), [f"id{rank}" for rank in range(len(trees))])
    written = [arcs(data, heads, None) for heads in trees]
    same = [arc for found in written for arc, old in zip(found, own_arcs(data), strict=True) if arc == old]
    assert got.own_labels == sum(head != b"0" and label not in (b"_", b"dep") for head, label in same)
    assert got.is_reduced == (any(found != own_arcs(data) for found in written) and goes_beyond(data))
    assert got.empty_nodes == (block.empty_nodes if got.is_reduced else 0)


def goes_beyond(data: bytes) -> bool:
    """Whether a sentence has DEPS or empty nodes."""
    rows = [line.split(b"\t") for line in data.split(b"\n")]
    return any(b"." in row[0] or row[8] != b"_" for row in rows if len(row) == 10 and b"-" not in row[0])


@pytest.mark.slow("size")
@given(st.lists(sentences(), min_size=1, max_size=3), st.sampled_from([b"", BOM]), st.sampled_from([b"", b"\n \r\n"]))
def test_files_are_cut_and_come_back_whole(parts: list[bytes], bom: bytes, lead: bytes) -> None:
    data = bom + lead + b"\n\n".join(part.rstrip(b" \r\n") for part in parts)
    blocks = list(read_blocks(io.BytesIO(data), "x"))
    assert len(blocks) == len(parts)
    assert b"".join(block.raw for block in blocks) == data
