"""Counts of trees by hand, and the relations and features that the script of the CoNLL 2018 shared task looks at."""

from __future__ import annotations

import pytest

from deptree_cli.core.evaluation import CONTENT, FUNCTIONAL, METRICS, UNIVERSAL_FEATURES, universal, universal_features
from tests.tree_files import cells, comparison, tree_text, word

# She(2) saw(0) the(4) man(2) .(2)
GOLD = tree_text([2, 0, 4, 2, 2], ["nsubj", "root", "det", "obj", "punct"])
SYSTEM = tree_text([2, 0, 2, 2, 2], ["nsubj:outer", "root", "nmod", "obl", "punct"])


def test_by_hand() -> None:
    """A wrong head, a right head with a wrong label that makes a functional word one with content, a subtype."""
    found = cells(comparison(GOLD, SYSTEM))
    assert [found[name][:3] for name in ("UAS", "LAS", "CLAS")] == [(4, 5, 5), (3, 5, 5), (2, 3, 4)]
    assert found["MLAS"] == found["BLEX"] == (2, 3, 4, 3)
    assert found["Tokens"] == (5, 5, 5, 0)
    assert found["Sentences"] == (1, 1, 1, 0)


def test_all_right_and_none() -> None:
    assert {each[0] for each in cells(comparison(GOLD, GOLD)).values()} == {5, 3, 1}
    punct = tree_text([0], ["punct"])
    assert cells(comparison(punct, punct))["CLAS"] == (0, 0, 0, 0)


def test_function_words_are_part_of_mlas() -> None:
    """A determiner with another head, another tag, or missing costs its noun a point of MLAS, not of CLAS."""
    changed = [
        tree_text([2, 0, 2, 2, 2], ["nsubj", "root", "det", "obj", "punct"]),
        tree_text([2, 0, 4, 2, 2], ["nsubj", "root", "case", "obj", "punct"]),
        tree_text([2, 0, 4, 2, 2], ["nsubj", "root", "amod", "obj", "punct"]),
        GOLD.replace("3\tw\t_\t_", "3\tw\t_\tDET"),
    ]
    lost = [cells(comparison(GOLD, each)) for each in changed]
    assert [each["MLAS"][0] for each in lost] == [1, 2, 2, 2]  # the first costs `saw` a point too
    assert [each["CLAS"][0] for each in lost] == [3, 3, 3, 3]


def test_words_of_other_tokens() -> None:
    """Gold `ca` `n't` in one token, the system's `can't` a word: aligned with none, so no head of its dependents is."""
    gold = word(1, "We", 4, "nsubj") + "2-3\tcan't" + "\t_" * 8 + "\n" + word(2, "ca", 4, "aux") + word(3, "n't", 4)
    gold += word(4, "go", 0, "root") + "\n"
    system = word(1, "We", 2, "nsubj") + word(2, "can't", 0, "root") + word(3, "go", 2, "xcomp") + "\n"
    found = cells(comparison(gold, system))
    assert found["Words"] == (2, 4, 3, 0)
    assert found["UAS"] == (0, 4, 3, 2)
    assert found["Tokens"] == (3, 3, 3, 0)


def test_punctuation_of_words_without_counterpart() -> None:
    """Gold punctuation is out with what is aligned to it; a word of the system's that has no counterpart is out if the
    system calls it so."""
    gold = word(1, "a", 0, "root") + word(2, "...", 1, "punct") + word(3, "!", 1, "punct") + "\n"
    system = word(1, "a", 0, "root") + word(2, "..", 1, "punct") + word(3, ".", 1) + word(4, "!", 1, "obj") + "\n"
    assert cells(comparison(gold, system, no_punct=True))["UAS"] == (1, 1, 2, 1)
    assert cells(comparison(gold, system))["UAS"] == (2, 3, 4, 2)


def test_gold_says_what_is_punctuation() -> None:
    """A word that the system alone calls so is counted, on both sides."""
    gold = word(1, "a", 0, "root") + word(2, "b", 1, "obj") + "\n"
    assert cells(comparison(gold, gold.replace("obj", "punct"), no_punct=True))["UAS"] == (2, 2, 2, 2)


def test_heads_that_are_no_words_are_wrong() -> None:
    """The word itself, a cycle, a number beyond the sentence, none: also below ROOT, and for the words below these."""
    right = tree_text([2, 0, 4, 2, 2], ["nsubj", "root", "det", "obj", "punct"])
    for heads in (
        [2, 2, 4, 2, 2],
        [2, 4, 4, 2, 2],
        [2, 6, 4, 2, 2],
        [2, -1, 4, 2, 2],
        [2, "_", 4, 2, 2],
        [2, "x", 4, 2, 2],
    ):
        found = cells(comparison(right, tree_text(heads, ["nsubj", "root", "det", "obj", "punct"])))
        assert (found["UAS"], found["LAS"], found["CLAS"], found["MLAS"]) == (
            *((4, 5, 5, 5),) * 2,
            *((2, 3, 3, 3),) * 2,
        )


@pytest.mark.parametrize(
    ("features", "left"),
    [("Foo=Bar", ""), ("_", ""), ("Number=Sing|Case=Nom|Number[psor]=Sing", "Case=Nom|Number=Sing")],
)
def test_features(features: str, left: str) -> None:
    assert universal_features(features) == left
    assert universal("nsubj:pass") == "nsubj"


def test_relations_and_features_are_those_of_the_shared_task() -> None:
    udeval = pytest.importorskip("udtools.udeval", reason="udtools is not installed")
    assert CONTENT == udeval.CONTENT_DEPRELS
    assert FUNCTIONAL == udeval.FUNCTIONAL_DEPRELS
    assert UNIVERSAL_FEATURES == udeval.UNIVERSAL_FEATURES
    assert len(METRICS) == 13
