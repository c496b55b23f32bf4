"""Sentences as CoNLL-U that were read from none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deptree_cli.hpyp.files.treebank import read_treebank
from deptree_cli.hpyp.files.trees import to_conllu
from deptree_cli.hpyp.model.annotated import Annotated

HEADS = np.array([2, 0, -1], dtype=np.int32)
SENTENCE = Annotated("ž-1", "", ("Žena", "spí", "."), ("NOUN", "_", "PUNCT"), HEADS, ("nsubj", "root", "_"))


def test_the_bytes() -> None:
    assert to_conllu(SENTENCE, "upos").decode() == (
        "# sent_id = ž-1\n# text = Žena spí .\n"
        "1\tŽena\t_\tNOUN\t_\t_\t2\tnsubj\t_\t_\n"
        "2\tspí\t_\t_\t_\t_\t0\troot\t_\t_\n"
        "3\t.\t_\tPUNCT\t_\t_\t_\t_\t_\t_\n\n"
    )


@pytest.mark.parametrize("tags", ["upos", "xpos"])
def test_it_reads_back(tags, tmp_path: Path) -> None:
    (tmp_path / "one.conllu").write_bytes(to_conllu(SENTENCE, tags))
    (found,) = read_treebank([str(tmp_path / "one.conllu")], tags)
    assert isinstance(found, Annotated)
    assert (found.sent_id, found.forms, found.tags, found.deprels) == (
        *(SENTENCE.sent_id, SENTENCE.forms),
        *(SENTENCE.tags, SENTENCE.deprels),
    )
    np.testing.assert_array_equal(found.heads, SENTENCE.heads)
