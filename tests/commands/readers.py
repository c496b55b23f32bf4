"""Every command that reads scores, as a test calls it on one file of two sentences of three words; and who draws."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.every_command import COMMANDS, ENTRIES, options, reading
from tests.lines import NUMBER, Ran

# Lines of commands with --seed that draw no random numbers; all others draw some.
NOT_RANDOM = {
    "marginals": "$SCORES",
    "agree": "$GOLD $GOLD",
    "check-bias": "$SCORES --samples samples.jsonl",
    "eval": "$GOLD --scores $SCORES",
    "show": "$SCORES",
    "hpyp parse": "m.npz $GOLD",
    "bitext align": "$DATA/bitext.npz",
    "bitext expectations": "$DATA/bitext.npz",
    "bitext show": "$DATA/bitext.npz",
}
RANDOM = {name for name in COMMANDS if "--seed" in options(name)} - NOT_RANDOM.keys()

OF_PAIRS = [name for name, entry in ENTRIES.items() if entry.reads == "pairs"]
READ: dict[str, Any] = {name: reading(name, "bad.npz") for name, entry in ENTRIES.items() if entry.reads == "scores"}
READ |= {
    "combine": ["combine", "bad.npz"],
    **{name: [name, "trees.conllu", "trees.jsonl", "--scores", "bad.npz"] for name in ("agree", "diff")},
    **{name: [name, "trees.conllu", "--scores", "bad.npz"] for name in ("eval", "measure", "repair")},
}
READERS = READ | {name: reading(name, "bad.npz") for name in OF_PAIRS}
OF_TREES = [name for name in READERS if name not in OF_PAIRS]

PAGES = {name for name, entry in ENTRIES.items() if entry.writes == "page"}

SQUARES = {name: np.random.default_rng(int(name)).normal(size=(4, 4)) * 2 for name in ("1", "2")}


def put_files(put: Callable[[str, Any], str]) -> None:
    """Write the scores (of --from supar, or of sentence pairs) and what some commands need beside them."""
    put("base.npz", SQUARES)
    put("trees.jsonl", "".join(f'{{"sent_id":"{each}","heads":[0,1,1]}}\n' for each in SQUARES))
    words = "".join(f"{word}\tw\t_\t_\t_\t_\t{head}\tx\t_\t_\n" for word, head in ((1, 0), (2, 1), (3, 1)))
    for name in ("trees.conllu", "gold.conllu"):
        put(name, "".join(f"# sent_id = {each}\n{words}\n" for each in SQUARES))


def line(reader: str, path: str) -> list[Any]:
    """How a command reads a file, without chance."""
    options = ["--seed", 1] if reader in RANDOM | {"check-bias"} else []
    return [path if each == "bad.npz" else each for each in READERS[reader]] + options


def numbers(ran: Ran) -> list[float]:
    assert ran.code in (0, 1, 3), ran.err
    rows = [each for each in ran.out.decode().splitlines() if not each.startswith('{"signature"')]
    return [float(each) for each in NUMBER.findall("\n".join(rows))]
