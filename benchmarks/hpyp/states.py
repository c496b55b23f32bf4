"""The generative parser by how many states of its sampler are averaged over: accuracy, calibration, surprisal, cost."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.hpyp.accuracy import calibrated, shares, treebank
from benchmarks.table import Cell, Table
from benchmarks.timing import points, times
from deptree_cli.core.streams import sentence_stream
from deptree_cli.hpyp.model.parsing import evidence, parse
from deptree_cli.hpyp.model.sentences import LEXICALISED, kept_iterations
from deptree_cli.hpyp.model.training import STATIC, Trained, Training, TrainingSettings

SEEDS, STATES = points(1, 2), points(1, 4, 8)
PARTICLES = 1000


def run() -> Iterator[Table]:
    """Dev of UD_English-EWT, UPOS given, 10 iterations and 5 for each further state; punctuation counts."""
    columns = ("states", "seed", "UAS", "LAS", "arcs", "words", "right", "expected", "bits a token", "sentences/s")
    yield Table("states of the sampler: accuracy, calibration error of the filter, surprisal", columns, _rows())


def _rows() -> Iterator[list[Cell]]:
    for states in STATES:
        for seed in SEEDS:
            trained = _trained(states, seed)
            yield [states, seed, *_accuracy(trained), *_filter(trained), *_speed(trained)]


def _trained(states: int, seed: int) -> Trained:
    training = Training(treebank("train", "upos"), LEXICALISED, TrainingSettings(seed, STATIC, "upos"))
    kept = kept_iterations(times(10), states)
    for _ in range(kept[-1]):
        training.iterate(kept)
    return training.trained()


def _accuracy(trained: Trained) -> list[Cell]:
    dev = treebank("dev", "upos")
    parses = [parse(trained, sentence, PARTICLES) for sentence in dev]
    return [f"{100 * share:.2f}" for share in shares(parses, dev)]


def _filter(trained: Trained) -> list[Cell]:
    """The calibration errors of all arcs and of best heads; shares of heads that are right, and expected to be."""
    return calibrated(trained, treebank("dev", "upos"), PARTICLES)[1:5]


def _speed(trained: Trained) -> list[Cell]:
    """Bits of surprisal a word or end of a sentence, and how many sentences a second of processor time takes for it."""
    dev, start = treebank("dev", "upos"), time.process_time()
    streams = (sentence_stream(1, sentence.sent_id) for sentence in dev)
    bits = [evidence(trained, each, rng, PARTICLES, filters=1).log2[-1] for each, rng in zip(dev, streams, strict=True)]
    spent = time.process_time() - start
    return [f"{-np.sum(bits) / sum(sentence.n + 1 for sentence in dev):.3f}", len(dev) / spent]
