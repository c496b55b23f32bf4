"""Parsers that are trained once in a session on the small treebank."""

import pytest

from deptree_cli.hpyp import Parser
from tests.sample import DATA


@pytest.fixture(scope="session")
def parser():
    return Parser.train(DATA / "treebank.conllu", iterations=4, seed=1)


@pytest.fixture(scope="session")
def model(parser, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.npz"
    parser.save(path)
    return path


@pytest.fixture(scope="session")
def xpos_model(tmp_path_factory):
    """The file of a parser of XPOS alone, without words."""
    path = tmp_path_factory.mktemp("models") / "xpos.npz"
    Parser.train(DATA / "treebank.conllu", column="xpos", lexicalised=False, iterations=3, seed=1).save(path)
    return path


@pytest.fixture(scope="session")
def sentences(parser):
    """Twelve sentences with UPOS and without trees."""
    return list(parser.read(DATA / "raw.conllu"))
