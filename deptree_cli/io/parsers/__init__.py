"""The register of parsers that can be asked for their arc scores: an entry each.

A parser is a function ``load(model) -> Adapter`` in a file of this folder, which imports the parser's package when it
is called. The scores come out as its preset lays them out (`io/scores/layout.py`). To add a parser, write it in a file
of this folder and give it an entry below, and a preset there if no known one fits; another package offers its own by an
entry point (`deptree.parsers`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from deptree_cli.core.dtypes import Array
from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.register import Register, imported
from deptree_cli.io.parsers.sentences import Token, Word

Scores = tuple[Array, Array | None]


class Adapter(Protocol):
    """A parser with its model.

    Attributes:
        labels: the names of the labels in the order of the label axis, None where it gives no label scores.
    """

    @property
    def labels(self) -> list[str] | None:
        """See the class."""

    def scores(self, batch: list[list[Word]], labelled: bool) -> list[Scores]:
        """The arc scores of each sentence, without padding, and with `labelled` the label scores given the head.

        Arc scores have the shape of the preset; label scores have one axis more, of length L.
        """


class Splitter(Adapter, Protocol):
    """A parser that can also cut running text into sentences."""

    def split(self, text: str) -> Iterable[list[Token]]:
        """The sentences of a paragraph."""


@dataclass(frozen=True)
class Parser:
    """An entry of the register.

    Attributes:
        name: how users call it.
        target: the function or where it is, imported when first used: ``package.module:function``, or
            ``.file:function`` in this folder.
        package: the distribution whose version matters; of several, the first that is installed.
        requirement: what pip installs.
        models: what --model names; empty where there is one model only.
        splits: whether the adapter is a `Splitter`.
        preset: the layout of its scores, a name in `io/scores/layout.py`; its own name unless another is given.
    """

    name: str
    target: str | Callable[..., Adapter]
    package: str
    requirement: str
    models: str = ""
    splits: bool = False
    preset: str = ""

    @property
    def layout(self) -> str:
        return self.preset or self.name

    def load(self, model: str | None) -> Adapter:
        if self.models and not model:
            raise DeptreeError(f"{self.name} has many models", f"Pass one with --model: {self.models}")
        if model and not self.models:
            raise DeptreeError(f"{self.name} has one model only", "Leave out --model")
        with self.at_work(f"loading {model or 'its model'}"):
            adapter: Adapter = imported(self.target, __name__)(*filter(None, [model]))
        return adapter

    @contextmanager
    def at_work(self, task: str) -> Iterator[None]:
        """While the parser's own code runs: what it prints goes to stderr, how it fails becomes a line."""
        try:
            with redirect_stdout(sys.stderr):
                yield
        except (DeptreeError, MemoryError):
            raise
        except ImportError as error:
            raise DeptreeError(f"{self.name} cannot be imported ({error})", f"pip install {self.requirement}") from None
        except Exception as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise DeptreeError(f"{self.name} failed at {task} ({reason})", "Try it in Python by itself") from None

    @property
    def version(self) -> str | None:
        for package in self.package.split():
            try:
                return version(package)
            except PackageNotFoundError:
                continue
        return None


PARSERS: Register[Parser] = Register(
    "parser",
    (
        Parser("natasha", ".natasha:load", "natasha", "'deptree-cli[natasha]'", splits=True),
        Parser(
            "stanza",
            ".stanza:load",
            "stanza",
            "stanza",
            "a language, such as en, or one with its package, such as en_gum",
            splits=True,
        ),
        Parser("supar", ".supar:load", "supar", "supar", "a name such as biaffine-dep-en, or a file"),
        Parser(
            "spacy",
            ".spacy:load",
            "spacy-biaffine-parser spacy-experimental",
            "spacy-biaffine-parser, or 'spacy-experimental[torch]'",
            "a pipeline with the component arc_predicter (or experimental_arc_predicter), by name or folder",
            splits=True,
        ),
        Parser("hanlp", ".hanlp:load", "hanlp", "hanlp", "a name such as CTB9_DEP_ELECTRA_SMALL, or a folder"),
    ),
    "deptree.parsers",
)
