"""The generative parser on UD_English-EWT: accuracy and speed by model, contexts, particles, oracle and training size.

The tables are those of Buys and Blunsom (2015), 2 to 4, a learning curve, and how well the filter is calibrated.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from typing import Any, Literal

import numpy as np

from benchmarks.corpora import corpus
from benchmarks.table import Cell, Table
from benchmarks.timing import QUICK, points, times
from deptree_cli.core.calibration import Calibration
from deptree_cli.core.evaluation import universal
from deptree_cli.core.streams import sentence_stream
from deptree_cli.hpyp.files.treebank import read_treebank
from deptree_cli.hpyp.model.parsing import filtered, parse
from deptree_cli.hpyp.model.sentences import LEXICALISED, UNLEXICALISED, Annotated, Contexts
from deptree_cli.hpyp.model.training import SAMPLED, STATIC, Trained, Training, TrainingSettings

Tagset = Literal["upos", "xpos"]

PARTICLES = points(10, 100, 1000, 5000)
SIZES = points(100, 300, 1000, 3000, 12544)
CALIBRATED = points((100, 1), (1000, 1), (10000, 10))
SEED = 1

# Of each part; None for all.
SENTENCES = 20 if QUICK else None


@dataclass(frozen=True)
class Setup:
    """How a parser is trained and used."""

    tagset: Tagset = "upos"
    contexts: Contexts = LEXICALISED
    iterations: int = 10
    oracle: str = STATIC
    size: int | None = None
    predicts_tags: bool = False


def run() -> Iterator[Table]:
    """Accuracies in per cent, sentences per second of processor time."""
    columns = ("", "UAS", "LAS", "UAS with punctuation", "LAS with punctuation", "tags", "sentences/s")
    yield Table("models, 1,000 particles (paper's table 2)", columns, _models())
    yield Table("contexts of actions and tags, given UPOS (paper's table 3)", columns, _contexts())
    yield Table("particles, given and predicted UPOS (paper's table 4)", columns, _particles())
    yield Table("oracles, given UPOS", (*columns, "seconds an iteration"), _oracles())
    yield Table("sentences of training, given UPOS", columns, _sizes())
    columns = ("particles", "arcs", "words", "right", "expected", "distinct trees", "sentences/s")
    yield Table("expected calibration error of the filter: of all arcs; of best heads", columns, _calibration())


@cache
def treebank(part: str, tagset: Tagset) -> Sequence[Annotated]:
    """The sentences of a part of the corpus."""
    return list(islice(read_treebank([str(corpus("ewt") / f"{part}.conllu.gz")], tagset), SENTENCES))


@cache
def _trained(setup: Setup) -> tuple[Trained, float]:
    """A parser, and the processor time of an iteration once all is compiled."""
    trees = treebank("train", setup.tagset)[: setup.size]
    training = Training(trees, setup.contexts, TrainingSettings(SEED, setup.oracle, setup.tagset))
    spent = []
    for _ in range(times(setup.iterations)):
        start = time.process_time()
        training.iterate()
        spent.append(time.process_time() - start)
    return training.trained(), float(np.median(spent))


def _row(name: Cell, setup: Setup, particles: int = 1000) -> list[Cell]:
    trained, _ = _trained(replace(setup, predicts_tags=False))
    dev = treebank("dev", setup.tagset)
    parse(trained, dev[0], particles, setup.predicts_tags)  # compiles
    start = time.process_time()
    parses = [parse(trained, sentence, particles, setup.predicts_tags) for sentence in dev]
    speed = len(dev) / (time.process_time() - start)
    found = [100 * share for share in (*shares(parses, dev, punctuation=False), *shares(parses, dev))]
    tags = [np.equal(each.tags, gold.tags) for each, gold in zip(parses, dev, strict=True)]
    right = f"{100 * np.concatenate(tags).mean():.1f}" if setup.predicts_tags else None
    return [name, *(f"{share:.1f}" for share in found), right, speed]


def shares(parses: Sequence[Any], dev: Sequence[Annotated], punctuation: bool = True) -> list[float]:
    """UAS and LAS, as `deptree eval` counts them."""
    attached, labelled = [], []
    for each, gold in zip(parses, dev, strict=True):
        heads = np.asarray(each.heads) == np.asarray(gold.heads)
        pairs = [(universal(one), universal(two)) for one, two in zip(each.deprels, gold.deprels, strict=True)]
        counted = np.array([punctuation or label != "punct" for _, label in pairs])
        attached.append(heads[counted])
        labelled.append((heads & np.array([one == two for one, two in pairs]))[counted])
    return [float(np.concatenate(right).mean()) for right in (attached, labelled)]


def _models() -> Iterator[list[Cell]]:
    tag_contexts = Contexts(UNLEXICALISED.action, UNLEXICALISED.tag, ("b.t", "rc(s1).t", "lc(s1).t"))
    tagsets: tuple[tuple[Tagset, int], ...] = (("upos", 10), ("xpos", 20))
    for tagset, iterations in tagsets:
        name = f"{tagset.upper()}, {iterations} iterations"
        setup = Setup(tagset, iterations=iterations)
        yield _row(f"unlexicalised, given {name}", replace(setup, contexts=UNLEXICALISED))
        yield _row(f"words, contexts of tags alone, given {name}", replace(setup, contexts=tag_contexts))
        yield _row(f"lexicalised, given {name}", setup)
        yield _row(f"lexicalised, predicted {name}", replace(setup, predicts_tags=True))


def _contexts() -> Iterator[list[Cell]]:
    elements = LEXICALISED.action
    for length in range(2, len(elements) + 1):
        contexts = Contexts(elements[:length], elements[:length], LEXICALISED.word)
        name = ", ".join(elements[:2]) if length == 2 else f"+ {elements[length - 1]}"
        yield _row(name, Setup(contexts=contexts))


def _particles() -> Iterator[list[Cell]]:
    for predicts in (False, True):
        for particles in PARTICLES:
            name = f"{particles:,}, {'predicted' if predicts else 'given'}"
            yield _row(name, Setup(predicts_tags=predicts), particles)


def _oracles() -> Iterator[list[Cell]]:
    for oracle in (STATIC, SAMPLED):
        setup = Setup(oracle=oracle)
        yield [*_row(oracle, setup), _trained(setup)[1]]


def _sizes() -> Iterator[list[Cell]]:
    for size in SIZES:
        yield _row(size, Setup(size=size))


def _calibration() -> Iterator[list[Cell]]:
    trained, _ = _trained(Setup())
    for particles, step in CALIBRATED:
        yield calibrated(trained, list(islice(treebank("dev", "upos"), 0, None, step)), particles)


def calibrated(trained: Trained, sentences: Sequence[Annotated], particles: int) -> list[Cell]:
    """How well the filter's probabilities are calibrated: a row."""
    arcs, words, trees = Calibration(), Calibration(), []
    filtered(trained, sentences[0], sentence_stream(SEED, "compiled"), particles)
    start = time.process_time()
    for sentence in sentences:
        found = filtered(trained, sentence, sentence_stream(SEED, sentence.sent_id), particles)
        marginals, dependents = found.marginals, np.arange(1, sentence.n + 1)
        gold = np.zeros(marginals.shape, dtype=np.bool_)
        gold[sentence.heads, dependents] = True
        arcs.add(marginals[marginals > 0], gold[marginals > 0])
        best = marginals[:, 1:].argmax(axis=0)
        words.add(marginals[best, dependents], best == sentence.heads)
        trees.append(len(np.unique(found.heads, axis=0)))
    speed = len(sentences) / (time.process_time() - start)
    shares = [f"{100 * share:.1f}" for share in (words.accuracy, words.mean_confidence)]
    return [
        f"{particles:,} ({len(sentences):,} sentences)",
        f"{arcs.error:.3f}",
        f"{words.error:.3f}",
        *shares,
        float(np.mean(trees)),
        speed,
    ]
