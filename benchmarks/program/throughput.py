"""What a sentence costs the whole command beyond its start, and what many trees of one sentence do: time and memory."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.program.whole import Figures, measure, treebank
from benchmarks.table import Cell, Table
from benchmarks.timing import times

SENTENCES = times(200_000, 200)
TREES = times(1_000_000, 1_000)
REPEATS = times(3, 1)
COLUMNS = ("command", "CPU microseconds a sentence", "peak MB")

# Machine code for short files too, so that two runs differ in nothing but their sentences.
COMPILED = {"NUMBA_DISABLE_JIT": "0"}


def run() -> Iterator[Table]:
    """Short sentences, a treebank, and one sentence with many trees."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield Table("sentences of 3 to 11 words, JSON Lines in and out", COLUMNS, _short(folder))
        yield Table("a treebank", COLUMNS, _treebank(folder))
        yield Table(f"{TREES:,} trees of a sentence of 40 words", ("format", "CPU s", "peak MB"), _trees(folder))


def _best(arguments: Sequence[str]) -> Figures:
    """Processor and wall seconds, and peak memory, of the quickest of some runs."""
    return min(measure(list(arguments), COMPILED) for _ in range(REPEATS))


def _beyond_start(whole: Sequence[str], one: Sequence[str], sentences: int) -> list[Cell]:
    """Of a run, what one with a single sentence does not take; and its memory."""
    seconds, _, memory = _best(whole)
    return [(seconds - _best(one)[0]) / (sentences - 1) * 1e6, memory]


def _short(folder: Path) -> Iterator[list[Cell]]:
    rng = np.random.default_rng(0)
    with (folder / "short.jsonl").open("w") as lines:
        for number, n in enumerate(rng.integers(3, 12, SENTENCES).tolist()):
            scores = (2 * rng.normal(size=(n + 1, n + 1))).round(4).tolist()
            lines.write(json.dumps({"sent_id": f"s{number}", "scores": scores}) + "\n")
    with (folder / "short.jsonl").open() as lines:
        (folder / "one.jsonl").write_text(lines.readline())
    for command in (["sample", "--seed", "1"], ["decode"], ["partition"]):
        how = [*command, "--scale", "log", "--orient", "head-dep", "-q", "-o", str(folder / "out.jsonl")]
        whole, one = ([*how, str(folder / f"{name}.jsonl")] for name in ("short", "one"))
        yield [" ".join(command), *_beyond_start(whole, one, SENTENCES)]


def _treebank(folder: Path) -> Iterator[list[Cell]]:
    scores, conllu = treebank(folder)
    with np.load(scores) as matrices:
        keys = list(matrices)
        np.savez(folder / "one.npz", **{keys[0]: matrices[keys[0]]})
    first, _, _ = Path(conllu).read_text(encoding="utf-8").partition("\n\n")
    (folder / "one.conllu").write_text(f"{first}\n\n", encoding="utf-8")
    for command, suffix in (
        (["marginals"], "npz"),
        (["decode"], "conllu"),
        (["sample", "--seed", "1"], "conllu"),
        (["sample", "--seed", "1", "-k", "100"], "conllu"),
    ):
        how = [*command, "--from", "natasha", "-q", "-o", str(folder / f"out.{suffix}")]
        whole, one = (
            [*how, matrices, *(["--conllu", words] if suffix == "conllu" else [])]
            for matrices, words in ((scores, conllu), (str(folder / "one.npz"), str(folder / "one.conllu")))
        )
        yield [f"{' '.join(command)} to .{suffix}", *_beyond_start(whole, one, len(keys))]


def _trees(folder: Path) -> Iterator[list[Cell]]:
    np.save(folder / "one.npy", np.random.default_rng(0).normal(size=(41, 41)))
    how = ["sample", str(folder / "one.npy"), "--scale", "log", "--orient", "head-dep", "--seed", "1", "-q"]
    for suffix in (".jsonl", ".npz"):
        seconds, _, memory = _best([*how, "-k", str(TREES), "-o", str(folder / f"trees{suffix}")])
        yield [suffix, seconds, memory]
