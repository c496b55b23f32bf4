"""Enhanced graphs, in the column DEPS: what is wrong with them, as the UD validator calls it at its levels 2 and 3."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from deptree_cli.io.conllu.blocks import Block
from deptree_cli.io.conllu.columns import decoded

# A node: a word, or a number of an empty node behind one; 0.0 is ROOT.
Node = tuple[int, int]

ROOT = (0, 0)
_ID = re.compile(r"(0|[1-9][0-9]*)(?:\.([1-9][0-9]*))?")


class WrongArc(NamedTuple):
    """A node whose arcs are wrong: what the validator calls that, the node as its ID has it, its form, and its DEPS."""

    rule: str
    id: str
    form: str
    deps: str


def node_of(text: str) -> Node | None:
    match = _ID.fullmatch(text)
    return (int(match[1]), int(match[2] or 0)) if match else None


def graph_of(block: Block) -> list[tuple[str, str, str]]:
    """The ID, FORM and DEPS of words and empty nodes; nothing where no word has DEPS and no node is empty."""
    if "deps" not in block.columns:
        return []
    cells = (cells for cells in block.cells("id", "form", "deps") if b"-" not in cells[0])
    rows = [(decoded(number, block.place), form, deps) for number, form, deps in cells]
    if all(deps == b"_" and number.isdigit() for number, _, deps in rows):
        return []
    return [(number, decoded(form, block.place), decoded(deps, block.place)) for number, form, deps in rows]


def wrong_arcs(block: Block) -> Iterator[WrongArc]:
    """Yield what is wrong with a sentence's graph, by the order of words; then the nodes that ROOT does not lead to.

    The latter only where heads are nodes of the sentence.
    """
    rows, below, known = graph_of(block), defaultdict[Node, list[Node]](list), True
    nodes = {node: row for row in rows if (node := node_of(row[0]))}
    for node, row in nodes.items():
        arcs = [arc.partition(":")[::2] for arc in row[2].split("|")] if row[2] != "_" else []
        heads = [node_of(head) for head, _ in arcs]
        wrong = list[str]()
        if not all(label for _, label in arcs):
            wrong.append("invalid-deps")
        elif None in heads:
            wrong.append("invalid-ehead")
        elif unknown := {*heads} - nodes.keys() - {ROOT}:
            wrong += ["unknown-ehead"] * len(unknown)
        known = known and not wrong
        pairs = [(head, label) for head, (_, label) in zip(heads, arcs, strict=True) if head is not None]
        if [head for head, _ in pairs] != sorted(head for head, _ in pairs):
            wrong.append("unsorted-deps")
        elif pairs != sorted(pairs):
            wrong.append("unsorted-deps-2")
        if len({*pairs}) < len(pairs):
            wrong.append("repeated-deps")
        for head, label in pairs:
            below[head].append(node)
            if head == node:
                wrong.append("deps-self-loop")
            if (head == ROOT) != (label.partition(":")[0] == "root"):
                wrong.append("enhanced-0-is-not-root" if head == ROOT else "enhanced-root-is-not-0")
        yield from (WrongArc(rule, *row) for rule in dict.fromkeys(wrong))
    reached, waiting = set[Node](), [ROOT] if known else []
    while waiting:
        found = [node for node in below[waiting.pop()] if node not in reached]
        reached.update(found)
        waiting += found
    yield from (WrongArc("unconnected-egraph", *row) for node, row in nodes.items() if known and node not in reached)
