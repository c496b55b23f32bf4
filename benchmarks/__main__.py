"""``python -m benchmarks``: list the benchmarks, measure some, keep their results, fill the manual's tables."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator

# Before NumPy and PyTorch start as many threads as there are cores: what all of them spend would be counted.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from benchmarks import blocks, results
from benchmarks.corpora import UnavailableError
from benchmarks.register import BENCHMARKS
from benchmarks.table import Table


def main() -> None:
    """Do what the command line asks."""
    options = _options()
    if options.quick:  # before any benchmark is loaded
        os.environ["DEPTREE_BENCH_QUICK"] = "1"
    if not options.names:
        print("\n".join(f"{name:<12}{each.summary}" for name, each in BENCHMARKS.items()))
    elif options.names == ["tables"]:
        _fill()
    else:
        for name in BENCHMARKS if options.names == ["all"] else options.names:
            _run(name, options.write)


def _options() -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks", description="Without a name, list the benchmarks.")
    parser.add_argument("names", metavar="NAME", nargs="*", help="benchmarks, or: all; tables: fill marked blocks")
    parser.add_argument("--write", action="store_true", help="keep the results in benchmarks/results")
    parser.add_argument("--quick", action="store_true", help="smallest sizes, once: only shows that they run")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown and options.names not in (["all"], ["tables"]):
        parser.error(f"There is no benchmark {unknown[0]}. Choose from {', '.join(BENCHMARKS)}, all, tables.")
    if options.quick and options.write:
        parser.error("--quick measures nothing worth keeping. Remove --quick or --write.")
    return options


def _fill() -> None:
    try:
        blocks.fill()
    except LookupError as error:
        sys.exit(str(error))


def _run(name: str, is_kept: bool) -> None:
    """Print the tables of a benchmark as they come, and keep them if wanted."""
    try:
        found = results.measured(_printed(BENCHMARKS[name].run()))
    except UnavailableError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return
    if is_kept:
        results.write(name, found)


def _printed(tables: Iterator[Table]) -> Iterator[Table]:
    for table in tables:
        print(f"\n{table.text()}", flush=True)
        yield table


if __name__ == "__main__":
    main()
