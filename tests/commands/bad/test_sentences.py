"""Sentences that cannot be used, or not with these scores, each with its line."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sample import DATA, SCORES

SENTENCES = (DATA / "sentences.conllu").read_text(encoding="utf-8")


def bad(name: str, args: tuple[Any, ...], says: tuple[str, ...], files: dict[str, Any] | None = None) -> Any:
    """A case: a command line, what its one line must say, and the files that it meets."""
    return pytest.param(args, says, files or {}, id=name)


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
    conllu("9 columns", line_changed(6, "\t_\n", "\n"), "a.conllu:6", "9 columns"),
    conllu("spaces for tabs", line_changed(6, "\t", " "), "a.conllu:6", "1 column"),
    conllu("ids that jump", line_changed(6, "3\t", "4\t"), "a.conllu:6", "'4' where 3 is due"),
    conllu("an empty FORM", line_changed(6, "3\tthe", "3\t"), "a.conllu:6", "the FORM of '3' is empty"),
    conllu("a range that ends first", line_changed(6, "3\t", "4-3\tx" + "\t_" * 8 + "\n3\t"), "a.conllu:6", "'4-3'"),
    conllu(
        "a HEAD that is no number", line_changed(6, "\t_\t_\t_\t_\n", "\tx\t_\t_\t_\n"), "a.conllu:6", "HEAD is 'x'"
    ),
    conllu("a HEAD beyond", line_changed(6, "\t_\t_\t_\t_\n", "\t9\t_\t_\t_\n"), "a.conllu:6", "HEAD is '9'", "0 to 8"),
    conllu("comments only", "# sent_id = x\n\n", "a.conllu:1", "without a sentence"),
    conllu("no sentences", "\n\n", "a.conllu", "the file is empty"),
    conllu("empty", "", "a.conllu", "empty"),
    conllu("another length", SHORTER, "scores.npz[en-1] (en-1)", "8 words", "7", "a.conllu:1"),
    bad(
        "another length by order",
        ("sample", DATA / "scores_stream.npy", "--from", "supar", "--conllu", "a.conllu"),
        ("scores_stream.npy", "en-1", "8 words", "7", "a.conllu:1"),
        {"a.conllu": SHORTER},
    ),
    bad("no such sentences", ("sample", *SCORES, "--conllu", "b.conllu"), ("b.conllu", "no such file")),
    bad("a folder of sentences", ("sample", *SCORES, "--conllu", DATA), ("sample_data", "folder")),
    bad("scores for sentences", ("sample", *SCORES, "--conllu", DATA / "one.npy"), ("one.npy",)),
    bad("not UTF-8", ("sample", *SCORES, "--conllu", "a"), ("a:", "UTF-8"), {"a": b"# sent_id = \xff\n1" + b"\t_" * 9}),
]

LINES = (DATA / "scores.jsonl").read_bytes().splitlines(keepends=True)

COUNTS = [
    bad(
        "fewer sentences than matrices",
        ("sample", DATA / "scores_stream.npy", "--from", "supar", "--conllu", "a.conllu"),
        ("scores_stream.npy", "is 8", "a.conllu", "is 7"),
        {"a.conllu": SENTENCES[: SENTENCES.index("# sent_id = ru-2")]},
    ),
    bad(
        "more sentences than matrices",
        ("sample", "a.jsonl", "--from", "natasha", "--conllu", DATA / "sentences.conllu"),
        ("sentences.conllu:25 (en-3)", "a.jsonl has nothing of this name"),
        {"a.jsonl": b"".join(LINES[:2])},
    ),
    bad(
        "more sentences than keys",
        ("sample", *SCORES, "--conllu", "a.conllu"),
        ("a.conllu:86 (ru-3)", "scores.npz has nothing of this name"),
        {"a.conllu": SENTENCES + SENTENCES[SENTENCES.index("# sent_id = ru-2") :].replace("ru-2", "ru-3")},
    ),
    bad(
        "fewer lengths than matrices",
        ("sample", DATA / "scores.npy", "--from", "supar", "--lengths", "l.txt"),
        ("scores.npy", "lengths is 3", "matrices is 8"),
        {"l.txt": "8\n8\n8\n"},
    ),
    bad(
        "the first name is another",
        ("sample", "a.jsonl", "--from", "natasha", "--conllu", DATA / "sentences.conllu"),
        ("sentences.conllu:1 (en-1)", "a.jsonl has nothing of this name"),
        {"a.jsonl": b"".join(LINES).replace(b"en-1", b"x")},
    ),
]


@pytest.mark.parametrize(("args", "says", "files"), CONLLU)
def test_sentences(meet, refused, args, says, files):
    refused(meet(args, files), *says)


@pytest.mark.parametrize(("args", "says", "files"), COUNTS)
def test_counts(meet, refused, args, says, files):
    """What came before on a pipe has been written; a file does not appear."""
    refused(meet((*args, "-o", "out.jsonl"), files), *says)
