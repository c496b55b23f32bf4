"""The folder in which the lines of `option_lines` run: what they read beside the sample data."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tests.commands.option_lines import EIGHTS, HEADLESS, LABELLED, PADDED, PLAIN

DATA = Path(__file__).parents[2] / "sample_data"


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
        f"calibrate {PADDED} --gold nines.conllu --coverage 0.5 --coverage 0.9 -o calibrated.json",
        "hpyp train few.conllu -o model.npz --iterations 2 --seed 1",
        "hpyp train few.conllu -o copy.npz --iterations 2 --seed 1",
        "hpyp train raw_gold.conllu -o foreign.npz --iterations 1 --seed 1",
        f"convert {LABELLED} --to-labels joint.json -o joint.npz",
    ):
        ran = run(*line.split())
        assert ran.code == 0, (line, ran.err)


def _write_arrays(folder: Path) -> None:
    """Two padded batches of weights, other scores of all sentences, and features of their arcs."""
    rng = np.random.default_rng(0)
    with np.load(folder / "scores.npz") as scores:
        arrays = dict(scores)
    np.save(folder / PADDED, rng.uniform(0.1, 2, (3, 10, 10)))
    np.save(folder / "rootless.npy", [[0.0, 1, 1], [0, 0, 0], [0, 0, 0]])
    np.save(folder / "second.npy", rng.uniform(0.1, 2, (3, 10, 10)))
    np.savez(
        folder / "other_scores.npz", **{each: array + rng.normal(size=array.shape) for each, array in arrays.items()}
    )
    np.savez(folder / "features.npz", **{each: rng.normal(size=(*array.shape, 2)) for each, array in arrays.items()})
    with np.load(folder / "bitext_reverse.npz") as scores:
        np.savez(folder / "reverse.npz", **{each: rng.normal(0, 3, scores[each].shape) for each in scores})
    np.save(folder / "pairs.npy", rng.normal(size=(2, 4, 4)))
    (folder / "pairs.txt").write_text("a b ||| x y\nc d ||| z w\n")
    (folder / "eights.txt").write_text("8\n8\n8\n")
    (folder / "target.txt").write_text("1.0\n2.0\n")


def _write_texts(folder: Path) -> None:
    """Trees of these sentences and of some, and what is asked of words."""
    blocks = (folder / "gold.conllu").read_text().rstrip().split("\n\n")
    _write(folder / "deps.conllu", map(_with_deps, blocks))
    _write(folder / "three.conllu", blocks[:3])
    _write(folder / "nines.conllu", map(_with_ninth, blocks[:3]))
    _write(folder / "otherwise.conllu", [_with_ninth(each).replace("\t2\tobl\t", "\t4\tobl\t") for each in blocks[:3]])
    rows = [{"sent_id": f"en-{k}", "heads": _heads(_with_ninth(block))} for k, block in enumerate(blocks[:3], 1)]
    _write(folder / "turned.jsonl", map(json.dumps, reversed(rows)))
    _write(folder / "nines.jsonl", map(json.dumps, rows))
    _write(folder / "turned.conllu", reversed([_with_ninth(each).replace("\t2\t", "\t1\t") for each in blocks[:3]]))
    _write(folder / "partial.conllu", (each.replace("\t2\tnsubj", "\t_\t_") for each in blocks))
    _write(folder / "raw_deps.conllu", map(_with_deps, (folder / "raw.conllu").read_text().rstrip().split("\n\n")[:4]))
    _write(folder / "impossible.conllu", [each.replace("SpaceAfter=No", "HeadIn=7") for each in blocks[:3:2]])
    (folder / "few.toml").write_text('at-most-one = [["obj", "obl"]]\n')
    _write(folder / "few.conllu", (folder / "treebank.conllu").read_text().split("\n\n")[:30])
    (folder / "forbidden.tsv").write_text("en-1\t7\tNotHead\t2,4\n")
    (folder / "impossible.tsv").write_text("en-1\t7\tHeadIn\t7\n")


def _write(path: Path, blocks: Iterable[str]) -> None:
    path.write_text("".join(f"{each}\n\n" if path.suffix == ".conllu" else f"{each}\n" for each in blocks))


def _with_deps(block: str) -> str:
    """The sentence with its tree as DEPS, and an arc more."""
    lines = [line.split("\t") for line in block.split("\n")]
    for fields in lines:
        if len(fields) > 1 and fields[0].isdigit():
            fields[8] = f"{fields[6]}:{fields[7]}|9:dep" if fields[0] != "9" else f"{fields[6]}:{fields[7]}"
    return "\n".join(map("\t".join, lines))


def _heads(block: str) -> list[int]:
    rows = [line.split("\t") for line in block.split("\n")]
    return [int(fields[6]) for fields in rows if fields[0].isdigit()]


def _with_ninth(block: str) -> str:
    """A sentence of eight words with a ninth."""
    return f"{block}\n9\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_"
