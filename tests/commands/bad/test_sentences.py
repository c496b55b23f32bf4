"""Sentences that cannot be used, or not with these scores, each with its line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.commands.bad.conftest import bad
from tests.sample import DATA, SCORES

SENTENCES = (DATA / "sentences.conllu").read_text(encoding="utf-8")


def line_changed(number: int, old: str, new: str) -> str:
    """The sample sentences with something replaced in one line."""
    lines = SENTENCES.splitlines(keepends=True)
    assert old in lines[number - 1]
    lines[number - 1] = lines[number - 1].replace(old, new)
    return "".join(lines)


def conllu(name: str, content: str, *says: str) -> Any:
    return bad(name, ("sample", *SCORES, "--conllu", "a.conllu"), says, {"a.conllu": content})


SHORTER = SENTENCES.replace("8\t.\t.\tPUNCT\t_\t_\t_\t_\t_\t_\n", "", 1)

CONLLU = [
    conllu("a HEAD beyond", line_changed(6, "\t_\t_\t_\t_\n", "\t9\t_\t_\t_\n"), "a.conllu:6", "HEAD is '9'", "0 to 8"),
    conllu("another length", SHORTER, "scores.npz[en-1] (en-1)", "8 words", "7", "a.conllu:1"),
    bad("no such sentences", ("sample", *SCORES, "--conllu", "b.conllu"), ("b.conllu", "no such file")),
    bad("a folder of sentences", ("sample", *SCORES, "--conllu", DATA), ("sample_data", "folder")),
    bad("scores for sentences", ("sample", *SCORES, "--conllu", DATA / "one.npy"), ("one.npy",)),
    bad("not UTF-8", ("sample", *SCORES, "--conllu", "a"), ("a:", "UTF-8"), {"a": b"# sent_id = \xff\n1" + b"\t_" * 9}),
]


@pytest.mark.parametrize(("args", "says", "files"), CONLLU)
def test_sentences(meet, refused, args, says, files):
    refused(meet(args, files), *says)
