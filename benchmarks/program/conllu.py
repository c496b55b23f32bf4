"""Reading sentences and writing trees into them, beside libraries for CoNLL-U."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.table import Table
from benchmarks.timing import seconds, times
from deptree_cli.io.conllu.blocks import Block, split_chunks
from deptree_cli.io.conllu.splicing import with_trees

SENTENCES = times(5_000, 50)
WORDS = 16  # as in English newspapers and weblogs


def run() -> Iterator[Table]:
    """Sentences per second of processor time."""
    rows = ([name, SENTENCES / seconds(action, repeats=3)] for name, action in _actions())
    yield Table(f"sentences of {WORDS} words in CoNLL-U", ("", "per second"), rows)


def treebank() -> bytes:
    """Invented sentences that look like those of a treebank: comments, features, enhanced dependencies, MISC."""
    word = "{i}\tform{i}\tlemma{i}\tNOUN\tNN\tCase=Nom|Number=Sing\t{head}\tnsubj\t{head}:nsubj\tSpaceAfter=No\n"
    rows = "".join(word.format(i=i, head=i - 1) for i in range(1, WORDS + 1)).replace("\t0\tnsubj", "\t0\troot")
    return "".join(f"# sent_id = s{n}\n# text = a sentence\n{rows}\n" for n in range(SENTENCES)).encode()


def _blocks(data: bytes) -> Iterator[Block]:
    return (Block(chunk, "benchmark") for chunk in split_chunks(io.BytesIO(data)))


def _actions() -> Iterator[tuple[str, Callable[[], object]]]:
    data = treebank()
    blocks = list(_blocks(data))
    tree = np.array([blocks[0].heads], dtype=np.int32)
    yield "reading", lambda: list(_blocks(data))
    yield "reading and splicing a tree", lambda: [_spliced(block, tree) for block in _blocks(data)]
    hundred = np.repeat(tree, 100, axis=0)
    yield "splicing 100 trees", lambda: [_spliced(block, hundred) for block in blocks]
    yield from _peers(data.decode())


def _spliced(block: Block, trees: np.ndarray) -> bytes:
    return with_trees(block, trees, [block.sent_id] * len(trees))


def _peers(text: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Reading and writing again, by libraries that make objects of words."""
    import conllu

    yield "conllu: parse and serialize", lambda: [tree.serialize() for tree in conllu.parse(text)]
    try:
        from udapi.core.document import Document
    except ImportError:
        return

    def udapi() -> str:
        document = Document()
        document.from_conllu_string(text)
        return document.to_conllu_string()

    yield "Udapi: from and to CoNLL-U", udapi
