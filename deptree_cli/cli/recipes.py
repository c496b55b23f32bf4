"""Small command lines that compile what each command needs, and the data that they read, made here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

SPACES = ("", "--multi-root", "--projective", "--multi-root --projective")

# Ordinary scores, with sentences and without, and such as leave the range of float64.
PLAIN = "scores.npz --scale log"
WITH_WORDS = f"{PLAIN} --conllu words.conllu"
SCORES = (PLAIN, f"{WITH_WORDS} --labels labels.json --label-scores label_scores.npz", "saturated.npz --scale log")

# What others read; Python runs it, for nobody has asked to compile it.
DATA = (
    "hpyp train words.conllu -m model.npz --iterations 1 --seed 1",
    f"swor {PLAIN} -k 3 --seed 1 -o draws.jsonl",
)


def _lines(command: str, *endings: str, scores: Iterable[str] = SCORES) -> list[str]:
    """A command for all kinds of scores and spaces, and with all these options behind."""
    return [f"{command} {read} {space} {ending}" for read, space, ending in product(scores, SPACES, endings or ("",))]


TREES = "words.conllu"
POOLS = ("product", "mixture")
PARTICLES = "--particles 10 --seed 1"
PRUNED = [f"--method {method} --seed 1 --iterations 5" for method in ("randomized", "rdp")]

# By command; those that come first need most.
RECIPES: dict[str, list[str]] = {
    "swor": _lines("swor", "-k 8 --seed 1", "-k 2 --mass .5 --seed 1"),
    "check-bias": [
        *(f"check-bias {read} {space} -k 50 --seed 1" for read, space in product(SCORES, SPACES)),
        *(f"check-bias {PLAIN} --sampler {name} -k 50 --seed 1" for name in ("wilson-rc", "wilson-reject", "colbourn")),
    ],
    "hpyp train": ["hpyp train words.conllu -m other.npz --iterations 2 --seed 1"],
    "hpyp parse": [
        f"hpyp parse model.npz words.conllu {PARTICLES} --scores parsed.npz",
        "hpyp parse model.npz words.conllu --beam 4",
        "hpyp parse model.npz words.conllu --tags predict",
        f"hpyp parse model.npz words.conllu -k 2 {PARTICLES}",
    ],
    "hpyp surprisal": [f"hpyp surprisal model.npz words.conllu {PARTICLES}"],
    "hpyp perplexity": [f"hpyp perplexity model.npz words.conllu {PARTICLES}"],
    "hpyp generate": ["hpyp generate model.npz --seed 1"],
    "hpyp describe": ["hpyp describe model.npz"],
    "sample": [
        *_lines("sample", "-k 2 --seed 1", "-k 200 --seed 1"),
        *(f"sample {PLAIN} --sampler {name} -k 20 --seed 1" for name in ("elimination", "wilson-marginal")),
    ],
    "decode": [*_lines("decode", "", "--method mbr"), *_lines("decode", "-k 3", scores=SCORES[:1])],
    "marginals": [*_lines("marginals"), *_lines("marginals -o sums.npz", scores=SCORES[:1])],
    "expect": [
        *_lines("expect entropy --grad", ""),
        *_lines("expect renyi --order 2", "", scores=SCORES[:1]),
        *_lines(f"expect risk --gold words.conllu {PLAIN}", scores=("",)),
        *_lines(f"expect kl --other scores.npz {PLAIN}", scores=("",)),
    ],
    "estimate": ["estimate draws.jsonl"],
    "partition": _lines("partition"),
    "score": [f"score {PLAIN} {TREES} {space}" for space in SPACES[:2]],
    "eval": [f"eval {TREES} {TREES} --scores {PLAIN} {space} --seed 1" for space in SPACES],
    "combine": [
        *(f"combine scores.npz scores.npz --scale log {space} --method {way}" for way in POOLS for space in SPACES),
        "combine scores.npz scores.npz --scale log --fit --gold words.conllu",
    ],
    "doubt": [*_lines("doubt", f"--conllu {TREES}", scores=SCORES[:1]), f"doubt {WITH_WORDS} --per sentence"],
    "calibrate": [f"calibrate {WITH_WORDS} --coverage .5 {space}" for space in SPACES],
    "agree": [f"agree {TREES} {TREES} --scores {PLAIN} {space}" for space in SPACES],
    "check": [f"check {TREES}"],
    "repair": [f"repair {TREES} {space}" for space in SPACES],
    "diff": [f"diff scores.npz scores.npz --scale log {space} -k 20 --seed 1" for space in SPACES],
    "bitext align": ["bitext align pairs.npz", *(f"bitext align pairs.npz --threshold .5 {each}" for each in PRUNED)],
    "bitext expectations": ["bitext expectations pairs.npz", *(f"bitext expectations pairs.npz {e}" for e in PRUNED)],
    "bitext show": ["bitext show pairs.npz"],
    "show": [f"show {read} {space}" for read, space in product(SCORES[:2], SPACES)],
    "inspect": [f"inspect {WITH_WORDS}"],
    "convert": [f"convert {WITH_WORDS}"],
    "dump": [],
}

LENGTHS = (1, 2, 3, 6, 9, 14)
TAGS, LABELS = ("DET", "NOUN", "VERB"), ("det", "nsubj", "root")


def write_data(folder: Path) -> None:
    """Write the files that the lines above read."""

    def save(name: str, arrays: dict[str, Any]) -> None:
        np.savez(folder / name, **arrays)

    random = np.random.Generator(np.random.PCG64(1))
    scores = {f"s{n}": random.normal(size=(n + 1, n + 1)) for n in LENGTHS}
    save("scores.npz", scores)
    save("saturated.npz", {name: _saturated(len(each) - 1) for name, each in scores.items()})
    labels = {name: random.normal(size=(*each.shape, len(LABELS))) for name, each in scores.items()}
    save("label_scores.npz", labels)
    save("pairs.npz", {f"p{n}": random.normal(size=(n, n + 1)) for n in (2, 4, 6)})
    (folder / "labels.json").write_text(json.dumps(LABELS))
    (folder / "words.conllu").write_text("".join(map(_sentence, LENGTHS)))


def _saturated(n: int) -> np.ndarray:
    """Log-scores of pairs of words that all but choose each other, which elimination cannot do in float64; of long
    sentences one arc is forbidden."""
    log_scores = np.full((n + 1, n + 1), -30.0)
    log_scores[1:2, 3:4] = -np.inf
    for word in range(1, n, 2):
        log_scores[word, word + 1] = log_scores[word + 1, word] = 0.0
    return log_scores


def _sentence(n: int) -> str:
    """Words of which each governs the one before it, the last one is the root."""
    kinds = [2 if word == n else word % 2 for word in range(1, n + 1)]
    words = [
        f"{word}\tw{word % 4}\t_\t{TAGS[kind]}\t_\t_\t{(word + 1) % (n + 1)}\t{LABELS[kind]}\t_\t_\n"
        for word, kind in enumerate(kinds, start=1)
    ]
    return f"# sent_id = s{n}\n{''.join(words)}\n"
