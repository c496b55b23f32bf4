"""Trees spliced into a sentence's bytes, by hand; tests/io/conllu compares invented files with an independent route."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest

from deptree_cli.kernels.text import columns as c
from deptree_cli.kernels.text.scanning import scan
from deptree_cli.kernels.text.splicing import splice, write_number

SENTENCE = b"""\
# sent_id = s1
1\ta\t_\t_\t_\t_\t2\tnsubj\t2:nsubj\t_
1.1\tzero\t_\t_\t_\t_\t_\t_\t0:root\t_
2\tb\t_\t_\t_\t_\t0\troot\t0:root\tA=B

"""
ID = (12, 14)
NAMES = [b"root", b"dep", b"obj", b"obl:x", b"nsubj"]


def array(data: bytes) -> np.ndarray:
    return np.frombuffer(data, dtype=np.uint8)


def pieces(parts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    return array(b"".join(parts)), np.array([0, *accumulate(map(len, parts))], dtype=np.int64)


def spliced(
    heads: list[list[int]], notes: list[bytes], deps: int, labels: list[list[int]] | None = None
) -> tuple[str, list[int]]:
    """The trees as bytes, and what is counted in them; notes are ids and notes in turn."""
    rows = np.empty((SENTENCE.count(b"\n") + 2, c.WORD_FACTS), dtype=np.int64)
    places = np.array([10, 1, 6, 7, 8, 9], dtype=np.int64)
    _, *cuts, n, empties = scan(array(SENTENCE), 0, rows, places, False)
    written = np.array([c.HEAD_START, c.DEPREL_START, c.DEPS_START, c.MISC_START], dtype=np.int64)
    template = c.Template(array(SENTENCE), *cuts, rows[1 : n + 1], rows[: -empties - 1 : -1], written)
    out = np.zeros(1000, dtype=np.uint8)
    numbers = np.array(labels, dtype=np.int32) if labels else np.empty((0, 0), dtype=np.int32)
    trees = np.array(heads, dtype=np.int32)
    size, *counts = splice(
        tuple(template), ID, pieces(notes), pieces([]), trees, numbers, pieces(NAMES), deps, array(b"\n"), out
    )
    assert not out[size:].any()
    return out[:size].tobytes().decode(), counts


def expected(*blocks: tuple[str, str, str]) -> str:
    """Sentences of an id with its notes, and HEAD, DEPREL and DEPS of both words (behind the first the empty node)."""
    return (
        "\n".join(
            f"# sent_id = {sent_id}\n1\ta\t_\t_\t_\t_\t{first}\t_\n{second}\tA=B\n" for sent_id, first, second in blocks
        )
        + "\n"
    )


EMPTY_NODE = "1.1\tzero\t_\t_\t_\t_\t_\t_\t0:root\t_\n"
SECOND = "2\tb\t_\t_\t_\t_\t"


def test_deps_dropped() -> None:
    """A word that keeps its head keeps its label, unless it is `root`; the empty node goes."""
    trees, counts = spliced([[2, 1], [0, 1]], [b"s1/1", b"", b"s1/2", b"# p = 1\n"], c.DROP)
    assert trees == expected(
        ("s1/1", "2\tnsubj\t_", SECOND + "1\tdep\t_"), ("s1/2\n# p = 1", "0\troot\t_", SECOND + "1\tdep\t_")
    )
    assert counts == [1, 2]


def test_its_own_tree_drops_nothing() -> None:
    trees, counts = spliced([[2, 0], [0, 1]], [b"s1", b"", b"y", b""], c.DROP)
    assert trees == SENTENCE.decode() + expected(("y", "0\troot\t_", SECOND + "1\tdep\t_"))
    assert counts == [1, 1]
    assert spliced([[2, 0]], [b"s1", b""], c.DROP, [[2, -1]]) == (SENTENCE.decode(), [0, 0])


def test_another_label_makes_another_tree() -> None:
    trees, counts = spliced([[2, 0]], [b"x", b""], c.DROP, [[0, -1]])
    assert (trees, counts) == (expected(("x", "2\tobj\t_", SECOND + "0\troot\t_")), [0, 1])


def test_deps_as_the_tree() -> None:
    trees, counts = spliced([[2, 0], [0, 1]], [b"x", b"", b"y", b""], c.BASIC)
    assert trees == expected(
        ("x", "2\tnsubj\t2:nsubj", SECOND + "0\troot\t0:root"), ("y", "0\troot\t0:root", SECOND + "1\tdep\t1:dep")
    )
    assert counts == [1, 0]


def test_deps_kept_and_empty_nodes_with_them() -> None:
    trees, counts = spliced([[0, 1]], [b"x", b""], c.KEEP)
    assert trees == expected(("x", "0\troot\t2:nsubj", EMPTY_NODE + SECOND + "1\tdep\t0:root"))
    assert counts == [0, 0]


def test_labels() -> None:
    """By number, behind the first two names; -1 for a word without one."""
    labels = [[0, 1], [-1, -1]]
    trees, counts = spliced([[2, 0], [2, 1]], [b"x", b"", b"y", b""], c.BASIC, labels)
    assert trees == expected(
        ("x", "2\tobj\t2:obj", SECOND + "0\tobl:x\t0:obl:x"), ("y", "2\tnsubj\t2:nsubj", SECOND + "1\tdep\t1:dep")
    )
    assert counts == [1, 0]


@pytest.mark.parametrize("number", [0, 7, 10, 99, 100, 12345, 999_999_999])
def test_numbers(number: int) -> None:
    out = np.zeros(12, dtype=np.uint8)
    assert write_number(np.int32(number), out, 1) == 1 + len(str(number))
    assert out.tobytes().strip(b"\0") == str(number).encode()
