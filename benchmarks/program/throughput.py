"""What very many short sentences, a treebank, and many trees of one sentence cost the whole command."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from benchmarks.program.whole import Figures, measure, treebank
from benchmarks.table import Cell, Table
from benchmarks.timing import times
from deptree_cli.core.oracle import all_trees
from deptree_cli.core.spaces import SINGLE_ROOT

SENTENCES = times(100_000, 50)
TREES = times(1_000_000, 1_000)
REPEATS = times(3, 1)
COLUMNS = ("command", "CPU microseconds a sentence", "peak MB")

# The share of one system's trees that are others than the gold ones.
OTHERS = 0.3

LABELS = ("nsubj", "obj", "det", "case", "amod")
TAGS = ("DET", "NOUN", "VERB", "ADJ", "ADP", "PRON")
FORMS = ("the", "a", "cat", "dog", "runs", "sees", "big", "red", "house", "in", "on", "of", "to", "and", "it")

_READ = ("{scores}", "--from", "head-dep,first,log")
_SCORED = (*_READ, "--conllu", "{gold}")

# What is run of short sentences: its name, and its command line without the output.
COMMANDS = (
    ("decode --conllu", ("decode", *_SCORED), "conllu"),
    ("sample --conllu", ("sample", *_SCORED, "--seed", "1"), "conllu"),
    ("inspect", ("inspect", *_SCORED), ""),
    ("agree", ("agree", "{gold}", "{others}"), "tsv"),
    ("report", ("report", *_SCORED), "html"),
    ("eval", ("eval", "{gold}", "{others}", "--seed", "1"), "tsv"),
    ("doubt --top 10", ("doubt", *_SCORED, "--top", "10"), "jsonl"),
    ("check", ("check", "{gold}"), "jsonl"),
    ("repair, half of the trees broken", ("repair", "{gold}"), "conllu"),
    ("measure", ("measure", "{gold}", "--seed", "1"), "tsv"),
    ("measure --per sentence", ("measure", "{gold}", "--per", "sentence"), "tsv"),
    ("diff", ("diff", "{gold}", "{others}"), "jsonl"),
    ("expect entropy", ("expect", "entropy", *_READ), "jsonl"),
    ("score", ("score", "{scores}", "{gold}", *_READ[1:]), "jsonl"),
    ("partition --conllu", ("partition", *_SCORED), "jsonl"),
)

# Exit statuses that are no failure: `check` finds fault with some trees.
STATUSES = (0, 1)

# Machine code for short files too, so that two runs differ in nothing but their sentences.
COMPILED = {"NUMBA_DISABLE_JIT": "0"}


def run() -> Iterator[Table]:
    """Short sentences, a treebank, and one sentence with many trees."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        beside = ("command", "CPU s", "beside decode --conllu", "peak MB")
        yield Table(f"{SENTENCES:,} sentences of 3 words", beside, _short(folder))
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
    """By turns, so that all commands share what else the machine does; of each the quickest run."""
    files = {name: str(folder / name) for name in ("gold.conllu", "others.conllu", "scores.npy")}
    _generate(*files.values())
    places = {Path(name).stem: path for name, path in files.items()}
    commands = COMMANDS[: times(len(COMMANDS), 3)]
    found: dict[str, list[Figures]] = {name: [] for name, *_ in commands}
    for _ in range(REPEATS):
        for name, words, suffix in commands:
            output = ["-o", str(folder / f"out.{suffix}")] if suffix else []
            line = [*(word.format(**places) for word in words), "-q", *output]
            found[name].append(measure(line, COMPILED, accepted=STATUSES))
    seconds = {name: min(runs)[0] for name, runs in found.items()}
    first = seconds[commands[0][0]]
    for name, runs in found.items():
        yield [name, seconds[name], seconds[name] / first, max(memory for *_, memory in runs)]


def _generate(gold: str, others: str, scores: str) -> None:
    """Random trees, as many others in a second file, and scores that prefer the first ones."""
    rng, trees = np.random.default_rng(1), all_trees(3, SINGLE_ROOT)
    own, other = (trees[rng.integers(0, len(trees), SENTENCES)] for _ in range(2))
    other = np.where(rng.random((SENTENCES, 1)) < OTHERS, other, own)
    matrices = rng.normal(size=(SENTENCES, 4, 4)).astype(np.float32)
    matrices[np.arange(SENTENCES)[:, None], own, [1, 2, 3]] += 3.0
    np.save(scores, matrices)
    for path, heads in ((gold, own), (others, other)):
        with Path(path).open("w", encoding="utf-8") as file:
            file.writelines(map(_sentence, range(SENTENCES), heads.tolist()))


def _sentence(number: int, heads: Sequence[int]) -> str:
    """A sentence of CoNLL-U with these heads."""
    forms = [FORMS[(3 * number + word) * 7 % len(FORMS)] for word in range(3)]
    rows = [
        f"{word + 1}\t{form}\t{form}\t{TAGS[(number + word) % len(TAGS)]}\t_\t_\t{head}\t"
        f"{LABELS[(number + word) % len(LABELS)] if head else 'root'}\t_\t_\n"
        for word, (form, head) in enumerate(zip(forms, heads, strict=True))
    ]
    return f"# sent_id = s{number}\n# text = {' '.join(forms)}\n{''.join(rows)}\n"


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
    how = ["sample", str(folder / "one.npy"), "--from", "head-dep,log", "--seed", "1", "-q"]
    for suffix in (".jsonl", ".npz"):
        seconds, _, memory = _best([*how, "-k", str(TREES), "-o", str(folder / f"trees{suffix}")])
        yield [suffix, seconds, memory]
