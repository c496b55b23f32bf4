"""Trees that anybody drew or annotated, read from any format of the register."""

from __future__ import annotations

from collections.abc import Iterator

from deptree_cli.core.errors import DeptreeError
from deptree_cli.core.register import Register
from deptree_cli.io.files.streams import STDIN, lines_of, open_input
from deptree_cli.io.json_lines import objects
from deptree_cli.io.trees.base import GivenTree, TreeFormat
from deptree_cli.io.trees.conllu import CONLLU
from deptree_cli.io.trees.jsonl import JSON_LINES

# The first one that matches is read.
TREE_FORMATS: Register[TreeFormat] = Register("format of trees", [JSON_LINES, CONLLU])


def read_trees(path: str, named: bool = True) -> Iterator[GivenTree | DeptreeError]:
    """The trees in a file, or with ``file:line`` what is not a tree of a sentence; `-` is standard input.

    Args:
        named: whether a tree that does not name its sentence is an error.
    """
    with open_input(path) as file:
        fmt = next((each for each in TREE_FORMATS.known if each.matches(file.head)), None)
        if fmt is None:
            problem = "these are not trees in CoNLL-U or JSON Lines"
            raise DeptreeError(problem, "Give trees as CoNLL-U, or a line of JSON with sent_id and heads", place=path)
        for tree in fmt.read(file.stream, file.place):
            nameless = named and isinstance(tree, GivenTree) and not tree.sent_id
            remedy = "Name the sentence that it is a tree of"
            yield DeptreeError("a tree without sent_id", remedy, place=tree.place) if nameless else tree


def is_of_trees(path: str) -> bool:
    """Whether a file has trees rather than scores, by its first bytes; standard input is taken for scores."""
    if path == STDIN:
        return False
    with open_input(path) as file:
        fmt = next((each for each in TREE_FORMATS.known if each.matches(file.head)), None)
        if fmt is JSON_LINES:
            lines = (value for _, value in objects(lines_of(file.stream, file.place), file.place))
            first = next((each for each in lines if isinstance(each, DeptreeError) or "signature" not in each), {})
            return isinstance(first, dict) and "heads" in first and "scores" not in first
        return fmt is not None and file.head.lstrip(b"\xef\xbb\xbf")[:1] in (b"#", b"1")
