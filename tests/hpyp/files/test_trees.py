"""Labels and tags of the parser by their names, and sentences as CoNLL-U that were read from none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deptree_cli.hpyp.commands.generate import Drawn
from deptree_cli.hpyp.files.treebank import deprels_by_name, read_treebank, tags_by_name
from deptree_cli.hpyp.model.sentences import LEXICALISED, Annotated
from deptree_cli.hpyp.model.unknown import Lexicon, Symbols, Vocabulary

HEADS = np.array([[2, 0, 2], [0, 1, 1]], dtype=np.int32)


def symbols_of(*labels: str) -> Symbols:
    return Symbols(Lexicon(Vocabulary(())), Vocabulary(("N", "V")), labels, LEXICALISED)


@pytest.mark.parametrize(
    ("labels", "numbers", "names"),
    [
        (("det", "root", "dep"), [[0, 1, 0], [1, 0, 2]], [["det", "root", "det"], ["root", "det", "dep"]]),
        (("det", "root", "dep"), [[1, 0, 0], [0, 1, 1]], [["dep", "root", "det"], ["root", "dep", "dep"]]),
        (("root", "det"), [[0, 1, 1], [0, 0, 1]], [["dep", "root", "det"], ["root", "dep", "det"]]),
        (("det", "pred"), [[1, 0, 0], [0, 1, 1]], [["pred", "det", "det"], ["det", "pred", "pred"]]),
    ],
)
def test_root_is_the_label_of_roots_dependent(
    labels: tuple[str, ...], numbers: list[list[int]], names: list[list[str]]
) -> None:
    """But where the treebank has no such label."""
    found = deprels_by_name(symbols_of(*labels), HEADS, np.array(numbers, dtype=np.int32))
    assert [[found.names[label] for label in row] for row in found.index] == names
    assert found.index.dtype == np.int32


def test_tags() -> None:
    found = tags_by_name(symbols_of("det"), "xpos", np.array([[2, 3, 2]], dtype=np.int32))
    assert [found.names[tag] for tag in found.index[0]] == ["N", "V", "N"]
    assert found.column == "xpos"


FORMS, TAGS, LABELS = ("Žena", "spí", "."), ("NOUN", "_", "PUNCT"), ("nsubj", "root", "_")
SENTENCE = Annotated("ž-1", "", FORMS, TAGS, np.array([2, 0, -1], dtype=np.int32), LABELS)


def test_the_bytes_of_a_sentence() -> None:
    assert Drawn(SENTENCE, "upos").to_conllu(None).decode() == (
        "# sent_id = ž-1\n# text = Žena spí .\n"
        "1\tŽena\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n"
        "2\tspí\t_\t_\t_\t_\t0\troot\t_\t_\n"
        "3\t.\t_\tPUNCT\t_\t_\t_\t_\t_\t_\n\n"
    )


@pytest.mark.parametrize("tags", ["upos", "xpos"])
def test_what_is_written_reads_back(tags, tmp_path: Path) -> None:
    (tmp_path / "one.conllu").write_bytes(Drawn(SENTENCE, tags).to_conllu(None))
    (found,) = read_treebank([str(tmp_path / "one.conllu")], tags)
    assert isinstance(found, Annotated)
    assert (found.sent_id, found.forms, found.tags, found.deprels) == ("ž-1", FORMS, TAGS, LABELS)
    np.testing.assert_array_equal(found.heads, SENTENCE.heads)
