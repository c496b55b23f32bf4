"""What rules know of labels."""

from __future__ import annotations

from deptree_cli.core.ruleset import LabelNumbers


def test_labels_keep_their_numbers() -> None:
    """A label has one number in all sentences, names are one tuple for all once they are known, and both agree."""
    numbered = LabelNumbers()
    first, numbers = numbered.of(["det", "nsubj", "det"])
    assert [first[each] for each in numbers] == ["det", "nsubj", "det"]
    names, numbers = numbered.of(["", "nsubj"])
    assert [names[each] for each in numbers] == ["", "nsubj"]
    assert names[: len(first)] == first
    assert numbered.of(["det"])[0] is numbered.of(["nsubj", ""])[0]


def test_there_are_never_too_many() -> None:
    """Beyond the limit numbers begin anew: a file in which every word has a label of its own stays cheap."""
    numbered = LabelNumbers()
    for start in range(0, 3 * LabelNumbers.MOST, 7):
        labels = [f"label{number}" for number in range(start, start + 7)]
        names, numbers = numbered.of(labels)
        assert [names[each] for each in numbers] == labels
        assert len(names) <= LabelNumbers.MOST
    many = [f"other{number}" for number in range(2 * LabelNumbers.MOST)]
    names, numbers = numbered.of(many)
    assert [names[each] for each in numbers] == many
