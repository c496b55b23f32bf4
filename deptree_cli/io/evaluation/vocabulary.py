"""What stands in the columns of CoNLL-U as numbers: no text is compared twice."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from deptree_cli.core.evaluation.counts import Relations, universal, universal_features
from deptree_cli.core.evaluation.words import DEPREL


class Numbers(dict[str, int]):
    """The number of each text of a column: that of what is compared of it, in the order in which these came.

    Args:
        compared: what of a text is compared.
    """

    def __init__(self, compared: Callable[[str], str] = str) -> None:
        self._compared = compared
        self.names: list[str] = []
        self._known: dict[str, int] = {}
        self["_"] = self.__missing__("_")

    def __missing__(self, text: str) -> int:
        name = self._compared(text)
        if name not in self._known:
            self._known[name] = len(self.names)
            self.names.append(name)
        self[text] = self._known[name]
        return self[text]


class Bare(dict[str, str]):
    """The characters of forms: without white space within them, as the script of the CoNLL 2018 shared task has it."""

    def __missing__(self, form: str) -> str:
        self[form] = "".join(char for char in form if unicodedata.category(char) != "Zs")
        return self[form]


def _lower(form: str) -> str:
    return form.lower()


class Vocabulary:
    """The numbers of what stands in columns, the same for all files of an evaluation."""

    def __init__(self) -> None:
        compared: list[Callable[[str], str]] = [_lower, str, str, universal_features, str, universal]
        self.columns = [Numbers(each) for each in compared]
        self.bare = Bare()

    @property
    def relations(self) -> Relations:
        """Kinds of all relations so far."""
        return Relations.of(self.columns[DEPREL].names)
