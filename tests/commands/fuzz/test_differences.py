"""The same scores in another container, type, order of names or transport: the same result, or an error that is due.

As in `test_fuzz.py`, DEPTREE_FUZZ=20000 makes it as many runs, and a run is repeated by its number, which is its seed.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from tests.sample import DATA

RUNS = int(os.environ.get("DEPTREE_FUZZ", "300"))

TYPES = ["<f2", "<f4", "<f8", ">f4", ">f8", "<i4", "|i1", "|u1", "|b1"]
SUFFIXES = [".npz", ".npy", ".jsonl", ".safetensors"]
TRANSPORTS = ["file", "gzip", "stdin", "gzip on stdin"]
COMMANDS = ["decode", "marginals", "sample -k 2 --seed 7", "decode -k 2", "swor -k 2 --seed 3"]

Scores = dict[str, np.ndarray]


@dataclass(frozen=True)
class Case:
    """Sentences, and how their scores are written.

    Attributes:
        arrays: the scores by sent_id, in the order of the sentences.
        keys: the name of each sentence's scores, in the same order.
        order: that of the scores in the file.
        missing: the sentence that is left out of the scores or of the sentences, if any, and of which.
    """

    arrays: Scores
    keys: list[str]
    order: list[int]
    suffix: str
    transport: str
    missing: tuple[int, str] | None

    @property
    def named(self) -> bool:
        """Whether scores are named as their sentences."""
        return self.keys == list(self.arrays)

    def written(self) -> Scores:
        """What is in the score file, in its order."""
        values = list(self.arrays.values())
        gone = self.missing[0] if self.missing and self.missing[1] == "scores" else None
        return {self.keys[number]: values[number] for number in self.order if number != gone}

    def sentences(self) -> str:
        """The CoNLL-U."""
        gone = self.missing[0] if self.missing and self.missing[1] == "sentences" else None
        return "".join(
            f"# sent_id = {name}\n"
            + "".join(f"{word}\tw" + "\t_" * 8 + "\n" for word in range(1, len(each) + 1))
            + "\n"
            for number, (name, each) in enumerate(self.arrays.items())
            if number != gone
        )

    def verdict(self) -> str:
        """`same`, `error` or `either`, of the result against that of the plain file."""
        moved = self.order != sorted(self.order)
        by_key = self.named and self.suffix != ".npy"
        if self.missing:
            alone = len(self.arrays) == 1
            if by_key and not alone:
                return "same" if self.missing[1] == "sentences" else "either"
            return "either" if self.named or alone else "error"
        if by_key or len(self.arrays) == 1:
            return "same"
        return "error" if self.suffix == ".safetensors" or moved else "same"


def a_case(rng: Random) -> Case:
    size = rng.choice((1, 2, 3, 5, 12))
    names = [f"{rng.choice(('s-', '', 'é/'))}{number}" for number in rng.sample(range(1, 40), size)]
    kind, numbers = rng.choice(TYPES), np.random.default_rng(rng.randrange(2**32))
    arrays = {}
    for name in names:
        n = rng.choice((1, 2, 3, 4)) if rng.random() < 0.8 else 3
        scores = numbers.normal(size=(n, n + 1)) * 3
        scores = scores.astype(kind) if kind[1] == "f" else np.abs(scores).astype(kind)
        if kind[1] == "f" and rng.random() < 0.3:
            scores[numbers.random(scores.shape) < 0.1] = -np.inf
        scores[:, 0] = 1
        arrays[name] = scores
    keys = names if rng.random() < 0.6 else [f"k{number}" for number in range(size)]
    suffix, order = rng.choice(SUFFIXES), list(range(size))
    if keys is names and suffix != ".npy" and rng.random() < 0.5:
        rng.shuffle(order)
    missing = (rng.randrange(size), rng.choice(("scores", "sentences"))) if rng.random() < 0.15 and size > 1 else None
    return Case(arrays, keys, order, suffix, rng.choice(TRANSPORTS), missing)


def encoded(arrays: Scores, suffix: str) -> bytes:
    """A score file's bytes, as programs of others write them."""
    out = io.BytesIO()
    if suffix == ".npz":
        np.savez(out, **{f"{name}": each for name, each in arrays.items()})
    elif suffix == ".npy":
        for each in arrays.values():
            np.save(out, each)
    elif suffix == ".jsonl":
        rows = ({"sent_id": name, "scores": each.astype(float).tolist()} for name, each in arrays.items())
        out.write("".join(json.dumps(row).replace("-Infinity", "null") + "\n" for row in rows).encode())
    else:
        library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
        native = {name: each.astype(each.dtype.newbyteorder("<")) for name, each in arrays.items()}
        out.write(library.save(native))
    return out.getvalue()


def delivered(data: bytes, case: Case) -> tuple[str, bytes]:
    """The path under which the bytes are read, and what is on standard input."""
    packed = gzip.compress(data, 1) if "gzip" in case.transport else data
    if "stdin" in case.transport:
        return "-", packed
    path = f"x{case.suffix}" + ".gz" * (case.transport == "gzip")
    Path(path).write_bytes(packed)
    return path, b""


@pytest.fixture
def quiet_numpy() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.slow("process")
@pytest.mark.usefixtures("quiet_numpy")
def test_the_plain_file_gives_the_same(deptree: Callable[..., Any], tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    ends: Counter[str] = Counter()
    failures: list[str] = []
    for number in range(RUNS):
        rng = Random(number)
        case = a_case(rng)
        options = ["--from", "natasha", "-q", "--no-header", "--on-error", rng.choice(("skip", "fail"))]
        command = rng.choice(COMMANDS).split()
        Path("plain.npz").write_bytes(encoded(dict(zip(case.arrays, case.arrays.values(), strict=True)), ".npz"))
        Path("s.conllu").write_text(case.sentences(), encoding="utf-8")
        wanted = deptree(*command[:1], "plain.npz", *command[1:], *options, "--conllu", "s.conllu")
        path, stdin = delivered(encoded(case.written(), case.suffix), case)
        ran = deptree(*command[:1], path, *command[1:], *options, "--conllu", "s.conllu", stdin=stdin)
        verdict = case.verdict()
        if problem := wrong(ran, wanted, verdict):
            failures.append(f"{number}: {' '.join(command)} {case.suffix} {case.transport} {case.keys}: {problem}")
        ends[f"{case.suffix} {verdict} {ran.code}"] += 1
    print("\n".join(f"{count:6} {end}" for end, count in sorted(ends.items())))
    assert not failures, "\n".join(failures[:20])


def wrong(ran, wanted, verdict: str) -> str:
    """What is wrong with a result; a misaligned pair is wrong under every verdict."""
    if verdict == "same" and wanted.code != 2:
        return "" if (ran.code, ran.out) == (wanted.code, wanted.out) else f"{ran.code} and {wanted.code}: {ran.err}"
    if verdict == "error":
        errors = [line for line in ran.said if "skipped" not in line]
        return "" if ran.code == 2 and len(errors) == 1 else f"{ran.code} where an error is due"
    if ran.code == 2 or wanted.code == 2:
        return ""
    whole = set(wanted.out.split(b"\n\n"))
    strange = [each for each in ran.out.split(b"\n\n") if each not in whole]
    return f"trees that the plain file does not give: {strange[:2]}" if strange else ""


FILES = {"npz": "scores.npz", "json": "scores.jsonl", "npy": "scores_stream.npy", "safetensors": "scores.safetensors"}


@pytest.mark.slow("process")
@pytest.mark.parametrize("kind", FILES)
def test_damage_is_the_same_by_every_transport(kind, deptree, damage, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    if kind == "safetensors":
        library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
        with np.load(DATA / "scores.npz") as archive:
            library.save_file(dict(archive), "scores.safetensors")
        sound = Path("scores.safetensors").read_bytes()
    else:
        sound = (DATA / FILES[kind]).read_bytes()
    suffix = Path(FILES[kind]).suffix
    preset = "supar" if kind == "npy" else "natasha"
    failures = []
    for number in range(-(-RUNS // 8)):
        rng = Random(f"{kind} {number}")
        data = damage(rng, kind, sound)
        options = "--from", preset, "-q", "--on-error", rng.choice(("skip", "fail"))
        command = (rng.choice(("partition", "marginals")), *options)
        results = []
        for transport in ("file", rng.choice(TRANSPORTS[1:])):
            path, stdin = delivered(data, Case({}, [], [], suffix, transport, None))
            results.append(deptree(command[0], path, *command[1:], stdin=stdin))
        plain, other = results
        unknown = "neither the name nor the first bytes" in other.err or not data
        if (plain.code, plain.out) != (other.code, other.out) and not (unknown and other.code == 2):
            Path(f"failed-{kind}-{number}").write_bytes(data)
            failures.append(f"{number}: {suffix} {transport} {command}: {plain.err!r} and {other.err!r}")
    assert not failures, "\n".join(failures[:20])
