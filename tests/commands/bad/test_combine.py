"""``deptree combine`` with options that contradict each other, and files that do not match."""

from __future__ import annotations

import pytest

from tests.sample import DATA

A, B = f"{DATA / 'scores.npz'}:natasha", f"{DATA / 'scores_stream.npy'}:supar"
GOLD = DATA / "gold.conllu"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ((A, GOLD, "--method", "product"), "has trees, which have no scores to add up"),
        ((A, B, "--weights", "1"), "1 weight for 2 files"),
        ((A, B, "--weights", "1,x"), "not a list of numbers such as 0.7,0.3"),
        ((A, B, "--weights", "1,-1"), "a weight is negative or not a number, or all are 0"),
        ((A, B, "--fit"), "--fit needs --gold FILE"),
        ((A, B, "--gold", GOLD), "--gold needs --fit."),
        ((A, B, "--fit", "--gold", GOLD, "--weights", "1,1"), "--fit cannot be combined with --weights"),
        ((A, GOLD, "--fit", "--gold", GOLD), "gold.conllu has none: give --weights"),
        ((A, "-", "--fit", "--gold", GOLD), "standard input (-) can be read only once"),
        ((A, "no.npz"), "no.npz: no such file"),
        ((f"{DATA / 'scores.npz'}:nat",), "there is no layout 'nat'. Did you mean natasha?"),
        ((A, "no.npz:nat"), "no.npz:nat: no such file"),
        ((A, f"{DATA / 'one.npy'}", "-o", "x.npz"), "the number of matrices is 1"),
        ((A, f"{DATA / 'scores.npz'}:allennlp"), "allennlp has an axis of labels"),
        ((A, B, "--method", "mixture", "--format", "conllu"), "there are no sentences to write as CoNLL-U"),
    ],
)
def test_what_is_refused(deptree, refused, given, says: str) -> None:
    refused(deptree("combine", *given, "-q"), says)
