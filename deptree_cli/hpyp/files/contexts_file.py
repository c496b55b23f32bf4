"""Tables of contexts that users write themselves."""

from __future__ import annotations

from deptree_cli.core.errors import DeptreeError
from deptree_cli.hpyp.model.contexts import Contexts
from deptree_cli.io.files.streams import open_input


def read_contexts(path: str, default: Contexts | None = None) -> Contexts:
    """The contexts in a TOML file, or on standard input (``-``); what it leaves out is as in `default`.

    Raises:
        DeptreeError: the file cannot be read, or holds no contexts.
    """
    with open_input(path) as file:
        data = file.stream.read()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DeptreeError("the file is not UTF-8", "Convert the file to UTF-8", place=file.place) from None
    return Contexts.from_toml(text, file.place, default)
