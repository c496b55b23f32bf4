"""Every cell is that of the script of the CoNLL 2018 shared task, whatever tokens, words and sentences are."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.evaluation import METRICS
from deptree_cli.io.evaluation import Units, compared
from tests.retokenised import damaged, random_file
from tests.tree_files import Cells, script, tree_files

SIZE = 300


def ours(gold: str, *systems: str) -> list[Cells]:
    """Each system's cells, summed over units; nothing may be left out."""
    one, *others = tree_files(gold, *systems)
    units = [*compared(one, others)]
    assert not [each for each in units if isinstance(each, DeptreeError)]
    total = sum(each.scores.sum(axis=0) for each in units if isinstance(each, Units))
    assert sum(each.sentences.sum() for each in units) == len(one.names)
    return [{name: tuple(row) for name, row in zip(METRICS, each, strict=True)} for each in np.array(total).tolist()]


@settings(max_examples=SIZE, deadline=None)
@given(st.text("aAb", min_size=1, max_size=40), st.integers(0, 1 << 32))
@example("ab" * 20, 1)
def test_random_files(text: str, seed: int) -> None:
    """Two random files of one text, with white space in forms, empty nodes, multiword tokens over any piece."""
    rng = random.Random(seed)
    gold, system = random_file(text, rng), random_file(text, rng)
    assert ours(gold, system) == [script(gold, system)]


@settings(max_examples=100, deadline=None)
@given(st.text("aAb", min_size=1, max_size=60), st.integers(0, 1 << 32))
def test_two_systems(text: str, seed: int) -> None:
    """Each has its own cells, although units are those of both."""
    rng = random.Random(seed)
    gold, one, other = (random_file(text, rng) for _ in range(3))
    assert ours(gold, one, other) == [script(gold, one), script(gold, other)]


@settings(max_examples=100, deadline=None)
@given(st.text("aAb", min_size=1, max_size=60), st.integers(0, 1 << 32))
def test_sentences_in_any_order(text: str, seed: int) -> None:
    """Sentences of the same ids and texts are found in any order, and are then those of the script in the same one."""
    rng = random.Random(seed)
    gold = random_file(text, rng, named=True).strip("\n").split("\n\n")
    shuffled = rng.sample(gold, len(gold))
    texts = ["\n\n".join(each) + "\n\n" for each in (gold, shuffled)]
    assert ours(*texts) == [script(texts[0], texts[0])]


def test_a_word_before_a_multiword_span() -> None:
    """The script passes over one word in front of a multiword token and takes the next ones into its span: so do we."""
    gold = "1\tabcde\t_\t_\t_\t_\t0\troot\t_\t_\n\n1-2\txy\t_\t_\t_\t_\t_\t_\t_\t_\n"
    gold += "1\te\t_\t_\t_\t_\t0\troot\t_\t_\n2\ty\t_\t_\t_\t_\t1\tdep\t_\t_\n\n"
    rows = "".join(f"{at}\t{char}\t_\t_\t_\t_\t{at - 1}\tdep\t_\t_\n" for at, char in enumerate("abcde", 1))
    system = rows + "\n" + gold.split("\n\n")[1] + "\n\n"
    expected = script(gold, system)
    assert ours(gold, system) == [expected]
    assert expected["Words"][0] == 2
    assert expected["UAS"][0] < 2  # `e` of the system's first sentence took the place of the second's


@pytest.mark.slow("size")
@pytest.mark.parametrize("name", ["real_en", "real_ru"])
@pytest.mark.parametrize("joins_sentences", [False, True])
def test_damaged_treebanks(shared: Path, name: str, joins_sentences: bool) -> None:
    """2 % of the words split or joined."""
    gold = (shared / name / "gold.conllu").read_text(encoding="utf-8")
    system = damaged(gold, 0.02, random.Random(47), joins_sentences)
    (found,) = ours(gold, system)
    assert found == script(gold, system)
    assert 0.9 < found["Words"][0] / found["Words"][1] < 0.99
    assert (found["Sentences"][0] < found["Sentences"][1]) == joins_sentences
