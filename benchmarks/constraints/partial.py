"""What gold heads of some words do for the others: `deptree decode --fix-heads`, with rules and without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.constraints.labelled import Labelled, gold_trees, universal
from benchmarks.table import Cell, Table
from benchmarks.timing import points
from deptree_cli.core.errors import DeptreeError

SHARES = points(10, 25, 50)
SEEDS = points(1, 2, 3)
WAYS: dict[str, dict[str, Any]] = {
    "plain": {},
    "--rules ud": {"rules": "ud"},
    "--fix-heads": {"fix_heads": True},
    "--fix-heads --rules ud": {"fix_heads": True, "rules": "ud"},
    "--fix-heads --rules ud --projective": {"fix_heads": True, "rules": "ud", "projective": True},
}

Tree = tuple[Sequence[int], Sequence[str]]


def table(treebank: Labelled) -> Table:
    """Accuracy on the words whose heads are not known."""
    gold = gold_trees(treebank)
    free = {name: _trees(treebank, options) for name, options in WAYS.items() if "fix_heads" not in options}
    rows: list[list[Cell]] = []
    for share in SHARES:
        found = {name: np.zeros(3, dtype=np.int64) for name in WAYS}
        for seed in SEEDS:
            known = _known(treebank, gold, share, seed)
            for name, options in WAYS.items():
                found[name] += _right(free.get(name) or _trees(treebank, options), gold, known)
        for name, (words, heads, labels) in found.items():
            accuracy = [f"{100 * right / words:.2f}" for right in (heads, labels)]
            rows.append([f"{share} % known, {name}", *accuracy])
    title = f"{treebank.language}: heads of some words known, accuracy on the others, mean of {len(SEEDS)} choices"
    return Table(title, ("trees", "UAS", "LAS"), rows)


def _known(treebank: Labelled, gold: Sequence[Tree], share: int, seed: int) -> list[np.ndarray[Any, Any]]:
    """Which words' heads are known, by sentence; they stand in partial.conllu."""
    rng = np.random.default_rng(seed)
    known = [rng.random(len(heads)) < share / 100 for heads, _ in gold]
    blocks = Path(treebank.path("sentences.conllu")).read_text(encoding="utf-8").rstrip("\n").split("\n\n")
    written = (_filled(block, heads, which) for block, (heads, _), which in zip(blocks, gold, known, strict=True))
    Path(treebank.path("partial.conllu")).write_text("\n\n".join(written) + "\n\n", encoding="utf-8")
    return known


def _filled(block: str, heads: Sequence[int], known: Sequence[bool]) -> str:
    lines = [line.split("\t") for line in block.split("\n")]
    for fields in lines:
        if fields[0].isdecimal() and known[word := int(fields[0]) - 1]:
            fields[6] = str(heads[word])
    return "\n".join(map("\t".join, lines))


def _right(trees: dict[int, Tree], gold: Sequence[Tree], known: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """How many words have no known head, how many of these a right head, and a right label too."""
    found = np.zeros(3, dtype=np.int64)
    for number, ((heads, labels), which) in enumerate(zip(gold, known, strict=True), 1):
        own_heads, own_labels = trees[number]
        for word in np.flatnonzero(~which):
            fits = own_heads[word] == heads[word]
            found += 1, fits, fits and universal(own_labels[word]) == universal(labels[word])
    return found


def _trees(treebank: Labelled, options: dict[str, Any]) -> dict[int, Tree]:
    """The best trees by running number; where none obeys one without rules, where none is projective any."""
    found: dict[int, Tree] = {}
    for dropped in ((), ("rules",), ("rules", "projective")):
        left = {name: value for name, value in options.items() if name not in dropped}
        if len(found) < treebank.size:
            found = _by_number(treebank, left) | found
    return found


def _by_number(treebank: Labelled, options: dict[str, Any]) -> dict[int, Tree]:
    """The best trees of the sentences that have some."""
    found = {}
    conllu = "partial.conllu" if "fix_heads" in options else "sentences.conllu"
    for each in treebank.read(conllu, on_error=lambda error: None, **options):
        try:
            (tree,) = each.constrained.best_trees()
        except DeptreeError:
            continue
        found[each.record.number] = tree.heads, [each.distribution.labels.names[label] for label in tree.labels]
    return found
