"""Small files of trees for tests of evaluation, and the script of the CoNLL 2018 shared task beside us."""

from __future__ import annotations

from io import BytesIO, StringIO

import numpy as np
import pytest

from deptree_cli.core.evaluation import DEPREL, ENHANCED, METRICS, Comparison
from deptree_cli.io.conllu.blocks import Block, read_blocks_or_errors, split_chunks
from deptree_cli.io.evaluation import TreeFile, new_vocabulary

Cells = dict[str, tuple[int, int, int, int]]


def read_blocks(stream, place):
    """The sentences of a stream, of which a malformed one is raised."""
    return (Block(chunk, place) for chunk in split_chunks(stream, place))


def word(number, form, head, label="dep", **cells):
    lemma, upos, xpos, feats = (cells.get(name, "_") for name in ("lemma", "upos", "xpos", "feats"))
    return f"{number}\t{form}\t{lemma}\t{upos}\t{xpos}\t{feats}\t{head}\t{label}\t_\t_\n"


def tree_text(heads, labels):
    rows = [word(number, "w", *each) for number, each in enumerate(zip(heads, labels, strict=True), 1)]
    return "".join(rows) + "\n"


def tree_files(*texts, names=("gold", "system", "other")):
    """Files as `eval` reads them: the first has to have trees, the heads of the others may be anything."""
    vocabulary = new_vocabulary()
    files = [TreeFile(name, vocabulary) for name, _ in zip(names, texts, strict=False)]
    for file, text in zip(files, texts, strict=True):
        for item in read_blocks_or_errors(BytesIO(text.encode()), file.place, any_heads=file is not files[0]):
            file.add(item, getattr(item, "sent_id", ""))
        assert len(file.words.texts) == len(file.names)
    files[0].check_trees()
    return files


def comparison(gold, system, no_punct=False):
    """Two texts of one sentence."""
    one, two = tree_files(gold, system)
    return Comparison(one.words, two.words, one.vocabulary[DEPREL].names, no_punct)


def cells(compared):
    """The counts of each metric over the whole file."""
    units = (np.zeros(len(words.sizes), dtype=np.int64) for words in (compared.gold, compared.system))
    return {name: tuple(row) for name, row in zip(METRICS, compared.counts(*units)[0].tolist(), strict=True)}


def script(gold, system):
    """The same by the script, for texts."""
    udeval = pytest.importorskip("udtools.udeval", reason="udtools, the oracle of eval, is not installed")
    many = {"multiple_roots_okay": True}
    found = udeval.evaluate(*(udeval.load_conllu(StringIO(text), "", many) for text in (gold, system)))
    cells = {}
    for name in METRICS:
        each = found[name]
        known = name not in ENHANCED or (each.gold_total and each.system_total)  # else we say nothing of graphs
        cells[name] = (each.correct, each.gold_total, each.system_total, each.aligned_total or 0) if known else (0,) * 4
    return cells
