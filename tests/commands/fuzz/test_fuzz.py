"""Damaged files by the thousand: each run ends in a result or in one line and exit status 2.

Never in a traceback, a hang or a gigabyte. A few hundred runs go with the other tests; DEPTREE_FUZZ=20000 makes it as
many. -rP shows how the runs ended. A run is repeated by its container and number, which are also the seed; the damaged
file of one that failed stays in the test's folder.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import resource
import shutil
import signal
import warnings
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from deptree_cli.commands import expect
from tests.sample import DATA
from tests.tree_files import read_blocks

RUNS = int(os.environ.get("DEPTREE_FUZZ", "400"))
SECONDS = 20
GIGABYTE = 1 << 20  # in the unit of ru_maxrss

# Commands that read a damaged file {}, and what is added to some of them.
OF_SCORES = """
    sample {} -k 2; sample {} -k 9 --unique; sample {} -k 2 -o out.npz; sample {} --conllu gold.conllu --fix-heads;
    sample {} --conllu gold.conllu -k 2; sample {} --conllu nameless.conllu; swor {} -k 3; swor {} --mass 0.5;
    swor {} -k 3 --conllu sentences.conllu; decode {}; decode {} -k 2; marginals {}; marginals {} -o out.npz;
    decode {} --method mbr --conllu gold.conllu; calibrate {} --gold gold.conllu;
    marginals {} --conllu gold.conllu; marginals {} --conllu nameless.conllu -o out.npz; partition {} --summary;
    expect entropy {} --grad; expect risk {} --conllu gold.conllu; inspect {} --json; partition {};
    inspect {} --conllu gold.conllu; check-bias {} -k 40; check-bias {} --samples drawn.conllu; show {};
    show {} -o x.txt -k 3; convert {}; convert {} --to spacy -o out.npz; convert {} --to weight -o out.safetensors"""
OF_SENTENCES = """
    sample scores.npz --conllu {} -k 2; sample scores.npz --conllu {} --fix-heads --deps basic;
    sample scores.jsonl --conllu {} -k 3 --deps keep; swor scores.npz --conllu {} -k 3; decode scores.npz --conllu {};
    calibrate scores.npz --gold {}; marginals scores.npz --conllu {};
    marginals scores.npz --conllu {} --fix-heads -o out.npz; inspect scores.npz --conllu {};
    expect attachment scores.npz --conllu {}; show scores.npz --conllu {}; show scores.npz --conllu {} --format text;
    check-bias scores.npz --samples {}; partition scores_stream.npy --conllu {}"""
OF_LABELS = """
    sample label_scores.npz --labels {} -k 2; decode label_scores.npz --labels {}; show label_scores.npz --labels {};
    swor label_scores.npz --labels {} -k 3 --labelled; marginals label_scores.npz --labels {};
    show label_scores.npz --labels {} --format text;
    sample scores.npz --labels {} --label-scores label_scores.npz --conllu gold.conllu"""
OF_LABELLED = """
    sample {} --labels labels.txt -k 2; decode {} --labels labels.txt --conllu gold.conllu;
    marginals {} --labels labels.txt -o out.npz; marginals {} --labels labels.txt;
    sample scores.npz --labels labels.txt --label-scores {}; decode scores.npz --labels labels.txt --label-scores {};
    expect features scores.npz --features {}; expect covariance scores.npz --features {}"""
OF_SAMPLES = "check-bias scores.npz --samples {}"
OF_DRAWS = "estimate {}; estimate {} --quantity arcs"
RUNNING = "--on-error skip; --on-error skip; --shard 2/3"
MORE = """
    --on-error skip; --on-error skip; --multi-root; --temperature 0.01; --temperature 1e6; --shard 2/3;
    --from weight; --from diagonal; --from last; --from head-dep"""


@dataclass(frozen=True)
class Container:
    """A file of the folder, how it is damaged, and what reads it."""

    name: str
    file: str
    kind: str
    commands: str
    options: str = "--from natasha"
    more: str = MORE

    def __str__(self) -> str:
        return self.name

    def command(self, rng: Random, path: str) -> list[str]:
        """A command line that reads the file under that path, quietly."""
        line = [rng.choice(self.commands.split(";")).replace("{}", path), self.options]
        line += rng.sample(self.more.split(";"), rng.choice((0, 0, 1, 1, 2)) if self.more else 0)
        return [*" ".join(line).split(), "-q"]


CONTAINERS = [
    Container("batch", "scores.npy", "npy", OF_SCORES, "--from supar --lengths lengths.txt"),
    Container("stream", "scores_stream.npy", "npy", OF_SCORES, "--from supar"),
    Container("npz", "scores.npz", "npz", OF_SCORES),
    Container("jsonl", "scores.jsonl", "json", OF_SCORES),
    Container("converted", "converted.jsonl", "json", OF_SCORES, ""),
    Container("safetensors", "scores.safetensors", "safetensors", OF_SCORES),
    Container("npy.gz", "scores_stream.npy.gz", "npy.gz", OF_SCORES, "--from supar"),
    Container("jsonl.gz", "scores.jsonl.gz", "json.gz", OF_SCORES),
    Container("conllu", "gold.conllu", "conllu", OF_SENTENCES),
    Container("conllu.gz", "gold.conllu.gz", "conllu.gz", OF_SENTENCES),
    Container("lengths", "lengths.txt", "text", "partition scores.npy --lengths {}", "--from supar"),
    Container("labels", "labels.txt", "text", OF_LABELS),
    Container("labels in JSON", "numbers.json", "json", OF_LABELS),
    Container("labelled", "label_scores.npz", "npz", OF_LABELLED),
    Container("target", "target.txt", "text", "expect ge scores.npz --features label_scores.npz --target {}"),
    Container("samples", "drawn.conllu", "conllu", OF_SAMPLES),
    Container("samples in JSON", "drawn.jsonl", "json", OF_SAMPLES),
    Container("draws", "swor.conllu", "conllu", OF_DRAWS, "", RUNNING),
    Container("draws in JSON", "swor.jsonl", "json", OF_DRAWS, "", RUNNING),
]


class Hung(BaseException):
    """A run took too long; not an Exception, lest somebody catches it."""


@contextmanager
def limited() -> Iterator[None]:
    """Not longer than `SECONDS`, and what a user would see as a warning is an error."""

    def stop(*_: object) -> None:
        raise Hung(f"{SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, done) -> Path:
    """What the commands read, in every container."""
    monkeypatch.chdir(tmp_path)
    for path in DATA.glob("*.*"):
        shutil.copy(path, path.name)
    nameless = re.sub(r"# sent_id.*\n", "", Path("sentences.conllu").read_text(encoding="utf-8"))
    Path("nameless.conllu").write_text(nameless, encoding="utf-8")
    Path("target.txt").write_text("0.5\n1\n-2e1\n" * 5, encoding="utf-8")
    labels = json.loads(Path("labels.json").read_text(encoding="utf-8"))
    Path("labels.txt").write_text("\n".join(labels) + "\n", encoding="utf-8")
    Path("numbers.json").write_text(json.dumps({name: number for number, name in enumerate(labels)}), encoding="utf-8")
    for name in ("scores_stream.npy", "scores.jsonl", "gold.conllu"):
        Path(f"{name}.gz").write_bytes(gzip.compress(Path(name).read_bytes(), mtime=0))
    scores = ("scores.npz", "--from", "natasha")
    done("convert", *scores, "-o", "converted.jsonl", "--conllu", "gold.conllu")
    for command, name, *more in (("sample", "drawn", "--unique"), ("swor", "swor")):
        drawn = (command, *scores, "-k", 4, "--seed", 7, *more)
        done(*drawn, "-o", f"{name}.jsonl")
        done(*drawn, "-o", f"{name}.conllu", "--conllu", "sentences.conllu")
    return tmp_path


def write_safetensors() -> None:
    """The scores as the library of that name saves them."""
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    with np.load("scores.npz") as scores:
        library.save_file(dict(scores), "scores.safetensors")


def wrong_with(ran, command: list[str]) -> str | None:
    """What of a run that ended breaks the promise."""
    if ran.code in (0, 1, 3):
        look_at(command[0], ran.out)
        return None
    errors = [line for line in ran.said if "skipped" not in line]
    if (ran.code, len(errors)) != (2, 1):
        return f"exit status {ran.code} and {len(errors)} lines"
    if not all(line.startswith("deptree") and line.isprintable() for line in ran.said):
        return "a line that is none of ours or hides something"
    return "half a file" if Path("out.npz").exists() else None


def look_at(command: str, out: bytes) -> None:
    """Read a result as its readers will."""
    if command == "show":
        if out.startswith(b"<svg"):
            ElementTree.fromstring(out)
    elif out.startswith(b"{"):
        for line in out.splitlines():
            json.loads(line, parse_constant=lambda name: pytest.fail(f"{name} in the output"))
    elif out:
        assert list(read_blocks(io.BytesIO(out), "the output"))
    if Path("out.npz").exists():
        with np.load("out.npz") as arrays:
            assert not any(np.isnan(arrays[key]).any() for key in arrays)


def how_it_ended(ran) -> str:
    """The exit status, and the kind of error without names and numbers."""
    said = ran.said[-1] if ran.code == 2 and ran.said else ""
    kind = re.sub(r"""'[^']*'|"[^"]*"|\(.*?\)|\[.*?\]|\S*\d\S*""", "", said)
    return f"{ran.code} {' '.join(kind.split())[:70]}"


@dataclass
class Bench:
    """Where damaged files are tried: how the runs ended, and those that broke the promise."""

    deptree: Callable[..., Any]
    ends: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def attempt(self, name: str, command: list[str], data: bytes) -> None:
        """One run on these bytes, which lie where the command looks for them."""
        Path("out.npz").unlink(missing_ok=True)
        expect._archive.cache_clear()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            with limited():
                ran = self.deptree(*command, stdin=data if "-" in command else b"")
            problem = wrong_with(ran, command)
            self.ends[how_it_ended(ran)] += 1
        except (Exception, Hung, pytest.fail.Exception) as error:
            problem = f"{type(error).__name__}: {error}"[:300]
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before > GIGABYTE:
            problem = "more than a gigabyte"
        if problem:
            Path(f"failed-{name}").write_bytes(data)
            self.failures.append(f"{name}: {' '.join(command)}: {problem}")


@pytest.mark.slow("process")
@pytest.mark.parametrize("container", CONTAINERS, ids=str)
def test_damaged(container: Container, folder: Path, deptree, damage: Callable[..., bytes]) -> None:
    if container.kind == "safetensors":
        write_safetensors()
    sound, bench = Path(container.file).read_bytes(), Bench(deptree)
    for number in range(-(-RUNS // len(CONTAINERS))):
        rng = Random(f"{container}-{number}")
        data = damage(rng, container.kind, sound)
        piped = rng.random() < 0.15 and "--features" not in container.commands
        path = "-" if piped else f"x{container.file[container.file.index('.') :]}"
        if not piped:
            Path(path).write_bytes(data)
        bench.attempt(f"{container}-{number}", container.command(rng, path), data)
    print("\n".join(f"{count:6} {end}" for end, count in bench.ends.most_common()))
    assert not bench.failures, "\n".join(bench.failures[:50])
    assert len(bench.ends) > 2, "the damage is always of one kind"
