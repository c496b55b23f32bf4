"""Sentences of several files stay sentences, whatever ends the files, in every command that writes CoNLL-U."""

from __future__ import annotations

import io
import json
import re
from itertools import chain
from pathlib import Path

import pytest

from deptree_cli.cli.options import OUTPUT
from deptree_cli.hpyp import Parser
from deptree_cli.io.conllu.columns import BOM
from tests.every_command import COMMANDS, command
from tests.tree_files import read_blocks

SENTENCE = """\
# sent_id = {name}
1\tBirds\tbird\tNOUN\t_\t_\t2\tnsubj\t_\t_
2\tsing\tsing\tVERB\t_\t_\t0\troot\t_\t_
"""
FIRST, SECOND = (SENTENCE.format(name=name).rstrip("\n").encode() for name in "ab")


def scores(names: str) -> list[str]:
    """The arguments for the scores and sentences of files of these names."""
    files, sentences = [f"{name}.jsonl" for name in names], [("--conllu", f"{name}.conllu") for name in names]
    return [*files, "--from", "head-dep", *chain.from_iterable(sentences)]


def raw(names: str) -> list[str]:
    """The arguments for a parser of sentences."""
    return ["model.npz", *(f"{name}.conllu" for name in names), "--particles", "5"]


# Commands that write sentences of several files, and ways that their bytes take.
LINES = [
    ("decode", scores),
    ("decode", scores, "-k", 2),
    ("sample", scores, "--seed", 7),
    ("sample", scores, "--seed", 7, "-k", 300),
    ("sample", scores, "--seed", 7, "--jobs", 2),
    ("swor", scores, "--seed", 7, "-k", 2),
    ("marginals", scores),
    ("doubt", scores, "--format", "conllu"),
    ("hpyp parse", raw),
    ("hpyp parse", raw, "-k", 2, "--tags", "predict", "--seed", 3),
    ("hpyp surprisal", raw, "--seed", 3),
]

# Commands whose sentences are of one file, or of none.
OF_ONE_FILE = {"combine", "diff", "dump", "hpyp generate"}

LISTED = {line[0] for line in LINES} | OF_ONE_FILE


def written_to_conllu(name: str) -> bool:
    found = {each.name: each for each in command(name).params}
    return ("sentences" in found and found["sentences"].type is OUTPUT) or (
        "fmt" in found and "conllu" in getattr(found["fmt"].type, "choices", ())
    )


LINES += [(name, scores) for name in COMMANDS if written_to_conllu(name) and name not in LISTED]

ENDS = ["", "\n", "\n\n", "\n\n\n", "\n ", "\n \n", "\n\n \t"]


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """A parser of a single sentence."""
    folder = tmp_path_factory.mktemp("tiny")
    (folder / "one.conllu").write_bytes(FIRST + b"\n\n")
    Parser.train(folder / "one.conllu", iterations=1, seed=1).save(folder / "model.npz")
    return folder / "model.npz"


@pytest.fixture
def scored(put, tiny_model):
    for name in "ab":
        put(f"{name}.jsonl", json.dumps({"sent_id": name, "scores": [[0, 1, 3], [0, 0, 1], [0, 2, 0]]}) + "\n")
    put("model.npz", tiny_model.read_bytes())


def names_in(data: bytes) -> list[str]:
    """The sentences of what was written, without ranks."""
    return [block.sent_id.partition("/")[0] for block in read_blocks(io.BytesIO(data), "output")]


def split(line, names):
    """The arguments of a line for the files of these names."""
    name, read, *more = line
    return [*name.split(), *read(names), *more]


every_line = pytest.mark.parametrize("line", LINES, ids=lambda line: " ".join(map(str, (line[0], *line[2:]))))


@pytest.mark.parametrize("newline", [b"\n", b"\r\n"], ids=["lf", "crlf"])
@every_line
def test_an_empty_line_between_them(done, put, scored, line, newline):
    """Between the files an empty line, at the very end what the last file has; all else as from files that end well."""
    put("b.conllu", (BOM + SECOND + b"\n\n").replace(b"\n", newline))
    usual = None
    for end in ENDS:
        put("a.conllu", (BOM + FIRST + end.encode()).replace(b"\n", newline))
        out = done(*split(line, "ab"), "--no-header").out
        assert sorted(set(names_in(out))) == ["a", "b"]
        assert out.count(BOM) == out.startswith(BOM)
        assert out.count(b"\r") == (out.count(b"\n") if newline == b"\r\n" else 0)
        without = re.sub(rb"(\r?\n)\s+", rb"\1\1", out)
        usual = usual or without
        assert without == usual


@every_line
def test_one_file_ends_as_it_did(done, put, scored, line):
    """But for a ranking, whose last sentence is not the last of the file."""
    for end in ENDS:
        put("a.conllu", BOM + FIRST + end.encode())
        out = done(*split(line, "a"), "--no-header").out
        is_ranking = line[0] == "doubt"
        assert out.startswith(BOM) != is_ranking
        assert out.endswith(b"\n\n") if is_ranking else out[len(out.rstrip()) :] == end.encode()


@every_line
def test_a_comment_without_a_sentence_is_named(deptree, put, scored, line):
    put("a.conllu", FIRST + b"\n\n# the end")
    put("b.conllu", SECOND)
    ran = deptree(*split(line, "ab"))
    assert ran.code == 2
    assert ran.said[-1].startswith("deptree: a.conllu:5: comments without a sentence.")


def test_a_report_exports_sentences_of_several_files(done, put, scored):
    for end in ENDS:
        put("a.conllu", BOM + FIRST + end.encode())
        put("b.conllu", BOM + SECOND)
        done("report", *scores("ab"), "-o", "page.html")
        page = Path("page.html").read_text(encoding="utf-8")
        (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
        text = "".join(json.loads(data)["conllu"]).encode()
        assert names_in(text) == ["a", "b"]
        assert text.startswith(BOM + FIRST)
        assert text.endswith(b"\n\n" + SECOND) or text.endswith(b"\n" + SECOND)
