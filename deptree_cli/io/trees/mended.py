"""Lines of JSON with another tree, and with what words were before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.mending import NOTHING, Change
from deptree_cli.io.json_lines import dump
from deptree_cli.io.trees.written import WrittenLine

# Fields that are true of one tree only: another one does not inherit them.
NOTES = frozenset(
    {
        *("log_prob", "label_log_prob", "entropy", "certified", "gap", "relaxed", "relaxed_fewest", "acceptance"),
        *("arrival", "weight", "weight_normalised", "changes"),
    }
)


def mended_line(written: WrittenLine, changes: Sequence[Change], notes: Mapping[str, Any]) -> bytes:
    """The sentence with changes: new ``heads`` and ``deprels``, ``changes``, and notes on the tree."""
    fields = {key: value for key, value in written.fields.items() if key not in NOTES}
    heads, labels = list(fields["heads"]), fields.get("deprels")
    labels = list(labels) if isinstance(labels, list) else None
    for each in changes:
        heads[each.word - 1] = each.head
        if labels and each.label:
            labels[each.word - 1] = each.label
    fields["heads"] = heads
    if labels:
        fields["deprels"] = labels
    fields["changes"] = [_what_it_was(each, bool(labels)) for each in changes]
    try:
        line = dump({**fields, **notes})
    except ValueError:  # the sentence's own fields: Python reads more than JSON has
        problem = "a number is NaN or infinite, which JSON does not have"
        raise DeptreeError(problem, "Give null instead", place=written.place, sent_id=written.name) from None
    return written.with_line(line.rstrip(b"\n"))


def _what_it_was(change: Change, labelled: bool) -> dict[str, Any]:
    """A word with its old head and label, if these were others."""
    old_head, old_label = as_value(change.old_head), as_value(change.old_label)
    found: dict[str, Any] = {"word": change.word}
    if old_head != change.head:
        found["old_head"] = old_head
    if labelled and change.label and old_label != change.label:
        found["old_deprel"] = old_label
    return found


def as_value(text: str) -> int | str | None:
    """What stood in a column, as JSON has it: a number, None where it said nothing, else the text."""
    if text in NOTHING:
        return None
    number = text.removeprefix("-")
    return int(text) if number.isascii() and number.isdigit() else text
