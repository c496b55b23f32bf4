"""Treebanks whose scores tell labels, as the commands read them; and what is measured of trees beside gold ones."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import deptree_cli
from benchmarks.corpora import UnavailableError, corpus
from benchmarks.timing import times
from deptree_cli.core.dtypes import Bool
from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.scores.containers.npz import LABEL_SCORES, LABELS
from deptree_cli.io.scores.records import ScoredSentence

# Sentences of a treebank, at most.
SENTENCES = times(10_000, 5)


@dataclass(frozen=True)
class Labelled:
    """A treebank with scores of labels.

    Attributes:
        language: of its sentences.
        folder: has its files.
        size: how many sentences there are.
    """

    language: str
    folder: Path
    size: int

    @property
    def arguments(self) -> list[str]:
        """What commands are told to read it."""
        labels = ["--labels", self.path("labels.json"), "--label-scores", self.path("label_scores.npz")]
        return [self.path("scores.npz"), "--from", "natasha", "--conllu", self.path("sentences.conllu"), *labels]

    def path(self, name: str) -> str:
        """The path of a file of it."""
        return str(self.folder / name)

    def read(
        self, conllu: str = "sentences.conllu", on_error: Callable[[DeptreeError], None] | None = None, **options: Any
    ) -> Iterator[ScoredSentence]:
        """Its sentences, from another file of the folder if one is named."""
        labels = {"labels": self.path("labels.json"), "label_scores": self.path("label_scores.npz")}
        options = {"preset": "natasha", **labels, **options}
        return deptree_cli.read(self.path("scores.npz"), self.path(conllu), on_error=on_error, **options)


def treebanks(folder: Path) -> Iterator[Labelled]:
    """Those at hand: the Russian one with the labels of its parser, of the English one the sentences that have some.

    Raises:
        UnavailableError: they are not there, or what is needed is not installed.
    """
    if not (find_spec("natasha") and find_spec("udtools")):
        raise UnavailableError("The labels of real_ru need natasha, and trees are checked by udtools. Install both.")
    russian, english = corpus("real_ru"), corpus("real_en")
    yield _first("Russian", russian, folder / "ru", _dumped(russian, folder / "dumped"))
    yield _first("English", english, folder / "en", english)


def _dumped(source: Path, folder: Path) -> Path:
    """A folder with the scores of labels that the parser gives to all sentences."""
    folder.mkdir()
    command = ["dump", "natasha", str(source / "sentences.conllu"), "-o", str(folder / "all.npz")]
    subprocess.run([sys.executable, "-m", "deptree_cli", *command, "-q"], check=True)
    with np.load(folder / "all.npz") as found:
        of_labels = {name.removeprefix(LABEL_SCORES): found[name] for name in found if name.startswith(LABEL_SCORES)}
        (folder / "labels.json").write_bytes(found[LABELS].tobytes())
    np.savez(folder / "label_scores.npz", **of_labels)
    return folder


def _first(language: str, source: Path, folder: Path, labels: Path) -> Labelled:
    """The sentences of a treebank that have labels, in files of their own."""
    folder.mkdir()
    with np.load(labels / "label_scores.npz") as of_labels, np.load(source / "scores.npz") as of_arcs:
        size = min(SENTENCES, len(of_labels.files))
        names = of_arcs.files[:size]
        np.savez(folder / "scores.npz", **{name: of_arcs[name] for name in names})
        found = (of_labels[name] for name in of_labels.files[:size])
        np.savez(folder / "label_scores.npz", **dict(zip(names, found, strict=True)))
    (folder / "labels.json").write_bytes((labels / "labels.json").read_bytes())
    for name in ("sentences.conllu", "gold.conllu"):
        _write(folder / name, _blocks(source / name)[:size])
    return Labelled(language, folder, size)


def chosen(treebank: Labelled, which: Bool, folder: Path) -> Labelled:
    """Some sentences of a treebank, without gold trees, in files of their own."""
    folder.mkdir()
    for name in ("scores.npz", "label_scores.npz"):
        with np.load(treebank.path(name)) as arrays:
            kept = [each for each, is_kept in zip(arrays.files, which, strict=True) if is_kept]
            # Their names are their numbers: with gaps they would be ids that the sentences do not have.
            np.savez(folder / name, **{place: arrays[each] for place, each in zip(arrays.files, kept, strict=False)})
    (folder / "labels.json").write_bytes(Path(treebank.path("labels.json")).read_bytes())
    blocks = _blocks(Path(treebank.path("sentences.conllu")))
    _write(folder / "sentences.conllu", [each for each, is_kept in zip(blocks, which, strict=True) if is_kept])
    return Labelled(treebank.language, folder, int(which.sum()))


def _blocks(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").rstrip("\n").split("\n\n")


def _write(path: Path, blocks: Sequence[str]) -> None:
    path.write_text("\n\n".join(blocks) + "\n\n", encoding="utf-8")


def attachment(gold: str, system: str) -> list[float]:
    """UAS, LAS and CLAS in per cent, by udtools."""
    from udtools.udeval import evaluate, load_conllu_file

    found = evaluate(load_conllu_file(gold), load_conllu_file(system))
    return [100 * found[name].f1 for name in ("UAS", "LAS", "CLAS")]


def universal(label: str) -> str:
    """A label without its subtype: LAS asks for no more."""
    return label.partition(":")[0]


def gold_trees(treebank: Labelled) -> list[tuple[list[int], list[str]]]:
    """The heads and labels of the gold trees."""
    blocks = Path(treebank.path("gold.conllu")).read_text(encoding="utf-8").split("\n\n")
    return [_tree(block.splitlines()) for block in blocks if block.strip()]


def _tree(lines: Sequence[str]) -> tuple[list[int], list[str]]:
    rows = [fields for line in lines if (fields := line.split("\t"))[0].isdecimal()]
    return [int(row[6]) for row in rows], [row[7] for row in rows]
