"""Enhanced graphs, in the column DEPS: what is wrong with them, as the UD validator calls it at its levels 2 and 3."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import decoded

_ID = re.compile(rb"(0|[1-9][0-9]*)(?:\.([1-9][0-9]*))?")


class WrongArc(NamedTuple):
    """A node whose arcs are wrong: what the validator calls that, the node as its ID has it, and its form."""

    rule: str
    id: str
    form: str


def wrong_arcs(block: Block) -> list[WrongArc]:
    """Return what is wrong with a sentence's graph, by the order of words; then the nodes that ROOT does not lead to.

    The latter only where heads are nodes of the sentence. Nothing is wrong where no word has DEPS and no node is empty.
    """
    if "deps" not in block.columns:
        return []
    ids, deps = zip(*(row for row in block.cells("id", "deps") if b"-" not in row[0]), strict=True)
    if {*deps} == {b"_"} and ids[-1].isdigit() and len(ids) == block.n:
        return []
    nodes, wrong, below = {b"0", *ids}, list[tuple[str, int]](), defaultdict[bytes, list[bytes]](list)
    for at, (node, text) in enumerate(zip(ids, deps, strict=True)):
        arcs = text.split(b"|") if text != b"_" else ()
        for arc in arcs:
            head, _, label = arc.partition(b":")
            if head not in nodes or not label:
                is_id = _ID.fullmatch(head) is not None
                wrong.append(("invalid-deps" if not label else "unknown-ehead" if is_id else "invalid-ehead", at))
                continue
            below[head].append(node)
            if head == node:
                wrong.append(("deps-self-loop", at))
            if (head == b"0") != (label == b"root" or label.startswith(b"root:")):
                wrong.append(("enhanced-0-is-not-root" if head == b"0" else "enhanced-root-is-not-0", at))
        if len(arcs) > 1:
            pairs = [(_order(head), label) for head, _, label in (arc.partition(b":") for arc in arcs)]
            if (ordered := sorted(pairs)) != pairs:
                by_head = [head for head, _ in pairs] != [head for head, _ in ordered]
                wrong.append(("unsorted-deps" if by_head else "unsorted-deps-2", at))
            if len({*pairs}) < len(pairs):
                wrong.append(("repeated-deps", at))
    if not {rule for rule, _ in wrong} & {"invalid-deps", "invalid-ehead", "unknown-ehead"}:
        reached, waiting = {b"0"}, [b"0"]
        while waiting:
            found = [node for node in below[waiting.pop()] if node not in reached]
            reached.update(found)
            waiting += found
        wrong += [("unconnected-egraph", at) for at, node in enumerate(ids) if node not in reached]
    if not wrong:
        return []
    forms = [form for number, form in block.cells("id", "form") if b"-" not in number]
    place = block.place
    return [WrongArc(rule, ids[at].decode(), decoded(forms[at], place)) for rule, at in dict.fromkeys(wrong)]


def _order(head: bytes) -> tuple[int, int]:
    """Where a node stands; what is not a node stands first."""
    match = _ID.fullmatch(head)
    return (int(match[1]), int(match[2] or 0)) if match else (-1, 0)
