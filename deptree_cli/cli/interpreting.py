"""Whether the kernels of a run are compiled: small work is done sooner by Python than compiling takes, and very small
work sooner than numba is imported. The output is the same, byte by byte.

It is decided once, before a kernel is imported, and holds for all processes of the run. Whoever sets NUMBA_DISABLE_JIT
has decided: 0 compiles, 1 does not. Only commands decide; the library always compiles.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from deptree_cli.cli.params import INPUT, FileName
from deptree_cli.kernels import at_hand
from deptree_cli.kernels.cache import cache_folder

VARIABLE = "NUMBA_DISABLE_JIT"

# Seconds that work may take in Python to be called small where kernels would have to be compiled, and where numba has
# but to find them; by far most takes a fifth of the estimates below.
SMALL, TINY = 2.0, 1.0

# How many times as long a particle of a filter takes if it has to find the tags too.
FINDING_TAGS = 25

# What a byte of text takes to scan, in microseconds.
TEXT = 5.0


class Cost(NamedTuple):
    """What a matrix of n rows takes in Python, in microseconds: base * n^power + tree * n^tree_power * repetitions.

    Measured on scores that leave the range of float64, which take up to ten times as long as others.

    Attributes:
        by: the options that say how often something is repeated, once if they are not given; their numbers multiply.
        text: the microseconds of a byte of text.
    """

    base: float
    power: int = 3
    tree: float = 0.0
    tree_power: int = 1
    by: tuple[str, ...] = ()
    text: float = TEXT

    def of(self, n: float, repetitions: int) -> float:
        """The microseconds of one matrix."""
        return self.base * n**self.power + self.tree * n**self.tree_power * repetitions


# A word of hpyp is a matrix of one row. Commands that are not here compile.
_SUMS, _LINKS = Cost(30), Cost(2, power=6)
COSTS = {
    "sample": Cost(30, tree=150, by=("size",)),
    "swor": Cost(40, tree=250, by=("size",)),
    "estimate": Cost(0),
    "decode": Cost(30, tree=6, tree_power=3, by=("size",)),
    "marginals": _SUMS,
    "score": _SUMS,
    "eval": Cost(60),
    "doubt": Cost(60),
    "calibrate": Cost(5000),
    "agree": Cost(30),
    "check": Cost(0),
    "repair": Cost(0, text=4 * TEXT),
    "partition": _SUMS,
    "expect": Cost(60),
    "diff": Cost(60, tree=150, by=("size",)),
    "check-bias": Cost(500, tree=200, by=("size",)),
    "inspect": _SUMS,
    "show": Cost(30, tree=150, by=("size",)),
    "report": Cost(60),
    "convert": Cost(0),
    "hpyp parse": Cost(1000, tree=2, by=("particles", "size")),
    "hpyp surprisal": Cost(1000, tree=4, by=("particles", "filters")),
    "hpyp perplexity": Cost(1000, tree=4, by=("particles", "filters")),
    "hpyp generate": Cost(0, tree=11_000, by=("size",)),
    "hpyp describe": Cost(0),
    "bitext align": _LINKS,
    "bitext expectations": _LINKS,
    "bitext show": _LINKS,
}

# Parameters that name files of matrices, and of sentences to be parsed; and options whose work nobody foresees.
MATRICES, SENTENCES = ("scores", "other", "label_scores", "symmetric"), "sentences"
UNFORESEEN = ("mass", "within", "iterations", "seconds", "beam", "scheduler")

# By option, what takes a time that sizes tell: walks of other samplers may be as long as scores are peaked.
FORESEEN = {"sampler": {"auto"}, "method": {"exact", "mst", "mbr"}}

# Options whose trees these commands search for, or sample again until they obey.
RULES, OBEY = ("rules",), ("decode", "marginals", "sample")


@contextmanager
def compiled_or_not(ctx: click.Context) -> Iterator[None]:
    """Decide for the run of a command within the block; a run that compiled is noted at its end."""
    name = _name(ctx)
    given = f"{name} {_given(ctx)}"
    is_open = VARIABLE not in os.environ and "numba" not in sys.modules
    if is_open and _takes_less(TINY if at_hand.is_at_hand(name, given) else SMALL, name, ctx):
        os.environ[VARIABLE] = "1"
    yield
    has_compiled = "deptree_cli.kernels.stored" in sys.modules and os.environ.get(VARIABLE, "0") == "0"
    if has_compiled and (folder := cache_folder()):
        at_hand.note(given, folder)


def _takes_less(seconds: float, name: str, ctx: click.Context) -> bool:
    """Whether the work is known and small in Python; what comes from a stream, or is packed, is not known."""
    cost = COSTS.get(name)
    named = {option: getattr(ctx.params.get(option), "name", None) for option in FORESEEN}
    others = any(choice not in {None, *FORESEEN[option]} for option, choice in named.items())
    unforeseen = UNFORESEEN + RULES * (name in OBEY)
    if cost is None or others or any(ctx.params.get(option) is not None for option in unforeseen):
        return False
    repetitions = math.prod(ctx.params.get(option) or 1 for option in cost.by)
    if ctx.params.get("tags") == "predict" and (ctx.params.get("filters") or ctx.params.get("size")):
        repetitions *= FINDING_TAGS
    microseconds = 0.0
    try:
        for each in _costs(cost, repetitions, ctx):
            microseconds += each
            if microseconds > seconds * 1e6:
                return False
    except Exception:  # of any kind, from a damaged file: the command reads it again, and tells what is wrong
        return False
    return True


def _costs(cost: Cost, repetitions: int, ctx: click.Context) -> Iterator[float]:
    """What the files of a command line take, in microseconds."""
    from deptree_cli.io.scores.sizes import matrix_sizes

    yield 0.0 if "scores" in ctx.params else cost.of(1, repetitions)
    for parameter, path in _files(ctx):
        if not Path(path).is_file() or path.endswith(".gz"):
            raise ValueError(path)
        if parameter in MATRICES:
            for count, rows, columns in matrix_sizes(path):
                yield count * cost.of(math.sqrt(rows * columns), repetitions)
            continue
        size = Path(path).stat().st_size
        yield size * cost.text
        if parameter == SENTENCES and size * TEXT < SMALL * 1e6:
            yield Path(path).read_bytes().count(b"\n") * cost.of(1, repetitions)


def _files(ctx: click.Context) -> Iterator[tuple[str, str]]:
    """The files that are read, each with the name of its parameter."""
    for parameter in ctx.command.params:
        value: Any = ctx.params.get(parameter.name or "") if parameter.type is INPUT else None
        for path in value if isinstance(value, tuple) else (value,) * isinstance(value, str):
            yield parameter.name or "", path


def _name(ctx: click.Context) -> str:
    """The name of a command, with that of its group."""
    above = f"{_name(ctx.parent)} " if ctx.parent and ctx.parent.parent else ""
    return f"{above}{ctx.command.name}"


def _given(ctx: click.Context) -> str:
    """Which options are given, and what is chosen by them; of numbers how many digits they have."""
    told = []
    for parameter in ctx.command.params:
        name = parameter.name or ""
        value = "" if isinstance(parameter.type, FileName) or name == "seed" else ctx.params.get(name)
        if ctx.get_parameter_source(name) not in (ParameterSource.DEFAULT, None):
            is_number = isinstance(value, int) and not isinstance(value, bool)
            told.append(f"{name}={len(str(value)) if is_number else getattr(value, 'name', value)}")
    return " ".join(told)
