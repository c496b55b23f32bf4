"""Which small faults the tests notice: mutants of the package, drawn by a seed, and the tests that kill them.

    python tests/mutants.py draw --count 150 --seed 1 > mutants.tsv     # place, kind, before, after
    python tests/mutants.py run mutants.tsv --jobs 2 > killed.tsv       # and the first test that failed, or -

A mutant is a fault at one place: a sign, an index, off by one, `<` for `<=`, a dropped term, validation or message. A
room has as many as its share of lines. Each is tried in a copy of the tree, first on the test files that mention its
module and function most, then on all quick tests, or on those of its framework. Kernels run as Python first; what
survives that is compiled. After tests change, `run` on the mutants that were killed shows whether each still is.

A mutant can write where the program never would: run as root, some replace /dev/full by a file.
"""

from __future__ import annotations

import argparse
import ast
import csv
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
PACKAGE = "deptree_cli"
NEAR = 6  # test files of the first try
FRAMEWORKS = ("tests/torch", "tests/jax")  # whose tests are not quick
SECONDS = 900  # for a try; a mutant that loops for ever is killed by that

SIGNS = {ast.Add: "-", ast.Sub: "+"}
BOUNDS = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">"}
OTHERS = {ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in"}
MESSAGES = {"warn", "message", "status", "echo", "note"}
VALIDATIONS = re.compile(r"_?(check|require|foresee)")


@dataclass(frozen=True)
class Mutant:
    """Text at a place of a file (its line and offset of bytes) and what it becomes; `killed`: the test that failed."""

    file: str
    line: int
    offset: int
    function: str
    kind: str
    before: str
    after: str
    killed: str = ""


class Places(ast.NodeVisitor):
    """All mutants of a file: what its functions do, not the types of their arguments."""

    def __init__(self, file):
        self.file, self.source = file, (ROOT / file).read_bytes()
        self.starts = [0]
        for line in self.source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.function = ""
        self.found: list[Mutant] = []
        self.visit(ast.parse(self.source))

    def visit_FunctionDef(self, node):
        outer, self.function = self.function, node.name
        for child in node.body:
            self.visit(child)
        self.function = outer

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def visit_AnnAssign(self, node):
        if node.value:
            self.visit(node.value)

    def visit_BinOp(self, node):
        adds = not any(map(is_sequence, (node.left, node.right)))
        if adds and (sign := SIGNS.get(type(node.op))):
            self.between("sign", node.left, node.right, sign)
            self.add("term", node, self.text(node.left))
        self.generic_visit(node)

    def visit_BoolOp(self, node):
        self.add("term", node, self.text(node.values[0]))
        self.generic_visit(node)

    def visit_Compare(self, node):
        if len(node.ops) == 1:
            kind = type(node.ops[0])
            if kind in BOUNDS:
                self.between("bound", node.left, node.comparators[0], BOUNDS[kind])
            elif kind in OTHERS:
                self.between("condition", node.left, node.comparators[0], OTHERS[kind])
        self.generic_visit(node)

    def visit_Subscript(self, node):
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        for part in parts:
            for each in (part.lower, part.upper) if isinstance(part, ast.Slice) else (part,):
                if each is not None and (value := number(each)) is not None:
                    self.add("index", each, str(value + 1))
        self.generic_visit(node)

    def visit_Call(self, node):
        if name_of(node.func) == "range" and node.args:
            stop = node.args[min(len(node.args), 2) - 1]
            self.add("off by one", stop, f"{self.text(stop)} - 1")
        self.generic_visit(node)

    def visit_If(self, node):
        if len(node.body) == 1 and isinstance(node.body[0], ast.Raise) and not node.orelse:
            self.add("validation", node.body[0], "pass")
        self.generic_visit(node)

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call):
            name = name_of(node.value.func)
            if name in MESSAGES:
                self.add("message", node, "pass")
            elif VALIDATIONS.match(name):
                self.add("validation", node, "pass")
            self.visit(node.value)

    def offset(self, line, column):
        return self.starts[line - 1] + column

    def text(self, node):
        start, end = self.span(node)
        return self.source[start:end].decode()

    def span(self, node):
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset)

    def add(self, kind, node, after):
        self.put(kind, node.lineno, self.span(node)[0], self.text(node), after)

    def between(self, kind, left, right, after):
        """An operator, which has no place of its own in the tree."""
        start, end = self.span(left)[1], self.span(right)[0]
        space = self.source[start:end].decode()
        operator = space.strip("() \n\t\\")
        if "#" not in space and operator:
            self.put(kind, left.end_lineno or left.lineno, start + space.index(operator), operator, after)

    def put(self, kind, line, offset, before, after):
        if self.function:
            self.found.append(Mutant(self.file, line, offset, self.function, kind, before, after))


def name_of(node):
    """The last name of `a.b.c`."""
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_sequence(node):
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
    return is_text or isinstance(node, ast.JoinedStr | ast.List | ast.Tuple)


def number(node):
    """An integer, its sign before it or not."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and (value := number(node.operand)) is not None:
        return -value
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def drawn(count, seed):
    """Mutants of files drawn by their lines, of a kind that the file has, at a place of this kind; none twice."""
    rng = random.Random(seed)
    places = {path: Places(str(path.relative_to(ROOT))).found for path in sorted((ROOT / PACKAGE).rglob("*.py"))}
    paths = [path for path, found in places.items() if found]
    weights = [len(path.read_bytes().splitlines()) for path in paths]
    seen = set[Mutant]()
    while len(seen) < count:
        found = places[rng.choices(paths, weights)[0]]
        kind = rng.choice(sorted({each.kind for each in found}))
        one = rng.choice([each for each in found if each.kind == kind])
        if one not in seen:
            seen.add(one)
            yield one


def tests_near(mutant):
    """Test files by how much they have to do with a mutant: their names, and mentions of its function and module."""
    path = Path(mutant.file)
    subject = path.parent.name if path.stem == "__init__" else path.stem
    module = ".".join(path.with_suffix("").parts).removesuffix(".__init__")
    mirrored = ("tests" / Path(*path.parts[1:])).parent
    scores = {}
    for test in sorted((ROOT / "tests").rglob("test_*.py")):
        text, relative = test.read_text(encoding="utf-8"), test.relative_to(ROOT)
        scores[str(relative)] = (
            8 * (relative.stem.removeprefix("test_") == subject)
            + 4 * (f"test_{subject}" in relative.stem)
            + 4 * (len(mutant.function) > 3 and re.search(rf"\b{mutant.function}\b", text) is not None)
            + 3 * (module in text)
            + 2 * relative.is_relative_to(mirrored)
            + (re.search(rf"\b{subject}\b", text) is not None)
        )
    return [test for test, score in sorted(scores.items(), key=lambda each: -each[1]) if score > 1][:NEAR]


class Copy:
    """A clone, in which one mutant at a time is tried; what is not committed is not in it."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="mutants"))
        subprocess.run(["git", "clone", "--quiet", "--shared", ROOT, self.folder], check=True)

    def try_out(self, mutant):
        """What kills a mutant: the first test that fails, `time`, or `-`."""
        path = self.folder / mutant.file
        source = path.read_bytes()
        before = mutant.before.encode()
        if source[mutant.offset : mutant.offset + len(before)] != before:
            return replace(mutant, killed="another place")
        is_kernel = b"njit" in source or b"import numba" in source
        path.write_bytes(source[: mutant.offset] + mutant.after.encode() + source[mutant.offset + len(before) :])
        self.forget(path)
        try:
            framework = f"tests/{path.relative_to(self.folder / PACKAGE).parts[0]}"
            if framework in FRAMEWORKS:
                killed = self.failed([framework])
            else:
                killed = self.failed(["--quick", *tests_near(mutant)], interpreted=is_kernel)
                killed = killed or self.failed(["--quick"], fresh=is_kernel)
        finally:
            path.write_bytes(source)
            self.forget(path)
        return replace(mutant, killed=killed or "-")

    def forget(self, path):
        """What is compiled of a file: its text changes faster than a clock that counts seconds."""
        for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
            compiled.unlink()

    def failed(self, chosen, interpreted=False, fresh=False):
        """The first of the chosen tests that fails; "" if none does."""
        environment = {**os.environ, "PYTHONPATH": str(self.folder), "NUMBA_DISABLE_JIT": str(int(interpreted))}
        environment.setdefault("DEPTREE_DATA", str(ROOT / "../shared/data"))
        with tempfile.TemporaryDirectory() as cache:
            if fresh:
                environment["NUMBA_CACHE_DIR"] = cache
            pytest = str(Path(sys.executable).with_name("pytest"))  # it sets the name that messages begin with
            # processes that must end at once would compile everything first
            ignored = [f"--ignore=tests/{x}" for x in ("browser", "test_budget.py", *["cli/test_signals.py"] * fresh)]
            command = [pytest, "-x", "-q", "-p", "no:cacheprovider", "-rfE", *ignored, *chosen]
            try:
                ran = subprocess.run(
                    command,
                    cwd=self.folder,
                    env=environment,
                    capture_output=True,
                    text=True,
                    timeout=SECONDS,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return "time"
        if ran.returncode in (0, 5):
            return ""
        first = re.search(r"^(?:FAILED|ERROR) (\S+)", ran.stdout, re.MULTILINE)
        return first[1] if first else f"status {ran.returncode}"


def run(mutants, jobs):
    """Try mutants in copies of the tree, and yield them in order; first make sure that tests pass without one."""
    copies: SimpleQueue[Copy] = SimpleQueue()
    for _ in range(jobs):
        copy = Copy()
        copies.put(copy)
    if failed := copy.failed(["--quick"]):
        sys.exit(f"{failed} fails without a mutant. Mend it first.")

    def one(mutant):
        copy = copies.get()
        try:
            return copy.try_out(mutant)
        finally:
            copies.put(copy)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(one, mutants)
    while not copies.empty():
        shutil.rmtree(copies.get().folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True, dest="command")
    draw = commands.add_parser("draw", help="write mutants as TSV")
    draw.add_argument("--count", type=int, default=150)
    draw.add_argument("--seed", type=int, default=1)
    tried = commands.add_parser("run", help="find what kills each")
    tried.add_argument("file", type=Path)
    tried.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    out = csv.writer(sys.stdout, delimiter="\t", lineterminator="\n")
    if asked.command == "draw":
        mutants = drawn(asked.count, asked.seed)
    else:
        with asked.file.open(encoding="utf-8", newline="") as rows:
            read = csv.reader(rows, delimiter="\t")
            mutants = run([Mutant(a, int(b), int(c), *rest) for a, b, c, *rest in read], asked.jobs)
    for mutant in mutants:
        out.writerow(astuple(mutant))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
