"""The columns of a file of CoNLL-U or CoNLL-U Plus that is written: one first line for all of its sentences."""

from __future__ import annotations

from deptree_cli.core.errors import DeptreeError
from deptree_cli.io.conllu.columns import BOM, COLUMNS, header_for, header_of, layout_of, shown
from deptree_cli.io.files.output import suffix_of

# Of files that hold sentences.
CONLLU_SUFFIXES = (".conllu", ".conllup", ".cupt", ".conll")

# Of those that always have ten columns, and of those that always name them.
_TEN, _NAMED = CONLLU_SUFFIXES[:2]


class FileColumns:
    """What sentences on their way into one file say of their columns; each of CoNLL-U Plus does.

    Args:
        path: the file, None for standard output.

    Attributes:
        names: its columns, in small letters.
    """

    def __init__(self, path: str | None) -> None:
        self._path, self._suffix = path or "", suffix_of(path)
        self.names = COLUMNS

    def first(self, sentence: bytes) -> bytes:
        """The first sentence, in front of it the line that names columns, if the file is to have one.

        Raises:
            DeptreeError: the file's name promises the columns of CoNLL-U, and they are others.
        """
        header = header_of(sentence)
        self.names = layout_of(header, self._path).names
        if self.names != COLUMNS and self._suffix == _TEN:
            problem = f"{_TEN} is the suffix of CoNLL-U, but the columns are {shown(self.names)}"
            raise DeptreeError(problem, f"Name a file {_NAMED}", place=self._path)
        if not header and self._suffix == _NAMED:
            text = sentence.removeprefix(BOM)
            mark = sentence[: len(sentence) - len(text)]
            return mark + header_for(COLUMNS, "\r\n" if b"\r\n" in text else "\n") + text
        return sentence

    def another(self, sentence: bytes) -> bytes:
        """One that is not the first, without that line.

        Raises:
            DeptreeError: it has other columns than the first.
        """
        header = header_of(sentence)
        names = layout_of(header, self._path).names
        if names != self.names:
            problem = f"sentences with columns {shown(self.names)} and {shown(names)} in one file"
            raise DeptreeError(problem, "Give files of the same columns together", place=self._path)
        return sentence[len(header) :]
