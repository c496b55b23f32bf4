"""A treebank of nine sentences and a text of four, and training on them."""

from __future__ import annotations

import numpy as np

from deptree_cli.hpyp.model.sentences import LEXICALISED, Annotated, Contexts
from deptree_cli.hpyp.model.training import STATIC, Trained, Training, TrainingSettings

TREES = [
    "the/DET:det:2 dog/NOUN:nsubj:3 sleeps/VERB:root:0",
    "the/DET:det:2 cat/NOUN:nsubj:3 sees/VERB:root:0 the/DET:det:5 dog/NOUN:obj:3 today/ADV:advmod:3",
    "she/PRON:nsubj:2 sees/VERB:root:0 a/DET:det:4 cat/NOUN:obj:2",
    "sleep/VERB:root:0",
    "we/PRON:nsubj:4 all/DET:det:1 soon/ADV:advmod:4 sleep/VERB:root:0 here/ADV:advmod:4 now/ADV:advmod:4",
    "big/ADJ:amod:2 dogs/NOUN:nsubj:3 eat/VERB:root:0 cats/NOUN:obj:3 in/ADP:case:6 barns/NOUN:obl:3",
    "two/NUM:nummod:2 cats/NOUN:root:0 on/ADP:case:4 chairs/NOUN:nmod:2",
    "Anna/PROPN:nsubj:2 sang/VERB:root:0 him/PRON:iobj:2 one/NUM:nummod:5 song/NOUN:obj:2",
    "a/DET:det:3 big/ADJ:amod:3 dog/NOUN:root:0 of/ADP:case:6 the/DET:det:6 cat/NOUN:nmod:3 there/ADV:advmod:3",
]
TEXT = ["the dog sees a cat there", "sleep", "a big cat sleeps", "she sees the dog of the cat today"]


def annotated(line: str, number: int) -> Annotated:
    """A sentence of words as ``form/tag:label:head``, or of forms alone."""
    cells = [word.replace("/", ":").split(":") for word in line.split()]
    forms = tuple(cell[0] for cell in cells)
    if len(cells[0]) == 1:
        n = len(cells)
        return Annotated(f"t{number}", "", forms, ("_",) * n, np.full(n, -1, dtype=np.int32), ("_",) * n)
    tags, deprels = (tuple(cell[i] for cell in cells) for i in (1, 2))
    return Annotated(f"s{number}", "", forms, tags, np.array([int(cell[3]) for cell in cells], dtype=np.int32), deprels)


TREEBANK = [annotated(line, number) for number, line in enumerate(TREES)]
UNLABELLED = [annotated(line, number) for number, line in enumerate(TEXT * 3)]


def begun(
    oracle: str = STATIC,
    contexts: Contexts = LEXICALISED,
    text: list[Annotated] | None = None,
    trained: Trained | None = None,
    seed: int = 3,
) -> Training:
    """Training on the small treebank."""
    return Training(TREEBANK, contexts, TrainingSettings(seed, oracle, "upos"), text or [], trained)


def run(training: Training, iterations: int, passes: int = 0) -> Trained:
    """Train until there have been so many iterations and passes."""
    while training.progress.iterations < iterations:
        training.iterate()
    while training.progress.passes < passes:
        training.read()
    return training.trained()


def same(one: Trained, other: Trained) -> bool:
    """Whether two parsers are the same in every number."""
    pairs = [(a.arrays(), b.arrays()) for a, b in zip(one.processes, other.processes, strict=True)]
    equal = all(np.array_equal(a[key], b[key]) for a, b in pairs for key in a)
    if (one.derivations is None) != (other.derivations is None) or (one.parses is None) != (other.parses is None):
        return False
    if one.derivations is not None and other.derivations is not None:
        equal &= np.array_equal(one.derivations, other.derivations)
    if one.parses is not None and other.parses is not None:
        equal &= np.array_equal(one.parses.actions, other.parses.actions)
        equal &= np.array_equal(one.parses.tags, other.parses.tags)
    return equal and one.progress == other.progress
