"""No option in silence: every command, with every option that it takes.

Each option changes what comes out (standard output, what is said, a file), or is an error that says what it needs.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import click
import pytest

from tests.every_command import COMMANDS, command

DATA = Path(__file__).parents[2] / "sample_data"
SCORES = "scores.npz --from natasha"
LABELLED = f"{SCORES} --labels labels.json --label-scores label_scores.npz"
WORDS, GOLD = "--conllu sentences.conllu", "--conllu gold.conllu"

# Lines of each command that run in a folder of the sample data: an option is tried after each of them.
LINES = {
    "sample": [f"{SCORES} -k 3 --seed 1", f"{LABELLED} {WORDS} -k 3 --seed 1"],
    "swor": [f"{SCORES} -k 3 --seed 1", f"{LABELLED} {WORDS} -k 3 --seed 1"],
    "estimate": ["swor.jsonl", "swor.jsonl --quantity arcs"],
    "decode": [SCORES, f"{LABELLED} {GOLD}", f"{LABELLED} {WORDS} -k 2"],
    "marginals": [SCORES, f"{LABELLED} {GOLD}", f"{SCORES} --calibrated calibrated.json --head-sets"],
    "score": [f"{SCORES} gold.conllu", f"{LABELLED} gold.conllu {WORDS}"],
    "eval": [f"gold.conllu decoded.conllu --scores {SCORES} --seed 1", "gold.conllu decoded.conllu sampled.conllu --seed 1"],
    "doubt": [f"{LABELLED} {GOLD}", f"{LABELLED} {GOLD} --per sentence"],
    "agree": ["gold.conllu decoded.conllu", f"one.jsonl two.jsonl --test --seed 1 --scores {SCORES}"],
    "check": ["treebank.conllu", "broken.conllu"],
    "repair": ["broken.conllu", f"decoded.conllu --scores {LABELLED}"],
    "partition": [SCORES, f"{LABELLED} {GOLD} --summary"],
    "expect": [
        f"entropy {SCORES}",
        f"renyi {LABELLED} {GOLD} --order 2",
        f"kl {SCORES} --other other.npz",
        f"risk {SCORES} --gold gold.conllu",
        f"features {SCORES} --features features.npz",
        f"ge {SCORES} --features features.npz --target target.json --grad",
    ],
    "calibrate": [f"{SCORES} --gold gold.conllu", f"{LABELLED} --gold gold.conllu --coverage 0.8"],
    "combine": [
        "scores.npz:natasha other.npz -o combined.npz",
        f"scores.npz:natasha decoded.conllu {WORDS}",
        "scores.npz:natasha other.npz --gold gold.conllu --fit -o combined.npz",
    ],
    "diff": [f"{SCORES} other.npz -k 20 --seed 1", f"{SCORES} other.npz {GOLD} -k 20 --seed 1"],
    "check-bias": [f"{SCORES} -k 200 --seed 1", f"{SCORES} --samples two.jsonl", f"{LABELLED} {GOLD} -k 200 --seed 1"],
    "inspect": [SCORES, f"{LABELLED} {GOLD}"],
    "show": [f"{SCORES} --sentence en-3", f"{LABELLED} {GOLD} --sentence en-3 -k 2 --seed 1"],
    "report": [f"{LABELLED} {GOLD} -o page.html"],
    "convert": [f"{SCORES} -o converted.npz", f"{LABELLED} {GOLD} -o converted.npz"],
}

# What each option is given; what is a choice is given each of them.
VALUES = {
    "--size": "4",
    "--seed": "2",
    "--output": "out.file",
    "--shard": "1/2",
    "--temperature": "2",
    "--lengths": "lengths.txt",
    "--labels": "labels.json",
    "--label-scores": "label_scores.npz",
    "--from": "supar",
    "--orient": "head-dep",
    "--root": "last",
    "--scale": "weight",
    "--space": "multi-root",
    "--conllu": "sentences.conllu",
    "--gold": "gold.conllu",
    "--rules": "ud",
    "--constraints": "forbidden.tsv",
    "--spans": "spans.tsv",
    "--calibrated": "calibrated.json",
    "--scores": "scores.npz",
    "--samples": "two.jsonl",
    "--sampler": "colbourn",
    "--mass": "0.5",
    "--budget": "3",
    "--alpha": "0.2",
    "--top": "1",
    "--above": "0.9",
    "--below": "0.1",
    "--within": "0.5",
    "--coverage": "0.7",
    "--order": "3",
    "--other": "other.npz",
    "--features": "features.npz",
    "--target": "target.json",
    "--weights": "0.25,0.75",
    "--sentence": "en-1",
    "--threshold": "0.4",
    "--arcs": "5",
    "--marks": "marks.tsv",
    "--quantity": "arcs",
    "--confidence": "0.5",
    "--resamples": "500",
    "--permutations": "50",
    "--cost": "2:1",
    "--worth": "0.1",
    "--like": "gold.conllu",
    "--changes": "changes.tsv",
    "--to": "supar",
    "--to-labels": "to.json",
    "--sent-id-format": "{id}~{k}",
    "--text": "words.txt",
    "--by": "label",
    "--heat-map": "x.svg",
    "--report": "r.json",
    "--plot": "p.svg",
    "--method": None,
}

# What by its nature changes nothing where nothing is wrong, or only how fast it goes.
ELSEWHERE = {"--jobs", "--scheduler", "--on-error", "--verbose", "--engine", "--quiet"}


def prepare(run, folder: Path) -> None:
    """Write what the lines read beside the sample data."""
    import numpy as np

    rng = np.random.default_rng(0)
    with np.load(folder / "scores.npz") as scores:
        arrays = dict(scores)
    np.savez(folder / "other.npz", **{name: (array + rng.uniform(0, 3, array.shape)).astype("f4") for name, array in arrays.items()})
    np.savez(folder / "features.npz", **{name: rng.normal(size=(*array.shape, 2)) for name, array in arrays.items()})
    (folder / "target.json").write_text("[1.0, 2.0]")
    (folder / "forbidden.tsv").write_text("sent_id\tword\tnot_head\nen-1\t1\t0\n")
    for line in (
        f"swor {SCORES} -k 5 --seed 7 -o swor.jsonl",
        f"sample {SCORES} -k 30 --seed 1 -o one.jsonl",
        f"sample {SCORES} -k 30 --seed 2 -o two.jsonl",
        f"decode {LABELLED} {WORDS} -o decoded.conllu",
        f"sample {LABELLED} {WORDS} -k 1 --seed 5 -o sampled.conllu",
        f"calibrate {LABELLED} --gold gold.conllu --coverage 0.5 -o calibrated.json",
    ):
        assert run(*line.split()).code == 0, line


def tries(name: str, parameter) -> list[list[str] | None]:
    opt = max(parameter.opts, key=len)
    if opt in ELSEWHERE:
        return []
    if parameter.is_flag:
        return [[each] for each in (opt, *parameter.secondary_opts)]
    if isinstance(parameter.type, click.Choice):
        return [[opt, each] for each in parameter.type.choices if each != parameter.default]
    if opt not in VALUES:
        print("no value", name, opt)
        return []
    return [[opt, VALUES[opt]]] if VALUES[opt] else []


def silent(deptree, folder: Path, name: str, option: list[str]) -> list[str]:
    """The lines that an option leaves as they are."""
    found, effects = [], 0
    for line in LINES[name]:
        plain, chosen = (observed(deptree, folder, [*name.split(), *line.split(), *more]) for more in ([], option))
        assert plain[0] in (0, 1), (line, plain)
        if plain == chosen:
            found.append(line)
        effects += chosen[0] in (0, 1) and plain != chosen
    return found if effects else [*found, f"never effective: {chosen[2]}"]


def observed(deptree, folder: Path, args: list[str]):
    """What a run writes, and how it ends; the line that repeats its arguments does not count."""
    before = {path.name for path in folder.iterdir()}
    ran = deptree(*args)
    new = {path.name: path.read_bytes() for path in folder.iterdir() if path.name not in before}
    for path in new:
        (folder / path).unlink()
    said = [each for each in ran.said if not each.startswith("deptree: deptree|")]
    return ran.code, ran.out, said, new
