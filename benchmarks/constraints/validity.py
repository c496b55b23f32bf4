"""Trees of `deptree decode` by what the validator of Universal Dependencies says of them, and by gold trees."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.constraints.labelled import Labelled, attachment
from benchmarks.program.whole import measure
from benchmarks.table import Cell, Table

COLUMNS = (
    "trees", "invalid sentences", "errors", "UAS", "LAS", "CLAS", "certified, %",
    "maximum trees: median", "99 %", "most", "CPU s",
)  # fmt: skip
GOLD, JOINT = "gold", "decode"
WAYS = (JOINT, "--projective", "--rules ud", "--rules ud --projective")

VALIDATE = "import sys; from udtools.cli import main; sys.exit(main())"
ERROR = re.compile(
    r"\[Line \d+ Sent (?P<sentence>[^\]]*?)(?: Node [^\]]*)?\]: \[L\d (?P<severity>\w+) (?P<test>[\w-]+)\]"
)


class Errors(NamedTuple):
    """What the validator finds, warnings aside."""

    sentences: int
    by_test: Counter[str]


def errors_of(path: str) -> Errors:
    """The errors of a file up to level 3, none of them suppressed."""
    command = [sys.executable, "-c", VALIDATE, "--lang", "ud", "--level", "3", "--max-err", "0", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [each for each in ERROR.finditer(done.stdout + done.stderr) if each["severity"] != "WARNING"]
    stated = re.search(r"FAILED \*\*\* with (\d+) errors", done.stdout + done.stderr)
    if len(found) != (int(stated[1]) if stated else 0):
        raise ValueError(f"{path}: {len(found)} errors were understood, not those that the validator counts")
    return Errors(len({each["sentence"] for each in found}), Counter(each["test"] for each in found))


def tables(treebank: Labelled) -> Iterator[Table]:
    """The trees by each way; and which errors they have."""
    found = {GOLD: errors_of(treebank.path("gold.conllu"))}
    rows: list[list[Cell]] = [[GOLD, found[GOLD].sentences, found[GOLD].by_test.total(), *[None] * 8]]
    for way in WAYS:
        path = treebank.path("out.conllu")
        given = way.split() if way != JOINT else []
        spent, *_ = measure(["decode", *treebank.arguments, *given, "-q", "-o", path])
        found[way] = errors_of(path)
        scores = [f"{each:.2f}" for each in attachment(treebank.path("gold.conllu"), path)]
        trees = _trees(treebank, "--projective" in given) if "--rules" in given else [None] * 4
        rows.append([way, found[way].sentences, found[way].by_test.total(), *scores, *trees, spent])
    yield Table(f"{treebank.language}: {treebank.size} sentences", COLUMNS, rows)
    tests = sorted({test for each in found.values() for test in each.by_test})
    counts = ([test, *(each.by_test[test] for each in found.values())] for test in tests)
    yield Table(f"{treebank.language}: errors by the validator's tests", ["test", *found], counts)


def _trees(treebank: Labelled, projective: bool) -> list[Cell]:
    """How many trees are certified, and how many maximum trees sentences cost."""
    found = [each.constrained.best_trees()[0] for each in treebank.read(rules="ud", projective=projective)]
    opened = np.array([each.opened for each in found])
    certified = f"{100 * np.mean([each.certified for each in found]):.1f}"
    return [certified, float(np.median(opened)), float(np.percentile(opened, 99)), int(opened.max())]
