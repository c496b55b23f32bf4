"""Models for the tests of `deptree hpyp`, trained once in a session on the small treebank, and sentences for them."""

from __future__ import annotations

from pathlib import Path

import pytest

from deptree_cli.hpyp import Parser
from deptree_cli.hpyp.files.treebank import read_treebank
from deptree_cli.hpyp.model.sentences import Annotated
from tests.hpyp.commands.texts import DATA, RAW


@pytest.fixture(scope="session")
def treebank_file() -> Path:
    """194 sentences with UPOS, XPOS and trees."""
    return DATA / "treebank.conllu"


@pytest.fixture(scope="session")
def parser(treebank_file: Path) -> Parser:
    """A parser of words and UPOS."""
    return Parser.train(treebank_file, iterations=4, seed=1)


@pytest.fixture(scope="session")
def model(parser: Parser, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of that parser."""
    path = tmp_path_factory.mktemp("models") / "model.npz"
    parser.save(path)
    return path


@pytest.fixture(scope="session")
def unlexicalised_model(treebank_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file of a parser of XPOS alone, without words."""
    path = tmp_path_factory.mktemp("models") / "unlexicalised.npz"
    Parser.train(treebank_file, column="xpos", lexicalised=False, iterations=3, seed=1).save(path)
    return path


@pytest.fixture(scope="session")
def sentences() -> list[Annotated]:
    """The sentences of `RAW` with their UPOS."""
    return list(read_treebank([str(RAW)], "upos"))


@pytest.fixture
def parsed(done, model):
    """Call with more arguments: what `deptree hpyp parse` says of `RAW`, with few particles."""
    return lambda *args: done("hpyp", "parse", model, RAW, *(() if "--beam" in args else ("--particles", 50)), *args)
