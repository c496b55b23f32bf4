"""Results as they are kept: `results/NAME.json` has a benchmark's tables, and when and where they were measured."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.table import Table

FOLDER = Path(__file__).with_name("results")
LIBRARIES = ("numpy", "numba", "scipy")
PEERS = ("jax", "networkx", "supar", "synjax", "torch", "torch_struct", "tree_expectations", "treesample", "udapi")


@dataclass(frozen=True)
class Results:
    """What a benchmark measured once.

    Attributes:
        date: the day, as YYYY-MM-DD.
        commit: short, with a "+" behind it if files were changed.
        cpu, cores: the machine.
        versions: of Python, of the libraries that compute and of the peers that were loaded.
        tables: in the benchmark's order.
    """

    date: str
    commit: str
    cpu: str
    cores: int
    versions: dict[str, str]
    tables: tuple[Table, ...]

    @property
    def origin(self) -> str:
        """The day, the commit, the machine and versions, in one line."""
        versions = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return ", ".join(filter(None, (self.date, self.commit, self.cpu, f"{self.cores} cores", versions)))

    def json(self) -> str:
        """An object with a line for each field and each row, so that differences are small."""
        head = {key: value for key, value in asdict(self).items() if key != "tables"}
        tables = ",\n".join(_table_json(table) for table in self.tables)
        return f'{json.dumps(head, indent=1)[:-2]},\n "tables": [\n{tables}\n ]\n}}\n'


def _table_json(table: Table) -> str:
    head = json.dumps({"name": table.name, "unit": table.unit, "columns": table.columns}, ensure_ascii=False)
    rows = ",\n".join(f"   {json.dumps(row, ensure_ascii=False)}" for row in table.rows)
    return f'  {head[:-1]}, "rows": [\n{rows}\n  ]}}'


def path(name: str) -> Path:
    """The file of a benchmark's results."""
    return FOLDER / f"{name}.json"


def read(name: str) -> Results:
    """The results of a benchmark; FileNotFoundError if it has none."""
    fields = json.loads(path(name).read_text(encoding="utf-8"))
    return Results(**fields | {"tables": tuple(Table(**table) for table in fields["tables"])})


def write(name: str, results: Results) -> None:
    """Replace the results of a benchmark."""
    path(name).write_text(results.json(), encoding="utf-8")


def measured(tables: Iterable[Table]) -> Results:
    """These tables as results of today, of this commit and this machine; measured before versions are looked up."""
    tables = tuple(tables)
    return Results(date.today().isoformat(), _commit(), _cpu(), os.cpu_count() or 1, _versions(), tables)


def _commit() -> str:
    commit = _git("rev-parse", "--short", "HEAD")
    return commit + ("+" if _git("status", "--porcelain", "--", ".", ":!benchmarks/results", ":!*.svg") else "")


def _git(*arguments: str) -> str:
    root = FOLDER.parents[1]
    done = subprocess.run(["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def _cpu() -> str:
    """Its model, as Linux or Python knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def _versions() -> dict[str, str]:
    loaded = [name for name in PEERS if name in sys.modules]
    return {"python": platform.python_version(), **{name: _version(name) for name in (*LIBRARIES, *loaded)}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
