"""Three sentence pairs, and score files of them in every container."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Sequence

import numpy as np
import pytest

from deptree_cli.core.dtypes import Array
from tests import arrays

RNG = np.random.default_rng(5)
LENGTHS = {"a": (2, 3), "b/č": (4, 2), "c": (1, 1)}

# Log-scores by name; some links are forbidden.
MATRICES: dict[str, Array] = {name: RNG.normal(size=lengths) for name, lengths in LENGTHS.items()}
MATRICES["a"][0, 1] = MATRICES["b/č"][3, 0] = -np.inf

# The other direction, where other links are forbidden.
REVERSE: dict[str, Array] = {name: RNG.normal(size=lengths[::-1]) for name, lengths in LENGTHS.items()}
REVERSE["a"][2, 1] = -np.inf

WORDS = [("das Haus", "the old house"), ("es ist so spät", "how late"), ("ja", "yes")]
TEXT = "".join(f"{source} ||| {target}\n" for source, target in WORDS).encode()


def batch(matrices: dict[str, Array], fill: float = -np.inf) -> Array:
    sizes = np.max([each.shape for each in matrices.values()], axis=0)
    found = np.full((len(matrices), *sizes), fill)
    for padded, each in zip(found, matrices.values(), strict=True):
        padded[: each.shape[0], : each.shape[1]] = each
    return found


def npz(matrices: dict[str, Array]) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **matrices)  # type: ignore[arg-type]
    return stream.getvalue()


npy = arrays.npy


def jsonl(matrices: dict[str, Array], words: Sequence[tuple[str, str]] = (), names: bool = True) -> bytes:
    """A line each, -inf as null; words: (source, target) of each pair."""
    lines = []
    for number, (name, scores) in enumerate(matrices.items()):
        rows = [[None if np.isneginf(score) else score for score in row] for row in scores.tolist()]
        record = ({"sent_id": name} if names else {}) | {"scores": rows}
        if words:
            source, target = words[number]
            record |= {"source": source.split(), "target": target.split()}
        lines.append(json.dumps(record, ensure_ascii=False) + "\n")
    return "".join(lines).encode()


def safetensors(matrices: dict[str, Array]) -> bytes:
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    return library.save({name: np.ascontiguousarray(scores) for name, scores in matrices.items()})


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data)
