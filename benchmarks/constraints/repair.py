"""`python -m benchmarks repair`: the nearest valid trees beside udapi's fixes, and changes traded for scores."""

from __future__ import annotations

import gzip
import random
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.constraints.labelled import treebanks
from benchmarks.corpora import UnavailableError, corpus
from benchmarks.program.whole import measure
from benchmarks.table import Cell, Table
from benchmarks.timing import points

DAMAGE = points(1, 3, 10, 30)  # % of heads
WORTHS = points("", "8", "4", "2", "1", "0")

# udapi's blocks that mend what the rules of `ud` ask for; cycles are fixed by its reader.
BLOCKS = (
    "ud.FixRoot", "ud.FixRightheaded", "ud.FixAdvmodByUpos", "ud.FixMultiSubjects", "ud.FixMultiObjects",
    "ud.FixLeaf", "ud.FixPunctChild", "ud.FixPunct",
)  # fmt: skip

COLUMNS = (
    "trees", "broken sentences", "still broken", "words changed", "heads", "labels", "wrong heads before", "after",
    "certified", "CPU s",
)  # fmt: skip

# HEAD and DEPREL of a sentence's words.
Annotation = list[tuple[str, str]]


class Trees(NamedTuple):
    """A file of trees with its gold trees."""

    name: str
    path: Path
    gold: Path


def run() -> Iterator[Table]:
    """Trees of a parser and damaged gold trees, and what a parser's scores add."""
    if not find_spec("udapi"):
        raise UnavailableError("Fixes of udapi are measured too. Install udapi.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        russian = next(iter(treebanks(folder)))
        parsed = Trees("a parser's trees, Russian", folder / "parsed.conllu", Path(russian.path("gold.conllu")))
        measure(["decode", *russian.arguments, "-q", "-o", str(parsed.path)])
        rows: list[list[Cell]] = []
        for trees in (parsed, *_damaged(folder)):
            rows += [_repaired(trees, folder), _by_udapi(trees, folder)]
        yield Table("nearest valid trees", COLUMNS, rows)
        scores = ["--scores", *(each for each in russian.arguments if each != "--conllu")]
        scores.remove(russian.path("sentences.conllu"))
        yield Table("changes traded for a parser's scores", ("--worth", *COLUMNS[2:9]), _traded(parsed, scores, folder))


def _damaged(folder: Path) -> Iterator[Trees]:
    """UD_English-EWT dev with some heads replaced at random, one seed for each share."""
    gold = folder / "ewt.conllu"
    gold.write_bytes(gzip.decompress((corpus("ewt") / "dev.conllu.gz").read_bytes()))
    for share in DAMAGE:
        path, stream = folder / f"ewt-{share}.conllu", random.Random(share)
        blocks = gold.read_text(encoding="utf-8").rstrip("\n").split("\n\n")
        path.write_text("\n\n".join(_with_errors(each, share / 100, stream) for each in blocks) + "\n\n", "utf-8")
        yield Trees(f"English, {share} % of heads", path, gold)


def _with_errors(block: str, share: float, stream: random.Random) -> str:
    """A sentence with other heads, and without its graph, which is that of the gold tree."""
    lines = [line for line in block.split("\n") if "." not in line.split("\t")[0] or line.startswith("#")]
    words = [place for place, line in enumerate(lines) if line.split("\t")[0].isdigit()]
    for place in words:
        columns = lines[place].split("\t")
        columns[8] = "_"
        if stream.random() < share:
            others = [str(head) for head in range(len(words) + 1) if str(head) != columns[6]]
            columns[6] = stream.choice(others)
        lines[place] = "\t".join(columns)
    return "\n".join(lines)


def _repaired(trees: Trees, folder: Path) -> list[Cell]:
    out = folder / "repaired.conllu"
    spent = measure(["repair", str(trees.path), "-q", "-o", str(out)], accepted=(0, 1))[0]
    broken = _broken(trees.path, folder)
    return [f"{trees.name}: deptree", broken, *_found(trees, out, folder), _certified(out), spent]


def _by_udapi(trees: Trees, folder: Path) -> list[Cell]:
    out = folder / "fixed.conllu"
    command = ["read.Conllu", f"files={trees.path}", "fix_cycles=1", *BLOCKS, "write.Conllu"]
    with out.open("wb") as file:
        run = [sys.executable, "-c", "import sys; from udapi.cli import main; sys.exit(main())", *command]
        subprocess.run(run, stdout=file, stderr=subprocess.DEVNULL, check=True)
    return [f"{trees.name}: udapi", _broken(trees.path, folder), *_found(trees, out, folder), None, None]


def _traded(trees: Trees, scores: list[str], folder: Path) -> Iterator[list[Cell]]:
    """Changes and wrong heads by what a change has to gain."""
    out = folder / "traded.conllu"
    for worth in WORTHS:
        given = ["--worth", worth] if worth else []
        measure(["repair", str(trees.path), *scores, *given, "-q", "-o", str(out)], accepted=(0, 1))
        yield [worth or "infinite", *_found(trees, out, folder), _certified(out)]


def _found(trees: Trees, out: Path, folder: Path) -> list[Cell]:
    """What a tool left broken, what it changed, and how many heads were and are wrong."""
    before, after, gold = _annotations(trees.path), _annotations(out), _annotations(trees.gold)
    pairs = list(zip(before, after, strict=True))
    changed = [
        sum(is_other(one, other) for one, other in pairs) for is_other in (_differ, _heads_differ, _labels_differ)
    ]
    wrong = [sum(map(_heads_differ, each, gold)) for each in (before, after)]
    return [_broken(out, folder), *changed, *wrong]


def _differ(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return one != other


def _heads_differ(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return one[0] != other[0]


def _labels_differ(one: tuple[str, str], other: tuple[str, str]) -> bool:
    return one[1] != other[1]


def _annotations(path: Path) -> Annotation:
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").split("\n"))
    return [(row[6], row[7]) for row in rows if row[0].isdigit()]


def _broken(path: Path, folder: Path) -> int:
    """How many sentences `deptree check` finds something in."""
    rows = folder / "rows.tsv"
    measure(["check", str(path), "-q", "--tsv", "-o", str(rows)], accepted=(0, 1))
    return len({line.split("\t")[0] for line in rows.read_text(encoding="utf-8").splitlines()[1:] if line[0] != "#"})


def _certified(path: Path) -> str:
    """How many of the repaired sentences no tree with fewer changes serves."""
    found = re.findall(r"^# certified = (yes|no)", path.read_text(encoding="utf-8"), re.MULTILINE)
    return f"{found.count('yes'):,} of {len(found):,}"
