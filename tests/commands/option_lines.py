"""Lines of every command, in a folder that `prepare` fills, and what each option is given there."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parents[2] / "sample_data"

PADDED = "padded.npy"  # weights, head-dep, ROOT first: no option is needed, and none says what is so anyway
PLAIN = "scores.npz --from natasha"
LABELLED = f"{PLAIN} --labels labels.json --label-scores label_scores.npz"
FULL, HEADLESS = f"{LABELLED} --conllu deps.conllu", f"{LABELLED} --conllu sentences.conllu"
EIGHTS, THREE = f"{PADDED} --lengths eights.txt", "--conllu three.conllu"
BESIDE = f"--scores {PADDED} --lengths eights.txt"
PAIRS, MODEL = "bitext.npz", "model.npz raw.conllu"

# Lines of each command: some have what an option needs, and some do not.
LINES = {
    "sample": [f"{PADDED} -k 9 --seed 1", f"{FULL} -k 9 --seed 1"],
    "swor": [f"{PADDED} --seed 1", f"{FULL} -k 9 --seed 1"],
    "estimate": ["swor.jsonl"],
    "decode": [PADDED, FULL, f"{FULL} -k 5", f"{FULL} --rules ud", f"{PLAIN} {THREE} --rules impossible.tsv"],
    "marginals": [PADDED, FULL, f"{PLAIN} --temperature calibrated.json --head-sets", f"{FULL} --rules ud --seed 1"],
    "score": [f"{PADDED} nines.jsonl", f"{FULL} decoded.conllu", f"{PLAIN} decoded.conllu"],
    "eval": ["gold.conllu decoded.conllu --seed 1", f"three.conllu parsed.conllu --seed 1 {BESIDE}", f"nines.conllu --scores {PADDED}"],
    "doubt": [f"{PADDED} --conllu nines.conllu", FULL, f"{FULL} --by wrong-words"],
    "agree": [
        "gold.conllu decoded.conllu",
        "one.jsonl two.jsonl --test --seed 1",
        f"nines.conllu otherwise.conllu --scores {PADDED}",
    ],
    "check": ["broken.conllu", "multi.jsonl --rules tree"],
    "repair": ["broken.conllu", "broken.conllu --rules ud --rules tree --cost 1:2", f"crossing.conllu --scores {PADDED}", f"decoded.conllu --scores {LABELLED} --rules ud"],
    "partition": [PADDED, FULL],
    "expect": [
        f"entropy {PADDED}",
        f"entropy {FULL} --grad",
        f"renyi {PLAIN} --order 2",
        f"kl {PADDED} --other second.npy",
        f"risk {PLAIN} --gold gold.conllu",
        f"features {PLAIN} --features features.npz",
        f"ge {PLAIN} --features features.npz --target target.json",
    ],
    "calibrate": [f"{PADDED} --gold nines.conllu", f"{FULL} --gold gold.conllu"],
    "combine": [f"{PADDED} second.npy", f"{PADDED} nines.conllu --conllu nines.conllu", f"{PADDED} second.npy --gold nines.conllu --fit"],
    "diff": [f"{PADDED} second.npy -k 20 --seed 1", f"{LABELLED} scores.npz --conllu deps.conllu -k 20 --seed 1"],
    "check-bias": [f"{PADDED} -k 200 --seed 1", f"{FULL} -k 200 --seed 1", f"{PLAIN} --samples two.jsonl"],
    "inspect": [PADDED, FULL],
    "show": [PADDED, FULL, f"{FULL} -k 3 --seed 1"],
    "report": [f"{PADDED} --conllu nines.conllu -o page.html", f"{FULL} -o page.html"],
    "convert": [PADDED, f"{FULL} -o converted.npz", f"{LABELLED} --to-labels names.json"],
    "dump": ["natasha paragraphs.txt"],
    "warm": ["inspect"],
    "hpyp train": [
        "few.conllu -m new.npz --iterations 1 --seed 1",
        "few.conllu -m new.npz --iterations 1 --seed 1 --unlabelled raw.conllu",
        "few.conllu -m copy.npz --iterations 3 --seed 1",
    ],
    "hpyp parse": [f"{MODEL} --particles 20", f"{MODEL} --particles 20 -k 2 --seed 1", f"{MODEL} --particles 20 --seed 1 --scores s.npz"],
    "hpyp surprisal": [f"{MODEL} --particles 20 --seed 1"],
    "hpyp perplexity": [f"{MODEL} --particles 20 --seed 1"],
    "hpyp generate": ["model.npz -k 3 --seed 1"],
    "hpyp describe": ["model.npz"],
    "bitext align": [PAIRS, f"{PAIRS} --threshold 0.3", f"{PAIRS} --gold bitext_gold.align"],
    "bitext expectations": [PAIRS],
    "bitext show": [PAIRS],
}
for name in ("align --threshold 0.3", "expectations", "show"):
    command, _, more = name.partition(" ")
    LINES[f"bitext {command}"] += [
        f"{PAIRS} {more} --method {each}"
        for each in ("randomized --iterations 20 --seed 1", "tic-tac-toe", "rdp --iterations 2 --seed 1")
    ]

# What an option is given, by its name or, where commands differ, behind that of the command.
VALUES: dict[str, str] = {
    "--above": "0.9",
    "--alpha": "0.6",
    "--arcs": "2",
    "--batch": "2",
    "--beam": "2",
    "--below": "0.4",
    "--budget": "3",
    "--burn-in": "5",
    "decode --by": "",
    "doubt --by": "wrong-words",
    "--chains": "3",
    "--changes": "changes.tsv",
    "--confidence": "0.5",
    "--conllu": "deps.conllu",
    "--contexts": "contexts.toml",
    "--cost": "3:1",
    "--coverage": "0.7",
    "--features": "features.npz",
    "--filters": "3",
    "--from": "supar",
    "--gold": "gold.conllu",
    "bitext align --gold": "bitext_gold.align",
    "--iterations": "2",
    "--kept": "1",
    "--label-scores": "label_scores.npz",
    "--labels": "labels.json",
    "--lengths": "eights.txt",
    "--like": "treebank.conllu",
    "--longest": "3",
    "--margin": "0.1",
    "--marks": "marks.tsv",
    "--mass": "0.5",
    "bitext align --method": "tic-tac-toe",
    "bitext expectations --method": "tic-tac-toe",
    "bitext show --method": "tic-tac-toe",
    "decode --method": "mbr",
    "--model": "other.npz",
    "--null-score": "3",
    "--order": "3",
    "--other": "scores.npz",
    "--output": "out.jsonl",
    "--particles": "7",
    "--passes": "2",
    "--permutations": "50",
    "--plot": "plot.svg",
    "--report": "report.json",
    "--resamples": "500",
    "--rules": "forbidden.tsv",
    "--sampler": "colbourn",
    "swor --sampler": "beam",
    "--samples": "two.jsonl",
    "hpyp train --samples": "2",
    "--score-kind": "marginals",
    "--scores": "scores.npz",
    "hpyp parse --scores": "t.npz",
    "--seconds": "0.01",
    "--seed": "2",
    "--sent-id-format": "{id}~{k}",
    "--sentence": "2",
    "--sentences": "written.conllu",
    "--shard": "1/2",
    "--size": "4",
    "--space": "multi-root",
    "--symmetric": "bitext_reverse.npz",
    "--target": "target.json",
    "--temperature": "2",
    "--text": "bitext.txt",
    "--threshold": "0.45",
    "--to": "torch-struct",
    "--to-labels": "to.json",
    "--top": "1",
    "--unlabelled": "raw.conllu",
    "--weights": "0.25,0.75",
    "--within": "0.5",
    "--worth": "0.1",
}
for name, suffix in {
    "calibrate": "json",
    "repair": "conllu",
    "report": "html",
    "show": "svg",
    "bitext show": "txt",
    "hpyp parse": "conllu",
    "hpyp generate": "conllu",
}.items():
    VALUES[f"{name} --output"] = f"out.{suffix}"


def prepare(run: Callable[..., Any], folder: Path) -> None:
    """Write what the lines read beside the sample data."""
    for each in DATA.iterdir():
        if each.is_file():
            shutil.copy(each, folder)
    _write_arrays(folder)
    _write_texts(folder)
    for line in (
        f"decode {HEADLESS} -o decoded.conllu",
        f"swor {PLAIN} -k 5 --seed 7 -o swor.jsonl",
        f"sample {PLAIN} -k 30 --seed 1 -o one.jsonl",
        f"sample {PLAIN} -k 30 --seed 2 -o two.jsonl",
        f"sample {EIGHTS} --conllu three.conllu --seed 5 -o parsed.conllu",
        f"calibrate {LABELLED} --gold gold.conllu --coverage 0.5 --coverage 0.7 -o calibrated.json",
        "hpyp train few.conllu -m model.npz --iterations 2 --seed 1",
        "hpyp train few.conllu -m copy.npz --iterations 2 --seed 1",
    ):
        ran = run(*line.split())
        assert ran.code == 0, (line, ran.err)
