"""Trees that are looked at together: the bytes are those of each by itself, whatever stands between them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deptree_cli.cli.given_trees import Asked
from deptree_cli.commands.repair import Prepared
from deptree_cli.io import trees
from tests.sample import DATA

LABELS = ("nsubj", "obj", "case", "mark", "advmod", "punct", "conj", "cc", "fixed", "goeswith", "root", "Bad", "_")
TAGS = ("NOUN", "VERB", "PUNCT", "AUX", "ADV", "Nn", "_")
FEATS = ("_", "Typo=Yes", "ExtPos=ADP|Typo=Yes", "Case=Nom")


def sentence(rng: np.random.Generator, number: int) -> bytes:
    """A sentence of random columns, most of which have trees."""
    n = int(rng.integers(1, 7))
    heads = [0, *(int(rng.integers(1, word)) for word in range(2, n + 1))]
    labels = ["root", *rng.choice(LABELS, n - 1)]
    if number % 7 == 3:
        heads[-1] = int(rng.integers(0, n + 3))
    if number % 11 == 5:
        heads[0], heads[-1] = n, 1
    texts = ["_" if number % 13 == 6 and word == 2 else str(head) for word, head in enumerate(heads)]
    rows = [
        f"{word}\tw{word}\t_\t{rng.choice(TAGS)}\t_\t{rng.choice(FEATS)}\t{head}\t{label}\t_\t_"
        for word, (head, label) in enumerate(zip(texts, labels, strict=True), 1)
    ]
    if number % 5 == 2:
        rows[:0] = [f"1-{n}\tall\t_\t_\t_\t_\t_\t_\t_\t_"] * (n > 1) + ["0.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_"]
    name = f"# sent_id = s{number}\n" if number % 9 else ""
    return (name + "\n".join(rows) + "\n\n").replace("\n", "\r\n" if number % 17 == 8 else "\n").encode()


def annotated(rng: np.random.Generator, name: str, number: int) -> bytes:
    """A tree of a sentence in one of several files, or a few; of some all files have two and of some no labels."""
    n, found = 1 + number % 6, b""
    for tree in range(1 + 2 * (number in (3, 25))):
        heads = rng.permutation([0, *(int(rng.integers(1, word)) for word in range(2, n + 1))])
        heads = heads if (heads != np.arange(1, n + 1)).all() and number % 10 == 7 else np.arange(n)
        if name == "b" and n > 2:
            heads[2] = rng.integers(0, 3)
        labels = rng.choice(LABELS[:5], n) if number % 8 else ["_"] * n
        rows = [f"{word}\tw\t_\t_\t_\t_\t{heads[word - 1]}\t{labels[word - 1]}\t_\t_\n" for word in range(1, n + 1)]
        count = "# tree_count = 2\n" if tree == 1 else ""
        found += f"# sent_id = s{number}/sample_{tree}\n{count}{''.join(rows)}\n".encode()
    return found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sentences that have trees, and others; malformed ones; and a file that asks something of words."""
    folder, rng = tmp_path_factory.mktemp("trees"), np.random.default_rng(20261127)
    given = [sentence(rng, number) for number in range(60)]
    given[20] = given[20].replace(b"root", b"r\xff")
    given[30] = b"1\tone\ttwo\n\n"
    (folder / "trees.conllu").write_bytes(b"".join(given))
    (folder / "sound.conllu").write_bytes(b"".join(given[:20]))
    other = (DATA / "treebank.conllu").read_text() + (DATA / "broken.conllu").read_text()
    (folder / "tagged.conllu").write_text(re.sub("\t[A-Z]+\t", lambda tag: tag[0].lower(), other))
    for name in "abc":
        (folder / f"{name}.conllu").write_bytes(b"".join(map(partial(annotated, rng, name), range(40))))
    (folder / "asked.tsv").write_text("sent_id\tword\tHeadIn\ns1\t1\t2\ns4\t1\t0\n")
    return folder


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Have no sentences worked on together from then on."""

    def from_now_on() -> None:
        for each in (Asked, Prepared):
            monkeypatch.setattr(each, "batch", lambda how, read: None)
        monkeypatch.setattr(trees, "_plain_trees", lambda blocks: iter([None] * len(blocks)))

    return from_now_on


SKIP = ("--on-error", "skip")

COMMANDS: list[tuple[Any, ...]] = [
    ("check", "trees.conllu", *SKIP),
    ("check", "trees.conllu"),
    ("check", "trees.conllu", *SKIP, "--tsv", "--multi-root"),
    ("check", "trees.conllu", *SKIP, "--projective"),
    ("check", "sound.conllu", "--rules", "tree"),
    ("check", "sound.conllu", "--rules", "ud", "--rules", "asked.tsv"),
    ("check", "sound.conllu", "--rules", "ud", "--rules", "misc", "--shard", "2/3"),
    ("check", "sound.conllu", DATA / "treebank.conllu", DATA / "broken.conllu"),
    ("repair", "trees.conllu", *SKIP),
    ("repair", "trees.conllu"),
    ("repair", "tagged.conllu"),
    ("repair", "sound.conllu", "--rules", "tree", "--changes", "changes.tsv"),
    ("repair", "sound.conllu", "--like", DATA / "treebank.conllu"),
    ("repair", "sound.conllu", "--like", "sound.conllu", "--rules", "tree", "--worth", 3),
]


@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda args: " ".join(str(getattr(each, "name", each)) for each in args)
)
def test_bytes_are_those_of_each_alone(
    deptree: Any, monkeypatch: pytest.MonkeyPatch, files: Path, alone: Any, command: tuple[Any, ...]
) -> None:
    monkeypatch.chdir(files)
    together = deptree(*command)
    alone()
    assert together == deptree(*command)
    assert together.out or together.code == 2


def test_trees_are_looked_at_together(deptree: Any, monkeypatch: pytest.MonkeyPatch, files: Path) -> None:
    """That the test above compares two ways."""
    sizes, batch = Counter[str](), Asked.batch

    def counted(asked: Asked, items: Any) -> Any:
        trees = batch(asked, items)
        sizes.update({"batches": 1, "read": len(items), "together": len(trees.places) if trees else 0})
        return trees

    monkeypatch.setattr(Asked, "batch", counted)
    deptree("check", files / "sound.conllu")
    deptree("repair", files / "sound.conllu", "--rules", "tree")
    assert sizes == {"batches": 10, "read": 40, "together": 28}
